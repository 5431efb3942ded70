//! `ironlaw list`: which events, metrics, control groups and probes to list.

use clap::Args;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  ironlaw list                 all events but tracepoints, and the metrics
  ironlaw list sw cache        software and cache events
  ironlaw list 'cpu-*'         events of that name
  ironlaw list llc             events with these letters in their names
  ironlaw list 'sched:*'       tracepoints of one category
  ironlaw list cgroups         control groups for -G, the busiest first
  ironlaw list usdt 1234       probes for --ops usdt: of a process or a file
  ironlaw list -j              everything as JSON

Events are tried by opening them on this thread. `not counted here` has the
reason that the kernel gave.";

/// `ironlaw list`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ListArgs {
    /// Kinds (hw, sw, cache, pmu, tracepoint, metric), patterns with * and ?, or parts of names; or cgroups, followed by
    /// patterns or parts of names; or usdt, followed by files or process ids
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// Write the list as JSON
    #[arg(short = 'j', long)]
    pub json: bool,
    /// Look below this directory for proc and sys
    #[arg(long, hide = true, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
}
