//! Measures what seeing a wait costs the target while it runs, in short stretches that lie further and further apart: in
//! them, each switch costs more than twice as much.

use crate::sys::bpf::{RunTime, RunTimes};
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The length of a stretch.
const STRETCH: Duration = Duration::from_millis(20);
/// The time to the first one, and between them later.
const FIRST: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(30);

/// The measurement, on a thread of its own: the kernel takes a while to change what runs at a tracepoint.
#[derive(Debug)]
pub struct WaitCost {
    times: Arc<RunTimes>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WaitCost {
    /// Starts; `None` if no thread can be started.
    pub fn start(times: RunTimes) -> Option<WaitCost> {
        let times = Arc::new(times);
        let (stop, stopped) = channel::<()>();
        let own = Arc::clone(&times);
        let run = move || {
            let mut pause = FIRST;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                if own.measure(STRETCH).is_err() {
                    return;
                }
                pause = (2 * pause).min(LATER);
            }
        };
        let thread = std::thread::Builder::new().name("wait-cost".into()).spawn(run).ok()?;
        Some(WaitCost { times, stop: Some(stop), thread: Some(thread) })
    }

    /// Measures no further. Waits for a stretch to end: without the programs, what is around them would measure itself.
    pub fn end(&mut self) {
        self.stop = None;
        // A panic there only costs the measurement.
        let _ = self.thread.take().map(JoinHandle::join);
    }

    /// What so many waits have cost the target; `None` before one was measured.
    pub fn of(&self, waits: u64) -> Option<Nanos> {
        cost(self.times.read().ok()?, waits)
    }
}

impl Drop for WaitCost {
    fn drop(&mut self) {
        self.end();
    }
}

fn cost(measured: RunTime, waits: u64) -> Option<Nanos> {
    let RunTime { time, runs } = measured;
    (runs > 0).then(|| Nanos((time.as_f64() * waits as f64 / runs as f64) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_that_were_measured_stand_for_all() {
        assert_eq!(cost(RunTime { time: Nanos(8_000), runs: 10 }, 1_000), Some(Nanos(800_000)));
        assert_eq!(cost(RunTime { time: Nanos(8_000), runs: 10 }, 0), Some(Nanos(0)));
        assert_eq!(cost(RunTime::default(), 1_000), None, "nothing was measured");
    }
}
