//! Records an alarm: saves the time before it from memory, then makes a detailed capture in parallel with the watch.
//! One recording runs at a time.

use super::Msg;
use super::folder::Folder;
use super::worker::Worker;
use crate::cli::plan::DEFAULT_OVERHEAD;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Baseline, CallGraph, OpsSpec, Plan, Rate};
use crate::session::{History, Limit, LiveCapture, LiveSession, SessionEvent};
use crate::store::{Writer, baseline};
use crate::units::Nanos;
use crate::view::watch::{Message, Moment, Recorded, RecordedPeriod, WatchEvent};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Sampling rate of a detailed capture.
const DETAILED_HERTZ: u64 = 997;
/// Memory limit of a detailed capture, which is written to disk as it runs.
const MOST_BYTES: u64 = 32 << 20;
/// Interval to poll whether a running capture should end.
const POLL: Duration = Duration::from_millis(100);

/// The plan of a detailed capture, derived from the watch's plan.
pub(super) fn detailed_plan(watch: &Plan, after: Nanos) -> Plan {
    // Only the watch can read a command's output.
    let ops = watch.ops.clone().filter(|ops| !matches!(ops, OpsSpec::Output { .. }));
    Plan {
        rate: Rate::Frequency(DETAILED_HERTZ),
        max_sampling: Some(DEFAULT_OVERHEAD),
        call_graph: CallGraph::Auto,
        off_cpu: true,
        duration: Some(after),
        probe: false,
        ops,
        // A second set of groups would take the counters from the watch half of the time.
        hardware: Vec::new(),
        ..watch.clone()
    }
}

/// An alarm to record.
#[derive(Debug)]
pub(super) struct AlarmRecording {
    /// The history before it.
    pub history: History,
    /// Time of the alarm.
    pub at: Moment,
    /// Whether a detailed capture follows.
    pub detailed: bool,
}

/// Records alarms on a thread of its own.
#[derive(Debug)]
pub(super) struct AlarmRecorder {
    worker: Worker<AlarmRecording>,
    stop: Arc<AtomicBool>,
}

/// Where and how alarms are recorded.
struct Recorder {
    folder: Folder,
    detailed: Plan,
    baseline: Arc<Baseline>,
    stop: Arc<AtomicBool>,
}

impl AlarmRecorder {
    pub(super) fn start(
        folder: Folder,
        detailed: Plan,
        baseline: Arc<Baseline>,
        sender: Sender<Msg>,
    ) -> Result<AlarmRecorder> {
        let stop = Arc::new(AtomicBool::new(false));
        let recorder = Recorder { folder, detailed, baseline, stop: stop.clone() };
        let worker = Worker::start("recording", move |alarm: AlarmRecording| {
            let report = |what: &str, result: Result<Recorded>| {
                let event = result.map_or_else(
                    |error| WatchEvent::Error(Message::of(&error.context(format!("cannot record {what}")))),
                    WatchEvent::Recorded,
                );
                // If the watch is over, there is nobody left to report to.
                let _ = sender.send(Msg::Write(event));
            };
            report("the time before the alarm", recorder.save(&alarm));
            if alarm.detailed && !recorder.stop.load(Ordering::Relaxed) {
                report("the alarm in detail", recorder.capture(&alarm));
            }
        })?;
        Ok(AlarmRecorder { worker, stop })
    }

    /// Records an alarm, unless another one is being recorded.
    pub(super) fn record(&self, alarm: AlarmRecording) {
        self.worker.submit(alarm);
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

impl Recorder {
    /// Saves the time before the alarm.
    fn save(&self, alarm: &AlarmRecording) -> Result<Recorded> {
        let period = RecordedPeriod::BeforeAlarm;
        let path = self.folder.path(alarm.at, period);
        let bytes = alarm.history.save(&path, false)?;
        whole_or_none(&path, self.add_baseline(&path))?;
        let removed = self.folder.prune(&path);
        Ok(Recorded { path, period, bytes, removed })
    }

    /// A second capture of the same target, in parallel with the watch.
    fn capture(&self, alarm: &AlarmRecording) -> Result<Recorded> {
        let period = RecordedPeriod::Alarm;
        let path = self.folder.path(alarm.at, period);
        let live = LiveCapture::open(self.detailed.clone(), Vec::new(), false)?;
        let writer = Writer::create(&path, live.meta(), false)?;
        let written = self.write(live, writer).and_then(|bytes| self.add_baseline(&path).map(|()| bytes));
        let bytes = whole_or_none(&path, written)?;
        let removed = self.folder.prune(&path);
        Ok(Recorded { path, period, bytes, removed })
    }

    /// Captures until the time is over or the watch ends. Returns the bytes on disk.
    fn write(&self, live: LiveCapture, writer: Writer) -> Result<u64> {
        let (sender, ended) = channel();
        let news = move |news| {
            if !matches!(news, SessionEvent::Fresh) {
                // The receiver is gone.
                let _ = sender.send(());
            }
        };
        let limit = Limit { bytes: MOST_BYTES, span: self.detailed.interval };
        let live_session = LiveSession::live(live, Some(writer), limit, None, news)?;
        while !self.stop.load(Ordering::Relaxed) && ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {}
        let outcome = live_session.finish()?;
        let outcome = outcome.ok_or_else(|| Error::new(ErrorKind::Io, "the capture returned no data"));
        outcome.and_then(|outcome| outcome.write_failure.map_or(Ok(outcome.bytes), Err))
    }

    fn add_baseline(&self, path: &Path) -> Result<()> {
        let written = baseline::write_within(path, &self.baseline);
        written.map_err(|error| error.context("cannot add the baseline to the recording"))
    }
}

/// Removes a recording that failed: on a full disk it would take the room of the next alarm's.
fn whole_or_none<T>(path: &Path, written: Result<T>) -> Result<T> {
    if written.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_dir_all(path);
    }
    written
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_failed_leaves_its_room_to_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.ironlaw");
        for (written, stays) in [(Ok(7), true), (Err(Error::new(ErrorKind::Exhausted, "no room")), false)] {
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("meta.json"), "{}").unwrap();
            assert_eq!((whole_or_none(&path, written).is_ok(), path.exists()), (stays, stays));
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
