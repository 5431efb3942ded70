use super::rows::Order;
use super::state::State;
use crate::tui::keys::Action;
use crate::tui::panel::Panel as _;
use crate::tui::panel::PanelRequest;
use crate::tui::testing::{PanelFixture, compared};
use crate::view::diff::CodeRow;
use crate::view::query::ComparisonTab;
use crate::view::snapshot::PanelView;

fn state() -> State {
    let mut state = State::default();
    state.show(PanelView::Comparison(ComparisonTab::Functions, compared()));
    state
}

#[test]
fn functions_stand_by_change_with_error_bars_and_what_chance_may_do_is_marked_so() {
    let stand = PanelFixture::default();
    for (name, width, height) in [("wide_160x14", 160, 14), ("usual_100x12", 100, 12), ("narrow_40x8", 40, 8)] {
        insta::assert_snapshot!(name, stand.drawn(&state(), width, height));
    }
    insta::assert_snapshot!("ascii_mono_120x10", PanelFixture::plain().drawn(&state(), 120, 10));
}

#[test]
fn it_is_drawn_at_any_size_and_no_name_acts() {
    for stand in [PanelFixture::default(), PanelFixture::plain()] {
        for (width, height) in [(1, 1), (20, 2), (20, 5), (3, 40), (300, 90)] {
            stand.drawn(&State::default(), width, height);
            let text = stand.drawn(&state(), width, height);
            assert!(!text.contains('\u{1b}'), "{text:?}");
        }
    }
    let said = PanelFixture::default().with(|cx| state().status(cx)).unwrap_or_default();
    assert!(!said.contains('\u{1b}') && said.contains("per operation") && said.contains(", q "), "{said}");
}

#[test]
fn call_paths_and_waits_are_a_key_away_and_lead_into_the_flame_graph() {
    let (mut state, stand) = (state(), PanelFixture::default());
    stand.act(&mut state, Action::Who);
    let wishes = stand.act(&mut state, Action::Enter);
    assert!(matches!(wishes.as_deref(), Some([PanelRequest::Zoom(path)]) if path.len() == 2), "{wishes:?}");
    stand.act(&mut state, Action::Who);
    assert!(stand.drawn(&state, 100, 6).contains("time off the CPU is not on both sides"));
    assert_eq!(stand.act(&mut state, Action::Enter), Some(Vec::new()), "nothing is selected");
}

#[test]
fn another_screen_points_to_a_function_and_a_search_to_the_next() {
    let mut state = State::default();
    state.point_to("send");
    state.show(PanelView::Comparison(ComparisonTab::Functions, compared()));
    assert_eq!(state.selected_name().as_deref(), Some("send"));
    state.search("parse");
    assert!(state.selected_name().is_some_and(|name| name.starts_with("parse")));
}

#[test]
fn orders_put_what_chance_may_have_done_below_but_for_the_cost() {
    let row = |name: &str, base: f64, new: f64, real: bool| {
        let code = compared().one().and_then(|found| found.code.clone()).unwrap_or_else(|| panic!("there is code"));
        CodeRow { name: name.into(), base, new, difference: new - base, real, ..code.functions[0].clone() }
    };
    let rows = [row("big", 900.0, 890.0, false), row("tenfold", 1.0, 10.0, true), row("dearer", 100.0, 150.0, true)];
    for (order, expected) in [
        (Order::Change, ["dearer", "tenfold", "big"]),
        (Order::Ratio, ["tenfold", "dearer", "big"]),
        (Order::Cost, ["big", "dearer", "tenfold"]),
    ] {
        let mut all: Vec<&CodeRow> = rows.iter().collect();
        order.sort(&mut all);
        assert_eq!(all.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), expected, "{order:?}");
    }
}
