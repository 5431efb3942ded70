#![expect(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::model::{Measure, Quality, Section, Unit, Why};
use crate::tui::keys::Action as A;
use crate::tui::panel::{Panel, PanelContext};
use crate::tui::testing::PanelFixture;
use crate::units::Nanos;
use crate::view::snapshot::PanelView;
use proptest::prelude::*;
use ratatui::layout::Rect;

fn metric(name: &'static str, section: Section, unit: Unit, value: Measure<f64>) -> MetricLine {
    let history = (1..=20).map(|at| (Nanos(at * 1_000_000_000), (at % 6 != 0).then_some((at % 4) as f64)));
    MetricLine {
        name,
        label: name,
        section,
        unit,
        value,
        before: value.value().map(|value| Measure::exact(value / 2.0)),
        formula: format!("d {name} / wall"),
        events: vec!["task-clock".to_string()],
        detail: None,
        threshold: None,
        history: history.collect(),
    }
}

fn state() -> State {
    let half = Measure::Known { value: 1.25, quality: Quality { coverage: 0.5 } };
    let counter = |name: &str, scope, total| CounterLine {
        name: name.into(),
        scope,
        group: Some(0),
        unit: "cycles",
        total,
        rate: total,
        history: vec![(Nanos(1), Some(1.0)), (Nanos(2), None)],
    };
    let mut state = State::default();
    state.show(PanelView::Counters(View {
        metrics: vec![
            metric("cpu_time", Section::Cpu, Unit::Seconds, Measure::exact(9.87)),
            metric("ipc", Section::Cpu, Unit::Ratio, half),
            metric("cycles", Section::Cpu, Unit::Count, Measure::Missing(Why::NotSupported)),
            metric("major_faults", Section::Memory, Unit::PerSecond, Measure::exact(0.0)),
        ],
        counters: vec![
            counter("task-clock", "target", Measure::exact(123_456_789.0)),
            counter("cycles", "target", Measure::Missing(Why::Multiplexed)),
            counter("\x1b[2Jpmu", "host", half),
        ],
    }));
    state
}

fn with_context<T>(compared: bool, f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
    PanelFixture { compared, ..PanelFixture::live() }.with(f)
}

fn drawn(state: &State, compared: bool, width: u16, height: u16) -> String {
    PanelFixture { compared, ..PanelFixture::live() }.drawn(state, width, height)
}

fn act(state: &mut State, actions: &[A]) {
    let area = Rect::new(0, 0, 120, 30);
    actions.iter().for_each(|action| _ = with_context(false, |cx| state.act(*action, cx, area)));
}

#[test]
fn metrics_and_counters_are_listed_with_their_course() {
    let mut state = state();
    insta::assert_snapshot!("metrics", drawn(&state, false, 80, 19));
    insta::assert_snapshot!("compared", drawn(&state, true, 120, 26));
    act(&mut state, &[A::Who, A::Enter]);
    insta::assert_snapshot!("counters", drawn(&state, false, 100, 10));
}

#[test]
fn the_status_line_gives_formula_coverage_or_the_reason() {
    let mut state = state();
    let status = |state: &State| with_context(false, |cx| state.status(cx)).unwrap();
    assert_eq!(status(&state), "cpu_time 9.87 s = d cpu_time / wall  counted 100% of the time");
    act(&mut state, &[A::Down]);
    assert!(status(&state).contains("counted 50.0% of the time"));
    act(&mut state, &[A::Down]);
    assert!(status(&state).starts_with("cycles: not counted on this machine"));
    act(&mut state, &[A::Who]);
    assert!(status(&state).starts_with("task-clock 123,456,789 cycles"), "{}", status(&state));
}

#[test]
fn a_search_selects_and_filters() {
    let mut state = state();
    state.search("fault");
    assert_eq!(state.selected_name().as_deref(), Some("major_faults"));
    act(&mut state, &[A::Filter]);
    assert_eq!(state.rows().len(), 1);
}

proptest! {
    #[test]
    fn no_size_and_no_key_panics(width in 0_u16..200, height in 0_u16..60, keys in proptest::collection::vec(0_usize..9, 0..10)) {
        let mut state = state();
        let actions = [A::Up, A::Down, A::PageDown, A::Bottom, A::Detail, A::Who, A::Filter, A::SearchNext, A::SearchPrevious];
        state.search("c");
        let area = Rect::new(0, 0, width, height);
        for key in keys {
            with_context(true, |cx| state.act(actions[key], cx, area));
            drawn(&state, true, width, height);
        }
    }
}
