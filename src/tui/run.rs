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

/// The shortest time without a window of a capture after which the head line says so.
const SILENCE: Nanos = Nanos(5_000_000_000);
/// How often silence is looked for.
const SILENCE_CHECK: Duration = Duration::from_secs(1);

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

/// When the last window of a capture came. A capture falls silent if, for example, the connection to its host stalls.
#[derive(Debug, Default)]
struct Arrivals {
    last: Option<Nanos>,
    gap: Nanos,
}

impl Arrivals {
    fn note(&mut self, msg: &Msg, now: Nanos) {
        match msg {
            Msg::Opened { .. } => *self = Arrivals::default(),
            Msg::Fresh => {
                self.gap = self.last.map_or(Nanos(0), |last| now - last);
                self.last = Some(now);
            }
            _ => {}
        }
    }

    /// Whether none came for three times the interval of those before.
    fn have_stopped(&self, now: Nanos) -> bool {
        self.last.is_some_and(|last| now - last > SILENCE.max(Nanos(self.gap.0.saturating_mul(3))))
    }
}

/// Runs the session until it ends; `first` contains the initial effects.
///
/// # Errors
/// The terminal is gone.
pub fn run(app: &mut App, inbox: &Receiver<Msg>, host: &mut dyn Host, first: Vec<Effect>) -> Result<()> {
    let mut due = first;
    let mut drawn: Option<Nanos> = None;
    let mut changed = true;
    let mut arrivals = Arrivals::default();
    loop {
        for effect in due.drain(..) {
            if host.carry_out(effect)? == LoopState::Quit {
                return Ok(());
            }
        }
        app.set_silent(arrivals.have_stopped(host.now()));
        changed |= app.take_dirty();
        let wait = drawn.map_or(Nanos(0), |last| (last + FRAME) - host.now());
        if changed && wait.0 == 0 {
            host.draw(app)?;
            (drawn, changed) = (Some(host.now()), false);
        }
        let patience = if changed { Duration::from_nanos(wait.0) } else { SILENCE_CHECK };
        let mut received = match inbox.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(msg) => Some(msg),
        };
        // All messages that have queued up go into the same frame.
        while let Some(msg) = received {
            arrivals.note(&msg, host.now());
            due.extend(app.update(msg));
            received = if due.is_empty() { inbox.try_recv().ok() } else { None };
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::tui::screens::SessionKind;
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
        sender.send(Msg::Input(key("Ctrl-c"))).unwrap();
        let (mut app, mut host) = (App::new(&settings(), (80, 24)), Fake::default());
        run(&mut app, &inbox, &mut host, vec![Effect::Choose]).unwrap();
        assert_eq!(host.done, [Effect::Choose, Effect::Quit]);
        assert!(!host.frames.is_empty() && host.frames.len() < 20, "{} frames", host.frames.len());
        assert!(host.frames.windows(2).all(|pair| pair[1] - pair[0] >= FRAME.0));
    }

    #[test]
    fn a_capture_is_silent_when_nothing_comes_for_long_at_its_own_pace() {
        let second = |at: u64| Nanos(at * 1_000_000_000);
        let mut arrivals = Arrivals::default();
        assert!(!arrivals.have_stopped(second(100)), "nothing is captured");
        (10..=12).for_each(|at| arrivals.note(&Msg::Fresh, second(at)));
        assert!(!arrivals.have_stopped(second(17)) && arrivals.have_stopped(second(18)));
        arrivals.note(&Msg::Fresh, second(22));
        assert!(!arrivals.have_stopped(second(52)) && arrivals.have_stopped(second(53)), "a window each ten seconds");
        arrivals.note(&Msg::Opened { kind: SessionKind::Profile, live: false, baseline: false }, second(53));
        assert!(!arrivals.have_stopped(second(90)), "another session");
    }

    #[test]
    fn it_ends_when_nobody_can_send_any_more() {
        let (sender, inbox) = channel();
        drop(sender);
        let (mut app, mut host) = (App::new(&settings(), (80, 24)), Fake::default());
        assert!(run(&mut app, &inbox, &mut host, vec![]).is_ok());
    }
}
