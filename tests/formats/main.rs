//! The library on what was written by hand: reports, exports, sweeps, symbols, and their properties on generated profiles. No
//! test here measures a program, so that they run beside each other; what does stands in `tests/it` and `tests/kernel`.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use ironlaw::{analysis, model, units};

#[path = "../support/parquet.rs"]
mod parquet;
#[expect(dead_code, reason = "other tests read more kinds of fields")]
#[path = "../support/protobuf.rs"]
mod protobuf;
#[path = "../support/skips.rs"]
mod skips;
#[path = "../support/sweep.rs"]
mod swept;
#[expect(dead_code, reason = "other tests build more kinds of events")]
#[path = "../support/synthetic.rs"]
mod synthetic;

mod export;
mod golden;
mod properties;
mod report;
mod sweep;
mod symbols;
