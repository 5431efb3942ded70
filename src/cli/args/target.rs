//! The flags that name a target: the same in every command that profiles one.
//! It never checks that the target exists, nor that there is exactly one.

use super::CpuList;
use clap::Args;

/// What to profile, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Target (exactly one)")]
pub struct TargetArgs {
    /// Processes: all their threads, alive now or born later
    #[arg(short = 'p', long, value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Vec<u32>,
    /// Take the processes that the -p processes have forked, and will fork, too
    #[arg(long)]
    pub children: bool,
    /// Single threads
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub tid: Vec<u32>,
    /// A control group: a path, a systemd unit (web.service) or a container id
    #[arg(short = 'G', long, value_name = "CGROUP")]
    pub cgroup: Option<String>,
    /// Everything that runs on this machine
    #[arg(short = 'a', long)]
    pub all_cpus: bool,
    /// Everything that runs on these CPUs, e.g. 0-3,8
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = super::values::cpu_list)]
    pub cpu: Option<CpuList>,
    /// A command to start, profiled from its first instruction, its children included
    #[arg(value_name = "CMD", trailing_var_arg = true)]
    pub command: Vec<String>,
}
