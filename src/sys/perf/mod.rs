//! The kernel's perf event interface: opening events, their rings, the records in them, the files of tracefs.
//!
//! `perf-event-open` builds the attributes and opens the events. Its sampler is not used: it has no output redirection
//! (thousands of events into one ring per CPU), and its parser allocates per sample.

pub(crate) mod event;
pub(crate) mod poll;
pub(crate) mod record;
pub(crate) mod ring;
pub(crate) mod tracefs;
pub(crate) mod tracepoint_cost;
pub(crate) mod uprobe;
pub(crate) mod uprobe_cost;
