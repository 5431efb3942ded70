//! Executes the runs one after the other, each into its own recording, and keeps a digest of each. Calls `on_change`
//! after every change.

use super::Folder;
use super::hold::Means;
use super::neighbour::Neighbour;
use super::run_plan::what_if_runs;
use crate::analysis::colocate::{RunResult, cells, slow_cells, worker_count};
use crate::analysis::value_of;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{
    ColocateMeta, ColocateRun, ColocatedProgram, Control, MetricId, Note, Plan, RunPurpose, RunState, SlowdownMeasure,
    Target,
};
use crate::session::{self, EndReason, LiveCapture, Outcome};
use crate::store::Writer;
use crate::sweep::Journals;
use crate::sys::affinity;
use crate::sys::clock::monotonic_ns;
use crate::sys::process_group::ProcessGroup;
use crate::sys::procfs::ProcFs;
use crate::sys::signals::{Signal, Signals};
use crate::sys::terminal::redirect_streams;
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The settings common to all runs.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// How to capture each victim, in their order; the target is replaced by the filled-in command.
    pub victims: Vec<Plan>,
    /// How to capture each neighbour alone.
    pub neighbours: Vec<Plan>,
}

/// A rate that no program reaches, for `{rate}` while the full rate is found.
const UNLIMITED: f64 = 1e9;
/// A profile is measured no longer than this: most neighbours never end.
const PROFILE: Nanos = Nanos(2_000_000_000);
/// How often a wait looks for a reason to end.
const STEP: Duration = Duration::from_millis(20);

/// Workers of each measured program: victim and neighbour as in the run.
#[derive(Debug, Default)]
pub(super) struct Workers(BTreeMap<(Option<usize>, Option<usize>), u32>);

/// The current state.
#[derive(Debug)]
pub struct Colocation {
    /// Its metadata.
    pub meta: ColocateMeta,
    /// The digest of each run in `meta.runs`; `None` if the run does not count or is not finished.
    pub results: Vec<Option<RunResult>>,
    folder: Folder,
    workers: Workers,
}

impl Colocation {
    /// A colocation without any finished run.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn begin(folder: Folder, meta: ColocateMeta) -> Result<Colocation> {
        folder.write(&meta)?;
        Ok(Colocation { results: vec![None; meta.runs.len()], meta, folder, workers: Workers::default() })
    }

    /// Its directory.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Executes all runs, then those that try controls on slow cells. Ends early on `stop` or a signal and keeps the
    /// finished runs.
    ///
    /// # Errors
    /// The metadata cannot be written. A failed run does not end the others.
    pub fn run(
        &mut self,
        settings: &RunSettings,
        journals: Journals,
        stop: &AtomicBool,
        on_change: &mut dyn FnMut(&Colocation),
    ) -> Result<()> {
        let mut signals = Signals::block()?;
        let proc = ProcFs::new("/proc");
        let means = Means { proc, journals, host: self.meta.host.clone(), allowed: affinity::get(0)? };
        self.note_loads(&means);
        self.run_from(0, settings, &means, &mut signals, stop, on_change)?;
        if !stop.load(Ordering::Relaxed) && !self.meta.controls.is_empty() {
            let first = self.meta.runs.len();
            self.plan_controls(&means);
            self.run_from(first, settings, &means, &mut signals, stop, on_change)?;
        }
        self.meta.stopped = stop.load(Ordering::Relaxed) && self.meta.over() < self.meta.runs.len();
        self.folder.write(&self.meta)?;
        on_change(self);
        Ok(())
    }

    fn run_from(
        &mut self,
        first: usize,
        settings: &RunSettings,
        means: &Means,
        signals: &mut Signals,
        stop: &AtomicBool,
        on_change: &mut dyn FnMut(&Colocation),
    ) -> Result<()> {
        for at in first..self.meta.runs.len() {
            if stop_requested(signals, stop) {
                break;
            }
            self.meta.runs[at].state = RunState::Running;
            self.folder.write(&self.meta)?;
            on_change(self);
            let mut run = self.meta.runs[at].clone();
            let result = self.execute(&mut run, settings, means, signals, stop);
            run.state = match result {
                Ok((wall_ns, result)) => {
                    self.learn(&run, &result);
                    self.results[at] = Some(result);
                    RunState::Done { wall_ns }
                }
                Err(error) => RunState::Failed { reason: error.to_string() },
            };
            self.meta.runs[at] = run;
            self.folder.write(&self.meta)?;
            on_change(self);
        }
        Ok(())
    }

    /// Executes one run: the neighbour first, then the program that is measured.
    fn execute(
        &mut self,
        run: &mut ColocateRun,
        settings: &RunSettings,
        means: &Means,
        signals: &mut Signals,
        stop: &AtomicBool,
    ) -> Result<(u64, RunResult)> {
        let recording = self.folder.recording(&run.recording)?;
        let (program, plan) = match (run.victim, run.neighbour) {
            (Some(at), _) => (self.meta.victims.get(at), settings.victims.get(at)),
            (None, Some(at)) => (self.meta.neighbours.get(at), settings.neighbours.get(at)),
            (None, None) => (None, None),
        };
        let (program, plan) = program.zip(plan).ok_or_else(|| Error::new(ErrorKind::Corrupt, "a run of nothing"))?;
        let rate = match run.purpose {
            RunPurpose::FullRate => Some(UNLIMITED),
            _ => program.full_rate.map(|rate| rate * run.load),
        };
        if program.takes_rate() && rate.is_none() {
            let unknown = format!("the full rate of {} is not known: its run for it failed", program.name);
            return Err(Error::new(ErrorKind::NotFound, unknown));
        }
        let argv = program.filled(run.load, rate);
        let neighbour = match (run.victim, run.neighbour) {
            (Some(_), Some(at)) => Some(self.start_neighbour(at, run, means, &recording)?),
            _ => None,
        };
        let longest = if run.purpose == RunPurpose::Profile { PROFILE } else { self.meta.duration };
        let duration = Some(longest.min(self.meta.duration));
        let plan = Plan { target: Target::Command { argv }, duration, ..plan.clone() };
        let beside = neighbour.as_ref();
        let settled = beside.is_none_or(|beside| settle(self.meta.settle, beside, signals, stop));
        let captured = if settled { capture(plan, &recording, stop).map(Some) } else { Ok(None) };
        let name = run.neighbour.and_then(|at| self.meta.neighbours.get(at)).map_or("", |program| &program.name);
        if let Some(ended) = neighbour.map(Neighbour::end) {
            run.restarts = ended.restarts;
            if let Some(failure) = ended.failure {
                return Err(Error::new(ErrorKind::Io, format!("the neighbour {name} failed: {failure}")));
            }
        }
        let outcome = captured?.ok_or_else(stopped_early)?;
        let wall_ns = self.accept(run, outcome, stop)?;
        let result = digest(&recording, run, self.meta.leave_out, &mut self.workers)?;
        Ok((wall_ns, result))
    }

    fn start_neighbour(&self, at: usize, run: &mut ColocateRun, means: &Means, recording: &Path) -> Result<Neighbour> {
        let program = &self.meta.neighbours[at];
        let hold = means.hold(program, run.load, run.control)?;
        run.imposed = hold.imposed;
        let context = || format!("cannot start the neighbour {}", program.name);
        Neighbour::start(&program.filled(run.load, None), &recording.with_extension("neighbour.out"), hold)
            .context(context)
    }

    /// Whether a run counts; its length.
    fn accept(&mut self, run: &mut ColocateRun, outcome: Outcome, stop: &AtomicBool) -> Result<u64> {
        if let Some(error) = outcome.write_failure {
            return Err(error);
        }
        for note in outcome.meta.notes {
            if !self.meta.notes.iter().any(|known| known.topic == note.topic) {
                self.meta.notes.push(note);
            }
        }
        if outcome.reason == EndReason::Stopped {
            stop.store(true, Ordering::Relaxed);
            return Err(stopped_early());
        }
        run.ended_itself = outcome.reason == EndReason::TargetGone;
        match outcome.meta.exit_status.filter(|code| *code != 0 && run.ended_itself) {
            Some(code) => Err(Error::new(ErrorKind::Io, format!("the command ended with exit code {code}"))),
            None => Ok(outcome.meta.duration_ns.unwrap_or(0)),
        }
    }

    /// Keeps what later runs need to know.
    fn learn(&mut self, run: &ColocateRun, result: &RunResult) {
        match (run.purpose, run.victim, run.neighbour) {
            (RunPurpose::Profile, _, Some(at)) => {
                self.meta.neighbours[at].busy_cpus = demand(result, self.meta.host.cpus.len());
            }
            (RunPurpose::FullRate, Some(at), _) => {
                let time = result.value(SlowdownMeasure::Throughput);
                self.meta.victims[at].full_rate = time.ok().map(|seconds| 1.0 / seconds);
            }
            _ => {}
        }
    }

    /// States once how loads below full are imposed where no control group can be made.
    fn note_loads(&mut self, means: &Means) {
        let is_imposed = |program: &ColocatedProgram| !program.takes_load();
        if !self.meta.loads.iter().any(|load| *load < 1.0) || !self.meta.neighbours.iter().any(is_imposed) {
            return;
        }
        if let Some(error) = means.no_quota() {
            let text = format!(
                "no control group can be made ({error}): a load below 1 stops the neighbour for the rest of each tenth of \
                 a second"
            );
            let fix = Some("Run as root, or put {load} into the neighbour's command.".to_string());
            self.meta.notes.push(Note { topic: "load-duty-cycle".to_string(), text, fix });
        }
    }

    /// Plans the runs for the controls that this machine has; a note says why others are not tried.
    fn plan_controls(&mut self, means: &Means) {
        let slow = slow_cells(&cells(&self.meta, &self.results));
        let mut note = |topic: &str, text: String, fix: Option<String>| {
            self.meta.notes.push(Note { topic: topic.to_string(), text, fix });
        };
        if slow.is_empty() {
            return note("no-slow-cell", "no cell is slower beyond noise: no control was tried".to_string(), None);
        }
        let mut possible: Vec<Control> = Vec::new();
        for control in self.meta.controls.clone() {
            match means.missing(control) {
                None => possible.push(control),
                Some(error) => note(
                    &format!("control-{}", control.name()),
                    format!("{} was not tried: {error}", control.name()),
                    error.remedy().map(String::from),
                ),
            }
        }
        if !possible.is_empty() {
            let runs = what_if_runs(&self.meta, &slow, &possible);
            self.results.resize(self.results.len() + runs.len(), None);
            self.meta.runs.extend(runs);
        }
    }
}

/// Captures a command into its recording. What it left running in its process group ends with it.
fn capture(plan: Plan, recording: &Path, stop: &AtomicBool) -> Result<Outcome> {
    // The output of many commands would clutter the progress lines, so each goes to its own file.
    let output = recording.with_extension("out");
    let file = File::create(&output).context(|| format!("cannot create {}", output.display()))?;
    let _aside = redirect_streams(&file)?;
    let live = LiveCapture::open(plan, Vec::new(), false)?;
    // Dropped, and so ended, when the capture is over, however it ends.
    let _group = live.command_pid().map(ProcessGroup::lead).transpose()?;
    let writer = Writer::create(recording, live.meta(), true)?;
    live.run_unless(writer, stop)
}

/// The CPUs that a program keeps busy if it gets them: what it waited for in the run queue counts, for others on the
/// machine took that.
fn demand(result: &RunResult, cpus: usize) -> Option<f64> {
    let value = |id| value_of(&result.digest.run.metrics, id).value().copied();
    let queued =
        value(MetricId::RunQueueDelay).zip(value(MetricId::Threads)).map_or(0.0, |(share, threads)| share * threads);
    Some((value(MetricId::CpuUtilisation)? + queued).min(cpus.max(1) as f64))
}

/// The digest of a recorded run.
pub(super) fn digest(
    recording: &Path,
    run: &ColocateRun,
    leave_out: Nanos,
    workers: &mut Workers,
) -> Result<RunResult> {
    let profile = session::open(recording)?;
    let measured = (run.victim, if run.victim.is_some() { None } else { run.neighbour });
    // The same for all runs of a program, or their shares of its threads' time could not be compared.
    let workers = *workers.0.entry(measured).or_insert_with(|| worker_count(&profile, leave_out));
    Ok(RunResult::of(&profile, &recording.display().to_string(), workers, run.ended_itself, leave_out))
}

/// Lets the neighbour warm up. Returns whether the victim may start.
fn settle(time: Nanos, neighbour: &Neighbour, signals: &mut Signals, stop: &AtomicBool) -> bool {
    let end = monotonic_ns().saturating_add(time.0);
    while monotonic_ns() < end {
        if stop_requested(signals, stop) || neighbour.has_failed() {
            return false;
        }
        std::thread::sleep(STEP);
    }
    !neighbour.has_failed()
}

/// Whether to end: `stop` was set, or a signal arrived between two runs.
fn stop_requested(signals: &mut Signals, stop: &AtomicBool) -> bool {
    while let Some(signal) = signals.take() {
        if signal != Signal::Child {
            stop.store(true, Ordering::Relaxed);
        }
    }
    stop.load(Ordering::Relaxed)
}

fn stopped_early() -> Error {
    Error::new(ErrorKind::Io, "it was stopped early")
}
