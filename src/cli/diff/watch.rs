//! A comparison seen in a terminal session: read and worked out while the session opens, then divided anew as it asks.
//! It never captures.

use super::{DiffArgs, Sides, settings};
use crate::analysis::compare::Per;
use crate::cli::out::Terminal;
use crate::cli::sweep::{Bell, Source, session as host};
use crate::error::Result;
use crate::tui::app::App;
use crate::view::compare::DiffView;
use crate::view::look::look_at_comparison;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Shows a comparison; gives it once the session is left, if it came to one.
///
/// # Errors
/// What kept the recordings from being compared; `Usage` where there is no terminal.
pub(super) fn session(args: &DiffArgs, terminal: &Terminal) -> Result<Option<DiffView>> {
    let kept: Arc<OnceLock<Arc<DiffView>>> = Arc::default();
    let (args, shown) = (args.clone(), Arc::clone(&kept));
    let open = move |_: &Bell| {
        let desk = Desk::read(args)?;
        // Nobody else sets it.
        let _ = shown.set(Arc::clone(&desk.view));
        Ok(source(desk))
    };
    host(App::comparison, open, || (), terminal)?;
    Ok(kept.get().map(|view| DiffView::clone(view)))
}

/// What the session looks at.
struct Desk {
    args: DiffArgs,
    sides: Sides,
    /// As the command line says.
    view: Arc<DiffView>,
    choices: Vec<Per>,
    /// The same by what else costs are divided by, each once it was asked for.
    divided: Mutex<Vec<(Per, Arc<DiffView>)>>,
}

impl Desk {
    fn read(args: DiffArgs) -> Result<Desk> {
        let sides = Sides::read(&args)?;
        let view = Arc::new(sides.compare(&args));
        let of = |new| Per::choices(&sides.base, new);
        // What only one of several sides allows would leave the others without code.
        let all: Vec<Vec<Per>> = sides.others.iter().map(of).collect();
        let mut choices = all.first().cloned().unwrap_or_default();
        choices.retain(|per| all.iter().all(|side| side.contains(per)));
        Ok(Desk { args, sides, view, choices, divided: Mutex::default() })
    }

    fn view(&self, per: Option<Per>) -> Arc<DiffView> {
        let begun = settings(&self.args, &self.sides.base, &self.sides.others);
        let Some(per) = per.filter(|per| *per != begun.per) else { return Arc::clone(&self.view) };
        // What is put here is whole: no panic can leave half of it.
        let mut known = self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, view)) = known.iter().find(|(other, _)| *other == per) {
            return Arc::clone(view);
        }
        let view = Arc::new(self.view.divided_by(per, &self.sides.base, &self.sides.others, &begun));
        known.push((per, Arc::clone(&view)));
        view
    }
}

fn source(desk: Desk) -> Source {
    let look = move |query: crate::view::look::Query| look_at_comparison(&desk.view(query.per), &desk.choices, query);
    Source { look: Arc::new(look), live: false }
}
