//! A session on a comparison: own screens under the usual numbers, sides instead of time, a key for the divisor.

use super::*;
use crate::tui::panel::ScreenId;
use crate::tui::screens::SessionKind;
use crate::view::diff::testing::{costlier, sides};
use crate::view::diff::{DiffView, Per};
use crate::view::snapshot::snapshot_of_comparison;
use std::sync::Arc;

fn twice() -> DiffView {
    let mut view = costlier();
    let mut other = view.comparisons[0].clone();
    other.new.label = "second".into();
    other.new.recordings.truncate(1);
    view.comparisons.push(other);
    view
}

fn looked(effect: &Effect, view: &DiffView) -> Snapshot {
    let Effect::Snapshot(query) = effect else { panic!("{effect:?}") };
    let (base, new) = sides();
    let others = vec![new; view.comparisons.len()];
    let settings = crate::analysis::diff::Settings::default();
    let view = query.per.map_or(view.clone(), |per| view.divided_by(per, &base, &others, &settings));
    snapshot_of_comparison(&Arc::new(view), &[Per::Op, Per::Share, Per::None], query.clone())
}

fn begun(view: &DiffView) -> App {
    let mut app = App::opening(&settings(), (100, 30));
    let effects = app.update(Msg::Opened { kind: SessionKind::Comparison, live: false, baseline: false });
    app.update(Msg::Seen(Box::new(looked(&effects[0], view))));
    app
}

fn pressed(app: &mut App, view: &DiffView, keys: &str) {
    for name in keys.split(' ') {
        let mut effects = app.update(Msg::Input(key(name)));
        while let Some(effect) = effects.pop() {
            if let Effect::Snapshot(_) = &effect {
                effects.extend(app.update(Msg::Seen(Box::new(looked(&effect, view)))));
            }
        }
    }
}

#[test]
fn its_screens_have_the_usual_numbers() {
    let view = costlier();
    let mut app = begun(&view);
    let text = screen(&app, 100, 30);
    assert!(text.contains(" 1 Overview  2 Flame  3 Functions  6 Conditions "), "{text}");
    assert!(text.contains("Regression, beyond chance") && text.contains("DIFF") && !text.contains('\u{1b}'), "{text}");
    for (name, expected) in [("2", "CPU time per op: base"), ("3", "CPU time per operation"), ("6", "contradicted")] {
        pressed(&mut app, &view, name);
        let text = screen(&app, 100, 30);
        assert!(text.contains(expected), "{name}: {text}");
    }
    pressed(&mut app, &view, "5");
    assert_eq!(app.screen, ScreenId::Conditions);
    assert!(screen(&app, 100, 30).contains("a comparison has no such screen"));
}

#[test]
fn costs_are_divided_by_what_the_data_allow_at_a_key() {
    let view = costlier();
    let mut app = begun(&view);
    pressed(&mut app, &view, "2 p");
    assert!(screen(&app, 100, 30).contains("CPU time: base 100.00%, new 100.00%"), "{}", screen(&app, 100, 30));
    pressed(&mut app, &view, "p");
    assert!(screen(&app, 100, 30).contains("CPU time in all"), "{}", screen(&app, 100, 30));
    pressed(&mut app, &view, "3");
    assert!(screen(&app, 100, 30).contains("in all"), "{}", screen(&app, 100, 30));
    pressed(&mut app, &view, "p");
    assert!(screen(&app, 100, 30).contains("per operation"), "{}", screen(&app, 100, 30));
}

#[test]
fn sides_are_stepped_through_from_every_screen() {
    let view = twice();
    let mut app = begun(&view);
    assert!(screen(&app, 100, 30).contains("DIFF 1/2"));
    pressed(&mut app, &view, "3 ]");
    let text = screen(&app, 100, 30);
    assert!(text.contains("DIFF 2/2") && text.contains("-> second"), "{text}");
    pressed(&mut app, &view, "] {");
    assert!(screen(&app, 100, 30).contains("DIFF 1/2"));
    let one = costlier();
    let mut app = begun(&one);
    pressed(&mut app, &one, "]");
    assert!(screen(&app, 100, 30).contains("one side is compared with the base"));
}

#[test]
fn what_needs_a_time_or_a_recording_says_so() {
    let view = costlier();
    let mut app = begun(&view);
    for (name, said) in [
        ("Space", "sides in place of a time"),
        ("m", "sides in place of a time"),
        ("w", "already on disk"),
        ("e", "--flamegraph"),
        ("o", "was not recorded"),
    ] {
        pressed(&mut app, &view, name);
        let text = screen(&app, 100, 30);
        assert!(text.contains(said), "{name}: {text}");
    }
    let mut profile = super::app();
    press(&mut profile, "p");
    assert!(screen(&profile, 100, 24).contains("only a comparison"));
}

#[test]
fn a_function_leads_into_the_flame_graph_and_back() {
    let view = costlier();
    let mut app = begun(&view);
    pressed(&mut app, &view, "3 Enter");
    assert_eq!(app.screen, ScreenId::Flame);
    let text = screen(&app, 100, 30);
    assert!(text.contains("zoom") && text.contains("++") && text.contains("parse<&str>"), "{text}");
    pressed(&mut app, &view, "d");
    assert_eq!(app.screen, ScreenId::Code);
}

#[test]
fn it_is_drawn_at_any_size() {
    let view = twice();
    let mut app = begun(&view);
    for name in ["1", "2", "3", "6", "?"] {
        pressed(&mut app, &view, name);
        for (width, height) in [(1, 1), (20, 5), (40, 10), (80, 24), (250, 80)] {
            app.update(Msg::Input(ratatui::crossterm::event::Event::Resize(width, height)));
            screen(&app, width, height);
        }
    }
    assert!(screen(&app, 100, 60).contains("costs per op, CPU second, share, all"), "the help has its own key");
}
