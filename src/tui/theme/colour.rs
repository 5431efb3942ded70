//! Colours for terminals that have 16, 256 or all of them. It never knows what a colour means.

use ratatui::style::Color;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// How many colours a terminal has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// The 16 of old; which they are is the terminal's choice.
    Sixteen,
    /// xterm's cube and greys.
    #[default]
    TwoFiftySix,
    /// All.
    True,
}

impl Rgb {
    /// Darker by so much in each channel.
    #[must_use]
    pub fn darker(self, by: u8) -> Rgb {
        Rgb(self.0.saturating_sub(by), self.1.saturating_sub(by), self.2.saturating_sub(by))
    }

    /// Halfway to white.
    #[must_use]
    pub fn lighter(self) -> Rgb {
        let half = |channel: u8| channel + (255 - channel) / 2;
        Rgb(half(self.0), half(self.1), half(self.2))
    }

    /// Relative luminance by WCAG 2, 0 to 1.
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    fn distance(self, other: Rgb) -> u32 {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        // Green counts most to the eye, blue least.
        3 * square(self.0, other.0) + 6 * square(self.1, other.1) + square(self.2, other.2)
    }
}

/// The 16 as xterm shows them.
const SIXTEEN: [(Rgb, Color); 16] = [
    (Rgb(0, 0, 0), Color::Black),
    (Rgb(205, 0, 0), Color::Red),
    (Rgb(0, 205, 0), Color::Green),
    (Rgb(205, 205, 0), Color::Yellow),
    (Rgb(0, 0, 238), Color::Blue),
    (Rgb(205, 0, 205), Color::Magenta),
    (Rgb(0, 205, 205), Color::Cyan),
    (Rgb(229, 229, 229), Color::Gray),
    (Rgb(127, 127, 127), Color::DarkGray),
    (Rgb(255, 0, 0), Color::LightRed),
    (Rgb(0, 255, 0), Color::LightGreen),
    (Rgb(255, 255, 0), Color::LightYellow),
    (Rgb(92, 92, 255), Color::LightBlue),
    (Rgb(255, 0, 255), Color::LightMagenta),
    (Rgb(0, 255, 255), Color::LightCyan),
    (Rgb(255, 255, 255), Color::White),
];

impl Depth {
    /// The nearest colour there is.
    #[must_use]
    pub fn colour(self, rgb: Rgb) -> Color {
        match self {
            Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
            Depth::TwoFiftySix => Color::Indexed(indexed(rgb)),
            Depth::Sixteen => {
                let nearest = SIXTEEN.iter().min_by_key(|(known, _)| known.distance(rgb));
                nearest.map_or(Color::Reset, |(_, colour)| *colour)
            }
        }
    }
}

/// Levels of a channel in the cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

fn indexed(rgb: Rgb) -> u8 {
    let level = |channel: u8| {
        let nearest = LEVELS.iter().enumerate().min_by_key(|(_, level)| level.abs_diff(channel));
        nearest.map_or(0, |(at, _)| at)
    };
    let (r, g, b) = (level(rgb.0), level(rgb.1), level(rgb.2));
    let cube = Rgb(LEVELS[r], LEVELS[g], LEVELS[b]);
    let mean = (u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = Rgb(8 + 10 * step, 8 + 10 * step, 8 + 10 * step);
    if grey.distance(rgb) < cube.distance(rgb) { 232 + step } else { (16 + 36 * r + 6 * g + b) as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_degraded_to_the_nearest_there_is() {
        for (rgb, index, sixteen) in [
            (Rgb(0, 0, 0), 16, Color::Black),
            (Rgb(255, 255, 255), 231, Color::White),
            (Rgb(128, 128, 128), 244, Color::DarkGray),
            (Rgb(255, 135, 0), 208, Color::Yellow),
            (Rgb(97, 190, 200), 74, Color::Cyan),
        ] {
            assert_eq!((indexed(rgb), Depth::Sixteen.colour(rgb)), (index, sixteen), "{rgb:?}");
        }
        assert_eq!(Depth::True.colour(Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
    }
}
