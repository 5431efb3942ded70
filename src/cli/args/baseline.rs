//! `ironlaw baseline`: how a target usually behaves, learnt and shown.
//! It never opens a file.

use super::values;
use crate::analysis::TimeRange;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The form in which a baseline is shown.
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
    /// Learn from recordings how a program usually behaves
    Build(BuildArgs),
    /// Say what a baseline knows, and how far it can be relied on
    Show(ShowArgs),
}

const BUILD_EXAMPLES: &str = "\
Record the program at its usual work, with its operations counted, at the loads
and times of day that are to be judged later; the more windows at each load the
better. Windows in which it kept less than a quarter of a CPU busy, and those
that lost records, are left out. Odd ones are not: they hardly move what is
usual.

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
    /// Replace a baseline of that name
    #[arg(short = 'f', long)]
    pub force: bool,
    /// Only this time of each recording: 5s-, 1s-10s, 1s+9s
    #[arg(long, value_name = "FROM-TO", visible_alias = "time-range", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time: Option<TimeRange>,
}

/// `ironlaw baseline show`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw baseline show web.baseline")]
pub struct ShowArgs {
    /// A baseline, or a recording that holds one
    #[arg(value_name = "NAME")]
    pub name: PathBuf,
    /// Every quantity, not only the cost and what it is made of
    #[arg(long)]
    pub all: bool,
    /// Form: text or json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: BaselineFormat,
    /// Write to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
