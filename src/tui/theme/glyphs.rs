//! The characters to draw with, for terminals with and without Unicode.

/// Levels of a heat map.
pub const HEAT: usize = 8;

/// The character for each drawing element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether these are Unicode characters; charts then use Braille dots.
    pub unicode: bool,
    /// Rising levels of a sparkline; the lowest means zero.
    pub sparks: [&'static str; 8],
    /// Cells filled from the left by eighths, one to seven, then full.
    pub eighths: [&'static str; 8],
    /// A value that was not measured.
    pub gap: &'static str,
    /// A horizontal line.
    pub rule: &'static str,
    /// A vertical line.
    pub bar: &'static str,
    /// Marks cut text.
    pub ellipsis: &'static str,
    /// Separates parts of a line.
    pub dot: &'static str,
    /// Pointing right.
    pub right: &'static str,
    /// Pointing left.
    pub left: &'static str,
    /// Ascending order, or more rows above.
    pub up: &'static str,
    /// Descending order, or more rows below.
    pub down: &'static str,
    /// A solid block.
    pub full: &'static str,
    /// A half-dense block.
    pub medium: &'static str,
    /// A thin block.
    pub light: &'static str,
    /// Fills for the parts of a stacked bar, distinguishable without colour.
    pub fills: [&'static str; 6],
    /// Rising levels of a heat map.
    pub heat: [&'static str; HEAT],
    /// Marks a moment on a chart.
    pub moment: &'static str,
    /// The corner of two axes, a tick on the left one, a tick on the lower one.
    pub axes: [&'static str; 3],
    /// Branches of a tree: one with later siblings, the last one, the line past them.
    pub branches: [&'static str; 3],
    /// A minus sign.
    pub minus: &'static str,
    /// A multiplication sign.
    pub times: &'static str,
    /// A plus-minus sign.
    pub plus_minus: &'static str,
}

impl Glyphs {
    /// For terminals with Unicode.
    pub const UNICODE: Glyphs = Glyphs {
        unicode: true,
        sparks: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
        eighths: ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"],
        gap: "·",
        rule: "─",
        bar: "│",
        ellipsis: "…",
        dot: "·",
        right: "›",
        left: "‹",
        up: "▲",
        down: "▼",
        full: "█",
        medium: "▒",
        light: "░",
        fills: ["█", "▓", "▒", "░", "▄", "▂"],
        heat: ["░", "░", "▒", "▒", "▓", "▓", "█", "█"],
        moment: "┊",
        axes: ["└", "┤", "┬"],
        branches: ["├ ", "└ ", "│ "],
        minus: "−",
        times: "×",
        plus_minus: "±",
    };

    /// For terminals without Unicode.
    pub const ASCII: Glyphs = Glyphs {
        unicode: false,
        sparks: ["_", ".", ":", "-", "=", "+", "*", "#"],
        eighths: [" ", " ", " ", "-", "-", "-", "=", "="],
        gap: "?",
        rule: "-",
        bar: "|",
        ellipsis: "~",
        dot: "|",
        right: ">",
        left: "<",
        up: "^",
        down: "v",
        full: "#",
        medium: "=",
        light: "-",
        fills: ["#", "=", "+", "-", ":", "."],
        heat: [".", ":", "-", "=", "+", "*", "#", "@"],
        moment: "!",
        axes: ["+", "+", "+"],
        branches: ["|-", "`-", "| "],
        minus: "-",
        times: "x",
        plus_minus: "+-",
    };

    /// The level of a value between zero and `top`; a nonzero value never gets the level of zero.
    #[must_use]
    pub fn spark(&self, value: f64, top: f64) -> &'static str {
        let highest = self.sparks.len() - 1;
        let share = if top > 0.0 { (value / top).clamp(0.0, 1.0) } else { 0.0 };
        let level = (share * highest as f64).round() as usize;
        self.sparks[if value > 0.0 { level.max(1) } else { 0 }.min(highest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_with_the_value_and_zero_is_told_from_little() {
        let glyphs = Glyphs::UNICODE;
        for (value, top, expected) in [
            (0.0, 10.0, "▁"),
            (0.001, 10.0, "▂"),
            (5.0, 10.0, "▅"),
            (10.0, 10.0, "█"),
            (99.0, 10.0, "█"),
            (0.0, 0.0, "▁"),
        ] {
            assert_eq!(glyphs.spark(value, top), expected, "{value}");
        }
        assert_eq!(glyphs.spark(f64::NAN, 1.0), "▁");
    }
}
