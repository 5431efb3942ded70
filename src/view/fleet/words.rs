//! Numbers and places in words.

use crate::analysis::fleet::{DayEstimate, Estimate, Interference};
use crate::model::{Measure, Unit};
use crate::units::Utc;
use crate::view::number::{count, percent, quantity, three_digits};

/// `no hosts`, `1 host`, `1,200 hosts`.
pub(super) fn counted(number: u64, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        number => format!("{} {what}s", count(number)),
    }
}

/// What stands for a number that is missing.
pub(super) const MISSING: &str = "-";

/// The least share that is told apart: a hundredth of a percent.
const LEAST_SHARE: f64 = 1e-4;

/// `1.50 ms ±1.2%`, the interval as its larger half in percent of the value; without one, the value alone.
pub(super) fn estimate(found: &Measure<Estimate>, unit: Unit) -> String {
    found.value().map_or_else(|| MISSING.to_string(), |found| relative(found, unit))
}

fn relative(found: &Estimate, unit: Unit) -> String {
    let value = quantity(found.value, unit).joined();
    match half(found.value, &found.interval) {
        // Rounded up, since an interval of nothing would be no interval.
        Some(half) if found.value != 0.0 => {
            format!("{value} ±{}", short_percent((half / found.value.abs()).max(LEAST_SHARE)))
        }
        _ => value,
    }
}

/// `+3.0% (+2.1 to +3.9)`, for a change or an effect.
pub(super) fn effect(found: &Measure<Estimate>) -> String {
    found.value().map_or_else(|| MISSING.to_string(), |found| signed_with(found.value, &found.interval))
}

/// `1.04x (1.02 to 1.06)`.
pub(super) fn ratio(found: &Measure<Estimate>) -> String {
    let Some(found) = found.value() else { return MISSING.to_string() };
    let ends = found.interval.value();
    let ends = ends.map_or(String::new(), |(low, high)| format!(" ({low:.3} to {high:.3})"));
    format!("{:.3}x{ends}", found.value)
}

pub(super) fn day_share(found: &Measure<DayEstimate>) -> String {
    found.value().map_or_else(
        || MISSING.to_string(),
        |found| {
            let ends = found.interval.value();
            let ends = ends.map_or(String::new(), |(low, high)| {
                format!(" ({} to {})", percent(*low).joined(), percent(*high).joined())
            });
            format!("{}{ends}", percent(found.value).joined())
        },
    )
}

fn signed_with(value: f64, interval: &Measure<(f64, f64)>) -> String {
    let ends =
        interval.value().map_or(String::new(), |(low, high)| format!(" ({} to {})", signed(*low), signed(*high)));
    format!("{}{ends}", signed(value))
}

/// `+3.00%`; hundredths of a percent at most: no data set tells less apart.
pub(super) fn signed(share: f64) -> String {
    let text = short_percent(share);
    // What rounds to nothing has no sign.
    match text.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        true if share > 0.0 => format!("+{text}"),
        true => text,
        false => "0%".to_string(),
    }
}

fn short_percent(share: f64) -> String {
    if share.abs() < 0.01 { format!("{:.2}%", share * 100.0) } else { percent(share).joined() }
}

fn half(value: f64, interval: &Measure<(f64, f64)>) -> Option<f64> {
    interval.value().map(|(low, high)| (value - low).max(high - value))
}

/// A probability: `0.012`, `<0.001`.
pub(super) fn probability(p: &Measure<f64>) -> String {
    match p.value() {
        Some(p) if *p < 0.001 => "<0.001".to_string(),
        Some(p) => format!("{p:.3}"),
        None => MISSING.to_string(),
    }
}

pub(super) fn plain(value: &Measure<f64>) -> String {
    value.value().map_or_else(|| MISSING.to_string(), |value| three_digits(*value))
}

/// A quantity of `distribution.sql` in its unit.
pub(super) fn of_measure(measure: &str, value: f64) -> String {
    match measure {
        "cpu_s_per_op" => quantity(value, Unit::Seconds).joined(),
        _ => three_digits(value),
    }
}

/// The name of a quantity for people.
pub(super) fn measure(name: &str) -> &str {
    match name {
        "cpi" => "CPI",
        "cpu_s_per_op" => "CPU/op",
        other => other,
    }
}

pub(super) fn interference(found: &Measure<Interference>) -> &'static str {
    match found.value() {
        None => "unknown",
        Some(Interference::NotFound) => "none found",
        Some(Interference::LastLevelCache) => "last-level cache",
        Some(Interference::Elsewhere) => "not in the cache: memory bandwidth, clock or sibling",
        Some(Interference::CacheNotCounted) => "found, cache misses not counted",
    }
}

/// `2026-11-24 13:05`, UTC.
pub(super) fn minute(unix_s: i64) -> String {
    let Utc { year, month, day, hour, minute, .. } = Utc::from_unix(u64::try_from(unix_s).unwrap_or(0));
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// CPU time: `812 CPU h`.
pub(super) fn cpu_time(seconds: f64) -> String {
    if seconds >= 3600.0 {
        format!("{} h", three_digits(seconds / 3600.0))
    } else {
        quantity(seconds, Unit::Seconds).joined()
    }
}
