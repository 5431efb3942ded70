//! The main loop: messages in, effects out, and a frame after a change, at most 20 per second.
//! It waits for nothing but the next message.

use super::app::App;
use super::effect::Effect;
use super::msg::Msg;
use crate::error::Result;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The shortest time between two frames.
const FRAME: Nanos = Nanos(50_000_000);

/// Whether the session continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopState {
    /// It continues.
    On,
    /// It ends.
    Quit,
}

/// Carries out effects, draws, and provides the time.
pub trait Host {
    /// Starts or completes an effect; its outcome is sent as a message.
    ///
    /// # Errors
    /// The terminal is gone. All other failures are sent as messages.
    fn carry_out(&mut self, effect: Effect) -> Result<LoopState>;

    /// Draws the session on the terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    fn draw(&mut self, app: &App) -> Result<()>;

    /// The time on any monotonic clock.
    fn now(&self) -> Nanos;
}

/// Runs the session until it ends; `first` contains the initial effects.
///
/// # Errors
/// The terminal is gone.
pub fn run(app: &mut App, inbox: &Receiver<Msg>, host: &mut dyn Host, first: Vec<Effect>) -> Result<()> {
    let mut due = first;
    let mut drawn: Option<Nanos> = None;
    let mut changed = true;
    loop {
        for effect in due.drain(..) {
            if host.carry_out(effect)? == LoopState::Quit {
                return Ok(());
            }
        }
        changed |= app.take_dirty();
        let wait = drawn.map_or(Nanos(0), |last| (last + FRAME) - host.now());
        if changed && wait.0 == 0 {
            host.draw(app)?;
            (drawn, changed) = (Some(host.now()), false);
        }
        let received = if changed {
            match inbox.recv_timeout(Duration::from_nanos(wait.0)) {
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(msg) => msg,
            }
        } else {
            let Ok(msg) = inbox.recv() else { return Ok(()) };
            msg
        };
        due.extend(app.update(received));
        // All messages that have queued up go into the same frame.
        while due.is_empty() {
            let Ok(msg) = inbox.try_recv() else { break };
            due.extend(app.update(msg));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::tui::testing::{key, settings};
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    #[derive(Default)]
    struct Fake {
        now: Cell<u64>,
        frames: Vec<u64>,
        done: Vec<Effect>,
    }

    impl Host for Fake {
        fn carry_out(&mut self, effect: Effect) -> Result<LoopState> {
            let quit = effect == Effect::Quit;
            self.done.push(effect);
            Ok(if quit { LoopState::Quit } else { LoopState::On })
        }

        fn draw(&mut self, _: &App) -> Result<()> {
            self.frames.push(self.now.get());
            Ok(())
        }

        /// Each reading of the clock advances it by one millisecond.
        fn now(&self) -> Nanos {
            self.now.set(self.now.get() + 1_000_000);
            Nanos(self.now.get())
        }
    }

    #[test]
    fn frames_are_drawn_on_change_and_kept_apart() {
        let (sender, inbox) = channel();
        for _ in 0..200 {
            sender.send(Msg::Done("something".into())).unwrap();
        }
        sender.send(Msg::Input(key("q"))).unwrap();
        let (mut app, mut host) = (App::new(&settings(), (80, 24)), Fake::default());
        run(&mut app, &inbox, &mut host, vec![Effect::Choose]).unwrap();
        assert_eq!(host.done, [Effect::Choose, Effect::Quit]);
        assert!(!host.frames.is_empty() && host.frames.len() < 20, "{} frames", host.frames.len());
        assert!(host.frames.windows(2).all(|pair| pair[1] - pair[0] >= FRAME.0));
    }

    #[test]
    fn it_ends_when_nobody_can_send_any_more() {
        let (sender, inbox) = channel();
        drop(sender);
        let (mut app, mut host) = (App::new(&settings(), (80, 24)), Fake::default());
        assert!(run(&mut app, &inbox, &mut host, vec![]).is_ok());
    }
}
