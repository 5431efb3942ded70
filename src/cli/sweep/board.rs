//! A sweep as it was when its runner last told, for whoever looks meanwhile: worked out once for all looks at one state.
//! It never waits for the runner.

use super::desk::Source;
use crate::analysis::scaling::{Run, Scaling};
use crate::model::SweepMeta;
use crate::sweep::scaling;
use crate::view::look::look_at_sweep;
use crate::view::scaling::{CostAxis, Difference, Progress, ScalingView, difference};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One state of a sweep.
#[derive(Debug)]
struct Standing {
    meta: SweepMeta,
    results: Vec<Option<Run>>,
    over: bool,
    scaling: OnceLock<Scaling>,
}

impl Standing {
    fn scaling(&self) -> &Scaling {
        self.scaling.get_or_init(|| scaling(&self.meta, &self.results))
    }

    fn view(&self) -> ScalingView {
        ScalingView::of(&self.meta, self.scaling(), (!self.over).then(|| Progress::of(&self.meta)))
    }

    fn difference(&self, n: u32, axis: CostAxis) -> Option<Difference> {
        let scaling = self.scaling();
        let here = scaling.points.iter().find(|point| point.n == n)?;
        difference(scaling.points.get(scaling.base)?, here, axis)
    }
}

/// The last known state.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Board(Arc<Mutex<Arc<Standing>>>);

impl Board {
    /// A board with this on it; `over` if no more runs will be made.
    pub fn new(meta: SweepMeta, results: Vec<Option<Run>>, over: bool) -> Board {
        Board(Arc::new(Mutex::new(Arc::new(Standing { meta, results, over, scaling: OnceLock::new() }))))
    }

    /// Replaces what is on it.
    pub fn put(&self, meta: SweepMeta, results: Vec<Option<Run>>, over: bool) {
        let standing = Arc::new(Standing { meta, results, over, scaling: OnceLock::new() });
        // A state is replaced whole: no panic can leave half of one.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    fn standing(&self) -> Arc<Standing> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where a session's looks come from.
    pub fn source(&self) -> Source {
        let board = self.clone();
        // One state for all of a look.
        let look = move |query| {
            let standing = board.standing();
            look_at_sweep(standing.view(), query, |n, axis| standing.difference(n, axis))
        };
        Source { look: Arc::new(look), live: !self.standing().over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Axis;
    use crate::view::look::{Against, Ask, Query, When, Whose};
    use crate::view::scaling::fixture::{self, Machine};

    #[test]
    fn a_look_sees_the_state_that_was_put_last() {
        let meta = fixture::meta(Machine::Clock);
        let none = vec![None; meta.runs.len()];
        let board = Board::new(meta.clone(), none.clone(), false);
        let source = board.source();
        assert!(source.live);
        let progress = |source: &Source| {
            let (when, axis, against) = (When::All, Axis::Event(0), Against::Nothing);
            let whose = Whose::default();
            let query = Query { when, end: None, whose, axis, against, point: None, per: None, ask: Ask::Scaling };
            (source.look)(query).head.sweep.and_then(|sweep| sweep.progress)
        };
        assert_eq!(progress(&source).map(|progress| progress.planned), Some(21));
        assert_eq!(board.standing().difference(2, CostAxis::Cpu), None, "nothing has been run");
        board.put(meta, none, true);
        assert_eq!((progress(&source), board.source().live), (None, false));
    }
}
