//! What measuring cost: ironlaw's own CPU time, and what the target paid.

use super::MetricView;
use crate::model::{MetricId, Why};
use crate::view::Measured;
use serde::Serialize;

/// The cost of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OwnCostView {
    /// CPUs that ironlaw kept busy.
    pub ironlaw_cpu: Cost,
    /// Part of the target's CPU time that samples took, 0 to 1.
    pub target_samples: Cost,
    /// The same of what sees its waits.
    pub target_waits: Cost,
    /// The same of hardware counters.
    pub target_counters: Cost,
    /// The same of probes that measure latency.
    pub target_probes: Cost,
    /// The sum of those that are known, and of the CPU time that ironlaw took from the target where no CPU was idle.
    pub target_total: Cost,
}

/// A cost, or why it is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cost {
    /// It was measured.
    Known(f64),
    /// It was not measured.
    Missing {
        /// The reason.
        missing: Why,
        /// The reason in words.
        reason: &'static str,
    },
}

impl OwnCostView {
    /// By the metrics of a machine with so many CPUs.
    pub(super) fn of(metrics: &[MetricView], cpus: u32) -> OwnCostView {
        let cost =
            |id: MetricId| match metrics.iter().find(|metric| metric.name == id.name()).map(|metric| &metric.value) {
                Some(Measured::Known { value, .. }) => Cost::Known(*value),
                Some(Measured::Missing { missing, reason }) => Cost::Missing { missing: *missing, reason },
                None => Cost::missing(Why::NotRecorded),
            };
        let parts =
            [MetricId::SamplingShare, MetricId::WaitStacksShare, MetricId::CountingShare, MetricId::LatencyProbesShare];
        let [target_samples, target_waits, target_counters, target_probes] = parts.map(cost);
        let ironlaw_cpu = cost(MetricId::ToolCpuShare);
        let taken = ironlaw_cpu.value().zip(cost(MetricId::HostBusy).value());
        let taken = taken.and_then(|(own, busy)| taken_from_others(own, busy * f64::from(cpus), f64::from(cpus)));
        let known = parts.map(cost).into_iter().filter_map(Cost::value).chain(taken).reduce(|sum, part| sum + part);
        OwnCostView {
            ironlaw_cpu,
            target_samples,
            target_waits,
            target_counters,
            target_probes,
            target_total: known.map_or(Cost::missing(Why::NotRecorded), |sum| Cost::Known(sum.min(1.0))),
        }
    }
}

/// The part of its CPU time that every other program lost to ironlaw, the target as well as its neighbours, when so many CPUs
/// were busy on average. Only where no CPU is idle does ironlaw take from others: with less than one idle on average, that is
/// for the rest of the time. What it takes then, the others lose in proportion to what they used.
fn taken_from_others(own: f64, busy: f64, cpus: f64) -> Option<f64> {
    let full = (1.0 - (cpus - busy)).clamp(0.0, 1.0);
    let others = busy - own;
    (others > 0.0).then(|| (own * full / others).min(1.0))
}

impl Cost {
    fn missing(why: Why) -> Cost {
        Cost::Missing { missing: why, reason: why.text() }
    }

    fn value(self) -> Option<f64> {
        if let Cost::Known(value) = self { Some(value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ironlaw_takes_from_others_where_no_cpu_is_idle_and_in_proportion_to_what_they_use() {
        for (own, busy, cpus, expected) in [
            // A full machine: ironlaw's 0.1 CPUs are missing to those who used 1.9.
            (0.1, 2.0, 2.0, 0.1 / 1.9),
            // Half of a CPU was idle on average: half of the time, ironlaw found none.
            (0.1, 1.5, 2.0, 0.05 / 1.4),
            (0.1, 1.0, 2.0, 0.0),
            (0.1, 40.0, 64.0, 0.0),
            (0.1, 64.0, 64.0, 0.1 / 63.9),
            (0.5, 0.6, 1.0, 1.0),
        ] {
            let taken = taken_from_others(own, busy, cpus);
            assert!(taken.is_some_and(|taken| (taken - expected).abs() < 1e-9), "{own} of {busy}: {taken:?}");
        }
        assert_eq!(taken_from_others(0.1, 0.1, 2.0), None, "nothing else ran");
    }
}
