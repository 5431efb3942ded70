//! When the search for names ends, also in the middle of a file.

use crate::sys::clock::monotonic_ns;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A time, shared by those who end at it; none at first.
#[derive(Debug, Clone)]
pub(in crate::session) struct Deadline(Arc<AtomicU64>);

impl Default for Deadline {
    fn default() -> Deadline {
        Deadline(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Deadline {
    /// Moves it to this time from now.
    pub(in crate::session) fn set(&self, from_now: Nanos) {
        self.0.store(monotonic_ns().saturating_add(from_now.0), Ordering::Relaxed);
    }

    /// Whether it is over, by this much at least.
    pub(in crate::session) fn is_over_by(&self, much: Nanos) -> bool {
        monotonic_ns() > self.0.load(Ordering::Relaxed).saturating_add(much.0)
    }

    /// Whether it is over.
    pub(in crate::session) fn is_over(&self) -> bool {
        self.is_over_by(Nanos(0))
    }
}
