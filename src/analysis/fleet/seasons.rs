//! What is usual at each hour of the day (UTC), and how much of the change of an hour is the season's. Days are the sample.

use super::estimate::{Estimate, StandardError};
use super::rows::{numbers, runs, sums, texts};
use crate::analysis::stats::Moments;
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;
use std::collections::BTreeMap;

const HOUR_S: i64 = 3600;
const HOURS: i64 = 24;

/// A job's course over the day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Season {
    /// The job.
    pub job: String,
    /// Operations per second of a host.
    pub operations_per_s: DailyCourse,
    /// CPU seconds per operation.
    pub cpu_s_per_op: DailyCourse,
}

/// A quantity over the day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DailyCourse {
    /// Hours of the day in which it was measured, in order.
    pub hours: Vec<HourOfDay>,
    /// The share of its variance that the hour of the day explains, 1 - Var(E) / Var(E + S), 0 to 1, with unbiased
    /// variances: independent of the hour it is 0 whatever the number of days.
    pub seasonality: Measure<DayEstimate>,
    /// The largest mean of an hour minus the smallest, over the mean of all 24 (max day - min night, relative). Scatter
    /// widens it, so over a week its interval holds the truth in some 90% of all cases.
    pub diurnal_inequality: Measure<DayEstimate>,
}

/// What is usual at an hour of the day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HourOfDay {
    /// The hour, 0 to 23, UTC.
    pub hour: u8,
    /// Mean over days.
    pub mean: DayEstimate,
    /// Standard deviation over days.
    pub sd: Measure<f64>,
    /// Hosts in the mean day.
    pub hosts: f64,
}

/// A number estimated over a sample of days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DayEstimate {
    /// The estimate.
    pub value: f64,
    /// Its 95% interval.
    pub interval: Measure<(f64, f64)>,
    /// Days in the sample.
    pub days: u64,
}

impl DayEstimate {
    fn new(value: f64, error: Option<StandardError>, days: usize) -> DayEstimate {
        let found = Estimate::new(value, error, days as f64);
        let interval = match found.interval {
            Measure::Missing(_) => Measure::Missing(Why::TooFewSamples),
            known @ Measure::Known { .. } => known,
        };
        DayEstimate { value, interval, days: found.hosts }
    }
}

/// An hour of a job.
#[derive(Debug, Clone, Copy)]
struct Hour {
    start_s: i64,
    value: f64,
    hosts: f64,
}

impl Hour {
    fn of_day(&self) -> i64 {
        self.start_s.div_euclid(HOUR_S).rem_euclid(HOURS)
    }

    fn day(&self) -> i64 {
        self.start_s.div_euclid(HOUR_S * HOURS)
    }
}

/// Jobs of `hours.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn seasons(table: &ResultTable) -> Result<Vec<Season>> {
    let [job] = texts(table, ["job"])?;
    let [start] = numbers(table, ["hour_s"])?;
    let [hosts, length, operations, cpu] = sums(table, ["hosts", "counted_length_s", "operations", "counted_cpu_s"])?;
    let mut all = Vec::new();
    for rows in runs(table.rows, |at| &job[at]) {
        let course = |y: &[f64], x: &[f64]| {
            let hour = |at: usize| {
                let value = Some(y[at] / x[at]).filter(|value| value.is_finite() && x[at] > 0.0)?;
                Some(Hour { start_s: start[at]? as i64, value, hosts: hosts[at] })
            };
            daily(&rows.clone().filter_map(hour).collect::<Vec<_>>())
        };
        all.push(Season {
            job: job[rows.start].clone(),
            operations_per_s: course(&operations, &length),
            cpu_s_per_op: course(&cpu, &operations),
        });
    }
    Ok(all)
}

fn daily(hours: &[Hour]) -> DailyCourse {
    if hours.is_empty() {
        let missing = Measure::Missing(Why::NotRecorded);
        return DailyCourse { hours: vec![], seasonality: missing, diurnal_inequality: missing };
    }
    let by_hour = by_hour(hours.iter());
    let usual = by_hour.iter().filter_map(|(hour, values)| {
        let found = Moments::of(&values.iter().map(|hour| hour.value).collect::<Vec<_>>())?;
        let error = found
            .variance
            .map(|variance| StandardError { error: (variance / found.count).sqrt(), freedom: found.count - 1.0 });
        let sd =
            found.variance.map_or(Measure::Missing(Why::TooFewSamples), |variance| Measure::exact(variance.sqrt()));
        let hosts = values.iter().map(|hour| hour.hosts).sum::<f64>() / found.count;
        Some(HourOfDay { hour: *hour as u8, mean: DayEstimate::new(found.mean, error, values.len()), sd, hosts })
    });
    DailyCourse {
        hours: usual.collect(),
        seasonality: over_days(hours, seasonality),
        diurnal_inequality: over_days(hours, inequality),
    }
}

fn by_hour<'a>(hours: impl Iterator<Item = &'a Hour>) -> BTreeMap<i64, Vec<&'a Hour>> {
    let mut all: BTreeMap<i64, Vec<&Hour>> = BTreeMap::new();
    hours.for_each(|hour| all.entry(hour.of_day()).or_default().push(hour));
    all
}

/// A number with the jackknife's error over days.
fn over_days(hours: &[Hour], of: fn(&[&Hour]) -> Option<f64>) -> Measure<DayEstimate> {
    let Some(value) = of(&hours.iter().collect::<Vec<_>>()) else { return Measure::Missing(Why::TooFewSamples) };
    let mut days: Vec<i64> = hours.iter().map(Hour::day).collect();
    days.sort_unstable();
    days.dedup();
    let without = |day: &i64| of(&hours.iter().filter(|hour| hour.day() != *day).collect::<Vec<_>>());
    let without: Option<Vec<f64>> = days.iter().map(without).collect();
    let count = days.len() as f64;
    let error = without.and_then(|values| {
        let spread = Moments::of(&values)?.variance? * (count - 1.0);
        Some(StandardError { error: ((count - 1.0) / count * spread).sqrt(), freedom: count - 1.0 })
    });
    Measure::exact(DayEstimate::new(value, error, days.len()))
}

/// `None` unless hours of the day repeat, or if nothing varies.
fn seasonality(hours: &[&Hour]) -> Option<f64> {
    let by_hour = by_hour(hours.iter().copied());
    let (count, levels) = (hours.len() as f64, by_hour.len() as f64);
    let squares = |values: &[&Hour]| {
        let mean = values.iter().map(|hour| hour.value).sum::<f64>() / values.len() as f64;
        values.iter().map(|hour| (hour.value - mean).powi(2)).sum::<f64>()
    };
    let whole = squares(hours) / (count - 1.0);
    let rest = by_hour.values().map(|values| squares(values)).sum::<f64>() / (count - levels);
    (levels > 1.0 && count > levels && whole > 0.0).then(|| (1.0 - rest / whole).max(0.0))
}

/// `None` unless every hour of the day was measured.
fn inequality(hours: &[&Hour]) -> Option<f64> {
    let by_hour = by_hour(hours.iter().copied());
    let mean = |values: &Vec<&Hour>| values.iter().map(|hour| hour.value).sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = by_hour.values().map(mean).collect();
    let (low, high) =
        means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), mean| (l.min(*mean), h.max(*mean)));
    let whole = means.iter().sum::<f64>() / means.len() as f64;
    (means.len() as i64 == HOURS && whole > 0.0).then(|| (high - low) / whole)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::fleet::testing::table;
    use crate::analysis::stats::Random;
    use crate::analysis::stats::simulate::{Frequency, trials};

    /// Days of a job whose rate is 100 with this swing over the day and this noise.
    fn job(days: i64, swing: f64, noise: f64, seed: u64) -> Season {
        let mut random = Random::new(seed);
        let hours: Vec<i64> = (0..days * HOURS).collect();
        let mut rate = |hour: &i64| {
            let turn = (*hour % HOURS) as f64 / HOURS as f64 * std::f64::consts::TAU;
            100.0 * (1.0 + swing * turn.sin() + noise * random.normal())
        };
        let rates: Vec<f64> = hours.iter().map(&mut rate).collect();
        let same = |value: f64| vec![value; hours.len()];
        let numbers = [
            ("hour_s", hours.iter().map(|hour| 1_700_006_400.0 + (hour * HOUR_S) as f64).collect()),
            ("hosts", same(3.0)),
            ("counted_length_s", same(3.0 * 3600.0)),
            ("operations", rates.iter().map(|rate| rate * 3.0 * 3600.0).collect()),
            ("counted_cpu_s", rates.iter().map(|rate| rate * 3.0 * 3600.0 * 0.01).collect()),
        ];
        seasons(&table(&[("job", vec!["web"; hours.len()])], &numbers)).unwrap().remove(0)
    }

    #[test]
    fn a_daily_swing_is_seasonal_and_its_inequality_twice_the_swing() {
        let found = job(7, 0.4, 0.02, 1).operations_per_s;
        let seasonality = found.seasonality.value().unwrap();
        let (low, high) = *seasonality.interval.value().unwrap();
        // 0.08 / (0.08 + 0.0004).
        assert!((seasonality.value - 0.995).abs() < 0.002 && low < 0.997 && 0.99 < high, "{seasonality:?}");
        let inequality = found.diurnal_inequality.value().unwrap();
        assert!((inequality.value - 0.8).abs() < 0.04 && inequality.days == 7, "{inequality:?}");
        assert_eq!((found.hours.len(), found.hours[5].hour, found.hours[5].hosts), (24, 5, 3.0));
        let noon = &found.hours[6];
        assert!((noon.mean.value - 140.0).abs() < 3.0 && (noon.sd.value().unwrap() - 2.0).abs() < 1.5, "{noon:?}");
    }

    /// How often the intervals of seasonality and diurnal inequality cover what was planted in a week.
    fn coverage(trials: u32) -> [Frequency; 2] {
        let [mut season, mut swing] = [Frequency::default(); 2];
        for seed in 0..trials {
            let found = job(7, 0.4, 0.1, u64::from(seed)).operations_per_s;
            let (low, high) = *found.seasonality.value().unwrap().interval.value().unwrap();
            season.count(low < 0.08 / 0.09 && 0.08 / 0.09 < high);
            let (low, high) = *found.diurnal_inequality.value().unwrap().interval.value().unwrap();
            swing.count(low < 0.8 && 0.8 < high);
        }
        [season, swing]
    }

    #[test]
    fn intervals_over_days_cover_what_was_planted() {
        let [season, swing] = coverage(40);
        assert!(season.part() > 0.87 && swing.part() > 0.8, "{season:?} {swing:?}");
    }

    #[test]
    #[ignore = "a minute: cargo test --release -- --ignored calibration --nocapture"]
    fn calibration_of_fleet_seasons() {
        let [season, swing] = coverage(trials());
        season.report("fleet seasons, a week: interval of seasonality holds the truth", "95%");
        // The largest of 24 means is above the largest hour's, the smallest below the smallest's.
        swing.report("fleet seasons, a week: interval of the diurnal inequality holds the truth", "at least 90%");
        assert!(season.interval(0.01).1 > 0.94 && swing.interval(0.01).1 > 0.9, "{season:?} {swing:?}");
    }

    #[test]
    fn noise_alone_has_no_season_even_over_two_days() {
        let mean = (0..40).map(|seed| job(2, 0.0, 0.1, seed).operations_per_s.seasonality.value().unwrap().value);
        let mean = mean.sum::<f64>() / 40.0;
        assert!(mean < 0.15, "without the correction it would be a half: {mean}");
        assert_eq!(job(2, 0.4, 0.0, 1).cpu_s_per_op.hours[0].mean.value, 0.01);
    }

    #[test]
    fn one_day_has_hours_but_neither_scatter_nor_seasonality() {
        let found = job(1, 0.4, 0.02, 1).operations_per_s;
        assert_eq!(found.seasonality, Measure::Missing(Why::TooFewSamples));
        assert_eq!(found.hours[0].sd, Measure::Missing(Why::TooFewSamples));
        assert_eq!(found.diurnal_inequality.value().unwrap().interval, Measure::Missing(Why::TooFewSamples));
    }
}
