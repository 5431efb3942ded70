#![expect(clippy::unwrap_used, reason = "tests")]

use super::areas::Areas;
use super::*;
use crate::tui::keys::Action;
use crate::tui::keys::TABLE;
use crate::tui::panel::{Panel, PanelContext, PanelRequest, ScreenId};
use crate::tui::settings::Settings;
use crate::tui::testing::{PanelFixture, settings};
use crate::view::Axis;
use crate::view::snapshot::PanelView;
use crate::view::sweep::Progress;
use crate::view::sweep::fixture::{self, Machine};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

fn counters() -> View {
    View::of(&fixture::meta(Machine::Counters), &fixture::analysis(Machine::Counters), None)
}

fn clock() -> View {
    View::of(&fixture::meta(Machine::Clock), &fixture::analysis(Machine::Clock), None)
}

#[test]
fn latency_stands_next_to_throughput() {
    let (meta, analysis) = fixture::with_latency();
    let mut state = state(View::of(&meta, &analysis, None));
    state.step(-5);
    let shown = drawn(&state, 100, 25);
    assert!(shown.contains("p50") && shown.contains("p99") && shown.contains("2.10 ms"), "{shown}");
    assert!(shown.contains("p50 100 us") && shown.contains(" ms]"), "{shown}");
}

/// One point, one run, no operations.
fn thin() -> View {
    let (meta, analysis) = fixture::thin();
    View::of(&meta, &analysis, Some(Progress { over: 1, planned: 2, running: Some(2), eta_seconds: Some(75) }))
}

/// Two nodes and more threads than CPUs, the widest without operations.
fn ragged() -> View {
    let mut view = clock();
    for point in &mut view.points {
        point.region = match point.n {
            1..=4 => crate::model::Region::Cores,
            5..=8 => crate::model::Region::Nodes(2),
            9..=12 => crate::model::Region::Smt,
            _ => crate::model::Region::Oversubscribed,
        };
    }
    view.points.last_mut().unwrap().values.0.clear();
    view.stacks.pop();
    view.losses.pop();
    view
}

fn on<T>(axis: Axis, f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
    PanelFixture { axis, ..PanelFixture::live() }.with(f)
}

fn drawn(state: &State, width: u16, height: u16) -> String {
    PanelFixture::live().described(state, width, height)
}

fn state(view: View) -> State {
    let mut state = State::default();
    state.show(PanelView::Scaling(Box::new(view)));
    state
}

fn act(state: &mut State, action: Action, (width, height): (u16, u16)) -> Option<Vec<PanelRequest>> {
    on(Axis::Event(0), |cx| state.act(action, cx, Rect::new(0, 0, width, height)))
}

const SMALL: (u16, u16) = (80, 19);

#[test]
fn all_is_seen_at_once_where_there_is_room() {
    insta::assert_snapshot!("counters_160x45", drawn(&state(counters()), 160, 45));
    insta::assert_snapshot!("counters_80x19", drawn(&state(counters()), 80, 19));
}

#[test]
fn without_a_pmu_what_is_missing_says_why() {
    let mut state = state(clock());
    insta::assert_snapshot!("clock_100x25", drawn(&state, 100, 25));
    act(&mut state, Action::Right, SMALL);
    act(&mut state, Action::Down, SMALL);
    insta::assert_snapshot!("functions_80x19", drawn(&state, 80, 19));
}

#[test]
fn letters_and_plain_characters_say_all_without_colours() {
    let mut state = state(ragged());
    state.step(-1);
    let text = PanelFixture::plain().described(&state, 120, 40);
    // The substitute for a control character in a name is always the same and not ASCII.
    assert!(text.replace('␛', "").is_ascii(), "{text}");
    insta::assert_snapshot!("mono_ascii_120x40", text);
}

#[test]
fn a_sweep_that_runs_shows_what_it_has() {
    insta::assert_snapshot!("thin_80x19", drawn(&state(thin()), 80, 19));
    let empty = View { points: vec![], fits: vec![], ..thin() };
    assert!(drawn(&state(empty), 80, 19).contains("no run is over yet"));
    assert!(drawn(&State::default(), 80, 19).contains("waiting"));
}

#[test]
fn where_it_is_small_one_part_is_seen_and_the_others_are_a_key_away() {
    let mut state = state(clock());
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(drawn(&state, 40, 8));
        act(&mut state, Action::Right, (40, 8));
    }
    insta::assert_snapshot!("pages_40x8", seen.join("\n----\n"));
    assert_eq!(state.page, Page::Points, "around");
}

#[test]
fn the_widest_point_is_chosen_until_the_user_moves_and_what_was_chosen_stays() {
    let mut state = state(clock());
    assert_eq!(state.chosen(), Some(16));
    let mut grown = clock();
    grown.points.push(PointView { n: 32, ..grown.points[0].clone() });
    state.show(PanelView::Scaling(Box::new(grown.clone())));
    assert_eq!(state.chosen(), Some(32), "it follows");
    act(&mut state, Action::Top, SMALL);
    act(&mut state, Action::Down, SMALL);
    assert_eq!(state.chosen(), Some(2));
    grown.points.remove(0);
    state.show(PanelView::Scaling(Box::new(grown)));
    assert_eq!(state.chosen(), Some(2), "by its width, not its place");
    state.step(isize::MIN);
    assert_eq!(state.chosen(), Some(2), "the first one there is");
    state.step(isize::MAX);
    assert_eq!(state.chosen(), Some(32));
}

#[test]
fn enter_leads_to_the_flame_graph_and_a_function_to_its_place_there() {
    let mut state = state(clock());
    assert_eq!(act(&mut state, Action::Enter, SMALL), Some(vec![PanelRequest::Go(ScreenId::Flame)]));
    act(&mut state, Action::Detail, SMALL);
    let wait = vec![PanelRequest::Count(Axis::OffCpu), PanelRequest::Zoom(vec!["serve".to_string()])];
    assert_eq!(act(&mut state, Action::Enter, SMALL), Some(wait), "more was lost waiting");
    act(&mut state, Action::Bottom, SMALL);
    let gone = vec![PanelRequest::Zoom(vec!["fast_path_alone".to_string()])];
    assert_eq!(act(&mut state, Action::Enter, SMALL), Some(gone));
    let loss = state.view.as_mut().unwrap().losses.last_mut().unwrap();
    loss.blocked = None;
    assert!(!state.rows()[0].waits, "less was lost waiting");
    assert_eq!(
        act(&mut State::default(), Action::Enter, SMALL),
        Some(vec![PanelRequest::Say("no run is over yet".into())])
    );
}

#[test]
fn the_base_has_no_losses_and_says_so() {
    let mut state = state(clock());
    state.step(isize::MIN);
    act(&mut state, Action::Detail, SMALL);
    let text = drawn(&state, 80, 19);
    assert!(text.contains("n = 1 is the base of the comparison: choose another point"), "{text}");
    assert_eq!((state.selected_name(), state.row().is_none()), (None, true));
}

#[test]
fn a_search_goes_to_the_functions_and_a_filter_keeps_what_fits() {
    let mut state = state(clock());
    state.search("FUTEX");
    assert_eq!(state.selected_name().as_deref(), Some("futex_wait"));
    act(&mut state, Action::Filter, SMALL);
    assert_eq!(state.rows().len(), 1);
    state.search("no such name");
    assert!(drawn(&state, 80, 19).contains("no function matches the search"));
    state.search("");
    assert!(state.rows().len() > 5);
}

#[test]
fn status_says_the_law_the_cores_and_the_reason_by_what_is_open() {
    let mut state = state(counters());
    let small = (40, 8);
    let mut lines = Vec::new();
    for _ in 0..3 {
        lines.push(on(Axis::Event(0), |cx| state.status(cx).unwrap()));
        act(&mut state, Action::Right, small);
    }
    assert!(lines[0].contains("n = 16 (SMT, 1 run)") && lines[0].contains("one run has no interval"), "{}", lines[0]);
    assert!(lines[1].contains("alpha 0.0500") && lines[1].contains("peak at n = 12.6"), "{}", lines[1]);
    assert!(lines[2].contains("cores' worth of work; lost: ") && lines[2].contains("ns/op"), "{}", lines[2]);
}

#[test]
fn a_click_chooses_a_point_a_function_or_a_page() {
    let mut state = state(clock());
    let area = Rect::new(0, 0, 80, 19);
    let click = |state: &mut State, column, row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = MouseEvent { kind, column, row, modifiers: ratatui::crossterm::event::KeyModifiers::NONE };
        on(Axis::Event(0), |cx| state.mouse(event, cx, area))
    };
    let areas = Areas::of(area, Page::Points, 7);
    assert!(click(&mut state, 5, areas.points.y + 2).is_empty());
    assert_eq!(state.chosen(), Some(2));
    assert!(click(&mut state, areas.chart.right() - 2, areas.chart.y + 3).is_empty());
    assert_eq!(state.chosen(), Some(16));
    click(&mut state, areas.tabs.x + 10, areas.tabs.y);
    assert_eq!(state.page, Page::Functions);
    let losses = Areas::of(area, Page::Functions, 7).losses;
    assert!(click(&mut state, 8, losses.y + 2).is_empty());
    assert!(state.functions.at(&state.functions()) == Some(1));
    assert!(!click(&mut state, 8, losses.y + 2).is_empty(), "a second click enters it");
}

#[test]
fn every_reason_has_a_letter_of_its_own() {
    use crate::view::Cause;
    use crate::view::sweep::SliceKind as Kind;
    let plain = [
        Kind::MoreWork,
        Kind::Smt,
        Kind::Cpi,
        Kind::Frequency,
        Kind::CpuTime,
        Kind::RunQueue,
        Kind::Throttled,
        Kind::Unseen,
    ];
    let mut letters: Vec<_> = plain.into_iter().chain(Cause::ALL.map(Kind::Blocked)).map(stack::letter).collect();
    letters.sort_unstable();
    let count = letters.len();
    letters.dedup();
    assert_eq!(letters.len(), count);
}

fn wild(view: View, mean: f64, half: f64, wide: u32) -> View {
    let mut view = view;
    for (at, point) in view.points.iter_mut().enumerate() {
        for (_, value) in point.values.0.iter_mut().skip(at % 3) {
            *value = crate::view::sweep::Value::Known { mean, half: Some(half) };
        }
    }
    for slice in view.stacks.iter_mut().flat_map(|stack| &mut stack.slices) {
        (slice.cores, slice.ns_per_op) = (mean, half);
    }
    if let Some(last) = view.points.last_mut() {
        last.n = wide.max(last.n);
    }
    view
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_size_no_key_and_no_number_panics(
        (width, height) in (0_u16..310, 0_u16..100),
        which in 0_usize..4,
        numbers in prop::option::of((prop::num::f64::ANY, prop::num::f64::ANY, prop::num::u32::ANY)),
        keys in prop::collection::vec(0_usize..TABLE.len(), 0..12),
        (column, row) in (0_u16..310, 0_u16..100),
        ascii: bool,
    ) {
        let view = [counters, clock, thin, ragged][which]();
        let view = numbers.into_iter().fold(view, |view, (mean, half, wide)| wild(view, mean, half, wide));
        let settings = Settings { ascii, ..settings() };
        let fixture = |axis| PanelFixture { settings: settings.clone(), axis, ..PanelFixture::live() };
        let mut state = state(view);
        let area = Rect::new(3, 2, width, height);
        let mut buf = Buffer::empty(Rect::new(0, 0, width + 5, height + 5));
        for key in keys {
            fixture(Axis::Event(0)).with(|cx| state.act(TABLE[key].action, cx, area));
        }
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = MouseEvent { kind, column, row, modifiers: ratatui::crossterm::event::KeyModifiers::NONE };
        fixture(Axis::OffCpu).with(|cx| {
            state.mouse(event, cx, area);
            state.draw(cx, area, &mut buf);
            state.status(cx);
        });
        let outside = buf.area.positions().filter(|place| !area.contains(*place));
        for place in outside {
            prop_assert_eq!(buf[place].symbol(), " ", "at {}", place);
        }
    }
}
