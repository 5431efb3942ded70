//! `ironlaw export`: a recording for other tools.
//! It never opens one.

use super::SelectionArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Another tool's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One line per stack: `main;parse;strtol 42`.
    Folded,
    /// For `go tool pprof`, Pyroscope and others.
    Pprof,
    /// For <https://www.speedscope.app>.
    Speedscope,
    /// For <https://profiler.firefox.com>.
    Firefox,
    /// As `perf script` prints samples.
    Perfscript,
    /// One row per sample, for spreadsheets.
    Csv,
    /// One row per sample, for databases.
    Parquet,
}

const EXAMPLES: &str = "\
Formats:
  folded      a line per stack, for inferno, flamegraph.pl and grep
  pprof       profile.proto with mappings, lines and inlined calls, compressed
  speedscope  JSON, a profile per thread, for speedscope.app
  firefox     JSON with threads, waits and marks, for profiler.firefox.com
  perfscript  text as `perf script` prints it, for what reads that
  csv         a row per sample, for spreadsheets
  parquet     the same with names as they are, for databases
Without --event, the last three hold every event, the others the first.

Examples:
  ironlaw export -o run.pb.gz && go tool pprof -http : run.pb.gz
  ironlaw export run.ironlaw -o run.speedscope.json
  ironlaw export run.ironlaw --format firefox -o run.json.gz
  ironlaw export --format perfscript | inferno-collapse-perf
  ironlaw export --off-cpu --thread 'io_*' -o waits.csv";

/// `ironlaw export`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Output")]
pub struct ExportArgs {
    /// folded, pprof, speedscope, firefox, perfscript, csv or parquet [default: by the ending of FILE]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// File to write; its ending .gz compresses it [default: the standard output, also as `-`]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Waits in place of samples: where threads did not run
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
