//! Formats numbers and names for sentences: three significant digits, as in the tables next to them.

use super::name_forms;

/// A share as a percentage: `31.2%`.
pub(in crate::analysis) fn percent(share: f64) -> String {
    format!("{}%", digits(share * 100.0))
}

/// A time given in seconds: `3.20 s`, `410 us`.
pub(in crate::analysis) fn seconds(value: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")];
    let fits = |(factor, _): &(f64, &str)| value.abs() >= factor * 0.9995;
    let (factor, unit) = units.into_iter().find(fits).unwrap_or((1e-9, "ns"));
    format!("{} {unit}", digits(value / factor))
}

/// A plain number: `1.87`, `5,230`; a dash for NaN and infinity.
pub(in crate::analysis) fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() {
        return "-".to_string();
    }
    if value < 0.0 {
        return format!("-{}", digits(-value));
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

/// A name in backticks, in its longest form that does not fill the sentence. Its own backticks must not end it.
pub(in crate::analysis) fn name(name: &str) -> String {
    const LONGEST: usize = 60;
    let forms = name_forms(name);
    let fits = forms.iter().find(|form| form.chars().count() <= LONGEST);
    let form = fits.or(forms.last()).map_or(name, String::as_str);
    let (text, more) = form.char_indices().nth(LONGEST).map_or((form, ""), |(at, _)| (&form[..at], "…"));
    format!("`{}{more}`", text.replace('`', "'"))
}

/// `1 thread`, `3 threads`.
pub(in crate::analysis) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_string() } else { format!("{count} threads") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_negative_number_is_its_positive_with_a_sign_and_what_is_no_number_is_a_dash() {
        for (value, expected) in [
            (-523_000.0, "-523,000"),
            (523_000.0, "523,000"),
            (-1_234_567.0, "-1,230,000"),
            (-0.051, "-0.0510"),
            (-999.6, "-1,000"),
            (-0.0, "0"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
            (f64::NEG_INFINITY, "-"),
        ] {
            assert_eq!(digits(value), expected, "{value}");
        }
        assert_eq!([seconds(-3.2), seconds(-0.0), seconds(-4.1e-4)], ["-3.20 s", "0 ns", "-410 us"]);
        assert_eq!([percent(-0.4321), percent(-12.0)], ["-43.2%", "-1,200%"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn three_digits_read_back_to_half_a_percent(value in 1.0..10.0_f64, magnitude in -3..13_i32) {
            let value = value * 10_f64.powi(magnitude);
            let shown = digits(value);
            let back: f64 = shown.replace(',', "").parse().unwrap_or(f64::NAN);
            prop_assert!((back / value - 1.0).abs() <= 0.005_001, "{value} is shown as {shown}");
            let whole = shown.split('.').next().unwrap_or_default();
            prop_assert!(whole.split(',').skip(1).all(|group| group.len() == 3), "{shown}");
            prop_assert_eq!(digits(-value), format!("-{shown}"));
        }
    }

    #[test]
    fn numbers_have_three_digits_and_a_fitting_unit() {
        assert_eq!([percent(0.4321), percent(1.0), percent(0.0), percent(0.005)], ["43.2%", "100%", "0%", "0.500%"]);
        assert_eq!(
            [seconds(3.2), seconds(0.99996), seconds(4.1e-4), seconds(3e-8)],
            ["3.20 s", "1.00 s", "410 us", "30.0 ns"]
        );
        assert_eq!([name("ma`in"), name(&"é".repeat(61))], ["`ma'in`".to_string(), format!("`{}…`", "é".repeat(60))]);
        let hashtable = format!(
            "std::_Hashtable<{}>::_M_find_before_node(unsigned long) const",
            "std::pair<int, long>, ".repeat(9)
        );
        assert_eq!(name(&hashtable), "`std::_Hashtable::_M_find_before_node`");
        assert_eq!([digits(52_345.0), digits(999.6), digits(0.05)], ["52,300", "1,000", "0.0500"]);
    }
}
