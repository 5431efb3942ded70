//! Operations by the interval in which their latency lies, as a source tells them.

use crate::model::LatencyCount;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Bits of a latency that a single operation keeps: a step is at most a thousandth wide.
const BITS: u32 = 11;

/// Where a latency lies, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// At least this.
    pub low: f64,
    /// Less than this; `None` if nothing bounds it.
    pub high: Option<f64>,
}

impl Interval {
    /// A latency that was rounded to `ns`, by `half` at most. Its middle is `ns`.
    pub(super) fn rounded(ns: f64, half: f64) -> Interval {
        Interval { low: (ns - half).max(0.0), high: Some(ns + half + 1.0) }
    }

    /// The steps of a thousandth that it lies in, so that any number of operations has a bounded number of intervals.
    pub(super) fn in_steps(self) -> Interval {
        let step = |ns: u64| 1_u64 << (64 - ns.leading_zeros()).saturating_sub(BITS);
        let floor = |ns: u64| ns / step(ns) * step(ns);
        let ceil = |ns: u64| if floor(ns) == ns { ns } else { floor(ns).saturating_add(step(ns)) };
        Interval { low: floor(self.low as u64) as f64, high: self.high.map(|high| ceil(high as u64) as f64) }
    }
}

/// How many operations took how long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LatencyBins(BTreeMap<(u64, Option<u64>), u64>);

impl LatencyBins {
    /// Adds operations. Numbers beyond the integers saturate.
    pub(super) fn add(&mut self, interval: Interval, count: u64) {
        if count == 0 || interval.low.is_nan() {
            return;
        }
        // Below the largest, which is the end of none.
        let low = (interval.low as u64).min(u64::MAX - 1);
        let high = interval.high.map(|high| (high as u64).max(low.saturating_add(1)));
        let sum = self.0.entry((low, high)).or_default();
        *sum = sum.saturating_add(count);
    }

    /// Adds one operation, in steps of a thousandth.
    pub(super) fn add_one(&mut self, interval: Interval) {
        self.add(interval.in_steps(), 1);
    }

    /// Adds the operations of others.
    pub(super) fn merge(&mut self, other: LatencyBins) {
        for (bounds, count) in other.0 {
            let sum = self.0.entry(bounds).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// The operations in all.
    pub(crate) fn count(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Takes all operations out, as those of the window that ends then.
    pub(super) fn take(&mut self, at: Nanos) -> Vec<LatencyCount> {
        let row = |((low, high), count): ((u64, Option<u64>), u64)| LatencyCount {
            at,
            low: Nanos(low),
            high: high.map(Nanos),
            count,
        };
        std::mem::take(&mut self.0).into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_the_latency_and_are_a_thousandth_wide() {
        for ns in [0_u64, 1, 2047, 2048, 2049, 123_456_789, 1 << 40, u64::MAX / 3] {
            let ns = ns as f64;
            let Interval { low, high } = Interval::rounded(ns, 0.0).in_steps();
            let high = high.unwrap_or(0.0);
            assert!(low <= ns && ns < high, "{low} {ns} {high}");
            assert!(high - low <= (ns / 1024.0).max(1.0) * 2.0, "{low} {ns} {high}");
        }
    }

    #[test]
    fn hostile_numbers_saturate() {
        let mut bins = LatencyBins::default();
        bins.add(Interval { low: 1e300, high: Some(f64::INFINITY) }, u64::MAX);
        bins.add(Interval { low: -5.0, high: Some(-9.0) }, 3);
        bins.add(Interval { low: f64::NAN, high: None }, 1);
        bins.add_one(Interval::rounded(1e300, 1e290));
        assert_eq!(bins.count(), u64::MAX);
        let rows = bins.take(Nanos(7));
        assert_eq!((rows[0].low, rows[0].high, rows[0].count), (Nanos(0), Some(Nanos(1)), 3));
        assert_eq!((bins.count(), rows.len()), (0, 3));
    }
}
