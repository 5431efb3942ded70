//! Compares every completed window of a live session with a baseline, once all data of the window has arrived.

use crate::analysis::Window;
use crate::analysis::attribution::{Assessment, Assessor, Settings, function_shift, observe};
use crate::analysis::baseline::Levels;
use crate::model::profile::Profile;
use crate::model::{Baseline, HostFacts, Tick};
use std::sync::Arc;

/// A baseline, and the session's comparison with it.
#[derive(Debug)]
pub struct LiveAssessor {
    assessor: Assessor,
    baseline: Arc<Baseline>,
}

impl LiveAssessor {
    /// Starts without any window, for a session on this machine.
    #[must_use]
    pub fn new(baseline: Arc<Baseline>, host: HostFacts) -> LiveAssessor {
        let assessor = Assessor::new(Levels::of(&baseline), host, Settings::default());
        LiveAssessor { assessor, baseline }
    }

    pub(super) fn assessment(&self) -> Assessment {
        self.assessor.assessment()
    }

    /// Judges the last window, or the one before it if operations are counted, because their totals arrive slightly
    /// after the end of their window.
    pub(super) fn judge(&mut self, profile: &Profile) {
        let waits = profile.meta.plan.ops.is_some();
        let last = profile.ticks.len().checked_sub(if waits { 2 } else { 1 });
        let Some(Tick { at, span }) = last.and_then(|at| profile.ticks.get(at)).copied() else { return };
        self.assessor.take(observe(profile, Window { from: at - span, to: at }), &profile.neighbours);
        if let Some(from) = self.assessor.wants_function_shift() {
            self.assessor.set_function_shift(function_shift(profile, &self.baseline, Window { from, to: at }));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::model::profile::ProfileBuilder;
    use crate::model::{BASELINE_FORMAT, Event, Meta, OpsSpec};
    use crate::units::{Nanos, Ops};

    fn second(at: u64) -> Nanos {
        Nanos(at * 1_000_000_000)
    }

    fn meta(ops: Option<OpsSpec>) -> Meta {
        let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
        let mut meta = crate::session::open(&fixture).unwrap().meta;
        meta.duration_ns = None;
        meta.plan.ops = ops;
        meta
    }

    fn empty(meta: &Meta) -> Arc<Baseline> {
        let key = crate::analysis::baseline::key_of(ProfileBuilder::new(meta.clone()).profile());
        let format = BASELINE_FORMAT;
        let (sources, quantities, windows, stacks) = (vec![], vec![], vec![], vec![]);
        let tool = String::new();
        Arc::new(Baseline { format, tool, key, sources, quantities, windows, stacks, cpu_ns: 0.0, ops: None })
    }

    /// The ends of the judged windows, in seconds, after `windows` windows. Operation totals arrive half a window late.
    fn judged(ops: Option<OpsSpec>, windows: u64) -> Vec<u64> {
        let meta = meta(ops);
        let mut assessor = LiveAssessor::new(empty(&meta), meta.host.clone());
        let mut builder = ProfileBuilder::new(meta);
        for at in 1..=windows {
            builder.apply(Event::Tick(Tick { at: second(at), span: second(1) }));
            assessor.judge(builder.profile());
            builder.apply(Event::Ops { at: second(at) + Nanos(500_000_000), total: Ops(at * 100) });
            if at % 7 == 0 {
                builder.profile_mut().forget_before(second(at - 3));
            }
        }
        assessor.assessment().timeline.iter().map(|result| result.window.to.0 / 1_000_000_000).collect()
    }

    #[test]
    fn every_window_is_judged_once_in_its_order_whatever_has_been_forgotten() {
        assert_eq!(judged(None, 30), (1..=30).collect::<Vec<_>>());
    }

    #[test]
    fn totals_of_operations_are_waited_for() {
        let ends = judged(Some(OpsSpec::File { path: "/x".into() }), 30);
        assert_eq!(ends, (1..=29).collect::<Vec<_>>(), "the last one waits for its total");
    }
}
