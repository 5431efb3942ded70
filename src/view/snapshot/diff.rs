//! Snapshots of comparisons.

use super::head::{ComparisonHeader, ScreenHeader};
use super::{PanelView, Snapshot};
use crate::analysis::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Note;
use crate::view::diff::{ComparisonView, DiffView, Per, Severity, words};
use crate::view::diff_flamegraph::CostAxis;
use crate::view::flame_tree::FlameTree;
use crate::view::query::{Query, ViewRequest};
use std::sync::Arc;

/// One of the sides compared with a base.
#[derive(Debug, Clone)]
pub struct SelectedComparison {
    /// All comparisons.
    pub view: Arc<DiffView>,
    /// Index of this one.
    pub at: usize,
}

impl SelectedComparison {
    /// This comparison; `None` only if there are none.
    #[must_use]
    pub fn one(&self) -> Option<&ComparisonView> {
        self.view.comparisons.get(self.at)
    }
}

/// Takes a snapshot of a comparison; `choices` are what costs can be divided by.
#[must_use]
pub fn snapshot_of_comparison(view: &Arc<DiffView>, choices: &[Per], query: Query) -> Snapshot {
    let last = view.comparisons.len().saturating_sub(1);
    let at = query.point.map_or(0, |at| at as usize).min(last);
    let compared = SelectedComparison { view: Arc::clone(view), at };
    let head = ScreenHeader::of_comparison(&compared, choices);
    let body = match &query.request {
        ViewRequest::Comparison(leaf) => Ok(PanelView::Comparison(*leaf, compared)),
        ViewRequest::Flame { .. } => flame(&compared, query.axis),
        _ => Err(Error::new(ErrorKind::Unsupported, "a comparison has no such view")
            .hint("Open one of its recordings: ironlaw view RECORDING")),
    };
    Snapshot { query, head, body }
}

fn flame(compared: &SelectedComparison, axis: Axis) -> Result<PanelView> {
    let cost = if axis == Axis::OffCpu { CostAxis::Blocked } else { CostAxis::Cpu };
    let Some(found) = compared.one() else { return Err(Error::new(ErrorKind::NotFound, "nothing is compared")) };
    let lacking = || match (found.code_missing, cost) {
        (Some(why), _) => Error::new(ErrorKind::NotFound, format!("no difference to draw: {why}")),
        (None, CostAxis::Blocked) => Error::new(ErrorKind::NotFound, "time off the CPU is not on both sides")
            .hint("Record both with --off-cpu; it has no share of the samples on a CPU."),
        (None, CostAxis::Cpu) => Error::new(ErrorKind::NotFound, "no difference to draw"),
    };
    let graph = found.flame_graph(cost).cloned();
    graph.map(|difference| PanelView::Flame(FlameTree::of_difference(difference))).ok_or_else(lacking)
}

impl ScreenHeader {
    /// The head of a comparison.
    #[must_use]
    pub fn of_comparison(compared: &SelectedComparison, choices: &[Per]) -> ScreenHeader {
        let (view, found) = (&compared.view, compared.one());
        let label = |found: &ComparisonView| words::label(&found.new);
        ScreenHeader {
            target: format!("{} -> {}", words::label(&view.base), found.map(label).unwrap_or_default()),
            has_off_cpu: found.is_some_and(|found| found.flame_graph(CostAxis::Blocked).is_some()),
            notes: found.map(notes).unwrap_or_default(),
            comparison: Some(ComparisonHeader {
                runs: [view.base.recordings.len(), found.map_or(0, |found| found.new.recordings.len())],
                at: [compared.at, view.comparisons.len()],
                per: found.and_then(|found| found.code.as_ref()).map(|code| code.per),
                choices: choices.to_vec(),
                settings: words::settings(&view.settings),
                load: found.map_or(String::new(), |found| found.load_text.clone()),
            }),
            ..ScreenHeader::of_costs()
        }
    }
}

/// Differences in conditions that may explain a change.
fn notes(found: &ComparisonView) -> Vec<Note> {
    let note = |topic: &str, text: String| Note { topic: topic.to_string(), text, fix: None };
    let mismatches = found.mismatches.iter().filter(|mismatch| mismatch.severity != Severity::Info);
    let mismatches = mismatches.map(|mismatch| {
        note("unlike", format!("{} ({})", words::mismatch(mismatch), words::severity(mismatch.severity)))
    });
    let subgroup_checks = found.groups.iter().filter(|check| check.disagrees);
    mismatches.chain(subgroup_checks.map(|check| note("groups", words::subgroup_text(check)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::diff::testing::costlier;
    use crate::view::query::{CompareWith, ComparisonTab, TaskFilter, TimeSelector};

    fn looked(request: ViewRequest, axis: Axis, point: Option<u32>) -> Snapshot {
        let (time, compare_with) = (TimeSelector::All, CompareWith::Nothing);
        let query =
            Query { time, end: None, filter: TaskFilter::default(), axis, compare_with, point, per: None, request };
        snapshot_of_comparison(&Arc::new(costlier()), &[Per::Op, Per::Cpu], query)
    }

    #[test]
    fn every_screen_of_a_comparison_gets_its_view_and_no_other_does() {
        let flame = || ViewRequest::Flame { by: Default::default(), against_baseline: false };
        for leaf in [ComparisonTab::Overview, ComparisonTab::Functions, ComparisonTab::Conditions] {
            let snapshot_of_profile = looked(ViewRequest::Comparison(leaf), Axis::Event(0), Some(9));
            assert!(
                matches!(snapshot_of_profile.body, Ok(PanelView::Comparison(seen, one)) if seen == leaf && one.one().is_some())
            );
        }
        assert!(
            matches!(looked(flame(), Axis::Event(0), None).body, Ok(PanelView::Flame(flame_tree)) if flame_tree.is_compared())
        );
        let blocked = looked(flame(), Axis::OffCpu, None).body;
        assert!(blocked.is_err_and(|error| error.remedy().is_some_and(|remedy| remedy.contains("--off-cpu"))));
        assert!(looked(ViewRequest::Counters, Axis::Event(0), None).body.is_err());
    }

    #[test]
    fn the_head_says_who_is_compared_and_what_to_know() {
        let head = looked(ViewRequest::Comparison(ComparisonTab::Overview), Axis::Event(0), None).head;
        assert!(head.notes.iter().any(|note| note.text.starts_with("kernel: ")), "{:?}", head.notes);
        let comparison = head.comparison.unwrap_or_else(|| panic!("it is one"));
        assert_eq!((comparison.runs, comparison.at, comparison.per), ([3, 3], [0, 1], Some(Per::Op)));
    }
}
