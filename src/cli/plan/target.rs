//! The single target of the command line.

use super::usage;
use crate::cli::args::{CpuList, TargetArgs};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;

/// The single target of the command line. Cgroups are not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetChoice {
    /// Ready to be profiled.
    Ready(Target),
    /// Paths, units or container ids, as typed.
    Cgroups(String),
}

/// The single target of the command line. Errors: `Usage` for none, for several, and for flags that do not fit it.
pub fn target(args: &TargetArgs, online_cpus: &[u32]) -> Result<TargetChoice> {
    if let Some(found) = stray_command(args) {
        return Err(found);
    }
    let named = named_targets(args);
    match named.as_slice() {
        [] => Err(usage("no target is named").hint(
            "Name one: -p PID, -t TID, -G CGROUP, -a for the whole machine, -C CPUS, or -- CMD to start a command.",
        )),
        [flag] if args.children && !matches!(*flag, "-p" | "a command") => {
            Err(usage(format!("--children says nothing about {flag}"))
                .hint("It goes with -p PID; a command's children are always followed."))
        }
        [_] => choose(args, online_cpus),
        [first, second, ..] => {
            Err(usage(format!("two targets are named: {first} and {second}")).hint(two_targets_hint(first, second)))
        }
    }
}

/// Splits off a command beside a named target, as in `-a -- sleep 5`: the capture lasts as long as it runs.
pub fn clock(args: &TargetArgs) -> (TargetArgs, Option<Vec<String>>) {
    let mut target = args.clone();
    let command = std::mem::take(&mut target.command);
    if command.is_empty() || named_targets(&target).is_empty() {
        return (args.clone(), None);
    }
    (target, Some(command))
}

fn named_targets(args: &TargetArgs) -> Vec<&'static str> {
    let named = [
        (!args.pid.is_empty(), "-p"),
        (!args.tid.is_empty(), "-t"),
        (args.cgroup.is_some(), "-G"),
        // -C restricts -a: together they are one target. Perf takes a group only with -a, which says no more than -G.
        (args.all_cpus && args.cpu.is_none() && args.cgroup.is_none(), "-a"),
        (args.cpu.is_some(), "-C"),
        (!args.command.is_empty(), "a command"),
    ];
    named.into_iter().filter_map(|(given, flag)| given.then_some(flag)).collect()
}

fn two_targets_hint(first: &str, second: &str) -> &'static str {
    match (first, second) {
        (_, "a command") => {
            "`record` and `stat` last as long as a command beside their target; elsewhere give a time: -d 5."
        }
        ("-p" | "-t" | "-G", "-C") => "-C profiles all that runs on these CPUs; leave it away.",
        _ => "Record them one after the other, or all with -a.",
    }
}

/// `record 1234` more often means a process than a program of that name.
fn stray_command(args: &TargetArgs) -> Option<Error> {
    let first = args.command.first()?;
    let digits = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    let hint = format!("For process {first} write -p {first}; for a program of that name, ./{first} or its path.");
    digits.then(|| usage(format!("'{first}' is not a command")).hint(hint))
}

fn choose(args: &TargetArgs, online_cpus: &[u32]) -> Result<TargetChoice> {
    let unique = |ids: &[u32]| {
        let mut seen = Vec::with_capacity(ids.len());
        ids.iter().for_each(|id| {
            if !seen.contains(id) {
                seen.push(*id)
            }
        });
        seen
    };
    Ok(TargetChoice::Ready(if let Some(name) = &args.cgroup {
        return Ok(TargetChoice::Cgroups(name.clone()));
    } else if !args.pid.is_empty() {
        Target::Processes { pids: unique(&args.pid), children: args.children }
    } else if !args.tid.is_empty() {
        Target::Threads { tids: unique(&args.tid) }
    } else if let Some(CpuList(cpus)) = &args.cpu {
        Target::Cpus { cpus: check_online(cpus, online_cpus)? }
    } else if args.all_cpus {
        Target::Cpus { cpus: Vec::new() }
    } else {
        Target::Command { argv: args.command.clone() }
    }))
}

fn check_online(cpus: &[u32], online: &[u32]) -> Result<Vec<u32>> {
    let offline = cpus.iter().find(|cpu| !online.is_empty() && !online.contains(cpu));
    let list = || online.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match offline {
        None => Ok(cpus.to_vec()),
        Some(cpu) => Err(Error::new(ErrorKind::NotFound, format!("CPU {cpu} is not online"))
            .hint(format!("Online are: {}.", list()))),
    }
}
