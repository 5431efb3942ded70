//! The command line: what was typed, checked into a plan, carried out by one file per command. It never measures.

pub mod args;
pub mod plan;
