//! The commands that read a recording: `report` and `flamegraph`.
//! It never opens one.

use super::{ThreadFilter, values};
use crate::analysis::TimeRange;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// One table of functions.
    Csv,
    /// For tickets and reviews.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// A page with charts and flame graphs; of a sweep only.
    Html,
}

/// The order of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortArg {
    /// Share spent in the function's own code.
    #[value(name = "self")]
    SelfShare,
    /// Share spent in the function and what it calls.
    Total,
    /// Number of samples in the function's own code.
    Samples,
    /// The name.
    Name,
}

/// What one row of the table stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// A function.
    Function,
    /// A program or library.
    Module,
    /// A thread.
    Thread,
    /// A process.
    Process,
}

/// Which part of a recording, the same in every command that reads one.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// The recording or perf.data file [default: the newest *.ironlaw in this directory]
    #[arg(value_name = "REC", help_heading = "Arguments")]
    pub recording: Option<PathBuf>,
    /// Select samples of this event, by its name in the recording
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
    /// Select these threads, by name or id (repeatable)
    #[arg(long, value_name = "NAME|TID", value_parser = values::thread_filter)]
    pub thread: Vec<ThreadFilter>,
    /// Select this time since the start: 1s-10s, 1s+9s, 5s-
    #[arg(long, value_name = "FROM-TO", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time_range: Option<TimeRange>,
    /// Attribute samples of inlined functions to their callers
    #[arg(long)]
    pub no_inline: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  ironlaw report                                   the newest recording here
  ironlaw report run.ironlaw --sort total --limit 40
  ironlaw report run.ironlaw --time-range 1s-10s --thread worker
  ironlaw report run.ironlaw --baseline api.baseline   was it slower than usual, and why
  ironlaw report run.ironlaw --format json | jq '.functions[0]'";

/// `ironlaw report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES, next_help_heading = "Output")]
pub struct ReportArgs {
    /// Write the report as text, json, csv or md
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Group rows by function, module, thread or process
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "function")]
    pub by: ByArg,
    /// Sort the rows by self, total, samples or name
    #[arg(long, hide_possible_values = true, value_name = "KEY", default_value = "self")]
    pub sort: SortArg,
    /// Show at most N rows; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Write to a file instead of the standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Compare with this baseline instead of the one in the recording
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub baseline: Option<PathBuf>,
}

/// The form of a flame graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlameFormat {
    /// A picture with search and zoom, for a browser.
    Svg,
    /// One line per stack, `main;parse;strtol 42`, for other tools.
    Folded,
}

const FLAMEGRAPH_EXAMPLES: &str = "\
Examples:
  ironlaw flamegraph                             the newest recording here
  ironlaw flamegraph run.ironlaw -o run.svg --title 'after the fix'
  ironlaw flamegraph run.ironlaw --off-cpu       where threads waited
  ironlaw flamegraph perf.data                   what perf recorded
  ironlaw flamegraph run.ironlaw --format folded -o - | grep malloc";

/// `ironlaw flamegraph`.
#[derive(Debug, Clone, Args)]
#[command(after_help = FLAMEGRAPH_EXAMPLES, next_help_heading = "Output")]
pub struct FlamegraphArgs {
    /// Write to this file, `-` for the standard output [default: the recording's name with .svg or .folded]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write an svg image, or folded stacks as text [default: by the extension of FILE, else svg]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<FlameFormat>,
    /// Set the title [default: target and host]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Draw an icicle graph: the root at the top
    #[arg(long)]
    pub inverted: bool,
    /// Omit frames narrower than this many pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 0.1, value_parser = values::pixels)]
    pub min_width: f64,
    /// Colour frames by `kind` (kernel, user, JIT, inlined) or by a palette of flamegraph.pl: hot, mem, java, ...
    #[arg(long, value_name = "NAME", default_value = "kind")]
    pub palette: String,
    /// Draw off-CPU time instead of samples
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
