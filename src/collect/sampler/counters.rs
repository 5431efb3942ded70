//! Reads what the kernel counts for the target besides samples: hardware events and operations. They are read on the
//! thread that reads all other counters, at the same moment, and not on the thread that drains the rings.

use super::call_latency::CallLatency;
use super::hardware::Hardware;
use super::operations::Operations;
use crate::collect::catalog;
use crate::model::{CounterReading, Event, Note, Scope};
use crate::sys::bpf::StacksTime;
use crate::sys::clock::Clock;
use crate::units::Nanos;

/// Reads counters on behalf of a capture, which reports its begin and end.
pub trait Reader {
    /// Starts counting. Returns readings that come first in the stream.
    fn begin(&mut self) -> Vec<Event>;

    /// Called when all events are on: what happens from now on is sampled and recorded.
    fn sampling(&mut self) {}

    /// Reads for the last time. Sampling is over, but ended tasks can still be read.
    fn end(&mut self) -> LastReading;
}

/// The last reading of a capture.
#[derive(Debug, Default)]
pub struct LastReading {
    /// The time of all readings: the capture's end.
    pub at: Nanos,
    /// Readings and the end of the last window; they come last in the stream.
    pub events: Vec<Event>,
    /// Notes on the readings.
    pub notes: Vec<Note>,
}

/// The counters that the kernel keeps for a capture.
#[derive(Debug)]
pub struct KernelCounters {
    pub(super) hardware: Hardware,
    pub(super) operations: Option<Operations>,
    pub(super) latency: Option<CallLatency>,
    /// What passing on stacks of waits costs the target, if the kernel does it.
    pub(super) stacks_time: Option<StacksTime>,
    /// Whether they start by themselves when the command executes.
    pub(super) on_exec: bool,
    pub(super) clock: Clock,
    pub(super) began: Nanos,
    /// A note on the hardware events, if they were given up.
    pub(super) too_costly: Option<Note>,
}

impl KernelCounters {
    /// Starts counting; returns the zeros that later readings are compared with.
    pub fn start(&mut self, at: Nanos) -> Vec<Event> {
        self.began = at;
        // The programs on its probes run as soon as these are open.
        if let Some(latency) = &mut self.latency {
            latency.begin(at);
        }
        let zeros = self.read(at);
        if !self.on_exec {
            self.hardware.enable();
            self.operations.iter().for_each(Operations::enable);
            self.latency.iter_mut().for_each(CallLatency::enable);
        }
        zeros
    }

    /// All counts so far.
    pub fn read(&mut self, at: Nanos) -> Vec<Event> {
        let mut events = self.hardware.read(at);
        events.extend(self.operations.as_mut().map(|operations| Event::Ops { at, total: operations.read() }));
        if let Some(latency) = &mut self.latency {
            latency.read(at, &mut events);
        }
        events.extend(self.stacks_time.as_ref().and_then(|time| Some(stacks_reading(time.read().ok()?, at))));
        events
    }

    /// Gives up hardware events if they cost more than allowed, by the target's other readings of this moment.
    pub fn judge(&mut self, readings: &[Event]) {
        let note = self.hardware.judge(readings);
        self.too_costly = self.too_costly.take().or(note);
    }

    /// Notes on the counts, once they have been read for the last time.
    #[must_use]
    pub fn verdict(&mut self, at: Nanos) -> Vec<Note> {
        let operations = self.operations.as_ref().map(|operations| operations.verdict(at - self.began));
        let latency = self.latency.as_mut().map(|latency| latency.verdict(at));
        operations.into_iter().flatten().chain(latency.into_iter().flatten()).chain(self.too_costly.clone()).collect()
    }
}

fn stacks_reading(time: Nanos, at: Nanos) -> Event {
    let (counter, scope) = (catalog::WAIT_STACKS_TIME, Scope::Target);
    Event::Reading(CounterReading { counter, scope, at, value: time.0, enabled: at, running: at })
}

/// Reads without windows, for a capture whose other counters are not read.
impl Reader for KernelCounters {
    fn begin(&mut self) -> Vec<Event> {
        self.start(self.clock.now())
    }

    fn end(&mut self) -> LastReading {
        let at = self.clock.now();
        LastReading { at, events: self.read(at), notes: self.verdict(at) }
    }
}
