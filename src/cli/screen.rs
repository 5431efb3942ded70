//! What every host of a session does in the same way: the terminal, its clock and messages, and data opened by a thread.

use super::terminal_session::TerminalSession;
use crate::error::Result;
use crate::sys::clock::Clock;
use crate::tui::app::App;
use crate::tui::effect::Effect;
use crate::tui::msg::Msg;
use crate::tui::run::LoopState;
use crate::tui::term::Term;
use crate::units::Nanos;
use std::fs::File;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The terminal of a session with its clock and its messages.
#[derive(Debug)]
pub(super) struct Screen {
    term: Term<File>,
    clock: Clock,
    pub sender: Sender<Msg>,
}

impl Screen {
    pub fn of(session: TerminalSession) -> Screen {
        Screen { term: session.term, clock: Clock::start(), sender: session.sender }
    }

    /// Sends a message to the session; one that comes after its end is dropped.
    pub fn send(&self, msg: Msg) {
        let _ = self.sender.send(msg);
    }

    /// Carries out the effects on the terminal. All others need data and are the host's.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn carry_out(&mut self, effect: Effect) -> Result<LoopState> {
        match effect {
            Effect::Copy(text) => {
                self.term.copy(&text)?;
                self.send(Msg::Done(format!("copied: {text}")));
            }
            Effect::Redraw => self.term.clear()?,
            Effect::Suspend => self.term.suspend(crate::session::suspend)?,
            Effect::Quit => return Ok(LoopState::Quit),
            Effect::Snapshot(_)
            | Effect::Choose
            | Effect::Open(_)
            | Effect::Return
            | Effect::Mark(_)
            | Effect::Record(_)
            | Effect::Compare(_)
            | Effect::Learn(_)
            | Effect::Count(_)
            | Effect::Export { .. } => {}
        }
        Ok(LoopState::On)
    }

    pub fn draw(&mut self, app: &App) -> Result<()> {
        self.term.draw(|frame| app.draw(frame))
    }

    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Restores the terminal.
    pub fn leave(&mut self) {
        self.term.leave();
    }
}

/// Data that a thread opens. The thread sends it before it sends the message about it.
#[derive(Debug)]
pub(super) struct OpenResult<T> {
    channel: (Sender<T>, Receiver<T>),
    latest: Option<T>,
}

impl<T> OpenResult<T> {
    pub fn expected() -> OpenResult<T> {
        OpenResult { channel: channel(), latest: None }
    }

    pub fn sender(&self) -> Sender<T> {
        self.channel.0.clone()
    }

    /// The data that arrived last.
    pub fn latest(&mut self) -> Option<&T> {
        if let Ok(arrived) = self.channel.1.try_recv() {
            self.latest = Some(arrived);
        }
        self.latest.as_ref()
    }

    /// Puts back what was taken, unless something has arrived since.
    pub fn put_back(&mut self, taken: Option<T>) {
        if self.latest().is_none() {
            self.latest = taken;
        }
    }

    pub fn take(&mut self) -> Option<T> {
        self.latest();
        self.latest.take()
    }
}
