//! How many operations the program completed in a window, from the totals of its operation source. With too little
//! coverage the count is missing, like a counter that was not running.

use super::counters::COVERAGE_FLOOR;
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{Measure, OpsSpec, Quality, Target, Why};
use crate::units::{Nanos, Ops};

/// Operations completed in the window. They are assumed to be evenly spread between two totals. Time before the first
/// or after the last total is not covered, and the count is scaled up for it.
#[must_use]
pub fn operations(profile: &Profile, window: Window) -> Measure<f64> {
    let totals = profile.ops.as_slice();
    let (Some((first, _)), Some((last, _))) = (totals.first(), totals.last()) else {
        return Measure::Missing(if profile.meta.plan.ops.is_some() { Why::OpsSilent } else { Why::NoOpsSource });
    };
    // Counters are last read a moment after the capture has ended; nothing was completed in that moment.
    let end = profile.meta.duration_ns.map_or(window.to, |end| window.to.min(Nanos(end)));
    let (from, to) = (window.from.max(*first), end.min(*last));
    let span = (end - window.from).as_f64();
    let coverage = (to - from).as_f64() / span.max(1.0);
    if coverage < COVERAGE_FLOOR {
        return Measure::Missing(Why::TooFewSamples);
    }
    let began = began(profile);
    let counted = (at(totals, to, began) - at(totals, from, began)).max(0.0);
    Measure::Known { value: counted / coverage, quality: Quality { coverage } }
}

/// Whether operations were counted within the window or near its ends; other totals do not describe it.
pub(super) fn counted_within(profile: &Profile, window: Window) -> bool {
    let rate = matches!(profile.meta.plan.ops, Some(OpsSpec::Rate { .. }));
    let slack = Nanos(window.span().0 / 4);
    let (from, to) = (window.from - slack, window.to + slack);
    let first = profile.ops.partition_point(|(at, _)| *at < from);
    rate || profile.ops.get(first).is_some_and(|(at, _)| *at <= to)
}

/// When a command began to run: with its counters, which start after the recording. Other targets ran all the time.
fn began(profile: &Profile) -> Nanos {
    let counting = profile.ticks.iter().map(|tick| tick.at - tick.span).min();
    let command = matches!(profile.meta.plan.target, Target::Command { .. });
    counting.filter(|_| command).unwrap_or_default()
}

/// The total at a moment between the first and the last reading. Nothing was completed before `began`.
fn at(totals: &[(Nanos, Ops)], moment: Nanos, began: Nanos) -> f64 {
    let after = totals.partition_point(|(at, _)| *at <= moment);
    let before = &totals[after.saturating_sub(1)];
    let Some(next) = totals.get(after) else { return before.1.as_f64() };
    let since = before.0.max(began).min(moment);
    let part = (moment - since).as_f64() / (next.0 - since).as_f64().max(1.0);
    before.1.as_f64() + part * (next.1 - before.1).as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};

    fn check(totals: &[(u64, u64)], from: u64, to: u64, expected: Measure<f64>) {
        let mut profile = Synthetic::new().finish();
        profile.ops = totals.iter().map(|(at, total)| (ms(*at), Ops(*total))).collect();
        let window = Window { from: ms(from), to: ms(to) };
        assert_eq!(operations(&profile, window), expected, "{totals:?} {from}-{to}");
    }

    #[test]
    fn operations_are_the_growth_of_the_total() {
        let totals = [(1000, 50), (2000, 150), (4000, 350)];
        check(&totals, 1000, 2000, Measure::exact(100.0));
        check(&totals, 1000, 4000, Measure::exact(300.0));
        check(&totals, 1500, 3000, Measure::exact(150.0));
    }

    /// A recording begins before its command does, and its first total, 0, dates from then.
    #[test]
    fn a_command_completes_nothing_before_it_runs() {
        let mut synthetic = Synthetic::new();
        synthetic.meta.plan.target = Target::Command { argv: vec!["true".to_string()] };
        synthetic.tick(600, 500);
        let mut profile = synthetic.finish();
        profile.ops = vec![(ms(0), Ops(0)), (ms(600), Ops(200))];
        for (from, to, expected) in [(100, 600, 200.0), (100, 350, 100.0), (350, 600, 100.0)] {
            assert_eq!(operations(&profile, Window { from: ms(from), to: ms(to) }), Measure::exact(expected));
        }
    }

    #[test]
    fn time_without_totals_is_not_covered() {
        let totals = [(1000, 0), (3000, 200)];
        check(&totals, 0, 4000, Measure::Known { value: 400.0, quality: Quality { coverage: 0.5 } });
        check(&totals, 0, 1100, Measure::Missing(Why::TooFewSamples));
        check(&totals, 5000, 6000, Measure::Missing(Why::TooFewSamples));
        check(&[], 0, 1000, Measure::Missing(Why::NoOpsSource));
        check(&[(5, 1)], 0, 1000, Measure::Missing(Why::TooFewSamples));
    }

    #[test]
    fn a_total_that_begins_anew_is_no_negative_count() {
        check(&[(0, 900), (1000, 20)], 0, 1000, Measure::exact(0.0));
    }
}
