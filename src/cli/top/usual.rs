//! What is usual for the target of a session, and how the session stands against it.
//! It never judges a live session: the keeper does, window by window.

use super::super::baseline::Fitted;
use crate::analysis::baseline::{Levels, key_of, stale};
use crate::error::Result;
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::session::Holding;
use crate::store;
use crate::view::against::{AgainstView, BaselineHead};
use std::path::Path;
use std::sync::Arc;

/// What is usual.
#[derive(Debug)]
pub(super) struct Usual {
    pub baseline: Arc<Baseline>,
    head: BaselineHead,
    /// How a recording stands: it does not change any more.
    recorded: Option<AgainstView>,
}

impl Usual {
    /// For a capture that is about to begin.
    pub fn of_session(fitted: Fitted) -> Usual {
        let head = BaselineHead::of(Levels::of(&fitted.baseline).strength, fitted.stale);
        Usual { baseline: Arc::new(fitted.baseline), head, recorded: None }
    }

    /// For a recording: by the baseline at a path, else by the one it holds, if it holds one.
    pub fn of_recording(recording: &Path, path: Option<&Path>, profile: &Profile) -> Result<Option<Usual>> {
        let found = match path {
            Some(path) => Some(store::baseline::read(path)?),
            None => store::baseline::read_within(recording)?,
        };
        Ok(found.map(|baseline| {
            let (view, _) = AgainstView::build(profile, &baseline);
            Usual { baseline: Arc::new(baseline), head: view.baseline.clone(), recorded: Some(view) }
        }))
    }

    /// How it stands now. With samples the program is known, which a command's session does not know before.
    pub fn standing(&self, held: &Holding) -> Option<AgainstView> {
        if let Some(view) = &self.recorded {
            return Some(view.clone());
        }
        let assessment = held.assessment()?;
        let mut head = self.head.clone();
        let profile = held.profile();
        let now = profile.meta.started_unix_ns.saturating_add(held.now().0);
        for point in stale(&self.baseline, &key_of(profile), now) {
            if head.stale.iter().all(|known| known.what != point.what) {
                head.stale.push(point);
            }
        }
        Some(AgainstView::of(&assessment, head))
    }
}
