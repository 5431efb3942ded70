//! What a rule reports: a finding with its evidence, confidence and place, or why the rule could not decide.

use super::cpu_users::CpuUser;
use super::selection::Axis;
use crate::model::{MetricId, Unit, Why};
use serde::Serialize;

/// Assumed share of a finding whose share of the time is unknown. [P]
const UNKNOWN_SHARE: f64 = 0.05;

/// The result of a rule.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each rule, some fifty in all")]
pub enum Verdict {
    /// The rule decided that there is nothing to report.
    Clear,
    /// The rule found something.
    Found(Finding),
    /// Data that the rule needs is missing.
    Undecided(Why),
}

/// Something that limits the selected threads, or a place to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's stable name, e.g. `cpu-queue`.
    pub rule: &'static str,
    /// A short title for people, e.g. `waiting for CPUs`.
    pub title: &'static str,
    /// Share of the selected threads' working time (running, queued or blocked) or CPU time that it explains, 0 to 1.
    pub share: Option<f64>,
    /// One sentence with numbers. Names in it are as the target set them.
    pub claim: String,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// How certain it is.
    pub confidence: Confidence,
    /// Where in the code, and in which threads.
    pub place: Option<Place>,
    /// Who had what the threads waited for, largest share first; empty where nobody is known or nobody else is to blame.
    pub culprits: Vec<CpuUser>,
    /// What would refute it.
    pub refuted_by: &'static str,
    /// What to do next.
    pub next_step: String,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// Name of the number.
    pub label: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of value and threshold.
    pub unit: Unit,
    /// The value from which, or up to which, it supports the finding; `None` for a number that only explains.
    pub threshold: Option<f64>,
    /// The metric it was read from, whose history shows it.
    pub metric: Option<MetricId>,
}

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The data suggests it, but something harmless looks the same.
    Low,
    /// It is certain, but how much it matters is an estimate.
    Medium,
    /// It was measured directly.
    High,
}

/// Where a finding lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The call path as a flame graph shows it, root first, headings included; empty for a place of threads only.
    pub frames: Vec<String>,
    /// The axis of that flame graph.
    pub axis: Axis,
    /// The threads concerned, those with the largest part first.
    pub threads: Vec<u32>,
}

/// The verdicts of all rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleResults {
    /// Findings, most important first.
    pub found: Vec<Finding>,
    /// Rules that could not decide: stable name, title, reason.
    pub undecided: Vec<(&'static str, &'static str, Why)>,
    /// Stable names of the rules that found nothing.
    pub clear: Vec<&'static str>,
}

impl From<Result<Option<Finding>, Why>> for Verdict {
    fn from(judged: Result<Option<Finding>, Why>) -> Verdict {
        match judged {
            Ok(Some(finding)) => Verdict::Found(finding),
            Ok(None) => Verdict::Clear,
            Err(why) => Verdict::Undecided(why),
        }
    }
}

impl Place {
    /// A call path on a CPU, root first.
    pub(in crate::analysis) fn on_cpu(frames: Vec<String>) -> Place {
        Place { frames, axis: Axis::Event(0), threads: Vec::new() }
    }

    /// A call path off the CPU, root first.
    pub(in crate::analysis) fn off_cpu(frames: Vec<String>) -> Place {
        Place { frames, axis: Axis::OffCpu, threads: Vec::new() }
    }
}

impl Finding {
    /// The share that it explains, reduced by its uncertainty.
    #[must_use]
    pub fn weight(&self) -> f64 {
        let certainty = match self.confidence {
            Confidence::Low => 0.4,
            Confidence::Medium => 0.7,
            Confidence::High => 1.0,
        };
        self.share.unwrap_or(UNKNOWN_SHARE) * certainty
    }
}

impl Confidence {
    /// The confidence as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

impl Evidence {
    /// A number that supports a finding from a threshold on. Below it the number only explains.
    pub(in crate::analysis) fn of(label: &'static str, value: f64, unit: Unit, threshold: f64) -> Evidence {
        let threshold = Some(threshold).filter(|threshold| value >= *threshold);
        Evidence { label, value, unit, threshold, metric: None }
    }

    /// A number that supports a finding up to a threshold.
    pub(in crate::analysis) fn up_to(label: &'static str, value: f64, unit: Unit, threshold: f64) -> Evidence {
        let threshold = Some(threshold).filter(|threshold| value <= *threshold);
        Evidence { label, value, unit, threshold, metric: None }
    }

    /// By how many times something grew. `None` where it grew from nearly nothing.
    pub(in crate::analysis) fn growth(label: &'static str, ratio: Option<f64>, threshold: f64) -> Option<Evidence> {
        const MOST: f64 = 100.0;
        let ratio = ratio.filter(|ratio| *ratio <= MOST)?;
        Some(Evidence::of(label, ratio, Unit::Ratio, threshold))
    }

    /// A number that only explains.
    pub(in crate::analysis) fn plain(label: &'static str, value: f64, unit: Unit) -> Evidence {
        Evidence { label, value, unit, threshold: None, metric: None }
    }

    /// The same number, read from a metric.
    pub(in crate::analysis) fn read_from(self, id: MetricId) -> Evidence {
        Evidence { metric: Some(id), ..self }
    }
}

impl RuleResults {
    /// Records a verdict without a finding, and returns a finding.
    pub(in crate::analysis) fn record(
        &mut self,
        verdict: Verdict,
        id: &'static str,
        title: &'static str,
    ) -> Option<Finding> {
        match verdict {
            Verdict::Found(finding) => return Some(finding),
            Verdict::Undecided(why) => self.undecided.push((id, title, why)),
            Verdict::Clear => self.clear.push(id),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_short_of_its_threshold_only_explains_and_growth_from_nothing_is_none() {
        let threshold = |evidence: Evidence| evidence.threshold;
        assert_eq!(threshold(Evidence::of("mean wait", 55e-6, Unit::Seconds, 100e-6)), None);
        assert_eq!(threshold(Evidence::of("mean wait", 100e-6, Unit::Seconds, 100e-6)), Some(100e-6));
        assert_eq!(threshold(Evidence::up_to("clock", 0.8, Unit::Ratio, 0.9)), Some(0.9));
        assert_eq!(threshold(Evidence::up_to("clock", 1.0, Unit::Ratio, 0.9)), None);
        assert_eq!(Evidence::growth("switches", Some(9870.0), 2.0), None);
        assert_eq!(Evidence::growth("switches", None, 2.0), None);
        assert!(Evidence::growth("switches", Some(3.0), 2.0).is_some_and(|row| row.threshold == Some(2.0)));
    }
}
