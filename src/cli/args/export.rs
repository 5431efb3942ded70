//! `ironlaw export`: a recording for other tools.
//! It never opens one.

use super::SelectionArgs;
use crate::export::format::{ExportFormat, FORMATS};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  ironlaw export -o run.pb.gz && go tool pprof -http : run.pb.gz
  ironlaw export run.ironlaw -o run.speedscope.json
  ironlaw export run.ironlaw --format firefox -o run.json.gz
  ironlaw export --format perfscript | inferno-collapse-perf
  ironlaw export --off-cpu --thread 'io_*' -o waits.csv";

/// The formats with what each is for, and the examples.
fn formats_and_examples() -> String {
    let rows = FORMATS.iter().map(|format| format!("  {:<10}  {}\n", format.name, format.about));
    let every = ExportFormat::names("and", |format| format.every_event);
    let note = format!("Without --event, {every} contain every event, the others the first.");
    format!("Formats:\n{}{note}\n\n{EXAMPLES}", rows.collect::<String>())
}

fn format_parser() -> impl TypedValueParser<Value = &'static ExportFormat> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
        .try_map(|name| ExportFormat::named(&name).ok_or("unknown format"))
}

/// `ironlaw script`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  ironlaw script | inferno-collapse-perf\n  ironlaw script -i run.ironlaw --comm redis-server | less",
    next_help_heading = "Output"
)]
pub struct ScriptArgs {
    /// Write to this file [default: the standard output]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print off-CPU time instead of samples
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}

impl From<&ScriptArgs> for ExportArgs {
    fn from(args: &ScriptArgs) -> ExportArgs {
        let ScriptArgs { output, off_cpu, selection } = args.clone();
        ExportArgs { format: ExportFormat::named("perfscript"), output, off_cpu, selection }
    }
}

/// `ironlaw export`.
#[derive(Debug, Clone, Args)]
#[command(after_help = formats_and_examples(), next_help_heading = "Output")]
pub struct ExportArgs {
    /// The format of the file [default: by the ending of FILE]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", value_parser = format_parser(),
        help = format!("Write {} [default: by the extension of FILE]", ExportFormat::names("or", |_| true)))]
    pub format: Option<&'static ExportFormat>,
    /// Write to this file, compressed if it ends in .gz [default: the standard output, also as `-`]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Export off-CPU time instead of samples
    #[arg(long, conflicts_with = "event")]
    pub off_cpu: bool,
    /// What part of it.
    #[command(flatten)]
    pub selection: SelectionArgs,
}
