//! The arguments of `colocate`. Each value is checked on its own; the plan checks them together.

use super::values;
use crate::units::Nanos;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The form of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColocateFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// The matrix as a heat map.
    Svg,
    /// One page with the heat map and tables that needs no network.
    Html,
    /// For tickets and reviews.
    #[value(name = "md", alias = "markdown")]
    Markdown,
}

/// What a cell leads with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MeasureArg {
    /// p99 latency for a victim with {rate}, else time per operation, else the time of its work.
    Auto,
    /// Time per operation.
    Throughput,
    /// CPU time per operation.
    Cost,
    /// Time of a piece of work that ends by itself.
    Wall,
    /// Median latency.
    P50,
    /// 99th percentile of the latency.
    P99,
}

/// A control of the neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ControlArg {
    /// Half of the CPUs.
    Cpuset,
    /// Half of the CPU time it takes alone.
    #[value(name = "cpu.max")]
    CpuMax,
    /// A quarter of the cache and of memory bandwidth.
    Resctrl,
}

/// Where the rate at full load comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FullRate {
    /// The operations per second of a run alone as fast as it can.
    Ops,
    /// As given.
    PerSecond(f64),
}

const USAGE: &str = "\
ironlaw colocate [OPTIONS] --victim [NAME=]'CMD' ... --with [NAME=]'CMD' ...
       ironlaw colocate --restore";

const AFTER_HELP: &str = "\
Every victim runs alone and beside every neighbour, in blocks of random order;
each run beside a neighbour is compared with the run alone of its block.
CMD is split into words as a shell does, and nothing is expanded: write
sh -c '...' for pipes and variables. What a command leaves running in its
process group ends with its run.

A load of 0.5 is half of full load for every program of a run that can take it:
{load} in a command becomes 0.5, {rate} in a victim half of its full rate. A
neighbour without {load} gets a quota of half the CPU time that it takes alone,
or is stopped half of the time where no control group can be made. A victim
without either always runs as it is.

Examples:
  ironlaw demo colocate                  built-in programs, nothing to set up
  ironlaw colocate --ops 'regex:([0-9]+) ops' --victim './bench' \\
      --with cpu='stress-ng --cpu 2' --with disk='stress-ng --hdd 1'
  ironlaw colocate --victim zip='pigz -k -f -c big' --load 0.2,0.5,1 \\
      --with mem='stress-ng --stream 1' --what-if
  ironlaw colocate --victim web='wrk -d 3s http://localhost:8080' \\
      --ops web='regex:Requests/sec: *([0-9.]+)' --with job='./job'

The result stays in NAME.colocate: `ironlaw report NAME.colocate`.";

/// `ironlaw colocate`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub struct ColocateArgs {
    /// Measure what others do to this command (repeatable)
    #[arg(long, value_name = "[NAME=]CMD", required_unless_present = "restore", help_heading = "Programs")]
    pub victim: Vec<String>,
    /// Run this command beside the victims (repeatable)
    #[arg(long, value_name = "[NAME=]CMD", required_unless_present = "restore", help_heading = "Programs")]
    pub with: Vec<String>,
    /// Count operations of the victims, or of one of them; SPEC as in `record` (repeatable)
    #[arg(long, value_name = "[NAME=]SPEC", help_heading = "Programs")]
    pub ops: Vec<String>,
    /// Measure how long operations of the victims take, or of one of them; SPEC as in `record` (repeatable)
    #[arg(long, value_name = "[NAME=]SPEC", help_heading = "Programs")]
    pub latency: Vec<String>,
    /// Run at these shares of full load, above 0 and at most 1
    #[arg(long, value_name = "LIST", default_value = "1", value_delimiter = ',', value_parser = share, help_heading = "Runs")]
    pub load: Vec<f64>,
    /// Take the full rate for {rate} from a run alone with {rate} at 1,000,000,000 (`ops`), or as given per second
    #[arg(long, value_name = "ops|RATE", value_parser = full_rate, help_heading = "Runs")]
    pub full_rate_from: Option<FullRate>,
    /// Run each cell N times
    #[arg(short = 'r', long, visible_alias = "repeats", value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Runs")]
    pub runs: u32,
    /// Measure each run for TIME, or until the victim ends
    #[arg(short = 'd', long, value_name = "TIME", default_value = "5s", value_parser = values::seconds, help_heading = "Runs")]
    pub duration: Nanos,
    /// Let a neighbour run for TIME before the victim starts
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = values::milliseconds, help_heading = "Runs")]
    pub settle: Nanos,
    /// Discard the first TIME of each run
    #[arg(long, value_name = "TIME", value_parser = values::milliseconds, help_heading = "Runs")]
    pub warmup: Option<Nanos>,
    /// Seed the random order of runs [default: a new seed, stored in the result]
    #[arg(long, value_name = "N", help_heading = "Runs")]
    pub seed: Option<u64>,
    /// Do not record waits; recording them costs the victim about 2 us per context switch
    #[arg(long, help_heading = "Runs")]
    pub no_off_cpu: bool,
    /// Lead with this slowdown
    #[arg(long, value_name = "MEASURE", default_value = "auto", help_heading = "Result")]
    pub measure: MeasureArg,
    /// Run slow cells again with each of these controls of the neighbour, and without
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Controls")]
    pub control: Vec<ControlArg>,
    /// Same as --control cpuset,cpu.max,resctrl
    #[arg(long, conflicts_with = "control", help_heading = "Controls")]
    pub what_if: bool,
    /// Remove control groups and restore CPU affinities that a killed ironlaw left
    #[arg(long, exclusive = true, help_heading = "Controls")]
    pub restore: bool,
    /// Write the result and its recordings to this directory [default: colocate-TIME.colocate]
    #[arg(short = 'o', long, value_name = "NAME.colocate", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Replace an existing result of that name
    #[arg(short = 'f', long, help_heading = "Output")]
    pub force: bool,
    /// Print the result in this format at the end
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: ColocateFormat,
}

fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if (0.01..=1.0).contains(&share) => Ok(share),
        _ => Err("give shares of full load from 0.01 to 1, e.g. 0.2,0.5,1".into()),
    }
}

fn full_rate(text: &str) -> Result<FullRate, String> {
    match text.parse::<f64>() {
        _ if text == "ops" => Ok(FullRate::Ops),
        Ok(rate) if (1.0..=1e9).contains(&rate) => Ok(FullRate::PerSecond(rate)),
        _ => Err("give `ops`, or operations per second from 1 to 1000000000".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_and_rates_are_finite_and_in_range() {
        for (text, expected) in
            [("0.2", Some(0.2)), ("1", Some(1.0)), ("0", None), ("1.1", None), ("nan", None), ("", None)]
        {
            assert_eq!(share(text).ok(), expected, "{text}");
        }
        for (text, expected) in
            [("ops", Some(FullRate::Ops)), ("500", Some(FullRate::PerSecond(500.0))), ("1e400", None), ("-1", None)]
        {
            assert_eq!(full_rate(text).ok(), expected, "{text}");
        }
    }
}
