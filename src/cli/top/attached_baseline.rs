//! The baseline of a session, and the session's comparison with it.
//! A live session is compared by its own thread, window by window.

use super::super::baseline::MatchedBaseline;
use crate::analysis::baseline::{Levels, key_changes, key_of};
use crate::error::Result;
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::session::History;
use crate::store;
use crate::units::Nanos;
use crate::view::baseline::{BaselineComparisonView, BaselineSummary};
use std::path::Path;
use std::sync::Arc;

/// A baseline with its comparison.
#[derive(Debug)]
pub(super) struct AttachedBaseline {
    pub baseline: Arc<Baseline>,
    head: BaselineSummary,
    /// The comparison of a recording, computed once because a recording does not change.
    recorded: Option<BaselineComparisonView>,
}

impl AttachedBaseline {
    /// For a capture that is about to begin.
    pub fn of_session(matched: MatchedBaseline) -> AttachedBaseline {
        let head = BaselineSummary::of(Levels::of(&matched.baseline).strength, matched.stale);
        AttachedBaseline { baseline: Arc::new(matched.baseline), head, recorded: None }
    }

    /// For a recording: with the baseline at `path`, else with the one within the recording, if any.
    pub fn of_recording(recording: &Path, path: Option<&Path>, profile: &Profile) -> Result<Option<AttachedBaseline>> {
        let found = match path {
            Some(path) => Some(store::baseline::read(path)?),
            None => store::baseline::read_within(recording)?,
        };
        Ok(found.map(|baseline| AttachedBaseline::of_profile(baseline, profile)))
    }

    /// For all that a recording holds.
    pub fn of_profile(baseline: Baseline, profile: &Profile) -> AttachedBaseline {
        let view = BaselineComparisonView::build(profile, &baseline);
        AttachedBaseline { baseline: Arc::new(baseline), head: view.baseline.clone(), recorded: Some(view) }
    }

    /// The comparison at the session's end, or as it was at a moment. Samples identify the program, which is unknown
    /// before a command has started.
    pub fn comparison(&self, history: &History, moment: Option<Nanos>) -> Option<BaselineComparisonView> {
        let profile = history.profile();
        let at = |moment, head| BaselineComparisonView::at(profile, &self.baseline, moment, head);
        if let Some(view) = &self.recorded {
            return Some(moment.map_or_else(|| view.clone(), |moment| at(moment, view.baseline.clone())));
        }
        let assessment = history.assessment()?;
        let mut head = self.head.clone();
        let now = profile.meta.started_unix_ns.saturating_add(history.now().0);
        for point in key_changes(&self.baseline, &key_of(profile), now) {
            if head.stale.iter().all(|known| known.what != point.what) {
                head.stale.push(point);
            }
        }
        Some(match moment {
            Some(moment) => at(moment, head),
            None => BaselineComparisonView::of(assessment, head),
        })
    }
}
