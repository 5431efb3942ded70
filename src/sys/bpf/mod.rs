//! BPF programs, assembled here by hand, so that no compiler or loader is needed to build or to run them.

mod calls;
mod code;
mod process_filter;
mod wait_sums;

pub use process_filter::ProcessFilter;
pub use wait_sums::{OUTPUT, STATES, StacksTime, Sum, ThreadSums, WaitRecord, WaitSums};
