//! Executes the runs of a sweep one after the other, each into its own recording, and keeps a digest of each.
//! Calls `on_change` after every change.

use super::run_plan::fill;
use super::{CpuConfinement, Folder};
use crate::abi::format_cpu_list;
use crate::analysis::TimeRange;
use crate::analysis::sweep::Run;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Note, Plan, RunMeta, RunState, SweepMeta, Target};
use crate::session::{self, EndReason, LiveCapture, Outcome, RecordedCode};
use crate::store::Writer;
use crate::sys::signals::{Signal, Signals};
use crate::sys::terminal::redirect_streams;
use crate::sys::{affinity, spawn};
use crate::units::Nanos;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

/// The settings common to all runs of a command.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// How to capture. Its target is replaced by the filled-in command.
    pub plan: Plan,
    /// `NAME=VALUE` with placeholders.
    pub environment: Vec<String>,
    /// A shell command before each run.
    pub prepare: Option<String>,
    /// A shell command after each run.
    pub cleanup: Option<String>,
    /// Runs before the first measured one. Their recordings are discarded.
    pub warm_up: u32,
    /// A run that takes longer is terminated and does not count.
    pub timeout: Option<Nanos>,
    /// Whether missing debug information is downloaded.
    pub fetch: bool,
}

/// The current state of a sweep.
#[derive(Debug)]
pub struct Sweep {
    /// Its metadata.
    pub meta: SweepMeta,
    /// The digest of each run in `meta.runs`; `None` if the run does not count or is not finished.
    pub results: Vec<Option<Run>>,
    folder: Folder,
}

impl Sweep {
    /// A sweep without any finished run.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn begin(folder: Folder, meta: SweepMeta) -> Result<Sweep> {
        folder.write(&meta)?;
        Ok(Sweep { results: vec![None; meta.runs.len()], meta, folder })
    }

    /// Its directory.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Executes all runs of a command. Ends early on `stop` or a signal and keeps the finished runs.
    ///
    /// # Errors
    /// Not even one run could be started, or the sweep cannot be written. A failed run does not end the others.
    pub fn run(&mut self, settings: &RunSettings, stop: &AtomicBool, on_change: &mut dyn FnMut(&Sweep)) -> Result<()> {
        let mut signals = Signals::block()?;
        self.warm_up(settings, stop)?;
        for at in 0..self.meta.runs.len() {
            if stop_requested(&mut signals, stop) {
                break;
            }
            self.run_one(at, stop, on_change, |sweep, run| sweep.command_run(settings, run, stop))?;
        }
        self.end(stop, on_change)
    }

    /// Sweeps a running target: confines it to a different set of CPUs for each run and captures it. Restores the
    /// original affinities before it returns, even on failure.
    ///
    /// # Errors
    /// The target has ended or may not be changed, or its affinities could not be restored.
    pub fn run_live(
        &mut self,
        plan: &Plan,
        fetch: bool,
        confinement: &mut CpuConfinement,
        stop: &AtomicBool,
        on_change: &mut dyn FnMut(&Sweep),
    ) -> Result<()> {
        // Block signals before changing anything: a signal between two runs must not prevent the restore.
        let mut signals = Signals::block()?;
        for at in 0..self.meta.runs.len() {
            if stop_requested(&mut signals, stop) {
                break;
            }
            let cpus = self.meta.runs[at].cpus.clone();
            if let Err(error) = confinement.confine(&cpus) {
                self.meta.runs[at].state = RunState::Failed { reason: error.to_string() };
                stop.store(true, Ordering::Relaxed);
                break;
            }
            self.run_one(at, stop, on_change, |sweep, run| sweep.capture(plan.clone(), fetch, run, stop, |_| Ok(())))?;
        }
        confinement.restore()?;
        self.end(stop, on_change)
    }

    /// Executes run number `at` with `execute` and records its state.
    fn run_one(
        &mut self,
        at: usize,
        stop: &AtomicBool,
        on_change: &mut dyn FnMut(&Sweep),
        execute: impl FnOnce(&Sweep, &RunMeta) -> Result<Outcome>,
    ) -> Result<()> {
        self.meta.runs[at].state = RunState::Running;
        self.folder.write(&self.meta)?;
        on_change(self);
        let run = self.meta.runs[at].clone();
        let finished = execute(self, &run).and_then(|outcome| self.finish_run(&run, outcome, stop));
        self.meta.runs[at].state = match finished {
            Ok((state, result)) => {
                self.results[at] = result;
                state
            }
            // A target that is not found or not permitted would fail in every run.
            Err(error)
                if at == 0
                    && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotPermitted | ErrorKind::Usage) =>
            {
                return Err(error);
            }
            Err(error) => RunState::Failed { reason: error.to_string() },
        };
        self.folder.write(&self.meta)?;
        on_change(self);
        Ok(())
    }

    /// Writes the final state of a sweep.
    fn end(&mut self, stop: &AtomicBool, on_change: &mut dyn FnMut(&Sweep)) -> Result<()> {
        self.meta.stopped = stop.load(Ordering::Relaxed) && self.meta.over() < self.meta.runs.len();
        self.folder.write(&self.meta)?;
        on_change(self);
        Ok(())
    }

    fn warm_up(&mut self, settings: &RunSettings, stop: &AtomicBool) -> Result<()> {
        let Some(first) = self.meta.runs.first().cloned() else { return Ok(()) };
        for _ in 0..settings.warm_up {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let outcome = self.command_run(settings, &first, stop)?;
            note_stop(&outcome, stop);
            self.discard(&first);
        }
        Ok(())
    }

    fn command_run(&self, settings: &RunSettings, run: &RunMeta, stop: &AtomicBool) -> Result<Outcome> {
        // The output of many commands would clutter the progress lines, so each goes to its own file.
        let output = self.recording(run)?.with_extension("out");
        let file = File::create(&output).context(|| format!("cannot create {}", output.display()))?;
        let _aside = redirect_streams(&file)?;
        let cpus = format_cpu_list(&run.cpus);
        let filled = |text: &String| fill(text, run.n, &cpus);
        shell("--prepare", settings.prepare.as_ref().map(filled))?;
        let environment = settings.environment.iter().map(filled);
        let assignments: Vec<String> = environment.collect();
        // env(1) replaces itself by the command, so the profile contains only the command.
        let env = (!assignments.is_empty()).then(|| "env".to_string());
        let argv = env.into_iter().chain(assignments).chain(self.meta.command.iter().map(filled)).collect();
        let plan = Plan {
            target: Target::Command { argv },
            duration: settings.plan.duration.or(settings.timeout),
            ..settings.plan.clone()
        };
        let outcome =
            self.capture(plan, settings.fetch, run, stop, |live| match (live.command_pid(), run.cpus.as_slice()) {
                (Some(pid), [_, ..]) => affinity::set(pid, &run.cpus),
                _ => Ok(()),
            });
        let cleaned = shell("--cleanup", settings.cleanup.as_ref().map(filled));
        let outcome = outcome?;
        let too_long = settings.plan.duration.is_none() && outcome.reason == EndReason::Duration;
        if let Some(limit) = settings.timeout.filter(|_| too_long) {
            return Err(Error::new(ErrorKind::Io, format!("it ran longer than --timeout ({} s)", limit.seconds())));
        }
        cleaned.map(|()| outcome)
    }

    /// Captures one run into its recording. Calls `ready` when everything is open and nothing runs yet.
    fn capture(
        &self,
        plan: Plan,
        fetch: bool,
        run: &RunMeta,
        stop: &AtomicBool,
        ready: impl FnOnce(&LiveCapture) -> Result<()>,
    ) -> Result<Outcome> {
        let live = LiveCapture::open(plan, Vec::new(), fetch)?;
        ready(&live)?;
        let path = self.recording(run)?;
        let writer = Writer::create(&path, live.meta(), true)?;
        let outcome = live.run_unless(writer, stop)?;
        note_stop(&outcome, stop);
        Ok(outcome)
    }

    /// Whether a run counts, and its digest.
    fn finish_run(&mut self, run: &RunMeta, outcome: Outcome, stop: &AtomicBool) -> Result<(RunState, Option<Run>)> {
        if let Some(error) = outcome.write_failure {
            return Err(error);
        }
        self.keep_notes(&outcome.meta.notes);
        if stop.load(Ordering::Relaxed) && outcome.reason == EndReason::Stopped {
            return Ok((RunState::Failed { reason: "it was stopped early".to_string() }, None));
        }
        let ended_itself = outcome.reason == EndReason::TargetGone;
        if ended_itself && self.meta.target.is_some() {
            return Ok((RunState::Failed { reason: "the target has ended".to_string() }, None));
        }
        if let Some(code) = outcome.meta.exit_status.filter(|code| *code != 0 && ended_itself) {
            return Ok((RunState::Failed { reason: format!("the command ended with exit code {code}") }, None));
        }
        let result = digest(&self.meta, run, &self.recording(run)?)?;
        Ok((RunState::Done { wall_ns: outcome.meta.duration_ns.unwrap_or(0) }, Some(result)))
    }

    /// Keeps a fallback that occurs in every run only once.
    fn keep_notes(&mut self, notes: &[Note]) {
        for note in notes {
            if !self.meta.notes.iter().any(|known| known.topic == note.topic) {
                self.meta.notes.push(note.clone());
            }
        }
    }

    fn recording(&self, run: &RunMeta) -> Result<std::path::PathBuf> {
        self.folder.recording(&run.recording)
    }

    fn discard(&self, run: &RunMeta) {
        if let Ok(path) = self.recording(run) {
            // The run that counts replaces it anyway.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// The digest of a recorded run.
pub(super) fn digest(meta: &SweepMeta, run: &RunMeta, recording: &std::path::Path) -> Result<Run> {
    let profile = session::open(recording)?;
    let time = TimeRange { from: meta.leave_out, to: None };
    let locks = RecordedCode::of(&profile.meta, None).locks(&profile);
    Ok(Run::with_locks(&profile, run.n, time.window(&profile.ticks, profile.duration()), &locks))
}

/// Whether the sweep must end: `stop` was set, or a signal arrived between two runs.
fn stop_requested(signals: &mut Signals, stop: &AtomicBool) -> bool {
    while let Some(signal) = signals.take() {
        if signal != Signal::Child {
            stop.store(true, Ordering::Relaxed);
        }
    }
    stop.load(Ordering::Relaxed)
}

/// A signal that ended a run also ends the sweep.
fn note_stop(outcome: &Outcome, stop: &AtomicBool) {
    if outcome.reason == EndReason::Stopped {
        stop.store(true, Ordering::Relaxed);
    }
}

fn shell(flag: &str, command: Option<String>) -> Result<()> {
    let Some(command) = command else { return Ok(()) };
    let argv = ["sh".to_string(), "-c".to_string(), command];
    let mut started = spawn::start(&argv)?;
    started.release()?;
    match started.wait() {
        Some(0) => Ok(()),
        code => {
            let code = code.map_or_else(|| "no exit code".to_string(), |code| format!("exit code {code}"));
            Err(Error::new(ErrorKind::Io, format!("the {flag} command ended with {code}"))).context(|| argv[2].clone())
        }
    }
}
