//! What the kernel counts for the target besides samples: hardware events and operations. They are read on the thread that
//! reads all other counters, at one moment with them, and never on the thread that drains the rings.

use super::hardware::Hardware;
use super::operations::Operations;
use crate::model::{Event, Note};
use crate::sys::clock::Clock;
use crate::units::Nanos;

/// Reads counters on behalf of a capture, which says when it begins and when it is over.
pub trait Reader {
    /// Counting begins now. Returns readings that are to come first in the stream.
    fn begin(&mut self) -> Vec<Event>;

    /// Sampling is over; what has ended can still be looked at. Reads for the last time.
    fn end(&mut self) -> LastReading;
}

/// The last reading of a capture.
#[derive(Debug, Default)]
pub struct LastReading {
    /// The moment that all of it is of: the capture's end.
    pub at: Nanos,
    /// Readings and the end of the last window; they come last in the stream.
    pub events: Vec<Event>,
    /// What is to be known of them.
    pub notes: Vec<Note>,
}

/// The counters that the kernel keeps for a capture.
#[derive(Debug)]
pub struct KernelCounters {
    pub(super) hardware: Hardware,
    pub(super) operations: Option<Operations>,
    /// They start by themselves when the command executes.
    pub(super) on_exec: bool,
    pub(super) clock: Clock,
    pub(super) began: Nanos,
}

impl KernelCounters {
    /// Starts counting; the readings are the zeros that later ones are compared with.
    pub fn start(&mut self, at: Nanos) -> Vec<Event> {
        self.began = at;
        let zeros = self.read(at);
        if !self.on_exec {
            self.hardware.enable();
            self.operations.iter().for_each(Operations::enable);
        }
        zeros
    }

    /// All counts by now.
    pub fn read(&mut self, at: Nanos) -> Vec<Event> {
        let mut events = self.hardware.read(at);
        events.extend(self.operations.as_mut().map(|operations| operations.read(at)));
        events
    }

    /// Notes on the counts, once they have been read for the last time.
    #[must_use]
    pub fn verdict(&self, at: Nanos) -> Vec<Note> {
        self.operations.as_ref().map(|operations| operations.verdict(at - self.began)).unwrap_or_default()
    }
}

/// By themselves, without windows: a capture whose other counters nobody reads.
impl Reader for KernelCounters {
    fn begin(&mut self) -> Vec<Event> {
        self.start(self.clock.now())
    }

    fn end(&mut self) -> LastReading {
        let at = self.clock.now();
        LastReading { at, events: self.read(at), notes: self.verdict(at) }
    }
}
