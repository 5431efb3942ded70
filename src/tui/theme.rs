//! How things look, by what they mean: styles for every theme and colour depth, and the characters to draw with.
//! It never says what is drawn. Nothing differs by colour alone: whatever a style says, a letter, mark or place says too.

mod colour;
mod glyphs;
mod palette;

pub use colour::Depth;
pub use glyphs::Glyphs;

use crate::view::CodeKind;
use colour::Ink;
use palette::Palette;
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
    /// The same on light terminals.
    ColourBlindLight,
    /// Without colours.
    Mono,
}

/// The styles. Those of text leave the background as it is, so they go on any row.
#[derive(Debug, Clone, PartialEq)]
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
    /// The selected row: laid over what stands there.
    pub selected: Style,
    /// The open screen's tab.
    pub tab_open: Style,
    /// The part of the history that is shown.
    pub shown: Style,
    /// A selected range of time: laid over the chart.
    pub range: Style,
    /// As it should be.
    pub good: Style,
    /// To be looked at.
    pub warn: Style,
    /// Wrong.
    pub bad: Style,
    /// A value that was not measured.
    pub missing: Style,
    /// What the search has found: a text or a cell.
    pub found: Style,
    /// Lines of a chart and parts of a bar, in order; each has a letter or a fill of its own besides.
    pub series: [Style; 6],
    /// From much less to much more: filled cells, and numbers.
    changes: [[Style; 2]; 5],
    cells: Option<Cells>,
}

/// What flame cells are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cells {
    /// User code, kernel, JIT, headings.
    inks: [Ink; 4],
    whiter: f32,
    depth: Depth,
}

impl Theme {
    /// The theme of a name on a terminal of that many colours.
    #[must_use]
    pub fn new(name: Name, depth: Depth) -> Theme {
        Palette::of(name).map_or_else(Theme::mono, |palette| Theme::coloured(&palette, depth))
    }

    fn coloured(palette: &Palette, depth: Depth) -> Theme {
        let fg = |ink: Ink| Style::new().fg(ink.colour(depth));
        let bold = |ink: Ink| fg(ink).add_modifier(Modifier::BOLD);
        // With 16 colours no background is near enough to the terminal's own: what is laid over is reversed instead.
        let over = |ink: Ink, instead| match depth {
            Depth::Sixteen => Style::new().add_modifier(instead),
            _ => Style::new().bg(ink.colour(depth)),
        };
        // Of the 16, the grey is the background of more than one scheme: dim is safer.
        let dim = match depth {
            Depth::Sixteen => Style::new().add_modifier(Modifier::DIM),
            _ => fg(palette.dim),
        };
        let [much_less, less, more, much_more] = palette.changes;
        let changes = [bold(much_less), fg(less), dim, fg(more), bold(much_more)];
        let mut filled = palette.change_cells.map(|ink| ink.filled(depth)).into_iter();
        Theme {
            text: Style::new(),
            dim,
            accent: fg(palette.accent),
            accent2: fg(palette.accent2),
            heading: Style::new().add_modifier(Modifier::BOLD),
            selected: over(palette.selected, Modifier::REVERSED),
            tab_open: fg(palette.accent).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            shown: fg(palette.accent),
            range: over(palette.range, Modifier::UNDERLINED),
            good: fg(palette.good),
            warn: fg(palette.warn),
            bad: bold(palette.bad),
            missing: dim,
            found: palette.found.filled(depth).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            series: palette.series.map(fg),
            changes: changes.map(|number| [filled.next().unwrap_or(number), number]),
            cells: Some(Cells { inks: palette.cells, whiter: palette.inlined_whiter, depth }),
        }
    }

    /// Bold, dim, reverse and underline only.
    fn mono() -> Theme {
        let plain = Style::new();
        let with = |modifier| plain.add_modifier(modifier);
        let (bold, dim, reversed) = (with(Modifier::BOLD), with(Modifier::DIM), with(Modifier::REVERSED));
        let underlined = with(Modifier::UNDERLINED);
        let strong = bold.add_modifier(Modifier::UNDERLINED);
        Theme {
            text: plain,
            dim,
            accent: bold,
            accent2: bold,
            heading: bold,
            selected: reversed,
            tab_open: strong,
            shown: bold,
            range: underlined,
            good: plain,
            warn: underlined,
            bad: strong,
            missing: dim,
            found: strong,
            series: [plain; 6],
            changes: [underlined, plain, dim, bold, strong].map(|style| [style, style]),
            cells: None,
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
        let ink = match kind {
            CodeKind::User => cells.inks[0],
            CodeKind::Kernel => cells.inks[1],
            CodeKind::Jit => cells.inks[2],
            CodeKind::Heading => cells.inks[3],
        };
        let ink = if inlined { ink.whiter(cells.whiter) } else { ink };
        // Steps between the two ends would fall on colours of another hue in the cube of 256.
        let shade = match cells.depth {
            Depth::True => shade.min(24),
            _ => shade / 13 * 24,
        };
        ink.darker(shade.min(24)).filled(cells.depth)
    }

    fn mono_cell(&self, kind: CodeKind, inlined: bool) -> Style {
        match kind {
            CodeKind::Heading => self.dim,
            CodeKind::Kernel => self.range,
            _ if inlined => self.text,
            _ => self.heading,
        }
    }

    /// A cell that changed: -2 much less, -1 less, 0 no change that can be told from chance, 1 more, 2 much more.
    #[must_use]
    pub fn change(&self, step: i8) -> Style {
        self.changes[change(step)][0]
    }

    /// A number that says how something changed, by the same steps: a text style.
    #[must_use]
    pub fn change_text(&self, step: i8) -> Style {
        self.changes[change(step)][1]
    }

    /// What says the same as the colour of a change: `--`, `-`, `=`, `+`, `++`.
    #[must_use]
    pub fn change_mark(step: i8) -> &'static str {
        ["--", "-", "=", "+", "++"][change(step)]
    }
}

fn change(step: i8) -> usize {
    usize::from((step.clamp(-2, 2) + 2).unsigned_abs())
}

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod tests;
