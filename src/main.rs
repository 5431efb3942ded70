//! Parses the command line, runs it and turns the result into an exit code. Nothing else exits the process.

use clap::Parser;
use ironlaw::cli::{args::Cli, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(&Cli::parse())
}
