//! How many operations took how long.

use crate::units::Nanos;

/// The operations of one window whose latency lay in one interval. Of one source, the windows have the same intervals, and
/// an interval without operations is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
