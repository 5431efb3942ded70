//! The loop: messages in, effects out, a frame when something changed and not more than 20 a second.
//! It never waits for anything but the next message.

use super::app::App;
use super::effect::Effect;
use super::msg::Msg;
use crate::error::Result;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The shortest time between two frames.
const FRAME: Nanos = Nanos(50_000_000);

/// Whether the session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    On,
    /// It ends.
    Quit,
}

/// Who carries out effects, draws and knows the time.
pub trait Host {
    /// Carries out an effect, or begins to; what comes of it is sent as a message.
    ///
    /// # Errors
    /// The terminal is gone. Anything else is told by a message.
    fn carry_out(&mut self, effect: Effect) -> Result<Flow>;

    /// Puts the session on the terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    fn draw(&mut self, app: &App) -> Result<()>;

    /// Time on any clock that only moves forward.
    fn now(&self) -> Nanos;
}

/// Runs the session until it is left; `first` are effects to begin with.
///
/// # Errors
/// The terminal is gone.
pub fn run(app: &mut App, inbox: &Receiver<Msg>, host: &mut dyn Host, first: Vec<Effect>) -> Result<()> {
    let mut due = first;
    let mut drawn: Option<Nanos> = None;
    let mut changed = true;
    loop {
        for effect in due.drain(..) {
            if host.carry_out(effect)? == Flow::Quit {
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
        // What has gathered meanwhile belongs to the same frame.
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
        fn carry_out(&mut self, effect: Effect) -> Result<Flow> {
            let quit = effect == Effect::Quit;
            self.done.push(effect);
            Ok(if quit { Flow::Quit } else { Flow::On })
        }

        fn draw(&mut self, _: &App) -> Result<()> {
            self.frames.push(self.now.get());
            Ok(())
        }

        /// Each look at the clock takes a millisecond.
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
