//! A comparison in a terminal session: computed while the session opens, and divided differently on request.

use super::sides::{Sides, settings};
use crate::analysis::diff::Per;
use crate::cli::args::DiffArgs;
use crate::cli::snapshot_source::SnapshotSource;
use crate::error::Result;
use crate::tui::screens::SessionKind;
use crate::view::diff::DiffView;
use crate::view::snapshot::snapshot_of_comparison;
use std::sync::{Arc, Mutex, PoisonError};

/// Compares for a session. Returns its data, and the comparison as requested on the command line.
///
/// # Errors
/// Any error of comparing the recordings.
pub(in crate::cli) fn open(args: DiffArgs) -> Result<(SnapshotSource, Arc<DiffView>)> {
    let session_data = DiffSession::read(args)?;
    let view = Arc::clone(&session_data.view);
    Ok((source(session_data), view))
}

/// The data of the session.
struct DiffSession {
    args: DiffArgs,
    sides: Sides,
    /// The view as requested on the command line.
    view: Arc<DiffView>,
    choices: Vec<Per>,
    /// The views with other divisors, each computed on first request.
    divided: Mutex<Vec<(Per, Arc<DiffView>)>>,
}

impl DiffSession {
    fn read(args: DiffArgs) -> Result<DiffSession> {
        let sides = Sides::read(&args)?;
        let view = Arc::new(sides.compare(&args));
        let of = |new| Per::choices(&sides.base, new);
        // A divisor that only some of the sides allow would leave the others without functions.
        let all: Vec<Vec<Per>> = sides.others.iter().map(of).collect();
        let mut choices = all.first().cloned().unwrap_or_default();
        choices.retain(|per| all.iter().all(|side| side.contains(per)));
        Ok(DiffSession { args, sides, view, choices, divided: Mutex::default() })
    }

    fn view(&self, per: Option<Per>) -> Arc<DiffView> {
        let settings_given = settings(&self.args, &self.sides.base, &self.sides.others);
        let Some(per) = per.filter(|per| *per != settings_given.per) else { return Arc::clone(&self.view) };
        // The data is complete even after a panic of another thread.
        let mut known = self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, view)) = known.iter().find(|(other, _)| *other == per) {
            return Arc::clone(view);
        }
        let view = Arc::new(self.view.divided_by(per, &self.sides.base, &self.sides.others, &settings_given));
        known.push((per, Arc::clone(&view)));
        view
    }
}

fn source(session_data: DiffSession) -> SnapshotSource {
    let snapshot = move |query: crate::view::query::Query| {
        snapshot_of_comparison(&session_data.view(query.per), &session_data.choices, query)
    };
    SnapshotSource {
        kind: SessionKind::Comparison,
        snapshot: Arc::new(snapshot),
        recording: Arc::new(|_| None),
        live: false,
    }
}
