//! Draws a change and its interval as one line of characters, with zero in the middle: `   |  [--o--] `.
//! Callers show the numbers next to it.

use crate::tui::theme::Glyphs;

/// A change with its interval on a scale from `-most` to `most`; blank for an invalid value.
/// An arrow marks an end beyond the scale.
#[must_use]
pub fn interval(value: f64, ends: Option<(f64, f64)>, most: f64, columns: usize, glyphs: &Glyphs) -> String {
    if columns < 3 || !value.is_finite() || !most.is_finite() || most <= 0.0 {
        return " ".repeat(columns);
    }
    let Marks { zero, line, from, to, dot } = if glyphs.unicode { UNICODE } else { ASCII };
    let middle = (columns - 1) as f64 / 2.0;
    let across = |value: f64| (middle + (value / most).clamp(-1.0, 1.0) * middle).round() as usize;
    let mut cells = vec![" "; columns];
    cells[across(0.0)] = zero;
    if let Some((low, high)) = ends.filter(|(low, high)| low.is_finite() && high.is_finite() && low <= high) {
        let (left, right) = (across(low), across(high));
        cells[left..=right].fill(line);
        cells[left] = if low < -most { glyphs.left } else { from };
        cells[right] = if high > most { glyphs.right } else { to };
    }
    cells[across(value)] = dot;
    cells.concat()
}

struct Marks {
    zero: &'static str,
    line: &'static str,
    from: &'static str,
    to: &'static str,
    dot: &'static str,
}

const UNICODE: Marks = Marks { zero: "│", line: "─", from: "├", to: "┤", dot: "●" };
const ASCII: Marks = Marks { zero: "|", line: "-", from: "[", to: "]", dot: "o" };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_stands_between_the_ends_of_its_interval_and_zero_in_the_middle() {
        for (value, ends, expected) in [
            (0.5, Some((0.25, 0.75)), "    |[o] "),
            (0.5, Some((0.25, 1.0)), "    |[o-]"),
            (-0.5, None, "  o |    "),
            (0.0, Some((-1.0, 1.0)), "[---o---]"),
            (0.5, Some((-9.0, 9.0)), "<-----o->"),
            (f64::NAN, None, "         "),
        ] {
            let drawn = interval(value, ends, 1.0, 9, &Glyphs::ASCII);
            assert_eq!(drawn, expected);
        }
        assert_eq!(interval(0.5, None, 0.0, 5, &Glyphs::UNICODE), "     ");
        assert_eq!(interval(0.5, None, 1.0, 0, &Glyphs::UNICODE), "");
    }
}
