//! When an alarm is raised, and when none must be.

use super::*;
use crate::model::MetricId;

#[test]
fn ten_quiet_minutes_of_drifting_windows_with_single_odd_ones_raise_nothing() {
    let mut session = Session::new();
    for at in 0..600 {
        match at % 50 {
            7 => session.window(&[(PRIMARY, 1.4)]),
            31 | 32 => session.window(&[(PRIMARY, 1.2), (MetricId::RunQueueDelay, 0.1)]),
            _ => session.window(&[]),
        }
    }
    assert!(session.said().alarms.is_empty(), "{:?}", session.said().alarms);
    assert!(session.results.iter().all(|step| matches!(step.state, WindowState::Usual | WindowState::Unusual)));
}

#[test]
fn a_growth_that_matters_raises_an_alarm_at_its_third_window_and_its_end_clears_it() {
    let mut session = Session::new();
    session.run(20, &[]).run(10, &[(PRIMARY, 1.3)]).run(10, &[]);
    let raised: Vec<usize> = (0..session.results.len()).filter(|at| session.results[*at].raised).collect();
    let cleared: Vec<usize> = (0..session.results.len()).filter(|at| session.results[*at].cleared).collect();
    assert_eq!((raised, cleared), (vec![22], vec![34]));
    let alarm = &session.said().alarms[0];
    assert_eq!((alarm.window, alarm.active), (Window { from: ms(20_000), to: ms(30_000) }, false));
    assert_eq!(alarm.raised_after_windows, 3);
    assert!((alarm.worst - 1.3).abs() < 0.03, "{alarm:?}");
    assert_eq!(
        session.states(0)[19..24],
        [WindowState::Usual, WindowState::Unusual, WindowState::Unusual, WindowState::Alarm, WindowState::Alarm]
    );
}

#[test]
fn a_slight_growth_must_last_before_it_is_believed_and_an_alarm_does_not_come_and_go_around_a_limit() {
    let mut session = Session::new();
    session.run(20, &[]).run(10, &[(PRIMARY, 1.10)]);
    let raised: Vec<usize> = (0..session.results.len()).filter(|at| session.results[*at].raised).collect();
    assert!(matches!(raised[..], [at] if at > 22), "{raised:?}");
    assert_eq!(session.said().alarms[0].window.from, ms(20_000), "all of it speaks");
    session.run(20, &[(PRIMARY, 1.055)]);
    assert_eq!((session.said().alarms.len(), session.said().alarms[0].active), (1, true));
    // A machine that is back to usual is still noisy.
    for at in 0..8 {
        session.window(&[(PRIMARY, if at % 4 == 1 { 1.08 } else { 1.0 })]);
    }
    assert!(!session.said().alarms[0].active);
}

#[test]
fn a_clear_but_slight_growth_raises_nothing() {
    let mut session = Session::new();
    let tight = |mut levels: Levels| {
        for expected in levels.levels.iter_mut().flat_map(|level| &mut level.expected) {
            (expected.within, expected.run) = (expected.within / 50.0, expected.run / 50.0);
        }
        levels
    };
    session.assessor = Assessor::new(tight(levels(&USUAL, LoadAxis::OpsPerSecond)), facts(), Settings::default());
    session.run(30, &[(PRIMARY, 1.03)]);
    assert!(session.said().alarms.is_empty());
}

#[test]
fn unusual_windows_that_raise_nothing_are_told_with_their_reason_their_evidence_and_their_suspects() {
    let mut session = Session::new();
    session.process("hog", |at| (if (40..69).contains(&at) { 1.5 } else { 0.0 }, 0.0, 0));
    // Windows of this baseline lay far out now and then, and each resembles the ones before it.
    let mut rough = levels(&USUAL, LoadAxis::OpsPerSecond);
    for expected in rough.levels.iter_mut().flat_map(|level| &mut level.expected) {
        if expected.quantity.id == MetricId::RunQueueDelay {
            (expected.within, expected.dependence, expected.furthest.1) = (0.03, 20.0, 6.0);
        }
    }
    session.assessor = Assessor::new(rough, facts(), Settings::default());
    session.run(40, &[]).run(2, &[(MetricId::RunQueueDelay, 0.36)]);
    assert_eq!(session.said().diagnosis.unusual, None, "two windows say nothing");
    session.run(27, &[(MetricId::RunQueueDelay, 0.36)]);
    let said = session.said();
    assert!(said.alarms.is_empty() && said.diagnosis.state == WindowState::Unusual, "{said:?}");
    let period = said.diagnosis.unusual.unwrap();
    assert_eq!((period.window, period.windows), (Window { from: ms(40_000), to: ms(69_000) }, 29));
    assert_eq!(period.no_alarm, NoAlarm::MayBeChance);
    assert_eq!(said.diagnosis.evidence[0].cause, Cause::RunQueue);
    assert_eq!(said.diagnosis.suspects[0].name, "hog");
    assert_eq!(said.diagnosis.most_unusual().map(|it| it.quantity.id), Some(MetricId::RunQueueDelay));
    // Once it is over, a session says nothing of it, and the report of a whole recording does.
    session.run(10, &[]);
    assert!(session.said().diagnosis.unusual.is_none() && session.said().diagnosis.suspects.is_empty());
    let whole = session.assessor.final_assessment().diagnosis;
    assert_eq!((whole.unusual.map(|it| it.windows), whole.suspects[0].name.as_str()), (Some(29), "hog"));
}

#[test]
fn what_becomes_an_alarm_is_not_told_as_unusual_as_well() {
    let mut session = Session::new();
    session.run(20, &[]).run(10, &[(PRIMARY, 1.3)]).run(10, &[]);
    let whole = session.assessor.final_assessment();
    assert!(whole.alarms.len() == 1 && whole.diagnosis.unusual.is_none(), "{whole:?}");
}

#[test]
fn another_load_raises_nothing_whether_it_is_known_or_not() {
    let mut session = Session::new();
    let twice = [(RATE, 2.0), (WITHOUT_OPERATIONS, 2.0), (MetricId::Utilisation, 0.99)];
    session.run(10, &[]).run(10, &twice);
    assert!(session.states(10).iter().all(|state| *state == WindowState::Usual), "{:?}", session.states(10));
    // Costlier operations at an unknown load are not judged; nor are half as many.
    session.run(10, &[(RATE, 4.0), (WITHOUT_OPERATIONS, 6.0), (PRIMARY, 1.5)]);
    session.run(10, &[(RATE, 0.6), (WITHOUT_OPERATIONS, 0.6), (MetricId::Utilisation, 0.3)]);
    assert!(session.states(20).iter().all(|state| *state == WindowState::UnknownLoad), "{:?}", session.states(20));
    assert!(session.said().alarms.is_empty());
}

#[test]
fn what_costs_no_more_under_an_unknown_load_is_told_as_a_clue_only() {
    let mut session = Session::counted();
    session.run(10, &[(RATE, 4.0), (WITHOUT_OPERATIONS, 4.0), (MetricId::PathLength, 1.5)]);
    let said = session.said();
    assert!(said.alarms.is_empty() && said.diagnosis.state == WindowState::UnknownLoad);
    assert!(
        said.diagnosis.unknown[0].contains("instructions per operation at this unknown load"),
        "{:?}",
        said.diagnosis.unknown
    );
}

#[test]
fn an_idle_target_is_not_judged_unless_it_wants_to_run() {
    let mut session = Session::new();
    session.run(10, &[(WITHOUT_OPERATIONS, 0.2), (RATE, 0.2), (MetricId::Utilisation, 0.1), (PRIMARY, 3.0)]);
    assert!(session.states(0).iter().all(|state| *state == WindowState::Idle));
}

#[test]
fn a_program_that_takes_all_it_can_is_judged_when_others_keep_it_from_running() {
    // Alone it keeps one CPU busy; then it gets half of it and waits for the rest.
    let usual = [
        (PRIMARY, 5e5),
        (RATE, 2000.0),
        (WITHOUT_OPERATIONS, 1.0),
        (MetricId::Utilisation, 0.99),
        (MetricId::RunQueueDelay, 0.005),
    ];
    for axis in [LoadAxis::BusyCores, LoadAxis::OpsPerSecond] {
        let mut session = Session::of(&usual, axis);
        let half =
            [(RATE, 0.5), (WITHOUT_OPERATIONS, 0.5), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.49)];
        session.run(20, &[]).run(6, &half);
        assert_eq!(session.said().alarms.len(), 1, "{axis:?} {:?}", session.states(20));
        assert_eq!(session.verdict().0, Cause::RunQueue);
    }
}

#[test]
fn a_few_slow_windows_in_the_baseline_do_not_hide_what_slows_the_program_now() {
    for axis in [LoadAxis::BusyCores, LoadAxis::OpsPerSecond] {
        let mut session = Session::new();
        let mut thin = levels(&USUAL, axis);
        let first = thin.levels[0].clone();
        thin.levels.insert(0, Level { from: first.from * 0.5, to: first.to * 0.5, windows: 3, ..first });
        session.assessor = Assessor::new(thin, facts(), Settings::default());
        let half =
            [(RATE, 0.5), (WITHOUT_OPERATIONS, 0.5), (MetricId::Utilisation, 0.25), (MetricId::RunQueueDelay, 0.26)];
        session.run(20, &[]).run(6, &half);
        assert_eq!(session.said().alarms.len(), 1, "{axis:?} {:?}", session.states(20));
    }
}

#[test]
fn an_alarm_outlasts_a_usual_window_and_ends_where_nothing_can_be_judged_for_long() {
    let mut session = Session::new();
    session.run(20, &[]).run(5, &[(PRIMARY, 1.3)]).run(1, &[]).run(5, &[(PRIMARY, 1.3)]);
    assert_eq!((session.said().alarms.len(), session.said().diagnosis.state), (1, WindowState::Alarm));
    session.run(22, &[(RATE, 9.0)]);
    let said = session.said();
    assert_eq!((said.alarms[0].active, said.diagnosis.state), (false, WindowState::UnknownLoad));
    assert_eq!(said.alarms[0].window.to, ms(31_000), "its last unusual window ended it");
    assert!(said.diagnosis.evidence.is_empty() && !session.assessor.final_assessment().diagnosis.evidence.is_empty());
}

#[test]
fn nothing_and_numbers_that_are_none_are_survived() {
    let mut session = Session::new();
    assert_eq!(session.said().diagnosis.state, WindowState::Waiting);
    for by in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300] {
        session.run(4, &[(PRIMARY, by), (RATE, by), (MetricId::Utilisation, by), (MetricId::RunQueueDelay, by)]);
    }
    let empty = Levels { levels: vec![], ..levels(&USUAL, LoadAxis::BusyCores) };
    session.assessor = Assessor::new(empty, facts(), Settings::default());
    session.run(4, &[]);
    assert_eq!(session.said().diagnosis.state, WindowState::UnknownLoad);
}

#[test]
fn a_program_that_gets_nothing_done_is_not_idle_and_not_over_its_trouble() {
    let mut session = Session::new();
    session.run(20, &[]).run(6, &[(PRIMARY, 1.4)]).run(30, &[(RATE, 0.0)]);
    let said = session.said();
    assert_eq!((said.alarms[0].active, session.states(55)[0]), (true, WindowState::Alarm));
    assert!(said.diagnosis.unknown[0].starts_with("No operation was completed"), "{:?}", said.diagnosis.unknown);
}

#[test]
fn without_operations_what_waits_add_is_what_was_worst() {
    let usual = [(WITHOUT_OPERATIONS, 1.0), (MetricId::Utilisation, 0.99), (MetricId::RunQueueDelay, 0.005)];
    let mut session = Session::of(&usual, LoadAxis::BusyCores);
    session
        .run(20, &[])
        .run(6, &[(WITHOUT_OPERATIONS, 0.5), (MetricId::Utilisation, 0.5), (MetricId::RunQueueDelay, 0.49)]);
    let worst = session.said().alarms[0].worst;
    assert!((1.9..2.05).contains(&worst), "{worst}");
}
