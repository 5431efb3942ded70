//! View model: what holds the selected threads back, what could not be decided, and what was ruled out.
//! It never draws, and never judges: analysis does.

use super::look::Scene;
use crate::analysis::attribution::Assessment;
use crate::analysis::findings::{Evidence, Finding, Judged, Place, Sight, against, judge};
use crate::analysis::{Axis, Counters, MetricUnit, Names, Selection, Tasks};
use crate::error::Result;
use crate::model::Why;
use crate::model::profile::Profile;
use serde::Serialize;

pub use crate::analysis::findings::Confidence;

/// The verdicts on one selection.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FindingsView {
    /// Most important first.
    pub found: Vec<FindingView>,
    /// Rules that lack what they need to know.
    pub undecided: Vec<UndecidedView>,
    /// Stable names of the rules that found nothing.
    pub clear: Vec<&'static str>,
}

/// Something that holds the selected threads back, or where to begin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingView {
    /// The rule's stable name.
    pub rule: &'static str,
    /// A few words for people.
    pub title: &'static str,
    /// Part of the working time or CPU time it explains, 0 to 1; `None` if unknown.
    pub share: Option<f64>,
    /// One sentence with numbers; names in it are as the target gave them.
    pub claim: String,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceView>,
    /// How sure it is.
    pub confidence: Confidence,
    /// Where in the code, and in which threads; `None` where neither is known.
    pub place: Option<PlaceView>,
    /// What would show it to be wrong.
    pub refuted_by: &'static str,
    /// What to do next.
    pub next_step: String,
}

/// A number behind a finding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvidenceView {
    /// What it is.
    pub label: &'static str,
    /// Its value.
    pub value: f64,
    /// The unit of both numbers.
    pub unit: MetricUnit,
    /// The value from which on it speaks for the finding; `None` for a number that only explains.
    pub threshold: Option<f64>,
}

/// Where a finding lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceView {
    /// The call path as a flame graph shows it, root first; empty for a place that is threads only.
    pub frames: Vec<String>,
    /// Whether that flame graph counts time off the CPU.
    pub off_cpu: bool,
    /// The threads concerned, name and id, those with most of it first.
    pub threads: Vec<String>,
}

/// A rule that could not decide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UndecidedView {
    /// The rule's stable name.
    pub rule: &'static str,
    /// What it looks for, in a few words.
    pub title: &'static str,
    /// What it lacks.
    pub why: Why,
}

impl FindingsView {
    /// The verdicts on a selection of a profile.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn build(profile: &Profile, selection: &Selection) -> Result<FindingsView> {
        let tasks = Tasks::of(profile);
        selection.check(profile, &tasks)?;
        let (names, counters) = (Names::of(profile), Counters::of(profile));
        let window = selection.time.window(&profile.ticks, profile.duration());
        Ok(FindingsView::of_sight(&Sight::of(profile, &names, &tasks, &counters, selection, window)))
    }

    /// The verdicts on a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> FindingsView {
        let Scene { profile, names, tasks, counters, selection, window, .. } = scene;
        FindingsView::of_sight(&Sight::of(profile, names, tasks, counters, selection, *window))
    }

    /// The verdicts on what has been worked out already.
    #[must_use]
    pub fn of_sight(sight: &Sight<'_>) -> FindingsView {
        FindingsView::of_judged(judge(sight), sight.tasks)
    }

    /// Verdicts as they are shown; places name their threads by `tasks`.
    #[must_use]
    pub fn of_judged(judged: Judged, tasks: &Tasks) -> FindingsView {
        let Judged { found, undecided, clear } = judged;
        let undecided = undecided.into_iter().map(|(rule, title, why)| UndecidedView { rule, title, why }).collect();
        FindingsView {
            found: found.into_iter().map(|finding| FindingView::of(finding, tasks)).collect(),
            undecided,
            clear,
        }
    }

    /// Stable names of the undecided rules, gathered by reason.
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
    /// What a session that is slower than its baseline is among its findings; `None` of one that is as usual.
    #[must_use]
    pub fn against(assessment: &Assessment) -> Option<FindingView> {
        against(assessment).map(|finding| FindingView::of(finding, &Tasks::default()))
    }

    fn of(finding: Finding, tasks: &Tasks) -> FindingView {
        let evidence = |Evidence { label, value, unit, threshold }| EvidenceView { label, value, unit, threshold };
        FindingView {
            rule: finding.rule,
            title: finding.title,
            share: finding.share,
            claim: finding.claim,
            evidence: finding.evidence.into_iter().map(evidence).collect(),
            confidence: finding.confidence,
            place: finding.place.map(|place| PlaceView::of(place, tasks)),
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
}
