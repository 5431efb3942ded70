//! Parses the command line, runs it and turns the result into an exit code.

fn main() {}
