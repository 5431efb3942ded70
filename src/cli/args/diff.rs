//! `ironlaw diff`: what is compared with what, and how sure it has to be.
//! It never opens a recording.

use super::values;
use crate::analysis::TimeRange;
use crate::analysis::diff::{Expectation, Gate};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// One table of quantities.
    Csv,
    /// For comments on merges.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// One page with the flame graphs, to hand on.
    Html,
}

/// What costs of functions are divided by.
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

/// What tells how much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadArg {
    /// The one that cost depends on less within a recording.
    Auto,
    /// Operations per second.
    Ops,
    /// Busy CPUs.
    Cores,
    /// Nothing: compare as recorded.
    None,
}

const AFTER_HELP: &str = "\
Each side is a recording or a sweep, or several of them with commas between:
repeats of one program. Three and more a side measure how far runs differ.
Single runs do not: they show by how much these two recordings differ, and up
to which difference between runs that would be beyond chance; --run-noise
says what it is where it is known.

A gate is a condition under which the exit code is 3:
  'path_length > +1%'    the quantity grew by more than a part of the base
  'cpu_ns_per_op > +50'  by more than so much, in its unit
  'cpi > 1.2'            its new value is more than that
It is broken where the whole interval is beyond the limit, so a change of just
the limit fails a merge by chance in one of forty. A gate that cannot be
decided (a number is missing, loads never met, single runs) is not called
broken: the exit code is 4, unless --allow-missing is given.

An expectation is what a change speculates on: it is told as confirmed, not
confirmed, contradicted, or why nobody can tell, and leaves the exit code alone
unless --fail-if is given 'contradicted' or 'unconfirmed':
  'l3_mpki down'         up, down or same
  'path_length < -10%'   a change beyond a part of the base
  'cpu_ns_per_op < -50'  or beyond so much, in its unit

Examples:
  ironlaw diff old.ironlaw new.ironlaw
  ironlaw diff a1.ironlaw,a2.ironlaw,a3.ironlaw b1.ironlaw,b2.ironlaw,b3.ironlaw
  ironlaw diff main.sweep fix.sweep --width 8 --flamegraph diff.svg
  ironlaw diff base.ironlaw new.ironlaw --fail-if 'cpu_ns_per_op > +3%' \\
      --format md -o comment.md
  ironlaw diff base.ironlaw new.ironlaw --expect 'l3_mpki down' --expect 'path_length same'
  ironlaw diff --tui base.ironlaw new.ironlaw

Exit codes: 0 compared, 1 failure or sides that are not alike, 2 wrong usage,
3 a gate is broken, 4 none is broken and one cannot be decided.";

/// `ironlaw diff`.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Comparison")]
pub struct DiffArgs {
    /// What changes are measured against: a recording or a sweep, or repeats with commas between
    #[arg(value_name = "BASE", help_heading = "Arguments")]
    pub base: String,
    /// What is compared with it, each by itself
    #[arg(value_name = "NEW", required = true, help_heading = "Arguments")]
    pub new: Vec<String>,
    /// Of sweeps, the runs with this many threads or CPUs [default: the most that all have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub width: Option<u32>,
    /// Only this time of each recording: 5s-, 1s-10s, 1s+9s
    #[arg(long, value_name = "FROM-TO", value_parser = values::time_range, allow_hyphen_values = true)]
    pub time_range: Option<TimeRange>,
    /// What tells how much there was to do: ops, cores, none, or auto: the one the cost depends on less
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "auto")]
    pub load: LoadArg,
    /// What costs of functions are divided by: op, cpu, share, none, or auto: op, and cpu where none were counted
    #[arg(long, hide_possible_values = true, value_name = "WHAT", default_value = "auto")]
    pub normalize: NormalizeArg,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = confidence)]
    pub confidence: f64,
    /// What counts as the same, part of the base
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = part)]
    pub same_within: f64,
    /// Standard deviation between runs of one program, where no repeats measure it [default: not known]
    #[arg(long, value_name = "PERCENT", value_parser = part)]
    pub run_noise: Option<f64>,
    /// Compare sides that are not alike
    #[arg(long)]
    pub force: bool,
    /// What is expected to move, said beforehand (repeatable): 'NAME up', down or same, 'NAME < -10%'
    #[arg(long, value_name = "WHAT", value_parser = expectation)]
    pub expect: Vec<Expectation>,
    /// Seed of the resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Count an inlined function's samples for the function it was inlined into
    #[arg(long)]
    pub no_inline: bool,
    /// A condition that breaks the gate (repeatable): exit code 3; of expectations 'contradicted' or 'unconfirmed'
    #[arg(long, value_name = "CONDITION", value_parser = gate, help_heading = "Gate")]
    pub fail_if: Vec<Gate>,
    /// A gate passes where it cannot be decided
    #[arg(long, requires = "fail_if", help_heading = "Gate")]
    pub allow_missing: bool,
    /// Look through it in a terminal session
    #[arg(long, conflicts_with_all = ["format", "output", "limit"], help_heading = "Output")]
    pub tui: bool,
    /// Form of the comparison: text, json, csv, md or html
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: DiffFormat,
    /// Functions to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 15, help_heading = "Output")]
    pub limit: usize,
    /// Write to a file in place of the standard output
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Draw the difference of the call trees, wide what costs much, blue what shrank, orange what grew
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub flamegraph: Option<PathBuf>,
}

fn percent(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim().parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

fn part(text: &str) -> Result<f64, String> {
    percent(text).filter(|part| (0.0..=10.0).contains(part)).ok_or_else(|| "give a percentage from 0 on, e.g. 2".into())
}

fn confidence(text: &str) -> Result<f64, String> {
    let sound = |confidence: &f64| (0.5..=0.999_999).contains(confidence);
    percent(text).filter(sound).ok_or_else(|| "give a percentage from 50 to 99.9999, e.g. 95".into())
}

fn gate(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| told(&error))
}

fn expectation(text: &str) -> Result<Expectation, String> {
    Expectation::parse(text).map_err(|error| told(&error))
}

fn told(error: &crate::error::Error) -> String {
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
