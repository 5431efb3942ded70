//! Parses the command line, runs it and turns the result into an exit code. Nothing else ends the process.

use ironlaw::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
