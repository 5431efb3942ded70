//! Plans a sweep from its command line, and executes its runs without a terminal.

use super::execute::carry_out;
use super::output::Lines;
use super::plan::{self, Machine, Subject};
use crate::cli::args::{CaptureArgs, SweepArgs, TargetArgs, WarmUp};
use crate::cli::out::Terminal;
use crate::cli::progress::ProgressLine;
use crate::cli::{capture, plan as planning};
use crate::collect::host;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, Plan, ProgressUnit, SweepMeta, Target};
use crate::session::run_folder::RunsMeta;
use crate::sweep::{Folder, RunSettings, Sweep};
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use crate::sys::{affinity, clock};
use std::sync::atomic::AtomicBool;

/// Executes the runs with their progress as lines.
///
/// # Errors
/// Any error of the runs.
pub(in crate::cli) fn headless(sweep: &mut Sweep, settings: &RunSettings, terminal: &Terminal) -> Result<()> {
    let (mut lines, line) = (Lines::default(), ProgressLine::start(terminal));
    let mut begun = false;
    let mut on_change = |sweep: &Sweep| {
        if !std::mem::replace(&mut begun, true) {
            line.progress.begin("sweep".to_string(), ProgressUnit::Runs, sweep.meta.runs.len() as u64);
        }
        line.progress.set(sweep.meta.over() as u64);
        lines.print_changes(sweep, terminal);
    };
    carry_out(sweep, settings, &AtomicBool::new(false), &mut on_change)
}

/// Plans the sweep and creates its folder.
///
/// # Errors
/// `Usage` for a sweep that cannot be; any error of the target or the folder.
pub(in crate::cli) fn begin(args: &SweepArgs) -> Result<(Sweep, RunSettings)> {
    let (request, notes) = capture::plan(&target(args)?, &capture_args(args))?;
    capture::check_program(&request.target)?;
    let subject = match request.target.clone() {
        Target::Command { argv } => Subject::Command(argv),
        target => Subject::Running(target),
    };
    let machine = machine()?;
    let path = match &args.output {
        Some(name) => Folder::name(name),
        None => {
            planning::recording_name(&request.target, machine.unix_ns / 1_000_000_000).with_extension(SweepMeta::KIND)
        }
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
