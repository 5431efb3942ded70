//! The arguments of `sweep`. Each value is checked on its own; the plan checks them together.

use super::{CaptureArgs, values};
use crate::units::Nanos;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The widths of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widths(pub Vec<u32>);

/// The unmeasured beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// Runs before the first that counts.
    Runs(u32),
    /// The beginning of each run.
    Time(Nanos),
}

/// How runs get their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlaceArg {
    /// One per physical core first, node by node, siblings last.
    Cores,
    /// A core's siblings first, then the next core.
    Smt,
    /// One per physical core, alternating between nodes.
    Spread,
    /// No pinning.
    None,
}

/// The form of a sweep's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SweepFormat {
    /// For people.
    Text,
    /// For programs; follows the published schema.
    Json,
    /// One row per width.
    Csv,
    /// For tickets and reviews.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// One page with charts and flame graphs that needs no network.
    Html,
}

const USAGE: &str = "\
ironlaw sweep [OPTIONS] -L threads LIST [--] CMD --threads={threads}
       ironlaw sweep [OPTIONS] -L cpus LIST [--] CMD
       ironlaw sweep [OPTIONS] <-p PID | -G CGROUP> --cpus LIST --dwell TIME
       ironlaw sweep --restore";

const AFTER_HELP: &str = "\
Widths: 1,2,4,8 or ranges: 1-16 each, 1-64:x2 doubling, 4-16:4 in steps of 4.
In CMD, --env, --prepare and --cleanup {threads} is the width of a run and
{cpus} its CPUs (0-3,8). A run with n threads is pinned to n CPUs (--place).

Examples:
  ironlaw sweep -L threads 1-8 -d 10 --ops 'regex:([0-9.]+) ops' \\
      -- ./bench --threads={threads}
  ironlaw sweep -L threads 1-64:x2 -r 5 -o fix -- sysbench cpu \\
      --threads={threads} run
  ironlaw sweep -L cpus 1-4 --env GOMAXPROCS={threads} -- ./server-bench
  ironlaw sweep -p 1234 --cpus 1,2,4,8 --dwell 10s   a running process

The result stays in NAME.sweep: `ironlaw view NAME.sweep`, `ironlaw report
NAME.sweep --format html -o page.html`.";

/// `ironlaw sweep`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub struct SweepArgs {
    /// Sweep over VAR, threads or cpus, at the widths in LIST
    #[arg(short = 'L', long = "parameter-list", num_args = 2, value_names = ["VAR", "LIST"], help_heading = "Sweep")]
    pub parameter: Vec<String>,
    /// Same as -L cpus LIST
    #[arg(long, value_name = "LIST", value_parser = widths, conflicts_with = "parameter", help_heading = "Sweep")]
    pub cpus: Option<Widths>,
    /// Run each width N times, interleaved in random order
    #[arg(short = 'r', long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Sweep")]
    pub runs: u32,
    /// Pin each run to CPUs in this order
    #[arg(long, value_name = "HOW", default_value = "cores", help_heading = "Sweep")]
    pub place: PlaceArg,
    /// Discard N runs before all others, or, with a unit, the first TIME of each run
    #[arg(long, value_name = "N|TIME", default_value = "0", value_parser = warm_up, help_heading = "Sweep")]
    pub warmup: WarmUp,
    /// Run a shell command before each run
    #[arg(long, value_name = "SHELL", help_heading = "Sweep")]
    pub prepare: Option<String>,
    /// Run a shell command after each run
    #[arg(long, value_name = "SHELL", help_heading = "Sweep")]
    pub cleanup: Option<String>,
    /// Set an environment variable of the command (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, help_heading = "Sweep")]
    pub env: Vec<String>,
    /// Terminate and discard a run that takes longer than TIME
    #[arg(long, value_name = "TIME", value_parser = values::seconds, help_heading = "Sweep")]
    pub timeout: Option<Nanos>,
    /// Seed the random order of runs [default: a new seed, stored in the sweep]
    #[arg(long, value_name = "N", help_heading = "Sweep")]
    pub seed: Option<u64>,
    /// Sweep running processes by changing their CPU affinity step by step
    #[arg(short = 'p', long, value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..), help_heading = "Running target")]
    pub pid: Vec<u32>,
    /// Include the processes that these fork
    #[arg(long, requires = "pid", help_heading = "Running target")]
    pub children: bool,
    /// Sweep a control group: a path, a systemd unit (web.service) or a container id
    #[arg(short = 'G', long, value_name = "CGROUP", conflicts_with = "pid", help_heading = "Running target")]
    pub cgroup: Option<String>,
    /// Measure each run for TIME [default: 10s of a running target, a command until it ends]
    #[arg(long, value_name = "TIME", value_parser = values::seconds, conflicts_with = "duration", help_heading = "Sweep")]
    pub dwell: Option<Nanos>,
    /// Restore the CPU affinity of threads that a killed sweep left confined
    #[arg(long, help_heading = "Running target", exclusive = true)]
    pub restore: bool,
    /// How to capture.
    #[command(flatten)]
    pub capture: CaptureArgs,
    /// Do not record waits; recording them costs the target about 2 us per context switch
    #[arg(long, conflicts_with = "off_cpu", help_heading = "Capture")]
    pub no_off_cpu: bool,
    /// Write the result and its recordings to this directory [default: named after the command and the time]
    #[arg(short = 'o', long, value_name = "NAME.sweep", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Replace an existing sweep of that name
    #[arg(short = 'f', long, help_heading = "Output")]
    pub force: bool,
    /// Print the result in this format at the end
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: SweepFormat,
    /// Print progress lines instead of opening a terminal session
    #[arg(long, help_heading = "Output")]
    pub headless: bool,
    /// Command to start once per run
    #[arg(value_name = "CMD", trailing_var_arg = true, help_heading = "Arguments")]
    pub command: Vec<String>,
}

/// A longer list is a typing error.
const MOST_WIDTHS: usize = 1000;

/// A list such as `1,2,4-8,16-64:x2`: ascending, each once.
pub fn widths(text: &str) -> Result<Widths, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').map_or((part, None), |(range, step)| (range, Some(step)));
        let number = |digits: &str| match digits.trim().parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("invalid width '{part}': write 1,2,4,8, or 1-16, 1-64:x2, 4-16:4")),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        let factor = step.and_then(|step| step.strip_prefix('x')).map(number).transpose()?;
        let step = if factor.is_some() { 1 } else { step.map_or(Ok(1), number)? };
        if first > last {
            return Err(format!("invalid range of widths '{part}': it ends before it begins"));
        }
        if factor == Some(1) {
            return Err(format!("invalid range of widths '{part}': a factor of 1 never reaches its end"));
        }
        let grow = |at: &u32| factor.map_or(at.checked_add(step), |factor| at.checked_mul(factor));
        let range = std::iter::successors(Some(first), grow).take_while(|at| *at <= last);
        all.extend(range.take(MOST_WIDTHS + 1));
    }
    all.sort_unstable();
    all.dedup();
    if all.len() > MOST_WIDTHS {
        Err(format!("invalid list of widths: it has more than {MOST_WIDTHS}"))
    } else {
        Ok(Widths(all))
    }
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    match text.parse() {
        Ok(runs) => Ok(WarmUp::Runs(runs)),
        Err(_) => values::seconds(text).map(WarmUp::Time),
    }
}

fn assignment(text: &str) -> Result<String, String> {
    let is_one = text.split_once('=').is_some_and(|(name, _)| !name.is_empty());
    if is_one { Ok(text.to_string()) } else { Err("write NAME=VALUE, e.g. OMP_NUM_THREADS={threads}".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_lists_ranges_steps_and_doublings() {
        for (text, expected) in [
            ("1,2,4", Some(vec![1, 2, 4])),
            ("8,1", Some(vec![1, 8])),
            ("1-4", Some(vec![1, 2, 3, 4])),
            ("1-64:x2", Some(vec![1, 2, 4, 8, 16, 32, 64])),
            ("1-6:x3,6", Some(vec![1, 3, 6])),
            ("4-16:4", Some(vec![4, 8, 12, 16])),
            ("0", None),
            ("4-1", None),
            ("1-8:x1", None),
            ("1-8:x", None),
            ("", None),
            ("a", None),
            ("1-4000000000", None),
        ] {
            assert_eq!(widths(text).ok(), expected.map(Widths), "{text}");
        }
    }

    #[test]
    fn warming_up_is_runs_or_time() {
        assert_eq!(warm_up("2"), Ok(WarmUp::Runs(2)));
        assert_eq!(warm_up("2s"), Ok(WarmUp::Time(Nanos(2_000_000_000))));
        assert!(warm_up("soon").is_err());
    }
}
