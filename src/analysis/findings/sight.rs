//! All that rules may look at, worked out once for the selection.
//! It never judges.

use super::stacks::Stacks;
use super::waits::Waits;
use super::words::percent;
use super::{Confidence, Evidence, Finding, limits};
use crate::analysis::MetricUnit;
use crate::analysis::counters::Counters;
use crate::analysis::coverage::{Coverage, clock};
use crate::analysis::metrics::{Metric, metrics};
use crate::analysis::names::Names;
use crate::analysis::ranking::{GroupBy, Ranking, SortBy, rank};
use crate::analysis::selection::{Axis, Selection, Who};
use crate::analysis::summary::{Summary, summary};
use crate::analysis::tasks::Tasks;
use crate::analysis::threads::{ThreadRow, threads};
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use crate::model::{EventSpec, Measure, Scope, Unit, Why};
use std::cell::Cell;

/// What rules may look at.
#[derive(Debug)]
pub struct Sight<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// What frames are called.
    pub names: &'a Names,
    /// Everybody.
    pub tasks: &'a Tasks,
    /// The readings.
    pub counters: &'a Counters,
    /// The part that is judged. Its axis chooses the event that stands for CPU time, if it is one that can.
    pub selection: Selection,
    /// Its threads.
    pub who: Who,
    /// Its time, grown to where counters were read.
    pub window: Window,
    /// The metrics of the window.
    pub metrics: Vec<Metric>,
    /// The functions by CPU time; empty if nothing sampled it.
    pub functions: Ranking,
    /// The threads, most CPU time first.
    pub threads: Vec<ThreadRow>,
    summary: Summary,
    /// Whether the rule at hand has looked at samples.
    sampled: Cell<bool>,
    /// Whether the rule that is being applied looked at waits.
    waited: Cell<bool>,
    clock: Option<u16>,
    stacks: Stacks<'a>,
    waits: Option<Waits<'a>>,
}

/// Mean numbers of threads: at any moment of the selection, so many were in this state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// Running.
    pub running: f64,
    /// Runnable without a CPU.
    pub queued: f64,
    /// Blocked by a lock that another thread holds.
    pub locked: f64,
    /// Blocked by the lock of the address space.
    pub mapping: f64,
    /// Blocked by storage.
    pub storage: f64,
}

impl Work {
    /// Threads that had something to do. Who waits for work, sleeps or is answered by others is not among them.
    pub fn total(&self) -> f64 {
        self.running + self.queued + self.locked + self.mapping + self.storage
    }
}

impl<'a> Sight<'a> {
    /// Works out what the rules share; `window` is the selection's time, grown to where counters were read.
    #[must_use]
    pub fn of(
        profile: &'a Profile,
        names: &'a Names,
        tasks: &'a Tasks,
        counters: &'a Counters,
        selection: &Selection,
        window: Window,
    ) -> Sight<'a> {
        let clock = clock(profile, selection.axis);
        let mut selection = selection.clone();
        selection.axis = Axis::Event(clock.unwrap_or(u16::MAX));
        let who = selection.who(tasks);
        let summary = summary(profile, tasks, counters, &selection, window);
        let recorded = profile.meta.plan.off_cpu || !profile.off_cpu.is_empty();
        Sight {
            profile,
            names,
            tasks,
            counters,
            metrics: metrics(counters, &who, window, Some(&summary)),
            functions: rank(profile, names, tasks, &selection, GroupBy::Function, SortBy::SelfWeight),
            threads: threads(profile, tasks, counters, &selection, window),
            summary,
            sampled: Cell::new(false),
            waited: Cell::new(false),
            clock,
            stacks: Stacks::of(profile, names, tasks, &selection, &who),
            waits: recorded.then(|| Waits::of(profile, names, tasks, &selection)),
            selection,
            who,
            window,
        }
    }

    /// A metric.
    pub(super) fn metric(&self, name: &str) -> Result<f64, Why> {
        let metric = self.metrics.iter().find(|metric| metric.name == name);
        match metric.map(|metric| metric.value) {
            Some(Measure::Known { value, .. }) => Ok(value),
            Some(Measure::Missing(why)) => Err(why),
            None => Err(Why::NotRecorded),
        }
    }

    /// What a counter counted for the selected threads.
    pub(super) fn count(&self, name: &str) -> Result<f64, Why> {
        let counted = match &self.who {
            Who::All => self.counters.delta(name, Scope::Target, self.window),
            Who::Only(tids) => self.counters.sum(name, tids.iter().copied(), self.window),
        };
        counted.value().copied().ok_or(counted.why().unwrap_or(Why::NotRecorded))
    }

    /// Elapsed seconds of the counters' window, if they are enough for a rate.
    pub(super) fn wall(&self) -> Result<f64, Why> {
        enough(self.window.span().seconds())
    }

    /// Elapsed seconds of the selection itself, which samples and waits fall into.
    pub(super) fn span(&self) -> Result<f64, Why> {
        let end = self.selection.time.to.unwrap_or(self.window.to).min(self.window.to);
        enough((end - self.selection.time.from).seconds())
    }

    /// CPU time, seconds: as counted, else as sampled.
    pub(super) fn cpu_time(&self) -> Result<f64, Why> {
        self.metric("cpu_time").or_else(|why| match self.clock_event() {
            Some(event) if event.unit == Unit::Nanos => Ok(self.functions.weight as f64 * 1e-9),
            _ => Err(why),
        })
    }

    /// What the threads did; a state nobody recorded counts as none.
    pub(super) fn work(&self) -> Result<Work, Why> {
        let (wall, span) = (self.wall()?, self.span()?);
        let running = self.cpu_time()? / wall;
        let counted = |name| self.count(name).map_or(0.0, |ns| ns * 1e-9 / wall);
        let queued = counted("run-delay");
        let (locked, mapping, storage) = match &self.waits {
            Some(waits) => {
                let share = waits.blocked_share(queued * span) / span;
                (waits.locked_seconds() * share, waits.mapping_seconds() * share, waits.storage_seconds() * share)
            }
            None => (0.0, 0.0, counted("blkio-delay")),
        };
        Ok(Work { running, queued, locked, mapping, storage })
    }

    /// The same of threads that had enough to do to be judged.
    pub(super) fn busy(&self) -> Result<Work, Why> {
        self.work().and_then(|work| if work.total() < limits::IDLE_THREADS { Err(Why::Idle) } else { Ok(work) })
    }

    /// Whether it ran enough for its CPU time to matter.
    pub(super) fn runs(&self) -> Result<(), Why> {
        if self.work()?.running < limits::IDLE_THREADS { Err(Why::Idle) } else { Ok(()) }
    }

    /// The sampled CPU time, if it is enough to judge shares by.
    pub(super) fn samples(&self) -> Result<&Stacks<'a>, Why> {
        self.sampled.set(true);
        if self.clock.is_none() {
            return Err(Why::NotRecorded);
        }
        match self.stacks.samples {
            _ if self.lost() > limits::LOST_SHARE => Err(Why::LostEvents),
            few if few < limits::FEWEST_SAMPLES => Err(Why::TooFewSamples),
            _ => Ok(&self.stacks),
        }
    }

    /// Applies a rule. What it finds by samples is less certain where these miss part of the CPU time; so is what it finds by
    /// waits where their causes were not seen.
    pub(super) fn judged_by(
        &self,
        judge: impl FnOnce(&Sight<'a>) -> Result<Option<Finding>, Why>,
    ) -> Result<Option<Finding>, Why> {
        self.sampled.set(false);
        self.waited.set(false);
        let mut found = judge(self)?;
        let coverage = self.summary.coverage.value().filter(|coverage| coverage.is_too_low() && self.sampled.get());
        if let (Some(finding), Some(coverage)) = (&mut found, coverage) {
            less_certain(finding, coverage);
        }
        let doubtful = self.waits.as_ref().filter(|_| self.waited.get()).and_then(|waits| waits.coverage.doubtful());
        if let (Some(finding), Some(share)) = (&mut found, doubtful) {
            let said = format!("The causes of {} of the time blocked were not seen, or are estimates.", percent(share));
            doubted(finding, &said, Evidence::plain("blocked, cause in doubt", share, MetricUnit::Share));
        }
        Ok(found)
    }

    /// The part of the CPU time that counting hardware events added to context switches; 0 where it was not to be seen.
    pub(super) fn switching(&self) -> f64 {
        self.summary.switching.value().copied().unwrap_or(0.0)
    }

    /// The same where the kernel's functions must be seen by name.
    pub(super) fn kernel_samples(&self) -> Result<&Stacks<'a>, Why> {
        let stacks = self.samples()?;
        let hidden = self.clock_event().is_some_and(|event| event.exclude_kernel) || stacks.kernel_is_nameless();
        if hidden { Err(Why::NotPermitted) } else { Ok(stacks) }
    }

    /// The time off the CPU, if it was recorded whole.
    pub(super) fn waits(&self) -> Result<&Waits<'a>, Why> {
        self.waited.set(true);
        let waits = self.waits.as_ref().ok_or(Why::NotRecorded)?;
        let lost = self.summary.off_cpu_lost as f64 / (self.summary.off_cpu_lost + waits.spans).max(1) as f64;
        if lost > limits::LOST_SHARE { Err(Why::LostEvents) } else { Ok(waits) }
    }

    /// Why a rule that needs a special hardware counter cannot decide.
    pub(super) fn no_counter(&self) -> Why {
        match self.metric("cycles") {
            Err(why @ (Why::NotSupported | Why::NotPermitted)) => why,
            // Recordings without the counter say nothing of the machine, but their sampling clock does.
            Err(_) if self.clock_event().is_some_and(|event| event.unit == Unit::Nanos) => Why::NotSupported,
            _ => Why::NotRecorded,
        }
    }

    /// The axis of the samples that stand for CPU time.
    pub(super) fn axis(&self) -> Axis {
        self.selection.axis
    }

    /// Share of the CPU time whose samples were lost, at most. Of lost records nobody knows the kind, and with time off the
    /// CPU most are switches; so what was sampled is held against what was counted as well.
    fn lost(&self) -> f64 {
        let lost = self.summary.lost as f64;
        let of_records = lost / (lost + self.summary.all_samples as f64).max(1.0);
        let is_time = self.clock_event().is_some_and(|event| event.unit == Unit::Nanos);
        match self.metric("cpu_time").and_then(|cpu| Ok(cpu / self.wall()? * self.span()?)) {
            Ok(counted) if is_time && counted > 0.0 => {
                of_records.min((1.0 - self.stacks.weight as f64 * 1e-9 / counted).max(0.0))
            }
            _ => of_records,
        }
    }

    fn clock_event(&self) -> Option<&EventSpec> {
        self.profile.meta.events.get(usize::from(self.clock?))
    }
}

fn enough(seconds: f64) -> Result<f64, Why> {
    if seconds < limits::SHORTEST_WINDOW { Err(Why::TooFewSamples) } else { Ok(seconds) }
}

/// Samples miss part of the CPU time that a finding goes by.
pub(super) fn less_certain(finding: &mut Finding, coverage: &Coverage) {
    let said = format!("Samples cover only {} of the CPU time.", percent(coverage.share));
    doubted(finding, &said, Evidence::plain("CPU time that was sampled", coverage.share, MetricUnit::Share));
}

fn doubted(finding: &mut Finding, said: &str, evidence: Evidence) {
    finding.confidence = match finding.confidence {
        Confidence::High => Confidence::Medium,
        Confidence::Medium | Confidence::Low => Confidence::Low,
    };
    finding.claim.push(' ');
    finding.claim.push_str(said);
    finding.evidence.push(evidence);
}
