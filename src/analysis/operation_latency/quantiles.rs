//! Quantiles of the latency of operations, each with the interval in which it lies.
//!
//! Operations of one window resemble each other: a slow second has many slow ones. So the interval comes from draws of
//! whole windows, in blocks; of few windows, from the error of independent operations.

use super::distribution::{Bin, LatencyCounts};
use crate::analysis::stats::{Blocks, Moments, Random, block_length, student_quantile};
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use crate::model::{Measure, Why};
use std::collections::BTreeMap;

/// The quantiles of a report.
pub const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// Operations beyond a quantile that it takes to be known.
const FEWEST_BEYOND: f64 = 10.0;
/// Windows that it takes to draw them.
const FEWEST_WINDOWS: usize = 20;
/// Parts of the time that are drawn, at most.
const MOST_PARTS: usize = 100;
const DRAWS: usize = 400;
const SEED: u64 = 17;
/// Two-sided 95%.
const Z: f64 = 1.959_963_985;

/// A quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The share of the operations that took no longer, 0 to 1.
    pub share: f64,
    /// Its value in nanoseconds.
    pub value: Measure<f64>,
    /// It lies between these with 95% confidence, in nanoseconds; `None` above if nothing bounds it.
    pub interval: Option<(f64, Option<f64>)>,
}

/// The latency of the operations of a selected time.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    /// How many took how long.
    pub counts: LatencyCounts,
    /// Whether the intervals take operations as independent, because there are too few windows to see how they resemble
    /// each other.
    pub independent: bool,
    /// The quantiles, ascending.
    pub quantiles: Vec<Quantile>,
}

/// The latencies of the operations that ended in the window; `None` if none was measured.
#[must_use]
pub fn latencies(profile: &Profile, window: Window) -> Option<Latencies> {
    let mut windows: BTreeMap<_, LatencyCounts> = BTreeMap::new();
    for row in profile.latencies.iter().filter(|row| row.at > window.from && row.at <= window.to) {
        let bin = Bin { low: row.low, high: row.high };
        windows.entry(row.at).or_default().add(bin, row.count);
    }
    (!windows.is_empty()).then(|| of_windows(&windows.into_values().collect::<Vec<_>>()))
}

fn of_windows(windows: &[LatencyCounts]) -> Latencies {
    let mut counts = LatencyCounts::default();
    windows.iter().for_each(|window| counts.merge(window));
    let errors = if windows.len() < FEWEST_WINDOWS { None } else { drawn(windows, &counts) };
    let quantile = |(number, share): (usize, f64)| {
        let beyond = counts.count() as f64 * (1.0 - share).min(share);
        let missing = Quantile { share, value: Measure::Missing(Why::TooFewSamples), interval: None };
        let Some(bin) = counts.quantile(share).filter(|_| beyond >= FEWEST_BEYOND) else { return missing };
        let error = errors.map_or_else(|| independent(counts.count(), share), |errors| errors[number]);
        let (low, high) = within(&counts, share, error);
        let interval = Some((low.low.as_f64(), high.high.map(|high| high.as_f64())));
        Quantile { share, value: Measure::exact(bin.middle()), interval }
    };
    let quantiles = QUANTILES.into_iter().enumerate().map(quantile).collect();
    Latencies { independent: errors.is_none(), quantiles, counts }
}

/// The bins between which a quantile lies, if the share of operations up to it has this error (Woodruff 1952).
fn within(counts: &LatencyCounts, share: f64, error: f64) -> (Bin, Bin) {
    let n = counts.count() as f64;
    let none = Bin { low: Default::default(), high: None };
    let bin = |rank: f64| counts.at_rank(rank.clamp(1.0, n) as u64).unwrap_or(none);
    (bin((n * (share - error)).floor()), bin((n * (share + error)).ceil() + 1.0))
}

/// The error of independent operations.
fn independent(count: u64, share: f64) -> f64 {
    Z * (share * (1.0 - share) / count as f64).sqrt()
}

/// The error of the share of operations up to each quantile, by draws of windows.
fn drawn(windows: &[LatencyCounts], all: &LatencyCounts) -> Option<[f64; QUANTILES.len()]> {
    let ends = QUANTILES.map(|share| all.quantile(share));
    // Neighbours of very many windows are drawn together: as many draws of fewer parts say the same.
    let parts = windows.chunks(windows.len().div_ceil(MOST_PARTS));
    let parts: Vec<(u64, [u64; QUANTILES.len()], f64)> = parts.map(|part| below(part, &ends)).collect();
    let means: Vec<f64> = parts.iter().map(|part| part.2).collect();
    // Scatter within windows hides how long slow times last, so blocks are no shorter than the root of their number.
    let blocks = Blocks { count: parts.len(), length: block_length(&means).max(parts.len().isqrt()) };
    let t = student_quantile(0.05, blocks.number() - 1.0)?;
    let (mut random, mut chosen) = (Random::new(SEED), Vec::new());
    let mut shares: [Vec<f64>; QUANTILES.len()] = Default::default();
    for _ in 0..DRAWS {
        blocks.draw(&mut random, &mut chosen);
        let count: f64 = chosen.iter().map(|part| parts[*part].0 as f64).sum();
        for (at, shares) in shares.iter_mut().enumerate() {
            shares.push(chosen.iter().map(|part| parts[*part].1[at] as f64).sum::<f64>() / count.max(1.0));
        }
    }
    // Draws of blocks with replacement scatter too little by this, as a sample's deviation does.
    let few = (blocks.number() / (blocks.number() - 1.0)).sqrt();
    Some(shares.map(|shares| {
        Moments::of(&shares).and_then(|moments| moments.variance).map_or(1.0, |variance| t * few * variance.sqrt())
    }))
}

/// The operations of some windows, how many of them lie up to each end, and their mean latency.
fn below(part: &[LatencyCounts], ends: &[Option<Bin>; QUANTILES.len()]) -> (u64, [u64; QUANTILES.len()], f64) {
    let (mut count, mut up_to, mut sum) = (0_u64, [0_u64; QUANTILES.len()], 0.0);
    for (bin, number) in part.iter().flat_map(LatencyCounts::bins) {
        count = count.saturating_add(number);
        sum += bin.middle() * number as f64;
        for (up_to, end) in up_to.iter_mut().zip(ends) {
            if end.is_some_and(|end| bin <= end) {
                *up_to = up_to.saturating_add(number);
            }
        }
    }
    (count, up_to, sum / count.max(1) as f64)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencyCount;
    use crate::units::Nanos;

    fn bin(ns: u64) -> Bin {
        Bin { low: Nanos(ns), high: Some(Nanos(ns + 1)) }
    }

    #[test]
    fn the_operations_of_the_selected_time_count_and_quantiles_with_too_few_beyond_are_missing() {
        let mut profile = Synthetic::new().finish();
        for (at, low, count) in [(500, 1_000, 600), (1000, 1_000, 380), (1000, 9_000, 20), (3000, 70_000, 5)] {
            profile.latencies.push(LatencyCount { at: ms(at), low: Nanos(low), high: Some(Nanos(low + 1)), count });
        }
        let found = latencies(&profile, Window { from: ms(0), to: ms(2000) }).unwrap();
        assert_eq!((found.counts.count(), found.independent), (1000, true));
        let value = |at: usize| found.quantiles[at].value;
        assert_eq!((value(0), value(2)), (Measure::exact(1_000.0), Measure::exact(9_000.0)));
        assert_eq!(value(3), Measure::Missing(Why::TooFewSamples), "one operation lies beyond p99.9");
        assert_eq!(latencies(&profile, Window { from: ms(1000), to: ms(2000) }), None);
    }

    /// The step of 1% that holds a latency.
    fn step(ns: f64) -> Bin {
        let number = (ns.max(1.0).ln() / 1.01_f64.ln()).floor();
        let edge = |number: f64| Nanos(1.01_f64.powf(number) as u64);
        Bin { low: edge(number), high: Some(edge(number + 1.0)) }
    }

    /// A share of windows is slow, alone or in runs of `run`; each has 50 operations of an exponential latency.
    fn simulated(seed: u64, count: usize, run: usize) -> Vec<LatencyCounts> {
        let mut random = Random::new(seed);
        let mut uniform = move || (random.below(1 << 24) as f64 + 0.5) / f64::from(1 << 24);
        let mut windows = Vec::new();
        let mut slow = 1.0;
        for at in 0..count {
            if at % run == 0 {
                slow = if uniform() < 0.3 { 3.0 } else { 1.0 };
            }
            let mut window = LatencyCounts::default();
            (0..50).for_each(|_| window.add(step(-uniform().ln() * slow * 1e6), 1));
            windows.push(window);
        }
        windows
    }

    /// The share `p` of the mixture of 70% exponentials of 1 ms and 30% of 3 ms.
    fn truth(p: f64) -> f64 {
        let beyond = |t: f64| 0.7 * (-t).exp() + 0.3 * (-t / 3.0).exp();
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if beyond(middle) > 1.0 - p { low = middle } else { high = middle }
        }
        low * 1e6
    }

    #[test]
    fn most_intervals_hold_the_quantile_though_slow_windows_come_together() {
        for (count, run) in [(200, 1), (200, 5), (40, 1), (40, 2)] {
            let tries = 100;
            let found: Vec<_> = (0..tries).map(|seed| of_windows(&simulated(1000 + seed, count, run))).collect();
            for (at, share) in [(0, 0.5), (2, 0.99)] {
                let holds = found.iter().filter(|found| {
                    let (low, high) = found.quantiles[at].interval.unwrap();
                    low <= truth(share) && truth(share) <= high.unwrap()
                });
                let covered = holds.count() as f64 / tries as f64;
                assert!(covered >= 0.93, "{count} windows, runs of {run}, {share}: {covered}");
            }
        }
    }

    #[test]
    fn few_windows_have_the_interval_of_ranks_and_an_open_end_stays_open() {
        let mut all = LatencyCounts::default();
        (0..1000).for_each(|ns| all.add(bin(ns), 1));
        all.add(Bin { low: Nanos(5000), high: None }, 30);
        let found = of_windows(&[all]);
        let (low, high) = found.quantiles[0].interval.unwrap();
        // 515 +- 1.96 * sqrt(1030 / 4)
        assert!((480.0..=484.0).contains(&low) && (545.0..=549.0).contains(&high.unwrap()), "{low} {high:?}");
        assert_eq!(found.quantiles[2].interval.unwrap(), (5000.0, None));
    }
}
