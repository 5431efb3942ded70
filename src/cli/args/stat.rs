//! The `stat` command.

use super::{TargetArgs, values};
use crate::model::OpsSpec;
use crate::units::Nanos;
use clap::Args;
use std::path::PathBuf;

const USAGE: &str = "\
ironlaw stat [OPTIONS] [--] CMD [ARGS]...
       ironlaw stat [OPTIONS] <-p PID | -t TID | -G CGROUP | -a | -C CPUS> [-- CMD [ARGS]...]";

const AFTER_HELP: &str = "\
Examples:
  ironlaw stat -- make -j8             a command and its children
  ironlaw stat -r 5 -- ./app           five runs: mean and standard error
  ironlaw stat -e cycles:u,LLC-misses,sched:sched_switch -- ./app
  ironlaw stat -p 1234 -d 10           a process, for 10 seconds
  ironlaw stat -a -- sleep 5           the machine, while a command runs
  ironlaw stat -a -I 1000 -d 5         the whole machine, every second
  ironlaw stat --for-each-cgroup web.service,db.service -d 5
                                       control groups, each by itself
  ironlaw stat --ops 'regex:([0-9]+) ops' -- ./bench
                                       and what one operation costs
  ironlaw stat -x, -o stat.csv -- ./app

The result goes to the standard error; the exit code is the command's.";

/// `ironlaw stat`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = USAGE, after_help = AFTER_HELP, next_help_heading = "Counting")]
pub struct StatArgs {
    /// What to count.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Count these events, in perf's syntax: cycles:u, r01c2, cpu/event=0x3c/, sched:sched_switch, {a,b}
    /// [default: task-clock, context-switches, cpu-migrations, page-faults, cycles, instructions, branches,
    /// branch-misses]
    #[arg(short = 'e', long, value_name = "EVENTS", help_heading = "Counting")]
    pub event: Vec<String>,
    /// Run the command N times and print means, with their standard error
    #[arg(short = 'r', long = "repeat", value_name = "N", default_value_t = 1, hide_default_value = true, help_heading = "Counting",
          value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "command", conflicts_with = "interval")]
    pub runs: u32,
    /// Print the counts of every TIME: 1s, or milliseconds without a unit; at least 10ms
    #[arg(short = 'I', long, value_name = "TIME", value_parser = values::milliseconds, help_heading = "Counting")]
    pub interval: Option<Nanos>,
    /// Stop after this time: 5, 5s, 500ms, 2m [default: until the target ends or Ctrl-C]
    #[arg(short = 'd', long, value_name = "TIME", value_parser = values::seconds, help_heading = "Counting")]
    pub duration: Option<Nanos>,
    /// Wait before counting: 2s, or milliseconds without a unit [default: 0]
    #[arg(short = 'D', long, value_name = "TIME", default_value = "0", value_parser = values::milliseconds, hide_default_value = true, help_heading = "Counting")]
    pub delay: Nanos,
    /// Count the program's operations, for costs per operation; SPEC as in `ironlaw record --help`
    #[arg(long, value_name = "SPEC", value_parser = values::ops, help_heading = "Counting")]
    pub ops: Option<OpsSpec>,
    /// Count in user mode only
    #[arg(long, conflicts_with = "all_kernel", help_heading = "Counting")]
    pub all_user: bool,
    /// Count in the kernel only
    #[arg(long, help_heading = "Counting")]
    pub all_kernel: bool,
    /// Write to this file instead of the standard error
    #[arg(short = 'o', long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Append to the file
    #[arg(long, requires = "output", help_heading = "Output")]
    pub append: bool,
    /// Print lines of values with SEP between them, in perf's order
    #[arg(short = 'x', long, value_name = "SEP", conflicts_with = "json", help_heading = "Output")]
    pub field_separator: Option<String>,
    /// Print a JSON object per line, with perf's keys
    #[arg(short = 'j', long = "json-output", help_heading = "Output")]
    pub json: bool,
}
