//! Classes of contention after Intel's Platform Resource Manager: at each level of use, fences learnt from all windows,
//! and what lies beyond them. Fences put up to a tenth of ordinary windows outside: a share near that is no evidence.

use super::mixture::{Component, Weighted, likeliest, mixture};
use super::rows::{numbers, runs, sums, texts};
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;

/// Bins of `contention.sql` per factor of e.
const BINS: f64 = 20.0;
/// The share of windows that a fence should leave outside at most.
const OUTSIDE: f64 = 0.1;
/// Fewer windows have no fence.
const FEWEST_WINDOWS: f64 = 20.0;

/// Windows of a job on a platform at one level of use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContentionLevel {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// The least CPU use of its windows, in halves of a CPU.
    pub half_cpus: i64,
    /// Hosts.
    pub hosts: u64,
    /// Windows.
    pub windows: u64,
    /// The fences learnt from them.
    pub fences: Fences,
    /// Windows by class; missing without a fence of CPI.
    pub classes: Measure<ContentionCounts>,
}

/// Values beyond which a window is unusual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fences {
    /// Cycles per instruction, upper.
    pub cpi: Measure<f64>,
    /// Last-level-cache misses per 1,000 instructions, upper.
    pub llc_mpki: Measure<f64>,
    /// Memory bandwidth of the host in bytes per second, lower.
    pub memory_bytes_per_s: Measure<f64>,
}

/// Windows by class. A window may be of both kinds of contention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ContentionCounts {
    /// CPI above its fence.
    pub unusual: u64,
    /// Of these, misses above their fence.
    pub last_level_cache: u64,
    /// Of these, bandwidth below its fence: memory gives less than the job usually gets.
    pub memory_bandwidth: u64,
    /// Of these, neither, with both measured.
    pub unknown: u64,
    /// Of these, neither, with misses or bandwidth not measured.
    pub not_measured: u64,
}

/// The classes of one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Contention {
    /// CPI is above its fence.
    pub unusual: bool,
    /// So are the misses.
    pub last_level_cache: bool,
    /// Bandwidth is below its fence.
    pub memory_bandwidth: bool,
    /// Whether misses and bandwidth were measured and have fences.
    pub measured: bool,
}

impl Fences {
    /// The classes of a window; `None` without a fence of CPI.
    #[must_use]
    pub fn classes(&self, cpi: f64, mpki: Option<f64>, bandwidth: Option<f64>) -> Option<Contention> {
        let unusual = cpi > *self.cpi.value()?;
        let misses = mpki.zip(self.llc_mpki.value()).map(|(value, fence)| value > *fence);
        let memory = bandwidth.zip(self.memory_bytes_per_s.value()).map(|(value, fence)| value < *fence);
        Some(Contention {
            unusual,
            last_level_cache: unusual && misses == Some(true),
            memory_bandwidth: unusual && memory == Some(true),
            measured: misses.is_some() && memory.is_some(),
        })
    }
}

/// Levels of `contention.sql`. A fence lies `span` standard deviations from the mean of a component (PRM: 3).
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn contention(table: &ResultTable, span: f64) -> Result<Vec<ContentionLevel>> {
    let [job, platform, part] = texts(table, ["job", "platform", "part"])?;
    let [half_cpus, hosts, windows] = sums(table, ["half_cpus", "hosts", "windows"])?;
    let [cpi, mpki, bandwidth] = numbers(table, ["cpi_bin", "mpki_bin", "bandwidth_bin"])?;
    let mut all = Vec::new();
    for rows in runs(table.rows, |at| (&job[at], &platform[at], half_cpus[at] as i64)) {
        let of_part = |name: &'static str| rows.clone().filter(|at| part[*at] == *name);
        let bins = |name, bins: &[Option<f64>]| {
            let bins = of_part(name).filter_map(|at| Some(weighted(bins[at]?, windows[at])));
            bins.collect::<Vec<_>>()
        };
        let (cpi_bins, mpki_bins) = (bins("cpi", &cpi), bins("mpki", &mpki));
        let fences = Fences {
            cpi: fence(&cpi_bins, span, Side::Upper),
            llc_mpki: fence(&mpki_bins, span, Side::Upper),
            memory_bytes_per_s: fence(&bins("bandwidth", &bandwidth), span, Side::Lower),
        };
        let middle = |bin: f64| weighted(bin, 0.0).value;
        let counted = fences.cpi.map(|_| {
            let mut counts = ContentionCounts::default();
            for at in of_part("high") {
                let of = |bin: Option<f64>| bin.map(middle);
                let found = of(cpi[at]).and_then(|value| fences.classes(value, of(mpki[at]), of(bandwidth[at])));
                if let Some(found) = found.filter(|found| found.unusual) {
                    counts.add(found, windows[at] as u64);
                }
            }
            counts
        });
        // Windows below the upper fifth have no classes: a fence among them leaves too much outside to be one.
        let beyond = fences.cpi.value().map_or(0.0, |fence| beyond(&cpi_bins, *fence, Side::Upper)) as u64;
        let classes = match counted.value() {
            Some(counts) if counts.unusual < beyond => Measure::Missing(Why::TooFewSamples),
            _ => counted,
        };
        all.push(ContentionLevel {
            job: job[rows.start].clone(),
            platform: platform[rows.start].clone(),
            half_cpus: half_cpus[rows.start] as i64,
            hosts: hosts[rows.start] as u64,
            windows: cpi_bins.iter().map(|bin| bin.count).sum::<f64>() as u64,
            fences,
            classes,
        });
    }
    Ok(all)
}

impl ContentionCounts {
    fn add(&mut self, found: Contention, windows: u64) {
        let neither = !found.last_level_cache && !found.memory_bandwidth;
        self.unusual += windows;
        self.last_level_cache += u64::from(found.last_level_cache) * windows;
        self.memory_bandwidth += u64::from(found.memory_bandwidth) * windows;
        self.unknown += u64::from(neither && found.measured) * windows;
        self.not_measured += u64::from(neither && !found.measured) * windows;
    }
}

fn weighted(bin: f64, count: f64) -> Weighted {
    let [low, high] = [bin, bin + 1.0].map(|edge| (edge / BINS).exp());
    Weighted { value: f64::midpoint(low, high), width: high - low, count }
}

/// The side on which values are unusual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Upper,
    Lower,
}

/// Of the fences of all components, none beyond the component's own extremes, the one that leaves the share outside
/// closest to a tenth without exceeding it, otherwise the least.
fn fence(bins: &[Weighted], span: f64, side: Side) -> Measure<f64> {
    let count: f64 = bins.iter().map(|bin| bin.count).sum();
    if count < FEWEST_WINDOWS {
        return Measure::Missing(if count > 0.0 { Why::TooFewSamples } else { Why::NotRecorded });
    }
    let components = mixture(bins);
    let own: Vec<usize> = bins.iter().map(|bin| likeliest(&components, bin).unwrap_or(0)).collect();
    let of = |(at, component): (usize, &Component)| {
        let values = || bins.iter().zip(&own).filter(|(_, own)| **own == at).map(|(bin, _)| bin.value);
        let fence = match side {
            Side::Upper => values().fold(None, |most: Option<f64>, value| Some(most.map_or(value, |m| m.max(value)))),
            Side::Lower => values().fold(None, |least: Option<f64>, value| Some(least.map_or(value, |l| l.min(value)))),
        }?;
        let fence = match side {
            Side::Upper => fence.min(component.mean + span * component.sd),
            Side::Lower => fence.max(component.mean - span * component.sd),
        };
        Some((beyond(bins, fence, side) / count, fence))
    };
    let fences: Vec<(f64, f64)> = components.iter().enumerate().filter_map(of).collect();
    let allowed = fences.iter().filter(|fence| fence.0 <= OUTSIDE).max_by(|a, b| a.0.total_cmp(&b.0));
    let chosen = allowed.or_else(|| fences.iter().min_by(|a, b| a.0.total_cmp(&b.0)));
    chosen.map_or(Measure::Missing(Why::TooFewSamples), |fence| Measure::exact(fence.1))
}

/// Windows beyond a fence.
fn beyond(bins: &[Weighted], fence: f64, side: Side) -> f64 {
    let beyond = |bin: &&Weighted| if side == Side::Upper { bin.value > fence } else { bin.value < fence };
    bins.iter().filter(beyond).map(|bin| bin.count).sum()
}

#[cfg(test)]
#[path = "tests/contention.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
