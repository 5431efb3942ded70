use super::state::State;
use super::words;
use crate::tui::keys::Action as A;
use crate::tui::panel::Panel as _;
use crate::tui::panel::PanelContext;
use crate::tui::panel::PanelRequest;
use crate::tui::settings::Settings;
use crate::tui::testing::{PanelFixture, settings, text};
use crate::tui::theme::ThemeName;
use crate::view::baseline::testing::costlier;
use crate::view::flame_tree::testing::flame_tree;
use crate::view::query::Grouping;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use crate::view::watch::WindowState;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseButton;
use ratatui::crossterm::event::MouseEvent;
use ratatui::crossterm::event::MouseEventKind;
use ratatui::layout::Rect;

const TREE: &str = "main;parse 100 main;work;inner' 250 main;work;k_sys_write;k_vfs_write 300 main;work 50 \
                    main;j_Loop.run 200 [truncated stack];lost 100";

fn state(folded: &str, before: Option<&str>) -> State {
    let mut state = State::default();
    state.show(PanelView::Flame(flame_tree(folded, before)));
    state
}

/// Without colours, cells are told apart by characters.
fn fixture(compared: bool) -> PanelFixture {
    let settings = Settings { theme: ThemeName::Mono, ..settings() };
    PanelFixture { settings, compared, ..PanelFixture::live() }
}

fn with_context<T>(compared: bool, f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
    fixture(compared).with(f)
}

fn drawn(state: &State, width: u16, height: u16) -> String {
    fixture(state.compared).drawn(state, width, height)
}

/// Runs `f` with a session that is compared with a baseline.
fn with_held<T>(f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
    with_context(true, |cx| {
        let head = crate::view::snapshot::ScreenHeader { standing: Some(WindowState::Usual), ..cx.head.clone() };
        f(&PanelContext { head: &head, ..*cx })
    })
}

fn act(state: &mut State, actions: &[A]) -> Vec<PanelRequest> {
    let area = Rect::new(0, 0, 80, 12);
    actions
        .iter()
        .flat_map(|action| with_context(false, |cx| state.act(*action, cx, area)).unwrap_or_default())
        .collect()
}

#[test]
fn the_tree_hangs_from_its_root_or_stands_on_it() {
    let mut state = state(TREE, None);
    insta::assert_snapshot!("hanging", drawn(&state, 80, 10));
    act(&mut state, &[A::Invert]);
    insta::assert_snapshot!("standing", drawn(&state, 80, 10));
}

#[test]
fn the_selection_moves_as_cells_lie_and_enter_zooms() {
    let mut state = state(TREE, None);
    act(&mut state, &[A::Down]);
    assert_eq!(state.selected_name().as_deref(), Some("main"));
    act(&mut state, &[A::Down, A::Down]);
    assert_eq!(state.selected_name().as_deref(), Some("k_sys_write"), "the heaviest call");
    act(&mut state, &[A::Left]);
    assert_eq!(state.selected_name().as_deref(), Some("inner"));
    act(&mut state, &[A::Up, A::Enter]);
    assert_eq!(state.shown().root, ["main", "work"]);
    insta::assert_snapshot!("zoomed", drawn(&state, 80, 8));
    act(&mut state, &[A::Back]);
    assert_eq!(state.shown().root, ["main"]);
    assert_eq!(state.selected_name().as_deref(), Some("work"));
}

#[test]
fn zoom_and_selection_survive_a_new_picture_by_name() {
    let mut state = state(TREE, None);
    act(&mut state, &[A::Down, A::Down, A::Enter, A::Down]);
    let selected = state.selected_name();
    state.show(PanelView::Flame(flame_tree("aaa;b 500 main;parse 1 main;work;inner' 5 main;work;k_sys_write 9", None)));
    assert_eq!((state.shown().root, state.selected_name()), (vec!["main".to_string(), "work".to_string()], selected));
    state.show(PanelView::Flame(flame_tree("main;parse 10", None)));
    assert_eq!(state.shown().root, ["main"], "what is gone leaves its caller zoomed");
}

#[test]
fn a_search_marks_cells_and_tells_their_share_once_per_stack() {
    let mut state = state("main;read;read_all;read 30 main;write 70", None);
    state.search("read");
    assert_eq!(state.found.share, Some(0.3));
    act(&mut state, &[A::SearchNext, A::SearchNext]);
    assert_eq!(state.selected_path, ["main", "read", "read_all"]);
    act(&mut state, &[A::SearchPrevious, A::SearchPrevious]);
    assert_eq!(state.selected_path, ["main", "read", "read_all", "read"], "around the end");
    assert!(drawn(&state, 80, 6).contains("match 30.0%"));
    state.search("READ");
    assert_eq!(state.found.share, Some(0.0), "a capital makes the case matter");
    state.search("");
    assert_eq!(state.found.share, None);
}

#[test]
fn changes_are_marked_on_the_cells() {
    let before = "main;parse 500 main;work 300 main;gone 200";
    let state = state("main;parse 100 main;work 700 main;new 200", Some(before));
    insta::assert_snapshot!("changed", drawn(&state, 80, 4));
    assert!(state.describe(2).is_some_and(|text| text.contains("points")));
}

#[test]
fn a_path_given_by_another_screen_is_zoomed_into_before_and_after_the_picture_comes() {
    let path = vec!["main".to_string(), "k_vfs_write".to_string()];
    let mut early = State::default();
    early.zoom_to(path.clone());
    early.show(PanelView::Flame(flame_tree(TREE, None)));
    let mut late = state(TREE, None);
    late.zoom_to(path);
    for state in [early, late] {
        assert_eq!(state.shown().root, ["main", "work", "k_sys_write", "k_vfs_write"]);
    }
}

#[test]
fn deep_stacks_scroll_with_the_selection() {
    let deep: Vec<_> = (0..200).map(|at| format!("f{at}")).collect();
    let mut state = state(&format!("{} 10", deep.join(";")), None);
    act(&mut state, &[A::Bottom]);
    assert_eq!(state.selected_name().as_deref(), Some("f199"));
    let text = drawn(&state, 80, 12);
    assert!(text.contains("f199") && text.contains("rows 190-200 of 200"), "{text}");
    act(&mut state, &[A::Top]);
    assert!(drawn(&state, 80, 12).contains("f0"));
}

#[test]
fn the_mouse_zooms_where_it_clicks_and_tells_where_it_hovers() {
    let mut state = state(TREE, None);
    let area = Rect::new(0, 3, 80, 12);
    let mouse = |state: &mut State, kind, column, row| {
        let event = MouseEvent { kind, column, row, modifiers: ratatui::crossterm::event::KeyModifiers::NONE };
        with_context(false, |cx| state.mouse(event, cx, area));
    };
    mouse(&mut state, MouseEventKind::Moved, 40, 4);
    assert!(with_context(false, |cx| state.status(cx)).is_some_and(|text| text.starts_with("main")));
    mouse(&mut state, MouseEventKind::Down(MouseButton::Left), 70, 5);
    assert_eq!(state.shown().root, ["main", "work"]);
    mouse(&mut state, MouseEventKind::Down(MouseButton::Left), 10, 4);
    assert_eq!(state.shown().root, ["main"], "a caller zooms out");
    mouse(&mut state, MouseEventKind::Down(MouseButton::Left), 10, 2);
    assert_eq!(state.shown().root, ["main"], "outside is nothing");
}

#[test]
fn nothing_to_show_is_said() {
    assert!(drawn(&State::default(), 80, 5).contains("waiting for the first window"));
    assert!(drawn(&state("main 0", None), 80, 5).contains("no samples in this time"));
}

#[test]
fn hostile_names_stay_within_their_cells() {
    let state = state("main\x1b(B;日本語の関数;e\u{301}\u{202e}rtl 50 main\x1b(B;x 50", None);
    insta::assert_snapshot!("hostile", drawn(&state, 40, 5));
}

proptest! {
    #[test]
    fn no_size_and_no_key_panics(width in 0_u16..120, height in 0_u16..30, keys in proptest::collection::vec(0_usize..12, 0..12)) {
        let mut state = state(TREE, Some("main;parse 5"));
        let area = Rect::new(0, 0, width, height);
        let actions = [A::Up, A::Down, A::Left, A::Right, A::Enter, A::Back, A::PageDown, A::HalfPageUp, A::Bottom, A::Top, A::Invert, A::SearchNext];
        state.search("a");
        for key in keys {
            with_context(true, |cx| state.act(actions[key], cx, area));
            drawn(&state, width, height);
        }
    }
}

#[test]
fn two_points_of_a_sweep_are_compared_per_operation() {
    use crate::view::diff_flamegraph::CostAxis;
    use crate::view::sweep::difference;
    use crate::view::sweep::fixture::{Machine, analysis};
    let points = analysis(Machine::Clock).points;
    let mut state = State::default();
    state.show(PanelView::Flame(crate::view::flame_tree::FlameTree::of_difference(
        difference(&points[0], &points[6], CostAxis::Cpu).expect("both have operations"),
    )));
    insta::assert_snapshot!("difference", drawn(&state, 100, 8));
    let mut said = Vec::new();
    for name in ["futex_wait", "fast_path_alone", "queued_spin_lock_slowpath", "main"] {
        state.zoom_to(vec![name.to_string()]);
        said.push(with_context(false, |cx| state.status(cx)).expect("it is selected"));
    }
    insta::assert_snapshot!("difference_status", said.join("\n"));
}

fn against_baseline(ops: Option<u64>, tids: &[u32], counted: bool) -> State {
    let mut state = State::default();
    with_held(|cx| state.act(A::AgainstBaseline, cx, Rect::new(0, 0, 80, 12)));
    assert_eq!(state.request(), ViewRequest::Flame { by: Grouping::Plain, against_baseline: true });
    state.show(PanelView::Flame(crate::view::flame_tree::FlameTree::of_difference(costlier(ops, tids, counted))));
    state
}

/// The status text for each of these names.
fn said(state: &mut State, names: &[&str]) -> String {
    let mut said = Vec::new();
    for name in names {
        state.zoom_to(vec![name.to_string()]);
        said.push(with_held(|cx| state.status(cx)).expect("it is selected"));
    }
    said.join("\n")
}

#[test]
fn against_a_baseline_cells_tell_what_grew_and_what_is_gone_with_its_error() {
    let mut state = against_baseline(Some(10_000), &[], true);
    insta::assert_snapshot!("usual_110x7", drawn(&state, 110, 7));
    insta::assert_snapshot!("usual_60x6", drawn(&state, 60, 6));
    insta::assert_snapshot!("usual_status", said(&mut state, &["hash", "parse", "compress", "log_line", "main"]));
    let mut state = against_baseline(None, &[], true);
    insta::assert_snapshot!("usual_shares", drawn(&state, 110, 4));
    insta::assert_snapshot!("usual_shares_status", said(&mut state, &["hash", "log_line"]));
}

#[test]
fn of_some_threads_and_of_an_old_baseline_what_cannot_be_told_is_said() {
    let mut some = against_baseline(Some(10_000), &[41], true);
    insta::assert_snapshot!(
        "usual_part",
        format!("{}\n{}", drawn(&some, 120, 4), said(&mut some, &["hash", "parse", "main"]))
    );
    let mut old = against_baseline(Some(10_000), &[], false);
    insta::assert_snapshot!("usual_old", format!("{}\n{}", drawn(&old, 140, 4), said(&mut old, &["hash"])));
}

#[test]
fn the_key_is_offered_with_a_baseline_only_and_says_why_not_without() {
    let (mut state, area) = (state(TREE, None), Rect::new(0, 0, 100, 5));
    let draw = |state: &State, cx: &PanelContext<'_>| {
        let mut buf = Buffer::empty(area);
        state.draw(cx, area, &mut buf);
        text(&buf)
    };
    assert!(with_held(|cx| draw(&state, cx)).contains("[b against baseline]"));
    assert!(!with_context(false, |cx| draw(&state, cx)).contains("against baseline"));
    let wishes = act(&mut state, &[A::AgainstBaseline]);
    assert_eq!(wishes, [PanelRequest::Say(words::NO_BASELINE.to_string())]);
    assert_eq!(state.request(), ViewRequest::Flame { by: Grouping::Plain, against_baseline: false });
    let on = with_held(|cx| state.act(A::AgainstBaseline, cx, area)).unwrap_or_default();
    assert_eq!(
        (on, state.request()),
        (vec![PanelRequest::Refresh], ViewRequest::Flame { by: Grouping::Plain, against_baseline: true })
    );
    assert!(matches!(act(&mut state, &[A::Who]).as_slice(), [PanelRequest::Say(_)]), "a baseline knows no threads");
    assert_eq!(
        act(&mut state, &[A::AgainstBaseline]),
        [PanelRequest::Refresh],
        "back, even where the baseline is gone"
    );
}

#[test]
fn zoom_search_and_mouse_work_on_the_difference_as_on_the_plain_one_and_the_zoom_stays() {
    let mut state = state("[app_41];main;serve;hash 60 [app_41];main;serve;parse 40", None);
    state.zoom_to(vec!["serve".to_string()]);
    with_held(|cx| state.act(A::AgainstBaseline, cx, Rect::new(0, 0, 80, 12)));
    state.show(PanelView::Flame(crate::view::flame_tree::FlameTree::of_difference(costlier(Some(10_000), &[], true))));
    assert_eq!(state.shown().root, ["main", "serve"], "a heading in between does not matter");
    state.search("log_line");
    assert!(state.found.share.is_some_and(|share| share > 0.01), "what is gone is found");
    let area = Rect::new(0, 0, 80, 12);
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 40,
        row: 1,
        modifiers: ratatui::crossterm::event::KeyModifiers::NONE,
    };
    with_held(|cx| state.mouse(click, cx, area));
    assert_eq!(state.shown().root, ["main"]);
    state.show(PanelView::Flame(flame_tree("[app_41];main;serve;hash 60", None)));
    assert_eq!(state.shown().root, ["[app_41]", "main"]);
}
