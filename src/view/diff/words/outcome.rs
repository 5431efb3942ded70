//! Describes the results of gates, expectations and factors, with the numbers they rest on.

use super::values::{interval, own_change, relative, shown};
use crate::view::diff::{Exceeds, ExpectationRow, FactorsView, GateRow, GateStatus, Outcome, PartRow};
use crate::view::number::{percent, seconds, three_digits};

/// The result of a gate, in a sentence fragment.
#[must_use]
pub fn gate(row: &GateRow) -> String {
    let number = |value: f64| if row.relative { relative(value) } else { three_digits(value) };
    let ends = row
        .low
        .zip(row.high)
        .map_or("no interval".to_string(), |(low, high)| format!("{} to {}", number(low), number(high)));
    let value = row.value.map_or("-".to_string(), |value| format!("{} ({ends})", number(value)));
    match (row.status, row.exceeds) {
        (GateStatus::Holds, _) if row.value.is_none() => "holds".to_string(),
        (GateStatus::Broken, _) if row.value.is_none() => "broken: not as expected".to_string(),
        (GateStatus::Holds, Some(Exceeds::Zero)) => format!("holds: {value}: beyond chance, within the limit"),
        (GateStatus::Holds, _) => format!("holds: {value}"),
        (GateStatus::WithinChance, Some(Exceeds::Zero)) => {
            format!(
                "not broken: {value}: beyond chance, but not shown to be beyond the limit; more repeats can decide it"
            )
        }
        (GateStatus::WithinChance, _) => format!("not broken: {value}: it may be chance; more repeats can decide it"),
        (GateStatus::Broken, _) => format!("broken: {value}: the whole interval is beyond the limit"),
        (GateStatus::Undecided, _) => {
            let why = row.missing.unwrap_or("missing");
            if row.passes { format!("passed over: {why}") } else { format!("undecided: {why}") }
        }
    }
}

/// The outcome of an expectation, in a word or two.
#[must_use]
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Confirmed => "confirmed",
        Outcome::NotConfirmed => "not confirmed",
        Outcome::Contradicted => "contradicted",
        Outcome::Undecided => "undecided",
    }
}

/// The outcome with the numbers it rests on: `confirmed: 5.0 -> 3.1, -38.0% (-41.0% to -35.0%) at the same load`.
#[must_use]
pub fn expectation(row: &ExpectationRow) -> String {
    let word = outcome(row.outcome);
    let numbers = row.change.as_ref().and_then(|change| {
        let (base, new) = change.base.value().zip(change.new.value())?;
        let ends = interval(change).map_or(String::new(), |ends| format!(" ({ends})"));
        let at = if row.same_load { " at the same load" } else { "" };
        let values = format!("{} -> {}", shown(base, change.unit), shown(new, change.unit));
        Some(format!("{values}, {}{ends}{at}", own_change(change)?))
    });
    match (row.outcome, row.reason, numbers) {
        (Outcome::Undecided, Some(why), Some(numbers)) => format!("{word}: {why}; as recorded {numbers}"),
        (Outcome::Undecided, Some(why), None) => format!("{word}: {why}"),
        (Outcome::NotConfirmed, _, Some(numbers)) => format!("{word}, it may be chance: {numbers}"),
        (_, _, Some(numbers)) => format!("{word}: {numbers}"),
        (.., None) => word.to_string(),
    }
}

/// How a thread's time per operation changed: `a thread's time per op: 2.91 ms -> 3.27 ms, +12.4%`; why it is unknown.
#[must_use]
pub fn factors(view: &FactorsView) -> String {
    match (view.ns_per_op, view.ratio, view.missing) {
        (_, _, Some(why)) => format!("unknown: {why}"),
        (Some(times), Some(ratio), None) => {
            let [base, new] = times.map(|ns| seconds(ns * 1e-9).joined());
            let change = relative(ratio - 1.0);
            match view.asleep.map(|shares| shares.map(|share| percent(share).joined())) {
                None => format!("a thread's time per op: {base} -> {new}, {change}"),
                Some([before, after]) => format!(
                    "time per op, running and waiting: {base} -> {new}, {change}; without work {before} -> {after} of the time"
                ),
            }
        }
        _ => String::new(),
    }
}

/// A factor's part of the change of a thread's time per operation, with its sign.
#[must_use]
pub fn amount(part: &PartRow) -> String {
    format!("{}{}", if part.ns > 0.0 { "+" } else { "" }, seconds(part.ns * 1e-9).joined())
}
