//! Counts of operations by intervals of latency. Counts of several windows are added, so a quantile of many windows is that
//! of all their operations: quantiles themselves are never averaged.

use crate::model::{Measure, Why};
use crate::units::Nanos;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A latency of an operation, as well as it is known. What nothing bounds is the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bin {
    /// It took at least as long.
    pub low: Nanos,
    /// It took less; `None` if nothing bounds it.
    pub high: Option<Nanos>,
}

/// Steps per doubling of bins that are put together: 1.1% each.
const COARSE: f64 = 64.0;

impl Ord for Bin {
    fn cmp(&self, other: &Bin) -> Ordering {
        self.low.cmp(&other.low).then_with(|| self.end().cmp(&other.end()))
    }
}

impl PartialOrd for Bin {
    fn partial_cmp(&self, other: &Bin) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The widest bin that has a value, relative to its lower end: its middle is off by at most a fifth.
const WIDEST: f64 = 0.5;
/// In a bin that is no wider, its middle is as good as any place.
const NARROW: f64 = 0.01;

impl Bin {
    /// Its middle in nanoseconds, or that it is too wide for one.
    #[must_use]
    pub fn value(self) -> Measure<f64> {
        let low = self.low.as_f64();
        match self.high {
            Some(high) if high.as_f64() - 1.0 - low <= WIDEST * low => Measure::exact(self.middle()),
            Some(_) => Measure::Missing(Why::CoarseBins),
            None => Measure::Missing(Why::BeyondRange),
        }
    }

    /// The step of 1.1% that holds its middle; what nothing bounds stays so.
    fn coarse(self) -> Bin {
        if self.high.is_none() {
            return self;
        }
        let number = (self.middle().max(1.0).log2() * COARSE).floor();
        let edge = |number: f64| Nanos((number / COARSE).exp2() as u64);
        Bin { low: edge(number), high: Some(edge(number + 1.0)) }
    }

    fn end(self) -> u64 {
        self.high.map_or(u64::MAX, |high| high.0)
    }

    /// Its middle in nanoseconds; of one that nothing bounds, the lower bound.
    #[must_use]
    pub fn middle(self) -> f64 {
        match self.high {
            // A step of whole nanoseconds holds those from `low` to just below `high`.
            Some(high) => (self.low.as_f64() + (high.as_f64() - 1.0).max(self.low.as_f64())) / 2.0,
            None => self.low.as_f64(),
        }
    }
}

/// How many operations took how long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    bins: BTreeMap<Bin, u64>,
    count: u64,
}

impl LatencyCounts {
    /// Adds operations.
    pub fn add(&mut self, bin: Bin, count: u64) {
        let sum = self.bins.entry(bin).or_default();
        *sum = sum.saturating_add(count);
        self.count = self.count.saturating_add(count);
    }

    /// Adds the operations of other counts.
    pub fn merge(&mut self, other: &LatencyCounts) {
        other.bins.iter().for_each(|(bin, count)| self.add(*bin, *count));
    }

    /// Operations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The bins with their operations, ascending.
    pub fn bins(&self) -> impl Iterator<Item = (Bin, u64)> + '_ {
        self.bins.iter().map(|(bin, count)| (*bin, *count))
    }

    /// Where the operation of a rank lies, from 1 on; the last one for higher ranks. Of bins that overlap, it took no
    /// less than that many lower bounds, and no more than that many upper ones.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<Bin> {
        let lowest = nth(self.bins.iter(), rank)?;
        let mut by_end: Vec<_> = self.bins.iter().collect();
        by_end.sort_by_key(|(bin, _)| bin.end());
        Some(Bin { low: lowest.low, high: nth(by_end.into_iter(), rank)?.high })
    }

    /// The bin that a share of the operations, 0 to 1, does not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Bin> {
        self.at_rank(((self.count as f64 * share).ceil() as u64).max(1))
    }

    /// The latency that a share of the operations, 0 to 1, does not exceed, in nanoseconds; missing if its bin is too wide for
    /// one.
    #[must_use]
    pub fn value(&self, share: f64) -> Measure<f64> {
        let Some(bin) = self.quantile(share) else { return Measure::Missing(Why::TooFewSamples) };
        let Some(high) = bin.high else { return Measure::Missing(Why::BeyondRange) };
        let narrow = high.as_f64() - bin.low.as_f64() <= NARROW * bin.low.as_f64();
        let inside = self.interpolated(share).filter(|value| *value >= bin.low.as_f64() && *value < high.as_f64());
        bin.value().map(|middle| inside.filter(|_| !narrow).unwrap_or(middle))
    }

    /// The same, if the operations of a bin lie evenly between its ends. `None` if nothing bounds it, or without operations.
    pub(super) fn interpolated(&self, share: f64) -> Option<f64> {
        let rank = (self.count as f64 * share).clamp(1.0, self.count.max(1) as f64);
        let mut before = 0.0;
        for (bin, count) in &self.bins {
            if before + *count as f64 >= rank {
                // Whole nanoseconds end just below the upper end.
                let last = (bin.high?.as_f64() - 1.0).max(bin.low.as_f64());
                let inside = ((rank - before - 0.5) / *count as f64).clamp(0.0, 1.0);
                return Some(bin.low.as_f64() + (last - bin.low.as_f64()) * inside);
            }
            before += *count as f64;
        }
        None
    }

    /// The same operations, in steps of 1.1% if there are more than that many bins; there are at most 4,096 such steps.
    #[must_use]
    pub fn bounded(self, most: usize) -> LatencyCounts {
        if self.bins.len() <= most {
            return self;
        }
        let mut coarse = LatencyCounts::default();
        for (bin, count) in self.bins {
            coarse.add(bin.coarse(), count);
        }
        coarse
    }

    /// The longest.
    #[must_use]
    pub fn longest(&self) -> Option<Bin> {
        self.at_rank(u64::MAX)
    }
}

/// The bin in which the operation of a rank lies, or the last one.
fn nth<'a>(mut bins: impl Iterator<Item = (&'a Bin, &'a u64)>, rank: u64) -> Option<Bin> {
    let (mut before, mut last) = (0_u64, None);
    bins.find(|(bin, count)| {
        before = before.saturating_add(**count);
        last = Some(**bin);
        before >= rank
    });
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(low: u64, high: Option<u64>) -> Bin {
        Bin { low: Nanos(low), high: high.map(Nanos) }
    }

    #[test]
    fn a_quantile_is_the_bin_of_its_rank_and_windows_are_added_not_averaged() {
        let mut slow = LatencyCounts::default();
        slow.add(bin(100, Some(101)), 1);
        let mut all = LatencyCounts::default();
        all.add(bin(1, Some(2)), 97);
        all.add(bin(10, Some(20)), 2);
        all.merge(&slow);
        assert_eq!(all.count(), 100);
        let quantile = |share| all.quantile(share);
        assert_eq!(quantile(0.5), Some(bin(1, Some(2))));
        assert_eq!(quantile(0.97), Some(bin(1, Some(2))));
        assert_eq!(quantile(0.98), Some(bin(10, Some(20))));
        assert_eq!(quantile(0.99), Some(bin(10, Some(20))));
        assert_eq!(quantile(0.995), Some(bin(100, Some(101))));
        assert_eq!((quantile(0.0), all.longest()), (Some(bin(1, Some(2))), Some(bin(100, Some(101)))));
        assert_eq!(LatencyCounts::default().quantile(0.5), None);
    }

    #[test]
    fn of_bins_that_overlap_a_rank_lies_between_that_many_bounds() {
        let mut counts = LatencyCounts::default();
        counts.add(bin(0, Some(100)), 10);
        counts.add(bin(90, Some(100)), 1);
        counts.add(bin(90, None), 9);
        counts.add(bin(95, Some(96)), 1);
        assert_eq!(counts.at_rank(1), Some(bin(0, Some(96))));
        assert_eq!(counts.at_rank(11), Some(bin(90, Some(100))));
        assert_eq!(counts.at_rank(12), Some(bin(90, Some(100))));
        assert_eq!(counts.at_rank(13), Some(bin(90, None)));
        assert_eq!(counts.longest(), Some(bin(95, None)));
    }

    #[test]
    fn a_wide_bin_has_no_value() {
        assert_eq!(bin(1000, Some(1501)).value(), Measure::exact(1250.0));
        assert_eq!(bin(5, Some(6)).value(), Measure::exact(5.0));
        assert_eq!(bin(0, Some(1)).value(), Measure::exact(0.0));
        for wide in [bin(1000, Some(1502)), bin(0, Some(2))] {
            assert_eq!(wide.value(), Measure::Missing(Why::CoarseBins), "{wide:?}");
        }
        assert_eq!(bin(1000, None).value(), Measure::Missing(Why::BeyondRange));
    }

    #[test]
    fn within_a_wide_bin_operations_lie_evenly() {
        let mut all = LatencyCounts::default();
        all.add(bin(1, Some(2)), 50);
        all.add(bin(101, Some(202)), 100);
        all.add(bin(900, None), 50);
        let at = |share| all.interpolated(share);
        assert_eq!((at(0.0), at(0.25), at(0.5)), (Some(1.0), Some(1.0), Some(150.5)));
        assert_eq!((at(0.75), at(0.99)), (Some(200.5), None));
        assert_eq!(LatencyCounts::default().interpolated(0.5), None);
    }

    #[test]
    fn too_many_bins_become_steps_of_one_percent_and_few_stay() {
        let mut many = LatencyCounts::default();
        (1_u64..=20_000).for_each(|ns| many.add(bin(ns * 1_000, Some(ns * 1_000 + 1)), 2));
        many.add(bin(u64::MAX - 1, None), 1);
        let (p50, count) = (many.quantile(0.5).map(Bin::middle), many.count());
        let same = many.clone().bounded(20_001);
        assert_eq!(same, many);
        let coarse = many.bounded(20_000);
        assert!(coarse.bins().count() < 1_200 && coarse.count() == count);
        let ratio = coarse.quantile(0.5).map(Bin::middle).zip(p50).map_or(0.0, |(coarse, exact)| coarse / exact);
        assert!((ratio - 1.0).abs() < 0.011, "{ratio}");
    }

    #[test]
    fn a_middle_lies_within_its_bin_and_one_without_a_bound_is_its_bound() {
        assert_eq!(bin(7, Some(8)).middle(), 7.0);
        assert_eq!(bin(2048, Some(2050)).middle(), 2048.5);
        assert_eq!(bin(500, None).middle(), 500.0);
        assert_eq!(bin(500, Some(0)).middle(), 500.0, "a hostile bin");
    }
}
