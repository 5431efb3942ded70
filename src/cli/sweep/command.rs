//! The command: plans the sweep, executes its runs and prints the result.

use super::execute::{carry_out, restore};
use super::output::{Lines, conclude};
use super::plan::{self, Machine, Subject};
use super::watch;
use crate::cli::args::{CaptureArgs, Cli, Command, GlobalArgs, SweepArgs, TargetArgs, WarmUp};
use crate::cli::out::Terminal;
use crate::cli::{capture, plan as planning};
use crate::collect::host;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, Plan, Target};
use crate::sweep::{Folder, RunSettings, Sweep};
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use crate::sys::{affinity, clock};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Runs the sweep, prints the result and its path.
pub(in crate::cli) fn run(args: &SweepArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<ExitCode> {
    if args.restore {
        return restore(terminal);
    }
    let (mut sweep, settings) = begin(args)?;
    if !args.headless && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let sweep = watch::run(sweep, settings, terminal)?;
        return conclude(&sweep, args.format, global, terminal);
    }
    let mut lines = Lines::default();
    carry_out(&mut sweep, &settings, &AtomicBool::new(false), &mut |sweep| lines.print_changes(sweep, terminal))?;
    conclude(&sweep, args.format, global, terminal)
}

/// Runs a sweep with a command line that this program generated.
pub(in crate::cli) fn demo(line: &[String], headless: bool, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let parsed = Cli::from_words(line).map_err(|wrong| Error::new(ErrorKind::Usage, wrong))?;
    let Some(Command::Sweep(args)) = parsed.command else { return Ok(()) };
    run(&SweepArgs { headless, ..args }, global, terminal).map(drop)
}

/// Plans the sweep and creates its folder.
fn begin(args: &SweepArgs) -> Result<(Sweep, RunSettings)> {
    let (request, notes) = capture::plan(&target(args)?, &capture_args(args))?;
    let subject = match request.target.clone() {
        Target::Command { argv } => Subject::Command(argv),
        target => Subject::Running(target),
    };
    let machine = machine()?;
    let path = match &args.output {
        Some(name) => Folder::name(name),
        None => planning::recording_name(&request.target, machine.unix_ns / 1_000_000_000)
            .with_extension(crate::sweep::EXTENSION),
    };
    let mut meta = plan::plan(args, subject, request.ops.clone(), &machine)?;
    meta.notes = notes;
    if meta.ops.is_none() {
        meta.notes.push(note_without_ops());
    }
    let sweep = Sweep::begin(Folder::create(&path, args.force)?, meta)?;
    let settings = RunSettings {
        plan: Plan { duration: sweep.meta.duration, ..request },
        environment: args.env.clone(),
        prepare: args.prepare.clone(),
        cleanup: args.cleanup.clone(),
        warm_up: if let WarmUp::Runs(runs) = args.warmup { runs } else { 0 },
        timeout: args.timeout,
        fetch: args.capture.debuginfod,
    };
    Ok((sweep, settings))
}

fn target(args: &SweepArgs) -> Result<TargetArgs> {
    let none = TargetArgs::default();
    let target = TargetArgs {
        pid: args.pid.clone(),
        children: args.children,
        cgroup: args.cgroup.clone(),
        command: args.command.clone(),
        ..none
    };
    if target == TargetArgs::default() {
        return Err(Error::new(ErrorKind::Usage, "no target to sweep").hint(
            "Give a command: `ironlaw sweep -L threads 1,2,4 -- CMD --threads={threads}`, or a running target: -p PID, -G CGROUP.",
        ));
    }
    Ok(target)
}

/// Off-CPU time is part of the result, and what is counted at one width is counted at each.
fn capture_args(args: &SweepArgs) -> CaptureArgs {
    let max_overhead = args.capture.max_overhead.or(Some(100.0));
    CaptureArgs { off_cpu: !args.no_off_cpu, max_overhead, ..args.capture.clone() }
}

fn machine() -> Result<Machine> {
    let host = host::facts(&ProcFs::new("/proc"), &SysFs::new("/sys"));
    Ok(Machine { host, allowed: affinity::get(0)?, unix_ns: clock::unix_ns() })
}

fn note_without_ops() -> Note {
    Note {
        topic: "no-ops".to_string(),
        text: "nothing counts operations: the sweep shows values per second, but not how the program scales"
            .to_string(),
        fix: Some("Give --ops, e.g. --ops 'regex:([0-9.]+) ops' for what the command prints.".to_string()),
    }
}
