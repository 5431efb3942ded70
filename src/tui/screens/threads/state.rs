//! The rows in their order, and the selection.

use crate::model::Measure;
use crate::tui::list::{List, ListRow};
use crate::tui::panel::{PanelRequest, ScreenId};
use crate::tui::search::holds;
use crate::view::query::{LineKey, TaskFilter};
use crate::view::threads::{ThreadLine, ThreadsView as View, group_and_inside};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
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
    Ipc,
    Name,
    Tid,
}

pub(super) const ORDERS: [Order; 8] = [
    Order::Running,
    Order::Queued,
    Order::Blocked,
    Order::Switches,
    Order::Migrations,
    Order::Ipc,
    Order::Name,
    Order::Tid,
];

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    pub(super) view: Option<View>,
    /// What a row stands for.
    pub(super) by: LineKey,
    pub(super) list: List<u32>,
    pub(super) order: Order,
    pub(super) reversed: bool,
    /// Whether the selected thread's waits are shown below.
    pub(super) detail: bool,
}

impl State {
    /// Selects a thread, and shows where it waits.
    pub fn point_to(&mut self, tid: u32) {
        if self.by != LineKey::Thread {
            (self.by, self.view) = (LineKey::Thread, None);
        }
        (self.detail, self.list.only) = (true, false);
        self.list.select(tid);
    }

    /// The rows in order, as indices into the view.
    pub(super) fn rows(&self) -> Vec<usize> {
        let Some(view) = &self.view else { return Vec::new() };
        let shown = |at: &usize| self.list.shows(|text| fits(&view.threads[*at], text));
        let mut rows: Vec<usize> = (0..view.threads.len()).filter(shown).collect();
        rows.sort_by(|a, b| {
            let (a, b) = (&view.threads[*a], &view.threads[*b]);
            let order = self.compare(a, b).then(a.tid.cmp(&b.tid));
            if self.reversed { order.reverse() } else { order }
        });
        if self.by == LineKey::Cgroup { in_tree(view, &rows) } else { rows }
    }

    /// A row's name; that of a control group in another one is indented, without the path of that.
    pub(super) fn name_in_tree<'a>(&'a self, row: &'a ThreadLine) -> Cow<'a, str> {
        let threads = self.view.as_ref().map_or(&[][..], |view| &view.threads);
        let parent = |row: &&ThreadLine| threads.iter().find(|line| Some(line.tid) == row.parent);
        let Some(outer) = parent(&row) else { return Cow::Borrowed(&row.name) };
        let own =
            row.name.strip_prefix(outer.name.as_str()).map_or(row.name.as_str(), |own| own.trim_start_matches('/'));
        let depth = std::iter::successors(Some(outer), parent).count();
        Cow::Owned(format!("{}{own}", "  ".repeat(depth)))
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
            Order::Ipc => most(|row| row.ipc),
            Order::Name => a.name.cmp(&b.name),
            Order::Tid => Ordering::Equal,
        }
    }

    pub(super) fn matches(&self, row: &ThreadLine) -> bool {
        self.list.finds(|text| fits(row, text))
    }

    pub(super) fn list_rows(&self) -> Vec<ListRow<u32>> {
        let threads = self.view.as_ref().map_or(&[][..], |view| &view.threads);
        let row = |row: &ThreadLine| ListRow { key: row.tid, matches: self.matches(row) };
        self.rows().into_iter().map(|at| row(&threads[at])).collect()
    }

    pub(super) fn chosen(&self) -> Option<&ThreadLine> {
        let at = self.list.at(&self.list_rows())?;
        self.view.as_ref()?.threads.get(*self.rows().get(at)?)
    }

    /// Requests a new snapshot if the detail now shows another thread.
    pub(super) fn moved(&self) -> Vec<PanelRequest> {
        if self.detail { vec![PanelRequest::Refresh] } else { Vec::new() }
    }

    /// Shows only what the row stands for on all screens, starting with the flame graph.
    pub(super) fn enter(&self) -> Vec<PanelRequest> {
        let Some(row) = self.chosen() else { return Vec::new() };
        let all = TaskFilter::default();
        let (filter, label) = match self.by {
            LineKey::Thread => (TaskFilter { tids: vec![row.tid], ..all }, format!("thread {} {}", row.name, row.tid)),
            LineKey::Process => {
                (TaskFilter { pids: vec![row.tid], ..all }, format!("process {} {}", row.name, row.tid))
            }
            LineKey::Cgroup => {
                (TaskFilter { cgroups: group_and_inside(&row.name), ..all }, format!("cgroup {}", row.name))
            }
            LineKey::Cpu => (TaskFilter { cpus: vec![row.tid], ..all }, row.name.clone()),
        };
        vec![PanelRequest::Only(filter, label), PanelRequest::Go(ScreenId::Flame)]
    }
}

/// Rows in their order, each followed by those of the control groups in it. A row whose group is not shown stands alone.
fn in_tree(view: &View, rows: &[usize]) -> Vec<usize> {
    let line = |at: usize| &view.threads[at];
    let shown: FxHashSet<u32> = rows.iter().map(|at| line(*at).tid).collect();
    let mut inside: FxHashMap<Option<u32>, Vec<usize>> = FxHashMap::default();
    // The last comes off the stack first.
    for at in rows.iter().rev() {
        inside.entry(line(*at).parent.filter(|parent| shown.contains(parent))).or_default().push(*at);
    }
    let mut open = inside.remove(&None).unwrap_or_default();
    let mut ordered = Vec::with_capacity(rows.len());
    while let Some(at) = open.pop() {
        ordered.push(at);
        open.extend(inside.remove(&Some(line(at).tid)).unwrap_or_default());
    }
    ordered
}

/// Whether the name or the number of a thread contains the text.
fn fits(row: &ThreadLine, text: &str) -> bool {
    holds(&row.name, text) || row.tid.to_string().contains(text)
}
