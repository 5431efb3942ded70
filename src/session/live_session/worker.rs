//! The thread of a live session: adds events and runs jobs in between. It runs until no request can come.

use super::{History, SessionEvent};
use crate::collect::sampler::EndReason;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Event;
use crate::session::flow::{CaptureEnd, CaptureStep, EventStream};
use crate::session::operations::AddedOperations;
use crate::session::recorder::Outcome;
use crate::session::recorder::Recorder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};

/// A job on the history.
pub(super) type Job = Box<dyn FnOnce(&mut History) + Send>;

/// A request to the thread.
pub(super) enum Order {
    Run(Job),
    Mark(String),
    /// Count operations from now on; answered by whether that is possible.
    Count(AddedOperations, Sender<Result<()>>),
    Finish,
}

/// The thread's state.
pub(super) struct HistoryWorker {
    pub history: History,
    pub recorder: Option<Recorder>,
    pub notify: Box<dyn FnMut(SessionEvent) + Send>,
    pub orders: Receiver<Order>,
    /// Operations that are counted since a request.
    pub added: Option<AddedOperations>,
    /// Whether the disk's failure has been reported.
    pub failure_reported: bool,
}

impl HistoryWorker {
    pub(super) fn of(
        history: History,
        recorder: Option<Recorder>,
        notify: impl FnMut(SessionEvent) + Send + 'static,
        orders: Receiver<Order>,
    ) -> HistoryWorker {
        HistoryWorker { history, recorder, notify: Box::new(notify), orders, added: None, failure_reported: false }
    }

    /// Runs a capture to its end, then answers requests until no more can come.
    pub(super) fn run_live(mut self, mut flow: impl EventStream) -> Result<Option<Outcome>> {
        let mut finishing = false;
        loop {
            match flow.next() {
                CaptureStep::Events(events) => self.take(events),
                CaptureStep::Quiet => {}
                CaptureStep::Over => break,
            }
            self.take(flow.names());
            self.write_out();
            while let Ok(order) = self.orders.try_recv() {
                finishing |= !self.carry_out(order);
            }
            if finishing {
                flow.stop(self.recorder.is_some());
            }
        }
        self.end_added();
        if let Some(error) = flow.failure() {
            (self.notify)(SessionEvent::Failed(error));
        }
        let last = match flow.finish() {
            Ok(last) => last,
            Err(error) => {
                // Later requests still see the data from before the failure.
                (self.notify)(SessionEvent::Failed(error));
                self.history.end(None);
                if !finishing {
                    self.answer();
                }
                return Ok(None);
            }
        };
        let outcome = self.recorder.take().map(|recorder| recorder.finish(&last));
        let why = ending(&last);
        self.history.end(Some(last));
        (self.notify)(SessionEvent::Ended(why));
        if !finishing {
            self.answer();
        }
        Ok(outcome)
    }

    /// Executes orders until the last one.
    pub(super) fn answer(&mut self) {
        while let Ok(order) = self.orders.recv() {
            if !self.carry_out(order) {
                return;
            }
        }
    }

    fn take(&mut self, events: Vec<Event>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.keep(&events);
        }
        if self.history.take(events) {
            (self.notify)(SessionEvent::Fresh);
        }
    }

    /// A disk failure does not end the session; it is reported once.
    fn write_out(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        if !recorder.flush_when_due()
            && !std::mem::replace(&mut self.failure_reported, true)
            && let Some(error) = recorder.failure()
        {
            let text = format!("the recording on disk is no longer complete: {error}");
            (self.notify)(SessionEvent::Failed(Error::new(error.kind(), text)));
        }
    }

    /// Takes what a source counts from now on for the operations of the session.
    fn count(&mut self, added: AddedOperations) -> Result<()> {
        let own = self.history.profile().meta.plan.ops.clone();
        if let Some(own) = own.filter(|_| self.added.is_none() || self.recorder.is_some()) {
            added.finish();
            return Err(Error::new(ErrorKind::Usage, format!("operations are counted already: {}", own.label()))
                .hint("One source counts them from the start to the end: start again with another --ops."));
        }
        self.end_added();
        self.history.count(&added);
        if let Some(recorder) = &mut self.recorder {
            recorder.count(&added);
        }
        self.added = Some(added);
        Ok(())
    }

    fn end_added(&mut self) {
        if let Some((events, notes)) = self.added.take().map(AddedOperations::finish) {
            self.take(events);
            self.history.note(notes);
        }
    }

    /// Returns false for the last order.
    fn carry_out(&mut self, order: Order) -> bool {
        match order {
            Order::Run(job) => {
                // A view that panics must not take the session down.
                if catch_unwind(AssertUnwindSafe(|| job(&mut self.history))).is_err() {
                    (self.notify)(SessionEvent::Failed(Error::new(
                        ErrorKind::Corrupt,
                        "a view of this data failed; this is a defect of ironlaw",
                    )));
                }
            }
            Order::Mark(label) => {
                let mark = self.history.mark(label);
                self.take(vec![mark]);
            }
            Order::Count(added, reply) => {
                // Who asked may be gone.
                let _ = reply.send(self.count(added));
            }
            Order::Finish => return false,
        }
        true
    }
}

/// Why the capture ended, in words.
pub(super) fn ending(last: &CaptureEnd) -> String {
    match (last.ended.reason, last.ended.exit_status) {
        (EndReason::TargetGone, Some(status)) if status > 128 => {
            format!("the command was ended by signal {}", status - 128)
        }
        (EndReason::TargetGone, Some(status)) => format!("the command ended with status {status}"),
        (EndReason::TargetGone, None) => "the target has ended".to_string(),
        (EndReason::Duration, _) => "the planned time is over".to_string(),
        (EndReason::ConnectionLost, _) => "the connection was lost".to_string(),
        (EndReason::Stopped | EndReason::ReaderGone, _) => "the capture was stopped".to_string(),
    }
}
