//! One look at a profile, live or recorded, at a sweep, or at a comparison: the head every screen shows and the view the screen asked for.
//! It never draws, and never asks again by itself.

mod comparison;
mod head;
mod query;
mod scene;
mod sweep;

pub use comparison::{Compared, ComparisonHead, Leaf, look_at_comparison};
pub use head::{Head, Moment, Strip};
pub use query::{Against, Ask, Bounds, Grouping, Query, When, Whose};
pub use scene::Scene;
pub use sweep::{SweepHead, look_at_sweep};

use super::against::AgainstView;
use super::counters::CountersView;
use super::findings::FindingsView;
use super::functions::FunctionsView;
use super::icicle::Icicle;
use super::overview::Overview;
use super::scaling::ScalingView;
use super::threads::ThreadsView;
use crate::error::{Error, ErrorKind};
use crate::model::profile::Profile;

/// What one look gave.
#[derive(Debug)]
pub struct Look {
    /// What it was asked.
    pub query: Query,
    /// What every screen shows.
    pub head: Head,
    /// The view, or why it cannot be had: what is missing, and the remedy.
    pub body: Result<Body, Error>,
}

/// The view a screen asked for.
#[derive(Debug)]
pub enum Body {
    /// The factors, rates and findings.
    Overview(Overview),
    /// The call tree.
    Flame(Icicle),
    /// The functions.
    Functions(FunctionsView),
    /// The threads.
    Threads(ThreadsView),
    /// The counters.
    Counters(CountersView),
    /// The findings.
    Findings(FindingsView),
    /// The sweep.
    Scaling(Box<ScalingView>),
    /// How the session stands against its baseline; `None` where it has none.
    Baseline(Option<Box<AgainstView>>),
    /// One of several sides compared with a base, for a screen.
    Comparison(Leaf, Compared),
}

/// Looks at `profile`, whose capture still runs if `live`; `baseline` is the recording to compare with, and `against` how the
/// session stands against its baseline.
#[must_use]
pub fn look(
    profile: &Profile,
    baseline: Option<&Profile>,
    against: Option<AgainstView>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Look {
    let scene = Scene::of(profile, baseline, bounds, &query);
    let head = Head { standing: against.as_ref().map(|view| view.state), ..Head::of(&scene, live) };
    let body = match query.ask {
        // It is of the whole session, whatever part of it is selected.
        Ask::Baseline => Ok(Body::Baseline(against.map(Box::new))),
        _ => scene.selection.check(profile, &scene.tasks).and_then(|()| body(&scene, &query.ask)),
    };
    Look { query, head, body }
}

fn body(scene: &Scene<'_>, ask: &Ask) -> Result<Body, Error> {
    Ok(match ask {
        Ask::Overview => Body::Overview(Overview::of(scene)),
        Ask::Flame { by } => Body::Flame(Icicle::of(scene, *by)),
        Ask::Threads { detail } => Body::Threads(ThreadsView::of(scene, *detail)),
        Ask::Functions { by, detail } => Body::Functions(FunctionsView::of(scene, *by, detail.as_ref())),
        Ask::Counters => Body::Counters(CountersView::of(scene)),
        Ask::Findings => Body::Findings(FindingsView::of(scene)),
        Ask::Baseline => Body::Baseline(None),
        Ask::Scaling => return Err(Error::new(ErrorKind::Unsupported, "one recording is no sweep")),
        Ask::Comparison(_) => return Err(Error::new(ErrorKind::Unsupported, "one recording is no comparison")),
    })
}
