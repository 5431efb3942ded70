//! The kernel's perf event interface: opening events, their rings, the records in them, the files of tracefs.
//!
//! `perf-event-open` builds the attributes and opens the events. Its sampler is not used: it has no output redirection
//! (thousands of events into one ring per CPU), and its parser allocates per sample.

pub mod event;
pub mod poll;
pub mod record;
pub mod registers;
pub mod ring;
pub mod tracefs;
pub mod uprobe;
pub mod uprobe_cost;
