//! Checks expectations that were stated in advance: a change whose reason is known moves more than the cost alone. A
//! movement that chance or load may have caused does not confirm an expectation.

use super::change::{Change, margin};
use super::comparison::{Comparison, ExpectationResult, Outcome};
use super::effect::{Effect, Scale};
use super::expectation::{Claim, Expectation, Limit};
use super::load::LoadAdjustment;
use super::settings::Settings;
use crate::analysis::stats::{holm, student_two_sided};
use crate::model::{Measure, MetricId, Role};

/// Judges all expectations as one family of tests.
pub(super) fn judge(comparison: &Comparison, settings: &Settings) -> Vec<ExpectationResult> {
    let mut all: Vec<ExpectationResult> = settings.expect.iter().map(|expected| look(expected, comparison)).collect();
    let p: Vec<f64> = all.iter().map(|expected| expected.p.unwrap_or(f64::NAN)).collect();
    let times = settings.comparisons.max(1) as f64;
    for (expected, p) in all.iter_mut().zip(holm(&p)) {
        expected.p = Some((p * times).min(1.0)).filter(|p| !p.is_nan());
        if expected.outcome != Outcome::Undecided {
            expected.outcome = outcome(expected, settings);
        }
    }
    all
}

/// The change to judge by, its p before correction, or why there is none.
fn look(expectation: &Expectation, comparison: &Comparison) -> ExpectationResult {
    let found = MetricId::named(&expectation.name).and_then(|id| comparison.change(id));
    let same_load = found.is_some_and(|change| comparison.is_at_same_load(change.quantity.id));
    let (p, reason) = match found.map(|change| (change, obstacle(change, comparison))) {
        None => (None, Some("no quantity has this name")),
        Some((_, Some(why))) => (None, Some(why)),
        Some((change, None)) => match distance(expectation, change) {
            Ok(p) => (Some(p), None),
            Err(why) => (None, Some(why)),
        },
    };
    let outcome = if reason.is_some() { Outcome::Undecided } else { Outcome::NotConfirmed };
    ExpectationResult { expectation: expectation.clone(), change: found.cloned(), same_load, p, outcome, reason }
}

/// Why single runs decide nothing.
pub(super) const UNREPEATED: &str =
    "one run a side does not show how far runs of one program differ: give repeats, or say it with --run-noise";

/// Why a change of a cost cannot be attributed to the program: it has no value, or the load may have moved it.
pub(super) fn obstacle(change: &Change, comparison: &Comparison) -> Option<&'static str> {
    if let Some(why) = [change.base, change.new].iter().find_map(Measure::why) {
        return Some(why.text());
    }
    if change.quantity.role == Role::Load || comparison.is_at_same_load(change.quantity.id) {
        return None;
    }
    let surely = change.effect.zip(change.interval).map_or(0.0, |(effect, ends)| effect.nearest(ends));
    let explained = comparison.load.may_explain(surely);
    match comparison.load.adjustment {
        LoadAdjustment::Apart => Some("both never had the same load, which may have moved it"),
        LoadAdjustment::TooFewRuns { .. } => {
            Some("the load differed from run to run, and the runs are too few to compare it at the same load")
        }
        LoadAdjustment::Done { .. } => Some("the load differed, and it cannot be compared at the same load"),
        // Latency may rise by much more than the load does.
        LoadAdjustment::Near if explained || change.quantity.role == Role::Latency => {
            Some("the load differed, which may have moved it as far, or hidden that it moved")
        }
        LoadAdjustment::Same if explained && surely != 0.0 => {
            Some("it moved no further than the load may have moved it")
        }
        _ => None,
    }
}

/// The probability of a change so far from the limit if it were at the limit.
fn distance(expectation: &Expectation, change: &Change) -> Result<f64, &'static str> {
    let effect = change.effect.ok_or("it has no value on both sides")?;
    let limit = expectation.limit_on_scale(&effect)?;
    let known = effect.uncertainty.ok_or(UNREPEATED)?;
    student_two_sided((effect.estimate - limit) / known.error, known.freedom).ok_or("too few repeats")
}

impl Expectation {
    fn limit_on_scale(&self, effect: &Effect) -> Result<f64, &'static str> {
        let Claim::Beyond { limit, .. } = self.claim else { return Ok(0.0) };
        let part = match limit {
            Limit::Part(part) => part,
            Limit::Amount(amount) if effect.scale == Scale::Absolute => return Ok(amount),
            Limit::Amount(amount) => amount / effect.base,
        };
        match effect.scale {
            Scale::Relative if part > -1.0 => Ok(part.ln_1p()),
            Scale::Relative => Err("it cannot fall by more than there was"),
            Scale::Absolute if part == 0.0 || effect.base > 0.0 => Ok(part * effect.base),
            Scale::Absolute => Err("the base is nothing"),
        }
    }
}

fn outcome(expected: &ExpectationResult, settings: &Settings) -> Outcome {
    let Some((change, effect)) = expected.change.as_ref().and_then(|change| Some((change, change.effect?))) else {
        return Outcome::Undecided;
    };
    let shown = expected.p.is_some_and(|p| p < 1.0 - settings.confidence);
    match expected.expectation.claim {
        Claim::Same if change.within_margin => Outcome::Confirmed,
        // A difference beyond chance whose estimate is within the margin may still be the same in practice.
        Claim::Same if shown && effect.estimate.abs() > margin(&effect, settings) => Outcome::Contradicted,
        Claim::Same => Outcome::NotConfirmed,
        Claim::Beyond { above, .. } => {
            let limit = expected.expectation.limit_on_scale(&effect).unwrap_or(0.0);
            match (shown, (effect.estimate > limit) == above) {
                (true, true) => Outcome::Confirmed,
                (true, false) => Outcome::Contradicted,
                // It was expected to move, but was shown to stay the same.
                (false, _) if change.within_margin && expected.expectation.is_direction() => Outcome::Contradicted,
                (false, _) => Outcome::NotConfirmed,
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::digest::Side;
    use super::super::testing::{LoadShape, loaded, side};
    use super::*;

    fn outcomes(base: &Side, new: &Side, texts: &[&str]) -> Vec<(Outcome, Option<&'static str>)> {
        let expect = texts.iter().map(|text| Expectation::parse(text).unwrap()).collect();
        let found = Comparison::of(base, new, &Settings { expect, noise: Some(0.02), ..Settings::default() });
        found.expectations.iter().map(|expected| (expected.outcome, expected.reason)).collect()
    }

    #[test]
    fn what_moved_beyond_chance_confirms_or_contradicts_and_chance_does_neither() {
        use Outcome::{Confirmed, Contradicted, NotConfirmed, Undecided};
        let base = side(&[100.0, 101.0, 99.0]);
        let (costlier, wild) = (side(&[110.0, 111.0, 109.0]), side(&[90.0, 110.0, 130.0]));
        let same = side(&[100.1, 101.1, 99.1, 100.0, 100.2]);
        for (text, new, outcome) in [
            ("cpu_ns_per_op up", &costlier, Confirmed),
            ("cpu_ns_per_op down", &costlier, Contradicted),
            ("cpu_ns_per_op same", &costlier, Contradicted),
            ("cpu_ns_per_op > +5%", &costlier, Confirmed),
            ("cpu_ns_per_op > +9.9%", &costlier, NotConfirmed),
            ("cpu_ns_per_op > +20%", &costlier, Contradicted),
            ("cpu_ns_per_op > +5", &costlier, Confirmed),
            ("ops_per_core_second down", &costlier, Confirmed),
            ("cpu_ns_per_op up", &wild, NotConfirmed),
            ("cpu_ns_per_op down", &wild, NotConfirmed),
            ("cpu_ns_per_op same", &wild, NotConfirmed),
            ("cpu_ns_per_op same", &same, Confirmed),
            ("cpu_ns_per_op up", &same, Contradicted),
            ("cpi down", &costlier, Undecided),
            ("nonsense down", &costlier, Undecided),
        ] {
            let found = outcomes(&base, new, &[text]);
            assert_eq!(found[0].0, outcome, "{text}: {found:?}");
            assert_eq!(found[0].1.is_some(), outcome == Undecided, "{text}: {found:?}");
        }
    }

    #[test]
    fn many_expectations_must_each_be_surer() {
        let (base, new) = (side(&[100.0, 101.0, 99.0]), side(&[103.0, 104.0, 102.0]));
        assert_eq!(outcomes(&base, &new, &["cpu_ns_per_op up"])[0].0, Outcome::Confirmed);
        let many = vec!["cpu_ns_per_op up"; 12];
        assert!(outcomes(&base, &new, &many).iter().all(|found| found.0 == Outcome::NotConfirmed));
    }

    #[test]
    fn where_the_load_may_have_moved_it_nothing_is_outcomes() {
        const OPEN: LoadShape = LoadShape { low: 2e4, high: 1e5, cost_ns: 5000.0, fixed: 0.2, cores: None };
        let (base, half) = (loaded(OPEN), loaded(LoadShape { low: 1e4, high: 5e4, ..OPEN }));
        let found = outcomes(&base, &half, &["cpu_ns_per_op up", "ops_per_s down"]);
        assert_ne!(found[0].0, Outcome::Confirmed, "the load fell, not the cost: {found:?}");
        assert_ne!(found[1].0, Outcome::Undecided, "load is told as it is: {found:?}");
        let steady = |rate| loaded(LoadShape { low: rate, high: rate, ..OPEN });
        let found = outcomes(&steady(1e5), &steady(2e4), &["cpu_ns_per_op up"]);
        assert!(found[0].0 == Outcome::Undecided && found[0].1.unwrap().contains("load"), "{found:?}");
    }
}
