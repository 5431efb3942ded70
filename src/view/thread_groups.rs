//! Lines of the threads view that stand for the threads of a process or of a control group, and what samples and waits
//! tell of threads that are not read one by one, as on a whole machine.

use super::cgroup_tree::CgroupTree;
use super::context::ViewContext;
use super::cpu_shares::{CpuShares, seconds_of_weight};
use super::query::LineKey;
use super::thread_lines::{ThreadLine, WaitLine};
use crate::analysis::{Cgroups, Selection};
use crate::model::{Measure, OffCpu, Scope, Target, TaskState, Why};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// What samples and waits tell of each thread; nothing if the target's threads are read.
pub(super) struct SampledTimes<'a> {
    shares: &'a CpuShares,
    /// `None` if threads are read.
    seconds: Option<Measure<f64>>,
    /// Seconds that each thread waited for a CPU; `None` if waits were not recorded.
    queued: Option<FxHashMap<u32, f64>>,
}

impl<'a> SampledTimes<'a> {
    pub(super) fn of(context: &ViewContext<'_>, shares: &'a CpuShares) -> SampledTimes<'a> {
        let profile = context.profile;
        if !matches!(profile.meta.plan.target, Target::Cpus { .. }) {
            return SampledTimes { shares, seconds: None, queued: None };
        }
        let recorded = profile.meta.plan.off_cpu || !profile.off_cpu.is_empty();
        let queued = recorded.then(|| {
            let mut queued: FxHashMap<u32, f64> = FxHashMap::default();
            for span in profile.off_cpu.iter() {
                *queued.entry(span.tid).or_default() += queue_time(&span, &context.selection).seconds();
            }
            queued
        });
        SampledTimes { shares, seconds: Some(seconds_of_weight(context, shares)), queued }
    }

    /// Fills in what was not read of a thread that lived that long.
    pub(super) fn complete(&self, mut line: ThreadLine, lifetime: Nanos) -> ThreadLine {
        let Some(seconds) = self.seconds.filter(|_| line.running.value().is_none() && lifetime.0 > 0) else {
            return line;
        };
        let life = lifetime.seconds();
        let weight = self.shares.by_thread.get(&line.tid).copied().unwrap_or_default();
        line.running = seconds.map(|each| (weight as f64 * each / life).min(1.0));
        if let Some(queued) = &self.queued {
            line.queued = Measure::exact((queued.get(&line.tid).copied().unwrap_or_default() / life).min(1.0));
            line.blocked = line.running.ratio(line.queued, |run, queue| Some((1.0 - run - queue).max(0.0)));
        }
        line
    }
}

/// The time of a span, within the selection, in which its thread was runnable.
fn queue_time(span: &OffCpu, selection: &Selection) -> Nanos {
    let woken = Nanos(span.at.0.saturating_add(span.blocked.0));
    let queued = selection.time.overlap(woken, span.queued.unwrap_or_default());
    let preempted = if span.state == TaskState::Runnable { span.blocked } else { Nanos(0) };
    queued + selection.time.overlap(span.at, preempted)
}

/// Puts threads together.
pub(super) struct Groups<'a, 'b> {
    pub(super) context: &'a ViewContext<'b>,
    pub(super) cgroups: Cgroups<'a>,
    pub(super) tree: CgroupTree,
    pub(super) by: LineKey,
}

/// The number of a control group that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Groups<'_, '_> {
    /// The number of the line that a thread belongs to. One that moved counts for the group it is in at the end.
    fn number(&self, line: &ThreadLine) -> u32 {
        match self.by {
            LineKey::Thread | LineKey::Cpu => line.tid,
            LineKey::Process => line.pid,
            LineKey::Cgroup => self.cgroups.at(line.pid, line.tid, self.context.window.to).unwrap_or(UNKNOWN),
        }
    }

    /// The numbers of the lines that count a thread: its own, and those of the control groups around it.
    fn numbers(&self, line: &ThreadLine) -> Vec<u32> {
        let number = self.number(line);
        if self.by == LineKey::Cgroup { self.tree.with_outer(number).collect() } else { vec![number] }
    }

    fn name(&self, line: &ThreadLine, number: u32) -> String {
        match self.by {
            LineKey::Cgroup => self.tree.path(number).unwrap_or("[unknown]").to_string(),
            _ => line.process.clone(),
        }
    }

    /// What a line with this number covers; `None` for CPUs, which waits do not have.
    pub(super) fn selection(&self, number: u32) -> Option<Selection> {
        let all = Selection { tids: vec![], comms: vec![], pids: vec![], ..self.context.selection.clone() };
        Some(match self.by {
            LineKey::Thread => Selection { tids: vec![number], ..all },
            LineKey::Process => Selection { pids: vec![number], ..all },
            LineKey::Cgroup => Selection { cgroups: group_and_inside(self.tree.path(number)?), ..all },
            LineKey::Cpu => return None,
        })
    }

    /// The lines of all threads, each with its lifetime, put together; most CPU time first.
    pub(super) fn lines(&self, threads: Vec<(Nanos, ThreadLine)>) -> Vec<ThreadLine> {
        if self.by == LineKey::Thread {
            return threads.into_iter().map(|(_, line)| line).collect();
        }
        let mut sums: FxHashMap<u32, Sum> = FxHashMap::default();
        let span = self.context.window.span().seconds().max(1e-9);
        for (lifetime, line) in &threads {
            for number in self.numbers(line) {
                let sum = sums.entry(number).or_insert_with(|| Sum::new(number, self.name(line, number)));
                sum.line.parent = self.tree.parent(number).filter(|_| self.by == LineKey::Cgroup);
                sum.add(line, lifetime.seconds() / span, self.context);
            }
        }
        let mut lines: Vec<ThreadLine> = sums.into_values().map(Sum::line).collect();
        let run = |line: &ThreadLine| line.running.value().copied().unwrap_or(-1.0);
        lines.sort_by(|a, b| run(b).total_cmp(&run(a)).then(b.samples.cmp(&a.samples)).then(a.tid.cmp(&b.tid)));
        lines
    }
}

/// Patterns for a control group and all within it.
pub(crate) fn group_and_inside(path: &str) -> Vec<String> {
    vec![path.to_string(), format!("{}/*", path.trim_end_matches('/'))]
}

/// Threads added up.
struct Sum {
    line: ThreadLine,
    instructions: Measure<f64>,
    cycles: Measure<f64>,
}

impl Sum {
    fn new(number: u32, name: String) -> Sum {
        let missing = Measure::Missing(Why::NotRecorded);
        let line = ThreadLine { alive: false, ..ThreadLine::empty(number, name) };
        Sum { line, instructions: missing, cycles: missing }
    }

    /// Adds a thread that lived for that share of the window.
    fn add(&mut self, thread: &ThreadLine, life: f64, context: &ViewContext<'_>) {
        let sum = &mut self.line;
        let of_life = |measure: Measure<f64>| measure.map(|value| value * life);
        plus(&mut sum.running, of_life(thread.running));
        plus(&mut sum.queued, of_life(thread.queued));
        plus(&mut sum.blocked, of_life(thread.blocked));
        plus(&mut sum.voluntary, of_life(thread.voluntary));
        plus(&mut sum.involuntary, of_life(thread.involuntary));
        plus(&mut sum.migrations, of_life(thread.migrations));
        let delta = |counter| context.counters.delta(counter, Scope::Thread(thread.tid), context.window);
        plus(&mut self.instructions, delta("instructions"));
        plus(&mut self.cycles, delta("cycles"));
        for wait in &thread.waits {
            let share = wait.share * life;
            match sum.waits.iter_mut().find(|other| other.cause == wait.cause) {
                Some(other) => other.share += share,
                None => sum.waits.push(WaitLine { share, ..*wait }),
            }
        }
        sum.history.resize(sum.history.len().max(thread.history.len()), None);
        for (sum, point) in sum.history.iter_mut().zip(&thread.history) {
            *sum = point.map(|point| point + sum.unwrap_or(0.0)).or(*sum);
        }
        sum.threads += 1;
        sum.samples += thread.samples;
        sum.alive |= thread.alive;
    }

    fn line(self) -> ThreadLine {
        let Sum { mut line, instructions, cycles } = self;
        line.ipc = instructions.ratio(cycles, |work, cycles| (cycles > 0.0).then(|| work / cycles));
        line.waits.sort_by(|a, b| b.share.total_cmp(&a.share));
        line
    }
}

/// Adds what is known. The reason of the last that is not stays until one is.
fn plus(sum: &mut Measure<f64>, more: Measure<f64>) {
    *sum = match (*sum, more) {
        (Measure::Missing(_), more) => more,
        (known, Measure::Missing(_)) => known,
        (known, more) => known.ratio(more, |a, b| Some(a + b)),
    };
}
