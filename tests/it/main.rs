//! The crate from the outside: the built command line on real programs, one test at a time. The library on what was written
//! by hand stands in `tests/formats`, what needs the kernel's own counters in `tests/kernel`, the walls between modules in
//! `tests/layering`.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests, which say what they measured")]

use ironlaw::{analysis, model, units};

#[expect(dead_code, reason = "other tests read more kinds of columns")]
#[path = "../support/parquet.rs"]
mod parquet;
#[path = "../support/program.rs"]
mod program;
#[expect(dead_code, reason = "other tests read more kinds of fields")]
#[path = "../support/protobuf.rs"]
mod protobuf;
#[path = "../support/pty.rs"]
mod pty;
#[path = "../support/skips.rs"]
mod skips;
#[macro_use]
#[path = "../support/mod.rs"]
mod support;
#[expect(dead_code, reason = "other tests build more kinds of events")]
#[path = "../support/synthetic.rs"]
mod synthetic;
#[path = "../support/turn.rs"]
mod turn;

mod annotate;
mod baseline;
mod blocked;
mod cgroups;
mod cli;
mod colocate;
mod completion;
mod dataset;
mod diff;
mod export;
mod faults;
mod first_guess;
mod guide;
mod identities;
mod import;
mod known_answer;
mod latency;
mod list;
mod locks;
mod lockstep;
mod memory;
mod metrics;
mod naming;
mod neighbours;
mod operations;
mod progress;
mod query;
mod readme;
mod refusals;
mod remote;
mod schema;
mod shutdown;
mod stack_switches;
mod stat;
mod sweep;
mod tail_calls;
mod tui;
mod usdt;
mod wake_ups;
mod watch;
