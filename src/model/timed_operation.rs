//! One operation whose latency was measured, with what its thread did meanwhile.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// An operation that was recorded by itself: every slow one, and a random part of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedOperation {
    /// When it began, since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Its latency.
    pub latency: Nanos,
    /// The time its thread was blocked within it; `None` if it is not known.
    pub blocked: Option<Nanos>,
    /// The time its thread was runnable without a CPU; `None` if it is not known.
    pub queued: Option<Nanos>,
    /// The time that interrupts took of its thread; `None` if it is not known.
    pub interrupted: Option<Nanos>,
    /// Its page faults without a read from storage; `None` if they are not known.
    pub minor_faults: Option<u64>,
    /// Its page faults with a read from storage.
    pub major_faults: Option<u64>,
    /// How many operations it stands for.
    pub weight: u64,
}

impl TimedOperation {
    /// When it ended, since the recording's start.
    #[must_use]
    pub fn end(&self) -> Nanos {
        Nanos(self.at.0.saturating_add(self.latency.0))
    }
}
