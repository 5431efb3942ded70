//! Parses durations as programs print them: `12.34ms`, `63 us`, `1e-3 s`. The digits say how exact they are.

use super::bins::Interval;
use crate::model::TimeUnit;

/// A number as printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Printed {
    pub value: f64,
    /// Half of the last digit's worth: it was rounded by no more.
    pub half: f64,
}

/// Digits of a number that are read: enough for a fraction of a nanosecond in a year.
const MOST_DIGITS: usize = 40;

/// The number at the start of the text, and the rest; `None` if there is none, or if it is negative or infinite.
pub(super) fn number(text: &str) -> Option<(Printed, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let fraction = if bytes.get(whole) == Some(&b'.') { digits(whole + 1) } else { 0 };
    let mut end = if fraction > 0 { whole + 1 + fraction } else { whole };
    if whole + fraction == 0 || end > MOST_DIGITS {
        return None;
    }
    let mut exponent = 0;
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let length = digits((end + 1 + sign).min(bytes.len()));
        if length > 0 {
            exponent = text[end + 1..end + 1 + sign + length].parse::<i32>().ok()?;
            end += 1 + sign + length;
        }
    }
    let value: f64 = text[..end].parse().ok()?;
    let places = exponent.saturating_sub(i32::try_from(fraction).ok()?);
    let half = 0.5 * 10_f64.powi(places.clamp(-400, 400));
    (value.is_finite() && half.is_finite()).then_some((Printed { value, half }, &text[end..]))
}

/// The first number in the text as a latency, by the unit after it or else by `unit`; `None` without either.
pub(super) fn duration(text: &str, unit: Option<TimeUnit>) -> Option<Interval> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    let at = if text[..at].ends_with('.') { at - 1 } else { at };
    if text[..at].ends_with('-') {
        return None;
    }
    let (printed, rest) = number(&text[at..])?;
    let ns = unit_after(rest).or_else(|| unit.map(TimeUnit::ns))?;
    let interval = in_unit(printed, ns);
    interval.low.is_finite().then_some(interval)
}

/// A printed number of units of so many nanoseconds.
pub(super) fn in_unit(printed: Printed, ns: f64) -> Interval {
    Interval::rounded(printed.value * ns, printed.half * ns)
}

/// Nanoseconds in the unit that the text begins with.
fn unit_after(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', '\t']);
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    Some(match &text[..end] {
        "ns" | "nsec" | "nsecs" | "nanoseconds" => 1.0,
        "us" | "usec" | "usecs" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1e3,
        "ms" | "msec" | "msecs" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" | "minutes" => 6e10,
        "h" => 3.6e12,
        _ => return None,
    })
}

/// A share that is printed in percent, 0 to 1.
pub(super) fn share(percent: &str) -> Option<f64> {
    // As digits, so that 99.9 becomes the same number as 0.999.
    let share: f64 = format!("{percent}e-2").parse().ok()?;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_say_how_exact_a_duration_is() {
        let ms = Some(TimeUnit::Milliseconds);
        for (text, unit, expected) in [
            ("12.34ms", None, Some((12_335_000.0, 12_345_001.0))),
            ("took 63 us.", None, Some((62_500.0, 63_501.0))),
            ("1e-3 s", None, Some((500_000.0, 1_500_001.0))),
            ("2.00m", None, Some((119_700_000_000.0, 120_300_000_001.0))),
            (".5", ms, Some((450_000.0, 550_001.0))),
            ("7 \u{b5}s", ms, Some((6_500.0, 7_501.0))),
            ("7", None, None),
            ("-7ms", None, None),
            ("7 apples", None, None),
            ("1e400 ms", None, None),
            ("1e99999999999 ms", None, None),
            ("99999999999999999999999999999999999999999999999999 ms", None, None),
            ("none", ms, None),
            ("", ms, None),
        ] {
            let found = duration(text, unit).map(|it| (it.low.round(), it.high.unwrap_or(0.0).round()));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(
            (share("99.9"), share("99.990000"), share("101"), share("x")),
            (Some(0.999), Some(0.9999), None, None)
        );
    }
}
