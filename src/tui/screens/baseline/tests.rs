#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::Window;
use crate::analysis::attribution::{
    Alarm, Assessment, Cause, CauseLocation, Diagnosis, Evidence, NoAlarm, QuantityDeviation, Suspect, UnusualPeriod,
    WindowResult, WindowState,
};
use crate::analysis::baseline::{KeyChange, LoadAxis};
use crate::analysis::diff::{PRIMARY, Quantity};
use crate::analysis::finding::Confidence;
use crate::model::{MetricId, NeighbourKind};
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelRequest};
use crate::tui::testing::PanelFixture;
use crate::units::Nanos;
use crate::view::baseline::BaselineSummary;
use crate::view::snapshot::PanelView;
use proptest::prelude::*;

fn moved(id: MetricId, now: f64, expected: f64, spread: f64) -> QuantityDeviation {
    let quantity = Quantity::of(id);
    let deviations = (now - expected) / spread;
    let moved = deviations.abs() > 3.0;
    let band = (expected - 3.0 * spread, expected + 3.0 * spread);
    let (q, windows_outside) = if moved { (1e-9, 4) } else { (0.6, 0) };
    QuantityDeviation { quantity, now, expected, band, deviations, q, windows_outside, moved }
}

fn suspect(name: &str, pid: u32, score: f64, cores: f64) -> Suspect {
    let evidence = vec!["It ran on CPU 1, which the target used most.".to_string()];
    let (kind, name, pid) = (NeighbourKind::Process, name.to_string(), Some(pid));
    Suspect { kind, name, pid, cgroup: None, score, above_threshold: score > 0.35, cores, cores_before: 0.02, evidence }
}

fn result(at: u64) -> WindowResult {
    let state = match at {
        0..3 => WindowState::Idle,
        3..30 => WindowState::Usual,
        30..33 => WindowState::Unusual,
        33..50 => WindowState::Alarm,
        _ => WindowState::UnknownLoad,
    };
    let ratio = match state {
        WindowState::Idle | WindowState::UnknownLoad => None,
        WindowState::Usual => Some(1.0 + (at % 3) as f64 * 0.01),
        _ => Some(1.4),
    };
    let second = |at: u64| Nanos(at * 1_000_000_000);
    let window = Window { from: second(at), to: second(at + 1) };
    WindowResult { window, state, load: Some(1000.0), ratio, latency_p99: None, raised: at == 33, cleared: false }
}

/// A target that waits for a CPU that a batch job occupies.
fn assessment() -> Assessment {
    let alarm = |from: u64, to: u64, active| Alarm {
        window: Window { from: Nanos(from * 1_000_000_000), to: Nanos(to * 1_000_000_000) },
        raised: Nanos((from + 3) * 1_000_000_000),
        raised_after_windows: 3,
        active,
        cause: Cause::RunQueue,
        confidence: Confidence::High,
        worst: 1.43,
        suspect: Some("batch".into()),
    };
    let diagnosis = Diagnosis {
        state: WindowState::Alarm,
        axis: LoadAxis::OpsPerSecond,
        load: Some(1000.0),
        level: Some((950.0, 1040.0)),
        primary: PRIMARY,
        quantities: vec![
            moved(PRIMARY, 140_000.0, 100_000.0, 2_000.0),
            moved(MetricId::OpsPerS, 990.0, 1000.0, 31.0),
            moved(MetricId::BusyCores, 0.14, 0.1, 0.002),
            moved(MetricId::RunQueueDelay, 0.31, 0.01, 0.005),
            moved(MetricId::MinorFaults, 12.0, 10.0, 3.0),
        ],
        unusual: None,
        evidence: vec![Evidence {
            cause: Cause::RunQueue,
            share: Some(0.8),
            confidence: Confidence::High,
            text: "waiting for a CPU: 31.0%, usually 1.00% (+30.0 points, 60.0 deviations).".into(),
        }],
        location: Some(CauseLocation::Neighbours),
        suspects: vec![suspect("batch\x1b[31m", 77, 0.72, 0.98), suspect("cron", 12, 0.1, 0.05)],
        unknown: vec!["No instructions were counted: more work and slower work cannot be told apart.".into()],
    };
    let alarms = vec![alarm(5, 9, false), alarm(30, 50, true)];
    Assessment { diagnosis, alarms, timeline: (0..55).map(result).collect() }
}

fn head() -> BaselineSummary {
    let stale = KeyChange {
        what: "kernel",
        then: "6.1".into(),
        now: "6.9".into(),
        text: "kernel: 6.1 then, 6.9 now".into(),
        incompatible: false,
    };
    let weaknesses = vec!["It was made of one recording: how far runs differ is not known.".to_string()];
    BaselineSummary { sources: 1, windows: 84, known_levels: 1, weaknesses, stale: vec![stale] }
}

fn state_of(assessment: &Assessment) -> State {
    let mut state = State::default();
    state.show(PanelView::Baseline(Some(Box::new(View::of(assessment.clone(), head())))));
    state
}

fn drawn(state: &State, width: u16, height: u16) -> String {
    PanelFixture::live().described(state, width, height)
}

fn act(state: &mut State, action: Action) -> Option<Vec<PanelRequest>> {
    PanelFixture::live().with(|cx| state.act(action, cx, Rect::new(0, 0, 80, 19)))
}

#[test]
fn an_alarm_is_told_with_what_moved_why_and_who() {
    insta::assert_snapshot!("alarm_160x45", drawn(&state_of(&assessment()), 160, 45));
    insta::assert_snapshot!("alarm_80x19", drawn(&state_of(&assessment()), 80, 19));
}

#[test]
fn plain_characters_say_all_without_colours() {
    let text = PanelFixture::plain().described(&state_of(&assessment()), 100, 45);
    // The substitute for a control character in a name is always the same and not ASCII.
    assert!(text.replace('␛', "").is_ascii(), "{text}");
    insta::assert_snapshot!("mono_ascii_100x45", text);
}

#[test]
fn a_usual_session_says_so_and_one_without_a_baseline_what_to_do() {
    let mut quiet = assessment();
    (quiet.diagnosis.state, quiet.diagnosis.location) = (WindowState::Usual, None);
    quiet.diagnosis.quantities = vec![moved(PRIMARY, 101_000.0, 100_000.0, 2_000.0)];
    (quiet.diagnosis.evidence, quiet.diagnosis.suspects, quiet.alarms) = (vec![], vec![], vec![]);
    insta::assert_snapshot!("usual_80x19", drawn(&state_of(&quiet), 80, 19));
    let mut without = State::default();
    assert!(drawn(&without, 80, 19).contains("waiting"));
    without.show(PanelView::Baseline(None));
    insta::assert_snapshot!("without_80x19", drawn(&without, 80, 19));
}

#[test]
fn what_is_unusual_for_long_without_an_alarm_says_so_with_its_suspects() {
    let mut long = assessment();
    long.alarms.clear();
    let window = Window { from: Nanos(26_000_000_000), to: Nanos(55_000_000_000) };
    long.diagnosis.state = WindowState::Unusual;
    long.diagnosis.unusual = Some(UnusualPeriod { window, windows: 29, no_alarm: NoAlarm::MayBeChance });
    long.timeline[26..].iter_mut().for_each(|result| result.state = WindowState::Unusual);
    insta::assert_snapshot!("unusual_100x30", drawn(&state_of(&long), 100, 30));
}

#[test]
fn the_selection_goes_through_all_parts_and_stays_in_sight() {
    let mut state = state_of(&assessment());
    act(&mut state, Action::Down);
    assert_eq!(state.selected(), Some(Key::Quantity("ops_per_s")));
    act(&mut state, Action::Bottom);
    assert!(matches!(state.selected(), Some(Key::Alarm(0))));
    let end = assessment().alarms[0].window.to;
    assert_eq!(act(&mut state, Action::Enter), Some(vec![PanelRequest::At(end)]), "its evidence can be seen again");
    let last = drawn(&state, 80, 12);
    assert!(last.contains("It was made of one recording"), "the end is reached: {last}");
    act(&mut state, Action::Up);
    act(&mut state, Action::Up);
    let seen = drawn(&state, 80, 12);
    assert!(seen.contains("cron 12") && seen.contains("correlated, not proven]"), "{seen}");
    let all = state.list_rows().len();
    act(&mut state, Action::Filter);
    assert_eq!(state.list_rows().len(), all + 1, "the faults as well");
    act(&mut state, Action::Top);
    state.search("batch");
    assert!(matches!(state.selected(), Some(Key::Suspect(name)) if name.starts_with("batch")));
    assert!(act(&mut state, Action::Enter).is_none());
}

#[test]
fn now_stands_where_it_is_in_its_band() {
    for (now, mark) in [(100.0, "o"), (105.9, "o"), (94.1, "o"), (106.1, "!"), (93.9, "!"), (900.0, "›"), (0.0, "‹")]
    {
        let mut one = assessment();
        one.diagnosis.quantities = vec![moved(PRIMARY, now, 100.0, 2.0)];
        let text = drawn(&state_of(&one), 100, 30);
        let line = text.lines().find(|line| line.contains("CPU time per operation") && line.contains('─')).unwrap();
        let drawing: String = line.chars().filter(|c| "o!›‹".contains(*c)).collect();
        // The first mark shows that the quantity moved; the label has letters of its own.
        assert!(drawing.ends_with(mark), "{now}: {line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_size_and_no_number_breaks_it(width in 0_u16..200, height in 0_u16..60, now in any::<f64>(), score in any::<f64>()) {
        let mut strange = assessment();
        strange.diagnosis.quantities[0].now = now;
        strange.diagnosis.quantities[0].band = (now, 1.0);
        strange.diagnosis.suspects[0].score = score;
        strange.diagnosis.suspects[0].name = "x\u{202e}\n日本語".repeat(30);
        strange.timeline[4].ratio = Some(now);
        let mut state = state_of(&strange);
        for action in [Action::Down, Action::Bottom, Action::PageUp] {
            PanelFixture::live().with(|cx| state.act(action, cx, Rect::new(0, 0, width, height)));
            let text = drawn(&state, width, height);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
