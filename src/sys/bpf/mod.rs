//! BPF programs, assembled here by hand, so that no compiler or loader is needed to build or to run them.

mod calls;
mod code;
mod latency;
mod process_filter;
mod wait_sums;

pub use latency::{CallEnds, CallLengths};
pub use process_filter::ProcessFilter;
pub use wait_sums::{OUTPUT, STATES, StacksTime, Sum, ThreadSums, WaitRecord, WaitSums};
