//! `ironlaw sweep`: runs a program at several widths, or varies the CPU affinity of a running one, and reports how it
//! scales. The recordings stay on disk; the result goes to standard output.

mod lines;
mod plan;
mod result;
mod shared_sweep;
mod sweep_host;
mod watch;

pub(super) use result::{render, report};
pub(super) use sweep_host::{Notifier, Source, session};
pub(super) use watch::read_back;

use super::args::{CaptureArgs, Cli, Command, GlobalArgs, SweepArgs, SweepFormat, TargetArgs, WarmUp};
use super::out::{self, Terminal};
use super::{capture, plan as planning};
use crate::collect::host;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Note, Plan, Target};
use crate::sweep::{CpuConfinement, Folder, Journal, Recipe, Sweep, journal_folder, put_back, sweeper_runs};
use crate::sys::caps::Privileges;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use crate::sys::{affinity, clock};
use lines::Lines;
use plan::{Machine, Subject};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Runs the sweep, prints the result and its path.
pub(super) fn run(args: &SweepArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<ExitCode> {
    if args.restore {
        return restore(terminal);
    }
    let (mut sweep, recipe) = begin(args)?;
    if !args.headless && std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let sweep = watch::made(sweep, recipe, terminal)?;
        return conclude(&sweep, args.format, global, terminal);
    }
    let mut lines = Lines::default();
    carry_out(&mut sweep, &recipe, &AtomicBool::new(false), &mut |sweep| lines.tell(sweep, terminal))?;
    conclude(&sweep, args.format, global, terminal)
}

/// Runs a sweep with a command line that this program generated.
pub(super) fn demo(line: &[String], headless: bool, global: &GlobalArgs, terminal: &Terminal) -> Result<()> {
    let parsed = Cli::from_words(line).map_err(|wrong| Error::new(ErrorKind::Usage, wrong))?;
    let Some(Command::Sweep(args)) = parsed.command else { return Ok(()) };
    run(&SweepArgs { headless, ..args }, global, terminal).map(drop)
}

/// Plans the sweep and creates its folder.
pub(super) fn begin(args: &SweepArgs) -> Result<(Sweep, Recipe)> {
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
        meta.notes.push(no_operations());
    }
    let sweep = Sweep::begin(Folder::create(&path, args.force)?, meta)?;
    let recipe = Recipe {
        plan: Plan { duration: sweep.meta.duration, ..request },
        environment: args.env.clone(),
        prepare: args.prepare.clone(),
        cleanup: args.cleanup.clone(),
        warm_up: if let WarmUp::Runs(runs) = args.warmup { runs } else { 0 },
        timeout: args.timeout,
        fetch: args.capture.debuginfod,
    };
    Ok((sweep, recipe))
}

/// Executes the runs.
pub(super) fn carry_out(
    sweep: &mut Sweep,
    recipe: &Recipe,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Sweep),
) -> Result<()> {
    let Some(target) = sweep.meta.target.clone() else { return sweep.run(recipe, stop, tell) };
    let allowed = affinity::get(0)?;
    let mut narrowed = CpuConfinement::begin(ProcFs::new("/proc"), target, &journals(), &allowed)?;
    if narrowed.confined_before() > 0 {
        let count = narrowed.confined_before();
        sweep.meta.notes.push(Note {
            topic: "confined-before".to_string(),
            text: format!(
                "{count} threads had been confined to CPUs of their own: they kept to those where that was possible"
            ),
            fix: None,
        });
    }
    sweep.run_live(&recipe.plan, recipe.fetch, &mut narrowed, stop, tell)
}

/// Prints the result and its path. Fails if no run counts.
pub(super) fn conclude(
    sweep: &Sweep,
    format: SweepFormat,
    global: &GlobalArgs,
    terminal: &Terminal,
) -> Result<ExitCode> {
    let path = sweep.folder().path();
    if sweep.results.iter().all(Option::is_none) {
        let reason = sweep.meta.runs.iter().find_map(|run| match &run.state {
            crate::model::RunState::Failed { reason } => Some(reason.as_str()),
            _ => None,
        });
        let nothing = format!("no run of {} counts: {}", path.display(), reason.unwrap_or("none was made"));
        return Err(Error::new(ErrorKind::Io, nothing)
            .hint("What the command printed lies beside the recordings, in runs/*.out."));
    }
    let bytes = render(&report(&sweep.meta, &sweep.results), format, global, false)?;
    out::deliver(&bytes, None)?;
    terminal.say(&format!("{0}; look through it with: ironlaw view {0}", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Restores the CPU affinity of threads that killed sweeps left confined.
fn restore(terminal: &Terminal) -> Result<ExitCode> {
    let (proc, folder) = (ProcFs::new("/proc"), journals());
    let mut left = 0;
    let journals = Journal::all(&folder)?;
    if journals.is_empty() {
        terminal.say(&format!("nothing to restore: there is no journal in {}", folder.display()));
    }
    for (journal, entries) in journals {
        let restored = entries.and_then(|entries| {
            if sweeper_runs(&proc, &entries) {
                terminal.say(&format!(
                    "{} belongs to a sweep that runs: process {}",
                    journal.path().display(),
                    entries.sweeper
                ));
                return Ok(None);
            }
            put_back(&proc, &entries).map(|()| Some(entries.threads.len()))
        });
        match restored {
            Ok(Some(threads)) => {
                journal.close();
                terminal.say(&format!("restored the CPUs of {threads} threads ({})", journal.path().display()));
            }
            Ok(None) => {}
            Err(error) => {
                left += 1;
                terminal.error(&error);
            }
        }
    }
    Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
        return Err(Error::new(ErrorKind::Usage, "nothing to sweep is named").hint(
            "Give a command: `ironlaw sweep -L threads 1,2,4 -- CMD --threads={threads}`, or something that runs: -p PID, -G CGROUP.",
        ));
    }
    Ok(target)
}

/// Off-CPU time is part of the result.
fn capture_args(args: &SweepArgs) -> CaptureArgs {
    CaptureArgs { off_cpu: !args.no_off_cpu, ..args.capture.clone() }
}

fn machine() -> Result<Machine> {
    let host = host::facts(&ProcFs::new("/proc"), &SysFs::new("/sys"));
    Ok(Machine { host, allowed: affinity::get(0)?, unix_ns: clock::unix_ns() })
}

fn journals() -> PathBuf {
    let runtime = std::env::var("XDG_RUNTIME_DIR").ok();
    let is_root = Privileges::open(&ProcFs::new("/proc")).is_ok_and(|privileges| privileges.uid == 0);
    journal_folder(is_root, runtime.as_deref(), &std::env::temp_dir())
}

fn no_operations() -> Note {
    Note {
        topic: "no-ops".to_string(),
        text: "nothing counts operations: only per-second values can be told, and not how the program scales"
            .to_string(),
        fix: Some("Give --ops, e.g. --ops 'regex:([0-9.]+) ops' for what the command prints.".to_string()),
    }
}
