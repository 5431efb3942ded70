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

use super::against::{self, AgainstView};
use super::counters::CountersView;
use super::findings::FindingsView;
use super::functions::FunctionsView;
use super::icicle::Icicle;
use super::overview::Overview;
use super::scaling::ScalingView;
use super::threads::ThreadsView;
use crate::error::{Error, ErrorKind};
use crate::model::Baseline;
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

/// The baseline that a session is held against, and how it stands.
#[derive(Debug)]
pub struct Held<'a> {
    /// What is usual.
    pub baseline: &'a Baseline,
    /// How the session stands.
    pub view: AgainstView,
}

/// Looks at `profile`, whose capture still runs if `live`; `recording` is the recording to compare with, and `held` the
/// baseline that the session is held against.
#[must_use]
pub fn look(
    profile: &Profile,
    recording: Option<&Profile>,
    held: Option<Held<'_>>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Look {
    let scene = Scene::of(profile, recording, bounds, &query);
    let head = Head { standing: held.as_ref().map(|held| held.view.state), ..Head::of(&scene, live) };
    let body = match query.ask {
        // It is of the whole session, whatever part of it is selected.
        Ask::Baseline => Ok(Body::Baseline(held.map(|held| Box::new(held.view)))),
        _ => {
            let baseline = held.as_ref().map(|held| held.baseline);
            scene.selection.check(profile, &scene.tasks).and_then(|()| body(&scene, &query.ask, baseline))
        }
    };
    Look { query, head, body }
}

fn body(scene: &Scene<'_>, ask: &Ask, baseline: Option<&Baseline>) -> Result<Body, Error> {
    Ok(match ask {
        Ask::Overview => Body::Overview(Overview::of(scene)),
        Ask::Flame { usual: true, .. } => Body::Flame(against_usual(scene, baseline)?),
        Ask::Flame { by, usual: false } => Body::Flame(Icicle::of(scene, *by)),
        Ask::Threads { detail } => Body::Threads(ThreadsView::of(scene, *detail)),
        Ask::Functions { by, detail } => Body::Functions(FunctionsView::of(scene, *by, detail.as_ref())),
        Ask::Counters => Body::Counters(CountersView::of(scene)),
        Ask::Findings => Body::Findings(FindingsView::of(scene)),
        Ask::Baseline => Body::Baseline(None),
        Ask::Scaling => return Err(Error::new(ErrorKind::Unsupported, "one recording is no sweep")),
        Ask::Comparison(_) => return Err(Error::new(ErrorKind::Unsupported, "one recording is no comparison")),
    })
}

fn against_usual(scene: &Scene<'_>, baseline: Option<&Baseline>) -> Result<Icicle, Error> {
    let Some(baseline) = baseline else {
        return Err(Error::new(ErrorKind::NotFound, "the session is held against no baseline")
            .hint("Give one: --baseline NAME.baseline; `ironlaw baseline build` makes it."));
    };
    Ok(against::difference(scene, baseline)?.map(Icicle::of_difference).unwrap_or_default())
}
