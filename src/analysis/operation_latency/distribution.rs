//! Counts of operations by intervals of latency. Counts of several windows are added, so a quantile of many windows is that
//! of all their operations: quantiles themselves are never averaged.

use crate::units::Nanos;
use std::collections::BTreeMap;

/// A latency of an operation, as well as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bin {
    /// It took at least as long.
    pub low: Nanos,
    /// It took less; `None` if nothing bounds it.
    pub high: Option<Nanos>,
}

impl Bin {
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

    /// The bin of the operation of a rank, from 1 on; the last one for higher ranks.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<Bin> {
        let mut before = 0_u64;
        let found = self.bins.iter().find(|(_, count)| {
            before = before.saturating_add(**count);
            before >= rank
        });
        found.or(self.bins.last_key_value()).map(|(bin, _)| *bin)
    }

    /// The bin that a share of the operations, 0 to 1, does not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Bin> {
        self.at_rank(((self.count as f64 * share).ceil() as u64).max(1))
    }

    /// The longest.
    #[must_use]
    pub fn longest(&self) -> Option<Bin> {
        self.bins.last_key_value().map(|(bin, _)| *bin)
    }
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
    fn a_middle_lies_within_its_bin_and_one_without_a_bound_is_its_bound() {
        assert_eq!(bin(7, Some(8)).middle(), 7.0);
        assert_eq!(bin(2048, Some(2050)).middle(), 2048.5);
        assert_eq!(bin(500, None).middle(), 500.0);
        assert_eq!(bin(500, Some(0)).middle(), 500.0, "a hostile bin");
    }
}
