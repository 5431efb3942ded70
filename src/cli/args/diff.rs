//! Arguments of `ironlaw diff`.

use super::values;
use crate::analysis::TimeRange;
use crate::analysis::diff::{Expectation, Gate};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Text for people.
    Text,
    /// JSON that follows the published schema.
    Json,
    /// A table of the quantities.
    Csv,
    /// Markdown for comments on merges.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// One page with the flame graphs, to share.
    Html,
}

/// The divisor of functions' costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormalizeArg {
    /// Operations; seconds of CPU time where none were counted.
    Auto,
    /// Operations.
    Op,
    /// Seconds of CPU time.
    Cpu,
    /// All samples.
    Share,
    /// Nothing: both did the same work.
    None,
}

/// The measure of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadArg {
    /// The one that the cost depends on less within a recording.
    Auto,
    /// Operations per second.
    Ops,
    /// Busy CPUs.
    Cores,
    /// Nothing: compare as recorded.
    None,
}

const AFTER_HELP: &str = "\
Each side is a recording or a sweep, or repeats of one program separated by
commas. Several NEW whose names differ by a number alone are repeats, too;
others are compared with BASE one by one, and so are all with --each. Three or more repeats a side measure how far runs differ. Single runs
do not: they show how much these two recordings differ, and up to which
variation between runs that would be beyond chance. If you know the variation,
state it with --run-noise.

A gate is a condition that sets exit code 3:
  'path_length > +1%'    the quantity grew by more than 1% of the base
  'cpu_ns_per_op > +50'  it grew by more than 50, in its unit
  'cpi > 1.2'            its new value is above 1.2
A gate is broken if the whole interval is beyond the limit, so a change of
exactly the limit breaks it by chance in one of forty comparisons. If a gate is
undecided (a missing number, no load in common, single runs), the exit code is
4, unless --allow-missing is given.

State expectations up front: each comes out confirmed, not confirmed,
contradicted or undecided. They do not affect the exit code unless --fail-if is
'contradicted' or 'unconfirmed':
  'l3_mpki down'         up, down or same
  'path_length < -10%'   a change beyond 10% of the base
  'cpu_ns_per_op < -50'  a change beyond 50, in its unit

Examples:
  ironlaw diff old.ironlaw new.ironlaw
  ironlaw diff a1.ironlaw,a2.ironlaw,a3.ironlaw b1.ironlaw b2.ironlaw b3.ironlaw
  ironlaw diff main.sweep fix.sweep --width 8 --flamegraph diff.svg
  ironlaw diff base.ironlaw new.ironlaw --fail-if 'cpu_ns_per_op > +3%' \\
      --format md -o comment.md
  ironlaw diff base.ironlaw new.ironlaw --expect 'l3_mpki down' --expect 'path_length same'
  ironlaw diff --tui base.ironlaw new.ironlaw

Exit codes: 0 compared, 1 failure or sides that cannot be compared, 2 invalid
usage, 3 gate broken, 4 no gate broken but one undecided.";

/// `ironlaw diff`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Comparison")]
pub struct DiffArgs {
    /// Recording or sweep to compare with; separate repeats by commas [default: the newest two recordings here are compared]
    #[arg(value_name = "BASE", default_value = "", hide_default_value = true, help_heading = "Arguments")]
    pub base: String,
    /// Recordings or sweeps to compare with BASE: repeats, or a side each [default: the newest recording here but BASE]
    #[arg(value_name = "NEW", help_heading = "Arguments")]
    pub new: Vec<String>,
    /// Compare the runs of sweeps at this many threads or CPUs [default: the most that all have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub width: Option<u32>,
    /// Use only this part of each recording: 5s-, 1s-10s, 1s+9s
    #[arg(long, value_name = "FROM-TO", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time_range: Option<TimeRange>,
    /// Measure load by ops, cores, none, or auto (the one that the cost depends on less)
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "auto")]
    pub load: LoadArg,
    /// Divide costs of functions by op, cpu, share, none, or auto (op if counted, else cpu)
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "auto")]
    pub normalize: NormalizeArg,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = confidence)]
    pub confidence: f64,
    /// Treat changes within this part of the base as no change
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = part)]
    pub same_within: f64,
    /// Standard deviation between runs of one program, if no repeats measure it [default: unknown]
    #[arg(long, value_name = "PERCENT", value_parser = part)]
    pub run_noise: Option<f64>,
    /// Compare each NEW with BASE, even where names look like repeats
    #[arg(long)]
    pub each: bool,
    /// Compare even if CPU, events or the source of operations differ
    #[arg(long)]
    pub force: bool,
    /// Expect a change (repeatable): 'NAME up', 'NAME down', 'NAME same' or 'NAME < -10%'
    #[arg(long, value_name = "WHAT", value_parser = expectation)]
    pub expect: Vec<Expectation>,
    /// Seed of the resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Leave inlined functions out, also of call paths and flame graphs
    #[arg(long)]
    pub no_inline: bool,
    /// Exit with 3 if a condition is met (repeatable); 'contradicted' or 'unconfirmed' for expectations
    #[arg(long, value_name = "CONDITION", value_parser = gate, help_heading = "Gate")]
    pub fail_if: Vec<Gate>,
    /// Pass gates that cannot be decided
    #[arg(long, requires = "fail_if", help_heading = "Gate")]
    pub allow_missing: bool,
    /// Open the comparison in a terminal session
    #[arg(long, conflicts_with_all = ["format", "output", "limit"], help_heading = "Output")]
    pub tui: bool,
    /// Output format: text, json, csv, md or html
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: DiffFormat,
    /// Maximum number of functions; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "Output")]
    pub limit: usize,
    /// Write to a file instead of the standard output
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write a differential flame graph: width shows cost, blue less, orange more
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub flamegraph: Option<PathBuf>,
}

fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

fn part(text: &str) -> Result<f64, String> {
    percent(text)
        .filter(|part| (0.0..=10.0).contains(part))
        .ok_or_else(|| "give a percentage of at least 0, e.g. 2".into())
}

fn confidence(text: &str) -> Result<f64, String> {
    let sound = |confidence: &f64| (0.5..=0.999_999).contains(confidence);
    percent(text).filter(sound).ok_or_else(|| "give a percentage from 50 to 99.9999, e.g. 95".into())
}

fn gate(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| with_remedy(&error))
}

fn expectation(text: &str) -> Result<Expectation, String> {
    Expectation::parse(text).map_err(|error| with_remedy(&error))
}

fn with_remedy(error: &crate::error::Error) -> String {
    match error.remedy() {
        Some(remedy) => format!("{error}. {remedy}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_parts() {
        assert_eq!((part("2"), part(" 0.5 %"), confidence("95")), (Ok(0.02), Ok(0.005), Ok(0.95)));
        for wrong in ["", "-1", "NaN", "inf", "2000", "x"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "100", "40", "0.95", "NaN"] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_condition_that_is_none_shows_what_one_looks_like() {
        assert!(gate("cpi").is_err_and(|text| text.contains("path_length > +1%")));
        assert!(expectation("cpi").is_err_and(|text| text.contains("'cpi same'")));
    }
}
