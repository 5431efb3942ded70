//! The arguments of `ironlaw query`.

use super::EngineArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueryFormat {
    /// For people.
    Text,
    /// An array of objects.
    Json,
    /// For spreadsheets.
    Csv,
    /// For other engines.
    Parquet,
}

const AFTER_HELP: &str = "\
Tables are those of the recording format (assets/recording.md): samples, stacks,
frames, names, mappings, windows, off_cpu, ...; each has a column `recording` more.
`functions` has the functions with their weight and samples, names included.
Of a data set of many machines: windows, functions, neighbours, alarms (`ironlaw
help fleet`).

Examples:
  ironlaw query 'SELECT function, self_weight FROM functions LIMIT 10' run.ironlaw
  ironlaw query 'SELECT recording, COUNT(*) FROM samples GROUP BY recording' *.ironlaw
  ironlaw query --format parquet -o lost.parquet 'SELECT * FROM lost' run.ironlaw";

/// `ironlaw query`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct QueryArgs {
    /// The query, in SQL
    // A query may begin with a comment: `-- ...`.
    #[arg(value_name = "SQL", allow_hyphen_values = true)]
    pub sql: String,
    /// The recordings, or a data set [default: the newest *.ironlaw in this directory]
    #[arg(value_name = "REC")]
    pub recordings: Vec<PathBuf>,
    /// Which engine.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Write text, json, csv or parquet [default: by the extension of FILE, otherwise text]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, help_heading = "Output")]
    pub format: Option<QueryFormat>,
    /// Write to this file [default: the standard output, also as `-`]
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}
