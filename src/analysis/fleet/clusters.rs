//! Configurations of a cluster compared: operations per CPU second of each job, weighted by importance.

use super::estimate::{Estimate, StandardError, above_zero};
use super::rows::{sums, texts};
use super::wsmeter::{Stratum, sample_sizes};
use crate::analysis::stats::combined;
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;
use std::collections::BTreeMap;

/// How a cluster is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSettings {
    /// The configuration to compare the others with; by default the one with the most CPU time.
    pub base: Option<String>,
    /// Weights of jobs; by default their CPU time. A job without a weight is left out.
    pub weights: Option<BTreeMap<String, f64>>,
    /// The half width of the interval to plan hosts for, as a share.
    pub precision: f64,
}

impl Default for ClusterSettings {
    fn default() -> ClusterSettings {
        ClusterSettings { base: None, weights: None, precision: 0.01 }
    }
}

/// A configuration compared with the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterComparison {
    /// The base.
    pub base: String,
    /// The other configuration.
    pub new: String,
    /// Operations per CPU second over the base's: the weighted mean of the jobs' ratios.
    pub speed_up: Measure<Estimate>,
    /// The probability of so large a speed-up by chance, one-sided.
    pub p: Measure<f64>,
    /// The jobs in it.
    pub jobs: Vec<JobSpeedUp>,
    /// Jobs that are not in it, with the reason.
    pub left_out: Vec<LeftOut>,
    /// The share of the weights that was compared.
    pub covered: f64,
    /// The half width that `hosts_needed` is for, as a share.
    pub precision: f64,
}

/// One job in both configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobSpeedUp {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// Its share of the weights that were compared.
    pub weight: f64,
    /// Hosts of the base and of the other configuration.
    pub hosts: [u64; 2],
    /// Operations per CPU second over the base's.
    pub speed_up: Estimate,
    /// Hosts needed in each configuration for the precision (Neyman).
    pub hosts_needed: Measure<u64>,
}

/// A job that could not be compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// Why.
    pub why: Why,
}

/// A job on a platform in one configuration.
#[derive(Debug, Clone, Copy)]
struct Sample {
    cpu_s: f64,
    hosts: f64,
    mean: f64,
    variance: f64,
}

type Key = (String, String);
type Samples = BTreeMap<Key, BTreeMap<String, Sample>>;

/// Configurations of `configs.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn clusters(table: &ResultTable, settings: &ClusterSettings) -> Result<Vec<ClusterComparison>> {
    let [job, platform, config] = texts(table, ["job", "platform", "config"])?;
    let [hosts, cpu_s, rue, squared] = sums(table, ["hosts", "cpu_s", "rue", "rue_squared"])?;
    let mut samples = Samples::new();
    let mut configs: BTreeMap<&str, f64> = BTreeMap::new();
    for at in 0..table.rows {
        let mean = rue[at] / hosts[at];
        let variance = ((squared[at] - rue[at] * mean) / (hosts[at] - 1.0)).max(0.0);
        let sample = Sample { cpu_s: cpu_s[at], hosts: hosts[at], mean, variance };
        samples.entry((job[at].clone(), platform[at].clone())).or_default().insert(config[at].clone(), sample);
        *configs.entry(&config[at]).or_default() += cpu_s[at];
    }
    let largest = configs.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|config| *config.0);
    let Some(base) = settings.base.as_deref().or(largest) else { return Ok(vec![]) };
    let others = configs.keys().filter(|config| **config != base);
    Ok(others.map(|new| compared(&samples, base, new, settings)).collect())
}

fn compared(samples: &Samples, base: &str, new: &str, settings: &ClusterSettings) -> ClusterComparison {
    let mut all = 0.0;
    let mut pairs: Vec<(&Key, f64, [Sample; 2])> = Vec::new();
    let mut left_out = Vec::new();
    for (key, configs) in samples {
        let cpu_s: f64 = configs.values().map(|sample| sample.cpu_s).sum();
        let weight = settings.weights.as_ref().map_or(cpu_s, |weights| weights.get(&key.0).copied().unwrap_or(0.0));
        all += weight;
        let pair = configs.get(base).zip(configs.get(new));
        let why = match pair {
            _ if weight <= 0.0 => continue,
            None => Why::NotRecorded,
            Some((a, b)) if a.hosts < 2.0 || b.hosts < 2.0 => Why::TooFewHosts,
            Some((a, b)) if !(a.mean > 0.0 && b.mean > 0.0) => Why::Idle,
            Some((a, b)) => {
                pairs.push((key, weight, [*a, *b]));
                continue;
            }
        };
        left_out.push(LeftOut { job: key.0.clone(), platform: key.1.clone(), why });
    }
    let weights: f64 = pairs.iter().map(|pair| pair.1).sum();
    let strata: Vec<Stratum> = pairs.iter().map(|(_, weight, pair)| planned(weight / weights, pair)).collect();
    let needed = sample_sizes(&strata, settings.precision);
    let jobs: Vec<JobSpeedUp> = pairs
        .iter()
        .enumerate()
        .map(|(at, (key, weight, pair))| JobSpeedUp {
            job: key.0.clone(),
            platform: key.1.clone(),
            weight: weight / weights,
            hosts: pair.map(|sample| sample.hosts as u64),
            speed_up: ratio(pair),
            hosts_needed: needed.as_ref().map_or(Measure::Missing(Why::Idle), |needed| Measure::exact(needed[at])),
        })
        .collect();
    let whole = whole(&pairs, weights);
    ClusterComparison {
        base: base.to_string(),
        new: new.to_string(),
        speed_up: whole.map_or(Measure::Missing(Why::TooFewHosts), |whole| Measure::exact(whole.0)),
        p: whole.map_or(Measure::Missing(Why::TooFewHosts), |(found, error)| above_zero(found.value - 1.0, error)),
        jobs,
        left_out,
        covered: if all > 0.0 { weights / all } else { 0.0 },
        precision: settings.precision,
    }
}

/// The variances of a ratio of means by its two samples, with their degrees of freedom (delta method).
fn variances(pair: &[Sample; 2]) -> [(f64, f64); 2] {
    let ratio = pair[1].mean / pair[0].mean;
    pair.map(|sample| ((ratio / sample.mean).powi(2) * sample.variance / sample.hosts, sample.hosts - 1.0))
}

fn standard_error(parts: &[(f64, f64)]) -> Option<StandardError> {
    combined(parts).map(|(error, freedom)| StandardError { error, freedom })
}

fn ratio(pair: &[Sample; 2]) -> Estimate {
    Estimate::new(pair[1].mean / pair[0].mean, standard_error(&variances(pair)), pair[0].hosts + pair[1].hosts)
}

/// A job as one sample whose deviation is that of a ratio with as many hosts on both sides.
fn planned(weight: f64, pair: &[Sample; 2]) -> Stratum {
    let sd = pair.iter().zip(variances(pair)).map(|(sample, part)| part.0 * sample.hosts).sum::<f64>().sqrt();
    Stratum { weight, mean: pair[1].mean / pair[0].mean, sd, hosts: pair[0].hosts.min(pair[1].hosts) }
}

/// The weighted mean of all ratios.
fn whole(pairs: &[(&Key, f64, [Sample; 2])], weights: f64) -> Option<(Estimate, Option<StandardError>)> {
    if pairs.is_empty() {
        return None;
    }
    let value = pairs.iter().map(|(_, weight, pair)| weight / weights * pair[1].mean / pair[0].mean).sum();
    let parts = pairs.iter().flat_map(|(_, weight, pair)| {
        variances(pair).map(|(variance, freedom)| ((weight / weights).powi(2) * variance, freedom))
    });
    let error = standard_error(&parts.collect::<Vec<_>>());
    let hosts = pairs.iter().map(|(_, _, pair)| pair[0].hosts + pair[1].hosts).sum();
    Some((Estimate::new(value, error, hosts), error))
}

#[cfg(test)]
#[path = "tests/clusters.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
