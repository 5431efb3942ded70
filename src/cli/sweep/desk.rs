//! Hosts the session on a sweep, or on a comparison: looks taken on threads of their own, news handed on, the sweep ended
//! with the session. It never runs a sweep and never reads one: what it shows comes from its [`Source`].

use crate::cli::out::Terminal;
use crate::cli::seat::{self, Holder, Leaving, Seat};
use crate::error::{Context, Result};
use crate::sys::clock::Clock;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::{Flow, Host};
use crate::tui::settings::Settings;
use crate::tui::term::Term;
use crate::units::Nanos;
use crate::view::look::{Look, Query};
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Where a session's looks come from.
#[derive(Clone)]
pub(in crate::cli) struct Source {
    /// A look at what there is now.
    pub look: Arc<dyn Fn(Query) -> Look + Send + Sync>,
    /// Whether runs are still being made.
    pub live: bool,
}

/// Tells a session of news, from any thread. Nobody minds if the session is over.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Bell(Sender<Msg>);

impl Bell {
    /// There is something new to look at.
    pub fn fresh(&self) {
        let _ = self.0.send(Msg::Fresh);
    }

    /// No more runs will be made.
    pub fn over(&self, why: &str) {
        let _ = self.0.send(Msg::Ended(why.to_string()));
    }

    /// Ends the session: there is nothing to look at, and the reason is told when the terminal is back.
    pub fn end(&self) {
        let _ = self.0.send(Msg::Stop);
    }

    fn opened(&self, result: Result<bool>) {
        let msg = result.map_or_else(Msg::Failed, |live| Msg::Opened { live, baseline: false });
        let _ = self.0.send(msg);
    }
}

/// Runs a session on what `app` is for. `open` begins or reads it, on a thread of its own; `stop` ends it when the session is left,
/// however that happens. It returns once no run has the standard streams any more: they are put back after that.
///
/// # Errors
/// Those of `open`; `Usage` where there is no terminal.
pub(in crate::cli) fn session(
    app: fn(&Settings, (u16, u16)) -> App,
    open: impl FnOnce(&Bell) -> Result<Source> + Send + 'static,
    stop: impl FnOnce() + 'static,
    terminal: &Terminal,
) -> Result<()> {
    seat::hold(terminal, |seat| {
        let app = app(&seat.settings, seat.size);
        let desk = Desk::new(seat, Box::new(stop));
        desk.open(open)?;
        Ok((app, desk, Vec::new()))
    })
}

struct Desk {
    term: Term<File>,
    clock: Clock,
    sender: Sender<Msg>,
    /// The source comes from the thread that opened it, before the message that says so.
    arrivals: (Sender<Source>, Receiver<Source>),
    source: Option<Source>,
    stop: Box<dyn FnOnce()>,
}

impl Desk {
    fn new(seat: Seat, stop: Box<dyn FnOnce()>) -> Desk {
        let Seat { term, sender, .. } = seat;
        Desk { term, clock: Clock::start(), sender, arrivals: channel(), source: None, stop }
    }

    fn open(&self, open: impl FnOnce(&Bell) -> Result<Source> + Send + 'static) -> Result<()> {
        let (bell, arrival) = (Bell(self.sender.clone()), self.arrivals.0.clone());
        let begin = move || {
            let opened = open(&bell).map(|source| {
                let live = source.live;
                // If the session is over, nobody looks.
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

impl Host for Desk {
    fn carry_out(&mut self, effect: Effect) -> Result<Flow> {
        match effect {
            Effect::Look(query) => {
                let looked = self.look(query);
                self.tell(looked);
            }
            Effect::Copy(text) => {
                self.term.copy(&text)?;
                let _ = self.sender.send(Msg::Done(format!("copied: {text}")));
            }
            Effect::Redraw => self.term.clear()?,
            Effect::Suspend => self.term.suspend(crate::session::suspend)?,
            Effect::Quit => return Ok(Flow::Quit),
            // Such a session has no picker, no time and nothing to write.
            Effect::Choose
            | Effect::Open(_)
            | Effect::Close
            | Effect::Mark(_)
            | Effect::Record(_)
            | Effect::Export { .. } => {}
        }
        Ok(Flow::On)
    }

    fn draw(&mut self, app: &App) -> Result<()> {
        self.term.draw(|frame| app.draw(frame))
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl Holder for Desk {
    fn leave(mut self, _by_force: bool) -> Leaving {
        self.term.leave();
        (self.stop)();
        Leaving::default()
    }
}
