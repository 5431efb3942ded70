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
    /// The recording [default: the newest *.ironlaw in this directory]
    #[arg(value_name = "REC", help_heading = "Arguments")]
    pub recording: Option<PathBuf>,
    /// Only samples of this event, as the recording names it
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
    /// Only these threads, by name or id (repeatable)
    #[arg(long, value_name = "NAME|TID", value_parser = values::thread_filter)]
    pub thread: Vec<ThreadFilter>,
    /// Only this time since the start: 1s-10s, 1s+9s, 5s-
    #[arg(long, value_name = "FROM-TO", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time_range: Option<TimeRange>,
    /// Count an inlined function's samples for the function it was inlined into
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
    /// Form of the report: text, json, csv or md
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// What one row stands for: function, module, thread or process
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "function")]
    pub by: ByArg,
    /// Order of the rows: self, total, samples or name
    #[arg(long, hide_possible_values = true, value_name = "KEY", default_value = "self")]
    pub sort: SortArg,
    /// Rows to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Write to a file in place of the standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Hold it against this baseline in place of the one within it
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
  ironlaw flamegraph run.ironlaw --format folded -o - | grep malloc";

/// `ironlaw flamegraph`.
#[derive(Debug, Clone, Args)]
#[command(after_help = FLAMEGRAPH_EXAMPLES, next_help_heading = "Output")]
pub struct FlamegraphArgs {
    /// File to write, `-` for the standard output [default: the recording's name with .svg or .folded]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// svg, a picture; or folded, text for other tools [default: by the ending of FILE, else svg]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<FlameFormat>,
    /// Title of the picture [default: target and host]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Hang the stacks from the top, the root above
    #[arg(long)]
    pub inverted: bool,
    /// Leave out frames narrower than this many pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 0.1, value_parser = values::pixels)]
    pub min_width: f64,
    /// Colours: `kind` tells kernel, user, JIT and inlined code apart; or a palette of flamegraph.pl such as hot, mem, java
    #[arg(long, value_name = "NAME", default_value = "kind")]
    pub palette: String,
    /// Draw the time threads waited in place of the time they ran
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
