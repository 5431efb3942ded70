//! Code shared by `record` and `demo`: from command-line flags to a finished capture on disk, with progress messages.
//! Messages go to standard error, because standard output belongs to the started command.

use super::args::{CaptureArgs, TargetArgs};
use super::hardware;
use super::out::Terminal;
use super::plan::{self, Environment, TargetChoice};
use super::rewrite;
use crate::collect::resolve;
use crate::collect::sampler::EndReason;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Baseline, Note, Plan, Target};
use crate::pmu::own_table;
use crate::session::{LiveCapture, Outcome};
use crate::store::{self, Writer};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::procfs::ProcFs;
use crate::sys::sysfs::SysFs;
use crate::units::Nanos;
use crate::view::escape::visible;
use std::path::Path;

/// The capture plan for the flags with a resolved target, and notes about adjustments.
pub(super) fn plan(target: &TargetArgs, capture: &CaptureArgs) -> Result<(Plan, Vec<Note>)> {
    let (proc, sys) = (ProcFs::new("/proc"), SysFs::new("/sys"));
    // Unknown CPUs are not an error here: the sampler reports what it cannot open.
    let online = sys.online_cpus().unwrap_or_default();
    let limit = proc.setting("kernel/perf_event_max_sample_rate");
    let root = Path::new("/");
    let machine = hardware::machine(root);
    let table = match capture.hardware.pmu_table.as_deref() {
        Some(own) => hardware::table(Some(own))?,
        None => own_table(&machine)?,
    };
    let cores = hardware::cores(root, &machine, &table);
    let environment = Environment {
        max_sample_rate: limit.and_then(|limit| u64::try_from(limit).ok()),
        online_cpus: &online,
        event_sources: &EventSourceFiles::open(Path::new("/sys")),
        cores: &cores,
    };
    let choice = plan::target(target, &online)?;
    let planned = plan::capture(capture, &environment)?;
    let target = match choice {
        TargetChoice::Ready(Target::Processes { pids, children }) => resolve::processes(&proc, &pids, children)?,
        TargetChoice::Ready(Target::Threads { tids }) => resolve::threads(&proc, &tids)?,
        TargetChoice::Ready(target) => target,
        TargetChoice::Cgroups(names) => resolve::cgroups(&CgroupFs::open(&proc)?, &names)?,
    };
    Ok((planned.on(target), planned.notes))
}

/// A target's program that does not exist is refused before anything is opened. One that exists and cannot run fails as it is
/// executed.
pub(super) fn check_program(target: &Target) -> Result<()> {
    let is_template = |word: &str| word.contains('{');
    let exists = |word: &str| rewrite::is_program(word) || (word.contains('/') && Path::new(word).exists());
    let missing = |program: &&String| !is_template(program) && !exists(program);
    let Target::Command { argv } = target else { return Ok(()) };
    let Some(program) = argv.first().filter(missing) else { return Ok(()) };
    let error = Error::new(ErrorKind::NotFound, format!("cannot run {program:?}: no such program"));
    Err(match rewrite::running(program).as_slice() {
        [] => error.hint("`ironlaw top` lists the processes that run; -p PID names one."),
        [pid, ..] => error.hint(format!("A process of that name runs: -p {pid}.")),
    })
}

/// Captures into a recording at `path`, as long as `clock` runs if there is one, and stores the session's baseline in it.
/// Prints notes as soon as they are known. Returns the exit code of the command that ended: the target's, or the clock's.
pub(super) fn record(
    live: LiveCapture,
    path: &Path,
    force: bool,
    baseline: Option<&Baseline>,
    clock: Option<&[String]>,
    terminal: &Terminal,
) -> Result<(Outcome, Option<i32>)> {
    let writer = Writer::create(path, live.meta(), force)?;
    baseline.map_or(Ok(()), |baseline| store::baseline::write_within(path, baseline))?;
    let known = live.meta().notes.len();
    live.meta().notes.iter().for_each(|note| terminal.note(note));
    let ran = match clock {
        Some(clock) => live.run_while(writer, clock),
        None => live.run(writer).map(|outcome| {
            let status = outcome.meta.exit_status;
            (outcome, status)
        }),
    };
    let (outcome, status) = ran.inspect_err(|_| store::remove_if_without_rows(path))?;
    outcome.meta.notes.iter().skip(known).for_each(|note| terminal.note(note));
    terminal.say(&summary(&outcome));
    Ok((outcome, status))
}

/// Summary of the result: duration, number of samples, share of whole stacks.
pub(super) fn summary(outcome: &Outcome) -> String {
    let Outcome { meta, capture_stats: stats, reason, .. } = outcome;
    let whole = stats.whole_share().map(|share| format!(", {:.1}% of stacks complete", 100.0 * share));
    let is_cut = *reason == EndReason::Duration && matches!(meta.plan.target, Target::Command { .. });
    format!(
        "recorded {:.1} s of {}: {} samples, {} lost{}{}",
        Nanos(meta.duration_ns.unwrap_or(0)).seconds(),
        visible(&meta.plan.target.label()),
        stats.samples,
        stats.lost,
        whole.unwrap_or_default(),
        if is_cut { "; the command went on longer and was ended" } else { "" },
    )
}
