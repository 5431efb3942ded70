use super::*;
use crate::analysis::metrics;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::{AbsentMetric, HardwareEvent, HardwareGroup};
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

fn all(synthetic: Synthetic, who: &Who) -> Vec<Metric> {
    let profile = synthetic.finish();
    let window = Window { from: ms(0), to: ms(2000) };
    metrics(&Counters::of(&profile), who, window, None)
}

fn metric(synthetic: Synthetic, name: &str) -> Metric {
    let found = all(synthetic, &Who::All).into_iter().find(|metric| metric.id.name() == name);
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
        let found = all(counted, &Who::All);
        let value = |name| found.iter().find(|metric| metric.id.name() == name).map(|metric| metric.value);
        assert_eq!((value("frequency"), value("ipc")), (Some(expected), Some(known(0.5, 1.0))));
    }
}

#[test]
fn a_latency_in_seconds_needs_the_cycles_of_both_modes() {
    for (exclude_kernel, expected) in [(false, known(100_000.0, 1.0)), (true, Measure::Missing(Why::NotPermitted))] {
        let counters =
            [("cycles", 3_000_000_000), ("offcore-l3miss-outstanding", 6_000_000), ("offcore-l3miss-requests", 20_000)];
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
    let who = Who::Only([41].into_iter().collect());
    let found = all(synthetic, &who).into_iter().find(|metric| metric.id == MetricId::LlcMpki);
    let found = found.map(|metric| (metric.value, metric.detail.is_some()));
    assert_eq!(found, Some((Measure::Missing(Why::NotRecorded), true)));
}

#[test]
fn an_operation_costs_misses_only_where_misses_were_counted() {
    let costs = |groups: &[Group<'_>]| -> Vec<(&str, Measure<f64>)> {
        let profile = synthetic(groups).finish();
        let (counters, window) = (Counters::of(&profile), Window { from: ms(0), to: ms(2000) });
        let reader = Reader { counters: &counters, who: &Who::All, window };
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
        let found = all(synthetic(&given), &Who::All);
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
