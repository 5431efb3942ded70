//! Records an alarm: saves the time before it from memory, then makes a detailed capture in parallel with the watch.
//! One recording runs at a time, and pauses in between protect the disk and the target.

use super::Msg;
use super::folder::Folder;
use super::worker::Worker;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Baseline, CallGraph, OpsSpec, Plan, Rate, Target};
use crate::session::{History, Limit, Live, LiveSession, News};
use crate::store::{Writer, baseline};
use crate::units::Nanos;
use crate::view::watch::{Holds, Moment, Recorded, Said, What};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Minimum time between two detailed captures.
const PAUSE: Nanos = Nanos(300_000_000_000);
const DETAILED_HERTZ: u64 = 997;
/// Memory limit of a detailed capture, which is written to disk as it runs.
const MOST_BYTES: u64 = 32 << 20;
/// Interval to poll whether a running capture should end.
const LOOK: Duration = Duration::from_millis(100);

/// The plan of the detailed capture.
#[derive(Debug, Clone)]
pub(super) struct Detail {
    pub plan: Plan,
}

impl Detail {
    /// Derives the plan from the watch's plan.
    pub(super) fn plan(watch: &Plan, after: Nanos) -> Plan {
        // Only the watch can read a command's output.
        let ops = watch.ops.clone().filter(|ops| !matches!(ops, OpsSpec::Output { .. }));
        Plan {
            rate: Rate::Frequency(DETAILED_HERTZ),
            call_graph: CallGraph::Auto,
            off_cpu: true,
            duration: Some(after),
            probe: false,
            ops,
            // A second set of groups would take the counters from the watch half of the time, and blind it meanwhile.
            hardware: Vec::new(),
            ..watch.clone()
        }
    }

    /// A started command is by then an ordinary process.
    pub(super) fn of(plan: Plan, command: Option<u32>) -> Detail {
        let target = match command {
            Some(pid) => Target::Processes { pids: vec![pid], children: true },
            None => plan.target.clone(),
        };
        Detail { plan: Plan { target, ..plan } }
    }
}

/// An alarm to record.
#[derive(Debug)]
pub(super) struct Order {
    /// The history before it.
    pub held: History,
    /// Time of the alarm.
    pub at: Moment,
    /// Whether a detailed capture follows.
    pub detailed: bool,
}

/// Records alarms, and remembers when it did.
#[derive(Debug)]
pub(super) struct Recording {
    worker: Worker<Order>,
    stop: Arc<AtomicBool>,
    before: Nanos,
    last: Option<Nanos>,
    last_detailed: Option<Nanos>,
}

impl Recording {
    pub(super) fn start(
        folder: Folder,
        detail: Detail,
        baseline: Arc<Baseline>,
        before: Nanos,
        tell: Sender<Msg>,
    ) -> Result<Recording> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = stop.clone();
        let worker = Worker::start("recording", move |order: Order| {
            let tell = |what| _ = tell.send(Msg::Tell(what));
            let told = |what: &str, result: Result<What>| {
                tell(
                    result
                        .unwrap_or_else(|error| What::Error(Said::of(&error.context(format!("cannot record {what}"))))),
                );
            };
            told("the time before the alarm", ring(&order, &folder, &baseline));
            if order.detailed && !asked.load(Ordering::Relaxed) {
                told("the alarm in detail", capture(&order, &folder, &detail, &baseline, &asked));
            }
        })?;
        Ok(Recording { worker, stop, before, last: None, last_detailed: None })
    }

    /// Whether an alarm at this session time gets a detailed capture; the error states why it is not recorded.
    pub(super) fn may(&self, now: Nanos) -> std::result::Result<bool, String> {
        if self.worker.is_busy() {
            return Err("the alarm was not recorded: the one before is still being recorded".into());
        }
        if let Some(why) = self.last.and_then(|last| too_soon(now - last, self.before)) {
            return Err(why);
        }
        Ok(self.last_detailed.is_none_or(|last| now - last >= PAUSE))
    }

    /// Records an alarm that [`Recording::may`] accepted.
    pub(super) fn record(&mut self, order: Order, now: Nanos) {
        let detailed = order.detailed;
        if self.worker.give(order) {
            self.last = Some(now);
            self.last_detailed = if detailed { Some(now) } else { self.last_detailed };
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.worker.is_busy()
    }

    /// Asks a running capture to end.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the running recording.
    pub(super) fn finish(self) {
        self.worker.finish();
    }
}

/// Why an alarm is not recorded if it comes too soon after the end of the last recorded history.
fn too_soon(since: Nanos, before: Nanos) -> Option<String> {
    let text = || {
        let (since, before) = (since.seconds(), before.seconds());
        format!(
            "the alarm was not recorded: the last recording of the time before an alarm ended {since:.1} s ago, less than \
             --before ({before} s)"
        )
    };
    (since < before).then(text)
}

fn ring(order: &Order, folder: &Folder, baseline: &Baseline) -> Result<What> {
    let path = folder.path(order.at, Holds::Before);
    let bytes = order.held.save(&path, false)?;
    within(&path, baseline)?;
    let removed = folder.prune(&path);
    Ok(What::Recorded(Recorded { path, holds: Holds::Before, bytes, removed }))
}

/// A second capture of the same target, in parallel with the watch.
fn capture(order: &Order, folder: &Folder, detail: &Detail, baseline: &Baseline, stop: &AtomicBool) -> Result<What> {
    let path = folder.path(order.at, Holds::Alarm);
    let live = Live::open(detail.plan.clone(), Vec::new(), false)?;
    let writer = Writer::create(&path, live.meta(), false)?;
    let (tell, ended) = channel();
    let news = move |news| {
        if !matches!(news, News::Fresh) {
            // The receiver is gone.
            let _ = tell.send(());
        }
    };
    let limit = Limit { bytes: MOST_BYTES, span: detail.plan.interval };
    let live_session = LiveSession::live(live, Some(writer), limit, None, news)?;
    while !stop.load(Ordering::Relaxed) && ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {}
    let outcome = live_session.finish()?;
    let failed = || Error::new(ErrorKind::Io, "the capture gave nothing");
    let outcome = outcome.ok_or_else(failed);
    let whole = outcome.and_then(|outcome| outcome.write_failure.map_or(Ok(outcome.bytes), Err));
    let whole = whole.and_then(|bytes| within(&path, baseline).map(|()| bytes));
    match whole {
        Ok(bytes) => {
            let removed = folder.prune(&path);
            Ok(What::Recorded(Recorded { path, holds: Holds::Alarm, bytes, removed }))
        }
        Err(error) => {
            // A partial recording would take space on a full disk.
            let _ = std::fs::remove_dir_all(&path);
            Err(error)
        }
    }
}

fn within(path: &Path, of: &Baseline) -> Result<()> {
    baseline::write_within(path, of).map_err(|error| error.context("cannot put the baseline beside it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_soon_after_a_recording_is_told_how_soon() {
        let second = |at: u64| Nanos(at * 1_000_000_000);
        assert_eq!(too_soon(second(60), second(60)), None);
        let text = "the alarm was not recorded: the last recording of the time before an alarm ended 12.5 s ago, less than \
                    --before (60 s)";
        assert_eq!(too_soon(Nanos(12_500_000_000), second(60)).as_deref(), Some(text));
    }
}
