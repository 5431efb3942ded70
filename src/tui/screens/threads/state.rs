//! The rows in their order, and the selection.

use crate::model::Measure;
use crate::tui::list::List;
use crate::tui::panel::{PanelRequest, ScreenId};
use crate::view::query::TaskFilter;
use crate::view::threads::{ThreadLine, ThreadsView as View};
use std::cmp::Ordering;

/// The order of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Running,
    Queued,
    Blocked,
    Switches,
    Migrations,
    Name,
    Tid,
}

pub(super) const ORDERS: [Order; 7] =
    [Order::Running, Order::Queued, Order::Blocked, Order::Switches, Order::Migrations, Order::Name, Order::Tid];

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    pub(super) view: Option<View>,
    pub(super) list: List<u32>,
    pub(super) order: Order,
    pub(super) reversed: bool,
    pub(super) search: String,
    /// Whether only matches of the search are shown.
    pub(super) only: bool,
    /// Whether the selected thread's waits are shown below.
    pub(super) detail: bool,
}

impl State {
    /// The rows in order, as indices into the view.
    pub(super) fn rows(&self) -> Vec<usize> {
        let Some(view) = &self.view else { return Vec::new() };
        let shown = |at: &usize| !self.only || self.search.is_empty() || self.fits(&view.threads[*at]);
        let mut rows: Vec<usize> = (0..view.threads.len()).filter(shown).collect();
        rows.sort_by(|a, b| {
            let (a, b) = (&view.threads[*a], &view.threads[*b]);
            let order = self.compare(a, b).then(a.tid.cmp(&b.tid));
            if self.reversed { order.reverse() } else { order }
        });
        rows
    }

    /// Most first; names and numbers ascending; missing values last.
    pub(super) fn compare(&self, a: &ThreadLine, b: &ThreadLine) -> Ordering {
        let value = |measure: Measure<f64>| measure.value().copied().unwrap_or(-1.0);
        let most = |of: fn(&ThreadLine) -> Measure<f64>| value(of(b)).total_cmp(&value(of(a)));
        match self.order {
            Order::Running => most(|row| row.running).then(b.samples.cmp(&a.samples)),
            Order::Queued => most(|row| row.queued),
            Order::Blocked => most(|row| row.blocked),
            Order::Switches => most(|row| row.voluntary),
            Order::Migrations => most(|row| row.migrations),
            Order::Name => a.name.cmp(&b.name),
            Order::Tid => Ordering::Equal,
        }
    }

    pub(super) fn fits(&self, row: &ThreadLine) -> bool {
        row.name.to_lowercase().contains(&self.search) || row.tid.to_string().contains(&self.search)
    }

    pub(super) fn keys(&self, rows: &[usize]) -> Vec<u32> {
        let threads = self.view.as_ref().map_or(&[][..], |view| &view.threads);
        rows.iter().map(|at| threads[*at].tid).collect()
    }

    pub(super) fn chosen(&self) -> Option<&ThreadLine> {
        let rows = self.rows();
        let at = self.list.at(&self.keys(&rows))?;
        self.view.as_ref()?.threads.get(*rows.get(at)?)
    }

    /// Requests a new snapshot if the detail now shows another thread.
    pub(super) fn moved(&self) -> Vec<PanelRequest> {
        if self.detail { vec![PanelRequest::Refresh] } else { Vec::new() }
    }

    pub(super) fn find(&mut self, by: isize, height: u16) -> Vec<PanelRequest> {
        let rows = self.rows();
        let keys = self.keys(&rows);
        let fit: Vec<bool> = match &self.view {
            Some(view) if !self.search.is_empty() => rows.iter().map(|at| self.fits(&view.threads[*at])).collect(),
            _ => return Vec::new(),
        };
        self.list.find(&keys, by, height, |at| fit[at]);
        self.moved()
    }

    /// Shows only this thread on all screens, starting with the flame graph.
    pub(super) fn enter(&self) -> Vec<PanelRequest> {
        let Some(row) = self.chosen() else { return Vec::new() };
        let filter = TaskFilter { pids: Vec::new(), tids: vec![row.tid] };
        vec![PanelRequest::Only(filter, format!("thread {} {}", row.name, row.tid)), PanelRequest::Go(ScreenId::Flame)]
    }
}
