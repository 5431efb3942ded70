//! A snapshot of a profile (live or recorded), a sweep or a comparison: the head that every screen shows, and the view
//! that a screen requested.

mod comparison;
mod context;
mod head;
mod query;
mod sweep;

pub use comparison::{Compared, ComparisonHead, ComparisonTab, look_at_comparison};
pub use context::ViewContext;
pub use head::{Head, Moment, Strip};
pub use query::{Against, Bounds, Grouping, Query, ViewRequest, When, Whose};
pub use sweep::{SweepHead, look_at_sweep};

use super::against::{self, AgainstView};
use super::counters::CountersView;
use super::findings::FindingsView;
use super::flame_tree::FlameTree;
use super::functions::FunctionsView;
use super::overview::Overview;
use super::scaling::ScalingView;
use super::threads::ThreadsView;
use crate::error::{Error, ErrorKind};
use crate::model::Baseline;
use crate::model::profile::Profile;

/// The answer to one query.
#[derive(Debug)]
pub struct Snapshot {
    /// The query it answers.
    pub query: Query,
    /// What every screen shows.
    pub head: Head,
    /// The view, or an error that names what is missing and the remedy.
    pub body: Result<Body, Error>,
}

/// The view that a screen requested.
#[derive(Debug)]
pub enum Body {
    /// The factors, rates and findings.
    Overview(Overview),
    /// The call tree.
    Flame(FlameTree),
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
    /// The session compared with its baseline; `None` without a baseline.
    Baseline(Option<Box<AgainstView>>),
    /// One comparison with a base, for a screen.
    Comparison(ComparisonTab, Compared),
}

/// A session's baseline, and the comparison with it.
#[derive(Debug)]
pub struct Held<'a> {
    /// The baseline.
    pub baseline: &'a Baseline,
    /// The session compared with the baseline.
    pub view: AgainstView,
}

/// Takes a snapshot of `profile`. `live` is set while its capture is running, `recording` is the recording to compare
/// with, and `held` is the baseline of the session.
#[must_use]
pub fn look(
    profile: &Profile,
    recording: Option<&Profile>,
    held: Option<Held<'_>>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Snapshot {
    let scene = ViewContext::of(profile, recording, bounds, &query);
    let head = Head { standing: held.as_ref().map(|held| held.view.state), ..Head::of(&scene, live) };
    let body = match query.ask {
        // It covers the whole session, whatever is selected.
        ViewRequest::Baseline => Ok(Body::Baseline(held.map(|held| Box::new(held.view)))),
        _ => {
            let baseline = held.as_ref().map(|held| held.baseline);
            scene.selection.check(profile, &scene.tasks).and_then(|()| body(&scene, &query.ask, baseline))
        }
    };
    Snapshot { query, head, body }
}

fn body(scene: &ViewContext<'_>, ask: &ViewRequest, baseline: Option<&Baseline>) -> Result<Body, Error> {
    Ok(match ask {
        ViewRequest::Overview => Body::Overview(Overview::of(scene)),
        ViewRequest::Flame { usual: true, .. } => Body::Flame(against_usual(scene, baseline)?),
        ViewRequest::Flame { by, usual: false } => Body::Flame(FlameTree::of(scene, *by)),
        ViewRequest::Threads { detail } => Body::Threads(ThreadsView::of(scene, *detail)),
        ViewRequest::Functions { by, detail } => Body::Functions(FunctionsView::of(scene, *by, detail.as_ref())),
        ViewRequest::Counters => Body::Counters(CountersView::of(scene)),
        ViewRequest::Findings => Body::Findings(FindingsView::of(scene)),
        ViewRequest::Baseline => Body::Baseline(None),
        ViewRequest::Scaling => return Err(Error::new(ErrorKind::Unsupported, "one recording is no sweep")),
        ViewRequest::Comparison(_) => return Err(Error::new(ErrorKind::Unsupported, "one recording is no comparison")),
    })
}

fn against_usual(scene: &ViewContext<'_>, baseline: Option<&Baseline>) -> Result<FlameTree, Error> {
    let Some(baseline) = baseline else {
        return Err(Error::new(ErrorKind::NotFound, "the session is held against no baseline")
            .hint("Give one: --baseline NAME.baseline; `ironlaw baseline build` makes it."));
    };
    Ok(against::difference(scene, baseline)?.map(FlameTree::of_difference).unwrap_or_default())
}
