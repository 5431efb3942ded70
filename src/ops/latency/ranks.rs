//! Turns printed percentiles into statements about single operations. `p99 = 12.34 ms` of a thousand operations says that
//! the one of rank 990 took that long, to the printed digits; those between two printed ranks lie between their latencies.

use super::bins::{Interval, LatencyBins};

/// Operations of consecutive ranks, from 1 on.
#[derive(Debug, Clone, Copy)]
struct Stated {
    from: u64,
    to: u64,
    /// Where all of them lie.
    lies: Interval,
    /// All later ones took at least as long.
    after: f64,
}

/// What is known of operations in the order of their latency.
#[derive(Debug)]
pub(super) struct Ranks {
    count: u64,
    stated: Vec<Stated>,
}

impl Ranks {
    /// So many operations of which nothing else is known.
    pub(super) fn of(count: u64) -> Ranks {
        Ranks { count, stated: Vec::new() }
    }

    /// The operation that a share of all do not exceed.
    pub(super) fn quantile(&mut self, share: f64, lies: Interval) {
        let rank = self.rank(share);
        self.stated.push(Stated { from: rank, to: rank, lies, after: lies.low });
    }

    /// The shortest.
    pub(super) fn shortest(&mut self, lies: Interval) {
        self.stated.push(Stated { from: 1, to: 1, lies, after: lies.low });
    }

    /// The longest.
    pub(super) fn longest(&mut self, lies: Interval) {
        self.stated.push(Stated { from: self.count, to: self.count, lies, after: lies.low });
    }

    /// So many operations did not take longer than the step `lies`, in which the share lies. Later ones took at least
    /// `after`.
    pub(super) fn up_to(&mut self, share: f64, lies: Interval, count: u64, after: f64) {
        let from = self.rank(share).min(count);
        self.stated.push(Stated { from, to: count, lies, after });
    }

    /// So many operations took less than `end`, and later ones did not.
    pub(super) fn below(&mut self, count: u64, end: f64) {
        let lies = Interval { low: 0.0, high: Some(end) };
        self.stated.push(Stated { from: count, to: count, lies, after: end });
    }

    fn rank(&self, share: f64) -> u64 {
        ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1))
    }

    /// Adds all operations.
    pub(super) fn add_to(mut self, bins: &mut LatencyBins) {
        self.stated.sort_by_key(|stated| (stated.from, stated.to));
        let (mut done, mut least) = (0, 0.0_f64);
        for Stated { from, to, lies, after } in self.stated {
            let (from, to) = (from.max(done + u64::from(done < u64::MAX)), to.min(self.count));
            if done < to && from <= to {
                bins.add(Interval { low: least, high: lies.high }, from - 1 - done);
                bins.add(Interval { low: lies.low.max(least), ..lies }, to + 1 - from);
                done = to;
            }
            least = least.max(after);
        }
        bins.add(Interval { low: least, high: None }, self.count - done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    fn rows(ranks: Ranks) -> Vec<(u64, Option<u64>, u64)> {
        let mut bins = LatencyBins::default();
        ranks.add_to(&mut bins);
        bins.take(Nanos(0)).into_iter().map(|row| (row.low.0, row.high.map(|high| high.0), row.count)).collect()
    }

    fn at(ns: f64) -> Interval {
        Interval::rounded(ns, 5.0)
    }

    #[test]
    fn printed_ranks_are_exact_and_those_between_lie_between() {
        let mut ranks = Ranks::of(1000);
        ranks.quantile(0.5, at(100.0));
        ranks.quantile(0.99, at(900.0));
        ranks.longest(at(2000.0));
        let expected = [
            (0, Some(106), 499),
            (95, Some(106), 1),
            (95, Some(906), 489),
            (895, Some(906), 1),
            (895, Some(2006), 9),
            (1995, Some(2006), 1),
        ];
        assert_eq!(rows(ranks), expected);
    }

    #[test]
    fn counts_up_to_a_latency_bound_what_follows() {
        let mut ranks = Ranks::of(10);
        ranks.shortest(at(20.0));
        ranks.up_to(0.5, Interval { low: 90.0, high: Some(100.0) }, 6, 100.0);
        let expected = [(15, Some(26), 1), (15, Some(100), 3), (90, Some(100), 2), (100, None, 4)];
        assert_eq!(rows(ranks), expected);
    }

    #[test]
    fn statements_that_contradict_each_other_keep_the_count() {
        let mut ranks = Ranks::of(5);
        ranks.up_to(0.9, at(10.0), u64::MAX, 10.0);
        ranks.quantile(0.1, at(500.0));
        ranks.up_to(0.2, at(1.0), 0, 1.0);
        assert_eq!(rows(ranks).iter().map(|row| row.2).sum::<u64>(), 5);
        assert!(rows(Ranks::of(0)).is_empty());
        let mut none = Ranks::of(0);
        none.longest(at(5.0));
        none.quantile(0.5, at(5.0));
        assert!(rows(none).is_empty());
        assert_eq!(rows(Ranks::of(u64::MAX)), [(0, None, u64::MAX)]);
    }
}
