//! The screen's answers to keys, the mouse and new views.

use super::draw;
use super::state::{ORDERS, State};
use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::escape::visible;
use crate::view::number;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Threads { detail: self.chosen().map(|row| row.tid).filter(|_| self.detail) }
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Threads(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
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

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
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

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
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
