//! A metric of one window: its value with its formula and counters, or the reason it is missing.

use crate::model::{Measure, MetricId, Why};

/// One metric of one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Which metric.
    pub id: MetricId,
    /// Its value, or the reason it is missing.
    pub value: Measure<f64>,
    /// How it is computed from its counters: `wall` is the window's length, `d` the growth within it.
    pub formula: String,
    /// The counters it comes from.
    pub events: Vec<String>,
    /// Further explanation, mostly of a missing value.
    pub detail: Option<String>,
}

impl Metric {
    /// A metric with its formula and counters as the registry has them.
    pub(super) fn of(id: MetricId, value: Measure<f64>) -> Metric {
        let computation = id.def().computation;
        let events = computation.counters().into_iter().map(str::to_string).collect();
        Metric { id, value, formula: computation.text(), events, detail: None }
    }
}

/// The value of one of these metrics; not recorded if it is not among them.
#[must_use]
pub fn value_of(metrics: &[Metric], id: MetricId) -> Measure<f64> {
    metrics.iter().find(|metric| metric.id == id).map_or(Measure::Missing(Why::NotRecorded), |metric| metric.value)
}
