//! Rows of a data set while a watch runs: the live session makes those of each whole minute, a thread of its own writes
//! them, so that neither windows nor alarms wait for a disk.

use super::Msg;
use super::worker::Worker;
use crate::analysis::Window;
use crate::analysis::attribution::Alarm;
use crate::analysis::dataset::{DatasetLabels, dataset_rows, spans};
use crate::cli::args::DatasetArgs;
use crate::cli::dataset::{labels, origin};
use crate::error::Result;
use crate::model::{AlarmRow, DatasetRows, Meta};
use crate::session::History;
use crate::store::dataset::DatasetWriter;
use crate::sys::clock::Clock;
use crate::units::Nanos;
use crate::view::watch::{Message, Moment, WallClock, WatchEvent};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Rows are written this often: a kill loses at most what came since.
pub(super) const FLUSH_EVERY_S: u64 = 300;
/// Windows between two writes, where windows are short.
const FLUSH_EVERY_WINDOWS: u64 = 5;
/// Interval to poll whether the writer is ready for its last task.
const POLL: Duration = Duration::from_millis(20);

/// What the history is asked for: the windows that ended since the last answer.
#[derive(Debug, Clone)]
pub(super) struct RowsRequest {
    labels: DatasetLabels,
    window_s: u64,
    /// End of the last window that was written.
    from: Option<Nanos>,
    /// The start of the last window.
    last_start_s: Option<i64>,
    started_unix_ns: u64,
    /// Also what has begun since the last whole minute.
    is_last: bool,
}

/// New rows, and how far they reach.
#[derive(Debug)]
pub(super) struct NewRows {
    rows: DatasetRows,
    to: Nanos,
    start_s: i64,
}

/// A task of the writer.
#[derive(Debug)]
struct Write {
    rows: DatasetRows,
    is_last: bool,
}

/// The rows of a watch on their way.
#[derive(Debug)]
pub(super) struct DatasetRecorder {
    request: RowsRequest,
    /// Rows that wait for the writer.
    pending: DatasetRows,
    writer: Worker<Write>,
}

impl RowsRequest {
    /// The rows, on the live session's thread; `None` before the next whole minute is over.
    pub fn answer(&self, history: &History) -> Option<NewRows> {
        let profile = history.profile();
        let began = || profile.ticks.iter().map(|tick| tick.at - tick.span).min();
        let whole = Window { from: self.from.or_else(began)?, to: history.now() };
        if whole.span().0 == 0 {
            return None;
        }
        let mut spans = spans(&profile.ticks, self.started_unix_ns, whole, self.window_s, self.last_start_s);
        if !self.is_last {
            // Its end is not known before the first reading after it.
            spans.pop();
        }
        let last = spans.last()?;
        let (to, start_s) = (last.window.to, last.start_s);
        Some(NewRows { rows: dataset_rows(profile, &spans, &self.labels), to, start_s })
    }
}

impl DatasetRecorder {
    /// Opens the data set, so that a folder that cannot be written fails at once.
    pub fn start(dir: &Path, args: &DatasetArgs, meta: &Meta, sender: Sender<Msg>) -> Result<DatasetRecorder> {
        let writer = DatasetWriter::open(dir, &origin(meta, &args.labels), args.dataset_keep)?;
        let request = RowsRequest {
            labels: labels(&args.labels),
            window_s: args.dataset_window,
            from: None,
            last_start_s: None,
            started_unix_ns: meta.started_unix_ns,
            is_last: false,
        };
        let every = Nanos(FLUSH_EVERY_S.min(args.dataset_window * FLUSH_EVERY_WINDOWS) * 1_000_000_000);
        let mut flushes = Flushes { writer, every, last: None, failed: false, sender };
        let writer = Worker::start("data set", move |task: Write| flushes.take(task))?;
        Ok(DatasetRecorder { request, pending: DatasetRows::default(), writer })
    }

    /// What to ask the history for.
    pub fn request(&self, clock: WallClock, is_last: bool) -> RowsRequest {
        RowsRequest { started_unix_ns: clock.started_unix_ns, is_last, ..self.request.clone() }
    }

    /// Takes an answer.
    pub fn take(&mut self, new: NewRows) {
        (self.request.from, self.request.last_start_s) = (Some(new.to), Some(new.start_s));
        self.pending.append(new.rows);
        self.submit();
    }

    /// Takes an alarm, again if more is known about it.
    pub fn alarm(&mut self, alarm: &Alarm, raised: Moment) {
        let row = AlarmRow {
            start_s: (raised.0 / 1_000_000_000) as i64,
            cause: alarm.cause.name().to_string(),
            confidence: Some(alarm.confidence.word().to_string()),
            ratio: Some(alarm.worst),
            suspect: alarm.suspect.clone(),
        };
        self.pending.alarms.push(row);
        self.submit();
    }

    /// Hands over what waits, unless the writer is busy.
    fn submit(&mut self) {
        if !self.pending.is_empty() && !self.writer.is_busy() {
            self.writer.submit(Write { rows: std::mem::take(&mut self.pending), is_last: false });
        }
    }

    /// Writes the rest and waits for it.
    pub fn finish(self) {
        while self.writer.is_busy() {
            std::thread::sleep(POLL);
        }
        self.writer.submit(Write { rows: self.pending, is_last: true });
        self.writer.finish();
    }
}

/// Writes rows, and says what goes wrong.
struct Flushes {
    writer: DatasetWriter,
    every: Nanos,
    /// When it last wrote.
    last: Option<Clock>,
    failed: bool,
    sender: Sender<Msg>,
}

impl Flushes {
    fn take(&mut self, task: Write) {
        self.writer.add(task.rows);
        let lost = self.writer.take_dropped();
        if lost > 0 {
            let text = format!("{lost} rows of the data set were dropped: too many could not be written");
            self.say(WatchEvent::Error(Message::plain(text)));
        }
        if !task.is_last && self.last.is_some_and(|last| last.now() < self.every) {
            return;
        }
        self.last = Some(Clock::start());
        let flushed = self.writer.flush();
        let was_failed = std::mem::replace(&mut self.failed, flushed.is_err());
        // Once, and not at each attempt: a disk may be full for days.
        if let Err(error) = flushed
            && !was_failed
        {
            let error = error.context("the data set misses the last minutes");
            self.say(WatchEvent::Error(Message::of(&error)));
        }
    }

    fn say(&self, event: WatchEvent) {
        // If the watch is over, there is nobody left to report to.
        let _ = self.sender.send(Msg::Write(event));
    }
}
