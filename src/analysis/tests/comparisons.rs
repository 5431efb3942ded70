//! Comparisons: a recording does not differ from itself, and a change read from either side is the same change.

use crate::analysis::diff::testing::{digest, side};
use crate::analysis::diff::{Comparison, PRIMARY, Settings, Side, Verdict};

fn compared(base: &Side, new: &Side) -> Comparison {
    Comparison::of(base, new, &Settings::default())
}

fn one(cost: f64) -> Side {
    Side { label: "one".into(), runs: vec![digest(Some(cost))] }
}

#[test]
fn a_recording_compared_with_itself_is_silent() {
    for (case, this) in [
        ("one run", one(5000.0)),
        ("two runs", side(&[5000.0, 5010.0])),
        ("five runs", side(&[5000.0, 5020.0, 4980.0, 5005.0, 4995.0])),
        ("without operations", Side { label: "none".into(), runs: vec![digest(None)] }),
    ] {
        let result = compared(&this, &this);
        for change in &result.changes {
            assert!(!matches!(change.verdict, Verdict::More | Verdict::Less), "{case}: {}", change.quantity.name);
            let effect = change.effect.as_ref().map_or(0.0, |effect| effect.estimate);
            assert!(effect.abs() < 1e-12, "{case}: {} moved by {effect}", change.quantity.name);
            if let Some((low, high)) = change.interval {
                assert!(low <= 0.0 && high >= 0.0, "{case}: {} is {low}..{high}", change.quantity.name);
            }
        }
        let slowdown = result.factors.slowdown.as_ref();
        assert!(slowdown.is_none_or(|slowdown| (slowdown.ratio - 1.0).abs() < 1e-9), "{case}: {slowdown:?}");
    }
}

#[test]
fn the_verdict_turns_around_with_the_sides() {
    let (cheap, dear) = (side(&[5000.0, 5020.0, 4980.0]), side(&[5600.0, 5620.0, 5580.0]));
    let (there, back) = (compared(&cheap, &dear), compared(&dear, &cheap));
    let primary = |result: &Comparison| result.change(PRIMARY).map(|change| change.verdict);
    assert_eq!((primary(&there), primary(&back)), (Some(Verdict::More), Some(Verdict::Less)));
    for change in &there.changes {
        let other = back.changes.iter().find(|other| other.quantity.name == change.quantity.name);
        let other = other.unwrap_or_else(|| panic!("{} is on one side only", change.quantity.name));
        assert_eq!((&change.base, &change.new), (&other.new, &other.base), "{}", change.quantity.name);
        let turned = match change.verdict {
            Verdict::More => Verdict::Less,
            Verdict::Less => Verdict::More,
            same => same,
        };
        assert_eq!(other.verdict, turned, "{}", change.quantity.name);
    }
}

#[test]
fn the_parts_of_a_slowdown_multiply_to_it_and_their_seconds_add_up() {
    for (before, after) in [(5000.0, 5600.0), (5600.0, 5000.0), (100.0, 90_000.0)] {
        let result = compared(&one(before), &one(after));
        let slowdown = result.factors.slowdown.unwrap_or_else(|| panic!("{before} to {after} is a change"));
        let product: f64 = slowdown.parts.iter().map(|part| part.ratio).product();
        assert!(
            (product / slowdown.ratio - 1.0).abs() < 1e-9,
            "{before} to {after}: {product} is not {}",
            slowdown.ratio
        );
        let shares: Option<f64> = slowdown.parts.iter().map(|part| part.share).sum();
        assert!(shares.is_none_or(|sum| (sum - 1.0).abs() < 1e-9), "{before} to {after}: {shares:?}");
    }
}

#[test]
fn what_one_side_did_not_measure_is_missing_and_no_change() {
    let (counted, blind) = (one(5000.0), Side { label: "none".into(), runs: vec![digest(None)] });
    for result in [compared(&counted, &blind), compared(&blind, &counted)] {
        if let Some(change) = result.change(PRIMARY) {
            assert_eq!((change.effect.is_none(), change.verdict), (true, Verdict::Undecided));
        }
    }
}
