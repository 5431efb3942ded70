//! The command line: parses and checks arguments, and runs each command in its own file.

pub mod args;
pub(crate) mod plan;

mod annotate;
mod baseline;
mod capture;
mod colocate;
mod command_words;
mod completion;
mod config;
mod dataset;
mod demo;
mod diff;
mod doctor;
mod export;
mod flamegraph;
mod fleet;
mod guide;
mod hardware;
mod import;
mod list;
mod metrics;
mod ops;
mod out;
mod pager;
mod progress;
mod query;
mod record;
mod remote;
mod report;
mod rewrite;
mod screen;
mod snapshot_source;
mod stat;
mod sweep;
mod terminal_session;
mod top;
mod watch;

#[cfg(any(test, fuzzing))]
pub(crate) use config::parse as parse_config;

use self::args::{Cli, Command, TopArgs};
use self::out::Terminal;
use crate::error::Result;
use crate::session;
use std::process::ExitCode;

/// Runs this process's command line; or serves, if ironlaw started it to read `/proc` or make names, or a shell asks what
/// may follow.
#[must_use]
pub fn main() -> ExitCode {
    if session::serve_as_helper() || completion::answer() { ExitCode::SUCCESS } else { run(&rewrite::command_line()) }
}

/// Runs a command line and returns the process's exit code.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    let terminal = Terminal::stderr(&cli.global);
    carry_out(cli, &terminal).unwrap_or_else(|error| {
        terminal.error(&error);
        ExitCode::from(error.kind().exit_code())
    })
}

fn carry_out(cli: &Cli, terminal: &Terminal) -> Result<ExitCode> {
    let Some(command) = &cli.command else {
        top::run(&TopArgs::default(), terminal)?;
        return Ok(ExitCode::SUCCESS);
    };
    match command {
        Command::Top(args) => top::run(args, terminal)?,
        Command::View(args) => top::view(args, terminal)?,
        Command::Watch(args) => return watch::run(args, terminal),
        Command::Record(args) => return record::run(args, terminal),
        Command::Stat(args) => return stat::run(args, terminal),
        Command::Sweep(args) => return top::sweep(args, &cli.global, terminal),
        Command::Colocate(args) => return colocate::run(args, &cli.global, terminal),
        Command::Doctor(args) => return doctor::run(args, &cli.global),
        Command::Report(args) => report::run(args, &cli.global)?,
        Command::Annotate(args) => annotate::run(args, &cli.global)?,
        Command::Baseline(args) => baseline::run(args, &cli.global, terminal)?,
        Command::Diff(args) => {
            let args = diff::completed(args, terminal)?;
            if args.tui { top::diff(&args, terminal)? } else { diff::run(&args, &cli.global, terminal)? }
        }
        Command::Flamegraph(args) => flamegraph::run(args, terminal)?,
        Command::Fleet(args) => fleet::run(args, &cli.global, terminal)?,
        Command::Convert(args) => fleet::add(&args.dataset, &args.recordings, &args.labels, terminal)?,
        Command::Import(args) => import::run(args, terminal)?,
        Command::Script(args) => export::run(&args.into(), terminal)?,
        Command::Export(args) => export::run(args, terminal)?,
        Command::Query(args) => query::run(args, terminal)?,
        Command::List(args) => list::run(args, &cli.global)?,
        Command::Metrics(args) => metrics::run(args)?,
        Command::Ops(args) => ops::run(args, &cli.global)?,
        Command::Demo(args) => demo::run(args, &cli.global, terminal)?,
        Command::Workload(args) => demo::workload(args)?,
        Command::Stream(args) => remote::serve(args)?,
        Command::Config(args) => config::run(args)?,
        Command::Completions(args) => out::deliver(&completion::script(args.shell), None)?,
        Command::Help(args) => pager::show(guide::page(args.subject.as_deref(), args::help_text)?.as_bytes(), None)?,
        Command::Man(args) => out::deliver(&args::man_page(args.command.as_deref())?, None)?,
    }
    Ok(ExitCode::SUCCESS)
}
