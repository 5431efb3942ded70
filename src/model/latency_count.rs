//! How many operations took how long.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The operations of one window whose latency lay in one interval. An interval without operations is left out. Intervals of
/// sources that count in steps are the same in all windows; those of printed percentiles may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyCount {
    /// The end of the window, since the recording's start.
    pub at: Nanos,
    /// The shortest latency in the interval.
    pub low: Nanos,
    /// The latency that is longer than all in it; `None` if nothing bounds it.
    pub high: Option<Nanos>,
    /// The operations.
    pub count: u64,
}
