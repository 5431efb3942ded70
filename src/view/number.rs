//! Formats numbers for people: three significant digits, with a unit that keeps them short.

use crate::model::Unit;
use crate::units::Utc;
use std::borrow::Cow;

/// A number and its unit, separate so that a column can align them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormattedNumber {
    /// The number.
    pub number: String,
    /// Its unit; empty for a plain number.
    pub unit: Cow<'static, str>,
}

impl FormattedNumber {
    fn new(number: String, unit: &'static str) -> Self {
        FormattedNumber { number, unit: Cow::Borrowed(unit) }
    }

    /// As running text: `9.87 s`, `31.2%`, `310/s`.
    pub fn joined(&self) -> String {
        let glue = if self.unit.is_empty() || self.unit.starts_with(['%', '/']) { "" } else { " " };
        format!("{}{glue}{}", self.number, self.unit)
    }
}

/// Three significant digits without an exponent, with thousands separators.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_string() } else { "-".to_string() };
    }
    // All digits of a number that no measurement reaches would fit nowhere.
    if value.abs() >= 1e18 {
        return format!("{value:.2e}");
    }
    if value.abs() < 1e-12 {
        return "0.000000000".to_string();
    }
    // Round first: 9.996 has one digit before the point, but prints as 10.0.
    let magnitude = |value: f64| value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(2 - magnitude(value));
    let rounded = (value * scale).round() / scale;
    let decimals = (2 - magnitude(rounded)).clamp(0, 9) as usize;
    if decimals == 0 { thousands(rounded.abs().round() as u64, rounded < 0.0) } else { format!("{rounded:.decimals$}") }
}

/// All digits of a count, with thousands separators: `9,970`.
pub fn count(value: u64) -> String {
    thousands(value, false)
}

/// A count with its noun, whose plural has an s: `1 sample`, `9,970 samples`.
pub fn several(value: u64, what: &str) -> String {
    format!("{} {what}{}", count(value), if value == 1 { "" } else { "s" })
}

fn thousands(value: u64, negative: bool) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    if negative {
        out.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share as a percentage.
pub fn percent(share: f64) -> FormattedNumber {
    FormattedNumber::new(three_digits(share * 100.0), "%")
}

/// A duration given in seconds.
pub fn seconds(value: f64) -> FormattedNumber {
    scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")])
}

/// A share, rate, time, size or count in its unit.
pub fn quantity(value: f64, unit: Unit) -> FormattedNumber {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::Nanos => seconds(value * 1e-9),
        Unit::Micros => seconds(value * 1e-6),
        Unit::Share => percent(value),
        Unit::Cores | Unit::Threads | Unit::Ratio | Unit::PerKiloInstructions => {
            FormattedNumber::new(three_digits(value), "")
        }
        Unit::PerSecond => {
            let shown = scaled(value, &[(1e9, "G"), (1e6, "M"), (1.0, "")]);
            FormattedNumber { unit: Cow::Owned(format!("{}/s", shown.unit)), ..shown }
        }
        Unit::Count | Unit::Cycles | Unit::Instructions | Unit::Samples | Unit::Microsamples => {
            scaled(value, &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, "")])
        }
        Unit::Hertz => scaled(value, &[(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")]),
        Unit::BytesPerSecond => {
            let shown = quantity(value, Unit::Bytes);
            FormattedNumber { unit: Cow::Owned(format!("{}/s", shown.unit)), ..shown }
        }
        Unit::Bytes => scaled(value, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]),
    }
}

/// Picks the first unit in which the value is at least 1, the last one for smaller values, the plain one for zero.
fn scaled(value: f64, units: &[(f64, &'static str)]) -> FormattedNumber {
    // A value that rounds up to the next unit belongs to it: 999.7 ms prints as 1.00 s.
    let fits = |factor: f64| value.abs() / factor >= 0.9995;
    let zero = if value == 0.0 { units.iter().find(|(factor, _)| *factor == 1.0) } else { None };
    let chosen = zero.or_else(|| units.iter().find(|(factor, _)| fits(*factor))).or(units.last());
    match chosen {
        Some((factor, unit)) => FormattedNumber::new(three_digits(value / factor), unit),
        None => FormattedNumber::new(three_digits(value), ""),
    }
}

/// The UTC date and time of an instant, to the second.
pub fn date(unix_ns: u64) -> String {
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(unix_ns / 1_000_000_000);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_shows_three_significant_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (9.996, "10.0"),
            (99.95, "100"),
            (0.012_345, "0.0123"),
            (4.5, "4.50"),
            (123.4, "123"),
            (12_345.0, "12,300"),
            (999_999.0, "1,000,000"),
            (522_462_134_390.6, "522,000,000,000"),
            (-0.5, "-0.500"),
            (f64::NAN, "-"),
            (1e-30, "0.000000000"),
            (-1e-30, "0.000000000"),
            (f64::MIN_POSITIVE / 4.0, "0.000000000"),
            (1e300, "1.00e300"),
            (-1.7e308, "-1.70e308"),
            (f64::NEG_INFINITY, "-"),
        ] {
            assert_eq!(three_digits(value), expected);
        }
    }

    #[test]
    fn the_unit_follows_the_size() {
        for (value, unit, expected) in [
            (0.000_012_34, Unit::Seconds, "12.3 us"),
            (0.9997, Unit::Seconds, "1.00 s"),
            (0.0, Unit::Seconds, "0 s"),
            (0.312, Unit::Share, "31.2%"),
            (1234.0, Unit::PerSecond, "1,230/s"),
            (2_500_000.0, Unit::PerSecond, "2.50 M/s"),
            (3.129e12, Unit::Count, "3.13 T"),
            (37.0, Unit::Count, "37.0"),
            (3.6e9, Unit::Hertz, "3.60 GHz"),
            (34_000_000.0, Unit::Bytes, "34.0 MB"),
            (0.363, Unit::Ratio, "0.363"),
        ] {
            assert_eq!(quantity(value, unit).joined(), expected);
        }
    }

    #[test]
    fn a_date_is_right_on_leap_days_and_at_the_end_of_a_year() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_767_225_599, "2025-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date(seconds * 1_000_000_000), expected);
        }
        assert!(date(u64::MAX).starts_with("2554-07-21"));
    }
}
