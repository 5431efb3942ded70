//! Hosts the session on a sweep or a comparison: takes snapshots on separate threads, forwards notifications, and stops
//! the work behind them with the session. All data comes from its [`SnapshotSource`].

use super::out::Terminal;
use super::screen::{OpenResult, Screen};
use super::terminal_session::{self, ExitReport, ShutdownGuard};
use crate::error::{Context, Result};
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{Host, LoopState};
use crate::tui::settings::Settings;
use crate::units::Nanos;
use crate::view::query::Query;
use crate::view::snapshot::Snapshot;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The data source of a session.
#[derive(Clone)]
pub(super) struct SnapshotSource {
    /// Takes a snapshot of the current state.
    pub snapshot: Arc<dyn Fn(Query) -> Snapshot + Send + Sync>,
    /// Whether runs are still being executed.
    pub live: bool,
}

/// Notifies a session from any thread. Notifications after the session's end are ignored.
#[derive(Debug, Clone)]
pub(super) struct Notifier(Sender<Msg>);

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
pub(super) fn session(
    app: fn(&Settings, (u16, u16)) -> App,
    open: impl FnOnce(&Notifier) -> Result<SnapshotSource> + Send + 'static,
    stop: impl FnOnce() + 'static,
    terminal: &Terminal,
) -> Result<()> {
    terminal_session::hold(terminal, |session| {
        let app = app(&session.settings, session.size);
        let host = SnapshotHost { screen: Screen::of(session), source: OpenResult::expected(), stop: Box::new(stop) };
        host.open(open)?;
        Ok((app, host, Vec::new()))
    })
}

struct SnapshotHost {
    screen: Screen,
    source: OpenResult<SnapshotSource>,
    stop: Box<dyn FnOnce()>,
}

impl SnapshotHost {
    fn open(&self, open: impl FnOnce(&Notifier) -> Result<SnapshotSource> + Send + 'static) -> Result<()> {
        let (notifier, arrival) = (Notifier(self.screen.sender.clone()), self.source.sender());
        thread("opening", move || {
            let opened = open(&notifier).map(|source| {
                let live = source.live;
                // A send fails only if the session is over.
                let _ = arrival.send(source);
                live
            });
            notifier.opened(opened);
        })
    }

    fn snapshot(&mut self, query: Query) -> Result<()> {
        let Some(source) = self.source.latest().cloned() else { return Ok(()) };
        let sender = self.screen.sender.clone();
        thread("snapshot", move || {
            let _ = sender.send(Msg::Seen(Box::new((source.snapshot)(query))));
        })
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    std::thread::Builder::new().name(name.to_string()).spawn(work).map(drop).context(|| "cannot start a thread")
}

/// Such a session has no picker, no time axis and nothing to save.
impl Host for SnapshotHost {
    fn carry_out(&mut self, effect: Effect) -> Result<LoopState> {
        match effect {
            Effect::Snapshot(query) => {
                if let Err(error) = self.snapshot(query) {
                    self.screen.send(Msg::Failed(error));
                }
                Ok(LoopState::On)
            }
            effect => self.screen.carry_out(effect),
        }
    }

    fn draw(&mut self, app: &App) -> Result<()> {
        self.screen.draw(app)
    }

    fn now(&self) -> Nanos {
        self.screen.now()
    }
}

impl ShutdownGuard for SnapshotHost {
    fn leave(mut self, _by_force: bool) -> ExitReport {
        self.screen.leave();
        (self.stop)();
        ExitReport::default()
    }
}
