//! The arguments of `ironlaw baseline`.

use super::values;
use crate::analysis::TimeRange;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Output format of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BaselineFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
}

/// `ironlaw baseline`.
#[derive(Debug, Clone, Args)]
pub struct BaselineArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: BaselineCommand,
}

/// What can be done with a baseline.
#[derive(Debug, Clone, Subcommand)]
pub enum BaselineCommand {
    /// Build a baseline from recordings of a program's usual work
    #[command(alias = "learn")]
    Build(BuildArgs),
    /// Show what a baseline contains and how reliable it is
    Show(ShowArgs),
}

const BUILD_EXAMPLES: &str = "\
Record the program at its usual work, with its operations counted, at the loads
and times of day that you want to judge later. More windows at each load are
better. Left out are windows in which it kept less than a quarter of a CPU busy
and windows that lost records. Odd windows stay: they hardly move the usual
values.

All recordings must be of the same build of the program, on the same CPU model
and CPUs, with operations counted alike. Kernel and machine may differ.

Examples:
  ironlaw record -p 1234 --ops 'http://localhost:9100/metrics#reqs' -d 10m \\
      -o monday.ironlaw
  ironlaw baseline build monday.ironlaw tuesday.ironlaw -o web.baseline
  ironlaw baseline build web.baseline friday.ironlaw -o web.baseline -f
                                                 extend it
  ironlaw record -p 1234 --baseline web.baseline watch what happens now";

/// `ironlaw baseline build`.
#[derive(Debug, Clone, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct BuildArgs {
    /// Recordings, and baselines to extend
    #[arg(value_name = "REC", required = true)]
    pub sources: Vec<PathBuf>,
    /// File to write
    #[arg(short = 'o', long, value_name = "NAME.baseline", required = true)]
    pub output: PathBuf,
    /// Replace an existing baseline
    #[arg(short = 'f', long)]
    pub force: bool,
    /// Use only this time of each recording: 5s-, 1s-10s, 1s+9s
    #[arg(long, value_name = "FROM-TO", visible_alias = "time-range", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time: Option<TimeRange>,
}

/// `ironlaw baseline show`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw baseline show web.baseline")]
pub struct ShowArgs {
    /// A baseline, or a recording that contains one
    #[arg(value_name = "NAME")]
    pub name: PathBuf,
    /// Show every quantity, not only the cost and its factors
    #[arg(long)]
    pub all: bool,
    /// Output format: text or json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: BaselineFormat,
    /// Write to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
