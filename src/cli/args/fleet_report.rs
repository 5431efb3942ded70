//! The arguments of `ironlaw fleet DIR` and `ironlaw fleet sql`.

use super::EngineArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// A page that needs no network.
    Html,
}

/// `ironlaw fleet DIR`.
#[derive(Debug, Clone, Args)]
pub struct FleetReportArgs {
    /// The data set
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Show the answers in the terminal session
    #[arg(long, conflicts_with_all = ["format", "output"], help_heading = "Output")]
    pub tui: bool,
    /// Write text, json or html [default: by the extension of FILE, otherwise text]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, help_heading = "Output")]
    pub format: Option<FleetFormat>,
    /// Write to this file [default: the standard output, also as `-`]
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Show at most this many rows of each table; 0: all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    pub limit: usize,
    /// Compare configurations with this one [default: the one with the most CPU time]
    #[arg(long, value_name = "CONFIG", help_heading = "Comparison of versions and configurations")]
    pub base: Option<String>,
    /// Compare versions with this one [default: each with the one that ran before it]
    #[arg(long, value_name = "VERSION", help_heading = "Comparison of versions and configurations")]
    pub base_version: Option<String>,
    /// Weigh this job by this importance; others count nothing (repeatable) [default: by CPU time]
    #[arg(long, value_name = "JOB=WEIGHT", value_parser = weight, help_heading = "Comparison of versions and configurations")]
    pub weight: Vec<(String, f64)>,
    /// Plan the hosts needed for this precision of the speed-up, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = precision, help_heading = "Comparison of versions and configurations")]
    pub precision: f64,
    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

/// `ironlaw fleet sql`.
#[derive(Debug, Clone, Args)]
pub struct FleetSqlArgs {
    /// The query [default: list all]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// `ironlaw fleet check`.
#[derive(Debug, Clone, Args)]
pub struct FleetCheckArgs {
    /// A data set of `ironlaw fleet simulate`
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
}

fn weight(text: &str) -> Result<(String, f64), String> {
    let (job, weight) = text.rsplit_once('=').ok_or("write it as JOB=WEIGHT")?;
    let weight: f64 = weight.parse().map_err(|_| format!("'{weight}' is not a number"))?;
    if weight.is_finite() && weight > 0.0 {
        Ok((job.to_string(), weight))
    } else {
        Err("the weight must be above 0".into())
    }
}

fn precision(text: &str) -> Result<f64, String> {
    let percent: f64 = text.trim_end_matches('%').parse().map_err(|_| format!("'{text}' is not a number"))?;
    if percent > 0.0 && percent <= 100.0 { Ok(percent) } else { Err("it must be above 0 and at most 100".into()) }
}
