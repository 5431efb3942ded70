//! Latency entropy: how evenly operations spread over intervals of latency of one width, in nats. It depends on the
//! intervals, so these are part of the result.

use super::distribution::LatencyCounts;

/// Intervals between the best and the worst latency.
pub const INTERVALS: usize = 100;

/// `-sum of p ln p` over `intervals` of one width between `best` and `worst` of a reference, and one below and above them.
/// An operation counts where the middle of its bin lies.
#[must_use]
pub fn entropy(counts: &LatencyCounts, (best, worst): (f64, f64), intervals: usize) -> f64 {
    let mut shares = vec![0_u64; intervals + 2];
    let width = (worst - best) / intervals as f64;
    for (bin, count) in counts.bins() {
        let at = match bin.middle() {
            value if value < best => 0,
            value if value > worst => intervals + 1,
            // The worst itself belongs to the last interval.
            value if width > 0.0 => 1 + (((value - best) / width) as usize).min(intervals - 1),
            _ => 1,
        };
        shares[at] = shares[at].saturating_add(count);
    }
    let all = counts.count().max(1) as f64;
    let part = |count: u64| {
        let share = count as f64 / all;
        if count > 0 { -share * share.ln() } else { 0.0 }
    };
    shares.into_iter().map(part).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::distribution::Bin;
    use super::*;
    use crate::units::Nanos;

    fn counts(values: &[u64]) -> LatencyCounts {
        let mut counts = LatencyCounts::default();
        values.iter().for_each(|ns| counts.add(Bin { low: Nanos(*ns), high: Some(Nanos(ns + 1)) }, 1));
        counts
    }

    #[test]
    fn the_entropies_of_the_reference_are_those_published_or_worked_out() {
        let solo = counts(&[14, 17, 20, 24, 25, 29, 32, 37]);
        let other = counts(&[19, 23, 24, 26, 28, 29, 31]);
        let of = |counts: &LatencyCounts| entropy(counts, (14.0, 37.0), 3);
        assert!((of(&solo) - 1.0822).abs() < 5e-5, "{}", of(&solo));
        assert!((of(&other) - 0.7963).abs() < 5e-5, "{}", of(&other));
    }

    #[test]
    fn what_lies_outside_of_the_reference_has_an_interval_of_its_own() {
        let all = counts(&[1, 2, 10, 20, 90, 99]);
        let three = entropy(&all, (10.0, 20.0), 1);
        assert!((three - 3.0_f64.ln()).abs() < 1e-12, "{three}");
        assert_eq!((entropy(&counts(&[7; 5]), (7.0, 7.0), 100), entropy(&counts(&[]), (0.0, 1.0), 2)), (0.0, 0.0));
    }
}
