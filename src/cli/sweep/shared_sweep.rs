//! The latest state of a sweep, shared between the runner and its viewers. Each state is analysed at most once.
//! Viewers never wait for the runner.

use crate::analysis::sweep::{Run, SweepAnalysis};
use crate::cli::snapshot_source::SnapshotSource;
use crate::model::{RunMeta, RunState, SweepMeta};
use crate::sweep::{Folder, analyse};
use crate::tui::screens::SessionKind;
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::snapshot::snapshot_of_sweep;
use crate::view::sweep::{Progress, SweepView, difference};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One state of a sweep.
#[derive(Debug)]
struct SweepState {
    meta: SweepMeta,
    results: Vec<Option<Run>>,
    over: bool,
    analysis: OnceLock<SweepAnalysis>,
}

impl SweepState {
    fn analysis(&self) -> &SweepAnalysis {
        self.analysis.get_or_init(|| analyse(&self.meta, &self.results))
    }

    fn view(&self) -> SweepView {
        SweepView::of(&self.meta, self.analysis(), (!self.over).then(|| Progress::of(&self.meta)))
    }

    fn difference(&self, n: u32, axis: CostAxis) -> Option<DiffFlameGraph> {
        let analysis = self.analysis();
        let here = analysis.points.iter().find(|point| point.n == n)?;
        difference(analysis.points.get(analysis.base)?, here, axis)
    }
}

/// The latest known state.
#[derive(Debug, Clone)]
pub(super) struct SharedSweep(Arc<Mutex<Arc<SweepState>>>);

impl SharedSweep {
    /// Starts with this state; `over` if no more runs will be executed.
    pub fn new(meta: SweepMeta, results: Vec<Option<Run>>, over: bool) -> SharedSweep {
        SharedSweep(Arc::new(Mutex::new(Arc::new(SweepState { meta, results, over, analysis: OnceLock::new() }))))
    }

    /// Replaces the state.
    pub fn put(&self, meta: SweepMeta, results: Vec<Option<Run>>, over: bool) {
        let state = Arc::new(SweepState { meta, results, over, analysis: OnceLock::new() });
        // The state is replaced as a whole, so a panic cannot leave half of one.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    fn state(&self) -> Arc<SweepState> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The data source for a session; the recordings of the runs are in `folder`.
    pub fn source(&self, folder: Folder) -> SnapshotSource {
        let (shared, held) = (self.clone(), self.clone());
        let snapshot = move |query| {
            // One state for the whole snapshot.
            let state = shared.state();
            snapshot_of_sweep(state.view(), query, |n, axis| state.difference(n, axis))
        };
        let recording = move |n: Option<u32>| {
            let state = held.state();
            let done = |run: &&RunMeta| matches!(run.state, RunState::Done { .. });
            let n = n.or_else(|| state.meta.runs.iter().filter(done).map(|run| run.n).max())?;
            let first = state.meta.runs.iter().filter(done).find(|run| run.n == n)?;
            folder.recording(&first.recording).ok()
        };
        SnapshotSource {
            kind: SessionKind::Sweep,
            snapshot: Arc::new(snapshot),
            recording: Arc::new(recording),
            live: !self.state().over,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::Axis;
    use crate::view::query::{CompareWith, Query, TaskFilter, TimeSelector, ViewRequest};
    use crate::view::sweep::fixture::{self, Machine};

    #[test]
    fn a_snapshot_shows_the_state_that_was_put_last() {
        let meta = fixture::meta(Machine::Clock);
        let none = vec![None; meta.runs.len()];
        let shared = SharedSweep::new(meta.clone(), none.clone(), false);
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("a.sweep"), false).unwrap();
        let source = shared.source(folder.clone());
        assert!(source.live);
        let progress = |source: &SnapshotSource| {
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
            (source.snapshot)(query).head.sweep.and_then(|sweep| sweep.progress)
        };
        assert_eq!(progress(&source).map(|progress| progress.planned), Some(21));
        assert_eq!(shared.state().difference(2, CostAxis::Cpu), None, "nothing has been run");
        let mut done = meta.clone();
        done.runs.iter_mut().for_each(|run| run.state = RunState::Planned);
        let second = done.runs.iter_mut().find(|run| (run.n, run.repeat) == (2, 2));
        second.unwrap().state = RunState::Done { wall_ns: 1 };
        shared.put(done, none, true);
        assert_eq!((progress(&source), shared.source(folder.clone()).live), (None, false));
        for chosen in [Some(2), None] {
            assert_eq!((source.recording)(chosen), folder.recording("n2-r2.ironlaw").ok());
        }
        assert_eq!((source.recording)(Some(4)), None, "no run of this width is over");
    }
}
