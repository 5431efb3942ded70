//! Long work shows on the terminal how far it has come: one line that is rewritten, and erased at the end. A thread of its own
//! reads a counter, so that the work reads no clock.

use super::out::{self, Terminal};
use crate::model::{Progress, ProgressState, ProgressUnit};
use crate::sys::clock::monotonic_ns;
use crate::sys::signals::Signals;
use crate::sys::terminal::error_output;
use crate::view::escape::visible;
use crate::view::number::count;
use std::fs::File;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two lines.
const REFRESH: Duration = Duration::from_millis(200);

/// The line of some work, from now until it is dropped.
#[derive(Debug, Default)]
pub(super) struct ProgressLine {
    /// What the work counts in.
    pub progress: Progress,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Shows it where messages go to a terminal, unless they are unwanted.
    pub fn start(terminal: &Terminal) -> ProgressLine {
        let progress = Progress::default();
        // A copy: while a sweep runs a command, the standard error is the command's.
        let copy = terminal.shows_progress().then(error_output).and_then(Result::ok);
        let Some(copy) = copy else { return ProgressLine { progress, shown: None } };
        let (mut terminal_file, source) = (File::from(copy), progress.clone());
        let (stop, stopped) = channel();
        let (mut estimate, start) = (Estimate::default(), monotonic_ns());
        let show = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(REFRESH) {
                let (state, now) = (source.state(), monotonic_ns());
                let line = estimate.line(&state, now);
                if state.number > 0 && now.saturating_sub(start) >= PATIENCE.as_nanos() as u64 {
                    out::show_progress(&mut terminal_file, &line);
                }
            }
            out::erase_progress(&mut terminal_file);
        };
        // Signals are for the thread that waits for them, or end the process.
        let blocked = Signals::block();
        let thread = std::thread::Builder::new().name("progress".to_string()).spawn(show);
        drop(blocked);
        ProgressLine { progress, shown: thread.ok().map(|thread| (stop, thread)) }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.shown.take() {
            drop(stop);
            // If it panicked, its line is the only loss.
            let _ = thread.join();
        }
    }
}

/// What is known of the speed of a stage. Times are those of the monotonic clock, nanoseconds.
#[derive(Debug, Default)]
struct Estimate {
    stage: usize,
    begun: u64,
    /// What was done at the last change, and its time.
    done: u64,
    changed: u64,
}

impl Estimate {
    /// The line, with the time left as soon as a share of the work tells it.
    fn line(&mut self, state: &ProgressState, now: u64) -> String {
        if state.number != self.stage {
            *self = Estimate { stage: state.number, begun: now, done: 0, changed: now };
        }
        if state.done != self.done {
            (self.done, self.changed) = (state.done, now);
        }
        let ProgressState { done, total, .. } = *state;
        let what = visible(&state.what);
        if total == 0 {
            return format!("{what}: {}", amount(done, state.unit));
        }
        let share = 100 * u128::from(done.min(total)) / u128::from(total);
        let left = self.left(state, now).map(|left| format!(", {} left", span(left))).unwrap_or_default();
        format!("{what}: {} of {} ({share}%){left}", number(done, state.unit), amount(total, state.unit))
    }

    /// Seconds that the rest takes at the speed so far; `None` if too little is done to know it.
    fn left(&self, state: &ProgressState, now: u64) -> Option<u64> {
        let least = if state.unit == ProgressUnit::Runs { 1 } else { (state.total / 32).max(1) };
        if state.done < least || state.done >= state.total {
            return None;
        }
        let each = self.changed.saturating_sub(self.begun) as f64 / state.done as f64;
        let rest = each * (state.total - state.done) as f64 - now.saturating_sub(self.changed) as f64;
        Some((rest.max(0.0) / 1e9).ceil() as u64)
    }
}

fn number(done: u64, unit: ProgressUnit) -> String {
    match unit {
        ProgressUnit::Bytes => format!("{:.1}", done as f64 / 1e6),
        ProgressUnit::Addresses | ProgressUnit::Runs => count(done),
    }
}

fn amount(done: u64, unit: ProgressUnit) -> String {
    let unit_name = match unit {
        ProgressUnit::Bytes => "MB",
        ProgressUnit::Addresses => "addresses",
        ProgressUnit::Runs => "runs",
    };
    format!("{} {unit_name}", number(done, unit))
}

fn span(seconds: u64) -> String {
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn lines(unit: ProgressUnit, total: u64, steps: &[(u64, u64)]) -> Vec<String> {
        let mut estimate = Estimate::default();
        let state = |done| ProgressState { number: 1, what: "reading a\u{1b}b".into(), unit, done, total };
        estimate.line(&state(0), 0);
        steps.iter().map(|(at, done)| estimate.line(&state(*done), at * SECOND)).collect()
    }

    #[test]
    fn bytes_have_a_share_and_the_time_left_once_a_part_is_read() {
        let found = lines(ProgressUnit::Bytes, 400_000_000, &[(1, 4_000_000), (2, 100_000_000), (4, 400_000_000)]);
        let what = visible("reading a\u{1b}b");
        assert_eq!(found[0], format!("{what}: 4.0 of 400.0 MB (1%)"), "too little is read to know the speed");
        assert_eq!(found[1], format!("{what}: 100.0 of 400.0 MB (25%), 6 s left"));
        assert_eq!(found[2], format!("{what}: 400.0 of 400.0 MB (100%)"));
        assert!(!what.contains('\u{1b}'), "a name does not act on the terminal");
    }

    #[test]
    fn the_time_left_of_runs_falls_while_one_runs() {
        let found = lines(ProgressUnit::Runs, 10, &[(5, 0), (60, 1), (90, 1), (200, 1), (240, 4)]);
        let left: Vec<_> = found.iter().map(|line| line.split_once("), ").map_or("", |(_, left)| left)).collect();
        assert_eq!(left, ["", "9 min 0 s left", "8 min 30 s left", "6 min 40 s left", "6 min 0 s left"]);
    }

    #[test]
    fn a_later_stage_has_its_own_speed_and_an_unknown_total_no_share() {
        let mut estimate = Estimate::default();
        let state = |number, done, total| {
            let what = "naming".to_string();
            ProgressState { number, what, unit: ProgressUnit::Addresses, done, total }
        };
        estimate.line(&state(1, 5000, 5000), 100 * SECOND);
        assert_eq!(estimate.line(&state(2, 0, 8000), 101 * SECOND), "naming: 0 of 8,000 addresses (0%)");
        let line = estimate.line(&state(2, 4000, 8000), 111 * SECOND);
        assert_eq!(line, "naming: 4,000 of 8,000 addresses (50%), 10 s left");
        assert_eq!(estimate.line(&state(3, 7, 0), 111 * SECOND), "naming: 7 addresses");
        assert_eq!((span(3599), span(7260)), ("59 min 59 s".to_string(), "2 h 1 min".to_string()));
    }
}
