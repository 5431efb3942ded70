//! The whole command line as a table: what is accepted and what it becomes, what is rejected and what the message says.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use clap::Parser;

mod accepted;
mod definition;
mod rejected;

/// The words of a line; `'...'` holds blanks together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec!["ironlaw".to_string()];
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(ToString::to_string));
        }
    }
    words
}

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(words(line))
}

fn command(line: &str) -> Command {
    parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command.unwrap()
}

fn record(line: &str) -> RecordArgs {
    match command(&format!("record {line}")) {
        Command::Record(args) => args,
        other => panic!("{line}: {other:?}"),
    }
}
