//! Snapshots of profiles, live or recorded.

use super::head::ScreenHeader;
use super::{PanelView, Snapshot};
use crate::analysis::attribution::{Assessment, WindowState};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Baseline;
use crate::model::profile::Profile;
use crate::units::Nanos;
use crate::view::baseline::{self, BaselineComparisonView};
use crate::view::context::ViewContext;
use crate::view::counters::CountersView;
use crate::view::findings::FindingsView;
use crate::view::flame_tree::FlameTree;
use crate::view::functions::FunctionsView;
use crate::view::latency_history::LatencyView;
use crate::view::numa::NumaView;
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
/// with, and `history` is the baseline of the session.
#[must_use]
pub fn snapshot_of_profile(
    profile: &Profile,
    recording: Option<&Profile>,
    history: Option<SessionBaseline<'_>>,
    bounds: Bounds,
    live: bool,
    query: Query,
) -> Snapshot {
    let context = ViewContext::of(profile, recording, bounds, &query);
    // The baseline's own view is that of the shown moment; the others take the state alone from the windows up to it.
    let moment = query.moment().filter(|_| query.request != ViewRequest::Baseline);
    let standing = |history: &SessionBaseline<'_>| match moment {
        Some(moment) => state_at(&history.view.assessment, moment),
        None => history.view.assessment.diagnosis.state,
    };
    let head = ScreenHeader { standing: history.as_ref().map(standing), ..ScreenHeader::of(&context, live) };
    let body = match query.request {
        // It covers the whole session up to the shown moment, whatever is selected.
        ViewRequest::Baseline => Ok(PanelView::Baseline(history.map(|history| Box::new(history.view)))),
        _ => {
            let baseline = history.as_ref().map(|history| history.baseline);
            context.selection.check(profile, &context.tasks).and_then(|()| body(&context, &query.request, baseline))
        }
    };
    Snapshot { query, head, body }
}

/// The state of a session at a moment: an alarm lasts until it is cleared, whatever its last window was like.
fn state_at(assessment: &Assessment, moment: Nanos) -> WindowState {
    let until = assessment.timeline.iter().take_while(|result| result.window.to <= moment);
    let (last, is_alarm) = until.fold((WindowState::Waiting, false), |(_, is_alarm), result| {
        let alarm = result.raised || result.state == WindowState::Alarm;
        (result.state, (is_alarm || alarm) && !result.cleared)
    });
    if is_alarm { WindowState::Alarm } else { last }
}

fn body(context: &ViewContext<'_>, request: &ViewRequest, baseline: Option<&Baseline>) -> Result<PanelView> {
    Ok(match request {
        ViewRequest::Overview => PanelView::Overview(Overview::of(context)),
        ViewRequest::Flame { against_baseline: true, .. } => PanelView::Flame(against_usual(context, baseline)?),
        ViewRequest::Flame { by, against_baseline: false } => PanelView::Flame(FlameTree::of(context, *by)),
        ViewRequest::Threads { by, detail } => PanelView::Threads(ThreadsView::of(context, *by, *detail)),
        ViewRequest::Functions { by, detail } => PanelView::Functions(FunctionsView::of(context, *by, detail.as_ref())),
        ViewRequest::Counters => PanelView::Counters(CountersView::of(context)),
        ViewRequest::Findings => PanelView::Findings(FindingsView::of(context)),
        ViewRequest::Latency => PanelView::Latency(Box::new(LatencyView::of(context))),
        ViewRequest::Numa => PanelView::Numa(Box::new(NumaView::of(context))),
        ViewRequest::Baseline => PanelView::Baseline(None),
        ViewRequest::Scaling => return Err(Error::new(ErrorKind::Unsupported, "a single recording has no sweep view")),
        ViewRequest::Fleet(_) => {
            return Err(Error::new(ErrorKind::Unsupported, "a single recording has no view of many machines"));
        }
        ViewRequest::Comparison(_) => {
            return Err(Error::new(ErrorKind::Unsupported, "a single recording has no comparison view"));
        }
    })
}

fn against_usual(context: &ViewContext<'_>, baseline: Option<&Baseline>) -> Result<FlameTree> {
    let Some(baseline) = baseline else {
        return Err(Error::new(ErrorKind::NotFound, "the session has no baseline")
            .hint("Give one, --baseline NAME.baseline or :baseline NAME.baseline, or learn it: :learn"));
    };
    Ok(baseline::difference(context, baseline)?.map(FlameTree::of_difference).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Window;
    use crate::analysis::attribution::{WindowResult, assess};
    use crate::analysis::testing::{Synthetic, ms};

    #[test]
    fn the_state_at_a_moment_is_that_of_the_windows_up_to_it_and_an_alarm_lasts_until_it_is_cleared() {
        use WindowState::{Alarm, UnknownLoad, Unusual, Usual, Waiting};
        let profile = Synthetic::new().finish();
        let baseline = crate::analysis::baseline::testing::baseline(&[30]);
        let mut assessment = assess(&profile, &baseline, Default::default());
        let states = [Usual, Unusual, Alarm, UnknownLoad, Usual, Usual];
        let result = |(at, state): (u64, &WindowState)| WindowResult {
            window: Window { from: ms(at * 1000), to: ms((at + 1) * 1000) },
            state: *state,
            load: None,
            ratio: None,
            latency_p99: None,
            raised: at == 2,
            cleared: at == 4,
        };
        assessment.timeline = (0..).zip(&states).map(result).collect();
        let expected = [Waiting, Usual, Unusual, Alarm, Alarm, Usual, Usual, Usual];
        let found: Vec<_> = (0..8).map(|second| state_at(&assessment, ms(second * 1000 + 500))).collect();
        assert_eq!(found, expected);
    }
}
