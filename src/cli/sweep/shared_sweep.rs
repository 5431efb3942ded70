//! The latest state of a sweep, shared between the runner and its viewers. Each state is analysed at most once.
//! Viewers never wait for the runner.

use super::sweep_host::Source;
use crate::analysis::sweep::{Run, Scaling};
use crate::model::SweepMeta;
use crate::sweep::scaling;
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::snapshot::snapshot_of_sweep;
use crate::view::sweep::{Progress, ScalingView, difference};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One state of a sweep.
#[derive(Debug)]
struct SweepState {
    meta: SweepMeta,
    results: Vec<Option<Run>>,
    over: bool,
    scaling: OnceLock<Scaling>,
}

impl SweepState {
    fn scaling(&self) -> &Scaling {
        self.scaling.get_or_init(|| scaling(&self.meta, &self.results))
    }

    fn view(&self) -> ScalingView {
        ScalingView::of(&self.meta, self.scaling(), (!self.over).then(|| Progress::of(&self.meta)))
    }

    fn difference(&self, n: u32, axis: CostAxis) -> Option<DiffFlameGraph> {
        let scaling = self.scaling();
        let here = scaling.points.iter().find(|point| point.n == n)?;
        difference(scaling.points.get(scaling.base)?, here, axis)
    }
}

/// The latest known state.
#[derive(Debug, Clone)]
pub(in crate::cli) struct SharedSweep(Arc<Mutex<Arc<SweepState>>>);

impl SharedSweep {
    /// Starts with this state; `over` if no more runs will be executed.
    pub fn new(meta: SweepMeta, results: Vec<Option<Run>>, over: bool) -> SharedSweep {
        SharedSweep(Arc::new(Mutex::new(Arc::new(SweepState { meta, results, over, scaling: OnceLock::new() }))))
    }

    /// Replaces the state.
    pub fn put(&self, meta: SweepMeta, results: Vec<Option<Run>>, over: bool) {
        let standing = Arc::new(SweepState { meta, results, over, scaling: OnceLock::new() });
        // The state is replaced as a whole, so a panic cannot leave half of one.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    fn standing(&self) -> Arc<SweepState> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The data source for a session.
    pub fn source(&self) -> Source {
        let board = self.clone();
        // Use one state for the whole snapshot.
        let look = move |query| {
            let standing = board.standing();
            snapshot_of_sweep(standing.view(), query, |n, axis| standing.difference(n, axis))
        };
        Source { look: Arc::new(look), live: !self.standing().over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Axis;
    use crate::view::query::{CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};
    use crate::view::sweep::fixture::{self, Machine};

    #[test]
    fn a_look_sees_the_state_that_was_put_last() {
        let meta = fixture::meta(Machine::Clock);
        let none = vec![None; meta.runs.len()];
        let board = SharedSweep::new(meta.clone(), none.clone(), false);
        let source = board.source();
        assert!(source.live);
        let progress = |source: &Source| {
            let (time, axis, compare_with) = (TimeSelector::All, Axis::Event(0), CompareWith::Nothing);
            let filter = TaskFilter::default();
            let query = Query {
                time,
                end: None,
                filter,
                axis,
                compare_with,
                point: None,
                per: None,
                request: ViewRequest::Scaling,
            };
            (source.look)(query).head.sweep.and_then(|sweep| sweep.progress)
        };
        assert_eq!(progress(&source).map(|progress| progress.planned), Some(21));
        assert_eq!(board.standing().difference(2, CostAxis::Cpu), None, "nothing has been run");
        board.put(meta, none, true);
        assert_eq!((progress(&source), board.source().live), (None, false));
    }
}
