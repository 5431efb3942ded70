//! What is usual for a job on a platform (a CPI2 spec): mean, deviation, and the distribution of its values.

use super::estimate::Estimate;
use super::gev::{BinCount, Gev};
use super::ratio::RatioSums;
use super::rows::{numbers, runs, sums, texts};
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;

/// A distribution from fewer hosts says more about them than about the job (CPI2: 5 tasks).
const FEWEST_HOSTS: f64 = 5.0;
/// Fewer windows have no tail (CPI2: 100 samples).
const FEWEST_WINDOWS: f64 = 100.0;
/// Bins of `distribution.sql` per factor of e.
const BINS: f64 = 50.0;

/// The distribution of CPI (`cpi`) or of CPU time per operation (`cpu_s_per_op`) over the windows of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Usual {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// The name of the quantity.
    pub measure: String,
    /// Hosts.
    pub hosts: u64,
    /// Windows.
    pub windows: u64,
    /// The mean over windows; its interval is over hosts.
    pub mean: Measure<Estimate>,
    /// The standard deviation over windows.
    pub sd: Measure<f64>,
    /// The extreme value distribution that fits best.
    pub fit: Measure<GevFit>,
}

impl Usual {
    /// Whether it has enough hosts and windows to say which host is unusual: `outliers.sql` asks no others.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.hosts as f64 >= FEWEST_HOSTS && self.windows as f64 >= FEWEST_WINDOWS
    }
}

/// A fitted extreme value distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GevFit {
    /// Location.
    pub location: f64,
    /// Scale.
    pub scale: f64,
    /// Shape; positive with a heavy upper tail.
    pub shape: f64,
    /// Standard errors of location, scale and shape, widened as the error over hosts of the mean is wider than that of as
    /// many independent windows.
    pub errors: Measure<[f64; 3]>,
    /// The value that one window in 1,000 exceeds.
    pub quantile_999: f64,
    /// The largest difference between the shares of windows below a value, fitted and counted: how far to trust the fit.
    pub deviation: f64,
}

impl GevFit {
    /// The distribution.
    #[must_use]
    pub fn distribution(&self) -> Gev {
        Gev { location: self.location, scale: self.scale, shape: self.shape }
    }
}

/// Distributions in the order of `distribution.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn usual(table: &ResultTable) -> Result<Vec<Usual>> {
    let [job, platform, measure] = texts(table, ["job", "platform", "measure"])?;
    let [bin] = numbers(table, ["bin"])?;
    let [windows, total, squares] = sums(table, ["windows", "total", "squares"])?;
    let means = RatioSums::columns(table, "mean")?;
    let mut all = Vec::new();
    for rows in runs(table.rows, |at| (&job[at], &platform[at], &measure[at])) {
        let first = rows.start;
        let sum = |of: &[f64]| of[rows.clone()].iter().sum::<f64>();
        let (count, total, squares) = (sum(&windows), sum(&total), sum(&squares));
        let mean = means[first].estimate();
        let variance = (squares - total * total / count) / (count - 1.0);
        let sd = match variance.max(0.0).sqrt() {
            sd if count > 1.0 && sd.is_finite() => Measure::exact(sd),
            _ => Measure::Missing(Why::TooFewSamples),
        };
        let bins = rows.clone().filter_map(|at| {
            let low = bin[at]?;
            let [low, high] = [low, low + 1.0].map(|edge| (edge / BINS).exp());
            Some(BinCount { low, high, count: windows[at] })
        });
        all.push(Usual {
            job: job[first].clone(),
            platform: platform[first].clone(),
            measure: measure[first].clone(),
            hosts: means[first].hosts as u64,
            windows: count as u64,
            mean,
            sd,
            fit: fit(&bins.collect::<Vec<_>>(), &means[first], sd),
        });
    }
    Ok(all)
}

fn fit(bins: &[BinCount], sums: &RatioSums, sd: Measure<f64>) -> Measure<GevFit> {
    if sums.hosts < FEWEST_HOSTS {
        return Measure::Missing(Why::TooFewHosts);
    }
    if sums.x < FEWEST_WINDOWS {
        return Measure::Missing(Why::TooFewSamples);
    }
    let Some((gev, errors)) = Gev::fit(bins) else { return Measure::Missing(Why::Unvarying) };
    let independent = sd.value().map(|sd| sd / sums.x.sqrt());
    let wider = sums.error().zip(independent).map(|(error, independent)| (error.error / independent).max(1.0));
    let errors = errors.zip(wider).map(|(errors, wider)| errors.map(|error| error * wider));
    Measure::exact(GevFit {
        location: gev.location,
        scale: gev.scale,
        shape: gev.shape,
        errors: errors.map_or(Measure::Missing(Why::TooFewSamples), Measure::exact),
        quantile_999: gev.quantile(0.999),
        deviation: deviation(&gev, bins),
    })
}

/// Kolmogorov's distance at the edges of bins.
fn deviation(gev: &Gev, bins: &[BinCount]) -> f64 {
    let all: f64 = bins.iter().map(|bin| bin.count).sum();
    let mut below = 0.0;
    let mut largest = 0.0_f64;
    for bin in bins {
        largest = largest.max((1.0 - gev.above(bin.low) - below / all).abs());
        below += bin.count;
        largest = largest.max((1.0 - gev.above(bin.high) - below / all).abs());
    }
    largest
}
