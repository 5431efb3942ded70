//! Executes the session's effects: snapshots on the data's own thread, opening and closing on separate threads.
//! The result of an effect is returned as a message.

use super::attached_baseline::AttachedBaseline;
use super::choices::Chooser;
use super::opened::{OpenedSession, ProfileSession, SessionData};
use super::opening::{Opening, no_run};
use super::references::Reference;
use super::writing;
use crate::cli::baseline;
use crate::cli::screen::{OpenResult, Screen};
use crate::cli::snapshot_source::Notifier;
use crate::cli::terminal_session::{ExitReport, ShutdownGuard, TerminalSession};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::ops;
use crate::session::{self, History, Limit};
use crate::store;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{Host, LoopState};
use crate::units::{Nanos, Ops};
use crate::view::functions::FunctionsView;
use crate::view::number::three_digits;
use crate::view::picker::Choice;
use crate::view::query::{Bounds, Query, ViewRequest};
use crate::view::snapshot::{PanelView, SessionBaseline, snapshot_of_profile};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

/// In place of an instruction of a program on another machine.
const NO_REMOTE_CODE: &str = "- (code is not available remotely)";

/// The session's resources.
#[derive(Debug)]
pub(super) struct SessionHost {
    screen: Screen,
    opening: Opening,
    limit: Limit,
    chooser: Option<Chooser>,
    opened: OpenResult<OpenedSession>,
    /// The session that was open before; it stays until another one is.
    former: Option<OpenedSession>,
    /// Threads that save former sessions; each returns its messages.
    saving: Vec<JoinHandle<Vec<String>>>,
}

impl SessionHost {
    pub(super) fn new(session: TerminalSession, opening: Opening) -> SessionHost {
        let limit = session.limit;
        SessionHost {
            screen: Screen::of(session),
            opening,
            limit,
            chooser: None,
            opened: OpenResult::expected(),
            former: None,
            saving: Vec::new(),
        }
    }

    /// Opens the command line's target.
    pub(super) fn open_target(&mut self) -> Result<()> {
        let (opening, limit) = (self.opening.clone(), self.limit);
        let target = opening.target.clone();
        self.open(move |notifier| opening.capture(target, limit, notifier))
    }

    /// Opens what was prepared.
    pub(super) fn open_prepared(
        &mut self,
        open: impl FnOnce(Limit, Notifier) -> Result<OpenedSession> + Send + 'static,
    ) -> Result<()> {
        let limit = self.limit;
        self.open(move |notifier| open(limit, notifier))
    }

    /// Opens a choice.
    fn choose(&mut self, choice: Choice) -> Result<()> {
        if let Choice::Run(width) = choice {
            return self.open_run(width);
        }
        let (opening, limit) = (self.opening.clone(), self.limit);
        let before = self.opened.latest().or(self.former.as_ref());
        let before = before.and_then(|before| before.profile()?.target.clone());
        self.open(move |notifier| opening.open(choice, before, limit, notifier))
    }

    /// Opens the recording of a run of the open sweep, whose runs are over.
    fn open_run(&mut self, width: Option<u32>) -> Result<()> {
        let sweep = match self.opened.latest().map(|opened| &opened.data) {
            Some(SessionData::Snapshots { source, sweep }) => Some((source, sweep.as_ref())),
            _ => None,
        };
        let path = match sweep {
            Some((_, Some(own))) if own.running.is_running() => {
                Err(Error::new(ErrorKind::Usage, "runs are still executed: a run can be opened when the sweep is over"))
            }
            Some((source, _)) => (source.recording)(width).ok_or_else(no_run),
            None => Err(no_run()),
        };
        let opening = self.opening.clone();
        self.open(move |notifier| opening.file(&path?, notifier))
    }

    /// Opens what `open` makes, on a separate thread.
    fn open(&mut self, open: impl FnOnce(Notifier) -> Result<OpenedSession> + Send + 'static) -> Result<()> {
        self.chooser = None;
        // After a choice that failed, the former one is still that.
        self.former = self.opened.take().or_else(|| self.former.take());
        let (notifier, arrival) = (Notifier::new(self.screen.sender.clone()), self.opened.sender());
        thread("opening", move || match open(notifier.clone()) {
            Ok(opened) => {
                let message = opened.message();
                // If the session is over, the opened session is dropped here.
                let _ = arrival.send(opened);
                notifier.send(message);
            }
            Err(error) => notifier.send(Msg::Failed(error)),
        })
    }

    /// Runs a job on the history; its message arrives when it is done.
    fn on_history(&mut self, job: impl FnOnce(&mut History) -> Msg + Send + 'static) {
        let Some(opened) = self.opened.latest() else { return };
        let notifier = opened.notifier.clone();
        if let Some(profile) = opened.profile() {
            profile.live_session.submit(move |history| notifier.send(job(history)));
        }
    }

    fn profile(&mut self) -> Option<&ProfileSession> {
        self.opened.latest().and_then(OpenedSession::profile)
    }

    fn submit(&mut self, query: Query) -> Result<()> {
        let Some(opened) = self.opened.latest() else { return Ok(()) };
        let Reference { recording, usual } = match &opened.data {
            SessionData::Profile(profile) => profile.reference.now(),
            SessionData::Snapshots { source, .. } => {
                let (source, notifier) = (source.clone(), opened.notifier.clone());
                return thread("snapshot", move || notifier.send(Msg::Seen(Box::new((source.snapshot)(query)))));
            }
        };
        self.on_history(move |history| {
            let usual = usual.as_deref();
            // Other screens show the state alone, which the windows so far have for each moment.
            let moment = query.moment().filter(|_| query.request == ViewRequest::Baseline);
            let against = usual.and_then(|usual| {
                Some(SessionBaseline { baseline: &usual.baseline, view: usual.comparison(history, moment)? })
            });
            let mut seen = snapshot_of_profile(
                history.profile(),
                recording.as_deref(),
                against,
                bounds(history),
                history.is_live(),
                query,
            );
            if let Ok(PanelView::Functions(FunctionsView { detail: Some(detail), .. })) = &mut seen.body {
                let (profile, code) = history.with_code();
                match code {
                    Some(code) => {
                        detail.instructions.iter_mut().for_each(|own| own.text = code.text(profile, own.frame));
                        detail.add_mix(|frame| code.class(profile, frame));
                    }
                    None => {
                        detail.instructions.iter_mut().for_each(|own| own.text = Some(NO_REMOTE_CODE.to_string()));
                        detail.add_mix(|_| None);
                    }
                }
            }
            Msg::Seen(Box::new(seen))
        });
        Ok(())
    }

    fn usual(&mut self) -> Option<Arc<AttachedBaseline>> {
        self.profile().and_then(|profile| profile.reference.now().usual)
    }

    /// Compares the session with a baseline or a recording from now on.
    fn compare(&mut self, path: PathBuf) -> Result<()> {
        let Some(opened) = self.opened.latest() else { return Ok(()) };
        let Some(reference) = opened.profile().map(|profile| profile.reference.clone()) else { return Ok(()) };
        if baseline::is_one(&path) {
            self.on_history(move |history| done(reference.compare(history, &store::baseline::path(&path))));
            return Ok(());
        }
        let notifier = opened.notifier.clone();
        // A recording may take a while to read, and the session goes on meanwhile.
        thread("reference", move || {
            notifier.send(match session::open(&path) {
                Ok(recording) => {
                    reference.set_recording(recording);
                    Msg::Compared(format!("changes are shown against {}", path.display()))
                }
                Err(error) => Msg::Failed(error),
            });
        })
    }

    fn learn(&mut self, path: Option<PathBuf>) {
        if let Some(reference) = self.profile().map(|profile| profile.reference.clone()) {
            self.on_history(move |history| done(reference.learn(history, path)));
        }
    }

    /// Counts operations from now on. The first values say whether the source is the right one.
    fn count(&mut self, spec: String) -> Result<()> {
        let Some(opened) = self.opened.latest() else { return Ok(()) };
        let Some(handle) = opened.profile().map(|profile| profile.live_session.handle()) else { return Ok(()) };
        let notifier = opened.notifier.clone();
        thread("operations", move || {
            let first = ops::parse(&spec).and_then(|parsed| handle.count_operations(parsed));
            notifier.send(done(first.map(|(ops, span)| first_values(&spec, ops, span))));
        })
    }

    fn record(&mut self, path: Option<PathBuf>) {
        let usual = self.usual();
        self.on_history(move |history| done(writing::recording(history, path, usual.as_deref())));
    }

    /// Ends the former session once another one is open: on a separate thread, because the last names may take a while.
    /// Its history is saved, unless it is on disk.
    fn end_former(&mut self) {
        if self.opened.latest().is_none() {
            return;
        }
        let Some(former) = self.former.take() else { return };
        former.notifier.mute();
        let sender = self.screen.sender.clone();
        self.saving.push(std::thread::spawn(move || {
            let saved = former.save().map(|saved| saved.map(Some));
            let messages = [saved.unwrap_or(Ok(None)), former.finish()];
            let written = messages.iter().filter_map(|message| message.as_ref().ok()?.clone()).collect();
            for message in messages.into_iter().filter_map(Result::transpose) {
                // The session may be over; its end then shows what was written.
                let _ = sender.send(done(message));
            }
            written
        }));
    }
}

impl ShutdownGuard for SessionHost {
    /// Restores the terminal and ends the capture. After a forced end, saves the history first, unless the whole
    /// session was being recorded.
    fn leave(mut self, by_force: bool) -> ExitReport {
        self.screen.leave();
        let mut leaving = ExitReport::default();
        self.end_former();
        leaving.messages.extend(self.saving.drain(..).filter_map(|saving| saving.join().ok()).flatten());
        let Some(opened) = self.opened.take().or_else(|| self.former.take()) else { return leaving };
        if by_force {
            match opened.save() {
                Some(Ok(message)) => leaving.messages.push(message),
                Some(Err(error)) => leaving.failure = Some(error),
                None => {}
            }
        }
        match opened.finish() {
            Ok(message) => leaving.messages.extend(message),
            Err(error) => leaving.failure = Some(error),
        }
        leaving
    }
}

impl Host for SessionHost {
    fn carry_out(&mut self, effect: Effect) -> Result<LoopState> {
        self.end_former();
        match effect {
            Effect::Snapshot(query) => self.submit(query)?,
            Effect::Choose => self.chooser = Some(Chooser::start(self.screen.sender.clone())?),
            Effect::Open(choice) => self.choose(choice)?,
            Effect::Return => {
                self.chooser = None;
                let former = self.former.take();
                self.opened.put_back(former);
            }
            Effect::Mark(label) => {
                if let Some(profile) = self.profile() {
                    profile.live_session.mark(label);
                }
            }
            Effect::Record(path) => self.record(path),
            Effect::Compare(path) => self.compare(path)?,
            Effect::Learn(path) => self.learn(path),
            Effect::Count(spec) => self.count(spec)?,
            Effect::Export { query, flame, path } => {
                let usual = self.usual();
                self.on_history(move |history| {
                    let baseline = usual.as_deref().map(|usual| &*usual.baseline);
                    let shown =
                        writing::FlameExport { bounds: bounds(history), query: &query, flame: &flame, baseline };
                    done(writing::picture(history, &shown, path))
                });
            }
            effect => return self.screen.carry_out(effect),
        }
        Ok(LoopState::On)
    }

    fn draw(&mut self, app: &App) -> Result<()> {
        self.screen.draw(app)
    }

    fn now(&self) -> Nanos {
        self.screen.now()
    }
}

fn bounds(history: &History) -> Bounds {
    // A time range ends before its end, at which an import has its last record.
    let now = if history.is_live() { history.now() } else { history.now() + Nanos(1) };
    Bounds { since: history.since(), now }
}

fn first_values(spec: &str, ops: Ops, span: Nanos) -> String {
    match ops.0 {
        _ if span == Nanos(0) => format!("{spec}: no value yet"),
        0 => format!("{spec}: no operation in the first {:.1} s; :ops takes another source", span.seconds()),
        count => format!(
            "{spec}: {count} operations in the first {:.1} s, {}/s",
            span.seconds(),
            three_digits(count as f64 / span.seconds())
        ),
    }
}

fn done(result: Result<String>) -> Msg {
    result.map_or_else(Msg::Failed, Msg::Done)
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_string()).spawn(work).map(drop).context(|| "cannot start a thread")
}
