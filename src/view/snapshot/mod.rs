//! A snapshot of a profile (live or recorded), a sweep or a comparison: the head that every screen shows, and the view
//! that a screen requested.

mod context;
mod diff;
mod head;
mod query;
mod sweep;

pub use context::ViewContext;
pub use diff::{Compared, ComparisonHead, ComparisonTab, look_at_comparison};
pub use head::{Head, Moment, Strip};
pub use query::{Against, Bounds, Grouping, Query, ViewRequest, When, Whose};
pub use sweep::{SweepHead, look_at_sweep};

use super::against::{self, AgainstView};
use super::counters::CountersView;
use super::findings::FindingsView;
use super::flame_tree::FlameTree;
use super::functions::FunctionsView;
use super::overview::Overview;
use super::sweep::ScalingView;
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
pub struct SessionBaseline<'a> {
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
    held: Option<SessionBaseline<'_>>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Snapshot {
    let context = ViewContext::of(profile, recording, bounds, &query);
    let head = Head { standing: held.as_ref().map(|held| held.view.state), ..Head::of(&context, live) };
    let body = match query.ask {
        // It covers the whole session, whatever is selected.
        ViewRequest::Baseline => Ok(Body::Baseline(held.map(|held| Box::new(held.view)))),
        _ => {
            let baseline = held.as_ref().map(|held| held.baseline);
            context.selection.check(profile, &context.tasks).and_then(|()| body(&context, &query.ask, baseline))
        }
    };
    Snapshot { query, head, body }
}

fn body(context: &ViewContext<'_>, ask: &ViewRequest, baseline: Option<&Baseline>) -> Result<Body, Error> {
    Ok(match ask {
        ViewRequest::Overview => Body::Overview(Overview::of(context)),
        ViewRequest::Flame { usual: true, .. } => Body::Flame(against_usual(context, baseline)?),
        ViewRequest::Flame { by, usual: false } => Body::Flame(FlameTree::of(context, *by)),
        ViewRequest::Threads { detail } => Body::Threads(ThreadsView::of(context, *detail)),
        ViewRequest::Functions { by, detail } => Body::Functions(FunctionsView::of(context, *by, detail.as_ref())),
        ViewRequest::Counters => Body::Counters(CountersView::of(context)),
        ViewRequest::Findings => Body::Findings(FindingsView::of(context)),
        ViewRequest::Baseline => Body::Baseline(None),
        ViewRequest::Scaling => return Err(Error::new(ErrorKind::Unsupported, "one recording is no sweep")),
        ViewRequest::Comparison(_) => return Err(Error::new(ErrorKind::Unsupported, "one recording is no comparison")),
    })
}

fn against_usual(context: &ViewContext<'_>, baseline: Option<&Baseline>) -> Result<FlameTree, Error> {
    let Some(baseline) = baseline else {
        return Err(Error::new(ErrorKind::NotFound, "the session is held against no baseline")
            .hint("Give one: --baseline NAME.baseline; `ironlaw baseline build` makes it."));
    };
    Ok(against::difference(context, baseline)?.map(FlameTree::of_difference).unwrap_or_default())
}
