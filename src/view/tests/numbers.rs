//! Numbers for people, read back: three digits stay three digits in every unit, and nothing prints what is no number.

use crate::model::Unit;
use crate::view::number::{FormattedNumber, count, date, percent, quantity, seconds, three_digits};
use proptest::prelude::*;

const UNITS: [Unit; 15] = [
    Unit::Count,
    Unit::Seconds,
    Unit::Micros,
    Unit::Nanos,
    Unit::Cycles,
    Unit::Instructions,
    Unit::Hertz,
    Unit::Bytes,
    Unit::BytesPerSecond,
    Unit::PerSecond,
    Unit::PerKiloInstructions,
    Unit::Share,
    Unit::Ratio,
    Unit::Cores,
    Unit::Threads,
];

/// What a shown number stands for, in the unit's base.
fn read(shown: &FormattedNumber) -> f64 {
    let number: f64 = shown.number.replace(',', "").parse().unwrap_or(f64::NAN);
    let prefix = shown.unit.trim_end_matches("/s").trim_end_matches("Hz").trim_end_matches('B');
    let factor = match (shown.unit.as_ref(), prefix) {
        ("%", _) => 1e-2,
        ("s", _) => 1.0,
        ("ms", _) => 1e-3,
        ("us", _) => 1e-6,
        ("ns", _) => 1e-9,
        (_, "T") => 1e12,
        (_, "G") => 1e9,
        (_, "M") => 1e6,
        (_, "k") => 1e3,
        _ => 1.0,
    };
    number * factor
}

/// What the unit's base is in the unit itself.
fn base(unit: Unit) -> f64 {
    match unit {
        Unit::Nanos => 1e-9,
        Unit::Micros => 1e-6,
        _ => 1.0,
    }
}

/// Values over many magnitudes, of both signs.
fn any_value() -> impl Strategy<Value = f64> {
    (1.0..10.0_f64, -6..14_i32, any::<bool>())
        .prop_map(|(digits, magnitude, negative)| digits * 10_f64.powi(magnitude) * if negative { -1.0 } else { 1.0 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn three_digits_read_back_to_half_a_percent(value in any_value()) {
        let shown = three_digits(value);
        let back: f64 = shown.replace(',', "").parse().unwrap_or(f64::NAN);
        prop_assert!((back / value - 1.0).abs() <= 0.005_001, "{value} is shown as {shown}");
        let digits = shown.chars().filter(char::is_ascii_digit).collect::<String>();
        let digits = digits.trim_start_matches('0').trim_end_matches('0');
        prop_assert!(digits.len() <= 3, "{value} is shown as {shown}");
    }

    #[test]
    fn a_quantity_reads_back_in_every_unit(value in any_value()) {
        for unit in UNITS {
            let shown = quantity(value, unit);
            let (back, expected) = (read(&shown), value * base(unit));
            // Nine decimals at most: what is smaller than a billionth of the smallest unit shows as zero.
            let smallest = match unit {
                Unit::Seconds | Unit::Micros | Unit::Nanos => 1e-18,
                _ => 1e-9,
            };
            let close = (back - expected).abs() <= 0.005_001 * expected.abs() + smallest;
            prop_assert!(close, "{value} {unit:?} is shown as {}", shown.joined());
            prop_assert!(!shown.joined().ends_with(' '), "{unit:?}");
        }
    }

    #[test]
    fn the_larger_of_two_quantities_never_shows_as_the_smaller(a in any_value(), b in any_value()) {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        for unit in UNITS {
            let (shown, other) = (quantity(low, unit), quantity(high, unit));
            prop_assert!(read(&shown) <= read(&other) * (1.0 + 1e-12 * read(&other).signum()) + 1e-30, "{} and {}", shown.joined(), other.joined());
        }
    }

    #[test]
    fn a_count_keeps_all_its_digits(value in any::<u64>()) {
        let shown = count(value);
        prop_assert_eq!(shown.replace(',', ""), value.to_string());
        let groups: Vec<&str> = shown.split(',').collect();
        prop_assert!((1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|group| group.len() == 3), "{shown}");
    }

    #[test]
    fn dates_order_as_their_instants(a in any::<u64>(), b in any::<u64>()) {
        let (a, b) = (a.min(b), a.max(b));
        prop_assert!(date(a) <= date(b));
        prop_assert_eq!(date(a).len(), "2000-01-01 00:00:00 UTC".len());
    }
}

#[test]
fn what_is_no_number_is_a_dash_in_every_unit() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for unit in UNITS {
            assert_eq!(quantity(value, unit).number, "-", "{value} {unit:?}");
        }
        assert_eq!((percent(value).number, seconds(value).number), ("-".to_string(), "-".to_string()));
    }
}

#[test]
fn the_ends_of_the_range_of_numbers_are_shown_as_numbers() {
    for value in
        [f64::MAX, f64::MIN, f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 5e-324, 1e18, 1.8e19, 1e-12, 9.995e17, -0.0]
    {
        for unit in UNITS {
            let shown = quantity(value, unit);
            let back: f64 = shown.number.replace(',', "").parse().unwrap_or(f64::NAN);
            let overflows = value.abs() > 1e300;
            assert!(back.is_finite() || overflows, "{value:e} {unit:?} is shown as {}", shown.joined());
            assert!(!shown.number.contains("NaN") && !shown.number.contains("inf"), "{value:e} {unit:?}");
            assert!(shown.number.len() <= 26, "{value:e} {unit:?} is shown as {}", shown.joined());
        }
    }
}
