//! The screen's answers to keys, the mouse and new views.

use super::draw;
use super::state::{ORDERS, State};
use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::escape::visible;
use crate::view::number;
use crate::view::query::{LineKey, ViewRequest};
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

impl Panel for State {
    fn request(&self) -> ViewRequest {
        let detail = self.chosen().map(|row| row.tid).filter(|_| self.detail);
        ViewRequest::Threads { by: self.by, detail }
    }

    fn show(&mut self, body: PanelView) {
        // An answer to the question before the last is dropped.
        if let PanelView::Threads(view) = body
            && view.by == self.by
        {
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
            Action::Who => {
                (self.by, self.view) = (self.by.next(), None);
                return Some(vec![PanelRequest::Refresh]);
            }
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
            Action::Filter => self.list.only = !self.list.only,
            action => {
                let rows = self.list_rows();
                return self.list.act(action, &rows, height).then(|| self.moved());
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = draw::parts(self, area).table;
        let rows = self.list_rows();
        let before = self.list.key(&rows);
        // A second click on the same row opens it.
        match self.list.mouse(event, &rows, table) {
            true => self.enter(),
            false if self.list.key(&rows) != before => self.moved(),
            false => Vec::new(),
        }
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.list_rows();
        self.list.go_to_match(&rows);
    }

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
        let row = self.chosen()?;
        let share = |name: &str, measure: Measure<f64>| match measure {
            Measure::Known { value, .. } => format!("{name} {}", number::percent(value).joined()),
            Measure::Missing(why) => format!("{name} -: {}", why.text()),
        };
        let mut text = match self.by {
            LineKey::Cgroup => format!("{}  {} threads", visible(&row.name), row.threads),
            LineKey::Process => format!("{} {}  {} threads", visible(&row.name), row.tid, row.threads),
            LineKey::Cpu => visible(&row.name).into_owned(),
            LineKey::Thread => format!("{} {}", visible(&row.name), row.tid),
        };
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
        text += &match row.ipc {
            Measure::Known { value, .. } => format!("  IPC {}", number::three_digits(value)),
            Measure::Missing(why) => format!("  IPC -: {}", why.text()),
        };
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
