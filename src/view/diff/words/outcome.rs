//! Describes the results of gates and expectations, with the numbers they rest on.

use super::values::{interval, own_change, relative, shown};
use crate::view::diff::{Exceeds, ExpectationRow, GateRow, Outcome, Standing};
use crate::view::number::three_digits;

/// The result of a gate, in a sentence fragment.
#[must_use]
pub fn gate(row: &GateRow) -> String {
    let number = |value: f64| if row.relative { relative(value) } else { three_digits(value) };
    let ends = row
        .low
        .zip(row.high)
        .map_or("no interval".to_string(), |(low, high)| format!("{} to {}", number(low), number(high)));
    let seen = row.seen.map_or("-".to_string(), |seen| format!("{} ({ends})", number(seen)));
    match (row.standing, row.exceeds) {
        (Standing::Held, _) if row.seen.is_none() => "holds".to_string(),
        (Standing::Broken, _) if row.seen.is_none() => "broken: not as expected".to_string(),
        (Standing::Held, Some(Exceeds::Zero)) => format!("holds: {seen}: beyond chance, within the limit"),
        (Standing::Held, _) => format!("holds: {seen}"),
        (Standing::HeldByChance, Some(Exceeds::Zero)) => {
            format!("not broken: {seen}: beyond chance, but not shown to be beyond the limit; repeats would tell")
        }
        (Standing::HeldByChance, _) => format!("not broken: {seen}: chance may have done it; repeats would tell"),
        (Standing::Broken, _) => format!("broken: {seen}: the whole interval is beyond the limit"),
        (Standing::Missing, _) => {
            let why = row.missing.unwrap_or("missing");
            if row.passes { format!("passed over: {why}") } else { format!("cannot be decided: {why}") }
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
        Outcome::CannotTell => "cannot be told",
    }
}

/// The outcome with the numbers it rests on: `confirmed: 5.0 -> 3.1, -38.0% (-41.0% to -35.0%) at the same load`.
#[must_use]
pub fn expectation(row: &ExpectationRow) -> String {
    let told = outcome(row.outcome);
    let numbers = row.change.as_ref().and_then(|change| {
        let (base, new) = change.base.value().zip(change.new.value())?;
        let ends = interval(change).map_or(String::new(), |ends| format!(" ({ends})"));
        let at = if row.same_load { " at the same load" } else { "" };
        let values = format!("{} -> {}", shown(base, change.unit), shown(new, change.unit));
        Some(format!("{values}, {}{ends}{at}", own_change(change)?))
    });
    match (row.outcome, row.reason, numbers) {
        (Outcome::CannotTell, Some(why), Some(numbers)) => format!("{told}: {why}; as it stands {numbers}"),
        (Outcome::CannotTell, Some(why), None) => format!("{told}: {why}"),
        (Outcome::NotConfirmed, _, Some(numbers)) => format!("{told}, chance may have done it: {numbers}"),
        (_, _, Some(numbers)) => format!("{told}: {numbers}"),
        (.., None) => told.to_string(),
    }
}
