//! The metrics of a report.

use super::Report;
use crate::model::{MetricId, Section, Unit, Why};
use crate::view::{Measured, number};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricView {
    /// Its name; the key in the JSON form.
    #[serde(skip)]
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// The section it belongs to.
    pub section: Section,
    /// Its value, or why it is missing.
    #[serde(flatten)]
    pub value: Measured,
    /// Its unit.
    pub unit: Unit,
    /// How it is computed from its counters.
    pub formula: String,
    /// The counters it is computed from.
    pub events: Vec<String>,
    /// Details on why the value is missing; omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

pub(super) fn by_name<S: Serializer>(metrics: &[MetricView], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(metrics.len()))?;
    for metric in metrics {
        map.serialize_entry(metric.name, metric)?;
    }
    map.end()
}

impl Report {
    /// Finds a metric.
    #[must_use]
    pub fn metric(&self, id: MetricId) -> Option<&MetricView> {
        self.metrics.iter().find(|metric| metric.name == id.name())
    }

    /// How latency varies, in rows of label and text; the quantiles have a table of their own.
    #[must_use]
    pub fn latency_variation(&self) -> Vec<(&'static str, String)> {
        let varies = |metric: &&MetricView| {
            MetricId::named(metric.name).is_some_and(|id| id.def().computation.is_over_windows())
        };
        self.metrics.iter().filter(varies).map(|metric| (metric.label, metric.in_words())).collect()
    }

    /// The names of the missing metrics by reason, for people. Without operations there is no cost per operation, and
    /// without hardware counters nothing that they count: each is one entry, the latter only if no gap has said it.
    #[must_use]
    pub fn missing(&self) -> Vec<(String, Vec<String>)> {
        let mut reasons = self.reasons();
        match self.no_events() {
            Some((reason, _)) if self.counters_are_a_gap() => reasons.retain(|(known, _)| *known != reason),
            Some((reason, count)) => add(&mut reasons, &reason, &format!("{count} metrics of hardware events")),
            None => {}
        }
        reasons
    }

    /// Number of metrics that are missing because no hardware event was counted.
    pub(super) fn missing_without_events(&self) -> usize {
        let Some((reason, count)) = self.no_events() else { return 0 };
        let others = self.reasons().into_iter().find(|(known, _)| *known == reason);
        count + others.map_or(0, |(_, names)| names.len())
    }

    /// The names of the missing metrics by reason, without those of hardware events if none was counted.
    fn reasons(&self) -> Vec<(String, Vec<String>)> {
        let reason_of = |id| self.metric(id).and_then(MetricView::reason);
        let (operations, cycles, no_events) =
            (reason_of(MetricId::Operations), reason_of(MetricId::Cycles), self.no_events());
        let mut reasons = Vec::new();
        if let Some(reason) = &operations {
            add(&mut reasons, reason, "operations and what one costs");
        }
        for metric in &self.metrics {
            let Some(reason) = metric.reason() else { continue };
            match (metric.section, &no_events) {
                (Section::Operation, _) if operations.is_some() => {}
                (Section::Hardware, Some(_)) => {}
                // The table of latencies has the reasons.
                (Section::Latency, _) => {}
                (_, Some((events, _))) if cycles.as_ref() == Some(&reason) => add(&mut reasons, events, metric.name),
                _ => add(&mut reasons, &reason, metric.name),
            }
        }
        reasons
    }

    /// Why no metric has its hardware events, if none was counted, and how many metrics that are.
    fn no_events(&self) -> Option<(String, usize)> {
        let reasons = self.metrics.iter().filter(|metric| metric.section == Section::Hardware).map(MetricView::reason);
        let reasons: Vec<String> = reasons.collect::<Option<_>>()?;
        let count = |reason: &&String| reasons.iter().filter(|other| other == reason).count();
        let most = reasons.iter().max_by_key(count).filter(|_| self.hardware.groups.is_empty())?;
        Some((most.clone(), reasons.len()))
    }
}

fn add(reasons: &mut Vec<(String, Vec<String>)>, reason: &str, name: &str) {
    match reasons.iter_mut().find(|(known, _)| known == reason) {
        Some((_, names)) => names.push(name.to_string()),
        None => reasons.push((reason.to_string(), vec![name.to_string()])),
    }
}

impl MetricView {
    /// Its value with what it rests on, or why it is missing.
    #[must_use]
    pub fn in_words(&self) -> String {
        match (self.value.value(), &self.detail) {
            (None, _) => format!("- ({})", self.reason().unwrap_or_default()),
            (Some(value), None) => number::quantity(value, self.unit).joined(),
            (Some(value), Some(detail)) => format!("{} ({detail})", number::quantity(value, self.unit).joined()),
        }
    }

    /// Why it is missing; `None` if it was measured.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let Measured::Missing { reason, missing } = self.value else { return None };
        Some(match &self.detail {
            None => reason.to_string(),
            // A precise detail needs no general reason.
            Some(detail) if missing != Why::Suspect => detail.clone(),
            Some(detail) => format!("{reason}: {detail}"),
        })
    }
}
