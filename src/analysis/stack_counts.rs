//! The observations of a selection, counted once by process, thread, stack and its end: the table that rankings, trees,
//! threads and rules are computed from, so that their cost grows with distinct stacks, not with samples.

use super::observe::{Observation, samples, spans};
use super::selection::{Axis, Selection, ThreadSet};
use super::tasks::Tasks;
use super::thread_starts::stack_end;
use crate::model::profile::Profile;
use crate::model::{StackEnd, StackId, Unit};
use rustc_hash::FxHashMap;

/// Periods that vary around one frequency differ by no more than this factor, with what the first of a new one has of the last.
const ONE_RATE: u64 = 3;

/// The observations of one thread with one stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackCount {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Stack.
    pub stack: Option<StackId>,
    /// How the stack ended; one that a walk left in a function that threads start in is whole.
    pub end: StackEnd,
    /// Their weight; for time off the CPU, nanoseconds blocked.
    pub weight: u64,
    /// Nanoseconds runnable but waiting for a CPU.
    pub queued: u64,
    /// Their number.
    pub samples: u64,
}

impl StackCount {
    /// Whether its outer frames are missing.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        matches!(self.end, StackEnd::Truncated | StackEnd::Broken)
    }
}

/// All observations of a selection.
#[derive(Debug, Clone)]
pub struct StackCounts {
    /// The selection.
    pub selection: Selection,
    /// Its threads.
    pub who: ThreadSet,
    /// In the order in which they were first observed.
    pub rows: Vec<StackCount>,
    /// Weight of all.
    pub weight: u64,
    /// Number of observations.
    pub samples: u64,
    /// Waits that the observations are the sum of; `None` where they are samples.
    pub waits: Option<u64>,
    /// Whether their number says as much as their weight.
    pub alike: bool,
    /// Whether their weights differ by no more than periods do that vary around one frequency.
    pub of_one_rate: bool,
    /// Sum of the squares of their weights.
    squares: f64,
}

impl StackCounts {
    /// Counts the observations of a selection.
    #[must_use]
    pub fn of(profile: &Profile, tasks: &Tasks, selection: &Selection) -> StackCounts {
        let who = selection.who(tasks);
        let mut counter = Counter::new();
        let mut waits = (selection.axis == Axis::OffCpu).then_some(0);
        match selection.axis {
            Axis::Event(event) => samples(profile, event, selection, &who).for_each(|seen| counter.add(&seen)),
            Axis::OffCpu => spans(profile, selection.time, &who).for_each(|(span, seen)| {
                waits = waits.map(|waits: u64| waits.saturating_add(span.count));
                counter.add(&seen);
            }),
        }
        let Counter { mut rows, weight, mut samples, least, most, squares, .. } = counter;
        rows.iter_mut().for_each(|row| row.end = stack_end(profile, row.stack, row.end));
        let unit = selection.axis.unit(&profile.meta);
        if matches!(unit, Unit::Samples | Unit::Microsamples) {
            rows.iter_mut().for_each(|row| row.samples = unit.samples(row.samples, row.weight));
            samples = unit.samples(samples, weight);
        }
        let alike = match unit {
            Unit::Samples => true,
            Unit::Microsamples => false,
            _ => least >= most,
        };
        let of_one_rate = unit == Unit::Nanos && most <= least.saturating_mul(ONE_RATE);
        StackCounts { selection: selection.clone(), who, rows, weight, samples, waits, alike, of_one_rate, squares }
    }

    /// By how much more shares of the weight vary than those of as many observations that all weigh the same.
    pub(super) fn design_effect(&self) -> f64 {
        let weight = self.weight as f64;
        if weight > 0.0 { (self.samples as f64 * self.squares / (weight * weight)).max(1.0) } else { 1.0 }
    }

    /// Observations and weight of each thread.
    pub(super) fn by_thread(&self) -> FxHashMap<u32, (u64, u64)> {
        let mut sums: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for row in &self.rows {
            let (samples, weight) = sums.entry(row.tid).or_default();
            *samples += row.samples;
            *weight = weight.saturating_add(row.weight);
        }
        sums
    }
}

/// What tells rows apart: process and thread, stack and its end.
type Key = (u64, u64);

#[derive(Debug)]
struct Counter {
    rows: Vec<StackCount>,
    weight: u64,
    samples: u64,
    known: FxHashMap<Key, u32>,
    /// The row of the last observation: the next is often like it.
    last: Option<(Key, u32)>,
    least: u64,
    most: u64,
    squares: f64,
}

impl Counter {
    fn new() -> Counter {
        let (known, least) = (FxHashMap::default(), u64::MAX);
        Counter { rows: Vec::new(), weight: 0, samples: 0, known, last: None, least, most: 0, squares: 0.0 }
    }

    fn add(&mut self, seen: &Observation) {
        let row = self.row(seen);
        let row = &mut self.rows[row as usize];
        row.weight = row.weight.saturating_add(seen.weight);
        row.queued = row.queued.saturating_add(seen.queued);
        row.samples += 1;
        self.weight = self.weight.saturating_add(seen.weight);
        self.samples += 1;
        self.squares += (seen.weight as f64).powi(2);
        (self.least, self.most) = (self.least.min(seen.weight), self.most.max(seen.weight));
    }

    #[inline]
    fn row(&mut self, seen: &Observation) -> u32 {
        let Observation { pid, tid, stack, end, .. } = *seen;
        let address = stack.map_or(0, |id| u64::from(id.0) + 1);
        let key = (u64::from(pid) << 32 | u64::from(tid), address << 2 | end as u64);
        if let Some((last, row)) = self.last
            && last == key
        {
            return row;
        }
        // Far more observations repeat a row than begin one: a look-up that adds nothing is cheaper.
        let row = self.known.get(&key).copied().unwrap_or_else(|| {
            self.rows.push(StackCount { pid, tid, stack, end, weight: 0, queued: 0, samples: 0 });
            let row = self.rows.len() as u32 - 1;
            self.known.insert(key, row);
            row
        });
        self.last = Some((key, row));
        row
    }
}
