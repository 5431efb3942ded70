//! The shown call tree, the zoom and the selection. Cells are remembered by the names from the root.

use super::words;
use crate::tui::effect::ShownFlame;
use crate::tui::panel::{PanelContext, PanelRequest};
use crate::tui::search::holds_smart;
use crate::view::escape::visible;
use crate::view::flame_tree::{Change, FlameTree, Layout, Place, lay_out};
use crate::view::query::Grouping;
use crate::view::{CodeRate, code_ipc, number};
use ratatui::layout::Rect;

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchMatches {
    /// For each label: whether its name contains the text.
    labels: Vec<bool>,
    /// The share of matching cells, each stack counted once; `None` without a search.
    pub share: Option<f64>,
}

impl SearchMatches {
    /// Searches for a text or an expression; a capital letter makes the search case-sensitive.
    pub fn of(tree: &FlameTree, text: &str) -> SearchMatches {
        if text.is_empty() {
            return SearchMatches::default();
        }
        let labels: Vec<bool> = tree.labels.iter().map(|label| holds_smart(&label.text, text)).collect();
        let mut inside = vec![false; tree.nodes.len()];
        let mut sum = 0_u64;
        for (at, node) in tree.nodes.iter().enumerate() {
            let above = node.parent.is_some_and(|parent| inside[parent as usize]);
            let here = labels[node.label as usize];
            if here && !above {
                sum = sum.saturating_add(node.value);
            }
            inside[at] = above || here;
        }
        SearchMatches { labels, share: Some(tree.share(sum)) }
    }

    /// Whether a cell's name contains the text.
    pub fn has(&self, tree: &FlameTree, node: u32) -> bool {
        let label = tree.nodes.get(node as usize).map(|node| node.label as usize);
        label.and_then(|label| self.labels.get(label)).copied().unwrap_or(false)
    }
}

/// The meaning of the colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Colours {
    /// The kind of code: user, kernel, JIT.
    #[default]
    Kind,
    /// The name: neighbours of one kind differ by name alone.
    Name,
    /// The change.
    Change,
    /// A rate against that of all code.
    Rate(CodeRate),
}

/// The screen's state. Cells are remembered by the names from the root: node numbers change with every snapshot.
#[derive(Debug, Default)]
pub struct State {
    pub(super) tree: FlameTree,
    pub(super) seen: bool,
    pub(super) by: Grouping,
    /// Whether it shows the difference against the session's baseline.
    pub(super) against_baseline: bool,
    pub(super) colours: Colours,
    /// Whether a comparison was on before; when it comes on, the colours switch to changes.
    pub(super) compared: bool,
    pub(super) upside_down: bool,
    pub(super) zoom: Vec<String>,
    pub(super) zoom_node: Option<u32>,
    pub(super) selected: Option<u32>,
    pub(super) selected_path: Vec<String>,
    pub(super) hovered: Option<u32>,
    pub(super) scroll: u32,
    pub(super) search: String,
    pub(super) found: SearchMatches,
}

impl State {
    /// Zooms into the deepest cell found along these names from the root.
    pub fn zoom_to(&mut self, path: Vec<String>) {
        self.zoom = path;
        self.scroll = 0;
        self.settle_loosely();
    }

    /// What is shown, and how.
    #[must_use]
    pub fn shown(&self) -> ShownFlame {
        let rate = if let Colours::Rate(rate) = self.colours { Some(rate) } else { None };
        let root = self.zoom_node.map(|node| self.names(node)).unwrap_or_default();
        ShownFlame { root, inverted: !self.upside_down, rate }
    }

    /// Restores zoom and selection by name; a zoom set by another screen may leave names out.
    pub(super) fn settle_loosely(&mut self) {
        if !self.seen {
            return;
        }
        self.zoom_node = self.tree.find(&self.zoom);
        self.zoom = self.zoom_node.map(|node| self.names(node)).unwrap_or_default();
        self.select(self.zoom_node);
    }

    pub(super) fn settle(&mut self) {
        self.zoom_node = self.exactly(&self.zoom);
        self.selected = self.exactly(&self.selected_path);
        self.hovered = None;
        self.found = SearchMatches::of(&self.tree, &self.search);
    }

    /// The deepest existing cell of this path.
    pub(super) fn exactly(&self, path: &[String]) -> Option<u32> {
        let mut at = None;
        for name in path {
            let same = |node: &u32| self.tree.label(*node).is_some_and(|label| label.text == *name);
            match self.tree.below(at).find(same) {
                Some(next) => at = Some(next),
                None => break,
            }
        }
        at
    }

    pub(super) fn names(&self, node: u32) -> Vec<String> {
        let text = |node: u32| self.tree.label(node).map(|label| label.text.clone()).unwrap_or_default();
        self.tree.path(node).into_iter().map(text).collect()
    }

    pub(super) fn select(&mut self, node: Option<u32>) {
        self.selected = node;
        self.selected_path = node.map(|node| self.names(node)).unwrap_or_default();
    }

    pub(super) fn zoom_into(&mut self, node: Option<u32>) {
        self.zoom_node = node;
        self.zoom = node.map(|node| self.names(node)).unwrap_or_default();
        self.scroll = 0;
        self.select(node);
    }

    /// The area of the cells: everything except the title.
    pub(super) fn rows(area: Rect) -> Rect {
        Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
    }

    pub(super) fn layout(&self, area: Rect) -> Layout {
        let rows = State::rows(area);
        lay_out(&self.tree, Place { zoom: self.zoom_node, scroll: self.scroll }, rows.width, rows.height)
    }

    /// The cell at a screen position.
    pub(super) fn at(&self, area: Rect, column: u16, row: u16) -> Option<u32> {
        let rows = State::rows(area);
        if !rows.contains((column, row).into()) {
            return None;
        }
        let from_root = if self.upside_down { rows.bottom() - 1 - row } else { row - rows.y };
        let x = column - rows.x;
        let cells = self.layout(area).cells;
        cells.iter().find(|cell| cell.row == from_root && cell.x <= x && x < cell.x + cell.width).map(|cell| cell.node)
    }

    pub(super) fn scroll_by(&mut self, rows: i64, area: Rect) {
        let height = u32::from(State::rows(area).height);
        let most = self.layout(area).depth.saturating_sub(height);
        self.scroll = u32::try_from(i64::from(self.scroll) + rows).unwrap_or(0).min(most);
    }

    /// Switches to the difference against the baseline, or back.
    pub(super) fn against_baseline(&mut self, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        let refused = match cx.head {
            head if head.sweep.is_some() || head.comparison.is_some() => {
                Some("this flame graph is a difference already")
            }
            head if head.standing.is_none() && !self.against_baseline => Some(words::NO_BASELINE),
            _ => None,
        };
        if let Some(why) = refused {
            return vec![PanelRequest::Say(why.to_string())];
        }
        self.against_baseline = !self.against_baseline;
        vec![PanelRequest::Refresh]
    }

    /// A cell in full, in one line.
    pub(super) fn describe(&self, node: u32) -> Option<String> {
        let (label, cell) = (self.tree.label(node)?, self.tree.nodes.get(node as usize)?);
        if let Some(difference) = &self.tree.difference {
            return words::cell(difference, node, label.inlined);
        }
        let percent = |value: u64| number::percent(self.tree.share(value)).joined();
        let mut text = format!("{}  total {}", visible(&label.text), percent(cell.value));
        if let Some(zoom) = self.zoom_node.filter(|zoom| *zoom != node) {
            let of = self.tree.nodes[zoom as usize].value.max(1);
            text += &format!(" ({} of the zoom)", number::percent(cell.value as f64 / of as f64).joined());
        }
        text += &format!("  self {}  {}", percent(cell.own), amount(cell.value, self.tree.unit));
        text += &format!("  {} samples", number::count(cell.samples));
        if let Some(rates) = self.tree.path_rates(node) {
            text += &format!("  IPC {}", code_ipc::cell(rates.ipc));
            if rates.mpki.value().is_some() {
                text += &format!("  MPKI {}", code_ipc::cell(rates.mpki));
            }
        }
        if label.inlined {
            text += "  inlined";
        }
        if let Some(Change { points, error, .. }) = self.tree.change(node) {
            text += &format!("  change {:+.2} ±{:.2} points", points * 100.0, error * 100.0);
        }
        Some(text)
    }
}

/// Formats a weight in its unit.
pub(super) fn amount(value: u64, unit: &str) -> String {
    match unit {
        "ns" => number::seconds(value as f64 / 1e9).joined(),
        unit => format!("{} {unit}", number::count(value)),
    }
}
