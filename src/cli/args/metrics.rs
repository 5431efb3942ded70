//! The `metrics` command, and the flags that choose hardware metrics in a capture.
//! It never looks at the machine.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which hardware metrics to count, as typed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Capture")]
pub struct HardwareArgs {
    /// Count these hardware metrics: names and sets, e.g. cache,tlb,mlp, or default, all, none (see `ironlaw metrics`)
    #[arg(short = 'M', long, value_name = "LIST")]
    pub metrics: Option<String>,
    /// Add a table of events in TOML; its entries override the built-in ones
    #[arg(long, value_name = "FILE")]
    pub pmu_table: Option<PathBuf>,
}

/// The form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricsFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

const AFTER_HELP: &str = "\
Examples:
  ironlaw metrics                     what is counted here, and why others are not
  ironlaw metrics cache,tlb           a selection, as for record -M
  ironlaw metrics --uarch intel-spr   on another CPU

Whether a virtual machine's PMU really counts shows only when it is tried:
`ironlaw doctor` does.";

/// `ironlaw metrics`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct MetricsArgs {
    /// Metrics and sets to plan for [default: those that record counts]
    #[arg(value_name = "LIST", default_value = "default", hide_default_value = true)]
    pub list: String,
    /// Plan for all metrics, and list every known event
    #[arg(long)]
    pub all: bool,
    /// Plan for this microarchitecture instead of this machine's
    #[arg(long, value_name = "ID")]
    pub uarch: Option<String>,
    /// Add a table of events in TOML; its entries override the built-in ones
    #[arg(long, value_name = "FILE")]
    pub pmu_table: Option<PathBuf>,
    /// Write the list as text or json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: MetricsFormat,
    /// Look below this directory for proc and sys
    #[arg(long, hide = true, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
}
