//! View model: what limits the selected threads, what could not be decided, and what was ruled out.

use super::context::ViewContext;
use crate::analysis::attribution::Assessment;
use crate::analysis::finding::{Evidence, Finding, Place, RuleResults};
use crate::analysis::findings::{RuleContext, baseline_finding, evaluate};
use crate::analysis::{Axis, CpuUser, Tasks};
use crate::model::{MetricId, Unit, Why};
use serde::Serialize;

pub use crate::analysis::finding::Confidence;
pub use crate::analysis::findings::SLOWER_THAN_BASELINE;

/// The verdicts of the rules on one selection.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FindingsView {
    /// The findings, most important first.
    pub found: Vec<FindingView>,
    /// Rules that lack data.
    pub undecided: Vec<UndecidedView>,
    /// Stable names of the rules that found nothing.
    pub clear: Vec<&'static str>,
}

/// What a finding's share is a part of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShareOf {
    /// The working time or CPU time of the selected threads.
    #[default]
    Time,
    /// The cores that a sweep lost.
    LostCores,
    /// What made a session slower than its baseline.
    Slowdown,
}

impl ShareOf {
    /// `of the time`, to follow a percentage.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ShareOf::Time => "of the time",
            ShareOf::LostCores => "of the lost cores",
            ShareOf::Slowdown => "of the slowdown",
        }
    }
}

/// A finding: something that limits the selected threads, or a place to start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingView {
    /// The rule's stable name.
    pub rule: &'static str,
    /// Title for display.
    pub title: &'static str,
    /// Fraction of the working time or CPU time it explains, 0 to 1; in a sweep, of the lost cores. `None` if unknown.
    pub share: Option<f64>,
    /// What that is a fraction of.
    #[serde(skip)]
    pub share_of: ShareOf,
    /// The claim in one sentence with numbers. Names in it are not escaped.
    pub claim: String,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceView>,
    /// Confidence in the finding.
    pub confidence: Confidence,
    /// Its location in the code and its threads; `None` if neither is known.
    pub place: Option<PlaceView>,
    /// Who had the CPUs that the threads waited for, largest share first; empty for other findings.
    pub culprits: Vec<CpuUser>,
    /// What would refute it.
    pub refuted_by: &'static str,
    /// What to do next.
    pub next_step: String,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvidenceView {
    /// What the number measures.
    pub label: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of value and threshold.
    pub unit: Unit,
    /// From this value on, it supports the finding; `None` for a number that only explains.
    pub threshold: Option<f64>,
    /// The metric it was read from, whose history shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<MetricId>,
}

/// The location of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceView {
    /// The call path as in a flame graph, root first; empty if only threads are known.
    pub frames: Vec<String>,
    /// Whether that flame graph shows off-CPU time.
    pub off_cpu: bool,
    /// The threads concerned, as name and id, most affected first.
    pub threads: Vec<String>,
    /// The id of the first of these threads.
    #[serde(skip)]
    pub first_thread: Option<u32>,
}

/// A rule that could not decide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UndecidedView {
    /// The rule's stable name.
    pub rule: &'static str,
    /// What it checks, in a few words.
    pub title: &'static str,
    /// Why it could not decide.
    pub why: Why,
}

impl FindingsView {
    /// What stands in place of the findings where there are none: that rules are clear is an answer, that none could be
    /// decided is not.
    #[must_use]
    pub fn no_findings(&self) -> String {
        match self.clear.len() {
            0 => "nothing is known: no rule could be decided".to_string(),
            1 => "nothing found: 1 rule clear".to_string(),
            clear => format!("nothing found: {clear} rules clear"),
        }
    }

    /// The verdicts on a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> FindingsView {
        FindingsView::of_context(&FindingsView::context(context))
    }

    /// The rule context of a view context.
    pub(super) fn context<'a>(context: &'a ViewContext<'_>) -> RuleContext<'a> {
        let ViewContext { profile, names, tasks, counters, window, .. } = context;
        RuleContext::of(profile, names, tasks, counters, context.counts(), *window)
    }

    /// The verdicts on a rule context.
    #[must_use]
    pub fn of_context(context: &RuleContext<'_>) -> FindingsView {
        FindingsView::of_results(evaluate(context), context.tasks)
    }

    /// Builds the view from the verdicts; `tasks` resolves thread names.
    #[must_use]
    pub fn of_results(results: RuleResults, tasks: &Tasks) -> FindingsView {
        let RuleResults { found, undecided, clear } = results;
        let undecided = undecided.into_iter().map(|(rule, title, why)| UndecidedView { rule, title, why }).collect();
        FindingsView {
            found: found.into_iter().map(|finding| FindingView::of(finding, tasks)).collect(),
            undecided,
            clear,
        }
    }

    /// The same with shares of the cores that a sweep lost.
    #[must_use]
    pub fn of_lost_cores(mut self) -> FindingsView {
        self.found.iter_mut().for_each(|finding| finding.share_of = ShareOf::LostCores);
        self
    }

    /// Stable names of the undecided rules, grouped by reason.
    #[must_use]
    pub fn undecided_by_reason(&self) -> Vec<(Why, Vec<&'static str>)> {
        let mut reasons: Vec<(Why, Vec<&'static str>)> = Vec::new();
        for rule in &self.undecided {
            match reasons.iter_mut().find(|(why, _)| *why == rule.why) {
                Some((_, rules)) => rules.push(rule.rule),
                None => reasons.push((rule.why, vec![rule.rule])),
            }
        }
        reasons
    }
}

impl FindingView {
    /// The finding for a session that is slower than its baseline; `None` without an alarm.
    #[must_use]
    pub fn of_baseline(assessment: &Assessment) -> Option<FindingView> {
        let finding = FindingView::of(baseline_finding(assessment)?, &Tasks::default());
        Some(FindingView { share_of: ShareOf::Slowdown, ..finding })
    }

    fn of(finding: Finding, tasks: &Tasks) -> FindingView {
        let evidence =
            |Evidence { label, value, unit, threshold, metric }| EvidenceView { label, value, unit, threshold, metric };
        FindingView {
            rule: finding.rule,
            title: finding.title,
            share: finding.share,
            share_of: ShareOf::default(),
            claim: finding.claim,
            evidence: finding.evidence.into_iter().map(evidence).collect(),
            confidence: finding.confidence,
            place: finding.place.map(|place| PlaceView::of(place, tasks)),
            culprits: finding.culprits,
            refuted_by: finding.refuted_by,
            next_step: finding.next_step,
        }
    }
}

impl PlaceView {
    fn of(place: Place, tasks: &Tasks) -> PlaceView {
        let thread = |tid: &u32| {
            let name = tasks.get(*tid).map_or("", |task| task.comm.as_str());
            format!("{name} {tid}").trim_start().to_string()
        };
        PlaceView {
            frames: place.frames,
            off_cpu: place.axis == Axis::OffCpu,
            threads: place.threads.iter().map(thread).collect(),
            first_thread: place.threads.first().copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undecided_rules_are_gathered_by_reason() {
        let rule = |rule, why| UndecidedView { rule, title: "", why };
        let undecided = vec![
            rule("steal", Why::NotRecorded),
            rule("frequency", Why::NotSupported),
            rule("lock-wait", Why::NotRecorded),
        ];
        let view = FindingsView { undecided, ..FindingsView::default() };
        let expected = [(Why::NotRecorded, vec!["steal", "lock-wait"]), (Why::NotSupported, vec!["frequency"])];
        assert_eq!(view.undecided_by_reason(), expected);
    }

    #[test]
    fn where_no_rule_could_be_decided_nothing_is_known() {
        for (clear, expected) in [(&[][..], "nothing is known"), (&["steal"], "1 rule clear"), (&["a", "b"], "2 rules")]
        {
            let view = FindingsView { clear: clear.to_vec(), ..FindingsView::default() };
            assert!(view.no_findings().contains(expected), "{}", view.no_findings());
        }
    }
}
