//! What `ironlaw colocate` does: runs programs alone and beside each other, and reports how much each slows the others
//! down. The recordings stay on disk; the result goes to standard output.

mod output;
mod plan;

use self::output::Lines;
pub(super) use self::output::report;
use super::args::{CaptureArgs, ColocateArgs, GlobalArgs, TargetArgs};
use super::out::{self, Terminal};
use super::progress::ProgressLine;
use super::{capture, sweep};
use crate::collect::host;
use crate::colocate::{Colocation, Folder, RunSettings, cell_runs};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ColocateMeta, ColocatedProgram, Note, Plan, ProgressUnit, RunState};
use crate::sys::clock;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use crate::units::Nanos;
use crate::view::colocate::ColocateView;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Length of a window: runs are short.
const INTERVAL: Nanos = Nanos(200_000_000);

/// Runs everything and prints the result. Fails if no run beside a neighbour counts.
pub(super) fn run(args: &ColocateArgs, global: &GlobalArgs, terminal: &Terminal) -> Result<ExitCode> {
    if args.restore {
        return sweep::restore(terminal);
    }
    let (mut colocation, settings) = begin(args)?;
    let journals = sweep::journals()?;
    let restored = sweep::restore_first(&ProcFs::new("/proc"), &journals)?;
    if restored > 0 {
        let text =
            format!("a killed ironlaw had left {restored} threads or control groups changed; they were restored first");
        colocation.meta.notes.push(Note { topic: "restored".to_string(), text, fix: None });
    }
    let (mut lines, line) = (Lines::default(), ProgressLine::start(terminal));
    let mut begun = 0;
    let mut on_change = |colocation: &Colocation| {
        let all = colocation.meta.runs.len();
        if std::mem::replace(&mut begun, all) != all {
            line.progress.begin("colocate".to_string(), ProgressUnit::Runs, all as u64);
        }
        line.progress.set(colocation.meta.over() as u64);
        lines.print_changes(colocation, terminal);
    };
    colocation.run(&settings, journals, &AtomicBool::new(false), &mut on_change)?;
    drop(line);
    conclude(&colocation, args, global, terminal)
}

/// Prints the result and its path.
fn conclude(
    colocation: &Colocation,
    args: &ColocateArgs,
    global: &GlobalArgs,
    terminal: &Terminal,
) -> Result<ExitCode> {
    let (meta, path) = (&colocation.meta, colocation.folder().path());
    let counts = meta.runs.iter().zip(&colocation.results);
    let any = counts.filter(|(run, _)| run.victim.is_some()).any(|(_, result)| result.is_some());
    if !any {
        let reason = meta.runs.iter().find_map(|run| match &run.state {
            RunState::Failed { reason } if run.victim.is_some() => Some(reason.as_str()),
            _ => None,
        });
        let nothing = format!("no run of {} counts: {}", path.display(), reason.unwrap_or("none was started"));
        return Err(Error::new(ErrorKind::Io, nothing)
            .hint("The output of each command is in runs/*.out, next to the recordings."));
    }
    let view = ColocateView::of(meta, &colocation.results);
    out::deliver(&output::render(&view, args.format, global, false)?, None)?;
    terminal.say(&format!("{0}; read it again with: ironlaw report {0}", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Plans the runs and creates their folder.
fn begin(args: &ColocateArgs) -> Result<(Colocation, RunSettings)> {
    let unix_ns = clock::unix_ns();
    let host = host::facts(&ProcFs::new("/proc"), &SysFs::new("/sys"));
    let mut meta = plan::plan(args, host, unix_ns)?;
    let (victims, notes) = captures(&meta.victims, args)?;
    let (neighbours, _) = captures(&meta.neighbours, args)?;
    meta.notes = notes;
    meta.notes.extend(note_without_ops(&meta));
    meta.runs = cell_runs(&meta);
    let path = args.output.as_deref().map_or_else(|| plan::default_name(unix_ns), Folder::name);
    let colocation = Colocation::begin(Folder::create(&path, args.force)?, meta)?;
    Ok((colocation, RunSettings { victims, neighbours }))
}

/// How to capture each program. What is counted in one run is counted in each.
fn captures(programs: &[ColocatedProgram], args: &ColocateArgs) -> Result<(Vec<Plan>, Vec<Note>)> {
    let (mut plans, mut notes) = (Vec::new(), Vec::new());
    for program in programs {
        let capture = CaptureArgs {
            off_cpu: !args.no_off_cpu,
            ops: program.ops.clone(),
            latency: program.latency.clone(),
            max_overhead: Some(100.0),
            interval: INTERVAL,
            ..CaptureArgs::default()
        };
        let target = TargetArgs { command: program.command.clone(), ..TargetArgs::default() };
        let (plan, new) = capture::plan(&target, &capture)?;
        plans.push(plan);
        notes.extend(
            new.into_iter()
                .filter(|note: &Note| !notes.iter().any(|known: &Note| known.topic == note.topic))
                .collect::<Vec<_>>(),
        );
    }
    Ok((plans, notes))
}

fn note_without_ops(meta: &ColocateMeta) -> Option<Note> {
    let without = meta.victims.iter().filter(|victim| victim.ops.is_none()).map(|victim| victim.name.as_str());
    let names = without.collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| Note {
        topic: "no-ops".to_string(),
        text: format!(
            "nothing counts operations of {names}: their work must end by itself, and its time is compared. A program that \
             runs for a set time shows no slowdown"
        ),
        fix: Some("Give --ops, e.g. --ops 'regex:([0-9.]+) ops' for what the command prints.".to_string()),
    })
}
