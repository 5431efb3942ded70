//! Reads one window of a profile for an assessment: its quantities, and what each neighbour used in it. Reads only the
//! part of a long profile that the window needs.

use super::types::{NeighbourActivity, WindowObservation};
use crate::analysis::diff::readings;
use crate::analysis::operations::counted_within;
use crate::analysis::{Counters, Window, operations};
use crate::model::profile::Profile;
use crate::model::{Measure, NeighbourId, NeighbourUse, Why};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Samples may arrive this much later than others that were taken after them.
const LATE: Nanos = Nanos(1_000_000_000);

/// Reads the window, which must begin and end at ticks.
#[must_use]
pub fn observe(profile: &Profile, window: Window) -> WindowObservation {
    observe_with(profile, &Counters::about(profile, window), &PreviousUse::of(profile), window)
}

/// For each use of a neighbour, by position: the previous use of the same neighbour.
pub(super) struct PreviousUse(Vec<Option<u32>>);

impl PreviousUse {
    pub fn of(profile: &Profile) -> PreviousUse {
        let mut last: FxHashMap<NeighbourId, u32> = FxHashMap::default();
        let uses = profile.neighbour_uses.iter().zip(0..);
        PreviousUse(uses.map(|(used, at)| last.insert(used.neighbour, at)).collect())
    }
}

/// Like [`observe`], with the profile's counters already computed.
pub(super) fn observe_with(
    profile: &Profile,
    counters: &Counters,
    previous: &PreviousUse,
    window: Window,
) -> WindowObservation {
    let ops = if counted_within(profile, window) {
        operations(profile, window)
    } else {
        // Without an operation source, its own reason is more specific.
        Measure::Missing(operations(profile, window).why().unwrap_or(Why::TooFewSamples))
    };
    // The quantities cover the whole target, not selected threads.
    let readings = readings(counters, window, ops, None);
    WindowObservation {
        window,
        readings,
        neighbours: neighbours(profile, previous, window),
        cpus: cpus(profile, window),
    }
}

/// Uses are sorted by the time they were read.
fn neighbours(profile: &Profile, previous: &PreviousUse, window: Window) -> Vec<NeighbourActivity> {
    let uses = &profile.neighbour_uses;
    let end = uses.partition_point(|used| used.at <= window.to);
    let from = uses.partition_point(|used| used.at <= window.from);
    let before = |at: usize| previous.0.get(at).copied().flatten().map(|at| at as usize);
    // The last use within the window is its end, and the last one before the window is its start.
    let mut seen: FxHashSet<NeighbourId> = FxHashSet::default();
    let mut found = Vec::new();
    for (at, last) in uses.iter().enumerate().take(end).skip(from).rev() {
        if seen.insert(last.neighbour) {
            let base = std::iter::successors(before(at), |at| before(*at)).find(|at| *at < from);
            found.push(used(last, base.and_then(|at| uses.get(at)), window.span()));
        }
    }
    found
}

fn used(end: &NeighbourUse, base: Option<&NeighbourUse>, span: Nanos) -> NeighbourActivity {
    let (wall, seconds) = (span.as_f64().max(1.0), span.seconds().max(1e-9));
    // A neighbour without an earlier reading had used nothing since the capture began.
    let grown = |of: fn(&NeighbourUse) -> Option<u64>| {
        let before = base.map_or(Some(0), of);
        of(end).zip(before).map(|(end, before)| end.saturating_sub(before) as f64 / seconds)
    };
    NeighbourActivity {
        neighbour: end.neighbour,
        cores: (end.cpu - base.map_or(Nanos(0), |base| base.cpu)).as_f64() / wall,
        on_cpu: end.on_cpu,
        io_rate: grown(|used| used.io_bytes),
        llc_bytes: end.llc_bytes,
        memory_rate: grown(|used| used.memory_bytes),
    }
}

fn cpus(profile: &Profile, window: Window) -> Vec<u32> {
    let samples = &profile.samples;
    let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
    let end = samples.at.partition_point(|at| *at <= window.to + LATE);
    let late = samples.at.iter().zip(&samples.cpu).take(end).rev().take_while(|(at, _)| **at + LATE >= window.from);
    for (_, cpu) in late.filter(|(at, _)| **at > window.from && **at <= window.to) {
        *counts.entry(*cpu).or_default() += 1;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_unstable_by_key(|(cpu, count)| (Reverse(*count), *cpu));
    all.into_iter().map(|(cpu, _)| cpu).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{MetricId, Scope};
    use crate::units::Ops;

    fn window(from: u64, to: u64) -> Window {
        Window { from: ms(from), to: ms(to) }
    }

    fn use_of(neighbour: u32, at: u64, cpu: u64, io: Option<u64>) -> NeighbourUse {
        NeighbourUse {
            neighbour: NeighbourId(neighbour),
            at: ms(at),
            cpu: ms(cpu),
            on_cpu: Some(1),
            io_bytes: io,
            llc_bytes: None,
            memory_bytes: None,
        }
    }

    #[test]
    fn a_neighbours_use_is_its_growth_and_one_that_did_not_change_is_left_out() {
        let mut profile = Synthetic::new().finish();
        profile.neighbour_uses = vec![
            use_of(1, 1000, 100, Some(10)),
            use_of(2, 1000, 700, None),
            use_of(1, 2000, 600, Some(4010)),
            use_of(3, 2000, 250, None),
            use_of(1, 3000, 900, None),
        ];
        let found = observe(&profile, window(1000, 2000)).neighbours;
        let brief = |w: &NeighbourActivity| (w.neighbour.0, w.cores, w.io_rate);
        let mut found: Vec<_> = found.iter().map(brief).collect();
        found.sort_by_key(|row| row.0);
        assert_eq!(found, [(1, 0.5, Some(4000.0)), (3, 0.25, None)]);
        let last = observe(&profile, window(2000, 3000)).neighbours;
        assert_eq!(last.iter().map(brief).collect::<Vec<_>>(), [(1, 0.3, None)], "what may not be read is not zero");
    }

    #[test]
    fn readings_are_those_of_the_whole_profile_and_cpus_those_it_was_sampled_on() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "app").samples(1500, 41, "app!main", 3);
        for at in 1..=3_u64 {
            synthetic.reading("task-clock", Scope::Target, at * 1000, ms(at * 500).0).tick(at * 1000, 1000);
        }
        let mut profile = synthetic.finish();
        profile.ops = (0..=3).map(|at| (ms(at * 1000), Ops(at * 100))).collect();
        let seen = observe(&profile, window(1000, 2000));
        let value = |id: MetricId| {
            let reading = seen.readings.iter().find(|reading| reading.quantity.id == id).unwrap();
            *reading.value.value().unwrap()
        };
        assert_eq!(
            (value(MetricId::CpuNsPerOp), value(MetricId::BusyCores), value(MetricId::OpsPerS)),
            (5e6, 0.5, 100.0)
        );
        assert_eq!((seen.cpus, observe(&profile, window(0, 1000)).cpus), (vec![0], vec![]));
    }

    #[test]
    fn a_total_from_long_before_says_nothing_about_a_window() {
        let mut profile = Synthetic::new().finish();
        profile.ops = vec![(ms(0), Ops(0)), (ms(60_000), Ops(6000))];
        let seen = observe(&profile, window(30_000, 31_000));
        assert!(seen.readings.iter().all(|reading| reading.value.value().is_none()));
    }
}
