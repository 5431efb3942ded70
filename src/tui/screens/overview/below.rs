//! The foot of the screen: the hottest functions and the findings. An empty half shows the reason.

use super::page::{Item, Page, Rows};
use super::tiles::changed;
use super::words;
use crate::model::{MetricId, Unit};
use crate::tui::finding;
use crate::tui::panel::PanelContext;
use crate::view::Axis;
use crate::view::escape::visible;
use crate::view::findings::FindingView;
use crate::view::fit::{end, function_name, width};
use crate::view::number::{count, percent, seconds};
use crate::view::overview::{HotFunction, Overview};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// From this width on, functions and findings are side by side.
const SIDE_BY_SIDE: u16 = 76;
/// Columns of a share and of its change.
const SHARE: usize = 7;
const CHANGE: usize = 9;
/// Columns between the two halves.
const GAP: u16 = 3;

/// The number of rows it could fill.
pub(super) fn wanted(view: &Overview) -> u16 {
    let findings = view.findings.found.len() * 2;
    (findings.max(view.hot.len()) + 1).try_into().unwrap_or(u16::MAX)
}

/// Lays out functions and findings.
pub(super) fn below(view: &Overview, cx: &PanelContext<'_>, area: Rect, page: &mut Page) {
    if area.width >= SIDE_BY_SIDE {
        let left = area.width * 9 / 20;
        let right = Rect { x: area.x + left + GAP, width: area.width - left - GAP, ..area };
        functions(view, cx, Rect { width: left, ..area }, page);
        findings(view, cx, right, page);
    } else {
        let rows = (wanted_by_findings(view)).min(area.height / 2);
        findings(view, cx, Rect { height: rows, ..area }, page);
        functions(view, cx, Rect { y: area.y + rows, height: area.height - rows, ..area }, page);
    }
}

fn wanted_by_findings(view: &Overview) -> u16 {
    (view.findings.found.len() * 2 + 1).clamp(2, 16) as u16
}

fn functions(view: &Overview, cx: &PanelContext<'_>, area: Rect, page: &mut Page) {
    let mut rows = Rows::new(area);
    let what = match cx.axis {
        Axis::OffCpu => "waiting most, by blocked time",
        Axis::Event(_) => "hottest functions, by own time",
    };
    let samples = format!("{} samples", count(view.samples));
    let title = end(what, usize::from(area.width), cx.glyphs.ellipsis);
    let at = rows.take(1);
    let pad = usize::from(area.width).saturating_sub(width(&title) + width(&samples));
    let heading = if pad > 0 { format!("{title}{}{samples}", " ".repeat(pad)) } else { title };
    page.text(at, None, Span::styled(heading, cx.theme.dim));
    if view.hot.is_empty() {
        for text in nothing_ran(view, cx) {
            page.text(rows.take(1), None, Span::styled(text, cx.theme.text));
        }
    }
    let compared = view.hot.iter().any(|hot| hot.change.is_some());
    for hot in &view.hot {
        let at = rows.take(1);
        let item = Item::Function(hot.name.clone(), hot.module.clone());
        page.text(at, Some(item), function(hot, compared, cx, usize::from(at.width)));
    }
}

/// Why there are no functions: an idle target and an unsampled one differ.
fn nothing_ran(view: &Overview, cx: &PanelContext<'_>) -> Vec<String> {
    if view.samples > 0 {
        return vec!["no sample could be assigned to a function".to_string()];
    }
    let span = (cx.head.to - cx.head.from).seconds();
    let cpu = view.factor(MetricId::CpuUtilisation).and_then(|busy| busy.value.value().copied());
    let mut lines = vec!["no samples in this time".to_string()];
    if let Some(busy) = cpu {
        let time = seconds(busy * span).joined();
        lines.push(format!("the target ran for {time} of CPU time"));
    }
    lines
}

fn function(hot: &HotFunction, compared: bool, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let share = format!("{:>SHARE$}", percent(hot.share).joined());
    let mut spans = vec![Span::styled(share, cx.theme.text)];
    let mut used = SHARE + 1;
    if compared {
        let text = hot.change.map(|change| words::change(&change, Unit::Share));
        let text = text.map_or_else(|| Span::raw(""), |text| changed(&text, cx));
        let pad = CHANGE.saturating_sub(text.width());
        spans.extend([Span::raw(" ".repeat(pad)), text]);
        used += CHANGE;
    }
    let name = function_name(&visible(&hot.name), room.saturating_sub(used), cx.glyphs.ellipsis);
    spans.extend([Span::raw(" "), Span::styled(name, cx.theme.text)]);
    Line::from(spans)
}

fn findings(view: &Overview, cx: &PanelContext<'_>, area: Rect, page: &mut Page) {
    let mut rows = Rows::new(area);
    let found = &view.findings.found;
    let heading = end(&heading(view, cx), usize::from(area.width), cx.glyphs.ellipsis);
    page.text(rows.take(1), None, Span::styled(heading, cx.theme.dim));
    let each = if usize::from(rows.left()) >= found.len() * 2 { 2 } else { 1 };
    for finding in found {
        let item = || Some(Item::Finding(finding.rule.to_string()));
        let at = rows.take(1);
        page.text(at, item(), line(finding, cx, usize::from(at.width)));
        // The first finding's next step has priority over the last finding's title.
        if each == 2 || (finding.rule == found[0].rule && rows.left() > 0) {
            let text =
                end(&format!("  next: {}", visible(&finding.next_step)), usize::from(at.width), cx.glyphs.ellipsis);
            page.text(rows.take(1), item(), Span::styled(text, cx.theme.dim));
        }
    }
}

fn heading(view: &Overview, cx: &PanelContext<'_>) -> String {
    let findings = &view.findings;
    let found = match findings.found.len() {
        0 => "nothing found".to_string(),
        1 => "1 finding".to_string(),
        count => format!("{count} findings"),
    };
    let (clear, undecided, dot) = (findings.clear.len(), findings.undecided.len(), cx.glyphs.dot);
    format!("{found} {dot} {clear} clear, {undecided} undecided")
}

fn line(finding: &FindingView, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let right = format!("{}  {}", finding::share(finding), finding::confidence(finding.confidence));
    let room = room.saturating_sub(2 + width(&right) + 2);
    let title = end(&visible(finding.title), room, cx.glyphs.ellipsis);
    let mut spans = vec![Span::styled("! ", cx.theme.accent2), Span::styled(title.clone(), cx.theme.heading)];
    let mut left = room.saturating_sub(width(&title));
    if left > 12 {
        let claim = end(&visible(&finding.claim), left - 3, cx.glyphs.ellipsis);
        left -= width(&claim) + 3;
        spans.extend([Span::raw("   "), Span::styled(claim, cx.theme.text)]);
    }
    spans.extend([Span::raw(" ".repeat(left + 2)), Span::styled(right, cx.theme.text)]);
    Line::from(spans)
}
