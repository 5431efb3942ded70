//! Quantiles of the latency of operations, each with the interval in which it lies.
//!
//! Operations of one window resemble each other: a slow second has many slow ones. So the interval comes from draws of
//! whole windows, in blocks; of few windows, from the error of independent operations.

use super::distribution::{Bin, LatencyCounts};
use crate::analysis::stats::{Blocks, Moments, Random, block_length, student_quantile};
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use crate::model::{Measure, Why};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The quantiles of a report.
pub const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// Operations beyond a quantile that it takes to be known.
const FEWEST_BEYOND: f64 = 10.0;
/// Windows that it takes to draw them.
pub(super) const FEWEST_WINDOWS: usize = 20;
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
    let windows = counts_of_windows(profile, window);
    (!windows.is_empty()).then(|| of_windows(&windows))
}

/// The operations of each window. Those of neighbours are put together where there are more than are drawn apart.
fn counts_of_windows(profile: &Profile, window: Window) -> Vec<LatencyCounts> {
    let rows = || profile.latencies.iter().filter(|row| row.at > window.from && row.at <= window.to);
    let mut ends: Vec<Nanos> = Vec::new();
    for row in rows() {
        if ends.last() != Some(&row.at) {
            ends.push(row.at);
        }
    }
    ends.sort_unstable();
    ends.dedup();
    let together = if ends.len() > MOST_PARTS { ends.len().div_ceil(MOST_PARTS) } else { 1 };
    let mut parts: Vec<FxHashMap<Bin, u64>> = vec![FxHashMap::default(); ends.len().div_ceil(together)];
    let mut last = 0;
    for row in rows() {
        if ends.get(last) != Some(&row.at) {
            last = ends.partition_point(|end| *end < row.at);
        }
        let count = parts[last / together].entry(Bin { low: row.low, high: row.high }).or_default();
        *count = count.saturating_add(row.count);
    }
    let sorted = |part: FxHashMap<Bin, u64>| {
        let mut counts = LatencyCounts::default();
        part.into_iter().for_each(|(bin, count)| counts.add(bin, count));
        counts
    };
    parts.into_iter().map(sorted).collect()
}

fn of_windows(windows: &[LatencyCounts]) -> Latencies {
    let mut counts = LatencyCounts::default();
    windows.iter().for_each(|window| counts.merge(window));
    let parts: Vec<&LatencyCounts> = windows.iter().collect();
    let scatter = if windows.len() < FEWEST_WINDOWS { None } else { drawn(&parts, &counts, &QUANTILES) };
    let errors = scatter.and_then(|scatter| {
        let t = student_quantile(0.05, scatter.freedom)?;
        Some(scatter.errors.iter().map(|error| error.times(t)).collect::<Vec<ShareError>>())
    });
    let quantile = |(number, share): (usize, f64)| {
        let beyond = counts.count() as f64 * (1.0 - share).min(share);
        if beyond < FEWEST_BEYOND {
            return Quantile { share, value: Measure::Missing(Why::TooFewSamples), interval: None };
        }
        let error = errors.as_ref().map_or_else(|| independent(counts.count(), share), |errors| errors[number]);
        let (low, high) = within(&counts, share, error);
        let interval = Some((low.low.as_f64(), high.high.map(|high| high.as_f64())));
        Quantile { share, value: counts.value(share), interval }
    };
    let mut quantiles: Vec<Quantile> = QUANTILES.into_iter().enumerate().map(quantile).collect();
    ascend(&mut quantiles);
    Latencies { independent: errors.is_none(), quantiles, counts }
}

/// Narrows the intervals so that both ends ascend with the quantiles: the true p90 cannot exceed the true p99, so the upper
/// end of the p99 bounds both. The error of a quantile among many equal latencies reaches far into the few beyond them.
fn ascend(quantiles: &mut [Quantile]) {
    let mut most = f64::INFINITY;
    for (_, high) in quantiles.iter_mut().rev().filter_map(|quantile| quantile.interval.as_mut()) {
        most = most.min(high.unwrap_or(f64::INFINITY));
        *high = Some(most).filter(|most| most.is_finite());
    }
    let mut least: f64 = 0.0;
    for (low, _) in quantiles.iter_mut().filter_map(|quantile| quantile.interval.as_mut()) {
        least = least.max(*low);
        *low = least;
    }
}

/// The bins between which a quantile lies (Woodruff 1952): it is lower than its bin only if too few operations were counted
/// before that bin, and higher only if too many were counted up to its end.
fn within(counts: &LatencyCounts, share: f64, error: ShareError) -> (Bin, Bin) {
    let n = counts.count() as f64;
    let none = Bin { low: Default::default(), high: None };
    let bin = |rank: f64| counts.at_rank(rank.clamp(1.0, n) as u64).unwrap_or(none);
    (bin((n * (share - error.before)).floor()), bin((n * (share + error.up_to)).ceil() + 1.0))
}

/// The error of independent operations.
fn independent(count: u64, share: f64) -> ShareError {
    let error = Z * (share * (1.0 - share) / count as f64).sqrt();
    ShareError { before: error, up_to: error }
}

/// Errors of the shares of operations at both ends of a quantile's bin. They differ where many operations share the bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShareError {
    /// Of the share before the bin.
    pub before: f64,
    /// Of the share up to its end.
    pub up_to: f64,
}

impl ShareError {
    /// Both errors multiplied.
    pub fn times(self, by: f64) -> ShareError {
        ShareError { before: by * self.before, up_to: by * self.up_to }
    }
}

/// How far the shares of operations at each quantile scatter.
pub(super) struct Scatter {
    /// The standard errors at each quantile.
    pub errors: Vec<ShareError>,
    /// Degrees of freedom.
    pub freedom: f64,
}

/// The errors of the shares of operations at each quantile, by draws of windows. The quantiles ascend.
pub(super) fn drawn(windows: &[&LatencyCounts], all: &LatencyCounts, quantiles: &[f64]) -> Option<Scatter> {
    let ends: Vec<Bin> = quantiles.iter().map(|share| all.quantile(*share)).collect::<Option<_>>()?;
    // Neighbours of very many windows are drawn together: as many draws of fewer parts say the same.
    let parts = windows.chunks(windows.len().div_ceil(MOST_PARTS).max(1));
    let parts: Vec<Part> = parts.map(|part| Part::of(part, &ends)).collect();
    let means: Vec<f64> = parts.iter().map(|part| part.mean).collect();
    // Scatter within windows hides how long slow times last, so blocks are no shorter than the root of their number.
    let blocks = Blocks { count: parts.len(), length: block_length(&means).max(parts.len().isqrt()) };
    let freedom = blocks.number() - 1.0;
    let sums = RunningSums::of(&parts);
    let (mut random, mut drawn) = (Random::new(SEED), Vec::new());
    let mut shares: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); 2 * ends.len()];
    for _ in 0..DRAWS {
        drawn.clear();
        drawn.resize(1 + shares.len(), 0.0);
        blocks.draw_ranges(&mut random, |start, length| sums.add(start, length, &mut drawn));
        for (shares, count) in shares.iter_mut().zip(&drawn[1..]) {
            shares.push(count / drawn[0].max(1.0));
        }
    }
    // Draws of blocks with replacement scatter too little by this, as a sample's deviation does.
    let few = (blocks.number() / freedom).sqrt();
    let error = |shares: &Vec<f64>| Moments::of(shares).and_then(|moments| moments.variance).map_or(1.0, f64::sqrt);
    let errors = || {
        let both = shares.chunks_exact(2).map(|both| ShareError { before: error(&both[0]), up_to: error(&both[1]) });
        both.map(|error| error.times(few)).collect()
    };
    (freedom >= 1.0).then(|| Scatter { errors: errors(), freedom })
}

/// The operations of some windows.
struct Part {
    /// All of them, then for each end those before its bin and those up to it.
    counts: Vec<f64>,
    /// Their mean latency.
    mean: f64,
}

impl Part {
    /// The ends ascend.
    fn of(windows: &[&LatencyCounts], ends: &[Bin]) -> Part {
        let (mut counts, mut sum) = (vec![0.0; 1 + 2 * ends.len()], 0.0);
        for window in windows {
            let (mut passed, mut number) = (0, 0.0);
            for (bin, operations) in window.bins() {
                // Bins ascend as well: what was counted so far lies before every end that is reached.
                while ends.get(passed / 2).is_some_and(|end| if passed % 2 == 0 { bin >= *end } else { bin > *end }) {
                    passed += 1;
                    counts[passed] += number;
                }
                number += operations as f64;
                sum += bin.middle() * operations as f64;
            }
            counts[0] += number;
            counts[passed + 1..].iter_mut().for_each(|count| *count += number);
        }
        Part { mean: sum / counts[0].max(1.0), counts }
    }
}

/// The counts of the parts before each, twice around: what a block holds is one difference, however long it is.
struct RunningSums(Vec<Vec<f64>>);

impl RunningSums {
    fn of(parts: &[Part]) -> RunningSums {
        let mut sums = vec![vec![0.0; parts.first().map_or(0, |part| part.counts.len())]];
        for part in parts.iter().chain(parts) {
            let before = sums.last().into_iter().flatten();
            sums.push(before.zip(&part.counts).map(|(sum, count)| sum + count).collect());
        }
        RunningSums(sums)
    }

    /// Adds the counts of a block.
    fn add(&self, start: usize, length: usize, to: &mut [f64]) {
        let (before, end) = (&self.0[start], &self.0[start + length]);
        for (at, to) in to.iter_mut().enumerate() {
            *to += end[at] - before[at];
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::simulate::{Frequency, trials};
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencyCount;

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

    #[test]
    fn windows_that_are_put_together_say_what_they_say_apart() {
        let windows = simulated(7, 345, 5);
        let mut profile = Synthetic::new().finish();
        for (at, (bin, count)) in (1..).zip(&windows).flat_map(|(at, window)| window.bins().map(move |bin| (at, bin))) {
            profile.latencies.push(LatencyCount { at: ms(at * 100), low: bin.low, high: bin.high, count });
        }
        let found = latencies(&profile, Window { from: ms(0), to: ms(100_000) }).unwrap();
        assert_eq!((counts_of_windows(&profile, Window { from: ms(0), to: ms(100_000) }).len()), 87);
        assert_eq!(found, of_windows(&windows));
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

    const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

    /// How often the intervals hold each of the quantiles of so many windows, first of latencies of any length, then of whole
    /// milliseconds.
    fn coverage((count, run): (usize, usize), tries: u32) -> [[Frequency; 3]; 2] {
        let ms = |ns: f64| (ns / 1e6).ceil() * 1e6;
        let mut holds = [[Frequency::default(); 3]; 2];
        for seed in 0..tries {
            let windows = simulated(1000 + u64::from(seed), count, run);
            let whole: Vec<LatencyCounts> = windows.iter().map(|window| rounded(window, ms)).collect();
            let truths = SHARES.map(truth);
            for (holds, (found, truths)) in
                holds.iter_mut().zip([(of_windows(&windows), truths), (of_windows(&whole), truths.map(ms))])
            {
                for ((holds, truth), quantile) in holds.iter_mut().zip(truths).zip(&found.quantiles) {
                    let (low, high) = quantile.interval.unwrap();
                    holds.count(low <= truth && truth <= high.unwrap());
                }
            }
        }
        holds
    }

    fn rounded(window: &LatencyCounts, to: impl Fn(f64) -> f64) -> LatencyCounts {
        let mut all = LatencyCounts::default();
        window.bins().for_each(|(bin, count)| all.add(self::bin(to(bin.middle()) as u64), count));
        all
    }

    /// Windows, and how many slow ones come together.
    const SERIES: [(usize, usize); 4] = [(200, 1), (200, 5), (40, 1), (40, 2)];

    #[test]
    fn most_intervals_hold_the_quantile_though_slow_windows_come_together() {
        for series in SERIES {
            for (share, found) in SHARES.into_iter().cycle().zip(coverage(series, 50).as_flattened()) {
                let case = format!("(windows, slow together) {series:?}, {share}: {found:?}");
                assert!(found.interval(0.01).1 >= 0.95 && found.part() >= 0.88, "{case}");
            }
        }
    }

    #[test]
    #[ignore = "minutes: what `just calibrate` prints"]
    fn calibration_of_latency_intervals() {
        for (windows, run) in SERIES {
            let found = coverage((windows, run), trials());
            for (found, of) in found.iter().zip(["any latency", "latencies of whole ms"]) {
                for (found, share) in found.iter().zip(SHARES) {
                    let name = format!("interval of p{}, {windows} windows, {run} alike, {of}", share * 100.0);
                    found.report(&name, "at least 95%");
                }
            }
        }
    }

    #[test]
    fn where_many_operations_share_a_latency_each_end_has_the_error_of_its_own_side() {
        let window = |at: u64| {
            // In each window 40% lie before the value that most share; beyond it lie none or 40%, ten windows on end.
            let beyond = if (at / 10).is_multiple_of(2) { 0 } else { 40 };
            let mut window = LatencyCounts::default();
            (0..40).for_each(|ns| window.add(bin(1000 + ns), 1));
            window.add(bin(1_000_000), 60 - beyond);
            (0..beyond).for_each(|ns| window.add(bin(2_000_000 + ns), 1));
            window
        };
        let found = of_windows(&(0..60).map(window).collect::<Vec<_>>());
        assert_eq!(found.quantiles[0].interval, Some((1_000_000.0, Some(1_000_001.0))));
    }

    #[test]
    fn intervals_ascend_with_their_quantiles() {
        let of = |interval| Quantile { share: 0.0, value: Measure::exact(0.0), interval };
        let mut quantiles =
            [Some((5.0, None)), None, Some((3.0, Some(9.0))), Some((7.0, Some(8.0))), Some((8.0, None))].map(of);
        ascend(&mut quantiles);
        let found = quantiles.map(|quantile| quantile.interval);
        let expected =
            [Some((5.0, Some(8.0))), None, Some((5.0, Some(8.0))), Some((7.0, Some(8.0))), Some((8.0, None))];
        assert_eq!(found, expected);
    }

    /// As a load generator that prints p50 and p99 states them.
    #[test]
    fn printed_quantiles_come_out_as_printed_and_others_as_intervals() {
        let wide = |low, high| Bin { low: Nanos(low), high: Some(Nanos(high)) };
        let mut all = LatencyCounts::default();
        all.add(wide(0, 1_000_001), 49_999);
        all.add(wide(999_000, 1_001_001), 1);
        all.add(wide(999_000, 12_345_001), 48_999);
        all.add(wide(12_335_000, 12_345_001), 1);
        all.add(wide(12_335_000, 90_000_001), 999);
        all.add(wide(89_000_000, 90_000_001), 1);
        let found = of_windows(&[all]);
        let value = |at: usize| found.quantiles[at].value;
        assert_eq!((value(0), value(2)), (Measure::exact(1_000_000.0), Measure::exact(12_340_000.0)));
        let coarse = Measure::Missing(Why::CoarseBins);
        assert_eq!((value(1), value(3)), (coarse, coarse));
        assert_eq!(found.quantiles[1].interval.unwrap(), (999_000.0, Some(12_345_001.0)));
        assert_eq!(found.quantiles[3].interval.unwrap(), (12_335_000.0, Some(90_000_001.0)));
        assert_eq!(found.quantiles[2].interval.unwrap(), (999_000.0, Some(90_000_001.0)));
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
        assert_eq!(found.quantiles[2].value, Measure::Missing(Why::BeyondRange));
    }
}
