//! What is said of two versions of a job.

use crate::analysis::fleet::estimate::Estimate;
use crate::model::Measure;
use serde::Serialize;

/// Comparisons of versions, and checks of their sums over platforms.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct VersionAnswer {
    /// One for each platform of a job and pair of versions.
    pub comparisons: Vec<VersionComparison>,
    /// One for each job and pair of versions on several platforms.
    pub checks: Vec<PlatformCheck>,
    /// The same pairs over all their platforms together.
    pub pooled: Vec<PooledChange>,
}

/// The change from one version of a job to another over several platforms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledChange {
    /// The job.
    pub job: String,
    /// The old version.
    pub base: String,
    /// The new version.
    pub new: String,
    /// Platforms on which both ran on several hosts.
    pub platforms: u64,
    /// Hosts there that ran the old and the new one.
    pub hosts: [u64; 2],
    /// By which share the new version costs more at equal intensity: the mean of the platforms' changes, weighted by hosts.
    pub cost_change: Measure<Estimate>,
    /// The probability of so large a change by chance, two-sided.
    pub p: Measure<f64>,
    /// The same corrected for the number of pairs (Benjamini-Hochberg).
    pub p_corrected: Measure<f64>,
    /// The probability of platforms so different by chance if the change is the same on all (Welch).
    pub p_alike: Measure<f64>,
}

impl PooledChange {
    /// Whether platforms differ beyond chance: their mean is then the change on none of them.
    #[must_use]
    pub fn differs_by_platform(&self) -> bool {
        self.p_alike.value().is_some_and(|p| *p < 0.01)
    }
}

/// Two versions of a job on one platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VersionComparison {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// The old version.
    pub base: String,
    /// The new version.
    pub new: String,
    /// Hosts that ran the old and the new one.
    pub hosts: [u64; 2],
    /// Their windows.
    pub windows: [u64; 2],
    /// Hosts that are left out, here and below: their cost lies far from that of all others.
    pub left_out: Vec<String>,
    /// At which intensity each ran.
    pub intensity: [Intensity; 2],
    /// CPU seconds per operation at the intensities of both versions together (multi-intensity average).
    pub cost: [Measure<Estimate>; 2],
    /// By which share the new version costs more, at equal intensity.
    pub cost_change: Measure<Estimate>,
    /// The same of resource usage efficiency, operations per CPU second.
    pub rue_change: Measure<Estimate>,
    /// By which share the new version costs more as it ran: not adjusted for intensity.
    pub raw_cost_change: Measure<Estimate>,
    /// One-sided confidence that the new version is cheaper at equal intensity.
    pub confidence_cheaper: Measure<f64>,
    /// The probability of so large a change by chance, two-sided.
    pub p: Measure<f64>,
    /// The same corrected for the number of comparisons (Benjamini-Hochberg).
    pub p_corrected: Measure<f64>,
    /// Whether the versions ran at intensities that hardly overlap: the curve is then all that makes them comparable.
    pub extrapolated: bool,
    /// What the change consists of, not adjusted for intensity.
    pub factors: FactorSplit,
}

/// Operations per second of a host, over windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Intensity {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// The factors of CPU time per operation: their ratios multiply to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FactorSplit {
    /// CPU time per operation, over the windows in which cycles and instructions were counted too.
    pub whole: Measure<Estimate>,
    /// Instructions per operation.
    pub path_length: FactorChange,
    /// Cycles per instruction.
    pub cpi: FactorChange,
    /// Seconds per cycle.
    pub clock: FactorChange,
}

/// One factor of the new version over that of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FactorChange {
    /// The ratio.
    pub ratio: Measure<Estimate>,
    /// Its share of the whole change, by logarithms; missing if the whole changed by less than 0.5%.
    pub share: Measure<f64>,
}

/// A change over all platforms beside the change on each: a version that runs more on the platforms where the job is
/// cheap looks cheaper than it is (Simpson's paradox).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlatformCheck {
    /// The job.
    pub job: String,
    /// The old version.
    pub base: String,
    /// The new version.
    pub new: String,
    /// Platforms that both ran on.
    pub platforms: Vec<PlatformCost>,
    /// CPU seconds per operation of each version, over these platforms together.
    pub whole: [f64; 2],
    /// The new version's with the old version's mixture of platforms.
    pub standardised: f64,
    /// The part of the difference from the platforms themselves (Kitagawa).
    pub rate_effect: f64,
    /// The part from their mixture.
    pub mix_effect: f64,
    /// Whether the whole moves one way and every platform the other: compare platforms, not the whole.
    pub disagrees: bool,
}

/// A job on one platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlatformCost {
    /// The CPU model.
    pub platform: String,
    /// Its share of the operations of each version.
    pub share: [f64; 2],
    /// CPU seconds per operation of each version.
    pub cost: [f64; 2],
}
