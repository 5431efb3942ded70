//! Hosts the session on a sweep or a comparison: takes snapshots on separate threads, forwards notifications, and ends
//! the sweep with the session. All data comes from its [`Source`].

use crate::cli::out::Terminal;
use crate::cli::terminal_session::{self, ExitReport, ShutdownGuard, TerminalSession};
use crate::error::{Context, Result};
use crate::sys::clock::Clock;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{Host, LoopState};
use crate::tui::settings::Settings;
use crate::tui::term::Term;
use crate::units::Nanos;
use crate::view::query::Query;
use crate::view::snapshot::Snapshot;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The data source of a session.
#[derive(Clone)]
pub(in crate::cli) struct Source {
    /// Takes a snapshot of the current state.
    pub look: Arc<dyn Fn(Query) -> Snapshot + Send + Sync>,
    /// Whether runs are still being executed.
    pub live: bool,
}

/// Notifies a session from any thread. Notifications after the session's end are ignored.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Notifier(Sender<Msg>);

impl Notifier {
    /// There is new data.
    pub fn fresh(&self) {
        let _ = self.0.send(Msg::Fresh);
    }

    /// All runs are finished.
    pub fn over(&self, why: &str) {
        let _ = self.0.send(Msg::Ended(why.to_string()));
    }

    /// Ends the session: there is nothing to show. The reason is printed once the terminal is restored.
    pub fn end(&self) {
        let _ = self.0.send(Msg::Stop);
    }

    fn opened(&self, result: Result<bool>) {
        let msg = result.map_or_else(Msg::Failed, |live| Msg::Opened { live, baseline: false });
        let _ = self.0.send(msg);
    }
}

/// Runs a session on a terminal. `open` starts or reads the source, on a separate thread. `stop` ends it when the
/// session is left for any reason. Returns once no run uses the standard streams, which are restored then.
///
/// # Errors
/// Any error of `open`; `Usage` without a terminal.
pub(in crate::cli) fn session(
    app: fn(&Settings, (u16, u16)) -> App,
    open: impl FnOnce(&Notifier) -> Result<Source> + Send + 'static,
    stop: impl FnOnce() + 'static,
    terminal: &Terminal,
) -> Result<()> {
    terminal_session::hold(terminal, |seat| {
        let app = app(&seat.settings, seat.size);
        let desk = SweepHost::new(seat, Box::new(stop));
        desk.open(open)?;
        Ok((app, desk, Vec::new()))
    })
}

struct SweepHost {
    term: Term<File>,
    clock: Clock,
    sender: Sender<Msg>,
    /// The opening thread sends the source before it sends the message about it.
    arrivals: (Sender<Source>, Receiver<Source>),
    source: Option<Source>,
    stop: Box<dyn FnOnce()>,
}

impl SweepHost {
    fn new(seat: TerminalSession, stop: Box<dyn FnOnce()>) -> SweepHost {
        let TerminalSession { term, sender, .. } = seat;
        SweepHost { term, clock: Clock::start(), sender, arrivals: channel(), source: None, stop }
    }

    fn open(&self, open: impl FnOnce(&Notifier) -> Result<Source> + Send + 'static) -> Result<()> {
        let (bell, arrival) = (Notifier(self.sender.clone()), self.arrivals.0.clone());
        let begin = move || {
            let opened = open(&bell).map(|source| {
                let live = source.live;
                // A send fails only if the session is over.
                let _ = arrival.send(source);
                live
            });
            bell.opened(opened);
        };
        thread("opening", begin)
    }

    fn look(&mut self, query: Query) -> Result<()> {
        if let Ok(source) = self.arrivals.1.try_recv() {
            self.source = Some(source);
        }
        let Some(source) = self.source.clone() else { return Ok(()) };
        let sender = self.sender.clone();
        thread("look", move || {
            let _ = sender.send(Msg::Seen(Box::new((source.look)(query))));
        })
    }

    fn tell(&self, result: Result<()>) {
        if let Err(error) = result {
            let _ = self.sender.send(Msg::Failed(error));
        }
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_string()).spawn(work).map(drop).context(|| "cannot start a thread")
}

impl Host for SweepHost {
    fn carry_out(&mut self, effect: Effect) -> Result<LoopState> {
        match effect {
            Effect::Snapshot(query) => {
                let looked = self.look(query);
                self.tell(looked);
            }
            Effect::Copy(text) => {
                self.term.copy(&text)?;
                let _ = self.sender.send(Msg::Done(format!("copied: {text}")));
            }
            Effect::Redraw => self.term.clear()?,
            Effect::Suspend => self.term.suspend(crate::session::suspend)?,
            Effect::Quit => return Ok(LoopState::Quit),
            // Such a session has no picker, no time axis and nothing to save.
            Effect::Choose
            | Effect::Open(_)
            | Effect::Close
            | Effect::Mark(_)
            | Effect::Record(_)
            | Effect::Export { .. } => {}
        }
        Ok(LoopState::On)
    }

    fn draw(&mut self, app: &App) -> Result<()> {
        self.term.draw(|frame| app.draw(frame))
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl ShutdownGuard for SweepHost {
    fn leave(mut self, _by_force: bool) -> ExitReport {
        self.term.leave();
        (self.stop)();
        ExitReport::default()
    }
}
