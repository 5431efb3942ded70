//! The colours of each theme as plain numbers. `theme` assigns their meaning, `colour` converts them for the terminal.

use super::colour::PaletteColour;
use super::glyphs::HEAT;

/// A colour theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// For dark terminals.
    #[default]
    Dark,
    /// For light terminals.
    Light,
    /// For all kinds of colour vision, on dark terminals: blue and orange instead of green and red.
    ColourBlind,
    /// For all kinds of colour vision, on light terminals.
    ColourBlindLight,
    /// Without colours.
    Mono,
}

/// The colours of a theme.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Palette {
    pub dim: PaletteColour,
    pub accent: PaletteColour,
    pub accent2: PaletteColour,
    pub good: PaletteColour,
    pub warn: PaletteColour,
    pub bad: PaletteColour,
    /// Background of the selected row.
    pub selected: PaletteColour,
    /// Background of the selected range of time.
    pub range: PaletteColour,
    /// Background of what a search found.
    pub found: PaletteColour,
    /// User code, kernel, JIT code, headings.
    pub cells: [PaletteColour; 4],
    /// How much white an inlined cell gets, 0 to 1.
    pub inlined_whiter: f32,
    pub change_cells: [PaletteColour; 5],
    /// Colours of numbers that are much less, less, more, much more; unchanged numbers are dim.
    pub changes: [PaletteColour; 4],
    pub series: [PaletteColour; 6],
    /// Levels of a heat map, further and further from the background.
    pub heat: [PaletteColour; HEAT],
}

const fn ink(red: u8, green: u8, blue: u8, ansi: u8) -> PaletteColour {
    PaletteColour { rgb: [red, green, blue], ansi }
}

impl Palette {
    /// The colours of a theme; `None` for a theme without colours.
    pub fn of(name: ThemeName) -> Option<Palette> {
        match name {
            ThemeName::Dark => Some(Palette::dark()),
            ThemeName::Light => Some(Palette::light()),
            ThemeName::ColourBlind => Some(Palette::dark().colour_blind(false)),
            ThemeName::ColourBlindLight => Some(Palette::light().colour_blind(true)),
            ThemeName::Mono => None,
        }
    }

    /// For dark backgrounds.
    fn dark() -> Palette {
        Palette {
            dim: ink(150, 156, 166, 8),
            accent: ink(122, 184, 224, 14),
            accent2: ink(200, 170, 232, 13),
            good: ink(140, 194, 120, 10),
            warn: ink(229, 192, 110, 11),
            bad: ink(242, 142, 126, 9),
            selected: ink(36, 46, 64, 4),
            range: ink(58, 50, 74, 5),
            found: ink(255, 238, 96, 13),
            cells: [ink(208, 156, 96, 3), ink(116, 156, 204, 4), ink(110, 184, 110, 2), ink(146, 148, 154, 7)],
            inlined_whiter: 0.42,
            change_cells: [
                ink(85, 140, 215, 4),
                ink(142, 174, 214, 12),
                ink(148, 148, 148, 7),
                ink(224, 182, 130, 3),
                ink(236, 132, 48, 9),
            ],
            changes: [ink(122, 172, 240, 12), ink(156, 186, 226, 6), ink(229, 188, 134, 3), ink(246, 152, 76, 11)],
            series: [
                ink(110, 180, 235, 14),
                ink(235, 165, 80, 11),
                ink(110, 200, 160, 10),
                ink(228, 150, 196, 13),
                ink(235, 222, 120, 3),
                ink(176, 178, 186, 7),
            ],
            // Colours of the cube of 256, so that every depth has the same.
            heat: [
                ink(0, 95, 135, 4),
                ink(0, 95, 175, 4),
                ink(0, 135, 175, 12),
                ink(0, 135, 215, 12),
                ink(0, 175, 215, 6),
                ink(95, 215, 215, 14),
                ink(215, 215, 175, 15),
                ink(255, 255, 135, 11),
            ],
        }
    }

    /// For light backgrounds.
    fn light() -> Palette {
        Palette {
            dim: ink(84, 90, 100, 8),
            accent: ink(0, 94, 150, 4),
            accent2: ink(104, 34, 140, 5),
            good: ink(28, 108, 48, 2),
            warn: ink(138, 88, 0, 1),
            bad: ink(178, 38, 28, 1),
            selected: ink(224, 235, 248, 6),
            range: ink(232, 222, 242, 5),
            found: ink(255, 238, 70, 13),
            cells: [ink(250, 200, 142, 3), ink(166, 202, 242, 4), ink(150, 216, 148, 2), ink(206, 207, 210, 7)],
            inlined_whiter: 0.4,
            change_cells: [
                ink(96, 152, 226, 4),
                ink(180, 206, 240, 12),
                ink(214, 214, 214, 7),
                ink(252, 214, 164, 3),
                ink(240, 146, 62, 9),
            ],
            changes: [ink(0, 80, 180, 4), ink(40, 96, 160, 4), ink(140, 84, 10, 1), ink(150, 50, 0, 1)],
            series: [
                ink(0, 96, 172, 4),
                ink(150, 66, 0, 1),
                ink(0, 108, 78, 2),
                ink(142, 44, 112, 5),
                ink(122, 100, 0, 0),
                ink(88, 90, 98, 8),
            ],
            heat: [
                ink(175, 215, 215, 6),
                ink(135, 175, 215, 6),
                ink(95, 175, 215, 12),
                ink(95, 135, 175, 12),
                ink(0, 95, 175, 4),
                ink(0, 95, 135, 4),
                ink(0, 0, 135, 0),
                ink(0, 0, 95, 0),
            ],
        }
    }

    /// Avoids pairs that only differ in red and green: good is blue, bad is orange, JIT code is pale yellow.
    /// (Okabe and Ito, Color Universal Design, 2008, with lightness adjusted for readability.)
    fn colour_blind(self, on_light: bool) -> Palette {
        let [user, _, _, heading] = self.cells;
        if on_light {
            let cells = [user, ink(86, 152, 222, 4), ink(248, 240, 150, 11), heading];
            return Palette {
                good: ink(0, 90, 170, 4),
                bad: ink(138, 44, 0, 1),
                warn: ink(116, 98, 0, 5),
                cells,
                ..self
            };
        }
        Palette {
            good: ink(110, 190, 240, 12),
            warn: ink(240, 228, 110, 11),
            bad: ink(236, 132, 60, 9),
            cells: [ink(204, 150, 84, 3), ink(92, 142, 214, 4), ink(240, 232, 140, 11), heading],
            ..self
        }
    }
}
