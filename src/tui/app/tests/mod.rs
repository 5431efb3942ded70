#![expect(clippy::unwrap_used, reason = "tests")]
use super::App;
use super::state::SessionPhase;
use crate::error::{Error, ErrorKind};
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::overlay::Overlay;
use crate::tui::screens::SessionKind;
use crate::tui::testing::{head, key, screen, settings};
use crate::units::Nanos;
use crate::view::Axis;
use crate::view::picker::Choices;
use crate::view::query::{CompareWith, TimeSelector, ViewRequest};
use crate::view::snapshot::{ScreenHeader, Snapshot};
use ratatui::crossterm::event::Event;

mod any_input;
mod comparison;
mod fleet;
mod session;
mod sweep;

fn app() -> App {
    let mut app = App::opening(&settings(), (80, 24));
    let effects = app.update(Msg::Opened { kind: SessionKind::Profile, live: true, baseline: false });
    assert!(matches!(effects.as_slice(), [Effect::Snapshot(_)]));
    answer(&mut app, &effects[0]);
    app
}

/// Answers a requested snapshot with a head of 20 windows and no view.
fn answer(app: &mut App, effect: &Effect) -> Vec<Effect> {
    let Effect::Snapshot(query) = effect else { panic!("{effect:?}") };
    let body = Err(Error::new(ErrorKind::NotFound, "no view in this test"));
    app.update(Msg::Seen(Box::new(Snapshot { query: query.clone(), head: head(20), body })))
}

/// Presses keys and answers every snapshot request; returns the other effects.
fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let mut others = Vec::new();
    for name in keys.split(' ') {
        let mut effects = app.update(Msg::Input(key(name)));
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::Snapshot(_) => effects.extend(answer(app, &effect)),
                other => others.push(other),
            }
        }
    }
    others
}

fn seconds(value: u64) -> Nanos {
    Nanos(value * 1_000_000_000)
}
