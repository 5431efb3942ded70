//! Canaries: short walks through ironlaw's own memory on their own thread, so that a target without hardware counters
//! still shows when shared caches, address translation or memory become slower. They cost at most 0.5% of one CPU. They
//! show a slowdown, not who caused it. The scheduler places the thread.
//!
//! The thread has normal priority. A round is cut into bursts of 10 to 100 us, shorter than any time slice. At a lower
//! priority a busy CPU would preempt it within a burst, which would be worthless and would have to be repeated.

mod layout;
mod round;
mod thread;

pub use layout::MemoryLevel;
pub use thread::{CanaryThread, Totals};
