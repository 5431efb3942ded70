//! The conclusions of a comparison with a baseline, sentence by sentence.

use crate::analysis::Window;
use crate::analysis::attribution::{
    Alarm, Assessment, Cause, CauseLocation, Diagnosis, Evidence, NoAlarm, QuantityDeviation, Suspect, UnusualPeriod,
    WindowResult, WindowState,
};
use crate::analysis::baseline::{KeyChange, LoadAxis};
use crate::analysis::diff::{PRIMARY, Quantity, RATE};
use crate::analysis::finding::Confidence;
use crate::model::{MetricId, NeighbourKind};
use crate::units::Nanos;
use crate::view::baseline::verdict::{BaselineSummary, WindowCounts, verdict};

const SECOND: u64 = 1_000_000_000;

/// One window per state, each a second long.
fn assessment(states: &[WindowState]) -> Assessment {
    let result = |(at, state): (usize, &WindowState)| {
        let from = at as u64 * SECOND;
        let window = Window { from: Nanos(from), to: Nanos(from + SECOND) };
        WindowResult {
            window,
            state: *state,
            load: None,
            ratio: None,
            latency_p99: None,
            raised: false,
            cleared: false,
        }
    };
    let diagnosis = Diagnosis {
        state: states.last().copied().unwrap_or(WindowState::Waiting),
        axis: LoadAxis::OpsPerSecond,
        load: None,
        level: None,
        primary: PRIMARY,
        quantities: vec![],
        unusual: None,
        evidence: vec![],
        location: None,
        suspects: vec![],
        unknown: vec![],
    };
    Assessment { diagnosis, alarms: vec![], timeline: states.iter().enumerate().map(result).collect() }
}

fn alarm(from_s: u64, to_s: u64, active: bool) -> Alarm {
    Alarm {
        window: Window { from: Nanos(from_s * SECOND), to: Nanos(to_s * SECOND) },
        raised: Nanos((from_s + 3) * SECOND),
        raised_after_windows: 3,
        active,
        cause: Cause::Llc,
        confidence: Confidence::Medium,
        worst: 1.5,
        suspect: None,
    }
}

fn moved(id: MetricId, now: f64, expected: f64, moved: bool) -> QuantityDeviation {
    let (quantity, band) = (Quantity::of(id), (expected * 0.9, expected * 1.1));
    QuantityDeviation { quantity, now, expected, band, deviations: 9.0, q: 0.001, windows_outside: 3, moved }
}

fn baseline(stale: Vec<KeyChange>) -> BaselineSummary {
    BaselineSummary { sources: 3, windows: 100, known_levels: 1, weaknesses: vec![], stale }
}

fn sentences(assessment: &Assessment) -> Vec<String> {
    verdict(assessment, &WindowCounts::of(assessment), &baseline(vec![]))
}

#[test]
fn without_an_alarm_one_sentence_counts_the_windows_and_names_those_that_were_not_judged() {
    use WindowState::{Idle, UnknownLoad, Unusual, Usual};
    for (states, expected) in [
        (&[][..], "Nothing to judge: the recording contains no complete window."),
        (&[Usual, Usual], "As usual in 2 of 2 windows."),
        (&[Usual, UnknownLoad], "As usual in 1 of 2 windows; 1 was at a load that the baseline does not know."),
        (
            &[UnknownLoad, UnknownLoad, Usual],
            "As usual in 1 of 3 windows; 2 were at a load that the baseline does not know.",
        ),
        (&[Idle, Usual], "As usual in 1 of 2 windows; in 1 the target wanted too little CPU."),
        (
            &[Idle, Idle],
            "Not compared: none of 2 windows can be compared with the baseline; in 2 the target wanted too little CPU.",
        ),
        (
            &[Idle, UnknownLoad],
            "Not compared: none of 2 windows can be compared with the baseline; 1 was at a load that the baseline does \
             not know, in 1 the target wanted too little CPU.",
        ),
        (
            &[Usual, Unusual, Usual],
            "As usual: of 3 windows 3 were compared, 1 of them unusual, but not for long enough.",
        ),
        (
            &[Unusual, Idle],
            "As usual: of 2 windows 1 was compared, 1 of them unusual, but not for long enough; in 1 the target wanted \
             too little CPU.",
        ),
    ] {
        let found = sentences(&assessment(states));
        assert_eq!(found, [expected], "{states:?}");
    }
}

#[test]
fn windows_are_counted_by_state_and_those_of_an_alarm_are_unusual_too() {
    use WindowState::{Alarm, Idle, UnknownLoad, Unusual, Usual};
    let counts = WindowCounts::of(&assessment(&[Usual, Unusual, Alarm, Alarm, UnknownLoad, Idle, Idle]));
    let expected = WindowCounts { all: 7, compared: 4, unusual: 3, in_alarm: 2, unknown_load: 1, idle: 2 };
    assert_eq!(counts, expected);
}

#[test]
fn an_alarm_says_since_when_by_how_much_why_and_where_to_look() {
    let mut slow = assessment(&[WindowState::Alarm]);
    slow.alarms = vec![alarm(2, 9, true)];
    assert_eq!(
        sentences(&slow),
        [
            "Slower than usual from 2.00 s on.",
            "Most probably: more misses of the last-level cache (confidence medium).",
        ],
        "without an explanation there are no numbers"
    );
    slow.diagnosis.location = Some(CauseLocation::Neighbours);
    slow.diagnosis.quantities = vec![
        moved(PRIMARY, 7.5e5, 5e5, true),
        moved(RATE, 800.0, 1000.0, true),
        moved(MetricId::RunQueueDelay, 0.2, 0.01, true),
    ];
    let confidence = Confidence::Medium;
    slow.diagnosis.evidence = vec![Evidence { cause: Cause::Llc, share: Some(1.0), confidence, text: String::new() }];
    slow.diagnosis.suspects = vec![Suspect {
        kind: NeighbourKind::Process,
        name: "batch".into(),
        pid: Some(7),
        cgroup: None,
        score: 0.456,
        above_threshold: true,
        cores: 1.5,
        cores_before: 0.0,
        evidence: vec![],
    }];
    let found = sentences(&slow);
    assert!(found[0].starts_with("Slower than usual from 2.00 s on: "), "{}", found[0]);
    let numbers = ["800/s, usually 1,000/s (-20.0%); ", "750 us, usually 500 us (+50.0%)."];
    assert!(numbers.iter().all(|part| found[0].contains(part)), "{}", found[0]);
    assert!(!found[0].contains("20.0%)."), "the cost of an operation replaces its waits: {}", found[0]);
    assert_eq!(
        found[1..],
        [
            "Most probably: more misses of the last-level cache (100% of the slowdown, confidence medium).",
            "Where to look: neighbours on this machine.",
            "Correlated, not proven: batch 7 (score 0.46), 1.50 CPUs while it was slow, 0 before.",
        ]
    );
}

#[test]
fn the_last_of_several_alarms_is_told_with_its_end() {
    let mut slow = assessment(&[WindowState::Usual]);
    slow.alarms = vec![alarm(1, 2, false), alarm(60, 75, false)];
    assert_eq!(sentences(&slow)[0], "Slower than usual from 60.0 s to 75.0 s, the last of 2 times.");
}

#[test]
fn the_number_beside_the_rate_is_the_cost_or_the_first_wait_that_moved() {
    let first = |quantities: Vec<QuantityDeviation>| {
        let mut slow = assessment(&[WindowState::Alarm]);
        (slow.alarms, slow.diagnosis.location) = (vec![alarm(0, 9, true)], Some(CauseLocation::Unknown));
        slow.diagnosis.quantities = quantities;
        sentences(&slow).remove(0)
    };
    let (steal, queue) = (MetricId::StealShare, MetricId::RunQueueDelay);
    for (case, quantities, expected) in [
        ("nothing moved", vec![moved(PRIMARY, 2.0, 1.0, false)], "on."),
        ("more operations are no slowdown", vec![moved(RATE, 1200.0, 1000.0, true)], "on."),
        ("a wait", vec![moved(steal, 0.2, 0.0, true)], "20.0%, usually 0% (+20.0 points)."),
        (
            "two waits",
            vec![moved(steal, 0.2, 0.0, true), moved(queue, 0.3, 0.1, true)],
            "30.0%, usually 10.0% (+20.0 points).",
        ),
        ("cycles", vec![moved(MetricId::Cpi, 3.0, 1.5, true)], "3.00, usually 1.50 (+100%)."),
    ] {
        let sentence = first(quantities);
        assert!(sentence.ends_with(expected), "{case}: {sentence}");
    }
}

const MISSES: &str = "Most probably: more misses of the last-level cache (confidence medium).";

/// A program that waits for CPUs, and whose operations cost less CPU time than usual.
fn waiting() -> Assessment {
    let mut slow = assessment(&[WindowState::Alarm]);
    let cause = Cause::RunQueue;
    slow.alarms = vec![Alarm { cause, ..alarm(2, 9, true) }];
    slow.diagnosis.location = Some(CauseLocation::Unknown);
    slow.diagnosis.quantities = vec![
        moved(PRIMARY, 36.5e3, 49.4e3, true),
        moved(MetricId::Utilisation, 0.2, 0.25, true),
        moved(MetricId::RunQueueDelay, 0.36, 0.05, true),
    ];
    let (share, confidence, text) = (Some(1.0), Confidence::High, String::new());
    slow.diagnosis.evidence = vec![Evidence { cause, share, confidence, text }];
    slow
}

#[test]
fn the_headline_is_the_quantity_that_rose_whatever_became_cheaper() {
    let slow = waiting();
    let found = sentences(&slow);
    assert_eq!(
        found[..2],
        [
            "Slower than usual from 2.00 s on: waiting for a CPU 36.0%, usually 5.00% (+31.0 points).",
            "Most probably: waiting longer for a CPU (100% of the slowdown, confidence medium).",
        ]
    );
    // Here cheaper operations make up for the wait: 0.74 times the CPU time, 1.1 times as long.
    let mut even = waiting();
    even.diagnosis.quantities[2] = moved(MetricId::RunQueueDelay, 0.07, 0.05, true);
    assert!(even.diagnosis.time_ratio().is_some_and(|ratio| ratio < 1.0), "{:?}", even.diagnosis.time_ratio());
    let first = &sentences(&even)[0];
    assert!(first.starts_with("Waiting longer than usual from 2.00 s on: waiting for a CPU 7.00%"), "{first}");
    // Fewer operations are a slowdown, whatever one costs.
    even.diagnosis.quantities.push(moved(RATE, 800.0, 1000.0, true));
    let first = &sentences(&even)[0];
    assert!(first.starts_with("Slower than usual from 2.00 s on: ") && first.contains("800/s"), "{first}");
}

#[test]
fn unusual_windows_in_a_row_are_told_with_why_they_are_no_alarm_and_who_moved_with_them() {
    let mut long = waiting();
    long.alarms.clear();
    (long.diagnosis.state, long.timeline[0].state) = (WindowState::Unusual, WindowState::Unusual);
    let window = Window { from: Nanos(31 * SECOND), to: Nanos(60 * SECOND) };
    let of = |no_alarm, sources| {
        let mut long = long.clone();
        long.diagnosis.unusual = Some(UnusualPeriod { window, windows: 29, no_alarm });
        verdict(&long, &WindowCounts::of(&long), &BaselineSummary { sources, ..baseline(vec![]) })
    };
    let found = of(NoAlarm::MayBeChance, 1);
    assert_eq!(
        found[..3],
        [
            "Unusual for 29.0 s, from 31.0 s on: waiting for a CPU 36.0%, usually 5.00% (+31.0 points).",
            "Not an alarm, because the runs and windows of the baseline differ too much to rule out that it is chance; with \
             one recording, how far runs differ is not known.",
            "Most probably: waiting longer for a CPU (100% of the slowdown, confidence high).",
        ]
    );
    assert!(found.iter().all(|sentence| !sentence.starts_with("As usual")), "{found:?}");
    assert!(of(NoAlarm::Slight, 3)[1].ends_with("because the growth over all of them is too small to matter."));
    // An alarm from before keeps its own sentence, and the numbers of now are not put down to it.
    let mut before = long.clone();
    before.alarms = vec![alarm(1, 2, false)];
    before.diagnosis.unusual = Some(UnusualPeriod { window, windows: 29, no_alarm: NoAlarm::Brief });
    let found = sentences(&before);
    assert_eq!(found[3..], ["Slower than usual from 1.00 s to 2.00 s.", MISSES], "{found:?}");
}

#[test]
fn a_baseline_of_another_program_is_doubted_by_name_and_a_small_change_is_not() {
    let change = |what, incompatible| {
        let (then, now, text) = ("a".to_string(), "b".to_string(), format!("{what}: a then, b now"));
        KeyChange { what, then, now, text, incompatible }
    };
    let usual = assessment(&[WindowState::Usual]);
    let of = |stale| verdict(&usual, &WindowCounts::of(&usual), &baseline(stale));
    assert_eq!(of(vec![change("kernel", false)]).len(), 1);
    let found = of(vec![change("build-id of the program", true), change("kernel", false), change("CPU model", true)]);
    assert_eq!(found[1], "The baseline may not apply: build-id of the program, CPU model changed since it was built.");
}
