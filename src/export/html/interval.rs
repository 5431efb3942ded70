//! A change with its interval as a picture of one line, for a column of them on one scale.
//! Callers print the numbers next to it.

use crate::export::markup::px;

const WIDTH: f64 = 170.0;
const HEIGHT: f64 = 14.0;
/// Space for the dot at the edge.
const EDGE: f64 = 5.0;

/// Draws a dot at `value`, a whisker between `ends`, and zero in the middle. The scale extends to `most` on either
/// side; an end beyond it is cut off without a cap.
pub(super) fn interval(value: f64, ends: Option<(f64, f64)>, most: f64) -> String {
    let middle = WIDTH / 2.0;
    let across = |value: f64| middle + (value / most).clamp(-1.0, 1.0) * (middle - EDGE);
    if !value.is_finite() || most <= 0.0 || !most.is_finite() {
        return String::new();
    }
    let (up, down, line) = (HEIGHT / 2.0 - 4.0, HEIGHT / 2.0 + 4.0, HEIGHT / 2.0);
    let whisker =
        ends.filter(|(low, high)| low.is_finite() && high.is_finite()).map_or(String::new(), |(low, high)| {
            let cap = |end: f64| {
                let x = px(across(end));
                if end.abs() <= most { format!("M{x} {up}V{down}") } else { String::new() }
            };
            format!(
                "<path class=\"span\" d=\"M{} {line}H{}{}{}\"/>",
                px(across(low)),
                px(across(high)),
                cap(low),
                cap(high)
            )
        });
    format!(
        "<svg class=\"interval\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-hidden=\"true\">\
         <path class=\"zero\" d=\"M{middle} 0V{HEIGHT}\"/>{whisker}<circle class=\"dot\" cx=\"{}\" cy=\"{line}\" r=\"3\"/></svg>",
        px(across(value))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_in_the_middle_and_what_is_beyond_the_scale_is_cut_off_without_a_cap() {
        let inside = interval(0.1, Some((0.05, 0.15)), 0.2);
        assert!(inside.contains("cx=\"125\"") && inside.matches(['V']).count() == 3, "{inside}");
        let beyond = interval(-0.02, Some((-0.9, 0.9)), 0.2);
        assert!(beyond.contains("M5 7H165") && beyond.matches(['V']).count() == 1, "{beyond}");
        assert_eq!((interval(f64::NAN, None, 1.0), interval(1.0, None, 0.0)), (String::new(), String::new()));
    }
}
