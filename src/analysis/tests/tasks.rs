//! Threads and processes: who is selected, how long each lived, and what is missing where a thread was not read.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::analysis::testing::{Synthetic, event, ms};
use crate::analysis::{
    Axis, Counters, Selection, StackCounts, Tasks, ThreadRow, ThreadSet, TimeRange, Window, processes, threads,
};
use crate::error::ErrorKind;
use crate::model::profile::Profile;
use crate::model::{Measure, Scope, TaskChange, TaskState, Unit, Why};
use crate::units::Nanos;

fn born(comm: &str) -> TaskChange {
    TaskChange::Born { parent: 41, comm: comm.to_string() }
}

fn window(from: u64, to: u64) -> Window {
    Window { from: ms(from), to: ms(to) }
}

fn rows(profile: &Profile, selection: &Selection, window: Window) -> Vec<ThreadRow> {
    let tasks = Tasks::of(profile);
    threads(&tasks, &Counters::of(profile), &StackCounts::of(profile, &tasks, selection), window)
}

fn tids(rows: &[ThreadRow]) -> Vec<u32> {
    rows.iter().map(|row| row.task.tid).collect()
}

#[test]
fn a_task_has_its_last_name_and_the_lifetime_that_was_reported() {
    let mut s = Synthetic::new();
    s.alive(41, "main")
        .task(10, 41, 42, born("early"))
        .task(20, 41, 42, TaskChange::Renamed { comm: "renamed".into(), exec: false })
        .task(30, 41, 42, TaskChange::Ended)
        .task(40, 41, 43, TaskChange::Ended)
        .task(50, 41, 44, born("late"))
        .off_cpu(60, 45, TaskState::Sleeping, 1, None, "app!main");
    let tasks = Tasks::of(&s.finish());
    for (case, tid, comm, born, ended, lifetime) in [
        ("alive before and after", 41, "main", None, None, 100),
        ("born and ended", 42, "renamed", Some(ms(10)), Some(ms(30)), 20),
        ("ended, and never named", 43, "", None, Some(ms(40)), 40),
        ("born, and still alive", 44, "late", Some(ms(50)), None, 50),
        ("seen by a wait alone", 45, "", None, None, 100),
    ] {
        let task = tasks.get(tid).unwrap();
        assert_eq!((task.comm.as_str(), task.born, task.ended), (comm, born, ended), "{case}");
        assert_eq!(task.lifetime(ms(100)), ms(lifetime), "{case}");
    }
    assert_eq!((tasks.process_name(41), tasks.process_name(99)), ("main", ""));
    assert_eq!(tasks.iter().map(|task| task.tid).collect::<Vec<_>>(), [41, 42, 43, 44, 45], "by id");
}

#[test]
fn an_end_before_a_birth_is_no_lifetime_and_no_huge_one() {
    let mut s = Synthetic::new();
    s.task(50, 41, 42, born("x")).task(10, 41, 42, TaskChange::Ended);
    let tasks = Tasks::of(&s.finish());
    assert_eq!(tasks.get(42).unwrap().lifetime(ms(100)), Nanos(0), "records of a damaged file may be out of order");
    assert_eq!(tasks.get(42).unwrap().lifetime(Nanos(0)), Nanos(0));
}

#[test]
fn names_and_ids_select_threads_and_processes_restrict_them() {
    let mut s = Synthetic::new();
    s.alive(41, "main").alive(42, "io-1").task(0, 90, 90, TaskChange::Alive { comm: "io-2".into() });
    s.alive(43, "");
    let tasks = Tasks::of(&s.finish());
    let only = |tids: &[u32]| ThreadSet::Only(tids.iter().copied().collect());
    for (case, tids, comms, pids, expected) in [
        ("nothing is all", &[][..], &[][..], &[][..], ThreadSet::All),
        ("one process", &[], &[], &[41], only(&[41, 42, 43])),
        ("two processes", &[], &[], &[41, 90], only(&[41, 42, 43, 90])),
        ("a process that is not there", &[], &[], &[7], only(&[])),
        ("a name in any process", &[], &["io-*"], &[], only(&[42, 90])),
        ("a name in one process", &[], &["io-*"], &[90], only(&[90])),
        ("the empty name", &[], &[""], &[], only(&[43])),
        ("any name, the empty one too", &[], &["*"], &[], only(&[41, 42, 43, 90])),
        ("stars alone", &[], &["**"], &[41], only(&[41, 42, 43])),
        ("capitals are other letters", &[], &["IO-*"], &[], only(&[])),
        ("an id or a name", &[41], &["io-2"], &[], only(&[41, 90])),
        ("an id of another process", &[90], &[], &[41], only(&[])),
        ("an id twice", &[42, 42], &[], &[], only(&[42])),
        ("an id that is not there", &[u32::MAX], &[], &[], only(&[])),
    ] {
        let comms = comms.iter().map(ToString::to_string).collect();
        let selection = Selection { tids: tids.to_vec(), comms, pids: pids.to_vec(), ..Selection::default() };
        assert_eq!(selection.who(&tasks), expected, "{case}");
    }
}

#[test]
fn a_selection_that_nothing_can_match_is_refused_with_the_way_out() {
    let mut s = Synthetic::new();
    s.meta.events =
        vec![event("cycles:u", Unit::Cycles), event("cycles", Unit::Cycles), event("faults:k", Unit::Count)];
    s.alive(41, "main").samples(0, 41, "app!main", 1);
    let profile = s.finish();
    let tasks = Tasks::of(&profile);
    for (case, selection, kind, message, remedy) in [
        (
            "an event number beyond the last",
            Selection { axis: Axis::Event(3), ..Selection::default() },
            ErrorKind::NotFound,
            "no event number 3",
            None,
        ),
        (
            "waits that were not recorded",
            Selection { axis: Axis::OffCpu, ..Selection::default() },
            ErrorKind::Unsupported,
            "no time off the CPU",
            Some("--off-cpu"),
        ),
        (
            "a thread that is not there",
            Selection { comms: vec!["worker".into()], ..Selection::default() },
            ErrorKind::NotFound,
            "no thread of the recording is selected",
            Some("without a selection"),
        ),
    ] {
        let error = selection.check(&profile, &tasks).unwrap_err();
        assert_eq!(error.kind(), kind, "{case}");
        assert!(error.to_string().contains(message), "{case}: {error}");
        assert!(remedy.is_none_or(|part| error.remedy().unwrap_or("").contains(part)), "{case}: {:?}", error.remedy());
    }
    assert!(Selection { axis: Axis::Event(2), ..Selection::default() }.check(&profile, &tasks).is_ok());
    for (name, axis) in [("cycles", 1), ("cycles:u", 0), ("faults", 2), ("faults:k", 2)] {
        assert_eq!(Selection::event(&profile, name).unwrap(), Axis::Event(axis), "{name}: the exact name comes first");
    }
    for name in ["", "cycle", "cycles:k", "faults:u", "CYCLES"] {
        let error = Selection::event(&profile, name).unwrap_err();
        assert!(error.to_string().contains(&format!("'{name}'")), "{error}");
        assert_eq!(error.remedy(), Some("It has: cycles:u, cycles, faults:k."));
    }
}

#[test]
fn threads_come_by_cpu_time_then_by_samples_then_by_id() {
    let mut s = Synthetic::new();
    for tid in [41, 42, 43, 44, 45] {
        s.alive(tid, "t");
    }
    for (tid, cpu_ms) in [(41, 100), (42, 300), (43, 100)] {
        s.reading("task-clock", Scope::Thread(tid), 1000, ms(cpu_ms).0);
    }
    s.samples(0, 43, "a!b", 2).samples(0, 45, "a!b", 5);
    let profile = s.finish();
    assert_eq!(tids(&rows(&profile, &Selection::default(), window(0, 1000))), [42, 43, 41, 45, 44]);
    let some = Selection { tids: vec![41, 44], ..Selection::default() };
    assert_eq!(tids(&rows(&profile, &some, window(0, 1000))), [41, 44], "only the selected ones");
}

#[test]
fn what_was_not_counted_of_a_thread_is_missing_and_what_was_zero_is_zero() {
    let mut s = Synthetic::new();
    s.alive(41, "main").alive(42, "other");
    for (name, value) in
        [("task-clock", 0), ("run-delay", ms(250).0), ("voluntary-switches", 7), ("cycles", 0), ("instructions", 5)]
    {
        s.reading(name, Scope::Thread(41), 1000, value);
    }
    let profile = s.finish();
    let rows = rows(&profile, &Selection::default(), window(0, 1000));
    let [read, unread] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((read.task.tid, unread.task.tid), (41, 42));
    assert_eq!((read.cpu_time, read.utilisation()), (Measure::exact(0.0), Measure::exact(0.0)));
    assert_eq!((read.run_delay, read.queued()), (Measure::exact(0.25), Measure::exact(0.25)));
    assert_eq!((read.voluntary, read.migrations), (Measure::exact(7.0), Measure::Missing(Why::NotRecorded)));
    assert_eq!(read.ipc, Measure::Missing(Why::Idle), "instructions without a cycle are no rate");
    for value in [unread.cpu_time, unread.run_delay, unread.utilisation(), unread.queued(), unread.ipc] {
        assert!(matches!(value, Measure::Missing(Why::TargetGone)), "{value:?}");
    }
}

#[test]
fn a_lifetime_within_a_window_is_what_births_and_ends_leave_of_it() {
    let mut s = Synthetic::new();
    s.alive(41, "main").task(200, 41, 42, born("x")).task(700, 41, 42, TaskChange::Ended);
    s.task(900, 41, 43, born("y"));
    let profile = s.finish();
    for (from, to, expected) in [
        (0, 1000, vec![(41, 1000), (42, 500), (43, 100)]),
        (300, 600, vec![(41, 300), (42, 300)]),
        (700, 900, vec![(41, 200)]),
        (950, 2000, vec![(41, 1050), (43, 1050)]),
    ] {
        let rows = rows(&profile, &Selection::default(), window(from, to));
        let mut found: Vec<_> = rows.iter().map(|row| (row.task.tid, row.lifetime)).collect();
        found.sort_unstable_by_key(|(tid, _)| *tid);
        let expected: Vec<_> = expected.into_iter().map(|(tid, length)| (tid, ms(length))).collect();
        assert_eq!(found, expected, "{from} to {to}");
    }
}

#[test]
fn a_process_sums_the_threads_that_were_read_and_is_missing_only_if_none_was() {
    let mut s = Synthetic::new();
    s.alive(41, "main").alive(42, "a").alive(43, "b");
    s.task(0, 90, 90, TaskChange::Alive { comm: "other".into() }).task(
        0,
        90,
        91,
        TaskChange::Alive { comm: "z".into() },
    );
    for (tid, cpu_ms) in [(42, 200), (43, 300)] {
        s.reading("task-clock", Scope::Thread(tid), 1000, ms(cpu_ms).0);
    }
    s.weight = u64::MAX;
    s.samples(0, 42, "a!b", 2);
    let profile = s.finish();
    let (tasks, rows) = (Tasks::of(&profile), rows(&profile, &Selection::default(), window(0, 1000)));
    let all = processes(&tasks, &rows);
    let shown: Vec<_> = all.iter().map(|row| (row.pid, row.comm.as_str(), row.threads, row.samples)).collect();
    assert_eq!(shown, [(41, "main", 3, 2), (90, "other", 2, 0)]);
    assert_eq!(all[0].cpu_time, Measure::exact(0.5));
    assert!(matches!(all[1].cpu_time, Measure::Missing(_)), "{:?}", all[1].cpu_time);
    assert_eq!(all[0].weight, u64::MAX, "weights beyond any capture stay at the largest number");
    assert_eq!(processes(&tasks, &[]), []);
}

#[test]
fn samples_outside_the_selected_time_belong_to_no_thread() {
    let mut s = Synthetic::new();
    s.task(0, 41, 42, born("short")).task(100, 41, 42, TaskChange::Ended);
    s.samples(50, 42, "a!b", 1).samples(500, 41, "a!b", 3);
    let profile = s.finish();
    let time = TimeRange { from: ms(400), to: Some(ms(1000)) };
    let selection = Selection { time, ..Selection::default() };
    let rows = rows(&profile, &selection, window(400, 1000));
    assert_eq!(rows.iter().map(|row| (row.task.tid, row.samples)).collect::<Vec<_>>(), [(41, 3)]);
}
