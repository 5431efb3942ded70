//! A session on a data set of many machines: its own screens, no time, and everything on disk already.

use super::*;
use crate::tui::panel::ScreenId;
use crate::tui::screens::SessionKind;
use crate::view::fleet::fixture::{empty, full, hostile};
use crate::view::fleet::{FleetTables, FleetView};
use crate::view::query::FleetTab;
use crate::view::snapshot::snapshot_of_fleet;
use std::sync::Arc;

fn begun(view: FleetView, size: (u16, u16)) -> (App, Arc<FleetTables>) {
    let tables = Arc::new(FleetTables::of(view));
    let mut app = App::opening(&settings(), size);
    let effects = app.update(Msg::Opened { kind: SessionKind::Fleet, live: false, baseline: false });
    answered(&mut app, &tables, effects);
    (app, tables)
}

fn answered(app: &mut App, tables: &Arc<FleetTables>, mut effects: Vec<Effect>) {
    while let Some(effect) = effects.pop() {
        if let Effect::Snapshot(query) = effect {
            effects.extend(app.update(Msg::Seen(Box::new(snapshot_of_fleet(tables, query)))));
        }
    }
}

fn pressed(app: &mut App, tables: &Arc<FleetTables>, keys: &str) {
    for name in keys.split(' ') {
        let effects = app.update(Msg::Input(key(name)));
        answered(app, tables, effects);
    }
}

#[test]
fn the_head_has_the_data_set_and_the_foot_what_it_covers() {
    for (width, height) in [(80, 24), (160, 50)] {
        let (app, _) = begun(full(), (width, height));
        insta::assert_snapshot!(format!("fleet_{width}x{height}"), screen(&app, width, height));
    }
    let (app, _) = begun(empty(), (80, 24));
    insta::assert_snapshot!("fleet_empty_80x24", screen(&app, 80, 24));
}

#[test]
fn its_screens_have_number_keys() {
    let (mut app, tables) = begun(full(), (100, 30));
    for (name, expected) in [
        ("2", "Unusual hosts 3"),
        ("3", "Functions 3"),
        ("4", "Influence of neighbours 2"),
        ("5", "Configurations 1"),
        ("6", "Seasons 2"),
        ("1", "the most CPU time first"),
    ] {
        pressed(&mut app, &tables, name);
        let text = screen(&app, 100, 30);
        assert!(text.contains(expected), "{name}: {text}");
    }
    pressed(&mut app, &tables, "7");
    assert_eq!(app.screen, ScreenId::Fleet(FleetTab::Jobs));
    assert!(screen(&app, 100, 30).contains("a data set has no such screen"));
}

#[test]
fn esc_leaves_the_details_after_the_search() {
    let (mut app, tables) = begun(full(), (100, 30));
    pressed(&mut app, &tables, "/ s e a r c h Enter Enter");
    let text = screen(&app, 100, 30);
    assert!(text.contains("search on AMD EPYC") && text.contains("all jobs"), "{text}");
    pressed(&mut app, &tables, "Esc");
    assert!(screen(&app, 100, 30).contains("all jobs") && app.search.is_empty());
    pressed(&mut app, &tables, "Esc");
    assert!(screen(&app, 100, 30).contains("the most CPU time first"));
}

#[test]
fn what_needs_a_time_or_a_profile_says_so_and_is_not_in_the_help() {
    let (mut app, tables) = begun(full(), (100, 60));
    for (name, said) in [
        ("Space", "shown as a whole"),
        ("]", "shown as a whole"),
        ("w", "already on disk"),
        ("e", "--format html"),
        ("o", "CPU time only"),
        ("x", "no such screen"),
    ] {
        pressed(&mut app, &tables, name);
        assert!(screen(&app, 100, 60).contains(said), "{name}: {}", screen(&app, 100, 60));
    }
    pressed(&mut app, &tables, "?");
    let text = screen(&app, 100, 60);
    assert!(text.contains("the job on the whole screen") && !text.contains("back by a window"), "{text}");
}

#[test]
fn it_is_drawn_at_any_size_and_notes_are_a_key_away() {
    let (mut app, tables) = begun(hostile(), (100, 30));
    for name in ["1", "2", "3", "4", "5", "6", "?", "Esc", "!"] {
        pressed(&mut app, &tables, name);
        for (width, height) in [(1, 1), (20, 5), (40, 10), (80, 24), (250, 80)] {
            app.update(Msg::Input(Event::Resize(width, height)));
            let text = screen(&app, width, height);
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        }
    }
    assert!(screen(&app, 100, 30).contains("What to know before trusting the numbers"));
}
