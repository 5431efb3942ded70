//! A comparison in a terminal session: computed while the session opens, and divided differently on request.

use super::sides::{Sides, settings};
use crate::analysis::diff::Per;
use crate::cli::args::DiffArgs;
use crate::cli::out::Terminal;
use crate::cli::snapshot_host::{self, Notifier, SnapshotSource};
use crate::error::Result;
use crate::tui::app::App;
use crate::view::diff::DiffView;
use crate::view::snapshot::snapshot_of_comparison;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Shows a comparison. Returns it after the session, if it was computed.
///
/// # Errors
/// Any error of comparing the recordings; `Usage` without a terminal.
pub(super) fn session(args: &DiffArgs, terminal: &Terminal) -> Result<Option<DiffView>> {
    let computed: Arc<OnceLock<Arc<DiffView>>> = Arc::default();
    let (args, shown) = (args.clone(), Arc::clone(&computed));
    let open = move |_: &Notifier| {
        let session_data = DiffSession::read(args)?;
        // This is the only place that sets it.
        let _ = shown.set(Arc::clone(&session_data.view));
        Ok(source(session_data))
    };
    snapshot_host::session(App::comparison, open, || (), terminal)?;
    Ok(computed.get().map(|view| DiffView::clone(view)))
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
    SnapshotSource { snapshot: Arc::new(snapshot), live: false }
}
