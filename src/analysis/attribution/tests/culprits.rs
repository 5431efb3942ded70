//! Which neighbours are named, among innocent ones that are busy too.

use super::*;
use crate::model::MetricId;

/// Five harmless neighbours: steady ones, and bursty ones of several periods.
fn innocents(session: &mut Session) {
    session.process("steady", |_| (0.3, 0.0, 1));
    session.process("daemon", |at| (0.06 + 0.02 * drift(at), 2e5, 1));
    session.process("bursty-3", |at| (if at % 3 == 0 { 0.8 } else { 0.0 }, 0.0, 1));
    session.process("bursty-7", |at| (if at % 7 < 3 { 0.5 } else { 0.05 }, 1e6, 1));
    session.process("bursty-20", |at| (if at % 20 < 6 { 0.9 } else { 0.0 }, 0.0, 1));
}

#[test]
fn who_came_with_the_slowdown_is_named_first_whatever_its_size() {
    for (name, slow, culprit) in [
        ("large", 1.6, (|at| (if at >= 60 { 0.95 } else { 0.0 }, 0.0, 1)) as Used),
        ("small", 1.12, |at| (if at >= 60 { 0.3 } else { 0.01 }, 0.0, 1)),
    ] {
        let mut session = Session::new();
        innocents(&mut session);
        session.process(name, culprit);
        session.run(60, &[]).run(5, &[(PRIMARY, slow)]);
        let (cause, place, suspects) = session.verdict();
        assert_eq!(
            (cause, place, suspects[0].as_str()),
            (Cause::CpuTimeOther, CauseLocation::Neighbours, name),
            "{suspects:?}"
        );
        session.run(30, &[(PRIMARY, slow)]);
        assert_eq!(session.verdict().2, [name], "in time only it remains");
        let alarm = &session.said().alarms[0];
        assert_eq!(alarm.suspect.as_deref(), Some(name));
    }
}

#[test]
fn the_threshold_is_cpi2s_and_a_slight_slowdown_stays_below_it() {
    for (slow, above) in [(2.0, true), (1.2, false)] {
        let mut session = Session::new();
        session.process("hog", |at| (if at >= 30 { 1.0 } else { 0.0 }, 0.0, 1));
        session.run(30, &[]).run(20, &[(PRIMARY, slow)]);
        let suspect = session.said().diagnosis.suspects[0].clone();
        assert_eq!(suspect.above_threshold, above, "{suspect:?}");
        assert!(suspect.cores > 0.9 && suspect.cores_before < 0.05 && suspect.evidence[0].contains("0 before"));
    }
}

#[test]
fn where_nobody_goes_with_it_nobody_is_accused() {
    let mut session = Session::new();
    innocents(&mut session);
    session.run(60, &[]).run(30, &[(PRIMARY, 1.5)]);
    let (_, place, suspects) = session.verdict();
    assert_eq!(place, CauseLocation::Unknown, "{suspects:?}");
    session
        .assessor
        .assessment()
        .diagnosis
        .suspects
        .iter()
        .for_each(|suspect| assert!(suspect.score < 0.35, "{suspect:?}"));
}

#[test]
fn storage_traffic_counts_where_storage_is_waited_for() {
    let usual = [&USUAL[..], &[(MetricId::BlockIoDelay, 0.01)]].concat();
    let mut session = Session::of(&usual, LoadAxis::OpsPerSecond);
    innocents(&mut session);
    session.process("cruncher", |at| (if at >= 58 { 0.9 } else { 0.0 }, 0.0, 1));
    session.process("backup", |at| (0.08, if at >= 60 { 3e8 } else { 0.0 }, 1));
    session.run(60, &[]).run(8, &[(MetricId::BlockIoDelay, 0.3)]);
    let (cause, place, suspects) = session.verdict();
    assert_eq!((cause, place, suspects[0].as_str()), (Cause::Io, CauseLocation::Neighbours, "backup"), "{suspects:?}");
    assert!(session.said().diagnosis.suspects[0].evidence[0].starts_with("storage traffic: 300 MB/s while slow"));
}

#[test]
fn a_group_and_its_only_process_are_shown_once_and_a_group_of_many_for_all_of_them() {
    let hog = |at| (if at >= 30 { 0.9 } else { 0.0 }, 0.0, 1);
    let part = |at| (if at >= 30 { 0.3 } else { 0.0 }, 0.0, 1);
    let mut session = Session::new();
    session.neighbour(NeighbourKind::Cgroup, "/batch", None, hog);
    session.neighbour(NeighbourKind::Cgroup, "/batch/job", None, hog);
    session.neighbour(NeighbourKind::Process, "hog", Some("/batch/job"), hog);
    session.run(30, &[]).run(10, &[(PRIMARY, 1.4)]);
    assert_eq!(session.verdict().2, ["hog"]);
    assert!(
        session.said().diagnosis.suspects[0].evidence.iter().any(|text| text == "It is in control group /batch/job.")
    );
    let mut session = Session::new();
    session.neighbour(NeighbourKind::Cgroup, "/many", None, hog);
    for name in ["a", "b", "c"] {
        session.neighbour(NeighbourKind::Process, name, Some("/many"), part);
    }
    session.run(30, &[]).run(10, &[(PRIMARY, 1.4)]);
    assert_eq!(session.verdict().2[0], "/many");
}

#[test]
fn a_neighbour_on_the_other_thread_of_the_core_is_told() {
    let mut session = Session::new();
    session.process("sibling", |at| (if at >= 30 { 0.9 } else { 0.0 }, 0.0, 2));
    session.run(30, &[]).run(10, &[(PRIMARY, 1.4)]);
    let (cause, place, suspects) = session.verdict();
    assert_eq!((cause, place, suspects[0].as_str()), (Cause::Smt, CauseLocation::Neighbours, "sibling"));
    assert!(session.said().diagnosis.suspects[0].evidence[1].contains("other thread of a core"));
}

#[test]
fn in_a_queue_who_was_on_the_same_cpu_comes_first() {
    let mut session = Session::new();
    session.process("elsewhere", |at| (if at >= 30 { 0.9 } else { 0.0 }, 0.0, 3));
    session.process("here", |at| (if at >= 30 { 0.8 } else { 0.0 }, 0.0, 0));
    session.run(30, &[]).run(10, &[(MetricId::RunQueueDelay, 0.4)]);
    assert_eq!((session.verdict().0, session.verdict().2[0].as_str()), (Cause::RunQueue, "here"));
}

#[test]
fn one_that_was_there_from_the_start_may_be_it_and_is_not_sure() {
    let mut session = Session::new();
    session.process("always", |_| (0.9, 0.0, 1));
    session.process("little", |_| (0.06, 0.0, 1));
    session.run(10, &[(PRIMARY, 1.6)]);
    let (_, _, suspects) = session.verdict();
    assert_eq!(suspects, ["always", "little"]);
    assert!(session.said().diagnosis.suspects[0].evidence[0].contains("nothing was seen before"));
}

#[test]
fn a_culprit_stays_named_however_long_it_goes_on() {
    let mut session = Session::new();
    session.process("hog", |at| (if at >= 30 { 0.9 } else { 0.0 }, 0.0, 1));
    session.run(30, &[]).run(700, &[(PRIMARY, 1.4)]);
    let (_, place, suspects) = session.verdict();
    assert_eq!((place, suspects), (CauseLocation::Neighbours, vec!["hog".to_string()]));
}

#[test]
fn who_was_on_the_other_thread_of_the_core_once_does_not_explain_all_of_it() {
    let mut session = Session::new();
    session.process("cron", |at| (if at == 35 { 0.9 } else { 0.0 }, 0.0, 2));
    session.run(30, &[]).run(10, &[(PRIMARY, 1.4)]);
    assert_eq!(session.verdict().0, Cause::CpuTimeOther);
}

#[test]
fn where_nothing_was_seen_before_nobody_is_ruled_out() {
    let mut session = Session::new();
    session.process("little", |_| (0.06, 0.0, 1));
    session.run(10, &[(PRIMARY, 1.6)]);
    let function = "check_twice".to_string();
    let shift = FunctionShift { function, now: 2e5, then: 0.0, per_operation: true, part: Some(1.0), shifted: 0.28 };
    session.assessor.set_function_shift(Some(shift));
    let lead = session.said().diagnosis.evidence[0].clone();
    assert_eq!((lead.cause, lead.confidence), (Cause::PathLength, Confidence::Low));
    assert!(!lead.text.contains("no neighbour"), "{}", lead.text);
    let alarm = &session.said().alarms[0];
    assert_eq!((alarm.cause, alarm.suspect.as_deref()), (Cause::PathLength, None), "the alarm follows at once");
}
