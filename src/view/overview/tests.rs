#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::Axis;
use crate::analysis::testing::{Synthetic, ms};
use crate::model::profile::Profile;
use crate::model::{Measure, MetricId, Scope, TaskState, Unit, Why};
use crate::units::{Nanos, Ops};
use crate::view::query::{Bounds, CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};

fn query(time: TimeSelector, compare_with: CompareWith) -> Query {
    Query {
        time,
        end: None,
        filter: TaskFilter::default(),
        axis: Axis::Event(0),
        compare_with,
        point: None,
        per: None,
        request: ViewRequest::Overview,
    }
}

pub fn context(profile: &Profile) -> ViewContext<'_> {
    scene_of(profile, TimeSelector::All, CompareWith::Nothing)
}

fn scene_of(profile: &Profile, time: TimeSelector, compare_with: CompareWith) -> ViewContext<'_> {
    let bounds = Bounds { since: Nanos(0), now: profile.duration() };
    ViewContext::of(profile, None, bounds, &query(time, compare_with))
}

/// Ten windows of a program on two threads. The path length stays the same, the CPI doubles in the second half.
fn slowed() -> Profile {
    let mut synthetic = Synthetic::new();
    let mut ops = Vec::new();
    for at in 1..=10_u64 {
        let slow = at.saturating_sub(5);
        let done = 100 * (at - slow) + 50 * slow;
        ops.push((ms(at * 1000), Ops(done)));
        synthetic
            .reading("task-clock", Scope::Target, at * 1000, ms(at * 1000).0)
            .reading("thread-time", Scope::Target, at * 1000, ms(at * 2000).0)
            .reading("cycles", Scope::Target, at * 1000, at * 2_000_000_000)
            .reading("instructions", Scope::Target, at * 1000, done * 10_000_000)
            .tick(at * 1000, 1000);
    }
    let mut profile = synthetic.finish();
    profile.ops = ops;
    profile.ops.insert(0, (Nanos(0), Ops(0)));
    profile
}

#[test]
fn the_factors_of_the_selected_time_come_with_their_past() {
    let profile = slowed();
    let view = Overview::of(&scene_of(&profile, TimeSelector::Since(ms(5000)), CompareWith::Nothing));
    let value = |name: &str| {
        view.factor(MetricId::named(name).unwrap()).and_then(|factor| factor.value.value().copied()).unwrap()
    };
    for (name, expected) in [
        ("cpu_per_op", 0.02),
        ("path_length", 1e7),
        ("cpi", 4.0),
        ("frequency", 2e9),
        ("cpu_utilisation", 1.0),
        ("throughput", 50.0),
        ("run_share", 0.5),
    ] {
        assert!((value(name) / expected - 1.0).abs() < 1e-9, "{name}: {}", value(name));
    }
    let history: Vec<_> = view.factor(MetricId::Cpi).unwrap().history.clone();
    assert_eq!(history, (6..=10).map(|at| (ms(at * 1000), Some(4.0))).collect::<Vec<_>>());
    assert!(view.law.iter().all(|factor| factor.change.is_none() && factor.share_of_change.is_none()));
}

#[test]
fn a_change_is_shared_out_among_the_factors() {
    let profile = slowed();
    let view = Overview::of(&scene_of(&profile, TimeSelector::Since(ms(5000)), CompareWith::Before(ms(5000))));
    for (name, relative, share) in [
        ("cpu_per_op", 1.0, None),
        ("path_length", 0.0, Some(0.0)),
        ("cpi", 1.0, Some(1.0)),
        ("frequency", 0.0, Some(0.0)),
        ("cpu_utilisation", 0.0, Some(0.0)),
        ("throughput", -0.5, None),
    ] {
        let factor = view.factor(MetricId::named(name).unwrap()).unwrap();
        let change = factor.change.unwrap();
        assert!((change.relative().unwrap() - relative).abs() < 1e-9, "{name}: {change:?}");
        assert_eq!(change.is_clear(), relative != 0.0, "{name}: {change:?}");
        let shares = (factor.share_of_change, share);
        assert!(
            matches!(shares, (None, None)) || shares.0.zip(shares.1).is_some_and(|(a, b)| (a - b).abs() < 1e-9),
            "{name}: {shares:?}"
        );
    }
}

#[test]
fn what_was_not_counted_says_why_and_the_rest_is_there() {
    let mut synthetic = Synthetic::new();
    synthetic.define("cycles");
    synthetic.define("instructions");
    synthetic.reading("task-clock", Scope::Target, 1000, ms(500).0).tick(1000, 1000);
    synthetic.meta.duration_ns = Some(ms(1000).0);
    let profile = synthetic.finish();
    let view = Overview::of(&context(&profile));
    for (name, expected) in [
        ("throughput", Measure::Missing(Why::NoOpsSource)),
        ("cpu_per_op", Measure::Missing(Why::NoOpsSource)),
        ("path_length", Measure::Missing(Why::NotSupported)),
        ("cpi", Measure::Missing(Why::NotSupported)),
        ("remote_dram_share", Measure::Missing(Why::NotSupported)),
        ("run_share", Measure::Missing(Why::NotRecorded)),
        ("cpu_utilisation", Measure::exact(0.5)),
    ] {
        assert_eq!(view.factor(MetricId::named(name).unwrap()).unwrap().value, expected, "{name}");
    }
    assert_eq!(view.factor(MetricId::CpuUtilisation).unwrap().unit, Unit::Cores);
}

#[test]
fn blocked_time_is_named_as_far_as_its_end_was_seen() {
    let mut synthetic = Synthetic::new();
    synthetic
        .reading("task-clock", Scope::Target, 1000, ms(200).0)
        .reading("run-delay", Scope::Target, 1000, ms(100).0)
        .reading("thread-time", Scope::Target, 1000, ms(2000).0)
        .tick(1000, 1000)
        .off_cpu(0, 41, TaskState::Sleeping, 500, Some(0), "app!main;[kernel]!futex_wait;[kernel]!schedule")
        .off_cpu(600, 41, TaskState::Sleeping, 200, Some(0), "app!main;[kernel]!do_nanosleep")
        .off_cpu(900, 41, TaskState::Runnable, 0, Some(50), "app!main");
    synthetic.meta.duration_ns = Some(ms(1000).0);
    let profile = synthetic.finish();
    let split = Overview::of(&context(&profile)).split;
    let waits: Vec<_> = split.waits.iter().map(|wait| (wait.label, (wait.share * 1e6).round() / 1e6)).collect();
    assert_eq!(waits, [("still waiting", 0.5), ("lock", 0.25), ("sleep", 0.1)]);
    let parts: f64 = split.parts.iter().filter_map(|part| part.value.value()).sum();
    assert!((parts - 1.0).abs() < 1e-9);
}

#[test]
fn waits_that_hold_time_in_the_queue_stay_within_the_blocked_time() {
    let mut synthetic = Synthetic::new();
    synthetic
        .reading("task-clock", Scope::Target, 1000, ms(200).0)
        .reading("run-delay", Scope::Target, 1000, ms(400).0)
        .reading("thread-time", Scope::Target, 1000, ms(1000).0)
        .tick(1000, 1000)
        .off_cpu(0, 41, TaskState::Sleeping, 600, None, "app!main;[kernel]!futex_wait;[kernel]!schedule")
        .off_cpu(700, 41, TaskState::Sleeping, 200, None, "app!main;[kernel]!do_nanosleep");
    synthetic.meta.duration_ns = Some(ms(1000).0);
    let profile = synthetic.finish();
    let waits = Overview::of(&context(&profile)).split.waits;
    let shown: Vec<_> = waits.iter().map(|wait| (wait.label, (wait.share * 1e6).round() / 1e6)).collect();
    assert_eq!(shown, [("lock", 0.3), ("sleep", 0.1)]);
}

#[test]
fn the_hottest_functions_change_in_shares_with_their_sampling_error() {
    let mut synthetic = Synthetic::new();
    synthetic.samples(0, 41, "app!main;app!parse", 80).samples(800, 41, "app!main;app!hash", 20);
    synthetic.samples(2000, 41, "app!main;app!parse", 25).samples(2250, 41, "app!main;app!hash", 75);
    let profile = synthetic.finish();
    let view = Overview::of(&scene_of(&profile, TimeSelector::Since(ms(2000)), CompareWith::Before(ms(2000))));
    let hot: Vec<_> = view.hot.iter().map(|hot| (hot.name.as_str(), hot.share)).collect();
    assert_eq!((hot, view.samples), (vec![("hash", 0.75), ("parse", 0.25)], 100));
    let change = view.hot[0].change.unwrap();
    assert_eq!((change.before, change.after, change.is_clear()), (0.2, 0.75, true));
    assert!((change.error.unwrap() - 0.059_0).abs() < 1e-4, "{change:?}");
}
