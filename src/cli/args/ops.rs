//! `ironlaw ops`: whose sources of operations to try, and for how long.

use super::values;
use crate::units::Nanos;
use clap::Args;

const AFTER_HELP: &str = "\
Examples:
  ironlaw ops -p 1234                  what could count its operations
  ironlaw ops -p 1234 --children -d 5  of a server that forks, for 5 seconds
  ironlaw record -p 1234 --ops SPEC    then count with one of them

All sources are counted at once; what costs too much is stopped early.";

/// `ironlaw ops`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct OpsArgs {
    /// Look at these processes with all their threads
    #[arg(short = 'p', long, value_name = "PID", required = true, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Vec<u32>,
    /// Include the processes that they have forked or will fork
    #[arg(long)]
    pub children: bool,
    /// Count for this time: 5, 5s, 500ms
    #[arg(short = 'd', long, value_name = "TIME", default_value = "1s", value_parser = values::seconds)]
    pub duration: Nanos,
    /// Stop counting at a source that costs more than PERCENT of one CPU
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = values::percent)]
    pub max_overhead: f64,
    /// Also try probes that are not known to mark requests, where others are; each takes up to a quarter of a second
    #[arg(long)]
    pub all: bool,
    /// Print at most this many sources; 0: all
    #[arg(long, value_name = "ROWS", default_value = "20")]
    pub limit: usize,
    /// Write the sources as JSON
    #[arg(short = 'j', long)]
    pub json: bool,
}
