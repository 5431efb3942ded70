//! A session on a sweep: own screens, points instead of time, progress instead of a history.

use super::*;
use crate::tui::panel::ScreenId;
use crate::tui::screens::SessionKind;
use crate::view::flame_tree::FlameTree;
use crate::view::snapshot::{PanelView, snapshot_of_sweep};
use crate::view::sweep::fixture::{self, Machine};
use crate::view::sweep::{Progress, SweepView, difference};

fn view(progress: Option<Progress>) -> SweepView {
    SweepView::of(&fixture::meta(Machine::Clock), &fixture::analysis(Machine::Clock), progress)
}

fn looked(effect: &Effect, progress: Option<Progress>) -> Snapshot {
    let Effect::Snapshot(query) = effect else { panic!("{effect:?}") };
    let points = fixture::analysis(Machine::Clock).points;
    snapshot_of_sweep(view(progress), query.clone(), |n, axis| {
        difference(&points[0], points.iter().find(|point| point.n == n)?, axis)
    })
}

fn begun(progress: Option<Progress>) -> App {
    let mut app = App::opening(&settings(), (100, 30));
    let effects = app.update(Msg::Opened { kind: SessionKind::Sweep, live: progress.is_some(), baseline: false });
    app.update(Msg::Seen(Box::new(looked(&effects[0], progress))));
    app
}

/// Presses keys and answers every snapshot request; returns the last query, if there was one.
fn pressed(app: &mut App, keys: &str) -> Option<crate::view::query::Query> {
    let mut last = None;
    for name in keys.split(' ') {
        let mut effects = app.update(Msg::Input(key(name)));
        while let Some(effect) = effects.pop() {
            if let Effect::Snapshot(query) = &effect {
                last = Some(query.clone());
                effects.extend(app.update(Msg::Seen(Box::new(looked(&effect, None)))));
            }
        }
    }
    last
}

#[test]
fn its_tabs_are_its_own_and_keep_their_numbers() {
    let mut app = begun(None);
    let text = screen(&app, 100, 30);
    assert!(text.contains(" 2 Flame  6 Findings 1  7 Scaling "), "{text}");
    assert!(text.contains("SWEEP") && !text.contains("Overview"), "{text}");
    pressed(&mut app, "1");
    assert_eq!(app.screen, ScreenId::Scaling);
    assert!(screen(&app, 100, 30).contains("a sweep has no such screen"));
    pressed(&mut app, "Tab");
    assert_eq!(app.screen, ScreenId::Flame);
    pressed(&mut app, "6");
    assert!(screen(&app, 100, 30).contains("waiting for a lock"));
}

#[test]
fn one_profile_has_no_scaling() {
    let mut app = app();
    press(&mut app, "7");
    assert_eq!(app.screen, ScreenId::Overview);
    let text = screen(&app, 100, 24);
    assert!(text.contains("only a sweep has this screen") && !text.contains("Scaling"), "{text}");
}

#[test]
fn points_are_stepped_through_from_every_screen_and_the_flame_graph_follows() {
    let mut app = begun(None);
    assert_eq!(pressed(&mut app, "["), None, "the sweep's view holds all points");
    let query = pressed(&mut app, "Enter").unwrap();
    assert_eq!(
        (query.request.clone(), query.point),
        (ViewRequest::Flame { by: Default::default(), against_baseline: false }, Some(12))
    );
    assert!(screen(&app, 100, 30).contains("at n = 12"));
    assert_eq!(pressed(&mut app, "[ [").unwrap().point, Some(6));
    let text = screen(&app, 100, 30);
    assert!(text.contains("CPU time per op: 711 ns at n = 1, 775 ns at n = 6"), "{text}");
    pressed(&mut app, "o");
    let text = screen(&app, 100, 30);
    assert!(text.contains("time blocked per op: 33.0 ns at n = 1, 158 ns at n = 6"), "{text}");
}

#[test]
fn what_needs_a_time_or_a_recording_says_so() {
    let mut app = begun(None);
    for (name, said) in [
        ("Space", "points in place of a time"),
        ("m", "points in place of a time"),
        ("t", "points in place of a time"),
        ("w", "on disk already"),
        ("e", "ironlaw report"),
    ] {
        pressed(&mut app, name);
        let text = screen(&app, 100, 30);
        assert!(text.contains(said), "{name}: {text}");
    }
}

#[test]
fn a_sweep_that_runs_shows_how_far_it_has_come() {
    let progress = Progress { over: 7, planned: 21, running: Some(8), eta_seconds: Some(200) };
    let mut app = begun(Some(progress));
    let text = screen(&app, 100, 30);
    assert!(text.contains("RUNS 7/21"), "{text}");
    assert!(text.contains("7 of 21 runs · n = 8 runs · about 00:03:20 left"), "{text}");
    assert_eq!(app.update(Msg::Input(key("q"))), [Effect::Quit], "and asks nothing");
}

#[test]
fn the_help_begins_with_what_keys_mean_on_the_screen() {
    let mut app = begun(None);
    pressed(&mut app, "?");
    let text = screen(&app, 100, 80);
    let (here, all) = (text.find("On this screen").unwrap(), text.find("Screens").unwrap());
    assert!(here < all && text.contains("flame graph of the change per op"), "{text}");
    assert!(text.contains("scaling: throughput against width") && !text.contains("threads and CPUs"), "{text}");
}

#[test]
fn a_finding_leads_to_its_code_in_the_differential_flame_graph() {
    let mut app = begun(None);
    let query = pressed(&mut app, "6 Enter").unwrap();
    assert_eq!((app.screen, query.axis), (ScreenId::Flame, Axis::OffCpu));
}

#[test]
fn a_sweep_without_a_run_has_nothing_to_compare() {
    let mut app = begun(None);
    let effects = app.update(Msg::Input(key("2")));
    let Effect::Snapshot(query) = &effects[0] else { panic!("{effects:?}") };
    let empty = SweepView { points: vec![], ..view(None) };
    let look = snapshot_of_sweep(empty, query.clone(), |_, _| None);
    assert!(matches!(&look.body, Err(error) if error.to_string().contains("no run is over yet")));
    let look = snapshot_of_sweep(view(None), query.clone(), |_, _| None);
    let error = look.body.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.remedy().is_some()),
        ("n = 16 cannot be compared per operation with the base", true)
    );
    assert!(!matches!(looked(&effects[0], None).body, Ok(PanelView::Flame(FlameTree { difference: None, .. }))));
}
