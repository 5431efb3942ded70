use super::*;
use crate::tui::keys::Action as A;
use crate::tui::panel::Panel as _;
use crate::tui::testing::PanelFixture;
use crate::view::latency_history::testing::{profile, view};
use crate::view::snapshot::PanelView;
use proptest::prelude::*;

fn state(seconds: u64, measured: bool) -> State {
    let mut state = State::default();
    state.show(PanelView::Latency(Box::new(view(&profile(seconds, measured)))));
    state
}

#[test]
fn the_distribution_stands_beside_its_quantiles_and_both_over_time_below() {
    insta::assert_snapshot!("usual_80x19", PanelFixture::default().described(&state(40, true), 80, 19));
    insta::assert_snapshot!("wide_120x35", PanelFixture::default().described(&state(300, true), 120, 35));
    insta::assert_snapshot!("ascii_mono_100x25", PanelFixture::plain().described(&state(12, true), 100, 25));
    insta::assert_snapshot!("narrow_40x12", PanelFixture::default().described(&state(12, true), 40, 12));
}

#[test]
fn the_cursor_says_how_many_operations_took_that_long_in_all_and_in_one_window() {
    let mut state = state(40, true);
    let fixture = PanelFixture::default();
    fixture.act_in(&mut state, &[A::Up], 80, 19);
    let first = state.cursor.unwrap_or_else(|| panic!("a first move chooses"));
    assert!(first.band.low() <= 260e3 && first.end.low() > 260e3, "that of p99: {first:?}");
    fixture.act_in(&mut state, &[A::Left, A::Left, A::Bottom, A::Up], 80, 19);
    insta::assert_snapshot!("cursor_80x19", fixture.described(&state, 80, 19));
    fixture.act_in(&mut state, &[A::Top, A::Up, A::Right, A::Right, A::Right, A::Right], 80, 19);
    let status = fixture.with(|cx| state.status(cx)).unwrap_or_default();
    assert!(status.contains("to 00:00:40 ") && status.contains("took less"), "{status}");
    fixture.act_in(&mut state, &[A::Back], 80, 19);
    assert_eq!(state.cursor, None);
}

#[test]
fn the_cursor_stays_at_its_latency_and_time_while_the_session_goes_on() {
    let mut state = state(40, true);
    PanelFixture::default().act_in(&mut state, &[A::Down, A::Left], 80, 19);
    let before = state.cursor;
    state.show(PanelView::Latency(Box::new(view(&profile(60, true)))));
    let column = state.column().and_then(|column| state.view.as_ref().map(|view| view.columns[column].window.to));
    assert_eq!((state.cursor, column), (before, before.map(|cursor| cursor.at)));
}

#[test]
fn without_a_measurement_the_screen_says_what_to_type_and_without_operations_that_none_ended() {
    let mut unmeasured = profile(3, false);
    unmeasured.meta.plan.latency = None;
    let mut state = State::default();
    state.show(PanelView::Latency(Box::new(view(&unmeasured))));
    insta::assert_snapshot!("unmeasured_80x19", PanelFixture::default().described(&state, 80, 8));
    let text = PanelFixture::default().drawn(&self::state(3, false), 80, 19);
    assert!(text.contains("calls of serve in /opt/server: no operation ended in the selected time"), "{text}");
}

proptest! {
    #[test]
    fn it_can_be_drawn_and_moved_in_at_any_size((width, height) in (0_u16..220, 0_u16..70), seconds in 0_u64..300, moves in prop::collection::vec(0_usize..8, 0..9)) {
        let mut state = state(seconds, true);
        let moves: Vec<A> = moves.into_iter().map(|at| [A::Up, A::Down, A::Left, A::Right, A::Top, A::Bottom, A::Enter, A::Back][at]).collect();
        for fixture in [PanelFixture::default(), PanelFixture::plain()] {
            fixture.act_in(&mut state, &moves, width, height);
            fixture.described(&state, width, height);
        }
    }
}
