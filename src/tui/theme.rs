//! How things look, by what they mean: styles for every theme and colour depth, and the characters to draw with.
//! It never says what is drawn. Nothing differs by colour alone: mono carries every meaning by weight and marks.

mod colour;
mod glyphs;

pub use colour::{Depth, Rgb};
pub use glyphs::Glyphs;

use crate::view::CodeKind;
use ratatui::style::{Modifier, Style};

/// A set of colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Name {
    /// For dark terminals.
    #[default]
    Dark,
    /// For light terminals.
    Light,
    /// For all kinds of colour vision, on dark terminals: blue and orange in place of green and red.
    ColourBlind,
    /// Without colours.
    Mono,
}

/// The styles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Whatever has no other meaning.
    pub text: Style,
    /// What steps back: units, rules, what is not selected.
    pub dim: Style,
    /// The first accent: names of things that can be chosen or typed.
    pub accent: Style,
    /// The second accent: marks, what is being said.
    pub accent2: Style,
    /// Titles and column heads.
    pub heading: Style,
    /// The selected row or cell.
    pub selected: Style,
    /// The open screen's tab.
    pub tab_open: Style,
    /// The part of the history that is shown.
    pub shown: Style,
    /// As it should be.
    pub good: Style,
    /// To be looked at.
    pub warn: Style,
    /// Wrong.
    pub bad: Style,
    /// A value that was not measured.
    pub missing: Style,
    /// What the search has found.
    pub found: Style,
    /// Lines of a chart, in order.
    pub series: [Style; 3],
    cells: Option<[Rgb; 4]>,
    changes: [Style; 5],
    depth: Depth,
}

/// The colours a theme is made of.
struct Palette {
    dim: Rgb,
    accent: Rgb,
    accent2: Rgb,
    selected: Rgb,
    good: Rgb,
    warn: Rgb,
    bad: Rgb,
    third: Rgb,
    /// User code, kernel, JIT, headings.
    cells: [Rgb; 4],
}

const INK: Rgb = Rgb(20, 20, 20);
/// From much less to much more: blue over grey to orange, told apart by all kinds of colour vision.
const CHANGES: [Rgb; 5] =
    [Rgb(92, 156, 222), Rgb(150, 190, 228), Rgb(178, 178, 178), Rgb(240, 190, 130), Rgb(240, 148, 60)];

const DARK: Palette = Palette {
    dim: Rgb(138, 143, 152),
    accent: Rgb(97, 190, 200),
    accent2: Rgb(229, 192, 123),
    selected: Rgb(58, 66, 80),
    good: Rgb(152, 195, 121),
    warn: Rgb(229, 192, 123),
    bad: Rgb(234, 120, 126),
    third: Rgb(190, 150, 220),
    cells: [Rgb(222, 172, 110), Rgb(130, 168, 216), Rgb(132, 196, 140), Rgb(160, 160, 160)],
};
const LIGHT: Palette = Palette {
    dim: Rgb(104, 108, 116),
    accent: Rgb(0, 105, 125),
    accent2: Rgb(140, 84, 0),
    selected: Rgb(208, 220, 236),
    good: Rgb(30, 112, 40),
    warn: Rgb(140, 84, 0),
    bad: Rgb(178, 28, 40),
    third: Rgb(110, 50, 150),
    cells: [Rgb(244, 200, 140), Rgb(164, 198, 240), Rgb(168, 220, 172), Rgb(206, 206, 206)],
};
const COLOUR_BLIND: Palette = Palette {
    good: Rgb(110, 170, 230),
    warn: Rgb(240, 200, 90),
    bad: Rgb(240, 150, 60),
    cells: [Rgb(230, 190, 90), Rgb(110, 160, 220), Rgb(200, 150, 190), Rgb(160, 160, 160)],
    ..DARK
};

impl Theme {
    /// The theme of a name on a terminal of that many colours.
    #[must_use]
    pub fn new(name: Name, depth: Depth) -> Theme {
        match name {
            Name::Dark => Theme::coloured(&DARK, depth),
            Name::Light => Theme::coloured(&LIGHT, depth),
            Name::ColourBlind => Theme::coloured(&COLOUR_BLIND, depth),
            Name::Mono => Theme::mono(),
        }
    }

    fn coloured(palette: &Palette, depth: Depth) -> Theme {
        let fg = |rgb: Rgb| Style::new().fg(depth.colour(rgb));
        // With 16 colours no background is near enough to the terminal's own: the selection is reversed instead.
        let selected = match depth {
            Depth::Sixteen => Style::new().add_modifier(Modifier::REVERSED),
            _ => Style::new().bg(depth.colour(palette.selected)).add_modifier(Modifier::BOLD),
        };
        Theme {
            text: Style::new(),
            dim: fg(palette.dim),
            accent: fg(palette.accent),
            accent2: fg(palette.accent2),
            heading: Style::new().add_modifier(Modifier::BOLD),
            selected,
            tab_open: fg(palette.accent).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            shown: fg(palette.accent),
            good: fg(palette.good),
            warn: fg(palette.warn),
            bad: fg(palette.bad).add_modifier(Modifier::BOLD),
            missing: fg(palette.dim).add_modifier(Modifier::ITALIC),
            found: Style::new().fg(depth.colour(INK)).bg(depth.colour(Rgb(250, 240, 80))).add_modifier(Modifier::BOLD),
            series: [fg(palette.accent), fg(palette.accent2), fg(palette.third)],
            cells: Some(palette.cells),
            changes: CHANGES.map(|rgb| Style::new().fg(depth.colour(INK)).bg(depth.colour(rgb))),
            depth,
        }
    }

    fn mono() -> Theme {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        let reversed = plain.add_modifier(Modifier::REVERSED);
        Theme {
            text: plain,
            dim,
            accent: bold,
            accent2: bold,
            heading: bold,
            selected: reversed,
            tab_open: bold.add_modifier(Modifier::UNDERLINED),
            shown: bold,
            good: plain,
            warn: bold,
            bad: bold.add_modifier(Modifier::UNDERLINED),
            missing: dim,
            found: bold.add_modifier(Modifier::UNDERLINED),
            series: [bold, plain, dim],
            cells: None,
            changes: [bold, plain, dim, plain, bold],
            depth: Depth::Sixteen,
        }
    }

    /// Whether it has no colours: cells that touch must then be kept apart by something else.
    #[must_use]
    pub fn is_mono(&self) -> bool {
        self.cells.is_none()
    }

    /// A cell of a flame graph: the hue says where the code lives, inlined calls are lighter, `shade` (0 to 24, by name)
    /// tells neighbours apart.
    #[must_use]
    pub fn cell(&self, kind: CodeKind, inlined: bool, shade: u8) -> Style {
        let Some(cells) = self.cells else { return self.mono_cell(kind, inlined) };
        let base = match kind {
            CodeKind::User => cells[0],
            CodeKind::Kernel => cells[1],
            CodeKind::Jit => cells[2],
            CodeKind::Heading => cells[3],
        };
        let base = if inlined { base.lighter() } else { base.darker(shade.min(24)) };
        Style::new().fg(self.depth.colour(INK)).bg(self.depth.colour(base))
    }

    fn mono_cell(&self, kind: CodeKind, inlined: bool) -> Style {
        match kind {
            CodeKind::Heading => self.dim,
            _ if inlined => self.text,
            _ => self.heading,
        }
    }

    /// A change: -2 much less, -1 less, 0 no change that can be told from chance, 1 more, 2 much more.
    #[must_use]
    pub fn change(&self, step: i8) -> Style {
        self.changes[usize::from((step.clamp(-2, 2) + 2).unsigned_abs())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast by WCAG 2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (a.luminance(), b.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_readable_on_every_theme() {
        let (black, white) = (Rgb(24, 24, 24), Rgb(250, 250, 250));
        for (palette, ground) in [(&DARK, black), (&COLOUR_BLIND, black), (&LIGHT, white)] {
            let foregrounds =
                [palette.dim, palette.accent, palette.accent2, palette.good, palette.warn, palette.bad, palette.third];
            for colour in foregrounds {
                assert!(contrast(colour, ground) >= 4.5, "{colour:?}: {:.1}", contrast(colour, ground));
            }
            for cell in palette.cells.iter().flat_map(|cell| [*cell, cell.darker(24), cell.lighter()]).chain(CHANGES) {
                assert!(contrast(INK, cell) >= 4.5, "{cell:?}: {:.1}", contrast(INK, cell));
            }
        }
    }

    #[test]
    fn mono_has_no_colour_and_still_tells_meanings_apart() {
        let mono = Theme::new(Name::Mono, Depth::True);
        let styles = [mono.text, mono.dim, mono.heading, mono.selected, mono.tab_open, mono.bad];
        assert!(styles.iter().all(|style| style.fg.is_none() && style.bg.is_none()));
        assert!(styles.iter().enumerate().all(|(at, style)| !styles[..at].contains(style) || *style == mono.bad));
        assert_eq!(mono.cell(CodeKind::Kernel, false, 3).bg, None);
    }

    #[test]
    fn changes_go_from_less_to_more_and_are_clamped() {
        let theme = Theme::new(Name::Dark, Depth::True);
        assert_ne!(theme.change(-2), theme.change(2));
        assert_eq!((theme.change(-100), theme.change(100)), (theme.change(-2), theme.change(2)));
    }
}
