//! The styles of a theme.

use super::colour::{ColourDepth, PaletteColour};
use super::glyphs::HEAT;
use super::palette::{Palette, ThemeName};
use crate::view::CodeKind;
use ratatui::style::{Modifier, Style};

/// The styles. Text styles leave the background unchanged, so they fit on any row.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Text without a special meaning.
    pub text: Style,
    /// Secondary text: units, rules, unselected items.
    pub dim: Style,
    /// The first accent: names that the user can choose or type.
    pub accent: Style,
    /// The second accent: marks and notices.
    pub accent2: Style,
    /// Titles and column headings.
    pub heading: Style,
    /// The selected row; patched over the row's own style.
    pub selected: Style,
    /// The open screen's tab.
    pub tab_open: Style,
    /// The shown part of the history.
    pub shown: Style,
    /// A selected time range; patched over the chart.
    pub range: Style,
    /// Normal.
    pub good: Style,
    /// Needs attention.
    pub warn: Style,
    /// Wrong.
    pub bad: Style,
    /// A value that was not measured.
    pub missing: Style,
    /// Matches of the search: text or cells.
    pub found: Style,
    /// Lines of a chart and parts of a bar, in order; each also has its own letter or fill.
    pub series: [Style; 6],
    /// Levels of a heat map; each level also has its own shade of character.
    pub heat: [Style; HEAT],
    /// Changes from much less to much more: styles for filled cells and for numbers.
    changes: [[Style; 2]; 5],
    cells: Option<Cells>,
}

/// The colours of flame graph cells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cells {
    /// User code, kernel, JIT code, headings.
    inks: [PaletteColour; 4],
    whiter: f32,
    depth: ColourDepth,
}

impl Theme {
    /// The named theme on a terminal with that colour depth.
    #[must_use]
    pub fn new(name: ThemeName, depth: ColourDepth) -> Theme {
        Palette::of(name).map_or_else(Theme::mono, |palette| Theme::coloured(&palette, depth))
    }

    fn coloured(palette: &Palette, depth: ColourDepth) -> Theme {
        let fg = |ink: PaletteColour| Style::new().fg(ink.colour(depth));
        let bold = |ink: PaletteColour| fg(ink).add_modifier(Modifier::BOLD);
        // With 16 colours, no background is close enough to the terminal's own, so overlays are reversed instead.
        let over = |ink: PaletteColour, instead| match depth {
            ColourDepth::Sixteen => Style::new().add_modifier(instead),
            _ => Style::new().bg(ink.colour(depth)),
        };
        // Several 16-colour schemes use the grey as background: the dim modifier is safer.
        let dim = match depth {
            ColourDepth::Sixteen => Style::new().add_modifier(Modifier::DIM),
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
            heat: palette.heat.map(fg),
            changes: changes.map(|number| [filled.next().unwrap_or(number), number]),
            cells: Some(Cells { inks: palette.cells, whiter: palette.inlined_whiter, depth }),
        }
    }

    /// Uses bold, dim, reverse and underline only.
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
            heat: [dim, plain, dim, plain, dim, plain, plain, bold],
            changes: [underlined, plain, dim, bold, strong].map(|style| [style, style]),
            cells: None,
        }
    }

    /// Whether the theme has no colours; adjacent cells then need another separator.
    #[must_use]
    pub fn is_mono(&self) -> bool {
        self.cells.is_none()
    }

    /// A cell of a flame graph: the hue shows the kind of code, inlined calls are lighter, and `shade` (0 to 24, from
    /// the name) distinguishes neighbours.
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
        // In the 256-colour cube, steps between the two ends would fall on colours of another hue.
        let shade = match cells.depth {
            ColourDepth::True => shade.min(24),
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

    /// A cell that changed: -2 much less, -1 less, 0 not distinguishable from chance, 1 more, 2 much more.
    #[must_use]
    pub fn change(&self, step: i8) -> Style {
        self.changes[change(step)][0]
    }

    /// The text style of a changed number, with the same steps.
    #[must_use]
    pub fn change_text(&self, step: i8) -> Style {
        self.changes[change(step)][1]
    }

    /// The text mark for the colour of a change: `--`, `-`, `=`, `+`, `++`.
    #[must_use]
    pub fn change_mark(step: i8) -> &'static str {
        ["--", "-", "=", "+", "++"][change(step)]
    }
}

fn change(step: i8) -> usize {
    usize::from((step.clamp(-2, 2) + 2).unsigned_abs())
}
