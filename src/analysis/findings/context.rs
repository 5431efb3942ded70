//! The inputs of the rules, computed once per selection.

use super::paths::WaitReason;
use super::stacks::Stacks;
use super::waits::Waits;
use super::{Confidence, Evidence, Finding, limits};
use crate::analysis::counters::Counters;
use crate::analysis::coverage::{Coverage, clock};
use crate::analysis::names::Names;
use crate::analysis::ranking::Ranking;
use crate::analysis::selection::{Axis, Selection, ThreadSet};
use crate::analysis::stack_counts::StackCounts;
use crate::analysis::summary::{Summary, summary};
use crate::analysis::tasks::Tasks;
use crate::analysis::text::{name, percent};
use crate::analysis::threads::{ThreadRow, threads};
use crate::analysis::time::Window;
use crate::analysis::{Metric, metrics, value_of};
use crate::model::profile::Profile;
use crate::model::{EventSpec, LockCode, Measure, MetricId, ReadCode, SampledCode, Scope, Unit, Why};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

/// The inputs of the rules.
#[derive(Debug)]
pub struct RuleContext<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Names of the frames.
    pub names: &'a Names,
    /// All threads of the profile.
    pub tasks: &'a Tasks,
    /// The counter readings.
    pub counters: &'a Counters,
    /// The part to judge. Its axis selects the event that represents CPU time, if possible.
    pub selection: Selection,
    /// Its threads.
    pub who: ThreadSet,
    /// Its time, extended to where counters were read.
    pub window: Window,
    /// The metrics of the window.
    pub metrics: Vec<Metric>,
    /// The functions by CPU time, most own first; empty if no event sampled it.
    pub functions: Ranking,
    /// The threads, most CPU time first.
    pub threads: Vec<ThreadRow>,
    /// The code at sampled addresses; `None` if none was read.
    pub code: Option<&'a SampledCode>,
    summary: Summary,
    /// Whether the current rule used samples.
    used_samples: Cell<bool>,
    /// Whether the current rule used waits.
    used_waits: Cell<bool>,
    clock: Option<u16>,
    stacks: Stacks<'a>,
    waits: Option<Waits<'a>>,
}

/// Mean number of threads in each state at any moment of the selection.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ThreadStates {
    /// Running.
    pub running: f64,
    /// Runnable without a CPU, because others ran there.
    pub queued: f64,
    /// Runnable, and stopped by the CPU quota of their control group.
    pub throttled: f64,
    /// Blocked by a lock that another thread holds.
    pub locked: f64,
    /// Blocked by mmap_lock, the lock of the address space.
    pub mapping: f64,
    /// Blocked by storage.
    pub storage: f64,
}

impl ThreadStates {
    /// Threads that had work to do. Threads that wait for work, sleep or wait for an answer do not count.
    pub fn total(&self) -> f64 {
        self.running + self.runnable() + self.locked + self.mapping + self.storage
    }

    /// Runnable without a CPU, for whatever reason: what the kernel counts as run delay.
    pub fn runnable(&self) -> f64 {
        self.queued + self.throttled
    }

    /// The part of the working time in that with so many further threads.
    pub fn part_beside(&self, further: f64) -> f64 {
        if further > 0.0 { self.total() / (self.total() + further) } else { 1.0 }
    }

    /// The part of the working time that threads ran.
    pub fn cpu_part(&self) -> f64 {
        if self.total() > 0.0 { self.running / self.total() } else { 1.0 }
    }
}

impl<'a> RuleContext<'a> {
    /// Computes what the rules share. `counts` are those of the selection to judge, and `window` is its time, extended
    /// to where counters were read.
    #[must_use]
    pub fn of(
        profile: &'a Profile,
        names: &'a Names,
        tasks: &'a Tasks,
        counters: &'a Counters,
        counts: &'a StackCounts,
        window: Window,
    ) -> RuleContext<'a> {
        let clock = clock(profile, counts.selection.axis);
        let axis = Axis::Event(clock.unwrap_or(u16::MAX));
        let (mut selection, who) = (counts.selection.clone(), counts.who.clone());
        let counts = if selection.axis == axis {
            Cow::Borrowed(counts)
        } else {
            selection.axis = axis;
            Cow::Owned(StackCounts::of(profile, tasks, &selection))
        };
        let summary = summary(profile, counters, &counts, window);
        let recorded = profile.meta.plan.off_cpu || !profile.off_cpu.is_empty();
        let threads = threads(tasks, counters, &counts, window);
        let (stacks, functions) = Stacks::of(profile, names, tasks, axis, counts);
        RuleContext {
            profile,
            names,
            tasks,
            counters,
            metrics: metrics(counters, &who, window, Some(&summary)),
            functions,
            threads,
            code: None,
            summary,
            used_samples: Cell::new(false),
            used_waits: Cell::new(false),
            clock,
            stacks,
            waits: recorded.then(|| Waits::of(profile, names, tasks, &selection, &LockCode::default())),
            selection,
            who,
            window,
        }
    }

    /// Takes the code that was read into account: its instructions, and its locks.
    pub fn read(&mut self, code: &'a ReadCode) {
        self.code = Some(&code.instructions);
        self.stacks.mark_locks(&code.locks);
        if self.waits.is_some() && !code.locks.is_empty() {
            self.waits = Some(Waits::of(self.profile, self.names, self.tasks, &self.selection, &code.locks));
        }
    }

    /// The functions on this axis, if it is that of CPU time.
    #[must_use]
    pub fn functions_by(&self, axis: Axis) -> Option<&Ranking> {
        (self.selection.axis == axis).then_some(&self.functions)
    }

    /// The value of a metric, or why it is missing.
    pub(super) fn metric(&self, id: MetricId) -> Result<f64, Why> {
        match value_of(&self.metrics, id) {
            Measure::Known { value, .. } => Ok(value),
            Measure::Missing(why) => Err(why),
        }
    }

    /// The counter's growth for the selected threads.
    pub(super) fn count(&self, name: &str) -> Result<f64, Why> {
        let counted = match &self.who {
            ThreadSet::All => self.counters.delta(name, Scope::Target, self.window),
            ThreadSet::Only(tids) => self.counters.sum(name, tids.iter().copied(), self.window),
        };
        counted.value().copied().ok_or(counted.why().unwrap_or(Why::NotRecorded))
    }

    /// Elapsed seconds of the counters' window, if it is long enough for a rate.
    pub(super) fn wall(&self) -> Result<f64, Why> {
        long_enough(self.window.span().seconds())
    }

    /// Elapsed seconds of the selection itself, which bounds samples and waits.
    pub(super) fn span(&self) -> Result<f64, Why> {
        let end = self.selection.time.to.unwrap_or(self.window.to).min(self.window.to);
        long_enough((end - self.selection.time.from).seconds())
    }

    /// CPU time in seconds: as counted, or else as sampled.
    pub(super) fn cpu_time(&self) -> Result<f64, Why> {
        self.metric(MetricId::CpuTime).or_else(|why| match self.clock_event() {
            Some(event) if event.unit == Unit::Nanos => Ok(self.functions.weight as f64 * 1e-9),
            _ => Err(why),
        })
    }

    /// The threads' states; a state that was not recorded counts as zero.
    pub(super) fn work(&self) -> Result<ThreadStates, Why> {
        let (wall, span) = (self.wall()?, self.span()?);
        let running = self.cpu_time()? / wall;
        let counted = |name| self.count(name).map_or(0.0, |ns| ns * 1e-9 / wall);
        let delay = counted("run-delay");
        let throttled = self.throttled(counted("cgroup-throttled-time"), running + delay).min(delay);
        let queued = delay - throttled;
        let (locked, mapping, storage) = match &self.waits {
            Some(waits) => {
                let threads = |reason| waits.blocked(reason, delay * span).0 / span;
                (threads(WaitReason::Lock), threads(WaitReason::MmapLock), threads(WaitReason::Storage))
            }
            None => (0.0, 0.0, counted("blkio-delay")),
        };
        Ok(ThreadStates { running, queued, throttled, locked, mapping, storage })
    }

    /// Mean number of threads that wait for sockets and pipes, each time shortly; 0 if waits were not recorded.
    pub(super) fn replies(&self) -> f64 {
        let short = self.waits.as_ref().map(|waits| waits.sum(&[WaitReason::Peer]).short_seconds);
        short.and_then(|seconds| Some(seconds / self.span().ok()?)).unwrap_or(0.0)
    }

    /// Whether this thread waits for its turn at what one thread has at a time, as the others of its process do.
    pub(super) fn takes_turns(&self, tid: u32) -> bool {
        let pid = self.threads.iter().find(|row| row.task.tid == tid).map(|row| row.task.pid);
        let others = self.threads.iter().filter(|row| row.task.tid != tid && Some(row.task.pid) == pid);
        let run: f64 = others.filter_map(|row| row.cpu_time.value()).sum();
        self.waits.as_ref().is_some_and(|waits| waits.takes_turns(tid, run))
    }

    /// Threads stopped by a quota, of this many that had work. The kernel counts the time of each CPU on which the group
    /// stands still once, however many threads stand there.
    fn throttled(&self, cpus_stopped: f64, threads: f64) -> f64 {
        let cpus = self.profile.meta.host.cpus.len();
        cpus_stopped * if cpus == 0 { 1.0 } else { (threads / cpus as f64).max(1.0) }
    }

    /// The verdict on waits whose `share` of `total` threads is below `limit`. They are not clear if they would exceed it
    /// with the run-queue time that could not be split off from them.
    pub(super) fn below_limit(
        &self,
        reason: WaitReason,
        share: f64,
        total: f64,
        limit: f64,
    ) -> Result<Option<Finding>, Why> {
        let (Some(waits), work) = (&self.waits, self.work()?) else { return Ok(None) };
        let span = self.span()?;
        let queued = waits.blocked(reason, work.runnable() * span).1 / span;
        let at_most = (share * total + queued) / (total + queued);
        if at_most >= limit { Err(Why::QueueUnknown) } else { Ok(None) }
    }

    /// Like `work`, but fails with `Idle` if the threads had too little to do.
    pub(super) fn require_work(&self) -> Result<ThreadStates, Why> {
        self.work().and_then(|work| if work.total() < limits::IDLE_THREADS { Err(Why::Idle) } else { Ok(work) })
    }

    /// Fails with `Idle` if the threads ran too little for their CPU time to matter.
    pub(super) fn require_cpu_time(&self) -> Result<(), Why> {
        if self.work()?.running < limits::IDLE_THREADS { Err(Why::Idle) } else { Ok(()) }
    }

    /// The sampled CPU time, if there are enough samples to judge shares.
    pub(super) fn samples(&self) -> Result<&Stacks<'a>, Why> {
        self.used_samples.set(true);
        if self.clock.is_none() {
            return Err(Why::NotRecorded);
        }
        match self.stacks.counts.samples {
            _ if self.lost() > limits::LOST_SHARE => Err(Why::LostEvents),
            few if few < limits::FEWEST_SAMPLES => Err(Why::TooFewSamples),
            _ => Ok(&self.stacks),
        }
    }

    /// Applies a rule. A finding from samples becomes less certain if they miss part of the CPU time, and one from
    /// waits if too many of their causes are in doubt.
    pub(super) fn evaluate_rule(
        &self,
        evaluate: impl FnOnce(&RuleContext<'a>) -> Result<Option<Finding>, Why>,
    ) -> Result<Option<Finding>, Why> {
        self.used_samples.set(false);
        self.used_waits.set(false);
        let mut found = evaluate(self)?;
        let coverage =
            self.summary.coverage.value().filter(|coverage| coverage.is_too_low() && self.used_samples.get());
        if let (Some(finding), Some(coverage)) = (&mut found, coverage) {
            lower_for_coverage(finding, coverage);
        }
        let doubtful =
            self.waits.as_ref().filter(|_| self.used_waits.get()).and_then(|waits| waits.coverage.doubtful());
        if let (Some(finding), Some(share)) = (&mut found, doubtful) {
            let reason = format!("The causes of {} of the blocked time are unknown or estimated.", percent(share));
            lower_confidence(finding, &reason, Evidence::plain("blocked, cause in doubt", share, Unit::Share));
        }
        Ok(found)
    }

    /// Share of the CPU time that counting hardware events added to context switches; 0 if unknown.
    pub(super) fn switching(&self) -> f64 {
        self.summary.switching.value().copied().unwrap_or(0.0)
    }

    /// Like `samples`, but fails if the kernel's functions are not visible by name.
    pub(super) fn kernel_samples(&self) -> Result<&Stacks<'a>, Why> {
        let stacks = self.samples()?;
        let hidden = self.clock_event().is_some_and(|event| event.exclude_kernel) || stacks.kernel_is_nameless();
        if hidden { Err(Why::NotPermitted) } else { Ok(stacks) }
    }

    /// The off-CPU time, if it was recorded without too many losses.
    pub(super) fn waits(&self) -> Result<&Waits<'a>, Why> {
        self.used_waits.set(true);
        let waits = self.waits.as_ref().ok_or(Why::NotRecorded)?;
        let lost = self.summary.off_cpu_lost as f64 / (self.summary.off_cpu_lost + waits.spans).max(1) as f64;
        if lost > limits::LOST_SHARE { Err(Why::LostEvents) } else { Ok(waits) }
    }

    /// The processes that read what the target writes to pipes, by name and id; `None` if none was seen, or too many. Only where
    /// a pipe is full do they matter.
    pub(super) fn pipe_readers(&self) -> Option<String> {
        const MOST: usize = 3;
        let all = self.profile.meta.target.conditions.iter().flat_map(|conditions| &conditions.pipe_readers);
        let names: BTreeSet<String> = all.map(|it| format!("{} (pid {})", name(&it.name), it.pid)).collect();
        (1..=MOST).contains(&names.len()).then(|| names.into_iter().collect::<Vec<_>>().join(" or "))
    }

    /// Why a rule that needs a special hardware counter cannot decide.
    pub(super) fn no_counter(&self) -> Why {
        match self.metric(MetricId::Cycles) {
            Err(why @ (Why::NotSupported | Why::NotPermitted)) => why,
            // A recording without the counter does not show what the machine supports, but its sampling clock does.
            Err(_) if self.clock_event().is_some_and(|event| event.unit == Unit::Nanos) => Why::NotSupported,
            _ => Why::NotRecorded,
        }
    }

    /// The axis of the samples that represent CPU time.
    pub(super) fn axis(&self) -> Axis {
        self.selection.axis
    }

    /// Upper bound on the share of CPU time whose samples were lost. The kind of a lost record is unknown, and with
    /// off-CPU recording most are switches, so sampled time is also compared with counted time.
    fn lost(&self) -> f64 {
        let lost = self.summary.lost as f64;
        let of_records = lost / (lost + self.summary.all_samples as f64).max(1.0);
        let is_time = self.clock_event().is_some_and(|event| event.unit == Unit::Nanos);
        match self.metric(MetricId::CpuTime).and_then(|cpu| Ok(cpu / self.wall()? * self.span()?)) {
            Ok(counted) if is_time && counted > 0.0 => {
                of_records.min((1.0 - self.stacks.counts.weight as f64 * 1e-9 / counted).max(0.0))
            }
            _ => of_records,
        }
    }

    fn clock_event(&self) -> Option<&EventSpec> {
        self.profile.meta.events.get(usize::from(self.clock?))
    }
}

fn long_enough(seconds: f64) -> Result<f64, Why> {
    if seconds < limits::SHORTEST_WINDOW { Err(Why::TooFewSamples) } else { Ok(seconds) }
}

/// Lowers a finding's confidence because samples miss part of the CPU time it is based on.
pub(super) fn lower_for_coverage(finding: &mut Finding, coverage: &Coverage) {
    let reason = format!("Samples cover only {} of the CPU time.", percent(coverage.share));
    lower_confidence(finding, &reason, Evidence::plain("CPU time that was sampled", coverage.share, Unit::Share));
}

fn lower_confidence(finding: &mut Finding, reason: &str, evidence: Evidence) {
    finding.confidence = match finding.confidence {
        Confidence::High => Confidence::Medium,
        Confidence::Medium | Confidence::Low => Confidence::Low,
    };
    finding.claim.push(' ');
    finding.claim.push_str(reason);
    finding.evidence.push(evidence);
}
