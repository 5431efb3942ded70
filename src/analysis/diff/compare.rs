//! Combines the parts of a comparison and chooses the number to lead with. The raw numbers are kept in addition to the
//! adjusted ones.

use super::adjust::adjust;
use super::change::{Change, Verdict};
use super::change::{changes, judge, rank};
use super::comparison::{AnswerKind, Comparison, Factors};
use super::digest::Digest;
use super::digest::Side;
use super::expect;
use super::functions::Functions;
use super::load::{Load, LoadAdjustment, load};
use super::mismatches::mismatches;
use super::quantity::{PRIMARY, WITHOUT_OPERATIONS};
use super::settings::Settings;
use super::subgroups::{GroupKind, SubgroupCheck, subgroup_checks};
use super::work_time::WorkTime;
use crate::analysis::{Law, Totals};
use crate::model::{Measure, MetricId, Why};

impl Comparison {
    /// Compares two sides.
    #[must_use]
    pub fn of(base: &Side, new: &Side, settings: &Settings) -> Comparison {
        let mut changes = changes(base, new, settings);
        rank(&mut changes, base, new, settings);
        let mut load = load(base, new, settings.load);
        let mut adjusted = adjust(base, new, &mut load, settings);
        judge(&mut adjusted, settings);
        let counted = named(&changes, PRIMARY).is_some_and(|change| change.effect.is_some());
        let primary = if counted { PRIMARY } else { WITHOUT_OPERATIONS };
        let best = named(&adjusted, primary).or(named(&changes, primary));
        let subgroup_checks = subgroup_checks(base, new, &load, best.and_then(half));
        let (answer, answer_kind) = answer(primary, &changes, &adjusted, &subgroup_checks, &load, settings);
        let mut found = Comparison {
            mismatches: mismatches(base, new),
            primary,
            answer,
            answer_kind,
            changes,
            load,
            adjusted,
            subgroup_checks,
            factors: factors(base, new),
            functions: Functions::of(base, new, settings),
            expectations: vec![],
        };
        found.expectations = expect::judge(&found, settings);
        found
    }
}

fn named(changes: &[Change], id: MetricId) -> Option<&Change> {
    changes.iter().find(|change| change.quantity.id == id)
}

/// Half the width of its interval, as a fraction of the base.
fn half(change: &Change) -> Option<f64> {
    let (low, high) = change.interval?;
    Some((high - low) / 2.0)
}

/// The number to lead with: at the same load if there is one, with the base's mixture if the new one misleads.
fn answer(
    primary: MetricId,
    changes: &[Change],
    adjusted: &[Change],
    subgroup_checks: &[SubgroupCheck],
    load: &Load,
    settings: &Settings,
) -> (Option<Change>, AnswerKind) {
    if let Some(change) = named(adjusted, primary) {
        return (Some(change.clone()), AnswerKind::LoadAdjusted);
    }
    let Some(raw) = named(changes, primary) else { return (None, AnswerKind::Raw) };
    let deceived = subgroup_checks.iter().find(|check| check.disagrees && check.by == GroupKind::Host);
    if let Some(effect) =
        deceived.and_then(|check| raw.effect.and_then(|effect| effect.at(check.whole[0], check.standardised)))
    {
        let values = [effect.base, effect.new].map(Measure::exact);
        let mut all = vec![Change::of(raw.quantity, values[0], values[1], Some(effect), settings)];
        judge(&mut all, settings);
        return (all.pop(), AnswerKind::Standardised);
    }
    let mut raw = raw.clone();
    // CPU use alone reflects load as much as cost. So does a cost that moved no further than the load can explain.
    let surely = raw.effect.zip(raw.interval).map_or(0.0, |(effect, ends)| effect.nearest(ends));
    if primary == WITHOUT_OPERATIONS || load.may_explain(surely) {
        // At another load the program may have become costlier without a trace.
        let same =
            raw.verdict == Verdict::Same && matches!(load.adjustment, LoadAdjustment::Same | LoadAdjustment::Unknown);
        raw.verdict = if same { Verdict::Same } else { Verdict::Undecided };
    }
    (Some(raw), AnswerKind::Raw)
}

fn factors(base: &Side, new: &Side) -> Factors {
    let laws = [base, new].map(|side| Law::of(&totals(side)));
    let slowdown = laws[1].slowdown(&laws[0]);
    let work = slowdown.as_ref().and_then(|slowdown| WorkTime::of(base, new, slowdown));
    Factors { base: laws[0], new: laws[1], slowdown, work }
}

/// The runs of a side as one: counts are added up, so that the factors multiply to the whole as in each run.
fn totals(side: &Side) -> Totals {
    let sum = |of: &dyn Fn(&Totals) -> Measure<f64>| {
        let values = side.runs.iter().map(|run: &Digest| of(&run.run.totals));
        values.reduce(|a, b| a.ratio(b, |a, b| Some(a + b))).unwrap_or(Measure::Missing(Why::NotRecorded))
    };
    let over = |a: Measure<f64>, b: Measure<f64>| a.ratio(b, |a, b| (b > 0.0).then(|| a / b));
    let product = |a: Measure<f64>, b: Measure<f64>| a.ratio(b, |a, b| Some(a * b));
    let (cpu, instructions) = (sum(&|totals| totals.cpu), sum(&|totals| totals.instructions));
    let cycles = sum(&|totals| product(totals.cpi, totals.instructions));
    let by_frequency = sum(&|totals| product(totals.frequency, totals.cpu));
    Totals {
        wall: side.runs.iter().map(|run| run.run.totals.wall).sum(),
        ops: sum(&|totals| totals.ops),
        cpu,
        threads: sum(&|totals| totals.threads),
        instructions,
        cpi: over(cycles, instructions),
        frequency: over(by_frequency, cpu),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{LoadShape, digest, loaded, side};
    use super::*;

    fn answer(base: &Side, new: &Side) -> (f64, Verdict, AnswerKind) {
        let found = Comparison::of(base, new, &Settings::default());
        let answer = found.answer.unwrap();
        (answer.effect.unwrap().relative().unwrap(), answer.verdict, found.answer_kind)
    }

    const OPEN: LoadShape = LoadShape { low: 2e4, high: 1e5, cost_ns: 5000.0, fixed: 0.2, cores: None };

    #[test]
    fn a_load_change_alone_raises_no_alarm_and_the_raw_number_stays_beside() {
        let (base, half) = (loaded(OPEN), loaded(LoadShape { low: 1e4, high: 5e4, ..OPEN }));
        let found = Comparison::of(&base, &half, &Settings::default());
        assert_eq!(found.answer_kind, AnswerKind::LoadAdjusted);
        assert!(!matches!(found.answer.clone().unwrap().verdict, Verdict::More | Verdict::Less), "{:?}", found.answer);
        let raw = named(&found.changes, PRIMARY).unwrap().effect.unwrap().relative().unwrap();
        assert!(raw > 0.2, "{raw}");
        assert!(found.subgroup_checks.iter().any(|check| check.by == GroupKind::Load && check.disagrees));
    }

    #[test]
    fn loads_that_never_met_leave_the_answer_open() {
        let steady = |rate| loaded(LoadShape { low: rate, high: rate, ..OPEN });
        let (change, verdict, answer_kind) = answer(&steady(1e5), &steady(2e4));
        assert!(
            change > 0.5 && verdict == Verdict::Undecided && answer_kind == AnswerKind::Raw,
            "{change} {verdict:?} {answer_kind:?}"
        );
    }

    #[test]
    fn without_operations_load_and_cost_are_not_told_apart() {
        let mut silent = Side { label: "s".into(), runs: vec![digest(None)] };
        let found = Comparison::of(&silent, &silent, &Settings::default());
        assert_eq!(found.primary, WITHOUT_OPERATIONS);
        assert_eq!(found.factors.slowdown, None);
        silent.runs.clear();
        assert_eq!(Comparison::of(&silent, &silent, &Settings::default()).answer, None);
    }

    #[test]
    fn another_mixture_of_hosts_is_not_taken_for_another_cost() {
        let of = |costs: [f64; 4]| {
            let mut side = side(&costs);
            for (run, host) in side.runs.iter_mut().zip(["fast", "fast", "fast", "slow"]) {
                run.conditions.host.hostname = host.to_string();
            }
            side
        };
        let base = of([1000.0, 1010.0, 990.0, 4000.0]);
        let mut new = of([950.0, 960.0, 3800.0, 3810.0]);
        new.runs[2].conditions.host.hostname = "slow".into();
        let (change, _, answer_kind) = answer(&base, &new);
        assert!(
            answer_kind == AnswerKind::Standardised && (-0.06..-0.03).contains(&change),
            "{change} {answer_kind:?}"
        );
    }

    #[test]
    fn the_factors_of_repeats_are_those_of_their_sums_and_the_parts_add_up() {
        let (base, new) = (side(&[5000.0, 5200.0]), side(&[8000.0, 8200.0]));
        let found = Comparison::of(&base, &new, &Settings::default()).factors;
        let slowdown = found.slowdown.unwrap();
        let product: f64 = slowdown.parts.iter().map(|part| part.ratio).product();
        assert!((product / slowdown.ratio - 1.0).abs() < 1e-9, "{slowdown:?}");
        let time = |law: &Law| law.cpu_per_op.value().unwrap() / law.utilisation.value().unwrap();
        let parts: f64 = slowdown.parts.iter().map(|part| part.seconds).sum();
        assert!((parts - (time(&found.new) - time(&found.base))).abs() < 1e-12);
    }
}
