//! Helpers shared by the screens that show findings: wording, and navigation to the evidence of a finding.

use super::panel::{PanelContext, PanelRequest, ScreenId};
use super::theme::Glyphs;
use crate::view::Axis;
use crate::view::escape::visible;
use crate::view::findings::{Confidence, FindingView, PlaceView, SLOWER_THAN_BASELINE};
use crate::view::fit::function_name;
use crate::view::number::percent;

/// Columns of a function in a call path: templates and parameters would fill the screen.
const FUNCTION: usize = 40;

/// A confidence level as one word.
#[must_use]
pub fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

/// The finding's share of the time; a dash if it has none.
#[must_use]
pub fn share(finding: &FindingView) -> String {
    finding.share.map_or_else(|| "-".to_string(), |share| percent(share).joined())
}

/// The call path from the root, escaped for the terminal, long names cut as in tables; empty for a place that contains
/// only threads.
#[must_use]
pub fn path(place: &PlaceView, glyphs: &Glyphs) -> String {
    let name = |frame: &String| function_name(&visible(frame), FUNCTION, glyphs.ellipsis);
    let frames: Vec<_> = place.frames.iter().map(name).collect();
    frames.join(&format!(" {} ", glyphs.right))
}

/// The requests that lead to a finding's evidence: the flame graph at its code, on the axis that the finding used; the
/// comparison or the sweep it comes from; its first thread; or the history of the metric it was read from. Empty without
/// any of them.
#[must_use]
pub fn evidence(finding: &FindingView, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
    if let Some(place) = finding.place.as_ref().filter(|place| !place.frames.is_empty()) {
        let axis = match (place.off_cpu, cx.axis) {
            (true, _) => Axis::OffCpu,
            (false, Axis::OffCpu) => cx.head.first_sampled,
            (false, counted) => counted,
        };
        let count = (axis != cx.axis).then_some(PanelRequest::Count(axis));
        return count.into_iter().chain([PanelRequest::Zoom(place.frames.clone())]).collect();
    }
    if finding.rule == SLOWER_THAN_BASELINE {
        return vec![PanelRequest::Go(ScreenId::Baseline)];
    }
    if cx.head.sweep.is_some() {
        return vec![PanelRequest::Go(ScreenId::Scaling)];
    }
    let thread = finding.place.as_ref().and_then(|place| place.first_thread).map(PanelRequest::Thread);
    let metric = || finding.evidence.iter().find_map(|row| row.metric).map(PanelRequest::Metric);
    thread.or_else(metric).into_iter().collect()
}
