//! The commands that open the terminal session: `top`, `view`, and no command at all.
//! It never opens one.

use super::{CaptureArgs, RemoteArgs, TargetArgs};
use clap::Args;
use std::path::PathBuf;

const TOP_USAGE: &str = "\
ironlaw top [OPTIONS] [-p PID | -t TID | -G CGROUP | -a | -C CPUS]
       ironlaw top [OPTIONS] [--] CMD [ARGS]...";

const TOP_EXAMPLES: &str = "\
Examples:
  ironlaw top                         choose a target in the session
  ironlaw top -p $(pidof redis-server)
  ironlaw top -G web.service --baseline before.ironlaw
  ironlaw top -p 1234 --baseline app.baseline   what is unusual, why, and who
                                      moved with it
  ironlaw top -o night.ironlaw -a     watch and record
  ironlaw top -- ./app --threads 8    start a command and watch it
  ironlaw top --host me@web1 -G web.service
                                      a program of another machine, over ssh

Press ? in the session for its keys.";

/// `ironlaw top`.
#[derive(Debug, Clone, Default, Args)]
#[command(override_usage = TOP_USAGE, after_help = TOP_EXAMPLES)]
pub struct TopArgs {
    /// What to profile.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How.
    #[command(flatten)]
    pub capture: CaptureArgs,
    /// Do not record where threads wait, which costs the target about 2 us per context switch
    #[arg(long, conflicts_with = "off_cpu", help_heading = "Capture")]
    pub no_off_cpu: bool,
    /// Compare with this recording or NAME.baseline (see `ironlaw baseline`)
    #[arg(long, value_name = "REC", help_heading = "Session")]
    pub baseline: Option<PathBuf>,
    /// Also record into this directory
    #[arg(short = 'o', long, value_name = "NAME.ironlaw", help_heading = "Session")]
    pub output: Option<PathBuf>,
    /// Replace a recording of that name
    #[arg(short = 'f', long, requires = "output", help_heading = "Session")]
    pub force: bool,
    /// Where.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// `ironlaw view`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example: ironlaw view after.ironlaw --baseline before.ironlaw")]
pub struct ViewArgs {
    /// The recording, or a file of another profiler: perf.data, the text of perf script, folded stacks [default: the newest *.ironlaw in this directory]
    #[arg(value_name = "REC")]
    pub recording: Option<PathBuf>,
    /// Compare with this recording or NAME.baseline [default: the baseline in the recording, if any]
    #[arg(long, value_name = "REC")]
    pub baseline: Option<PathBuf>,
    /// Attribute samples of inlined functions to their callers
    #[arg(long)]
    pub no_inline: bool,
}
