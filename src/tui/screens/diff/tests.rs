use super::*;
use crate::tui::testing::{PanelFixture, compared};

fn state() -> State {
    let mut state = State::default();
    state.show(PanelView::Comparison(ComparisonTab::Overview, compared()));
    state
}

#[test]
fn the_answer_stands_first_and_every_quantity_has_its_interval() {
    let stand = PanelFixture::default();
    for (name, width, height) in [("wide_160x40", 160, 40), ("usual_100x25", 100, 25), ("narrow_40x12", 40, 12)] {
        insta::assert_snapshot!(name, stand.drawn(&state(), width, height));
    }
    insta::assert_snapshot!("ascii_mono_100x25", PanelFixture::plain().drawn(&state(), 100, 25));
}

#[test]
fn it_is_drawn_at_any_size_before_and_after_it_is_there() {
    let stand = PanelFixture::default();
    for (width, height) in [(1, 1), (20, 2), (20, 5), (3, 40), (300, 90)] {
        stand.drawn(&State::default(), width, height);
        stand.drawn(&state(), width, height);
    }
}

#[test]
fn the_selection_goes_through_the_rows_and_says_all_of_each() {
    let (mut state, stand) = (state(), PanelFixture::default());
    let mut said = Vec::new();
    for _ in 0..12 {
        said.push(stand.with(|cx| state.status(cx)).unwrap_or_default());
        stand.act(&mut state, Action::Down);
    }
    assert!(said.iter().any(|text| text.starts_with("CPU time/op: ")), "{said:#?}");
    let primary = said.iter().find(|text| text.contains("(cpu_ns_per_op)"));
    assert!(primary.is_some_and(|text| text.contains("3 and 3 runs") && text.contains("worse")), "{said:#?}");
}

#[test]
fn a_search_finds_quantities_by_both_names_and_can_leave_the_others_out() {
    let (mut state, stand) = (state(), PanelFixture::default());
    state.search("core_second");
    assert_eq!(state.selected_name().as_deref(), Some("ops_per_core_second"));
    stand.act(&mut state, Action::Filter);
    let text = stand.drawn(&state, 100, 25);
    assert!(text.contains("operations per core-s") && !text.contains("busy CPUs"), "{text}");
}

#[test]
fn enter_leads_to_the_flame_graph_and_details_to_the_code() {
    let (mut state, stand) = (state(), PanelFixture::default());
    assert_eq!(stand.act(&mut state, Action::Enter), Some(vec![PanelRequest::Go(ScreenId::Flame)]));
    assert_eq!(stand.act(&mut state, Action::Detail), Some(vec![PanelRequest::Go(ScreenId::Code)]));
}
