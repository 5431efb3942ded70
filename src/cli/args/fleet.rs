//! The data set of many machines: the flags of what writes it, and the arguments of `ironlaw fleet`.

use super::{FleetCheckArgs, FleetReportArgs, FleetSqlArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Whose rows these are.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data set")]
pub struct LabelArgs {
    /// Name the job [default: the control group or program]
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Name the program's version [default: the build-id of its executable]
    #[arg(long, value_name = "VERSION")]
    pub version_label: Option<String>,
    /// Name the host's configuration, to compare hosts by it
    #[arg(long, value_name = "LABEL")]
    pub config: Option<String>,
}

/// Whether what is measured goes into a data set, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data set")]
pub struct DatasetArgs {
    /// Write a row for each minute to the data set in this directory, for `ironlaw fleet`
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
    /// Whose rows these are.
    #[command(flatten)]
    pub labels: LabelArgs,
    /// Delete this host's rows of the job that are older than DAYS [default: keep all]
    #[arg(long, value_name = "DAYS", requires = "dataset", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub dataset_keep: Option<u32>,
    /// Write a row for each of these seconds
    #[arg(long, hide = true, value_name = "SECONDS", requires = "dataset", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub dataset_window: u64,
}

/// `ironlaw fleet`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct FleetArgs {
    /// What to do instead.
    #[command(subcommand)]
    pub command: Option<FleetCommand>,
    /// The report.
    #[command(flatten)]
    pub report: FleetReportArgs,
}

const EXAMPLES: &str = "\
Hosts are the sample of every interval: minutes of one host resemble each other.

Examples:
  ironlaw fleet /shared/fleet
  ironlaw fleet /shared/fleet --format json | jq '.jobs[].outliers[]'
  ironlaw fleet /shared/fleet --engine spark --master spark://head:7077
  ironlaw fleet sql outliers           the query, for any other engine";

/// What can be done with a data set.
#[derive(Debug, Clone, Subcommand)]
pub enum FleetCommand {
    /// Print a query in SQL, or the list of all
    Sql(FleetSqlArgs),
    /// Compare the answers of a simulated fleet with what was planted
    Check(FleetCheckArgs),
    /// Add recordings to a data set
    Add(FleetAddArgs),
    /// Write the data set of a simulated fleet with planted causes
    Simulate(SimulateArgs),
}

const ADD_EXAMPLES: &str = "\
Each minute of a recording becomes a row, and each hour a row per function. The
host is the one that was recorded. A recording added again replaces its rows.

Example: ironlaw fleet add fleet.dataset monday.ironlaw --job web";

/// `ironlaw fleet add`.
#[derive(Debug, Clone, Args)]
#[command(after_help = ADD_EXAMPLES)]
pub struct FleetAddArgs {
    /// The data set; a new or empty directory begins one
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Recordings and perf.data files
    #[arg(value_name = "REC", required = true)]
    pub recordings: Vec<PathBuf>,
    /// Whose rows these are.
    #[command(flatten)]
    pub labels: LabelArgs,
}

/// `ironlaw convert`.
#[derive(Debug, Clone, Args)]
pub struct ConvertArgs {
    /// Recordings and perf.data files
    #[arg(value_name = "REC", required = true)]
    pub recordings: Vec<PathBuf>,
    /// The data set; a new or empty directory begins one
    #[arg(long, value_name = "DIR", required = true)]
    pub dataset: PathBuf,
    /// Whose rows these are.
    #[command(flatten)]
    pub labels: LabelArgs,
}

const SIMULATE_EXAMPLES: &str = "\
The same seed gives the same fleet. DIR/truth.json names what was planted, each
with its job, hosts, size and time: bad hosts, dearer versions and versions that
change nothing, noisy neighbours, lowered clocks, the season, a configuration.

Example: ironlaw fleet simulate fleet.dataset --hosts 100 --days 2 --seed 1";

/// `ironlaw fleet simulate`.
#[derive(Debug, Clone, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct SimulateArgs {
    /// The data set to write: a new or empty directory
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Simulate this many hosts, with three jobs each
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub hosts: u32,
    /// Simulate this many days
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
    /// Seed of all that is random
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Simulate this many jobs
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(3..=100_000))]
    pub jobs: u32,
}
