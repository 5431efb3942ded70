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
