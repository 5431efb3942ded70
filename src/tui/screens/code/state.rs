//! The rows in their order, and the selection.

use super::rows;
use super::rows::{Key, Order, RowKind};
use crate::tui::list::{List, ListRow};
use crate::tui::panel::{PanelContext, PanelRequest};
use crate::view::Axis;
use crate::view::diff::{CodeRow, CodeView, ComparisonView};
use crate::view::snapshot::SelectedComparison;
use ratatui::layout::Rect;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    pub(super) seen: Option<SelectedComparison>,
    pub(super) row_kind: RowKind,
    pub(super) order: Order,
    pub(super) reversed: bool,
    pub(super) list: List<Key>,
    /// The function that another screen points to, until it is found.
    pub(super) wanted: Option<String>,
}

impl State {
    /// Selects a function by its name.
    pub fn point_to(&mut self, name: &str) {
        (self.row_kind, self.list.only) = (RowKind::Functions, false);
        self.wanted = Some(name.to_string());
        self.settle();
    }

    pub(super) fn settle(&mut self) {
        let Some(name) = &self.wanted else { return };
        if let Some(at) = self.rows().into_iter().position(|row| row.name == *name) {
            let rows = self.list_rows();
            self.list.pick(&rows, at);
            self.wanted = None;
        }
    }

    pub(super) fn view(&self) -> Option<&ComparisonView> {
        self.seen.as_ref()?.one()
    }

    pub(super) fn code(&self) -> Option<&CodeView> {
        self.view()?.code.as_ref()
    }

    pub(super) fn rows(&self) -> Vec<&CodeRow> {
        let Some(code) = self.code() else { return Vec::new() };
        let mut all: Vec<&CodeRow> = self.row_kind.rows(code).iter().collect();
        all.retain(|row| self.list.shows(|text| rows::fits(row, text)));
        self.order.sort(&mut all);
        if self.reversed {
            all.reverse();
        }
        all
    }

    pub(super) fn list_rows(&self) -> Vec<ListRow<Key>> {
        let row = |row| ListRow { key: rows::key(row), matches: self.list.finds(|text| rows::fits(row, text)) };
        self.rows().into_iter().map(row).collect()
    }

    pub(super) fn row(&self) -> Option<&CodeRow> {
        let at = self.list.at(&self.list_rows())?;
        self.rows().into_iter().nth(at)
    }

    /// The table, below the title line.
    pub(super) fn table(area: Rect) -> Rect {
        Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
    }

    /// The flame graph zoomed to the selected function, on the axis of the selected rows.
    pub(super) fn zoom(&self, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        let Some(row) = self.row() else { return Vec::new() };
        let axis = if self.row_kind == RowKind::Waits { Axis::OffCpu } else { Axis::Event(0) };
        let path = row.callers.iter().chain([&row.name]).cloned().collect();
        (axis != cx.axis).then_some(PanelRequest::Count(axis)).into_iter().chain([PanelRequest::Zoom(path)]).collect()
    }
}
