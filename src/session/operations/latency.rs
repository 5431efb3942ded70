//! The thread that reads a source of latencies once per interval. An unresponsive source delays only this thread.

use super::outlet::{CountOnceMore, LastCount, Outlet, latency_gap};
use super::polling::{LOOK, Record, SoFar, first_answer};
use crate::error::Result;
use crate::model::{LatencyCount, LatencySpec, Note, Plan, Target};
use crate::ops::LatencyMeter;
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A source of latencies after its first reading.
#[derive(Debug)]
pub(in crate::session) struct PolledLatencies {
    meter: LatencyMeter,
    first: Result<Vec<LatencyCount>>,
    clock: Clock,
    so_far: SoFar,
}

impl PolledLatencies {
    /// Takes the first reading, because earlier operations do not belong to the session. A source that a command brings
    /// need not be there yet. `None` for sources that are not polled.
    pub(super) fn open(plan: &Plan, clock: Clock) -> Result<Option<PolledLatencies>> {
        let (Some(meter), Some(spec)) = (LatencyMeter::of(plan, clock), &plan.latency) else { return Ok(None) };
        let (meter, first) = first_answer(&spec.label(), meter, move |meter| meter.read(|| clock.now()))?;
        // A load generator writes files, a server answers.
        let brings = match spec {
            LatencySpec::File { .. } => plan.command().is_some(),
            _ => matches!(plan.target, Target::Command { .. }),
        };
        match first {
            Err(error) if !brings => Err(error),
            first => Ok(Some(PolledLatencies { meter, first, clock, so_far: SoFar::default() })),
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    pub(super) fn so_far(&self) -> SoFar {
        SoFar::clone(&self.so_far)
    }

    /// Reads until the mailbox asks for a last count or closes.
    pub(super) fn run(self, interval: Nanos, mut outlet: Outlet, mailbox: &Receiver<CountOnceMore>) -> LastCount {
        let PolledLatencies { mut meter, first, clock, so_far } = self;
        let mut record = Record::default();
        outlet.send_latencies(record.note(meter.has_begun(), first).unwrap_or_default());
        loop {
            *so_far.lock().unwrap_or_else(PoisonError::into_inner) = gap(&record);
            let pause = if meter.has_begun() { interval } else { interval.min(LOOK) };
            match mailbox.recv_timeout(Duration::from_nanos(pause.0)) {
                Err(RecvTimeoutError::Timeout) => {}
                // An unresponsive source would only delay the end.
                Ok(CountOnceMore) if record.silent && meter.has_begun() && !meter.is_file() => {
                    return last(&record, &meter, outlet, Vec::new());
                }
                Ok(CountOnceMore) => {
                    let read = meter.finish(|| clock.now());
                    let rows = record.note(meter.has_begun(), read).unwrap_or_default();
                    return last(&record, &meter, outlet, rows);
                }
                Err(RecvTimeoutError::Disconnected) => return last(&record, &meter, outlet, Vec::new()),
            }
            let read = meter.read(|| clock.now());
            outlet.send_latencies(record.note(meter.has_begun(), read).unwrap_or_default());
        }
    }
}

fn last(record: &Record, meter: &LatencyMeter, outlet: Outlet, rows: Vec<LatencyCount>) -> LastCount {
    let mut latencies = outlet.waiting;
    latencies.extend(rows);
    let notes = gap(record).into_iter().chain(meter.notes()).collect();
    LastCount { latencies, notes, ..LastCount::default() }
}

fn gap(record: &Record) -> Option<Note> {
    let (text, fix) = record.failures("the source gave none")?;
    Some(Note { fix, ..latency_gap(text) })
}
