//! Formats the numbers of one column alike: they share unit and decimals, so that a column reads like a chart.
//! Numbers below a hundredth of the largest lose digits, so that one tiny number does not decide the format.

use crate::model::Unit;
use crate::view::number;

/// The number format of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnFormat {
    /// The unit for the heading; may be empty.
    pub unit: String,
    factor: f64,
    decimals: usize,
}

impl ColumnFormat {
    /// The format in which the smallest of these numbers keeps three digits.
    pub fn of(unit: Unit, values: impl Iterator<Item = f64>) -> ColumnFormat {
        let sizes = values.map(f64::abs).filter(|value| value.is_finite());
        let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(least, most), size| {
            (if size > 0.0 { least.min(size) } else { least }, most.max(size))
        });
        // A tiny number among large ones would make all of them hard to read.
        let at_least = |part: f64| if least.is_finite() { least.max(most / part) } else { 0.0 };
        let (factor, name) = scale(unit, at_least(1000.0));
        let telling = at_least(100.0) / factor;
        let decimals = if telling > 0.0 { (2 - telling.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
        ColumnFormat { unit: name.to_string(), factor, decimals }
    }

    /// For plain numbers; the caller supplies the unit.
    pub fn plain(values: impl Iterator<Item = f64>) -> ColumnFormat {
        ColumnFormat::of(Unit::Ratio, values)
    }

    /// For costs per operation in nanoseconds or cycles; times get a suitable unit.
    pub fn cost(unit: &str, values: impl Iterator<Item = f64>) -> ColumnFormat {
        if unit != "ns" {
            return ColumnFormat { unit: unit.to_string(), ..ColumnFormat::plain(values) };
        }
        let shape = ColumnFormat::of(Unit::Seconds, values.map(|ns| ns * 1e-9));
        ColumnFormat { factor: shape.factor * 1e9, ..shape }
    }

    /// Plain numbers with this many decimals.
    pub fn fixed(decimals: usize) -> ColumnFormat {
        ColumnFormat { unit: String::new(), factor: 1.0, decimals }
    }

    /// Formats a number of the column.
    pub fn show(&self, value: f64) -> String {
        let value = value / self.factor;
        if !value.is_finite() {
            return "-".to_string();
        }
        // No measurement is this large, and all its digits would not fit into any table.
        if value.abs() >= 1e15 {
            return format!("{value:.2e}");
        }
        let text = format!("{value:.*}", self.decimals);
        // A number that rounds to zero gets no minus sign.
        let bare = text.strip_prefix('-').filter(|rest| rest.bytes().all(|b| matches!(b, b'0' | b'.')));
        thousands(bare.unwrap_or(&text))
    }
}

/// A single cost per operation, with its unit.
pub(super) fn cost(value: f64, unit: &str) -> String {
    match unit {
        "ns" => number::seconds(value * 1e-9).joined(),
        _ => format!("{} {unit}", number::three_digits(value)),
    }
}

/// Groups the digits before the decimal point by threes.
fn thousands(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, part) = text.split_at(text.find('.').unwrap_or(text.len()));
    let whole = whole.parse().map_or(whole.to_string(), number::count);
    format!("{sign}{whole}{part}")
}

/// The divisor of a column and the unit it results in, chosen by the column's smallest number.
fn scale(unit: Unit, least: f64) -> (f64, &'static str) {
    let units: &[(f64, &str)] = match unit {
        Unit::Share => return (0.01, "%"),
        Unit::Cores | Unit::Threads | Unit::Ratio | Unit::PerKiloInstructions => return (1.0, ""),
        Unit::PerSecond => &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
        Unit::Count | Unit::Cycles | Unit::Instructions | Unit::Samples | Unit::Microsamples => {
            &[(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]
        }
        Unit::Hertz => &[(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz"), (1.0, "Hz")],
        Unit::Bytes => &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")],
        Unit::BytesPerSecond => &[(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
        Unit::Micros => &[(1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns")],
        Unit::Nanos => &[(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")],
        Unit::Seconds => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")],
    };
    let fits = |(factor, _): &&(f64, &'static str)| least >= *factor;
    let one = || units.iter().find(|(factor, _)| *factor == 1.0);
    let found = if least > 0.0 { units.iter().find(fits).or(units.last()) } else { one() };
    found.copied().unwrap_or((1.0, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_in_time_gets_the_unit_that_suits_it_and_one_in_cycles_keeps_its_own() {
        for (unit, values, name, expected) in [
            ("ns", [13_699_744.0, 88_460.0], "us", ["13,700", "88"]),
            ("ns", [375.0, 3.0], "ns", ["375.00", "3.00"]),
            ("cycles", [13_443.0, 291.8], "cycles", ["13,443", "292"]),
        ] {
            let shape = ColumnFormat::cost(unit, values.into_iter());
            assert_eq!(
                (shape.unit.as_str(), values.map(|value| shape.show(value))),
                (name, expected.map(String::from))
            );
        }
        assert_eq!(
            [cost(-60.0, "ns"), cost(17.9e6, "ns"), cost(700.0, "cycles")],
            ["-60.0 ns", "17.9 ms", "700 cycles"]
        );
    }

    #[test]
    fn a_column_shares_its_unit_and_decimals_and_its_smallest_number_keeps_three_digits() {
        for (unit, values, name, expected) in [
            (Unit::PerSecond, vec![1.25e6, 6.2e6, 3.2e8], "M/s", vec!["1.25", "6.20", "320.00"]),
            (Unit::Share, vec![0.997, 0.046], "%", vec!["99.70", "4.60"]),
            (Unit::Ratio, vec![752.4, 15_434.0], "", vec!["752", "15,434"]),
            (Unit::Nanos, vec![15_599_999.0, 31_200_000.0], "ms", vec!["15.6", "31.2"]),
            (Unit::Micros, vec![0.7, 1.02], "ns", vec!["700", "1,020"]),
            (Unit::Hertz, vec![3.798e9, 3.16e9], "GHz", vec!["3.80", "3.16"]),
            (Unit::Ratio, vec![0.0, -0.0001, 4.5], "", vec!["0.0000", "-0.0001", "4.5000"]),
            (Unit::Ratio, vec![1e-9, 4.5], "", vec!["0.0000", "4.5000"]),
            (Unit::Ratio, vec![-4000.0, f64::NAN], "", vec!["-4,000", "-"]),
            (Unit::Ratio, vec![1e300], "", vec!["1.00e300"]),
            (Unit::Count, vec![], "", vec![]),
        ] {
            let shape = ColumnFormat::of(unit, values.iter().copied());
            let shown: Vec<_> = values.iter().map(|value| shape.show(*value)).collect();
            assert_eq!((shape.unit.as_str(), shown), (name, expected.iter().map(ToString::to_string).collect()));
        }
    }
}
