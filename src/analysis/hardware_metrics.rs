//! The values of hardware metrics in a window. A ratio uses only counters that counted at the same time, and an
//! impossible value is reported as missing.

use super::computable::{Computable, CountedFormula, Counter};
use super::counters::Counters;
use super::metric::Metric;
use super::selection::ThreadSet;
use super::time::Window;
use crate::model::{Measure, Quality, Scope, Why, per_operation_text};

/// From this share of the time on, a counter counts as always running: the rest is the moment of starting it.
const ALL_THE_TIME: f64 = 0.999;
/// Tolerance for a value outside its bounds: rounding only.
const ROUNDING: f64 = 1e-9;

/// The threads and the window to read counters for.
#[derive(Clone, Copy)]
pub(super) struct HardwareReader<'a> {
    pub counters: &'a Counters,
    pub who: &'a ThreadSet,
    pub window: Window,
}

impl HardwareReader<'_> {
    fn read(&self, counter: &str) -> Measure<f64> {
        self.counters.of_tasks(counter, self.who, self.window)
    }

    /// Every metric of the table, in table order.
    pub fn metrics(self) -> impl Iterator<Item = Metric> {
        self.counters.hardware().metrics.iter().map(move |computable| self.metric(computable))
    }

    fn metric(&self, computable: &Computable) -> Metric {
        let (id, bounds) = (computable.metric, computable.metric.def().bounds);
        let (mut value, mut detail) = match &computable.formula {
            // CPU time covers both modes.
            Some(formula) if formula.needs("task-clock") && self.counters.hardware().user_only() => {
                (Measure::Missing(Why::NotPermitted), Some("cycles were counted in user mode alone".to_string()))
            }
            Some(formula) => (formula.value(self), None),
            None => (Measure::Missing(self.absent(computable)), computable.absent.clone()),
        };
        if let Measure::Known { value: known, .. } = value {
            let slack = ROUNDING * bounds.1.abs().max(1.0);
            if known < bounds.0 - slack || known > bounds.1 + slack {
                value = Measure::Missing(Why::Suspect);
                detail = Some(format!("{known:.4} lies outside {} to {}", bounds.0, bounds.1));
            }
        }
        if computable.formula.is_some()
            && value.why() == Some(Why::NotRecorded)
            && matches!(self.who, ThreadSet::Only(_))
        {
            detail = Some("counted for the whole target, not thread by thread".to_string());
        }
        match &computable.formula {
            Some(formula) => Metric { id, value, formula: formula.text.clone(), events: formula.names(), detail },
            None => Metric { detail, ..Metric::of(id, value) },
        }
    }

    /// Why no formula applies: the planner's reason, events not requested, or the reason that cycles are missing.
    fn absent(&self, computable: &Computable) -> Why {
        let cycles = || self.counters.delta("cycles", Scope::Target, self.window).why();
        match computable.absent {
            _ if self.counters.hardware().too_costly => Why::TooCostly,
            Some(_) => Why::NotSupported,
            None if self.counters.hardware().counted => Why::NotRecorded,
            None => cycles().unwrap_or(Why::NotRecorded),
        }
    }

    /// The hardware costs of one operation, for those events that were counted.
    pub fn per_operation(self, ops: Measure<f64>) -> impl Iterator<Item = Metric> {
        self.counters.hardware().per_op.iter().map(move |(id, formula)| {
            // Without operations, report why they are missing, whatever else is missing.
            let value = match ops {
                Measure::Missing(why) => Measure::Missing(why),
                ops => formula.value(&self).ratio(ops, |spent, ops| (ops > 0.0).then(|| spent / ops)),
            };
            Metric { id: *id, value, formula: per_operation_text(&formula.text), events: formula.names(), detail: None }
        })
    }
}

impl CountedFormula {
    /// From the longest-counting group with all needed counters; from several groups only if all counted always.
    fn value(&self, from: &HardwareReader<'_>) -> Measure<f64> {
        let mut groups: Vec<u16> =
            self.counters.iter().flat_map(|(_, all)| all).filter_map(|(group, _)| *group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut best = Measure::Missing(Why::Multiplexed);
        for group in groups {
            if let Some(value) = self.within(group, from) {
                best = better(best, value);
            }
        }
        match best {
            Measure::Known { .. } => best,
            missing => match self.apart(from) {
                Measure::Missing(Why::Multiplexed) => missing,
                apart => apart,
            },
        }
    }

    /// The value from one group; `None` if it lacks a counter. Counters outside any group always count.
    fn within(&self, group: u16, from: &HardwareReader<'_>) -> Option<Measure<f64>> {
        let counters = self.counters.iter().map(|(_, all)| {
            let own = all.iter().find(|(of, _)| *of == Some(group)).or_else(|| all.iter().find(|(of, _)| of.is_none()));
            own.map(|(_, name)| name.as_str()).or(all.is_empty().then_some(""))
        });
        let counters = counters.collect::<Option<Vec<_>>>()?;
        let values: Vec<_> = counters.into_iter().map(|counter| from.read_or_wall(counter)).collect();
        Some(self.formed(&values))
    }

    /// The value from counters that always counted.
    fn apart(&self, from: &HardwareReader<'_>) -> Measure<f64> {
        let always = |all: &[Counter]| {
            let best = all.iter().map(|(_, name)| from.read(name)).reduce(better);
            match best {
                None => from.read_or_wall(""),
                Some(Measure::Known { quality, .. }) if quality.coverage < ALL_THE_TIME => {
                    Measure::Missing(Why::Multiplexed)
                }
                Some(measure) => measure,
            }
        };
        let values: Vec<_> = self.counters.iter().map(|(_, all)| always(all)).collect();
        self.formed(&values)
    }

    /// Evaluates the formula with these values, in the order of its names.
    fn formed(&self, values: &[Measure<f64>]) -> Measure<f64> {
        let (mut coverage, mut known) = (1.0_f64, Vec::new());
        for value in values {
            match value {
                Measure::Known { value, quality } => {
                    coverage = coverage.min(quality.coverage);
                    known.push(*value);
                }
                Measure::Missing(why) => return Measure::Missing(*why),
            }
        }
        let names = || self.counters.iter().map(|(name, _)| name.as_str());
        let mut of = |wanted: &str| names().zip(&known).find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        match self.formula.value(&mut of) {
            Some(value) => Measure::Known { value, quality: Quality { coverage } },
            // Everything was counted, so a divisor was zero.
            None => Measure::Missing(Why::Idle),
        }
    }
}

impl HardwareReader<'_> {
    /// The empty name is the window's length.
    fn read_or_wall(&self, counter: &str) -> Measure<f64> {
        if counter.is_empty() { Measure::exact(self.window.span().as_f64()) } else { self.read(counter) }
    }
}

/// The measure with the higher coverage, the first if equal. Any value beats a missing one.
fn better(a: Measure<f64>, b: Measure<f64>) -> Measure<f64> {
    let coverage = |measure: &Measure<f64>| match measure {
        Measure::Known { quality, .. } => quality.coverage,
        Measure::Missing(_) => -1.0,
    };
    match (a, b) {
        // The last reason comes from a counter; the first may be only the initial value.
        (Measure::Missing(_), b) => b,
        (a, b) if coverage(&b) > coverage(&a) => b,
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::computable::role;
    use crate::analysis::metrics;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{AbsentMetric, HardwareEvent, HardwareGroup};
    use crate::model::{Formula, HardwarePlan, MetricId};
    use proptest::prelude::*;

    /// A group of counters: the share of two seconds that it counted, and each counter's name and raw count.
    struct Group<'a>(f64, &'a [(&'a str, u64)]);

    fn synthetic(groups: &[Group<'_>]) -> Synthetic {
        let mut synthetic = Synthetic::new();
        let mut plan = HardwarePlan { uarch: "test".to_string(), ..HardwarePlan::default() };
        for (number, Group(share, counters)) in groups.iter().enumerate() {
            for (name, value) in *counters {
                synthetic.defined(name, crate::model::Unit::Count, Some(number as u16));
                let times = (2000, (2000.0 * share) as u64);
                synthetic.multiplexed(name, Scope::Target, 2000, *value, times);
            }
            let event = crate::analysis::testing::event("x", crate::model::Unit::Count);
            let events =
                counters.iter().map(|(name, _)| HardwareEvent { role: role(name).to_string(), event: event.clone() });
            plan.groups.push(HardwareGroup { events: events.collect(), ..HardwareGroup::default() });
        }
        synthetic.meta.hardware = plan;
        synthetic
    }

    fn all(synthetic: Synthetic, who: &ThreadSet) -> Vec<Metric> {
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(2000) };
        metrics(&Counters::of(&profile), who, window, None)
    }

    fn metric(synthetic: Synthetic, name: &str) -> Metric {
        let found = all(synthetic, &ThreadSet::All).into_iter().find(|metric| metric.id.name() == name);
        found.unwrap_or_else(|| panic!("no metric {name}"))
    }

    fn known(value: f64, coverage: f64) -> Measure<f64> {
        Measure::Known { value, quality: Quality { coverage } }
    }

    #[test]
    fn a_ratio_comes_from_the_group_that_holds_all_of_it() {
        let value = metric(
            synthetic(&[
                Group(1.0, &[("cycles", 4_000_000), ("instructions", 2_000_000)]),
                Group(0.5, &[("llc-miss", 1000), ("instructions.2", 1_000_000)]),
            ]),
            "llc_mpki",
        );
        assert_eq!((value.value, value.events.join(" ")), (known(1.0, 0.5), "llc-miss instructions".to_string()));
    }

    #[test]
    fn cycles_of_user_mode_alone_say_nothing_about_the_clock() {
        for (exclude_kernel, expected) in [(false, known(4e6, 1.0)), (true, Measure::Missing(Why::NotPermitted))] {
            let mut counted = synthetic(&[Group(1.0, &[("cycles", 4_000_000), ("instructions", 2_000_000)])]);
            counted.reading("task-clock", Scope::Target, 2000, ms(1000).0);
            let events = counted.meta.hardware.groups.iter_mut().flat_map(|group| &mut group.events);
            events.for_each(|event| event.event.exclude_kernel = exclude_kernel);
            let found = all(counted, &ThreadSet::All);
            let value = |name| found.iter().find(|metric| metric.id.name() == name).map(|metric| metric.value);
            assert_eq!((value("frequency"), value("ipc")), (Some(expected), Some(known(0.5, 1.0))));
        }
    }

    #[test]
    fn a_latency_in_seconds_needs_the_cycles_of_both_modes() {
        for (exclude_kernel, expected) in [(false, known(100_000.0, 1.0)), (true, Measure::Missing(Why::NotPermitted))]
        {
            let counters = [
                ("cycles", 3_000_000_000),
                ("offcore-l3miss-outstanding", 6_000_000),
                ("offcore-l3miss-requests", 20_000),
            ];
            let mut counted = synthetic(&[Group(1.0, &counters)]);
            counted.reading("task-clock", Scope::Target, 2000, ms(1000).0);
            let events = counted.meta.hardware.groups.iter_mut().flat_map(|group| &mut group.events);
            events.for_each(|event| event.event.exclude_kernel = exclude_kernel);
            let latency = metric(counted, "l3_miss_latency");
            // Rounded to whole picoseconds: the unit's factor has no exact binary form.
            let rounded = latency.value.map(|seconds| (seconds * 1e12).round());
            assert_eq!((rounded, latency.detail.is_some()), (expected, exclude_kernel));
        }
    }

    #[test]
    fn of_several_groups_that_hold_all_of_it_the_one_that_counted_longest_speaks() {
        let value = metric(
            synthetic(&[
                Group(0.25, &[("llc-miss", 1000), ("instructions", 1_000_000)]),
                Group(0.5, &[("llc-miss.2", 3000), ("instructions.2", 1_000_000)]),
            ]),
            "llc_mpki",
        );
        assert_eq!(value.value, known(3.0, 0.5));
    }

    #[test]
    fn across_groups_only_what_counted_always_is_divided() {
        for (shares, expected) in [
            ((1.0, 1.0), known(1.0, 1.0)),
            ((1.0, 0.5), Measure::Missing(Why::Multiplexed)),
            ((0.5, 0.5), Measure::Missing(Why::Multiplexed)),
            ((0.05, 1.0), Measure::Missing(Why::Multiplexed)),
        ] {
            let groups = [Group(shares.0, &[("llc-miss", 1000)]), Group(shares.1, &[("instructions", 1_000_000)])];
            assert_eq!(metric(synthetic(&groups), "llc_mpki").value, expected, "{shares:?}");
        }
    }

    #[test]
    fn counted_too_briefly_is_no_value() {
        let groups = [Group(0.09, &[("llc-miss", 10), ("instructions", 10_000)])];
        assert_eq!(metric(synthetic(&groups), "llc_mpki").value, Measure::Missing(Why::Multiplexed));
    }

    #[test]
    fn a_value_that_cannot_be_is_suspect_and_no_fact() {
        let groups = [Group(1.0, &[("llc-miss", 2_000_000), ("instructions", 1_000_000)])];
        let value = metric(synthetic(&groups), "llc_mpki");
        assert_eq!(value.value, Measure::Missing(Why::Suspect));
        assert_eq!(value.detail.as_deref(), Some("2000.0000 lies outside 0 to 1000"));
    }

    #[test]
    fn each_absence_has_its_own_reason() {
        let base = || synthetic(&[Group(1.0, &[("cycles", 2), ("instructions", 1)])]);
        let why = |synthetic| {
            let metric = metric(synthetic, "llc_mpki");
            (metric.value.why(), metric.detail)
        };
        assert_eq!(why(base()), (Some(Why::NotRecorded), None));
        let mut told = base();
        let reason = "LLC-MISS is refused".to_string();
        told.meta.hardware.absent.push(AbsentMetric { metric: "llc_mpki".to_string(), why: reason.clone() });
        assert_eq!(why(told), (Some(Why::NotSupported), Some(reason)));
        let mut no_pmu = Synthetic::new();
        no_pmu.define("cycles");
        assert_eq!(why(no_pmu), (Some(Why::NotSupported), None));
        assert_eq!(why(Synthetic::new()), (Some(Why::NotRecorded), None));
        let idle = synthetic(&[Group(1.0, &[("llc-miss", 0), ("instructions", 0)])]);
        assert_eq!(why(idle), (Some(Why::Idle), None));
    }

    #[test]
    fn of_selected_threads_only_what_was_counted_by_thread_is_told() {
        let mut synthetic = synthetic(&[Group(1.0, &[("llc-miss", 1000), ("instructions", 1_000_000)])]);
        synthetic.alive(41, "main");
        let who = ThreadSet::Only([41].into_iter().collect());
        let found = all(synthetic, &who).into_iter().find(|metric| metric.id == MetricId::LlcMpki);
        let found = found.map(|metric| (metric.value, metric.detail.is_some()));
        assert_eq!(found, Some((Measure::Missing(Why::NotRecorded), true)));
    }

    #[test]
    fn an_operation_costs_misses_only_where_misses_were_counted() {
        let costs = |groups: &[Group<'_>]| -> Vec<(&str, Measure<f64>)> {
            let profile = synthetic(groups).finish();
            let (counters, window) = (Counters::of(&profile), Window { from: ms(0), to: ms(2000) });
            let reader = HardwareReader { counters: &counters, who: &ThreadSet::All, window };
            reader.per_operation(Measure::exact(100.0)).map(|metric| (metric.id.name(), metric.value)).collect()
        };
        assert_eq!(costs(&[Group(1.0, &[("cycles", 2), ("instructions", 1)])]), []);
        assert_eq!(costs(&[Group(0.5, &[("llc-miss", 1000)])]), [("llc_misses_per_op", known(20.0, 0.5))]);
    }

    #[test]
    fn a_later_groups_counter_bears_the_number_of_its_turn() {
        for (name, expected) in
            [("cycles", "cycles"), ("cycles.2", "cycles"), ("a.b", "a.b"), ("a.", "a."), ("a.b.12", "a.b")]
        {
            assert_eq!(role(name), expected);
        }
    }

    /// A formula evaluated by hand within one group.
    fn by_hand(formula: &Formula, group: &[(String, u64)], share: f64) -> Option<f64> {
        let scaled = |name: &str| group.iter().find(|(role, _)| role == name).map(|(_, value)| *value as f64 / share);
        formula.value(&mut |name| scaled(name))
    }

    proptest! {
        /// Roles fall into groups at random, and each group counts for its own share of the time. A reported ratio comes
        /// from one single group, or from counters that counted the whole time.
        #[test]
        fn no_ratio_is_formed_across_groups(
            groups in prop::collection::vec((1..=10_u32, prop::collection::vec((0..3_usize, 1..1_000_000_u64), 1..4)), 1..5)
        ) {
            const ROLES: [&str; 3] = ["llc-miss", "instructions", "cycles"];
            let mut times = [0; 3];
            let mut named: Vec<(f64, Vec<(String, u64)>)> = Vec::new();
            for (tenths, counters) in &groups {
                let mut own: Vec<(String, u64)> = Vec::new();
                for (role, value) in counters {
                    if own.iter().any(|(name, _)| name.split('.').next() == Some(ROLES[*role])) {
                        continue;
                    }
                    times[*role] += 1;
                    let name = if times[*role] == 1 { ROLES[*role].to_string() } else { format!("{}.{}", ROLES[*role], times[*role]) };
                    own.push((name, *value));
                }
                named.push((f64::from(*tenths) / 10.0, own));
            }
            let borrowed: Vec<Vec<(&str, u64)>> =
                named.iter().map(|(_, own)| own.iter().map(|(name, value)| (name.as_str(), *value)).collect()).collect();
            let given: Vec<Group<'_>> = named.iter().zip(&borrowed).map(|((share, _), own)| Group(*share, own)).collect();
            let found = all(synthetic(&given), &ThreadSet::All);
            let formula = Formula::parse("1000 * llc-miss / instructions").ok_or(TestCaseError::fail("formula"))?;
            let told = found.iter().find(|metric| metric.id == MetricId::LlcMpki).map(|metric| metric.value);
            if let Some(Measure::Known { value, quality }) = told {
                let bare = |own: &[(String, u64)]| own.iter().map(|(name, value)| (role(name).to_string(), *value)).collect::<Vec<_>>();
                let one_group = named.iter().any(|(share, own)| {
                    by_hand(&formula, &bare(own), *share).is_some_and(|by_hand| (by_hand - value).abs() <= 1e-6 * value.abs())
                });
                prop_assert!(one_group || quality.coverage >= ALL_THE_TIME, "{value} at {quality:?}");
            }
        }
    }
}
