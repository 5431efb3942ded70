//! A live capture: opened, then either recorded on the caller's thread or handed to a live session.
//! The drain thread never waits for a reader: events that cannot be delivered in time are counted as lost.

use super::command_beside::CommandBeside;
use super::flow::{CaptureStep, RunningCapture};
use super::naming::find_probes;
use super::operations::{self, Operations};
use super::recorder::{Outcome, Recorder, add_capture_end};
use crate::analysis::Window;
use crate::collect::canaries::CanaryThread;
use crate::collect::neighbours::{NeighbourScope, NeighbourSources};
use crate::collect::readings::{Readings, Sources};
use crate::collect::sampler::{Ended, Sampler};
use crate::collect::{catalog, host, target};
use crate::error::Result;
use crate::model::profile::{Profile, ProfileBuilder};
use crate::model::{CoordinatedOmission, Definition, Event, LatencySpec, Meta, Note, Plan, Scope, Tick};
use crate::pmu::uncore_counters;
use crate::store::{FORMAT, Writer};
use crate::sys::clock::{self, Clock};
use crate::sys::event_sources::EventSourceFiles;
use crate::sys::heap;
use crate::sys::procfs::ProcFs;
use crate::sys::signals::{Signal, Signals};
use crate::sys::sysfs::SysFs;
use crate::units::Nanos;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A capture that is open and ready to run.
#[derive(Debug)]
pub struct LiveCapture {
    signals: Signals,
    sampler: Sampler,
    readings: Readings,
    operations: Vec<Operations>,
    clock: Clock,
    meta: Meta,
    fetch: bool,
}

impl LiveCapture {
    /// Opens all events on the target, paused. A command is started but held before its first instruction. The
    /// recording also gets `notes`. With `fetch`, missing debug information is requested from debuginfod. From here on,
    /// Ctrl-C and SIGTERM end the capture, not the process.
    ///
    /// # Errors
    /// The target does not exist, or the kernel refuses to profile it; the hint states what would change that.
    pub fn open(mut plan: Plan, mut notes: Vec<Note>, fetch: bool) -> Result<LiveCapture> {
        heap::share();
        // Block signals before any thread starts, so that no thread is killed by one.
        let signals = Signals::block()?;
        let clock = Clock::start();
        operations::check(&plan)?;
        plan.name_generator();
        find_probes(fetch);
        let mut sampler = Sampler::open(&plan, &clock)?;
        let operations = Operations::open(&plan, sampler.take_command_output(), clock)?;
        let mut readings = Readings::open(Sources::live()?, &plan.target, sampler.command_pid(), clock.now())?;
        if plan.neighbours || plan.off_cpu {
            // Who waits for a CPU wants to know who had it.
            let scope = if plan.neighbours { NeighbourScope::All } else { NeighbourScope::CpuTime };
            readings.watch_neighbours(NeighbourSources::live()?, scope)?;
        }
        if plan.probe {
            readings.watch_canaries(CanaryThread::start(ProcFs::new("/proc"), &SysFs::new("/sys"))?);
        }
        let uarch = plan.hardware.first().map_or("", |hardware| hardware.uarch.as_str());
        readings.watch_uncore(&uncore_counters(&EventSourceFiles::open(Path::new("/sys")), uarch));
        notes.extend(CoordinatedOmission::of(&plan).map(coordinated_omission));
        notes.extend_from_slice(sampler.notes());
        notes.extend(readings.take_notes());
        let proc = ProcFs::new("/proc");
        let host = host::facts(&proc, &SysFs::new("/sys"));
        let meta = Meta {
            target: target::facts(&proc, &plan.target, &host),
            host,
            events: sampler.events().to_vec(),
            hardware: sampler.hardware().clone(),
            sample_cost_ns: sampler.sample_cost().map(|cost| cost.0),
            sampling_switch_cost_ns: sampler.switch_cost().map(|cost| cost.0),
            waits: sampler.waits(),
            samples: Some(sampler.sample_source()),
            started_unix_ns: clock::unix_ns() - clock.now().0,
            started_mono_ns: clock.start_ns(),
            notes,
            // What was counted of the planned counters is in `hardware`.
            ..Meta::new(FORMAT, Plan { hardware: Vec::new(), ..plan })
        };
        Ok(LiveCapture { signals, sampler, readings, operations, clock, meta, fetch })
    }

    /// The session's metadata before it runs.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The process id of a command that was started and still waits.
    #[must_use]
    pub fn command_pid(&self) -> Option<u32> {
        self.sampler.command_pid()
    }

    /// Records into `output` until the target ends, the planned time is over or a signal arrives.
    ///
    /// # Errors
    /// Nothing could be captured. A full disk is not an error: it stops the capture and is reported in the outcome.
    pub fn run(self, output: Writer) -> Result<Outcome> {
        self.run_unless(output, &AtomicBool::new(false))
    }

    /// Like [`LiveCapture::run`], but also ends when another thread sets `asked`.
    ///
    /// # Errors
    /// As for [`LiveCapture::run`].
    pub fn run_unless(self, output: Writer, asked: &AtomicBool) -> Result<Outcome> {
        self.record(output, &mut CommandBeside::default(), asked)
    }

    /// Like [`LiveCapture::run`], but starts a command as soon as samples are taken, and ends when it ends. A command that
    /// outlives the capture is terminated. Returns its exit code too if it ended by itself.
    ///
    /// # Errors
    /// As for [`LiveCapture::run`], and if the command cannot be executed.
    pub fn run_while(mut self, output: Writer, command: &[String]) -> Result<(Outcome, Option<i32>)> {
        let plan = &self.meta.plan;
        let mut beside = if plan.latency.as_ref().is_some_and(LatencySpec::reads_output) {
            let (beside, command_output) = CommandBeside::start_read(command)?;
            self.operations.push(Operations::listen(plan, command_output, self.clock)?);
            beside
        } else {
            CommandBeside::start(command)?
        };
        let outcome = self.record(output, &mut beside, &AtomicBool::new(false))?;
        Ok((outcome, beside.finish()))
    }

    fn record(self, output: Writer, beside: &mut CommandBeside, asked: &AtomicBool) -> Result<Outcome> {
        let LiveCapture { mut signals, sampler, readings, operations, clock, meta, fetch } = self;
        let interval = meta.plan.interval;
        let counters = counters(&meta);
        let mut recorder = Recorder::new(meta, output, clock);
        recorder.keep(&counters);
        let flow = RunningCapture::start(sampler, readings, operations, interval, clock, fetch)?;
        recorder.consume(&flow, &mut signals, beside, asked)?;
        let last = flow.finish(|| std::iter::from_fn(|| signals.take()).any(|signal| signal != Signal::Child))?;
        Ok(recorder.finish(&last))
    }

    /// Counts until the target ends, the planned time is over, a signal arrives, or the command `beside` the target ends,
    /// which is started here and terminated if it outlives the capture. Keeps the counts of the whole target and of each of its control groups in memory,
    /// and calls `window` with those so far at the end of each interval.
    ///
    /// # Errors
    /// Nothing could be counted, or the command beside it not be executed.
    pub fn count(self, beside: Option<&[String]>, mut window: impl FnMut(&Profile, Window)) -> Result<CountedRun> {
        let mut command = beside.map(CommandBeside::start).transpose()?.unwrap_or_default();
        let LiveCapture { mut signals, sampler, readings, operations, clock, meta, fetch } = self;
        let mut profile = ProfileBuilder::new(meta.clone());
        counters(&meta).into_iter().for_each(|event| profile.apply(event));
        let flow = RunningCapture::start(sampler, readings, operations, meta.plan.interval, clock, fetch)?;
        let mut interrupted = false;
        loop {
            let step = flow.next();
            while let Some(signal) = signals.take() {
                interrupted |= signal != Signal::Child;
            }
            if interrupted {
                flow.stop().stop();
            }
            if flow.is_sampling() {
                command.begin(flow.stop())?;
            }
            match step {
                CaptureStep::Events(events) => {
                    for event in events.into_iter().filter(is_of_target) {
                        let ended = if let Event::Tick(tick) = event { Some(tick) } else { None };
                        profile.apply(event);
                        if let Some(Tick { at, span }) = ended {
                            window(profile.profile(), Window { from: at - span, to: at });
                        }
                    }
                }
                CaptureStep::Quiet => {}
                CaptureStep::Over => break,
            }
        }
        let mut last = flow.finish(|| interrupted)?;
        let status = if beside.is_some() { command.finish() } else { last.ended.exit_status };
        std::mem::take(&mut last.late).into_iter().filter(is_of_target).for_each(|event| profile.apply(event));
        let mut meta = meta;
        add_capture_end(&mut meta, &last);
        let Ended { sampled, usage, .. } = last.ended;
        let times = usage.map(|usage| (Nanos(usage.user_ns), Nanos(usage.cpu_ns - usage.user_ns)));
        Ok(CountedRun { profile: profile.finish(meta), elapsed: sampled, times, status, interrupted })
    }

    /// Starts the capture for a reader that handles the signals of [`LiveCapture::open`] itself.
    pub(super) fn start_with_signals(self) -> Result<RunningParts> {
        let LiveCapture { signals, sampler, readings, operations, clock, meta, fetch } = self;
        let flow = RunningCapture::start(sampler, readings, operations, meta.plan.interval, clock, fetch)?;
        Ok(RunningParts { flow, meta, clock, signals })
    }

    /// Starts the capture for a reader that keeps the profile. The caller handles signals.
    pub(super) fn start(self) -> Result<(RunningCapture, Meta, Clock)> {
        let LiveCapture { sampler, readings, operations, clock, meta, fetch, .. } = self;
        Ok((RunningCapture::start(sampler, readings, operations, meta.plan.interval, clock, fetch)?, meta, clock))
    }
}

/// A capture that has been started, and what its reader needs.
#[derive(Debug)]
pub(super) struct RunningParts {
    pub flow: RunningCapture,
    pub meta: Meta,
    pub clock: Clock,
    pub signals: Signals,
}

/// The note about what the source of latencies leaves out.
fn coordinated_omission(found: CoordinatedOmission) -> Note {
    let text = format!("Coordinated omission: {} ({}).", found.word(), found.why());
    Note { topic: "coordinated-omission".to_string(), text, fix: None }
}

/// A run that was counted and not recorded.
#[derive(Debug)]
pub struct CountedRun {
    /// The readings of the whole target and of each of its control groups, operations and the ends of intervals; nothing else.
    pub profile: Profile,
    /// How long it was counted.
    pub elapsed: Nanos,
    /// A command's own time in user mode and in the kernel, with the children it waited for.
    pub times: Option<(Nanos, Nanos)>,
    /// The exit code of the command that was counted, or of the one beside the target; `None` without one, or if it had
    /// to be terminated.
    pub status: Option<i32>,
    /// Whether a signal asked for the end.
    pub interrupted: bool,
}

fn is_of_target(event: &Event) -> bool {
    match event {
        Event::Reading(reading) => matches!(reading.scope, Scope::Target | Scope::Cgroup(_)),
        event => matches!(event, Event::Ops { .. } | Event::Tick(_)),
    }
}

/// The counters' definitions, which precede all other events.
pub(super) fn counters(meta: &Meta) -> Vec<Event> {
    let all = catalog::definitions().into_iter().chain(catalog::hardware(&meta.hardware));
    all.map(|def| Event::Define(Definition::Counter(def))).collect()
}
