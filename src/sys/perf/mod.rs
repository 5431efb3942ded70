//! The kernel's event interface: opening events, their rings, the records in them, the files of tracefs.
//! It never decides which events are opened nor what a record means to a profile.
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
