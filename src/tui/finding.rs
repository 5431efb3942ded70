//! Helpers shared by the screens that show findings: wording, and navigation to the code of a finding.

use super::panel::{PanelContext, PanelRequest};
use crate::view::Axis;
use crate::view::escape::visible;
use crate::view::findings::{Confidence, FindingView, PlaceView};
use crate::view::number::percent;

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

/// The call path from the root, escaped for the terminal; empty for a place that contains only threads.
#[must_use]
pub fn path(place: &PlaceView, arrow: &str) -> String {
    let frames: Vec<_> = place.frames.iter().map(|frame| visible(frame)).collect();
    frames.join(&format!(" {arrow} "))
}

/// The requests that open the flame graph at a finding's code, on the axis that the finding used. Empty without a path.
#[must_use]
pub fn way(finding: &FindingView, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
    let Some(place) = finding.place.as_ref().filter(|place| !place.frames.is_empty()) else { return Vec::new() };
    let axis = match (place.off_cpu, cx.axis) {
        (true, _) => Axis::OffCpu,
        (false, Axis::OffCpu) => Axis::Event(0),
        (false, counted) => counted,
    };
    let count = (axis != cx.axis).then_some(PanelRequest::Count(axis));
    count.into_iter().chain([PanelRequest::Zoom(place.frames.clone())]).collect()
}
