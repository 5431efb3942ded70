//! The latency of operations at a width: quantiles of all operations of its runs, with the scatter of the runs.
//! A run keeps its distribution in a bounded number of bins, so that a sweep of any length fits into memory.

use super::estimate::t95;
use super::types::{Estimate, Run, RunLatency};
use crate::analysis::Window;
use crate::analysis::operation_latency::{LatencyCounts, QUANTILES, latencies};
use crate::analysis::stats::Moments;
use crate::model::profile::Profile;
use crate::model::{Measure, Why};
use serde::Serialize;

/// Bins that a run keeps.
const MOST_BINS: usize = 8192;

/// Operations beyond a quantile that it takes to be known, as in a report.
const FEWEST_BEYOND: f64 = 10.0;

impl RunLatency {
    /// The latencies of a window of a run; `None` if they were not to be measured. Without operations it is empty.
    #[must_use]
    pub fn of(profile: &Profile, window: Window) -> Option<RunLatency> {
        match latencies(profile, window) {
            Some(found) => {
                let counts = found.counts.bounded(MOST_BINS);
                Some(RunLatency { counts, quantiles: found.quantiles })
            }
            None => profile.meta.plan.latency.as_ref().map(|_| RunLatency::default()),
        }
    }
}

/// The latency of the operations of a width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointLatency {
    /// Operations of all its runs.
    pub count: u64,
    /// Operations per second, the mean over the runs.
    pub per_second: Estimate,
    /// The quantiles of a report, ascending.
    pub quantiles: Vec<PointQuantile>,
    /// The longest latency, nanoseconds; `None` without operations, and if nothing bounds it.
    pub longest: Option<f64>,
    /// What the intervals come from.
    pub scatter: Scatter,
}

/// What an interval of a quantile comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scatter {
    /// The runs of the width, by Student's t on the logarithms of their quantiles.
    Runs,
    /// The windows of its only run.
    Windows,
}

/// A quantile of the operations of a width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PointQuantile {
    /// The share of the operations that took no longer, 0 to 1.
    pub share: f64,
    /// Its value in nanoseconds.
    pub value: Measure<f64>,
    /// It lies between these with 95% confidence, nanoseconds; `None` above if nothing bounds it.
    pub interval: Option<(f64, Option<f64>)>,
}

impl PointLatency {
    /// The latency of a width; `None` if no run measured it.
    #[must_use]
    pub fn of(runs: &[Run]) -> Option<PointLatency> {
        let measured: Vec<&RunLatency> = runs.iter().filter_map(|run| run.latency.as_ref()).collect();
        let mut counts = LatencyCounts::default();
        measured.iter().for_each(|run| counts.merge(&run.counts));
        let rate = |run: &Run| Some(run.latency.as_ref()?.counts.count() as f64 / run.totals.wall);
        let per_second = Estimate::of(&runs.iter().filter_map(rate).collect::<Vec<_>>())?;
        let quantiles = QUANTILES.iter().enumerate().map(|(at, share)| quantile(&counts, &measured, at, *share));
        Some(PointLatency {
            count: counts.count(),
            per_second,
            quantiles: quantiles.collect(),
            longest: counts.longest().and_then(|bin| bin.value().value().copied()),
            scatter: if measured.len() > 1 { Scatter::Runs } else { Scatter::Windows },
        })
    }

    /// The quantile of a share.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<&PointQuantile> {
        self.quantiles.iter().find(|quantile| quantile.share == share)
    }
}

impl PointQuantile {
    /// Its value for the table. Half the width of an interval hides that it reaches further up than down.
    pub(super) fn estimate(&self, runs: u32) -> Measure<Estimate> {
        let half = self.interval.and_then(|(low, high)| Some((high? - low) / 2.0));
        self.value.map(|mean| Estimate { mean, half, runs })
    }
}

fn quantile(counts: &LatencyCounts, runs: &[&RunLatency], at: usize, share: f64) -> PointQuantile {
    let missing = |why| PointQuantile { share, value: Measure::Missing(why), interval: None };
    let Some(bin) = counts.quantile(share) else { return missing(Why::Idle) };
    if counts.count() as f64 * (1.0 - share).min(share) < FEWEST_BEYOND {
        return missing(Why::TooFewSamples);
    }
    // A source with wide bins does not say where in one the quantile lies.
    let value = match bin.value() {
        Measure::Known { value, .. } => value,
        Measure::Missing(why) => return missing(why),
    };
    let interval = match runs {
        [one] => one.quantiles.get(at).and_then(|quantile| quantile.interval),
        runs => scatter(runs, at).map(|half| (value * (-half).exp(), Some(value * half.exp()))),
    };
    PointQuantile { share, value: Measure::exact(value), interval }
}

/// Half the width of the interval of the logarithm, from runs as units: operations of one run resemble each other.
/// `None` if a run has too few operations for the quantile.
fn scatter(runs: &[&RunLatency], at: usize) -> Option<f64> {
    let log = |run: &&RunLatency| {
        let value = *run.quantiles.get(at)?.value.value()?;
        (value > 0.0).then(|| value.ln())
    };
    let logs = runs.iter().map(log).collect::<Option<Vec<f64>>>()?;
    let Moments { count, variance, .. } = Moments::of(&logs)?;
    Some(t95(count - 1.0)? * (variance? / count).sqrt()).filter(|half| half.is_finite())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{latency, run};
    use super::*;
    use crate::analysis::operation_latency::Bin;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{LatencyCount, LatencySpec};
    use crate::units::Nanos;
    use proptest::prelude::*;

    fn measured(latencies: &[(u64, u64)]) -> Run {
        Run { latency: Some(latency(latencies)), ..run(2, 100.0) }
    }

    #[test]
    fn quantiles_are_those_of_all_operations_and_their_intervals_those_of_the_runs() {
        let runs = [1000, 2000, 4000].map(|slow| measured(&[(100, 980), (slow, 20)]));
        let found = PointLatency::of(&runs).unwrap();
        assert_eq!((found.count, found.scatter, found.longest), (3000, Scatter::Runs, Some(4000.0)));
        assert_eq!(found.per_second.mean, 100.0, "of ten seconds each");
        let p50 = found.quantile(0.5).unwrap();
        assert_eq!((p50.value, p50.interval), (Measure::exact(100.0), Some((100.0, Some(100.0)))));
        // Of 60 slow operations the 31st is of 2000 ns. Logarithms of 1, 2, 4 thousand: deviation ln 2, t of 2 is 4.303.
        let p99 = found.quantile(0.99).unwrap();
        let half = (4.302_653 * 2.0_f64.ln() / 3.0_f64.sqrt()).exp();
        let (low, high) = p99.interval.unwrap();
        assert_eq!(p99.value, Measure::exact(2000.0));
        assert!((low - 2000.0 / half).abs() < 0.1 && (high.unwrap() - 2000.0 * half).abs() < 1.0, "{p99:?}");
        assert_eq!(found.quantile(0.9999).unwrap().value, Measure::Missing(Why::TooFewSamples));
    }

    #[test]
    fn one_run_has_the_intervals_of_its_windows_and_none_measured_is_none() {
        let one = measured(&[(100, 980), (900, 20)]);
        let found = PointLatency::of(std::slice::from_ref(&one)).unwrap();
        assert_eq!(found.scatter, Scatter::Windows);
        let own = one.latency.unwrap().quantiles[2].interval;
        assert!(own.is_some() && found.quantile(0.99).unwrap().interval == own);
        assert_eq!(PointLatency::of(&[run(2, 100.0)]), None);
        let silent = PointLatency::of(&[Run { latency: Some(RunLatency::default()), ..run(2, 100.0) }]).unwrap();
        assert_eq!((silent.count, silent.quantile(0.5).unwrap().value), (0, Measure::Missing(Why::Idle)));
    }

    #[test]
    fn a_quantile_in_a_wide_or_open_bin_is_missing_with_that_reason() {
        let mut counts = LatencyCounts::default();
        counts.add(Bin { low: Nanos(1_000), high: Some(Nanos(5_000)) }, 950);
        counts.add(Bin { low: Nanos(5_000), high: None }, 50);
        let latency = RunLatency { counts, quantiles: Vec::new() };
        let found = PointLatency::of(&[Run { latency: Some(latency), ..run(2, 100.0) }]).unwrap();
        let value = |share| found.quantile(share).unwrap().value;
        assert_eq!(value(0.5), Measure::Missing(Why::CoarseBins));
        assert_eq!((value(0.99), found.longest), (Measure::Missing(Why::BeyondRange), None));
    }

    #[test]
    fn a_run_with_too_few_operations_leaves_a_quantile_without_an_interval() {
        let runs = [measured(&[(100, 9800), (900, 200)]), measured(&[(100, 5)])];
        let found = PointLatency::of(&runs).unwrap();
        let p99 = found.quantile(0.99).unwrap();
        assert_eq!((p99.value, p99.interval), (Measure::exact(900.0), None));
    }

    #[test]
    fn a_run_reads_its_window_of_the_recording() {
        let mut synthetic = Synthetic::new();
        synthetic.tick(1000, 1000).tick(2000, 1000);
        let window = Window { from: ms(1000), to: ms(2000) };
        let mut profile = synthetic.finish();
        assert_eq!(RunLatency::of(&profile, window), None);
        profile.meta.plan.latency = Some(LatencySpec::Calls { binary: "/a".into(), symbol: "b".into() });
        assert_eq!(RunLatency::of(&profile, window), Some(RunLatency::default()));
        for at in [1000, 2000] {
            let (low, high) = (Nanos(at), Some(Nanos(at + 1)));
            profile.latencies.push(LatencyCount { at: ms(at), low, high, count: 30 });
        }
        let found = RunLatency::of(&profile, window).unwrap();
        assert_eq!((found.counts.count(), found.quantiles[0].value), (30, Measure::exact(2000.0)));
    }

    proptest! {
        #[test]
        fn any_counts_have_ordered_quantiles_within_their_intervals(runs in prop::collection::vec(prop::collection::vec((1_u64..u64::MAX / 4, 0_u64..1 << 40), 0..9), 1..5)) {
            let runs: Vec<Run> = runs.iter().map(|latencies| measured(latencies)).collect();
            let found = PointLatency::of(&runs).unwrap();
            let values: Vec<f64> = found.quantiles.iter().filter_map(|it| it.value.value().copied()).collect();
            prop_assert!(values.is_sorted());
            for PointQuantile { value, interval, .. } in found.quantiles {
                if let (Some(value), Some((low, Some(high))), true) = (value.value(), interval, runs.len() > 1) {
                    prop_assert!(low <= *value && *value <= high);
                }
            }
        }
    }
}
