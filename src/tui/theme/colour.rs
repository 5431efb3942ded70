//! A colour in every depth that a terminal may have, and the contrast of text on it.

use ratatui::style::{Color, Style};

/// How many colours a terminal has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourDepth {
    /// The 16 ANSI colours; the terminal chooses their values.
    Sixteen,
    /// xterm's colour cube and greys.
    #[default]
    TwoFiftySix,
    /// 24-bit colour.
    True,
}

/// A colour and its ANSI substitute.
/// The substitute is explicit: the numerically nearest colour seldom has the nearest meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PaletteColour {
    pub rgb: [u8; 3],
    /// 0 to 15.
    pub ansi: u8,
}

/// The 16 ANSI colours as xterm shows them; users change them only slightly.
const XTERM: [[u8; 3]; 16] = [
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
];

const NAMED: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

/// Steps of the 6 x 6 x 6 cube.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl PaletteColour {
    /// The colour as sent to the terminal.
    pub fn colour(self, depth: ColourDepth) -> Color {
        let [red, green, blue] = self.rgb;
        match depth {
            ColourDepth::True => Color::Rgb(red, green, blue),
            ColourDepth::TwoFiftySix => Color::Indexed(nearest(self.rgb)),
            ColourDepth::Sixteen => NAMED[usize::from(self.ansi % 16)],
        }
    }

    /// The colour as a background, with black or white text, whichever has more contrast.
    pub fn filled(self, depth: ColourDepth) -> Style {
        let back = self.shown(depth);
        let dark = contrast(back, [0, 0, 0]) >= contrast(back, [255, 255, 255]);
        let text = match (depth, dark) {
            (ColourDepth::True, true) => Color::Rgb(0, 0, 0),
            (ColourDepth::True, false) => Color::Rgb(255, 255, 255),
            // 16 and 231 are black and white, whatever the user's 16 colours are.
            (ColourDepth::TwoFiftySix, true) => Color::Indexed(16),
            (ColourDepth::TwoFiftySix, false) => Color::Indexed(231),
            (_, true) => Color::Black,
            (_, false) => Color::White,
        };
        Style::new().fg(text).bg(self.colour(depth))
    }

    /// The visible RGB value at that depth.
    pub fn shown(self, depth: ColourDepth) -> [u8; 3] {
        match depth {
            ColourDepth::True => self.rgb,
            ColourDepth::TwoFiftySix => indexed(nearest(self.rgb)),
            ColourDepth::Sixteen => XTERM[usize::from(self.ansi % 16)],
        }
    }

    /// Darker by `by` in each channel; ANSI colours have no shades.
    pub fn darker(self, by: u8) -> PaletteColour {
        PaletteColour { rgb: self.rgb.map(|channel| channel.saturating_sub(by)), ..self }
    }

    /// Mixed with white (share 0 to 1) for an inlined function; for ANSI the bright variant.
    pub fn whiter(self, share: f32) -> PaletteColour {
        let mixed = |channel: u8| (f32::from(channel) + (255.0 - f32::from(channel)) * share).round() as u8;
        let ansi = if self.ansi < 7 { self.ansi + 8 } else { self.ansi };
        PaletteColour { rgb: self.rgb.map(mixed), ansi }
    }
}

/// The nearest of the 240 fixed colours of the cube and the grey ramp.
fn nearest(rgb: [u8; 3]) -> u8 {
    let step = |channel: u8| (0..6_u8).min_by_key(|at| CUBE[usize::from(*at)].abs_diff(channel)).unwrap_or(0);
    let [red, green, blue] = rgb.map(step);
    let cube = 16 + 36 * red + 6 * green + blue;
    let mean = rgb.iter().map(|channel| u16::from(*channel)).sum::<u16>() / 3;
    let grey = 232 + (mean.saturating_sub(3) / 10).min(23) as u8;
    if distance(indexed(grey), rgb) < distance(indexed(cube), rgb) { grey } else { cube }
}

/// The RGB value of an indexed colour.
pub(super) fn indexed(index: u8) -> [u8; 3] {
    match index {
        0..=15 => XTERM[usize::from(index)],
        16..=231 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(|step| CUBE[usize::from(step)]),
        232..=255 => [8 + 10 * (index - 232); 3],
    }
}

fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

/// Contrast ratio of two colours, 1 to 21; 4.5 is readable (WCAG 2.2, 1.4.3).
pub(super) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance, 0 to 1 (WCAG 2.2).
fn luminance(rgb: [u8; 3]) -> f64 {
    let [red, green, blue] = rgb.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Linear light of an sRGB channel, 0 to 1.
pub(super) fn linear(channel: u8) -> f64 {
    let share = f64::from(channel) / 255.0;
    if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((contrast([0, 0, 0], [255, 255, 255]) - 21.0).abs() < 1e-9);
        assert!((contrast([119, 119, 119], [255, 255, 255]) - 4.48).abs() < 0.01, "WCAG's own example, #777");
    }

    #[test]
    fn a_colour_is_shown_as_the_nearest_fixed_one() {
        for (rgb, expected) in
            [([0, 0, 0], 16), ([255, 255, 255], 231), ([255, 0, 0], 196), ([95, 135, 175], 67), ([130, 130, 130], 244)]
        {
            assert_eq!(nearest(rgb), expected, "{rgb:?}");
        }
        for index in 16..=255 {
            assert_eq!(indexed(nearest(indexed(index))), indexed(index), "{index} stands for itself");
        }
    }

    #[test]
    fn text_turns_white_on_dark_colours() {
        let dark = PaletteColour { rgb: [20, 30, 90], ansi: 4 };
        assert_eq!(dark.filled(ColourDepth::Sixteen).fg, Some(Color::White));
        assert_eq!(dark.filled(ColourDepth::TwoFiftySix).fg, Some(Color::Indexed(231)));
        assert_eq!(dark.whiter(0.9).filled(ColourDepth::True).fg, Some(Color::Rgb(0, 0, 0)));
    }
}
