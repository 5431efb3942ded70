//! BPF programs, assembled here by hand, so that no compiler or loader is needed to build or to run them.

mod calls;
mod code;
mod interrupts;
mod latency;
mod open_calls;
mod process_filter;
mod return_sites;
mod run_times;
mod thread_entry;
mod wait_sums;

#[cfg(test)]
pub use latency::MOST_KEPT;
pub use latency::{CallEnds, CallLengths, KeptCall};
pub use open_calls::OpenCalls;
pub use process_filter::ProcessFilter;
pub use return_sites::ReturnSites;
pub use run_times::{RunTime, RunTimes};
pub use thread_entry::STATES;
pub use wait_sums::{OUTPUT, StacksTime, Sum, ThreadSums, WaitRecord, WaitSums};
