//! A report as one value: limits and what they leave out, the selection as it was made, and what could not be measured.

use crate::analysis::testing::{Synthetic, event, ms};
use crate::analysis::{Axis, GroupKey, Selection, SortBy, TimeRange};
use crate::model::profile::Profile;
use crate::model::{MetricId, Scope, TaskChange, TaskState, Unit};
use crate::units::Nanos;
use crate::view::report::{Report, ReportOptions};
use std::collections::BTreeSet;

/// Three processes of two threads each; each thread samples its own function more often than the one before.
fn profile() -> Profile {
    let mut s = Synthetic::new();
    s.meta.events = vec![event("cpu-clock", Unit::Nanos), event("faults", Unit::Count)];
    for (at, tid) in [41, 42, 51, 52, 61, 62].into_iter().enumerate() {
        let pid = tid / 10 * 10 + 1;
        s.task(0, pid, tid, TaskChange::Alive { comm: format!("t{tid}") });
        s.samples(0, tid, &format!("app!main;lib{}!f{at}", at % 2), at as u64 + 1);
    }
    s.reading("task-clock", Scope::Target, 0, 0).reading("task-clock", Scope::Target, 1000, ms(210).0).tick(1000, 1000);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(ms(1000).0);
    profile
}

fn report(options: &ReportOptions) -> Report {
    Report::build(&profile(), options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_limit_shows_the_first_rows_and_counts_the_rest_and_zero_shows_all() {
    for (limit, detail_limit) in [(0, 0), (1, 1), (3, 2), (6, 6), (99, 99)] {
        let options = ReportOptions { limit, detail_limit, ..ReportOptions::default() };
        let found = report(&options);
        let all = |shown: usize, left_out: usize, limit: usize, whole: usize, what: &str| {
            let expected = if limit == 0 { whole } else { limit.min(whole) };
            assert_eq!((shown, left_out), (expected, whole - expected), "{what} with a limit of {limit}");
        };
        // Six leaves and `main`.
        all(found.functions.len(), found.functions_left_out, limit, 7, "functions");
        all(found.threads.len(), found.threads_left_out, detail_limit, 6, "threads");
        all(found.processes.len(), found.processes_left_out, detail_limit, 3, "processes");
    }
}

#[test]
fn rows_come_in_the_order_that_was_asked_for() {
    let names = |sort| {
        let options = ReportOptions { sort, limit: 0, ..ReportOptions::default() };
        report(&options).functions.iter().map(|row| row.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(SortBy::SelfWeight), ["f5", "f4", "f3", "f2", "f1", "f0", "main"]);
    assert_eq!(names(SortBy::TotalWeight)[0], "main", "all of it passes through main");
    assert_eq!(names(SortBy::Name), ["f0", "f1", "f2", "f3", "f4", "f5", "main"]);
}

#[test]
fn groups_are_there_only_where_functions_are_not_asked_for_and_hold_all_samples() {
    assert!(report(&ReportOptions::default()).groups.is_none());
    for (by, name, rows) in
        [(GroupKey::Module, "module", 3), (GroupKey::Thread, "thread", 6), (GroupKey::Process, "process", 1)]
    {
        let options = ReportOptions { by: vec![by], limit: 0, ..ReportOptions::default() };
        let groups = report(&options).groups.unwrap_or_else(|| panic!("{name}"));
        assert_eq!((groups.by.as_str(), groups.left_out), (name, 0));
        assert_eq!(groups.rows.iter().map(|row| row.self_samples).sum::<u64>(), 21, "{name}");
        assert_eq!(groups.rows.len(), rows, "{name}: {:?}", groups.rows);
    }
}

#[test]
fn the_selection_is_shown_as_it_was_made_and_ends_where_the_recording_does() {
    let time = |from: u64, to: Option<u64>| TimeRange { from: ms(from), to: to.map(ms) };
    for (case, time, from_s, to_s) in [
        ("all of it", time(0, None), 0.0, 1.0),
        ("a part", time(250, Some(750)), 0.25, 0.75),
        ("beyond the end", time(250, Some(99_000)), 0.25, 1.0),
        ("after the end", time(5000, Some(6000)), 5.0, 5.0),
    ] {
        let selection = Selection { time, ..Selection::default() };
        let found = report(&ReportOptions { selection, ..ReportOptions::default() }).selection;
        assert_eq!((found.from_s, found.to_s), (from_s, to_s), "{case}");
        assert!(found.metrics_from_s <= found.metrics_to_s, "{case}");
    }
    let selection = Selection {
        tids: vec![42, 41],
        comms: vec!["t5*".into()],
        pids: vec![41],
        axis: Axis::Event(1),
        ..Selection::default()
    };
    let found = report(&ReportOptions { selection, ..ReportOptions::default() }).selection;
    assert_eq!((found.threads, found.pids), (vec!["42".to_string(), "41".into(), "t5*".into()], vec![41]));
    assert_eq!((found.event.as_str(), found.unit), ("faults", "count"));
}

#[test]
fn each_sampled_event_has_a_row_even_without_a_sample() {
    let found = report(&ReportOptions::default());
    let rows: Vec<_> = found.events.iter().map(|row| (row.name.as_str(), row.samples)).collect();
    assert_eq!(rows, [("cpu-clock", 21), ("faults", 0)]);
    assert!(found.events.iter().all(|row| row.coverage.is_none()), "a share that was not recorded is not 1");
}

#[test]
fn waits_are_absent_unless_they_were_asked_for_or_are_there() {
    assert!(report(&ReportOptions::default()).off_cpu.is_none());
    let mut asked = profile();
    asked.meta.plan.off_cpu = true;
    let build =
        |profile: &Profile| Report::build(profile, &ReportOptions::default()).ok().and_then(|found| found.off_cpu);
    assert!(build(&asked).is_some(), "asked for, and there was none");
    let mut s = Synthetic::new();
    s.off_cpu(0, 41, TaskState::Sleeping, 5, None, "app!main");
    assert!(build(&s.finish()).is_some(), "an import may hold them unasked");
}

#[test]
fn every_missing_metric_is_named_once_under_its_reason() {
    let found = report(&ReportOptions::default());
    let missing = found.missing();
    let reasons: BTreeSet<&String> = missing.iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons.len(), missing.len(), "a reason stands twice: {missing:?}");
    let names: Vec<&String> = missing.iter().flat_map(|(_, names)| names).collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a metric stands twice: {names:?}");
    assert!(missing.iter().all(|(reason, names)| !reason.is_empty() && !names.is_empty()), "{missing:?}");
    for (metric, is_missing) in
        [(MetricId::CpuTime, false), (MetricId::CpuUtilisation, false), (MetricId::Cycles, true)]
    {
        let value = found.metric(metric).unwrap_or_else(|| panic!("{metric:?}")).value.value();
        assert_eq!(value.is_none(), is_missing, "{metric:?}");
        assert!(is_missing || !names.contains(&&metric.name().to_string()), "{metric:?} was measured");
    }
    let of_operations =
        missing.iter().filter(|(_, names)| names.iter().any(|name| name == "operations and what one costs"));
    assert_eq!(of_operations.count(), 1, "without operations their costs are one entry");
    assert!(!names.iter().any(|name| name.ends_with("_per_op")), "{names:?}");
}

#[test]
fn a_report_of_no_time_at_all_divides_by_nothing() {
    let mut empty = profile();
    (empty.meta.duration_ns, empty.ticks) = (Some(0), vec![]);
    let found = Report::build(&empty, &ReportOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((found.duration_s, found.selection.to_s), (0.0, 0.0));
    let text = format!("{found:?}");
    assert!(!text.contains("NaN") && !text.contains("inf,"), "{text}");
    let whole = Selection { time: TimeRange { from: Nanos(0), to: Some(Nanos(u64::MAX)) }, ..Selection::default() };
    assert!(Report::build(&empty, &ReportOptions { selection: whole, ..ReportOptions::default() }).is_ok());
}
