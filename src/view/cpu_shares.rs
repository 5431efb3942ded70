//! The CPUs on which samples were taken, and the CPU time that samples stand for.

use super::context::ViewContext;
use super::thread_lines::{CpuLine, ThreadLine};
use crate::analysis::Axis;
use crate::model::{Measure, Scope, Unit};
use rustc_hash::FxHashMap;

/// The CPUs on which samples were taken.
pub(super) struct CpuShares {
    /// Weight and number of the samples on each CPU.
    by_cpu: FxHashMap<u32, (u64, u64)>,
    /// The weight of each thread's samples.
    pub(super) by_thread: FxHashMap<u32, u64>,
    /// The CPU of each thread's last sample.
    pub(super) last: FxHashMap<u32, u32>,
    total: u64,
    /// Whether weights are time, so that they are comparable with a CPU's time.
    pub(super) timed: bool,
}

impl CpuShares {
    pub(super) fn of(context: &ViewContext<'_>) -> CpuShares {
        let (profile, selection) = (context.profile, &context.selection);
        // Waits have no CPU, so the first event shows where threads ran.
        let event = if let Axis::Event(event) = selection.axis { event } else { 0 };
        let unit = profile.meta.events.get(usize::from(event)).map(|event| event.unit);
        let mut shares_of_cpus = CpuShares {
            by_cpu: FxHashMap::default(),
            by_thread: FxHashMap::default(),
            last: FxHashMap::default(),
            total: 0,
            timed: unit == Some(Unit::Nanos),
        };
        let who = selection.who(&context.tasks);
        let all = &profile.samples;
        let on = |cpu: u32| selection.cpus.is_empty() || selection.cpus.contains(&cpu);
        let chosen = |at: &usize| {
            all.event[*at] == event && selection.time.contains(all.at[*at]) && who.has(all.tid[*at]) && on(all.cpu[*at])
        };
        for at in (0..all.len()).filter(chosen) {
            let (weight, samples) = shares_of_cpus.by_cpu.entry(all.cpu[at]).or_default();
            (*weight, *samples) = (weight.saturating_add(all.weight[at]), *samples + 1);
            let weight = shares_of_cpus.by_thread.entry(all.tid[at]).or_default();
            *weight = weight.saturating_add(all.weight[at]);
            shares_of_cpus.last.insert(all.tid[at], all.cpu[at]);
            shares_of_cpus.total = shares_of_cpus.total.saturating_add(all.weight[at]);
        }
        shares_of_cpus
    }

    /// A line for each CPU, most time first. Waits have no CPU, and counters are read for all of them together.
    pub(super) fn lines(&self, context: &ViewContext<'_>) -> Vec<ThreadLine> {
        let span = context.selection.time.to.unwrap_or(context.bounds.now) - context.selection.time.from;
        let seconds = seconds_of_weight(context, self);
        let line = |cpu: CpuLine| {
            let (weight, samples) = self.by_cpu.get(&cpu.cpu).copied().unwrap_or_default();
            let running = seconds.map(|each| weight as f64 * each / span.seconds().max(1e-9));
            let (cpu, node) = (cpu.cpu, Some(cpu.node));
            ThreadLine { running, samples, node, ..ThreadLine::empty(cpu, format!("CPU {cpu}")) }
        };
        let mut lines: Vec<ThreadLine> = self.cpus(context).into_iter().map(line).collect();
        lines.sort_by(|a, b| b.samples.cmp(&a.samples).then(a.tid.cmp(&b.tid)));
        lines
    }

    pub(super) fn cpus(&self, context: &ViewContext<'_>) -> Vec<CpuLine> {
        let time = &context.selection.time;
        let span = time.to.unwrap_or(context.bounds.now) - time.from;
        let whole = if self.timed { span.as_f64() } else { self.total as f64 };
        let places = context.profile.meta.host.cpus.iter();
        places
            .map(|place| CpuLine {
                cpu: place.cpu,
                core: place.core,
                package: place.package,
                node: place.node,
                share: self.by_cpu.get(&place.cpu).map_or(0.0, |(weight, _)| *weight as f64 / whole.max(1.0)),
            })
            .collect()
    }
}

/// The CPU time, in seconds, that a unit of samples' weight stands for. Weights that are no time share the target's CPU
/// time; without that it is not known.
pub(super) fn seconds_of_weight(context: &ViewContext<'_>, shares: &CpuShares) -> Measure<f64> {
    if shares.timed {
        return Measure::exact(1e-9);
    }
    let used = context.counters.delta("task-clock", Scope::Target, context.window);
    used.ratio(Measure::exact(shares.total as f64), |ns, total| (total > 0.0).then(|| ns * 1e-9 / total))
}
