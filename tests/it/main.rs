//! The crate from the outside, in one program: the built command line on real programs, and the library on what was written by
//! hand. What needs the kernel's own counters stands in `tests/kernel`, the walls between modules in `tests/layering`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test, and a skipped test says why"
)]

use ironlaw::{analysis, model, units};

#[path = "../support/parquet.rs"]
mod parquet;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/pty.rs"]
mod pty;
#[macro_use]
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/sweep.rs"]
mod swept;
#[path = "../support/synthetic.rs"]
mod synthetic;
#[path = "../support/turn.rs"]
mod turn;

mod annotate;
mod baseline;
mod cgroups;
mod cli;
mod colocate;
mod completion;
mod dataset;
mod diff;
mod export;
mod faults;
mod first_guess;
mod golden;
mod guide;
mod identities;
mod import;
mod known_answer;
mod latency;
mod list;
mod memory;
mod metrics;
mod naming;
mod neighbours;
mod operations;
mod progress;
mod properties;
mod query;
mod readme;
mod refusals;
mod remote;
mod report;
mod schema;
mod shutdown;
mod stat;
mod sweep;
mod symbols;
mod tui;
mod usdt;
mod watch;
