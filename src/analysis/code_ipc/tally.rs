//! Counts of intervals between samples, or of the samples of each event, and the rates that follow from them.

use super::{FEWEST_SAMPLES, Rates};
use crate::model::{Measure, Why};
use std::ops::AddAssign;

/// How much more often than by chance a function's interval must begin in it, 0 to 1. Of two pieces of code that take
/// turns at random, one interval in sixteen that begins and ends in one then contains the other.
const LEAST_RUN: f64 = 0.5;
/// What a function with this share of the samples shares its intervals with does not matter.
const ALMOST_ALL: f64 = 0.95;

/// Sums of counts of intervals or samples, and what the error of their ratio needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// Samples in this code; those that came after another one, and those after one in the same code.
    pub samples: u64,
    followed: u64,
    same: u64,
    /// Intervals that count, and their counts.
    intervals: u64,
    cycles: f64,
    instructions: f64,
    misses: f64,
    squares: [f64; 3],
    /// Samples of instructions and of misses, where these have samples of their own.
    own: [u64; 2],
}

impl Tally {
    /// Adds a sample in this code, which may have come after another one.
    pub fn add_sample(&mut self, followed: bool) {
        self.samples += 1;
        self.followed += u64::from(followed);
    }

    /// Adds the time between two samples in this code, with its counts if these are known.
    pub fn add_interval(&mut self, [cycles, instructions, misses]: [u64; 3]) {
        self.same += 1;
        if cycles == 0 || instructions == 0 {
            return;
        }
        let (cycles, instructions) = (cycles as f64, instructions as f64);
        self.intervals += 1;
        self.cycles += cycles;
        self.instructions += instructions;
        self.misses += misses as f64;
        for (sum, product) in
            self.squares.iter_mut().zip([cycles * cycles, cycles * instructions, instructions * instructions])
        {
            *sum += product;
        }
    }

    /// Adds a sample of cycles, instructions or misses (0, 1, 2), where each has samples of its own.
    pub fn add_own(&mut self, place: usize, weight: u64) {
        let (sum, samples) = match place {
            0 => (&mut self.cycles, &mut self.samples),
            1 => (&mut self.instructions, &mut self.own[0]),
            _ => (&mut self.misses, &mut self.own[1]),
        };
        *sum += weight as f64;
        *samples += 1;
    }

    /// The rates by intervals, `share` being that of this code among all samples.
    pub fn by_intervals(&self, share: f64, has_misses: bool) -> Rates {
        let same = if self.followed > 0 { self.same as f64 / self.followed as f64 } else { 0.0 };
        let run = if share < 1.0 { (same - share) / (1.0 - share) } else { 1.0 };
        let missing = if self.samples < FEWEST_SAMPLES {
            Some(Why::TooFewSamples)
        } else if share < ALMOST_ALL && run < LEAST_RUN {
            Some(Why::Interleaved)
        } else if self.intervals < FEWEST_SAMPLES {
            Some(Why::LostEvents)
        } else {
            None
        };
        let [square, mixed, own] = self.squares;
        let ratio = self.instructions / self.cycles;
        let number = self.intervals as f64;
        // The error of a ratio of sums, linearised.
        let rest = (own - 2.0 * ratio * mixed + ratio * ratio * square).max(0.0);
        let error = (number / (number - 1.0) * rest).sqrt() / self.cycles;
        self.rates(missing, error, self.intervals, has_misses.then_some(missing))
    }

    /// The rates by the samples that each event has of its own.
    pub fn by_samples(&self, has_misses: bool) -> Rates {
        let [instructions, misses] = self.own;
        let few = |samples: u64| (samples < FEWEST_SAMPLES).then_some(Why::TooFewSamples);
        let missing = few(self.samples.min(instructions));
        let ratio = self.instructions / self.cycles;
        let error = ratio * (1.0 / self.samples as f64 + 1.0 / instructions as f64).sqrt();
        self.rates(missing, error, self.samples, has_misses.then_some(missing.or(few(misses))))
    }

    fn rates(&self, missing: Option<Why>, error: f64, samples: u64, misses: Option<Option<Why>>) -> Rates {
        let ratio = |missing: Option<Why>, above: f64, below: f64| match missing {
            Some(why) => Measure::Missing(why),
            None => Measure::exact(above).over(Measure::exact(below)),
        };
        let ipc = ratio(missing, self.instructions, self.cycles);
        let mpki = match misses {
            Some(missing) => ratio(missing, 1000.0 * self.misses, self.instructions),
            None => Measure::Missing(Why::NotRecorded),
        };
        Rates { ipc, ipc_error: ipc.value().map(|_| error), mpki, samples }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.samples += other.samples;
        self.followed += other.followed;
        self.same += other.same;
        self.intervals += other.intervals;
        self.cycles += other.cycles;
        self.instructions += other.instructions;
        self.misses += other.misses;
        self.squares.iter_mut().zip(other.squares).for_each(|(sum, more)| *sum += more);
        self.own.iter_mut().zip(other.own).for_each(|(sum, more)| *sum += more);
    }
}
