//! Snapshots of sweeps.

use super::head::{ScreenHeader, SweepHeader};
use super::{PanelView, Snapshot};
use crate::analysis::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::flame_tree::FlameTree;
use crate::view::query::{Query, ViewRequest};
use crate::view::sweep::SweepView;

/// Takes a snapshot of a sweep; `difference` compares the call trees of a width with those of the base.
#[must_use]
pub fn snapshot_of_sweep(
    view: SweepView,
    query: Query,
    difference: impl FnOnce(u32, CostAxis) -> Option<DiffFlameGraph>,
) -> Snapshot {
    let head = ScreenHeader::of_sweep(&view);
    let body = match &query.request {
        ViewRequest::Scaling => Ok(PanelView::Scaling(Box::new(view))),
        ViewRequest::Findings => Ok(PanelView::Findings(view.findings)),
        ViewRequest::Flame { .. } => flame(&view, &query, difference),
        _ => Err(Error::new(ErrorKind::Unsupported, "a sweep has no such view")
            .hint("Open the recording of one of its runs: ironlaw view NAME.sweep/runs/...")),
    };
    Snapshot { query, head, body }
}

/// The call trees of the chosen width, or else the widest, compared with the base.
fn flame(
    view: &SweepView,
    query: &Query,
    difference: impl FnOnce(u32, CostAxis) -> Option<DiffFlameGraph>,
) -> Result<PanelView> {
    let axis = if query.axis == Axis::OffCpu { CostAxis::Blocked } else { CostAxis::Cpu };
    let chosen = query.point.filter(|n| view.points.iter().any(|point| point.n == *n));
    let Some(n) = chosen.or(view.points.last().map(|point| point.n)) else {
        return Err(Error::new(ErrorKind::NotFound, "no run is over yet: there is nothing to compare"));
    };
    let lacking = || {
        Error::new(ErrorKind::NotFound, format!("n = {n} cannot be compared per operation with the base"))
            .hint("Both need operations (--ops) and samples; time blocked needs --off-cpu.")
    };
    difference(n, axis).map(|difference| PanelView::Flame(FlameTree::of_difference(difference))).ok_or_else(lacking)
}

impl ScreenHeader {
    /// The head of a sweep.
    #[must_use]
    pub fn of_sweep(view: &SweepView) -> ScreenHeader {
        ScreenHeader {
            target: view.title.clone(),
            unit: view.cost_unit,
            has_off_cpu: view.losses.iter().any(|loss| loss.blocked.is_some()),
            live: view.progress.is_some(),
            notes: view.notes.clone(),
            sweep: Some(SweepHeader {
                ops: view.ops.clone(),
                machine: view.machine.clone(),
                placement: view.placement.clone(),
                runs: view.points.iter().map(|point| point.runs).sum(),
                progress: view.progress,
            }),
            ..ScreenHeader::of_costs()
        }
    }
}
