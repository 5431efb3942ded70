//! The error of shares of samples whose periods vary. Samples of one period may all find the same place of a program's cycle
//! (lockstep); then they say no more than one. What they have in common beyond what neighbouring samples of two periods have is
//! due to the sampling, not to the program.

use super::names::Names;
use super::observe::chosen_samples;
use super::selection::Axis;
use super::stack_counts::StackCounts;
use crate::model::profile::Profile;
use crate::model::{StackId, Unit};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Only so many samples, the last of a selection, are looked at.
const MOST_SAMPLES: usize = 1 << 17;
/// Periods with fewer samples have no halves, and fewer pairs of periods say nothing.
const LEAST_SAMPLES: usize = 2;
const LEAST_PAIRS: f64 = 10.0;

/// How much samples of the same period have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lockstep {
    /// The variance of shares over that of samples that are independent of each other; at least 1.
    pub design_effect: f64,
    /// What is in common over its standard error.
    pub deviations: f64,
}

/// Samples of two halves of a period, as positions in a list.
type Halves = [Range<usize>; 2];

impl Lockstep {
    /// Samples that have nothing in common.
    pub const NONE: Lockstep = Lockstep { design_effect: 1.0, deviations: 0.0 };

    /// Of the functions in which the selected samples of a clock were taken. Of other events the kernel varies every period.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, counts: &StackCounts) -> Lockstep {
        let StackCounts { selection, who, .. } = counts;
        let Axis::Event(event) = selection.axis else { return Lockstep::NONE };
        if counts.alike || selection.axis.unit(&profile.meta) != Unit::Nanos {
            return Lockstep::NONE;
        }
        let function = |stack: StackId| names.at(profile.stacks.at(stack).frame).first().map(|call| call.function + 1);
        let known = |stack: &StackId| (stack.0 as usize) < profile.stacks.len();
        let row_of = |stack: Option<StackId>| stack.filter(known).and_then(function).unwrap_or_default();
        let all = &profile.samples;
        // Sessions do this anew for each screen: no more than the last ones are touched.
        let mut chosen: Vec<usize> = chosen_samples(profile, event, selection, who).rev().take(MOST_SAMPLES).collect();
        chosen.reverse();
        // An event samples one CPU or one thread on one CPU.
        let mut places: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
        chosen.iter().for_each(|at| places.entry((all.cpu[*at], all.tid[*at])).or_default().push(*at));
        let (mut rows, mut halves) = (Vec::with_capacity(chosen.len()), Vec::new());
        for place in places.values() {
            let weights: Vec<u64> = place.iter().map(|at| all.weight[*at]).collect();
            let begin = rows.len();
            rows.extend(place.iter().map(|at| row_of(all.stack[*at])));
            halves.extend(periods(&weights).into_iter().map(|period| split(period, begin)));
        }
        of_halves(&rows, &halves)
    }
}

/// The samples of each period: they weigh the same, but for the first of each, which has what was left of the one before.
fn periods(weights: &[u64]) -> Vec<Range<usize>> {
    let (mut found, mut begin) = (Vec::new(), 0);
    for at in 1..=weights.len() {
        let is_first = at == begin + 1 && at + 1 < weights.len() && weights[at] == weights[at + 1];
        if at == weights.len() || (weights[at] != weights[at - 1] && !is_first) {
            found.push(begin..at);
            begin = at;
        }
    }
    found
}

fn split(period: Range<usize>, begin: usize) -> Halves {
    let (from, to) = (begin + period.start, begin + period.end);
    let middle = from + (to - from) / 2;
    [from..middle, middle..to]
}

/// Halves of the same period are compared with neighbouring halves of different ones: a program that does one thing for a while
/// makes both alike.
fn of_halves(rows: &[u32], halves: &[Halves]) -> Lockstep {
    let mut counts: Vec<f64> = vec![0.0; rows.iter().max().map_or(0, |most| *most as usize + 1)];
    rows.iter().for_each(|row| counts[*row as usize] += 1.0);
    let shares: Vec<f64> = counts.iter().map(|count| count / rows.len() as f64).collect();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    counts.fill(0.0);
    // The sum over all rows of the product of what two lists have more of it than its share.
    let mut common = |one: &Range<usize>, other: &Range<usize>| {
        let (one, other) = (&rows[one.clone()], &rows[other.clone()]);
        one.iter().for_each(|row| counts[*row as usize] += 1.0);
        let equal: f64 = other.iter().map(|row| counts[*row as usize]).sum();
        one.iter().for_each(|row| counts[*row as usize] = 0.0);
        let expected = |rows: &[u32]| rows.iter().map(|row| shares[*row as usize]).sum::<f64>();
        let (first, second) = (one.len() as f64, other.len() as f64);
        equal - first * expected(other) - second * expected(one) + first * second * squares
    };
    let mut excess: Vec<f64> = Vec::new();
    let mut samples = 0;
    for pair in halves.windows(2) {
        let [[first, second], [next, _]] = pair else { continue };
        if second.end == next.start && first.len() + second.len() >= LEAST_SAMPLES {
            excess.push(common(first, second) - common(second, next));
            samples += first.len() + second.len();
        }
    }
    let (number, sum) = (excess.len() as f64, excess.iter().sum::<f64>());
    let independent = samples as f64 * (1.0 - squares);
    if number < LEAST_PAIRS || independent <= 0.0 {
        return Lockstep::NONE;
    }
    let variance = excess.iter().map(|it| (it - sum / number).powi(2)).sum::<f64>();
    let deviations = sum / variance.sqrt().max(f64::MIN_POSITIVE);
    // The variance of a sum of two halves has their covariance twice, and halves that keep step have it each once more.
    let design_effect = if deviations > 1.0 { 1.0 + 4.0 * sum / independent } else { 1.0 };
    Lockstep { design_effect, deviations }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of samples of `periods` periods with `each` samples, and their halves.
    fn halves(periods: usize, each: usize) -> Vec<Halves> {
        (0..periods).map(|period| split(0..each, period * each)).collect()
    }

    fn mixed(seed: u64) -> f64 {
        let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 32)) as f64 / 2_f64.powi(64)
    }

    #[test]
    fn samples_of_a_period_weigh_the_same_but_for_its_first() {
        assert_eq!(periods(&[9, 5, 5, 5, 8, 6, 6, 7, 7]), [0..4, 4..7, 7..9]);
        assert_eq!(periods(&[5, 5, 6, 7]), [0..2, 2..3, 3..4]);
        assert_eq!(periods(&[]), Vec::<Range<usize>>::new());
    }

    #[test]
    fn samples_that_keep_step_say_as_much_as_their_number_of_periods() {
        let (periods, each) = (300, 30);
        let rows: Vec<u32> = (0..periods * each).map(|at| u32::from(mixed((at / each) as u64) < 0.4)).collect();
        let found = of_halves(&rows, &halves(periods, each));
        assert!((20.0..45.0).contains(&found.design_effect) && found.deviations > 6.0, "{found:?}");
    }

    #[test]
    fn independent_samples_and_a_program_that_does_one_thing_for_a_while_keep_no_step() {
        let (periods, each) = (300, 30);
        let (mut above, mut most) = (0, 0.0_f64);
        for seed in 0..200 {
            let independent = |at: usize| mixed(seed * 1_000_003 + at as u64) < 0.4;
            // Half of the time this and then that, at moments that no period begins or ends with.
            let in_phases = |at: usize| mixed(seed * 1_000_003 + ((at * 7 + seed as usize) / 400) as u64) < 0.4;
            for row in [&independent as &dyn Fn(usize) -> bool, &in_phases] {
                let rows: Vec<u32> = (0..periods * each).map(|at| u32::from(row(at))).collect();
                let found = of_halves(&rows, &halves(periods, each));
                above += usize::from(found.deviations > 4.0);
                most = most.max(found.deviations);
            }
        }
        assert_eq!(above, 0, "{most}");
    }
}
