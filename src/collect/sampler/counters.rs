//! Reads what the kernel counts for the target besides samples: hardware events and operations. They are read on the
//! thread that reads all other counters, at the same moment, and not on the thread that drains the rings.

use super::call_latency::CallLatency;
use super::hardware::{Hardware, switches_in};
use super::operations::Operations;
use super::overhead::Overhead;
use crate::collect::catalog;
use crate::model::{CounterId, CounterReading, Event, Note, Scope};
use crate::sys::bpf::StacksTime;
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::Arc;

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
    /// What the capture costs the target.
    pub(super) overhead: Arc<Overhead>,
    /// What events on the target's threads add to a switch, and the switches at the first reading.
    pub(super) switch_cost: Option<Nanos>,
    pub(super) first_switches: Option<f64>,
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
        if let Some(stacks) = self.stacks_time.as_ref().and_then(|time| time.read().ok()) {
            self.overhead.waits_took(stacks);
            events.push(spent(catalog::WAIT_STACKS_TIME, self.overhead.waits(), at));
        }
        events.extend(self.probes_time().map(|time| spent(catalog::LATENCY_PROBES_TIME, time, at)));
        events
    }

    /// What the probes that measure latency or count operations have cost the target; `None` without such probes, or if it
    /// is not known.
    fn probes_time(&self) -> Option<Nanos> {
        let latency = self.latency.as_ref().map(CallLatency::expected_cost);
        let operations = self.operations.as_ref().filter(|it| it.is_probed()).map(Operations::expected_cost);
        let expected = latency.into_iter().chain(operations).collect::<Option<Vec<Nanos>>>();
        if latency.is_none() && operations.is_none() {
            return None;
        }
        if let Some(expected) = &expected {
            self.overhead.expect_of_probes(Nanos(expected.iter().map(|time| time.0).sum()));
        }
        (expected.is_some() || self.overhead.samples_show_probes()).then(|| self.overhead.probes())
    }

    /// Gives up hardware events if they cost more than allowed, by the target's other readings of this moment.
    pub fn judge(&mut self, readings: &[Event]) {
        self.overhead.counters_took(self.hardware.cost(readings));
        if let (Some(cost), Some(now)) = (self.switch_cost, switches_in(readings)) {
            let first = *self.first_switches.get_or_insert(now);
            self.overhead.switches_took(Nanos(((now - first) * cost.as_f64()) as u64));
        }
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

fn spent(counter: CounterId, time: Nanos, at: Nanos) -> Event {
    Event::Reading(CounterReading { counter, scope: Scope::Target, at, value: time.0, enabled: at, running: at })
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
