//! The conclusions of a comparison with a baseline, sentence by sentence.

use crate::analysis::Window;
use crate::analysis::attribution::{
    Alarm, Assessment, Cause, CauseLocation, Diagnosis, Evidence, QuantityDeviation, Suspect, WindowResult, WindowState,
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
    slow.diagnosis.evidence = vec![Evidence { cause: Cause::Llc, share: Some(1.7), confidence, text: String::new() }];
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
            "Most probably: more misses of the last-level cache (100% of it, confidence medium).",
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
