//! Every view of every odd profile.

use super::odd::odd_profiles;
use crate::analysis::{Axis, GroupBy, GroupKey, Selection, SortBy, TimeRange};
use crate::model::profile::Profile;
use crate::units::Nanos;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::query::{Bounds, CompareWith, Grouping, LineKey, Query, TaskFilter, TimeSelector, ViewRequest};
use crate::view::report::{Report, ReportOptions};
use crate::view::snapshot::snapshot_of_profile;

/// Whether a text has a number that is none, as Rust prints it.
fn has_no_number(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| matches!(word, "NaN" | "inf"))
}

fn requests() -> Vec<ViewRequest> {
    let function = |by| ViewRequest::Functions { by, detail: Some(("main".into(), "app".into())) };
    vec![
        ViewRequest::Overview,
        ViewRequest::Flame { by: Grouping::Plain, against_baseline: false },
        ViewRequest::Flame { by: Grouping::Threads, against_baseline: false },
        ViewRequest::Flame { by: Grouping::Plain, against_baseline: true },
        function(GroupBy::Function),
        function(GroupBy::Module),
        function(GroupBy::Thread),
        function(GroupBy::Process),
        ViewRequest::Functions { by: GroupBy::Function, detail: None },
        ViewRequest::Threads { by: LineKey::Thread, detail: None },
        ViewRequest::Threads { by: LineKey::Thread, detail: Some(41) },
        ViewRequest::Counters,
        ViewRequest::Findings,
        ViewRequest::Scaling,
        ViewRequest::Baseline,
    ]
}

fn bounds(profile: &Profile) -> Bounds {
    Bounds { since: Nanos(0), now: profile.duration() }
}

#[test]
fn every_view_of_every_odd_profile_is_made_of_numbers() {
    for (name, profile) in odd_profiles() {
        for time in
            [TimeSelector::All, TimeSelector::Last(Nanos(5_000_000_000)), TimeSelector::Between(Nanos(0), Nanos(1))]
        {
            for request in requests() {
                let (filter, compare_with) = (TaskFilter::default(), CompareWith::Before(Nanos(500_000_000)));
                let axis = Axis::Event(0);
                let query = Query {
                    time,
                    end: None,
                    filter,
                    axis,
                    compare_with,
                    point: None,
                    per: None,
                    request: request.clone(),
                };
                let snapshot = snapshot_of_profile(&profile, Some(&profile), None, bounds(&profile), true, query);
                let head = serde_json::to_string(&snapshot.head).unwrap_or_default();
                assert!(!head.is_empty(), "{name}: the head of {request:?} cannot be written");
                let shown = format!("{:?}", snapshot.body);
                assert!(!has_no_number(&shown), "{name}: {request:?} at {time:?} holds a number that is none: {shown}");
            }
        }
    }
}

#[test]
fn waits_and_unknown_threads_of_every_odd_profile_are_shown_or_refused_with_a_reason() {
    for (name, profile) in odd_profiles() {
        for (axis, filter) in [
            (Axis::OffCpu, TaskFilter::default()),
            (Axis::Event(7), TaskFilter::default()),
            (Axis::Event(0), TaskFilter { tids: vec![9_999_999], ..TaskFilter::default() }),
        ] {
            for request in requests() {
                let (time, compare_with) = (TimeSelector::All, CompareWith::Nothing);
                let query = Query {
                    time,
                    end: None,
                    filter: filter.clone(),
                    axis,
                    compare_with,
                    point: None,
                    per: None,
                    request,
                };
                let snapshot = snapshot_of_profile(&profile, None, None, bounds(&profile), false, query);
                match snapshot.body {
                    Ok(body) => assert!(!has_no_number(&format!("{body:?}")), "{name}"),
                    Err(error) => assert!(!error.to_string().is_empty(), "{name}"),
                }
            }
        }
    }
}

#[test]
fn a_report_of_every_odd_profile_has_shares_between_zero_and_one() {
    for (name, profile) in odd_profiles() {
        for by in [
            &[GroupKey::Function][..],
            &[GroupKey::Module],
            &[GroupKey::Thread],
            &[GroupKey::Process],
            &[GroupKey::Comm, GroupKey::Cpu],
            &[GroupKey::Process, GroupKey::Module, GroupKey::Function],
        ] {
            for sort in [SortBy::SelfWeight, SortBy::TotalWeight, SortBy::Samples, SortBy::Name] {
                let options = ReportOptions { by: by.to_vec(), sort, limit: 0, ..ReportOptions::default() };
                let Ok(report) = Report::build(&profile, &options) else { panic!("{name}: no report") };
                let rows = report.groups.as_ref().map_or(&report.functions, |groups| &groups.rows);
                let mut own = 0.0;
                for row in rows {
                    assert!((0.0..=1.0).contains(&row.self_share), "{name}: {row:?}");
                    assert!((0.0..=1.0 + 1e-9).contains(&row.total_share), "{name}: {row:?}");
                    assert!(row.total_share + 1e-9 >= row.self_share, "{name}: {row:?}");
                    assert!(row.total_samples >= row.self_samples, "{name}: {row:?}");
                    own += row.self_share;
                }
                // Sums of numbers that are too large stay at the largest number.
                let summed = name != "numbers too large";
                assert!(!summed || own <= 1.0 + 1e-6, "{name}: own shares come to {own}");
            }
        }
    }
}

#[test]
fn what_was_not_measured_is_missing_with_a_reason_and_never_zero() {
    for (name, profile) in odd_profiles() {
        if !matches!(name, "nothing at all" | "one sample" | "only losses" | "a sample without a stack") {
            continue;
        }
        let report =
            Report::build(&profile, &ReportOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let whole = serde_json::to_value(&report).unwrap_or_default();
        for metric in ["ipc", "cpi", "frequency", "cpu_time", "ops_per_second", "cpu_ns_per_op", "path_length"] {
            let found = &whole["metrics"][metric];
            let number = found["value"].as_f64().or(found["value"]["value"].as_f64());
            assert_eq!(number, None, "{name}: {metric} was never counted");
        }
        assert!(whole["metrics"]["cpu_time"].is_object(), "{name}: the report names what it lacks");
        let json = serde_json::to_value(&report.metrics).unwrap_or_default();
        for metric in json.as_array().map_or(&[][..], Vec::as_slice) {
            let value = &metric["value"];
            let known = metric.get("value").is_some_and(serde_json::Value::is_number) || value.get("value").is_some();
            let reason = value.get("reason").or(metric.get("reason"));
            assert!(known || reason.is_some_and(|reason| reason != ""), "{name}: no reason for {metric}");
        }
    }
}

#[test]
fn a_flame_graph_of_every_odd_profile_adds_up() {
    for (name, profile) in odd_profiles() {
        for axis in [Axis::Event(0), Axis::OffCpu] {
            let selection = Selection { axis, ..Selection::default() };
            let Ok(flame) = FlameGraph::build(&profile, &FlameOptions { selection, ..FlameOptions::default() }) else {
                continue;
            };
            let sum = flame.stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.value));
            assert_eq!(sum, flame.total, "{name}");
            assert!(flame.stacks.iter().all(|stack| !stack.frames.is_empty()), "{name}");
        }
    }
}

#[test]
fn a_selection_beyond_the_recording_is_empty_and_not_wrong() {
    for (name, profile) in odd_profiles() {
        let time = TimeRange { from: Nanos(u64::MAX / 2), to: Some(Nanos(u64::MAX / 2 + 1)) };
        let selection = Selection { time, ..Selection::default() };
        let report = Report::build(&profile, &ReportOptions { selection, ..ReportOptions::default() });
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((report.samples.count, report.functions.len()), (0, 0), "{name}");
        assert!(report.selection.from_s <= report.selection.to_s, "{name}");
    }
}
