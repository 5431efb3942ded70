//! What a watch writes for machines: gauges read back by the rules of OpenMetrics, and lines of a log, whatever the
//! names and the numbers are.

use super::*;
use crate::analysis::attribution::{Cause, WindowState};
use crate::analysis::diff::Quantity;
use crate::export::openmetrics::page;
use crate::export::watch::{json, text};
use crate::model::{MetricId, NeighbourKind};
use crate::view::tests::odd::hostile;
use crate::view::watch::{
    CommandResult, End, Gauges, Line, LoadAxis, Message, Moment, QuantityDeviation, Recorded, RecordedPeriod, Suspect,
    WatchEvent,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A sample: the labels in order and the value.
type Series = (Vec<(String, String)>, f64);

/// The families of a page: name, type and samples by their full name.
///
/// # Panics
/// If the page breaks a rule of OpenMetrics 1.0.
fn families(bytes: Vec<u8>) -> BTreeMap<String, (String, Vec<(String, Series)>)> {
    let text = String::from_utf8(bytes).unwrap();
    let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
    let (mut all, mut family) = (BTreeMap::new(), String::new());
    for line in body.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            family = name.to_string();
            let before = all.insert(family.clone(), (kind.to_string(), Vec::new()));
            assert!(before.is_none(), "the family {name} is split");
        } else if let Some(unit) = line.strip_prefix("# UNIT ") {
            let (name, unit) = unit.split_once(' ').unwrap();
            assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
        } else if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(help.starts_with(&format!("{family} ")) && help.ends_with('.'), "{line}");
        } else {
            let (name, series) = sample(line);
            let (kind, samples) = all.get_mut(&family).unwrap();
            let suffix = match kind.as_str() {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            assert_eq!(name, format!("{family}{suffix}"), "{line}");
            samples.push((name, series));
        }
    }
    assert!(all.values().all(|(_, samples)| !samples.is_empty()), "a family without a sample: {text}");
    all
}

/// `name{label="value",...} number`.
fn sample(line: &str) -> (String, Series) {
    let (head, value) = line.rsplit_once(' ').unwrap();
    let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    let Some((name, labels)) = head.split_once('{') else { return (head.to_string(), (vec![], value)) };
    let mut chars = labels.strip_suffix('}').unwrap().chars();
    let mut pairs = Vec::new();
    loop {
        let label: String = chars.by_ref().take_while(|c| *c != '=').collect();
        assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        assert_eq!(chars.next(), Some('"'), "{line}");
        let mut content = String::new();
        loop {
            match chars.next().unwrap_or_else(|| panic!("a value does not end: {line}")) {
                '"' => break,
                '\\' => content.push(match chars.next() {
                    Some('n') => '\n',
                    Some(c @ ('\\' | '"')) => c,
                    other => panic!("an escape that does not exist: {other:?} in {line}"),
                }),
                c => content.push(c),
            }
        }
        pairs.push((label, content));
        match chars.next() {
            None => return (name.to_string(), (pairs, value)),
            Some(',') => {}
            Some(c) => panic!("{c} after a label: {line}"),
        }
    }
}

fn gauges() -> Gauges {
    Gauges::new("pid 41".into(), "usual.baseline".into(), LoadAxis::OpsPerSecond)
}

fn suspect(name: &str, kind: NeighbourKind, pid: Option<u32>) -> Suspect {
    Suspect {
        kind,
        name: name.to_string(),
        pid,
        cgroup: None,
        score: 0.5,
        above_threshold: true,
        cores: 1.0,
        cores_before: 0.0,
        evidence: vec![],
    }
}

fn deviation(id: MetricId, now: f64, expected: f64) -> QuantityDeviation {
    let (band, deviations, q) = ((0.0, expected), 2.0, 0.5);
    let quantity = Quantity::of(id);
    QuantityDeviation { quantity, now, expected, band, deviations, q, windows_outside: 0, moved: false }
}

fn value(page: Vec<u8>, family: &str) -> Option<f64> {
    families(page).get(family).map(|(_, samples)| samples[0].1.1)
}

#[test]
fn hostile_names_stay_within_their_labels_and_no_two_series_are_alike() {
    for name in hostile() {
        let mut gauges = Gauges::new(name.clone(), name.clone(), LoadAxis::BusyCores);
        gauges.tool.clone_from(&name);
        let kinds = [
            NeighbourKind::Process,
            NeighbourKind::Cgroup,
            NeighbourKind::Resctrl,
            NeighbourKind::Rest,
            NeighbourKind::Rest,
        ];
        gauges.suspects = kinds.iter().map(|kind| suspect(&name, *kind, None)).collect();
        gauges.suspects.push(suspect(&format!("{name} "), NeighbourKind::Process, Some(7)));
        let bytes = page(&gauges);
        assert_inert(std::str::from_utf8(&bytes).unwrap(), "a page of metrics");
        let families = families(bytes);
        let (_, watch) = &families["ironlaw_watch"];
        let labels = &watch[0].1.0;
        let shown: String = visible(&name).chars().take(120).collect();
        assert_eq!(labels[0], ("target".to_string(), shown), "{name:.60}");
        let (_, scores) = &families["ironlaw_suspect_score"];
        let distinct: BTreeSet<_> = scores.iter().map(|(_, (labels, _))| labels).collect();
        assert_eq!((distinct.len(), scores.len()), (5, 5), "{name:.60}: one of the two rests is left out");
    }
}

#[test]
fn names_that_are_alike_once_cut_are_one_series() {
    let mut gauges = gauges();
    let long = "x".repeat(120);
    gauges.suspects = ["a", "b"].map(|end| suspect(&format!("{long}{end}"), NeighbourKind::Cgroup, None)).to_vec();
    let families = families(page(&gauges));
    assert_eq!(families["ironlaw_suspect_score"].1.len(), 1);
    assert_eq!(families["ironlaw_suspect_busy_cpus"].1.len(), 1);
}

#[test]
fn a_value_that_is_no_number_is_left_out_with_its_family_and_zero_is_written() {
    for (case, load, expected) in [
        ("not measured", None, None),
        ("nothing to do", Some(0.0), Some(0.0)),
        ("not a number", Some(f64::NAN), None),
        ("without an end", Some(f64::INFINITY), None),
        ("negative without an end", Some(f64::NEG_INFINITY), None),
        ("the largest", Some(f64::MAX), Some(f64::MAX)),
        ("the smallest", Some(f64::MIN_POSITIVE), Some(f64::MIN_POSITIVE)),
    ] {
        let gauges = Gauges { load, ..gauges() };
        assert_eq!(value(page(&gauges), "ironlaw_load_operations_per_second"), expected, "{case}");
    }
    assert_eq!(value(page(&gauges()), "ironlaw_resident_memory_bytes"), None);
    let end =
        Gauges { resident_bytes: Some(u64::MAX), last_window: Some(Moment(u64::MAX)), lost: u64::MAX, ..gauges() };
    assert_eq!(value(page(&end), "ironlaw_resident_memory_bytes"), Some(u64::MAX as f64));
    assert_eq!(value(page(&end), "ironlaw_lost_records"), Some(u64::MAX as f64));
    assert_eq!(value(page(&end), "ironlaw_last_window_timestamp_seconds"), Some(u64::MAX as f64 / 1e9));
}

#[test]
fn every_quantity_that_can_deviate_is_in_the_family_of_its_base_unit() {
    let quantities = crate::analysis::diff::quantities();
    for quantity in quantities {
        let gauges = Gauges { quantities: vec![deviation(quantity.id, 3.0, 2.0)], ..gauges() };
        let families = families(page(&gauges));
        let named = |measure: &str| {
            let prefix = format!("ironlaw_quantity_{measure}");
            let of = families.iter().filter(|(family, _)| family.starts_with(&prefix)).collect::<Vec<_>>();
            assert_eq!(of.len(), 1, "{}: {measure}", quantity.name);
            let (family, (kind, samples)) = of[0];
            assert_eq!(kind, "gauge");
            assert_eq!(samples[0].1.0, [("quantity".to_string(), quantity.name.to_string())]);
            (family.replace(measure, ""), samples[0].1.1)
        };
        let ((now_in, now), (expected_in, expected)) = (named("now"), named("expected"));
        assert_eq!(now_in, expected_in, "{}: both sides are in one unit", quantity.name);
        assert!((now / expected - 1.5).abs() < 1e-9, "{}: {now} and {expected}", quantity.name);
        for (ending, unit) in [("_ns", "seconds"), ("_share", "ratio")] {
            if quantity.name.ends_with(ending) {
                assert!(now_in.ends_with(unit), "{} is in {now_in}", quantity.name);
            }
        }
    }
}

#[test]
fn a_page_before_the_first_window_counts_nothing_and_names_every_state_and_cause() {
    let families = families(page(&gauges()));
    let count = |family: &str| families[family].1.len();
    assert_eq!((count("ironlaw_state"), count("ironlaw_windows")), (WindowState::ALL.len(), WindowState::ALL.len()));
    assert_eq!(count("ironlaw_alarms"), Cause::ALL.len());
    for family in ["ironlaw_windows", "ironlaw_alarms"] {
        assert!(families[family].1.iter().all(|(_, (_, value))| *value == 0.0), "{family}");
    }
    let on: Vec<_> = families["ironlaw_state"].1.iter().filter(|(_, (_, value))| *value == 1.0).collect();
    assert_eq!(on.len(), 1, "one state at a time: {on:?}");
    for absent in ["ironlaw_suspect_score", "ironlaw_quantity_deviations", "ironlaw_slowdown_ratio"] {
        assert!(!families.contains_key(absent), "{absent}");
    }
}

#[test]
fn counting_windows_and_alarms_adds_up_by_state_and_by_cause() {
    let mut gauges = gauges();
    for (at, state) in WindowState::ALL.into_iter().enumerate() {
        (0..=at).for_each(|_| gauges.count_window(state));
    }
    for cause in [Cause::Llc, Cause::Llc, Cause::Steal] {
        gauges.count_alarm(cause);
    }
    let states = WindowState::ALL.len() as u64;
    assert_eq!((gauges.all_windows(), gauges.all_alarms()), (states * (states + 1) / 2, 3));
    let families = families(page(&gauges));
    let of = |family: &str, label: &str| {
        let samples = &families[family].1;
        samples.iter().find(|(_, (labels, _))| labels[0].1 == label).map(|(_, (_, value))| *value)
    };
    for (at, state) in WindowState::ALL.into_iter().enumerate() {
        assert_eq!(of("ironlaw_windows", state.name()), Some(at as f64 + 1.0), "{}", state.name());
    }
    assert_eq!(of("ironlaw_alarms", Cause::Llc.name()), Some(2.0));
    assert_eq!(of("ironlaw_alarms", Cause::Frequency.name()), Some(0.0));
}

/// Events whose texts come from outside, with this name in each.
fn events(name: &str) -> Vec<WatchEvent> {
    let message = || Message { text: name.to_string(), fix: Some(name.to_string()) };
    let recorded = |period, removed: usize| {
        WatchEvent::Recorded(Recorded { path: name.into(), period, bytes: 0, removed: vec![name.into(); removed] })
    };
    vec![
        WatchEvent::Note(message()),
        WatchEvent::Error(message()),
        recorded(RecordedPeriod::BeforeAlarm, 0),
        recorded(RecordedPeriod::Alarm, 2),
        WatchEvent::End(End { reason: name.to_string(), windows: 0, alarms: 1, lost: 0 }),
    ]
}

#[test]
fn an_event_is_one_line_in_both_forms_whatever_its_texts_are() {
    for name in hostile() {
        for event in events(&name) {
            let line = Line { time: Moment(0), event };
            let shown = String::from_utf8(text(&line)).unwrap();
            assert_eq!(shown.matches('\n').count(), 1, "{shown}");
            assert!(shown.starts_with("1970-01-01T00:00:00.000Z "), "{shown}");
            assert_inert(&shown, "a line of a watch");
            let bytes = json(&line).unwrap();
            assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1, "{name:.60}");
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            let texts = [&value["text"], &value["reason"], &value["path"]];
            assert!(texts.iter().any(|text| text.as_str() == Some(&name)), "{value}: the name reads back as it was");
        }
    }
}

#[test]
fn one_is_written_as_one_and_the_largest_numbers_as_numbers() {
    let shown = |event| String::from_utf8(text(&Line { time: Moment(0), event })).unwrap();
    let end = |windows, alarms, lost| shown(WatchEvent::End(End { reason: "over".into(), windows, alarms, lost }));
    for (windows, alarms, lost, expected) in [
        (0, 0, 0, "0 windows, 0 alarms, 0 records lost"),
        (1, 1, 1, "1 window, 1 alarm, 1 record lost"),
        (1_000_000, 2, 1_000, "1,000,000 windows, 2 alarms, 1,000 records lost"),
        (u64::MAX, 2, 0, "18,446,744,073,709,551,615 windows, 2 alarms, 0 records lost"),
    ] {
        assert!(end(windows, alarms, lost).contains(expected), "{}", end(windows, alarms, lost));
    }
    for (period, removed, bytes, expected) in [
        (RecordedPeriod::BeforeAlarm, 0, 0, "recorded the time before the alarm: a.ironlaw (0.0 kB)\n"),
        (
            RecordedPeriod::Alarm,
            1,
            999,
            "recorded a detailed capture of it: a.ironlaw (1.0 kB); removed 1 older recording\n",
        ),
        (RecordedPeriod::Alarm, 2, 1_000_000, "(1000.0 kB); removed 2 older recordings\n"),
    ] {
        let line = shown(WatchEvent::Recorded(Recorded {
            path: "a.ironlaw".into(),
            period,
            bytes,
            removed: vec!["b".into(); removed],
        }));
        assert!(line.ends_with(expected), "{line}");
    }
    for (status, seconds, timed_out, expected) in [
        (0, 0.0, false, "status 0 after 0 s\n"),
        (255, 1.5, false, "status 255 after 1.50 s\n"),
        (143, 60.0, true, "status 143 after 60.0 s (timed out)\n"),
    ] {
        let line = shown(WatchEvent::Command(CommandResult { status, seconds, timed_out }));
        assert!(line.ends_with(expected), "{line}");
    }
    assert!(
        shown(WatchEvent::Note(Message::plain("x"))).ends_with(" note: x\n"),
        "without a remedy nothing is in brackets"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_names_and_numbers_make_a_valid_page(
        names in proptest::collection::vec(any::<String>(), 3..8),
        numbers in proptest::collection::vec(any::<f64>(), 6),
    ) {
        let mut gauges = Gauges::new(names[0].clone(), names[1].clone(), LoadAxis::OpsPerSecond);
        gauges.load = Some(numbers[0]);
        gauges.ratio = Some(numbers[1]);
        gauges.cpu_seconds = numbers[2].abs();
        gauges.quantities = vec![deviation(MetricId::Cpi, numbers[3], numbers[4])];
        gauges.suspects = names.iter().map(|name| Suspect { score: numbers[5], ..suspect(name, NeighbourKind::Process, None) }).collect();
        let families = families(page(&gauges));
        let all = families.values().flat_map(|(_, samples)| samples);
        prop_assert!(all.into_iter().all(|(_, (_, value))| value.is_finite()));
        prop_assert_eq!(families.contains_key("ironlaw_slowdown_ratio"), numbers[1].is_finite());
    }
}
