//! `ironlaw watch`: compares a target with its baseline for as long as it runs, and reports as lines and as metrics.
//! [`crate::watch`] decides; this executes.

mod command;
mod dataset;
#[cfg(test)]
mod dataset_day;
mod folder;
mod lines;
mod metrics;
mod otlp;
mod recording;
mod start;
mod watch_loop;
mod worker;

pub(super) use start::run;

use crate::error::Error;
use crate::view::watch::WatchEvent;

/// A message to the main loop.
#[derive(Debug)]
enum Msg {
    /// A window ended.
    WindowEnded,
    /// The requested snapshot.
    Snapshot(Box<watch_loop::WatchSnapshot>),
    /// An event to write.
    Write(WatchEvent),
    /// Part of the capture failed, or all of it.
    Failed(Error),
    /// The capture ended, and why.
    Ended(String),
    /// A signal asks to end.
    Signal,
}
