//! Windows in which something was not counted: what is missing stays missing with its own reason, in the law and in costs
//! per operation; what was counted stays.

use super::recordings::cases;
use crate::analysis::testing::{Synthetic, ms};
use crate::analysis::{
    Counters, Law, LawFactor, ThreadSet, TimeRange, Totals, Window, metrics, operations, per_operation, value_of,
};
use crate::model::profile::Profile;
use crate::model::{Measure, MetricId, Scope, Why};
use crate::units::{Nanos, Ops};
use proptest::prelude::*;

fn window(from: u64, to: u64) -> Window {
    Window { from: ms(from), to: ms(to) }
}

/// Everything counted: a million operations in ten seconds on two busy CPUs.
fn totals() -> Totals {
    Totals {
        wall: 10.0,
        ops: Measure::exact(1e6),
        cpu: Measure::exact(20.0),
        threads: Measure::exact(40.0),
        instructions: Measure::exact(6e10),
        cpi: Measure::exact(1.0),
        frequency: Measure::exact(3e9),
    }
}

/// What of the law is missing, by the names of its factors.
fn missing(law: &Law) -> Vec<(&'static str, Why)> {
    let all = [
        ("throughput", law.throughput),
        ("cpu/op", law.cpu_per_op),
        ("path", law.path_length),
        ("cpi", law.cpi),
        ("frequency", law.frequency),
        ("busy", law.busy),
        ("utilisation", law.utilisation),
        ("instructions/s", law.instruction_rate),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value.why()?))).collect()
}

#[test]
fn what_was_not_counted_is_missing_in_the_factors_that_need_it_and_in_no_other() {
    let no = Measure::Missing(Why::NotSupported);
    assert_eq!(missing(&Law::of(&totals())), []);
    for (case, totals, expected) in [
        ("operations", Totals { ops: no, ..totals() }, &["throughput", "cpu/op", "path"][..]),
        ("CPU time", Totals { cpu: no, ..totals() }, &["cpu/op", "busy", "utilisation"]),
        ("threads", Totals { threads: no, ..totals() }, &["utilisation"]),
        ("instructions", Totals { instructions: no, ..totals() }, &["path", "instructions/s"]),
        ("cycles per instruction", Totals { cpi: no, ..totals() }, &["cpi"]),
        ("the clock", Totals { frequency: no, ..totals() }, &["frequency"]),
    ] {
        let found = missing(&Law::of(&totals));
        assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected, "without {case}");
        assert!(found.iter().all(|(_, why)| *why == Why::NotSupported), "without {case}: {found:?}");
    }
    let idle = Law::of(&Totals { ops: Measure::exact(0.0), threads: Measure::exact(0.0), ..totals() });
    let expected = [("cpu/op", Why::Idle), ("path", Why::Idle), ("utilisation", Why::Idle)];
    assert_eq!(missing(&idle), expected, "nothing was completed, and no thread lived");
    assert_eq!(idle.throughput, Measure::exact(0.0), "no operation is a throughput of zero");
}

#[test]
fn a_slowdown_needs_operations_cpu_time_and_threads_on_both_sides_and_nothing_more() {
    let (whole, no) = (Law::of(&totals()), Measure::Missing(Why::NotRecorded));
    let factors = |law: &Law| {
        let found = law.slowdown(&whole)?;
        Some(found.parts.iter().map(|part| part.factor).collect::<Vec<_>>())
    };
    let counted = vec![LawFactor::PathLength, LawFactor::Cpi, LawFactor::Frequency, LawFactor::Utilisation];
    let coarse = vec![LawFactor::CpuTime, LawFactor::Utilisation];
    for (case, law, expected) in [
        ("everything", whole, Some(&counted)),
        ("no throughput", Law { throughput: no, ..whole }, Some(&counted)),
        ("no cycles per instruction", Law { cpi: no, ..whole }, Some(&coarse)),
        ("no clock", Law { frequency: no, ..whole }, Some(&coarse)),
        ("a path of no length", Law { path_length: Measure::exact(0.0), ..whole }, Some(&coarse)),
        ("no CPU time", Law { cpu_per_op: no, ..whole }, None),
        ("no threads", Law { utilisation: no, ..whole }, None),
        ("a negative cost", Law { cpu_per_op: Measure::exact(-1.0), ..whole }, None),
        ("a cost that is no number", Law { cpu_per_op: Measure::exact(f64::NAN), ..whole }, None),
    ] {
        assert_eq!(factors(&law).as_ref(), expected, "{case}");
        assert_eq!(whole.slowdown(&law).is_some(), expected.is_some(), "{case} on the other side");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_parts_of_any_slowdown_multiply_and_add_up_to_the_whole(
        path in 0.2..5.0_f64, cpi in 0.2..5.0_f64, clock in 0.5..2.0_f64, share in 0.1..1.0_f64,
    ) {
        let before = Totals { threads: Measure::exact(20.0), ..totals() };
        let instructions = 6e10 * path;
        let cpu = instructions * cpi / (3e9 * clock);
        let after = Totals {
            instructions: Measure::exact(instructions),
            cpi: Measure::exact(cpi),
            frequency: Measure::exact(3e9 * clock),
            cpu: Measure::exact(cpu),
            threads: Measure::exact(cpu / share),
            ..before
        };
        let found = Law::of(&after).slowdown(&Law::of(&before));
        let found = found.ok_or_else(|| TestCaseError::fail("everything was counted"))?;
        let product: f64 = found.parts.iter().map(|part| part.ratio).product();
        prop_assert!((product / found.ratio - 1.0).abs() < 1e-9, "{product} of {}", found.ratio);
        prop_assert!((found.ratio / (path * cpi / clock / share) - 1.0).abs() < 1e-9);
        let shares: Option<f64> = found.parts.iter().map(|part| part.share).sum();
        prop_assert!(shares.is_none_or(|sum| (sum - 1.0).abs() < 1e-9), "{shares:?}");
        let seconds: f64 = found.parts.iter().map(|part| part.seconds).sum();
        let grown = cpu / share / 1e6 - 20.0 / 1e6;
        prop_assert!((seconds - grown).abs() <= 1e-9 * grown.abs().max(1e-9), "{seconds} s of {grown} s");
        let back = Law::of(&before).slowdown(&Law::of(&after)).map_or(f64::NAN, |found| found.ratio);
        prop_assert!((back * found.ratio - 1.0).abs() < 1e-9, "there and back again");
    }
}

#[test]
fn a_cost_per_operation_is_missing_for_the_reason_of_what_is_missing() {
    let mut s = Synthetic::new();
    s.reading("task-clock", Scope::Target, 0, 0).reading("task-clock", Scope::Target, 1000, ms(500).0);
    s.multiplexed("minor-faults", Scope::Target, 1000, 9, (1000, 50));
    let counters = Counters::of(&s.finish());
    let of = |ops| {
        let all = per_operation(&counters, &ThreadSet::All, window(0, 1000), ops);
        move |id| value_of(&all, id)
    };
    let known = of(Measure::exact(1000.0));
    assert_eq!(known(MetricId::Operations), Measure::exact(1000.0));
    for (id, why) in [
        (MetricId::MinorFaultsPerOp, Why::Multiplexed),
        (MetricId::MajorFaultsPerOp, Why::NotRecorded),
        (MetricId::PathLength, Why::NotRecorded),
    ] {
        assert_eq!(known(id), Measure::Missing(why), "{id:?}");
    }
    let silent = of(Measure::Missing(Why::OpsSilent));
    for id in [MetricId::Operations, MetricId::MinorFaultsPerOp, MetricId::MajorFaultsPerOp] {
        assert_eq!(silent(id), Measure::Missing(Why::OpsSilent), "{id:?}: operations come first");
    }
}

#[test]
fn nothing_was_counted_means_every_metric_is_missing_with_a_reason() {
    let profile = Synthetic::new().finish();
    let all = metrics(&Counters::of(&profile), &ThreadSet::All, window(0, 1000), None);
    assert!(all.len() > 20, "{}", all.len());
    for metric in &all {
        let why = metric.value.why().unwrap_or_else(|| panic!("{:?} has a value: {:?}", metric.id, metric.value));
        assert!(!why.text().is_empty(), "{:?}", metric.id);
    }
}

fn with_ops(totals: &[(u64, u64)]) -> Profile {
    let mut profile = Synthetic::new().finish();
    profile.ops = totals.iter().map(|(at, total)| (ms(*at), Ops(*total))).collect();
    profile.meta.duration_ns = None;
    profile
}

#[test]
fn operations_at_the_ends_of_their_type_are_counted_and_never_negative() {
    for (case, totals, from, to, expected) in [
        ("the largest total", &[(0, 0), (1000, u64::MAX)][..], 0, 1000, Some(u64::MAX as f64)),
        ("a total that stands still", &[(0, 77), (1000, 77)], 0, 1000, Some(0.0)),
        ("a program that began anew", &[(0, 900), (500, 0), (1000, 100)], 500, 1000, Some(100.0)),
        ("one that fell over the window", &[(0, 900), (1000, 100)], 0, 1000, Some(0.0)),
        ("one reading", &[(500, 7)], 0, 1000, None),
        ("a window of no length", &[(0, 0), (1000, 50)], 500, 500, None),
        ("two readings at one moment", &[(0, 0), (500, 10), (500, 20), (1000, 30)], 0, 1000, Some(30.0)),
    ] {
        let found = operations(&with_ops(totals), window(from, to));
        assert_eq!(found.value().copied(), expected, "{case}: {found:?}");
    }
    let far = Window { from: Nanos(u64::MAX - 1), to: Nanos(u64::MAX) };
    assert_eq!(operations(&with_ops(&[(0, 0), (1000, 50)]), far).value(), None);
}

#[test]
fn a_range_of_time_reads_back_in_every_unit_and_what_is_none_is_named() {
    for (text, from, to) in [
        ("1s-2s", 1000, Some(2000)),
        ("1-2", 1000, Some(2000)),
        ("500ms+1.5s", 500, Some(2000)),
        ("1m-1h", 60_000, Some(3_600_000)),
        ("1min+1min", 60_000, Some(120_000)),
        ("-5s", 0, Some(5000)),
        ("1.5s-", 1500, None),
        ("1 s-2 s", 1000, Some(2000)),
        ("0+1ms", 0, Some(1)),
    ] {
        let found = TimeRange::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.from, found.to), (ms(from), to.map(ms)), "{text}");
    }
    for (text, why) in [
        ("", "it has no end and no length"),
        ("5", "it has no end and no length"),
        ("now-later", "'now' is not a time"),
        ("1s-later", "'later' is not a time"),
        ("2s-1s", "it ends before it begins"),
        ("1s-1s", "it ends before it begins"),
        ("1s+0", "it ends before it begins"),
        ("1s+-1s", "'-1s' is not a time"),
        ("1e9s-", "'1e9s' is not a time"),
        ("1.2.3s-", "'1.2.3s' is not a time"),
        ("0.0000000001s-0.0000000002s", "it ends before it begins"),
        ("99999999999h-", "'99999999999h' is not a time"),
        ("1s-\u{661}s", "'\u{661}s' is not a time"),
    ] {
        let error = TimeRange::parse(text).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(error.to_string(), format!("invalid time range '{text}': {why}"));
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage, "{text}");
        assert!(error.remedy().is_some_and(|remedy| remedy.contains("1s+9s")), "{text}");
    }
}
