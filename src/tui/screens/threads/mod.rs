//! The screen Threads: how each thread spent its time, where it waits, and the target's share of every CPU.

mod draw;
#[cfg(test)]
mod tests;

use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::list::List;
use crate::tui::panel::{Cx, Panel, PanelRequest, ScreenId};
use crate::view::escape::visible;
use crate::view::number;
use crate::view::query::{TaskFilter, ViewRequest};
use crate::view::snapshot::Body;
use crate::view::threads::{ThreadLine, ThreadsView as View};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use std::cmp::Ordering;

/// The order of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Order {
    #[default]
    Running,
    Queued,
    Blocked,
    Switches,
    Migrations,
    Name,
    Tid,
}

const ORDERS: [Order; 7] =
    [Order::Running, Order::Queued, Order::Blocked, Order::Switches, Order::Migrations, Order::Name, Order::Tid];

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    list: List<u32>,
    order: Order,
    reversed: bool,
    search: String,
    /// Whether only matches of the search are shown.
    only: bool,
    /// Whether the selected thread's waits are shown below.
    detail: bool,
}

impl State {
    /// The rows in order, as indices into the view.
    fn rows(&self) -> Vec<usize> {
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
    fn compare(&self, a: &ThreadLine, b: &ThreadLine) -> Ordering {
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

    fn fits(&self, row: &ThreadLine) -> bool {
        row.name.to_lowercase().contains(&self.search) || row.tid.to_string().contains(&self.search)
    }

    fn keys(&self, rows: &[usize]) -> Vec<u32> {
        let threads = self.view.as_ref().map_or(&[][..], |view| &view.threads);
        rows.iter().map(|at| threads[*at].tid).collect()
    }

    fn chosen(&self) -> Option<&ThreadLine> {
        let rows = self.rows();
        let at = self.list.at(&self.keys(&rows))?;
        self.view.as_ref()?.threads.get(*rows.get(at)?)
    }

    /// Requests a new snapshot if the detail now shows another thread.
    fn moved(&self) -> Vec<PanelRequest> {
        if self.detail { vec![PanelRequest::Refresh] } else { Vec::new() }
    }

    fn find(&mut self, by: isize, height: u16) -> Vec<PanelRequest> {
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
    fn enter(&self) -> Vec<PanelRequest> {
        let Some(row) = self.chosen() else { return Vec::new() };
        let filter = TaskFilter { pids: Vec::new(), tids: vec![row.tid] };
        vec![PanelRequest::Only(filter, format!("thread {} {}", row.name, row.tid)), PanelRequest::Go(ScreenId::Flame)]
    }
}

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Threads { detail: self.chosen().map(|row| row.tid).filter(|_| self.detail) }
    }

    fn show(&mut self, body: Body) {
        if let Body::Threads(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &Cx<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let height = draw::parts(self, area).table.height;
        match action {
            Action::Enter => return Some(self.enter()),
            Action::Detail => {
                self.detail = !self.detail;
                return Some(vec![PanelRequest::Refresh]);
            }
            Action::Back if self.detail => self.detail = false,
            Action::Sort => {
                let here = ORDERS.iter().position(|order| *order == self.order).unwrap_or(0);
                (self.order, self.reversed) = (ORDERS[(here + 1) % ORDERS.len()], false);
            }
            Action::SortReverse => self.reversed = !self.reversed,
            Action::Filter => self.only = !self.only,
            Action::SearchNext => return Some(self.find(1, height)),
            Action::SearchPrevious => return Some(self.find(-1, height)),
            action => {
                let keys = self.keys(&self.rows());
                return self.list.act(action, &keys, height).then(|| self.moved());
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &Cx<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = draw::parts(self, area).table;
        let keys = self.keys(&self.rows());
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if table.contains((event.column, event.row).into()) => {
                let row = usize::from(event.row.saturating_sub(table.y)).checked_sub(1);
                let row = row.map(|row| row + self.list.top(&keys, table.height)).filter(|row| *row < keys.len());
                match row {
                    // A second click on the same row opens it.
                    Some(row) if self.list.at(&keys) == Some(row) => self.enter(),
                    Some(row) => {
                        self.list.go(&keys, row, table.height);
                        self.moved()
                    }
                    None => Vec::new(),
                }
            }
            MouseEventKind::ScrollDown if self.list.act(Action::Down, &keys, table.height) => self.moved(),
            MouseEventKind::ScrollUp if self.list.act(Action::Up, &keys, table.height) => self.moved(),
            _ => Vec::new(),
        }
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        let (rows, view) = (self.rows(), self.view.as_ref());
        let first =
            view.and_then(|view| rows.iter().find(|at| self.fits(&view.threads[**at])).map(|at| view.threads[*at].tid));
        if let (Some(tid), false) = (first, text.is_empty())
            && !self.chosen().is_some_and(|row| self.fits(row))
        {
            self.list.pick(tid);
        }
    }

    fn status(&self, _: &Cx<'_>) -> Option<String> {
        let row = self.chosen()?;
        let share = |name: &str, measure: Measure<f64>| match measure {
            Measure::Known { value, .. } => format!("{name} {}", number::percent(value).joined()),
            Measure::Missing(why) => format!("{name} -: {}", why.text()),
        };
        let mut text = format!("{} {}", visible(&row.name), row.tid);
        if row.process != row.name {
            text += &format!(" of {} {}", visible(&row.process), row.pid);
        }
        if !row.alive {
            text += " (ended)";
        }
        text += &format!("  {}", share("running", row.running));
        if row.running.value().is_some() {
            text += &format!("  {}  {}", share("queued", row.queued), share("blocked", row.blocked));
        }
        let waits = row.waits.iter().take(3);
        let waits: Vec<_> =
            waits.map(|wait| format!("{} {}", wait.cause, number::percent(wait.share).joined())).collect();
        if !waits.is_empty() {
            text += &format!(" ({})", waits.join(", "));
        }
        Some(text)
    }

    fn selected_name(&self) -> Option<String> {
        self.chosen().map(|row| row.name.clone())
    }
}
