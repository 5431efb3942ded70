//! The amount of evidence in a selection: samples, losses and how complete the stacks are.

use super::counters::Counters;
use super::coverage::{Coverage, coverage};
use super::interpreted::{Interpreted, interpreted};
use super::selection::{Selection, ThreadSet};
use super::stack_counts::StackCounts;
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{LossKind, Measure, ModuleKind, StackEnd, Why};
use crate::units::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// One event's samples in a selection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventTotal {
    /// The event, as the recording names it.
    pub event: String,
    /// Samples.
    pub samples: u64,
    /// Their weight, in the event's unit.
    pub weight: u64,
}

/// The losses of one kind of record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KindLoss {
    /// The kind.
    pub kind: LossKind,
    /// Number of records lost.
    pub lost: u64,
    /// Share of all records of this kind, 0 to 1; `None` where unknown.
    pub share: Option<f64>,
}

/// The evidence behind a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Observations on the selection's axis.
    pub count: u64,
    /// Waits that they are the sum of; `None` of samples.
    pub waits: Option<u64>,
    /// Of these, stacks that reached the program's or thread's start.
    pub whole: u64,
    /// Stacks whose copied bytes ended too early.
    pub truncated: u64,
    /// Stacks that could not be unwound further.
    pub broken: u64,
    /// The path and kind of the module that most of those end in.
    pub broken_in: Option<(String, ModuleKind)>,
    /// What a runtime interprets without names.
    pub interpreted: Option<Interpreted>,
    /// Samples without a stack because none was asked for.
    pub not_taken: u64,
    /// Samples of every event in the selected time, all threads: the whole that losses are compared with.
    pub all_samples: u64,
    /// Samples lost because a buffer was full, all threads; in older recordings, records of any kind.
    pub lost: u64,
    /// The same losses by kind of record, for kinds with any records or losses.
    pub losses: Vec<KindLoss>,
    /// Times the kernel paused sampling.
    pub throttled: u64,
    /// Spans off the CPU that could not be closed.
    pub off_cpu_lost: u64,
    /// The selected threads' samples by event.
    pub events: Vec<EventTotal>,
    /// How much of the selected threads' CPU time was sampled, in the window of the counters.
    pub coverage: Measure<Coverage>,
    /// Share of their CPU time that taking samples cost, 0 to 1, estimated from the cost of a sample measured before the
    /// recording.
    pub sampling: Measure<f64>,
    /// Share of their CPU time that counting hardware events added to context switches, 0 to 1, estimated from the cost
    /// of a switch measured before the recording.
    pub switching: Measure<f64>,
}

impl Summary {
    /// A part of the stacks taken, 0 to 1; `None` when no stacks were taken.
    #[must_use]
    pub fn stack_share(&self, part: u64) -> Option<f64> {
        let taken = self.whole + self.truncated + self.broken;
        (taken > 0).then(|| part as f64 / taken as f64)
    }
}

/// Sums up the counted selection. `window` is its time, extended to where counters were read.
#[must_use]
pub fn summary(profile: &Profile, counters: &Counters, counts: &StackCounts, window: Window) -> Summary {
    let StackCounts { selection, who, .. } = counts;
    let mut summary = Summary {
        count: counts.samples,
        waits: counts.waits,
        whole: 0,
        truncated: 0,
        broken: 0,
        broken_in: broken_in(profile, counts),
        interpreted: interpreted(profile, counts),
        not_taken: 0,
        all_samples: 0,
        lost: 0,
        losses: vec![],
        throttled: 0,
        off_cpu_lost: 0,
        events: vec![],
        coverage: coverage(profile, counters, who, selection.axis, window),
        sampling: sampling(profile, counters, who, window),
        switching: switching(profile, counters, who, window),
    };
    for row in &counts.rows {
        match row.end {
            StackEnd::Whole => summary.whole += row.samples,
            StackEnd::Truncated => summary.truncated += row.samples,
            StackEnd::Broken => summary.broken += row.samples,
            StackEnd::NotTaken => summary.not_taken += row.samples,
        }
    }
    let names = profile.meta.events.iter();
    summary.events = names.map(|event| EventTotal { event: event.name.clone(), samples: 0, weight: 0 }).collect();
    let all = &profile.samples;
    for at in (0..all.len()).filter(|at| selection.time.contains(all.at[*at])) {
        summary.all_samples += 1;
        if let Some(total) = summary.events.get_mut(usize::from(all.event[at])).filter(|_| who.has(all.tid[at])) {
            total.samples += 1;
            total.weight = total.weight.saturating_add(all.weight[at]);
        }
    }
    for (total, event) in summary.events.iter_mut().zip(&profile.meta.events) {
        total.samples = event.unit.samples(total.samples, total.weight);
    }
    for lost in profile.lost.iter().filter(|lost| selection.time.contains(lost.at)) {
        let count = match lost.kind {
            LossKind::Ring | LossKind::Samples => &mut summary.lost,
            LossKind::Switches | LossKind::Wakeups | LossKind::Tasks => continue,
            LossKind::Throttled => &mut summary.throttled,
            LossKind::OffCpu => &mut summary.off_cpu_lost,
        };
        *count = count.saturating_add(lost.count);
    }
    summary.losses = losses(profile, selection);
    summary
}

fn broken_in(profile: &Profile, counts: &StackCounts) -> Option<(String, ModuleKind)> {
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    let broken = || counts.rows.iter().filter(|row| row.end == StackEnd::Broken);
    for row in broken() {
        let outermost = profile.walk(row.stack).last().and_then(|frame| profile.frames.get(frame.0 as usize)?.module);
        if let Some(module) = outermost {
            *ends.entry(module.0).or_default() += row.samples;
        }
    }
    let (module, samples) = ends.into_iter().max_by_key(|(_, samples)| *samples)?;
    let module = profile.modules.get(module as usize)?;
    (2 * samples > broken().map(|row| row.samples).sum()).then(|| (module.path.clone(), module.kind))
}

fn sampling(profile: &Profile, counters: &Counters, who: &ThreadSet, window: Window) -> Measure<f64> {
    let Some(cost) = profile.meta.sample_cost_ns else { return Measure::Missing(Why::NotRecorded) };
    let range = window.range();
    let all = &profile.samples;
    let samples = (0..all.len()).filter(|at| range.contains(all.at[*at]) && who.has(all.tid[*at])).count();
    let switches = profile.meta.sampling_switch_cost_ns.and_then(|cost| {
        let switches = switches(counters, who, window).value().copied()?;
        Some(switches * cost as f64)
    });
    let spent = samples as f64 * cost as f64 + switches.unwrap_or(0.0);
    counters
        .of_tasks("task-clock", who, window)
        .ratio(Measure::exact(spent), |cpu_ns, spent| (cpu_ns > 0.0).then(|| (spent / cpu_ns).min(1.0)))
}

fn switches(counters: &Counters, who: &ThreadSet, window: Window) -> Measure<f64> {
    let count = |name| counters.of_tasks(name, who, window);
    count("voluntary-switches").ratio(count("involuntary-switches"), |some, others| Some(some + others))
}

fn switching(profile: &Profile, counters: &Counters, who: &ThreadSet, window: Window) -> Measure<f64> {
    let Some(cost) = profile.meta.hardware.switch_cost_ns else { return Measure::Missing(Why::NotRecorded) };
    // Only while they are counted do switches cost more.
    let counted = counters.counted(window);
    switches(counters, who, counted).ratio(counters.of_tasks("task-clock", who, window), |switches, cpu_ns| {
        (cpu_ns > 0.0).then(|| (switches * cost as f64 / cpu_ns).min(1.0))
    })
}

/// The losses in the selected time, by kind. Only the number of samples in that time is known; records are assumed to
/// be evenly spread over the recording.
fn losses(profile: &Profile, selection: &Selection) -> Vec<KindLoss> {
    let kinds = [LossKind::Samples, LossKind::Switches, LossKind::Wakeups, LossKind::Tasks, LossKind::Ring];
    let whole = profile.duration();
    let part = selection.time.overlap(Nanos(0), whole).as_f64() / whole.as_f64().max(1.0);
    let of_kind = |kind: LossKind| {
        let lost = profile.lost.iter().filter(|lost| lost.kind == kind && selection.time.contains(lost.at));
        let lost = lost.fold(0_u64, |sum, lost| sum.saturating_add(lost.count));
        let recorded = profile.meta.records.iter().find(|count| count.kind == kind);
        let made = recorded.map(|count| count.read as f64 * part + lost as f64).filter(|made| *made > 0.0);
        let share = made.map(|made| (lost as f64 / made).min(1.0));
        (lost > 0 || recorded.is_some()).then_some(KindLoss { kind, lost, share })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Tasks;
    use crate::analysis::testing::Synthetic;
    use crate::model::Scope;

    #[test]
    fn samples_cost_the_threads_they_are_of_what_one_was_measured_to() {
        let all = ThreadSet::All;
        let one = ThreadSet::Only([42].into_iter().collect());
        for (cost, who, expected) in [
            (None, &all, Measure::Missing(Why::NotRecorded)),
            (Some(20_000), &all, Measure::exact(0.0022)),
            (Some(20_000), &one, Measure::exact(0.001)),
            (Some(u64::MAX), &one, Measure::exact(1.0)),
        ] {
            let mut synthetic = Synthetic::new();
            synthetic.samples(0, 41, "a!b", 60).samples(100, 42, "a!b", 50).samples(3000, 41, "a!b", 9);
            synthetic.reading("task-clock", Scope::Target, 2000, 1_000_000_000);
            synthetic.reading("task-clock", Scope::Thread(42), 2000, 1_000_000_000);
            synthetic.meta.sample_cost_ns = cost;
            let profile = synthetic.finish();
            let window = Window { from: Nanos(0), to: Nanos(2_000_000_000) };
            let counters = Counters::of(&profile);
            assert_eq!(sampling(&profile, &counters, who, window), expected, "{cost:?} {who:?}");
        }
        let profile = Synthetic::new().finish();
        let window = Window { from: Nanos(0), to: Nanos(2_000_000_000) };
        assert_eq!(sampling(&profile, &Counters::of(&profile), &all, window), Measure::Missing(Why::NotRecorded));
    }

    #[test]
    fn sampling_costs_the_switches_to_threads_with_events_as_well() {
        for (switch_cost, expected) in [(None, 0.001), (Some(1_000), 0.011)] {
            let mut synthetic = Synthetic::new();
            synthetic.samples(0, 41, "a!b", 50);
            for (counter, value) in
                [("task-clock", 1_000_000_000), ("voluntary-switches", 9_000), ("involuntary-switches", 1_000)]
            {
                synthetic.reading(counter, Scope::Target, 2000, value);
            }
            synthetic.meta.sample_cost_ns = Some(20_000);
            synthetic.meta.sampling_switch_cost_ns = switch_cost;
            let profile = synthetic.finish();
            let window = Window { from: Nanos(0), to: Nanos(2_000_000_000) };
            let found = sampling(&profile, &Counters::of(&profile), &ThreadSet::All, window);
            assert_eq!(found, Measure::exact(expected), "{switch_cost:?}");
        }
    }

    #[test]
    fn shares_of_stacks_leave_out_samples_that_never_had_one() {
        let mut synthetic = Synthetic::new();
        synthetic.ended(0, 41, "a!b", 6, StackEnd::Whole).ended(0, 41, "a!b", 2, StackEnd::Truncated);
        synthetic.ended(0, 42, "a!b", 5, StackEnd::NotTaken);
        synthetic.lost(1, LossKind::Ring, 3).lost(2, LossKind::Throttled, 1);
        let profile = synthetic.finish();
        let (tasks, counters) = (Tasks::of(&profile), Counters::of(&profile));
        let window = Window { from: Nanos(0), to: profile.duration() };
        let of =
            |selection: &Selection| summary(&profile, &counters, &StackCounts::of(&profile, &tasks, selection), window);
        let all = of(&Selection::default());
        assert_eq!((all.count, all.stack_share(all.truncated)), (13, Some(0.25)));
        assert_eq!((all.lost, all.throttled, all.off_cpu_lost), (3, 1, 0));
        let one = Selection { tids: vec![42], ..Selection::default() };
        let one = of(&one);
        assert_eq!((one.count, one.all_samples, one.stack_share(one.whole)), (5, 13, None));
    }

    #[test]
    fn a_stack_that_a_walk_left_where_threads_start_is_whole() {
        let mut synthetic = Synthetic::new();
        synthetic.ended(0, 41, "app!runtime.goexit.abi0;app!main.main", 6, StackEnd::Broken);
        synthetic.ended(0, 41, "app!main.main;app!runtime.goexit.abi0", 2, StackEnd::Broken);
        synthetic.ended(0, 41, "app!runtime.goexit.abi0;app!main.main", 1, StackEnd::Truncated);
        let profile = synthetic.finish();
        let counts = StackCounts::of(&profile, &Tasks::of(&profile), &Selection::default());
        let window = Window { from: Nanos(0), to: profile.duration() };
        let summary = summary(&profile, &Counters::of(&profile), &counts, window);
        assert_eq!((summary.whole, summary.broken, summary.truncated), (6, 2, 1));
    }
}
