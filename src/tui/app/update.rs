//! Messages in, effects out: the only place that changes the session's state.
//! Updates do not block: at most one snapshot is pending, and requests made meanwhile are merged into the next one.

use super::state::{App, Notice, SessionPhase};
use crate::error::Error;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::screens::{Panels, SessionKind, screen_of};
use crate::tui::time::Time;
use crate::view::Axis;
use crate::view::escape::visible;
use crate::view::query::TaskFilter;
use crate::view::snapshot::Snapshot;

impl App {
    /// Handles a message and returns the effects to carry out.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        match msg {
            // A paused view does not follow the session.
            Msg::Fresh if !matches!(self.phase, SessionPhase::Open { .. }) => Vec::new(),
            Msg::Fresh => self.request(),
            Msg::Input(event) => self.changed(|app| app.input(event)),
            Msg::Seen(look) => self.changed(|app| app.seen(*look)),
            Msg::Choices(choices) => self.changed(|app| {
                app.picker.show(choices);
                Vec::new()
            }),
            Msg::Opened { kind, live, baseline } => self.changed(|app| app.opened(kind, live, baseline)),
            Msg::Done(text) => self.changed(|app| app.say(&text, false)),
            Msg::Compared(text) => self.changed(|app| {
                (app.time.baseline, app.time.compare) = (true, true);
                app.say(&text, false);
                app.request()
            }),
            Msg::Failed(error) => self.changed(|app| app.failed(error)),
            Msg::Ended(why) => self.changed(|app| app.ended(&why)),
            Msg::InputLost | Msg::Stop => {
                self.forced = true;
                vec![Effect::Quit]
            }
        }
    }

    fn changed(&mut self, change: impl FnOnce(&mut App) -> Vec<Effect>) -> Vec<Effect> {
        self.dirty = true;
        change(self)
    }

    /// Requests a snapshot of the shown view, now or as soon as the pending one has arrived.
    pub(super) fn request(&mut self) -> Vec<Effect> {
        if !matches!(self.phase, SessionPhase::Open { .. }) {
            return Vec::new();
        }
        if self.looking {
            self.stale = true;
            return Vec::new();
        }
        self.looking = true;
        vec![Effect::Snapshot(self.query())]
    }

    fn seen(&mut self, look: Snapshot) -> Vec<Effect> {
        self.looking = false;
        if !self.chosen_axis && self.axis != look.head.first_sampled {
            self.axis = look.head.first_sampled;
            self.stale = true;
        }
        self.head = Some(look.head);
        match look.body {
            Ok(body) => {
                self.problem = None;
                self.panels.get_mut(screen_of(&body)).show(body);
            }
            Err(error) => self.problem = Some(error),
        }
        if std::mem::take(&mut self.stale) { self.request() } else { Vec::new() }
    }

    fn opened(&mut self, kind: SessionKind, live: bool, baseline: bool) -> Vec<Effect> {
        (self.phase, self.behind, self.kind) = (SessionPhase::Open { live }, None, kind);
        if !kind.has(self.screen) {
            self.screen = kind.first();
        }
        self.time = Time::new(live, baseline);
        (self.filter, self.filter_label, self.axis) = (TaskFilter::default(), String::new(), Axis::Event(0));
        self.chosen_axis = false;
        (self.head, self.problem, self.ended, self.notice) = (None, None, None, None);
        (self.looking, self.stale) = (false, false);
        self.panels = Panels::default();
        self.request()
    }

    fn ended(&mut self, why: &str) -> Vec<Effect> {
        self.ended = Some(why.to_string());
        let (write, quit) =
            (self.keys.first(crate::tui::keys::Action::Record), self.keys.first(crate::tui::keys::Action::Quit));
        let keep = match self.kind {
            SessionKind::Profile => format!("{write} writes a recording, "),
            SessionKind::Sweep | SessionKind::Comparison | SessionKind::Fleet => String::new(),
        };
        let text = format!("{}; all of it stays browsable: {keep}{quit} quits", visible(why));
        self.notice = Some(Notice { text, bad: false });
        self.request()
    }

    /// A target that fails to open leads back to where it was asked for: the picker, the session behind, or the shell.
    fn failed(&mut self, error: Error) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.phase == SessionPhase::Opening {
            if self.from_picker {
                self.phase = SessionPhase::Picking;
                effects.push(Effect::Choose);
            } else if self.behind.is_some() {
                effects = self.choose_nothing();
            } else {
                self.refused = Some(error);
                return vec![Effect::Quit];
            }
        }
        let hint = error.remedy().map(|remedy| format!(" · {remedy}")).unwrap_or_default();
        self.say(&format!("{error}{hint}"), true);
        effects
    }

    /// Shows a line until the next key. What went wrong stays before what is done meanwhile, which may come at the same moment.
    pub(super) fn say(&mut self, text: &str, bad: bool) -> Vec<Effect> {
        let text = visible(text);
        self.notice = Some(match self.notice.take() {
            Some(wrong) if wrong.bad && !bad => Notice { text: format!("{} · {text}", wrong.text), bad: true },
            _ => Notice { text: text.into_owned(), bad },
        });
        Vec::new()
    }
}
