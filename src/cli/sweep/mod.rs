//! What `ironlaw sweep` does: runs a program at several widths, or varies the CPU affinity of a running one, and reports how it
//! scales. The recordings stay on disk; the result goes to standard output.

mod command;
mod execute;
mod output;
mod plan;
mod running;
mod shared_sweep;

pub(super) use command::{begin, headless};
pub(super) use execute::{journals, restore, restore_first};
pub(super) use output::{conclude, render, report};
pub(super) use running::{RunningSweep, read_back};
