//! What the screens that show findings have in common: words for them, and the way to the code they are about.
//! It never judges a finding.

use super::panel::{Cx, Wish};
use crate::view::Axis;
use crate::view::escape::visible;
use crate::view::findings::{Confidence, FindingView, PlaceView};
use crate::view::number::percent;

/// How sure a finding is, in a word.
#[must_use]
pub fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

/// Its share of the time; a dash where it has none.
#[must_use]
pub fn share(finding: &FindingView) -> String {
    finding.share.map_or_else(|| "-".to_string(), |share| percent(share).joined())
}

/// The call path from the root, safe to show; empty for a place that is threads only.
#[must_use]
pub fn path(place: &PlaceView, arrow: &str) -> String {
    let frames: Vec<_> = place.frames.iter().map(|frame| visible(frame)).collect();
    frames.join(&format!(" {arrow} "))
}

/// What leads to a finding's code: the flame graph zoomed there, counting what the finding counted. Empty without a path.
#[must_use]
pub fn way(finding: &FindingView, cx: &Cx<'_>) -> Vec<Wish> {
    let Some(place) = finding.place.as_ref().filter(|place| !place.frames.is_empty()) else { return Vec::new() };
    let axis = match (place.off_cpu, cx.axis) {
        (true, _) => Axis::OffCpu,
        (false, Axis::OffCpu) => Axis::Event(0),
        (false, counted) => counted,
    };
    let count = (axis != cx.axis).then_some(Wish::Count(axis));
    count.into_iter().chain([Wish::Zoom(place.frames.clone())]).collect()
}
