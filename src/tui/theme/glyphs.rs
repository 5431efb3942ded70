//! The characters to draw with, for terminals with Unicode and without. It never holds a colour.

/// What is drawn with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether these are Unicode; charts are then drawn with Braille dots.
    pub unicode: bool,
    /// Rising levels of a sparkline; the lowest is what a zero shows.
    pub sparks: [&'static str; 8],
    /// Filled from the left by eighths, one to seven, then full.
    pub eighths: [&'static str; 8],
    /// Where nothing was measured.
    pub gap: &'static str,
    /// A horizontal line.
    pub rule: &'static str,
    /// A vertical line.
    pub bar: &'static str,
    /// Where text was cut.
    pub ellipsis: &'static str,
    /// Between parts of a line.
    pub dot: &'static str,
    /// Pointing right.
    pub right: &'static str,
    /// Pointing left.
    pub left: &'static str,
    /// Ascending, or more above.
    pub up: &'static str,
    /// Descending, or more below.
    pub down: &'static str,
    /// A whole block.
    pub full: &'static str,
    /// A half-dense block.
    pub medium: &'static str,
    /// A thin block.
    pub light: &'static str,
    /// Fills of the parts of a stacked bar, each told apart without colour.
    pub fills: [&'static str; 6],
    /// A moment on a chart.
    pub moment: &'static str,
    /// The corner of two axes, a tick on the left one, a tick on the lower one.
    pub axes: [&'static str; 3],
    /// Branches of a tree: one with siblings to come, the last, the line past them.
    pub branches: [&'static str; 3],
    /// A minus sign.
    pub minus: &'static str,
    /// Times.
    pub times: &'static str,
    /// More or less.
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
        moment: "┊",
        axes: ["└", "┤", "┬"],
        branches: ["├ ", "└ ", "│ "],
        minus: "−",
        times: "×",
        plus_minus: "±",
    };

    /// For all others.
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
        moment: "!",
        axes: ["+", "+", "+"],
        branches: ["|-", "`-", "| "],
        minus: "-",
        times: "x",
        plus_minus: "+-",
    };

    /// The level of a value between zero and `top`; what is not zero never looks like it.
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
