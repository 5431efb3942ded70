//! A program that completes less because it waits, and one that has less to do.

use super::*;
use crate::model::MetricId;

/// Below the lowest level: three tenths of the operations, and most of the remaining time is spent waiting.
const STARVED: [(MetricId, f64); 4] =
    [(RATE, 0.3), (WITHOUT_OPERATIONS, 0.3), (MetricId::Utilisation, 0.15), (MetricId::RunQueueDelay, 0.6)];
/// Six tenths of the operations, and of everything that scales with them.
const FEWER: [(MetricId, f64); 3] = [(RATE, 0.6), (WITHOUT_OPERATIONS, 0.6), (MetricId::Utilisation, 0.3)];

#[test]
fn a_program_that_does_less_because_it_waits_is_judged_whatever_its_load_is_measured_by() {
    for axis in [LoadAxis::OpsPerSecond, LoadAxis::BusyCores] {
        let mut session = Session::of(&USUAL, axis);
        session.process("hog", |at| (if at >= 20 { 1.6 } else { 0.0 }, 0.0, 0));
        session.run(20, &[]).run(6, &STARVED);
        let (cause, place, suspects) = session.verdict();
        assert_eq!(
            (cause, place, suspects[0].as_str()),
            (Cause::RunQueue, CauseLocation::Neighbours, "hog"),
            "{axis:?}"
        );
        let said = session.said();
        assert_eq!((said.alarms.len(), said.alarms[0].raised_after_windows), (1, 3));
        let rate = said.diagnosis.quantities.iter().find(|moved| moved.quantity.id == RATE).unwrap();
        assert!(rate.moved && (rate.now / rate.expected - 0.3).abs() < 0.02, "{rate:?}");
    }
}

#[test]
fn fewer_operations_with_fewer_cpus_wanted_are_a_lesser_load_and_accuse_nobody() {
    let cheaper = [&FEWER[..], &[(PRIMARY, 0.9)]].concat();
    let costlier = [&FEWER[..], &[(PRIMARY, 1.4)]].concat();
    let busier_machine = [&FEWER[..], &[(MetricId::HostBusy, 0.9), (MetricId::RunQueueDelay, 0.006)]].concat();
    for axis in [LoadAxis::OpsPerSecond, LoadAxis::BusyCores] {
        for fewer in [&FEWER[..], &cheaper, &costlier, &busier_machine] {
            let mut session = Session::of(&USUAL, axis);
            session.process("bystander", |at| (if at >= 20 { 1.0 } else { 0.0 }, 0.0, 0));
            session.run(20, &[]).run(40, fewer);
            assert!(session.said().alarms.is_empty(), "{axis:?} {fewer:?}");
            assert!(
                session.states(20).iter().all(|state| *state == WindowState::UnknownLoad),
                "{:?}",
                session.states(20)
            );
        }
    }
}

#[test]
fn what_cannot_grow_when_load_falls_is_judged_below_every_known_load() {
    for (other, value, cause) in [
        (MetricId::RunQueueDelay, 0.12, Cause::RunQueue),
        (MetricId::StealShare, 0.1, Cause::Steal),
        (MetricId::ThrottledShare, 0.3, Cause::Throttling),
    ] {
        let mut session = Session::new();
        session.run(20, &[]).run(6, &[&FEWER[..], &[(other, value)]].concat());
        assert_eq!(session.verdict().0, cause);
        session.run(8, &FEWER);
        assert!(!session.said().alarms[0].active, "{other}");
    }
}

#[test]
fn of_fewer_threads_the_same_wait_is_a_larger_share_and_no_longer_wait() {
    let usual = [
        (PRIMARY, 5e5),
        (RATE, 1000.0),
        (WITHOUT_OPERATIONS, 0.5),
        (MetricId::Utilisation, 0.5),
        (MetricId::RunQueueDelay, 0.1),
    ];
    let mut session = Session::of(&usual, LoadAxis::OpsPerSecond);
    session.run(20, &[]).run(
        20,
        &[(RATE, 0.6), (WITHOUT_OPERATIONS, 0.6), (MetricId::Utilisation, 0.9), (MetricId::RunQueueDelay, 0.29)],
    );
    assert!(session.said().alarms.is_empty());
}

#[test]
fn a_program_that_completes_nothing_and_waits_for_a_cpu_raises_an_alarm_and_one_that_runs_does_not() {
    let mut session = Session::new();
    session.run(20, &[]).run(
        6,
        &[(RATE, 0.0), (WITHOUT_OPERATIONS, 0.1), (MetricId::Utilisation, 0.05), (MetricId::RunQueueDelay, 0.9)],
    );
    assert_eq!(session.verdict().0, Cause::RunQueue);
    let mut session = Session::new();
    session.run(20, &[]).run(20, &[(RATE, 0.0)]);
    let said = session.said();
    assert!(said.alarms.is_empty() && said.diagnosis.state == WindowState::UnknownLoad, "{said:?}");
    assert!(said.diagnosis.unknown[0].starts_with("No operation was completed"));
}

/// A baseline that knows these multiples of the usual load.
fn knows(factors: &[f64]) -> Levels {
    let one = levels(&USUAL, LoadAxis::OpsPerSecond);
    let level = |factor: &f64| {
        let usual: Vec<_> =
            USUAL.iter().map(|(id, value)| (*id, if LOADS.contains(id) { value * factor } else { *value })).collect();
        levels(&usual, LoadAxis::OpsPerSecond).levels[0].clone()
    };
    Levels { levels: factors.iter().map(level).collect(), ..one }
}

/// The quantities that grow with load.
const LOADS: [MetricId; 3] = [RATE, WITHOUT_OPERATIONS, MetricId::Utilisation];

fn watched(factors: &[f64]) -> Session {
    let mut session = Session::new();
    session.assessor = Assessor::new(knows(factors), facts(), Settings::default());
    session
}

/// The usual windows at a multiple of the usual load.
fn at_load(factor: f64) -> [(MetricId, f64); 3] {
    [(RATE, factor), (WITHOUT_OPERATIONS, factor), (MetricId::Utilisation, 0.5 * factor)]
}

/// Not counted: a program that falls behind its work may print nothing until it has caught up.
const SILENT: [(MetricId, f64); 2] = [(RATE, f64::NAN), (PRIMARY, f64::NAN)];

#[test]
fn a_starved_program_is_found_at_each_load_that_is_known_whether_its_operations_are_still_counted_or_not() {
    for (factors, load) in
        [(&[1.0][..], 1.0), (&[0.6, 1.0, 1.6], 0.6), (&[0.6, 1.0, 1.6], 1.0), (&[0.6, 1.0, 1.6], 1.6)]
    {
        // It runs nine tenths as long and waits for as long as it runs.
        let ran: f64 = 0.5 * load * 0.9;
        let starved = [
            (RATE, 0.7 * load),
            (WITHOUT_OPERATIONS, 0.9 * load),
            (MetricId::Utilisation, ran),
            (MetricId::RunQueueDelay, ran.min(1.0 - ran)),
        ];
        for counted in [true, false] {
            let mut session = watched(factors);
            session.process("hog", |at| (if at >= 20 { 1.5 } else { 0.0 }, 0.0, 0));
            let silent = if counted { &[][..] } else { &SILENT[..] };
            session.run(20, &at_load(load)).run(6, &[silent, &starved].concat());
            let said = session.said();
            assert_eq!(said.alarms.len(), 1, "{factors:?} {load} {counted}: {:?}", session.states(18));
            assert!(said.alarms[0].raised_after_windows <= 5, "{:?}", said.alarms);
            let (cause, place, suspects) = session.verdict();
            assert_eq!((cause, place), (Cause::RunQueue, CauseLocation::Neighbours), "{factors:?} {load} {counted}");
            assert_eq!(suspects, ["hog"]);
            let uncounted =
                said.diagnosis.unknown.iter().any(|text| text.starts_with("Operations were not counted in"));
            assert_eq!(uncounted, !counted, "{:?}", said.diagnosis.unknown);
        }
    }
}

#[test]
fn a_program_whose_operations_are_not_counted_raises_nothing_while_it_waits_as_usual() {
    for load in [0.5, 1.0, 3.0] {
        let mut session = watched(&[1.0]);
        session.process("bystander", |at| (if at >= 20 { 1.5 } else { 0.0 }, 0.0, 0));
        session.run(20, &[]).run(20, &[&SILENT[..], &at_load(load)[1..]].concat());
        assert!(session.said().alarms.is_empty(), "{load}");
        assert!(session.states(20).iter().all(|state| *state == WindowState::UnknownLoad), "{:?}", session.states(20));
    }
    // Nor does it end an alarm on what operations cost.
    let mut session = watched(&[1.0]);
    session.run(20, &[]).run(6, &[(PRIMARY, 1.4)]).run(10, &[&SILENT[..], &at_load(1.0)[1..]].concat());
    assert!(session.said().alarms[0].active);
    // More CPU than at the highest load may be more work, and more work may wait longer.
    let mut session = watched(&[1.0]);
    session.run(20, &[]).run(20, &[&SILENT[..], &at_load(1.8)[1..], &[(MetricId::RunQueueDelay, 0.08)]].concat());
    assert!(session.said().alarms.is_empty());
}

#[test]
fn half_the_load_on_purpose_raises_nothing_at_any_number_of_known_loads() {
    for factors in [&[1.0][..], &[0.8, 1.0, 1.6]] {
        let mut session = watched(factors);
        session.run(20, &[]).run(40, &at_load(0.5));
        assert!(session.said().alarms.is_empty(), "{factors:?}");
    }
}

#[test]
fn a_load_above_every_known_one_is_shown_beside_the_highest_and_raises_nothing() {
    let mut session = watched(&[0.6, 1.0]);
    session.run(20, &[]).run(20, &[&at_load(1.6)[..], &[(PRIMARY, 1.5), (MetricId::RunQueueDelay, 0.02)]].concat());
    let said = session.said();
    assert!(said.alarms.is_empty() && said.diagnosis.state == WindowState::UnknownLoad, "{said:?}");
    let shown = &said.diagnosis.unknown[0];
    for part in [
        "is above every load that the baseline knows; beside its highest, 1,100",
        "there 500 us",
        "2.00%, there 0.500%",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn fewer_operations_of_a_closed_loop_are_the_effect_where_waits_are_longer_and_load_where_they_are_not() {
    // A client that waits for each answer offers less when answers take longer: less CPU is wanted in all.
    let fewer = [(RATE, 0.6), (WITHOUT_OPERATIONS, 0.6), (MetricId::Utilisation, 0.3)];
    for (queue, expected) in [(0.1, true), (0.003, false)] {
        let mut session = watched(&[1.0]);
        session.run(20, &[]).run(8, &[&fewer[..], &[(MetricId::RunQueueDelay, queue)]].concat());
        let said = session.said();
        assert_eq!(
            (said.alarms.len(), said.diagnosis.fewer().is_some()),
            (usize::from(expected), expected),
            "{said:?}"
        );
    }
}
