//! Why the slowest operations take longer than the others.

mod explain;
mod joined;
mod place;

pub use explain::{SlowCause, SlowOperations, TimePart, slow_operations, throttled_share};
