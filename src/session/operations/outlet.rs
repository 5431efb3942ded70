//! What a source of operations sends: counts at moments, and its last count at the end.

use crate::collect::sampler::{EndReason, Ended};
use crate::model::{Event, LatencyCount, Note};
use crate::units::{Nanos, Ops};
use std::sync::mpsc::SyncSender;

/// Time and total.
pub(super) type Point = (Nanos, Ops);

/// Order to a thread: sampling is over, count once more and keep the result. Closing the channel means: end.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountOnceMore;

/// The data that a thread has not sent when it ends.
#[derive(Debug, Default)]
pub(super) struct LastCount {
    /// Totals, the newest last.
    pub(super) points: Vec<Point>,
    /// Whether the newest total was still valid when the target ended.
    pub(super) holds_to_end: bool,
    /// Operations by their latency.
    pub(super) latencies: Vec<LatencyCount>,
    pub(super) notes: Vec<Note>,
}

impl LastCount {
    /// A target that has ended counts no more. A total read slightly later is therefore dated to the end, and repeated
    /// for the counters' last reading, which comes after it.
    pub(super) fn reach_end(&mut self, ended: &Ended, now: Nanos) {
        if ended.reason != EndReason::TargetGone {
            return;
        }
        for (at, _) in &mut self.points {
            *at = (*at).min(ended.at);
        }
        if let Some((at, total)) = self.points.last().copied()
            && self.holds_to_end
        {
            self.points.extend((at < ended.at).then_some((ended.at, total)));
            self.points.extend((now > ended.at).then_some((now, total)));
        }
    }
}

/// The path of totals into the event stream, in order of their times.
#[derive(Debug)]
pub(super) struct Outlet {
    pub(super) out: SyncSender<Vec<Event>>,
    pub(super) sent: Option<Point>,
    /// Latencies that the reader was too far behind for.
    pub(super) waiting: Vec<LatencyCount>,
}

impl Outlet {
    pub(super) fn new(out: SyncSender<Vec<Event>>) -> Outlet {
        Outlet { out, sent: None, waiting: Vec::new() }
    }

    /// Sends latencies with those that wait, or lets all of them wait if the reader is far behind.
    pub(super) fn send_latencies(&mut self, rows: Vec<LatencyCount>) {
        self.waiting.extend(rows);
        if !self.waiting.is_empty()
            && self.out.try_send(self.waiting.iter().copied().map(Event::Latency).collect()).is_ok()
        {
            self.waiting.clear();
        }
    }

    /// Sends a total, unless the reader is far behind: then a later total replaces it.
    pub(super) fn send(&mut self, (at, total): Point) {
        if self.out.try_send(vec![Event::Ops { at, total }]).is_ok() {
            self.sent = Some((at, total));
        }
    }
}

/// A note about operations that were not counted.
pub(super) fn gap(text: String) -> Note {
    Note { topic: "ops-gap".to_string(), text: format!("operations: {text}"), fix: None }
}

/// A note about latencies that were not read.
pub(super) fn latency_gap(text: String) -> Note {
    Note { topic: "latency-gap".to_string(), text: format!("latency: {text}"), fix: None }
}
