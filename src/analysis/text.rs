//! Formats numbers and names for sentences: three significant digits, as in the tables next to them.

/// A share as a percentage: `31.2%`.
pub(in crate::analysis) fn percent(share: f64) -> String {
    format!("{}%", digits(share * 100.0))
}

/// A time given in seconds: `3.20 s`, `410 us`.
pub(in crate::analysis) fn seconds(value: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let (factor, unit) = units.into_iter().find(|(factor, _)| value >= factor * 0.9995).unwrap_or((1e-9, "ns"));
    format!("{} {unit}", digits(value / factor))
}

/// A plain number: `1.87`, `5,230`.
pub(in crate::analysis) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_string();
    }
    let magnitude = |value: f64| value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(2 - magnitude(value));
    let rounded = (value * scale).round() / scale;
    let decimals = (2 - magnitude(rounded)).clamp(0, 6) as usize;
    if decimals > 0 {
        return format!("{rounded:.decimals$}");
    }
    let plain = format!("{rounded:.0}");
    let mut out = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A name in backticks, shortened where it would fill the sentence. Its own backticks must not end it.
pub(in crate::analysis) fn name(name: &str) -> String {
    const LONGEST: usize = 60;
    let (text, more) = name.char_indices().nth(LONGEST).map_or((name, ""), |(at, _)| (&name[..at], "…"));
    format!("`{}{more}`", text.replace('`', "'"))
}

/// `1 thread`, `3 threads`.
pub(in crate::analysis) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_fitting_unit() {
        assert_eq!([percent(0.4321), percent(1.0), percent(0.0), percent(0.005)], ["43.2%", "100%", "0%", "0.500%"]);
        assert_eq!(
            [seconds(3.2), seconds(0.99996), seconds(4.1e-4), seconds(3e-8)],
            ["3.20 s", "1.00 s", "410 us", "30.0 ns"]
        );
        assert_eq!([name("ma`in"), name(&"é".repeat(61))], ["`ma'in`".to_string(), format!("`{}…`", "é".repeat(60))]);
        assert_eq!([digits(52_345.0), digits(999.6), digits(0.05)], ["52,300", "1,000", "0.0500"]);
    }
}
