//! The latencies of a profile by window, and what the metrics of the registry say of a time.

use super::distribution::{Bin, LatencyCounts};
use super::entropy::{INTERVALS, entropy};
use super::variation::{availability, fluctuation, range};
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use crate::model::{LatencyCount, LatencyMeasure, Measure, Why};
use crate::units::Nanos;

/// Operations that it takes on the rarer side of a quantile.
const FEWEST_BEYOND: f64 = 10.0;
/// Operations that it takes for an entropy: in each interval some, if all were alike.
const FEWEST_FOR_ENTROPY: u64 = 10 * INTERVALS as u64;
/// The quantile that windows are compared by.
const TAIL: f64 = 0.99;

/// The latencies of a profile.
#[derive(Debug, Clone, Default)]
pub struct LatencyWindows {
    /// By the end of their windows, ascending. There may be thousands a window, so they are counted up when asked for.
    rows: Vec<LatencyCount>,
    /// Whether they were to be measured.
    measured: bool,
    slo: Option<Nanos>,
}

impl LatencyWindows {
    /// All windows of the profile.
    #[must_use]
    pub fn of(profile: &Profile) -> LatencyWindows {
        LatencyWindows::about(profile, Window { from: Nanos(0), to: Nanos(u64::MAX) })
    }

    /// Only what ended in this time.
    #[must_use]
    pub fn about(profile: &Profile, window: Window) -> LatencyWindows {
        let inside = profile.latencies.iter().filter(|row| row.at > window.from && row.at <= window.to);
        let mut rows: Vec<LatencyCount> = inside.copied().collect();
        rows.sort_by_key(|row| row.at);
        let plan = &profile.meta.plan;
        LatencyWindows { measured: plan.latency.is_some() || !profile.latencies.is_empty(), rows, slo: plan.slo }
    }

    /// The windows that ended in this time, oldest first.
    pub fn within(&self, window: Window) -> impl Iterator<Item = LatencyCounts> {
        let from = self.rows.partition_point(|row| row.at <= window.from);
        let to = self.rows.partition_point(|row| row.at <= window.to).max(from);
        self.rows[from..to].chunk_by(|a, b| a.at == b.at).map(|rows| {
            let mut counts = LatencyCounts::default();
            rows.iter().for_each(|row| counts.add(bin(row), row.count));
            counts
        })
    }

    /// Latencies between the shortest and the longest of all windows, in nanoseconds.
    fn extremes(&self) -> Option<(f64, f64)> {
        let middles = self.rows.iter().map(|row| bin(row).middle());
        middles.map(|middle| (middle, middle)).reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }

    /// What is known of the operations that ended in this time.
    #[must_use]
    pub fn reader(&self, window: Window) -> LatencyReader<'_> {
        let mut counts = LatencyCounts::default();
        let mut p99 = Vec::new();
        for one in self.within(window) {
            p99.push(quantile(&one, TAIL).value().copied());
            counts.merge(&one);
        }
        LatencyReader { all: self, counts, p99 }
    }
}

fn bin(row: &LatencyCount) -> Bin {
    Bin { low: row.low, high: row.high }
}

/// The latencies of one time.
#[derive(Debug, Clone)]
pub struct LatencyReader<'a> {
    all: &'a LatencyWindows,
    /// All operations.
    pub counts: LatencyCounts,
    /// The p99 of each window; `None` with too few operations.
    p99: Vec<Option<f64>>,
}

/// A quantile of all operations in nanoseconds; missing with too few beyond it.
#[must_use]
pub fn quantile(counts: &LatencyCounts, share: f64) -> Measure<f64> {
    if counts.count() as f64 * (1.0 - share).min(share) < FEWEST_BEYOND {
        return Measure::Missing(Why::TooFewSamples);
    }
    counts.value(share)
}

impl LatencyReader<'_> {
    /// The value, and what it rests on in words.
    pub fn measure(&self, measure: LatencyMeasure) -> (Measure<f64>, Option<String>) {
        if !self.all.measured {
            return (Measure::Missing(Why::NotRecorded), None);
        }
        let few = |value: Option<f64>| value.map_or(Measure::Missing(Why::TooFewSamples), Measure::exact);
        match measure {
            LatencyMeasure::Quantile(share) => (quantile(&self.counts, share), None),
            LatencyMeasure::Fluctuation => (few(fluctuation(&self.p99)), Some(self.judged(2))),
            LatencyMeasure::Range => (few(range(&self.p99)), Some(self.judged(2))),
            LatencyMeasure::Availability => match self.all.slo {
                Some(slo) => {
                    let about = format!("SLO {} us; {}", slo.as_f64() / 1e3, self.judged(1));
                    (few(availability(&self.p99, slo.as_f64())), Some(about))
                }
                None => (Measure::Missing(Why::NoSlo), None),
            },
            LatencyMeasure::Entropy => self.entropy(),
        }
    }

    /// How many windows have a p99; of fewer than needed, what it would take.
    fn judged(&self, fewest: usize) -> String {
        let known = self.p99.iter().flatten().count();
        let least = (FEWEST_BEYOND / (1.0 - TAIL)).round();
        let several = if known == 1 { "" } else { "s" };
        match self.p99.len() - known {
            _ if known < fewest => {
                let windows = if fewest == 1 { "a window" } else { "two windows, one after the other," };
                format!("it needs {windows} of {least} operations or more")
            }
            0 => format!("{known} window{several}"),
            left => format!("{known} window{several}; {left} with fewer than {least} operations left out"),
        }
    }

    fn entropy(&self) -> (Measure<f64>, Option<String>) {
        let Some((best, worst)) = self.all.extremes().filter(|_| self.counts.count() >= FEWEST_FOR_ENTROPY) else {
            let needed = format!("it needs {FEWEST_FOR_ENTROPY} operations or more");
            return (Measure::Missing(Why::TooFewSamples), Some(needed));
        };
        let width = (worst - best) / INTERVALS as f64;
        let text = format!("{INTERVALS} intervals of {width:.0} ns from {best:.0} ns on, and one at either end");
        (Measure::exact(entropy(&self.counts, (best, worst), INTERVALS)), Some(text))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::LatencySpec;

    /// Windows of a second, each with its rows of latency in nanoseconds and operations.
    fn profile(windows: &[&[(u64, u64)]]) -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic.meta.plan.latency = Some(LatencySpec::Calls { binary: "/bin/app".into(), symbol: "serve".into() });
        let mut profile = synthetic.finish();
        for (at, rows) in windows.iter().enumerate() {
            let row = |(low, count): &(u64, u64)| LatencyCount {
                at: ms((at as u64 + 1) * 1000),
                low: Nanos(*low),
                high: Some(Nanos(low + 1)),
                count: *count,
            };
            profile.latencies.extend(rows.iter().map(row));
        }
        profile
    }

    fn read(profile: &Profile, to_ms: u64, measure: LatencyMeasure) -> (Measure<f64>, Option<String>) {
        LatencyWindows::of(profile).reader(Window { from: ms(0), to: ms(to_ms) }).measure(measure)
    }

    #[test]
    fn a_quantile_of_several_windows_is_that_of_all_their_operations() {
        let two = profile(&[&[(1000, 1980), (5000, 20)], &[(3000, 2000)]]);
        let p = |share, to_ms| read(&two, to_ms, LatencyMeasure::Quantile(share)).0;
        assert_eq!((p(0.99, 1000), p(0.99, 2000)), (Measure::exact(1000.0), Measure::exact(3000.0)));
        assert_eq!(p(0.999, 2000), Measure::Missing(Why::TooFewSamples), "four lie beyond it");
    }

    #[test]
    fn windows_with_too_few_operations_are_left_out_and_counted() {
        let all = profile(&[&[(100, 1000)], &[(120, 1000)], &[(900, 999)], &[(120, 1000)], &[(100, 1000)]]);
        let (value, detail) = read(&all, 5000, LatencyMeasure::Fluctuation);
        // 100 to 120, nothing across the gap, 120 to 100.
        assert!((value.value().unwrap() - (20.0 / 120.0 + 0.2) / 2.0).abs() < 1e-12, "{value:?}");
        assert_eq!(detail.as_deref(), Some("4 windows; 1 with fewer than 1000 operations left out"));
        let (value, detail) = read(&all, 1000, LatencyMeasure::Fluctuation);
        assert_eq!(value, Measure::Missing(Why::TooFewSamples));
        assert_eq!(detail.as_deref(), Some("it needs two windows, one after the other, of 1000 operations or more"));
    }

    #[test]
    fn availability_needs_an_slo() {
        let mut all = profile(&[&[(100, 1000)], &[(120, 1000)], &[(900, 999)], &[(100, 1000)]]);
        assert_eq!(read(&all, 4000, LatencyMeasure::Availability).0, Measure::Missing(Why::NoSlo));
        all.meta.plan.slo = Some(Nanos(110));
        let (value, detail) = read(&all, 4000, LatencyMeasure::Availability);
        assert!((value.value().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{value:?}");
        assert!(detail.unwrap().starts_with("SLO 0.11 us; 3 windows; 1 with"));
    }

    #[test]
    fn an_entropy_states_its_intervals_and_what_was_not_measured_is_not_recorded() {
        let all = profile(&[&[(1000, 500), (2000, 500)], &[(11_000, 1000)]]);
        let (value, detail) = read(&all, 2000, LatencyMeasure::Entropy);
        assert!((value.value().unwrap() - (0.5 * 4.0_f64.ln() + 0.5 * 2.0_f64.ln())).abs() < 1e-12, "{value:?}");
        assert_eq!(detail.as_deref(), Some("100 intervals of 100 ns from 1000 ns on, and one at either end"));
        let none = Synthetic::new().finish();
        let reader = LatencyWindows::of(&none);
        let reader = reader.reader(Window { from: ms(0), to: ms(1000) });
        assert_eq!(reader.measure(LatencyMeasure::Entropy).0, Measure::Missing(Why::NotRecorded));
    }

    #[test]
    fn a_quantile_beyond_the_last_bound_is_no_number() {
        let mut counts = LatencyCounts::default();
        counts.add(Bin { low: Nanos(0), high: Some(Nanos(1000)) }, 900);
        counts.add(Bin { low: Nanos(1000), high: None }, 99);
        assert_eq!(quantile(&counts, 0.99), Measure::Missing(Why::TooFewSamples));
        counts.add(Bin { low: Nanos(1000), high: None }, 1);
        assert_eq!(quantile(&counts, 0.99), Measure::Missing(Why::BeyondRange));
        assert_eq!(quantile(&counts, 0.5), Measure::Missing(Why::CoarseBins));
    }
}
