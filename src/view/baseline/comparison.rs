//! A recording or live session compared with the baseline of its target: the assessment, with its conclusions in words.

use super::verdict::{BaselineSummary, WindowCounts, verdict};
use crate::analysis::attribution::{self, Assessment, QuantityDeviation, Settings};
use crate::analysis::baseline::{Levels, key_changes, key_of};
use crate::model::profile::Profile;
use crate::model::{Baseline, MetricId};
use crate::units::Nanos;
use serde::Serialize;

/// A recording or live session compared with its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineComparisonView {
    /// The conclusions, in sentences; the first is the answer.
    pub verdict: Vec<String>,
    /// The baseline.
    pub baseline: BaselineSummary,
    /// Number of windows by state.
    pub windows: WindowCounts,
    /// The assessment. If the last alarm is over, it explains that one.
    #[serde(flatten)]
    pub assessment: Assessment,
}

impl BaselineComparisonView {
    /// Compares a finished recording with a baseline.
    #[must_use]
    pub fn build(profile: &Profile, baseline: &Baseline) -> BaselineComparisonView {
        let assessment = attribution::assess(profile, baseline, Settings::default());
        let end = profile.meta.started_unix_ns.saturating_add(profile.duration().0);
        let changes = key_changes(baseline, &key_of(profile), end);
        BaselineComparisonView::of(assessment, BaselineSummary::of(Levels::of(baseline).strength, changes))
    }

    /// The comparison as it was at a moment.
    #[must_use]
    pub fn at(profile: &Profile, baseline: &Baseline, end: Nanos, head: BaselineSummary) -> BaselineComparisonView {
        let assessment = attribution::assess_until(profile, baseline, Settings::default(), end);
        BaselineComparisonView::of(assessment, head)
    }

    /// Builds the view of an assessment.
    #[must_use]
    pub fn of(assessment: Assessment, baseline: BaselineSummary) -> BaselineComparisonView {
        let windows = WindowCounts::of(&assessment);
        BaselineComparisonView { verdict: verdict(&assessment, &windows, &baseline), baseline, windows, assessment }
    }

    /// The quantities to show to people: the primary, those that moved, the factors of the law, and the latency.
    pub fn notable(&self) -> impl Iterator<Item = &QuantityDeviation> {
        const FACTORS: [MetricId; 9] = [
            MetricId::PathLength,
            MetricId::Cpi,
            MetricId::Frequency,
            MetricId::OpsPerS,
            MetricId::BusyCores,
            MetricId::LatencyP50,
            MetricId::LatencyP99,
            MetricId::RunQueueDelay,
            MetricId::ThrottledShare,
        ];
        let diagnosis = &self.assessment.diagnosis;
        diagnosis.quantities.iter().filter(|deviation| {
            let id = deviation.quantity.id;
            deviation.moved || id == diagnosis.primary || FACTORS.contains(&id)
        })
    }
}
