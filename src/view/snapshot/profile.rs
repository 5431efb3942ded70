//! Snapshots of profiles, live or recorded.

use super::head::Head;
use super::{Body, Snapshot};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::view::baseline::{self, BaselineComparisonView};
use crate::view::context::ViewContext;
use crate::view::counters::CountersView;
use crate::view::findings::FindingsView;
use crate::view::flame_tree::FlameTree;
use crate::view::functions::FunctionsView;
use crate::view::overview::Overview;
use crate::view::query::{Bounds, Query, ViewRequest};
use crate::view::threads::ThreadsView;

/// A session's baseline, and the comparison with it.
#[derive(Debug)]
pub struct SessionBaseline<'a> {
    /// The baseline.
    pub baseline: &'a Baseline,
    /// The session compared with the baseline.
    pub view: BaselineComparisonView,
}

/// Takes a snapshot of `profile`. `live` is set while its capture is running, `recording` is the recording to compare
/// with, and `held` is the baseline of the session.
#[must_use]
pub fn snapshot_of_profile(
    profile: &Profile,
    recording: Option<&Profile>,
    held: Option<SessionBaseline<'_>>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Snapshot {
    let context = ViewContext::of(profile, recording, bounds, &query);
    let head =
        Head { standing: held.as_ref().map(|held| held.view.assessment.diagnosis.state), ..Head::of(&context, live) };
    let body = match query.request {
        // It covers the whole session, whatever is selected.
        ViewRequest::Baseline => Ok(Body::Baseline(held.map(|held| Box::new(held.view)))),
        _ => {
            let baseline = held.as_ref().map(|held| held.baseline);
            context.selection.check(profile, &context.tasks).and_then(|()| body(&context, &query.request, baseline))
        }
    };
    Snapshot { query, head, body }
}

fn body(context: &ViewContext<'_>, request: &ViewRequest, baseline: Option<&Baseline>) -> Result<Body> {
    Ok(match request {
        ViewRequest::Overview => Body::Overview(Overview::of(context)),
        ViewRequest::Flame { usual: true, .. } => Body::Flame(against_usual(context, baseline)?),
        ViewRequest::Flame { by, usual: false } => Body::Flame(FlameTree::of(context, *by)),
        ViewRequest::Threads { detail } => Body::Threads(ThreadsView::of(context, *detail)),
        ViewRequest::Functions { by, detail } => Body::Functions(FunctionsView::of(context, *by, detail.as_ref())),
        ViewRequest::Counters => Body::Counters(CountersView::of(context)),
        ViewRequest::Findings => Body::Findings(FindingsView::of(context)),
        ViewRequest::Baseline => Body::Baseline(None),
        ViewRequest::Scaling => return Err(Error::new(ErrorKind::Unsupported, "a single recording has no sweep view")),
        ViewRequest::Comparison(_) => {
            return Err(Error::new(ErrorKind::Unsupported, "a single recording has no comparison view"));
        }
    })
}

fn against_usual(context: &ViewContext<'_>, baseline: Option<&Baseline>) -> Result<FlameTree> {
    let Some(baseline) = baseline else {
        return Err(Error::new(ErrorKind::NotFound, "the session has no baseline")
            .hint("Give one: --baseline NAME.baseline; `ironlaw baseline build` makes it."));
    };
    Ok(baseline::difference(context, baseline)?.map(FlameTree::of_difference).unwrap_or_default())
}
