//! `ironlaw sweep`: runs a program at several widths, or varies the CPU affinity of a running one, and reports how it
//! scales. The recordings stay on disk; the result goes to standard output.

mod command;
mod execute;
mod output;
mod plan;
mod shared_sweep;
mod watch;

pub(super) use command::{demo, run};
pub(super) use output::{render, report};
pub(super) use watch::read_back;
