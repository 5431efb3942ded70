#![expect(clippy::unwrap_used, reason = "tests")]

use super::Screens;
use super::order::Order;
use crate::tui::keys::{Action, TABLE};
use crate::tui::panel::Panel;
use crate::tui::testing::PanelFixture;
use crate::view::fleet::fixture::{empty, full, hostile, many_jobs, one_job};
use crate::view::fleet::{FleetTables, FleetView};
use crate::view::query::{FleetTab, ViewRequest};
use crate::view::snapshot::PanelView;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use std::sync::Arc;

const TABS: [FleetTab; 6] =
    [FleetTab::Jobs, FleetTab::Hosts, FleetTab::Functions, FleetTab::Suspects, FleetTab::Versions, FleetTab::Usual];

/// The body of the screen in terminals of 80x24 and 160x50.
const SMALL: (u16, u16) = (80, 19);
const LARGE: (u16, u16) = (160, 45);

fn screens(view: FleetView) -> Screens {
    let (mut screens, tables) = (Screens::default(), Arc::new(FleetTables::of(view)));
    for tab in TABS {
        screens.get_mut(tab).show(PanelView::Fleet(tab, Arc::clone(&tables)));
        assert_eq!(screens.get(tab).request(), ViewRequest::Fleet(tab));
    }
    screens
}

fn drawn(panel: &dyn Panel, (width, height): (u16, u16)) -> String {
    PanelFixture::default().described(panel, width, height)
}

fn act(panel: &mut dyn Panel, actions: &[Action], (width, height): (u16, u16)) {
    PanelFixture::default().act_in(panel, actions, width, height);
}

#[test]
fn jobs_stand_above_what_is_known_of_the_selected_one() {
    let mut screens = screens(full());
    let jobs = screens.get_mut(FleetTab::Jobs);
    insta::assert_snapshot!("jobs_80x19", drawn(jobs, SMALL));
    insta::assert_snapshot!("jobs_160x45", drawn(jobs, LARGE));
    act(jobs, &[Action::Down, Action::Down, Action::Down], SMALL);
    let text = drawn(jobs, SMALL);
    assert!(text.contains("unusual hosts unknown"), "{text}");
}

#[test]
fn a_job_is_opened_turned_and_closed() {
    let mut screens = screens(full());
    let jobs = screens.get_mut(FleetTab::Jobs);
    act(jobs, &[Action::Enter], SMALL);
    insta::assert_snapshot!("job_80x19", drawn(jobs, SMALL));
    insta::assert_snapshot!("job_160x45", drawn(jobs, LARGE));
    act(jobs, &[Action::Bottom], SMALL);
    assert!(drawn(jobs, SMALL).contains("Seasons"), "{}", drawn(jobs, SMALL));
    act(jobs, &[Action::Right, Action::Right], SMALL);
    assert!(drawn(jobs, SMALL).contains("search on AMD"), "{}", drawn(jobs, SMALL));
    act(jobs, &[Action::Left, Action::Back], SMALL);
    let text = drawn(jobs, SMALL);
    assert!(text.contains("Jobs") && jobs.selected_name().unwrap() == "frontend", "{text}");
}

#[test]
fn the_other_tables_have_their_screens() {
    let mut screens = screens(full());
    for (tab, name) in TABS.into_iter().zip(["", "hosts", "functions", "suspects", "versions", "usual"]).skip(1) {
        let panel = screens.get_mut(tab);
        insta::assert_snapshot!(format!("{name}_80x19"), drawn(panel, SMALL));
        insta::assert_snapshot!(format!("{name}_160x45"), drawn(panel, LARGE));
    }
    let suspects = screens.get_mut(FleetTab::Suspects);
    act(suspects, &[Action::Right, Action::Enter], SMALL);
    insta::assert_snapshot!("influence_row_80x19", drawn(suspects, SMALL));
    act(suspects, &[Action::Back, Action::Left], SMALL);
    assert!(drawn(suspects, SMALL).contains("Moving together is not proof"), "{}", drawn(suspects, SMALL));
}

#[test]
fn a_data_set_without_windows_says_so_on_every_screen() {
    let screens = screens(empty());
    let texts: Vec<_> = TABS.map(|tab| drawn(screens.get(tab), (80, 5))).into();
    insta::assert_snapshot!("empty_80x5", texts.join("\n----\n"));
}

#[test]
fn one_job_on_one_platform_needs_no_column_for_it() {
    let screens = screens(one_job());
    insta::assert_snapshot!("one_job_80x19", drawn(screens.get(FleetTab::Jobs), SMALL));
    assert!(drawn(screens.get(FleetTab::Hosts), SMALL).contains("no host is unusually expensive"));
}

#[test]
fn many_jobs_scroll_sort_and_are_searched() {
    let mut scrolled = screens(many_jobs());
    let jobs = scrolled.get_mut(FleetTab::Jobs);
    act(jobs, &[Action::PageDown, Action::PageDown, Action::PageDown], LARGE);
    insta::assert_snapshot!("scrolled_160x45", drawn(jobs, LARGE));
    let mut sorted = screens(many_jobs());
    let jobs = sorted.get_mut(FleetTab::Jobs);
    act(jobs, &[Action::Sort, Action::Sort], SMALL);
    let text = drawn(jobs, SMALL);
    assert!(text.contains("by CPI") && text.contains("CPI ▼") && text.contains("2.70"), "{text}");
    act(jobs, &[Action::SortReverse], SMALL);
    assert!(drawn(jobs, SMALL).contains("CPI ▲"), "{}", drawn(jobs, SMALL));
    jobs.search("JOB-142");
    assert_eq!(jobs.selected_name().as_deref(), Some("job-142"));
    act(jobs, &[Action::Filter], SMALL);
    let text = drawn(jobs, SMALL);
    assert!(text.contains("job-142") && !text.contains("job-141"), "{text}");
    jobs.search("no such job");
    assert!(drawn(jobs, SMALL).contains("no job matches the search"));
}

#[test]
fn jobs_without_a_value_are_last_in_either_order() {
    let view = full();
    let last = view.jobs.len() - 1;
    for reversed in [false, true] {
        assert_eq!(Order::Cost.sorted(&view.jobs, reversed).last(), Some(&last));
    }
    assert_eq!(Order::CpuTime.sorted(&view.jobs, true), [3, 2, 1, 0]);
    assert_eq!(Order::Suspects.sorted(&view.jobs, false)[..2], [0, 2]);
    let around = (0..5).fold(Order::default(), |order, _| order.next());
    assert_eq!(around, Order::default());
}

#[test]
fn rows_are_found_by_their_names() {
    let mut screens = screens(full());
    let functions = screens.get_mut(FleetTab::Functions);
    functions.search("KERNEL");
    assert_eq!(functions.selected_name().as_deref(), Some("copy_user_enhanced_fast_string"));
    act(functions, &[Action::Filter], SMALL);
    assert!(!drawn(functions, SMALL).contains("memcpy"), "{}", drawn(functions, SMALL));
    functions.search("");
    assert!(drawn(functions, SMALL).contains("memcpy"));
}

#[test]
fn plain_characters_say_all_without_colours() {
    let screens = screens(full());
    for tab in TABS {
        let text = PanelFixture::plain().described(screens.get(tab), 120, 40);
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn names_of_other_machines_do_not_act() {
    let mut screens = screens(hostile());
    for tab in TABS {
        let panel = screens.get_mut(tab);
        for actions in [&[][..], &[Action::Enter], &[Action::Back, Action::Right, Action::Enter]] {
            act(panel, actions, LARGE);
            let text = drawn(panel, LARGE);
            assert!(!text.chars().any(|c| c.is_control() && c != '\n') && !text.contains('\u{202e}'), "{text:?}");
        }
    }
}

#[test]
fn a_click_chooses_a_row_or_a_table_and_a_second_one_opens_it() {
    let mut screens = screens(full());
    let area = Rect::new(0, 0, SMALL.0, SMALL.1);
    let click = |panel: &mut dyn Panel, column, row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        PanelFixture::default().with(|cx| panel.mouse(event, cx, area));
    };
    let jobs = screens.get_mut(FleetTab::Jobs);
    click(jobs, 4, 4);
    assert_eq!(jobs.selected_name().as_deref(), Some("search"));
    click(jobs, 4, 4);
    assert!(drawn(jobs, SMALL).contains("all jobs"), "{}", drawn(jobs, SMALL));
    let versions = screens.get_mut(FleetTab::Versions);
    click(versions, 18, 0);
    assert!(drawn(versions, SMALL).contains("huge-pages"), "{}", drawn(versions, SMALL));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_size_and_no_key_panics_or_draws_outside(
        (width, height) in (0_u16..310, 0_u16..100),
        (which, tab) in (0_usize..4, 0_usize..6),
        keys in prop::collection::vec(0_usize..TABLE.len(), 0..12),
        (column, row) in (0_u16..310, 0_u16..100),
    ) {
        let view = [full, empty, one_job, hostile][which]();
        let mut screens = screens(view);
        let panel = screens.get_mut(TABS[tab]);
        let area = Rect::new(3, 2, width, height);
        let mut buf = Buffer::empty(Rect::new(0, 0, width + 5, height + 5));
        let event = |kind| MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        panel.search("o");
        PanelFixture::default().with(|cx| {
            keys.iter().for_each(|key| _ = panel.act(TABLE[*key].action, cx, area));
            panel.mouse(event(MouseEventKind::Down(MouseButton::Left)), cx, area);
            panel.mouse(event(MouseEventKind::ScrollDown), cx, area);
            panel.draw(cx, area, &mut buf);
            panel.status(cx);
        });
        for place in buf.area.positions().filter(|place| !area.contains(*place)) {
            prop_assert_eq!(buf[place].symbol(), " ", "at {}", place);
        }
    }
}
