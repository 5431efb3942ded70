use super::*;
use crate::tui::testing::{PanelFixture, compared};

fn state() -> State {
    let mut state = State::default();
    state.show(PanelView::Comparison(ComparisonTab::Conditions, compared()));
    state
}

#[test]
fn what_was_expected_what_broke_and_what_is_not_alike_are_all_there() {
    insta::assert_snapshot!("all_100x50", PanelFixture::default().drawn(&state(), 100, 50));
}

#[test]
fn it_scrolls_to_its_end_and_no_further_at_any_size() {
    let stand = PanelFixture::default();
    for (width, height) in [(20, 5), (40, 8), (100, 12), (1, 1), (300, 200)] {
        let mut state = state();
        stand.act_in(&mut state, &[Action::Bottom, Action::Down, Action::PageDown], width, height);
        let text = stand.drawn(&state, width, height);
        assert!(!text.contains('\u{1b}') && (height < 2 || !text.trim().is_empty()), "{width}x{height}: {text:?}");
        stand.act_in(&mut state, &[Action::Top], width, height);
        assert_eq!(state.top, 0);
    }
}

#[test]
fn a_search_goes_to_the_next_line_that_holds_it() {
    let (mut state, stand) = (state(), PanelFixture::default());
    state.search("KERNEL");
    stand.act_in(&mut state, &[Action::SearchNext], 60, 4);
    assert!(stand.drawn(&state, 60, 4).contains("kernel"), "{}", stand.drawn(&state, 60, 4));
}
