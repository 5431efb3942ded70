//! The overview as a panel: keys, mouse and the status line.

use super::page::{Item, Step};
use super::{State, draw, words};
use crate::tui::keys::Action;
use crate::tui::list::wheel;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::escape::visible;
use crate::view::number::percent;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Overview
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Overview(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        match &self.view {
            Some(view) => draw::draw(&self.page(cx, area), view, self.selected.as_ref(), cx, buf),
            None => draw::waiting(cx, area, buf),
        }
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        Some(match action {
            Action::Up => self.step(Step::Up, cx, area),
            Action::Down => self.step(Step::Down, cx, area),
            Action::Left => self.step(Step::Left, cx, area),
            Action::Right => self.step(Step::Right, cx, area),
            Action::Top => self.edge(false, cx, area),
            Action::Bottom => self.edge(true, cx, area),
            Action::Enter | Action::Detail => self.enter(cx),
            Action::Back if self.selected.take().is_some() => Vec::new(),
            _ => return None,
        })
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let at = self.page(cx, area).at(Position::new(event.column, event.row)).cloned();
        match event.kind {
            // A second click on the same item opens it.
            MouseEventKind::Down(MouseButton::Left) if at.is_some() && at == self.selected => self.enter(cx),
            MouseEventKind::Down(MouseButton::Left) => self.select(at),
            kind => wheel(kind).and_then(|action| self.act(action, cx, area)).unwrap_or_default(),
        }
    }

    fn search(&mut self, _text: &str) {}

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        let view = self.view.as_ref()?;
        match self.selected.as_ref()? {
            Item::Tile(id) => view.factor(*id).map(|factor| words::in_full(factor, "")),
            Item::Part(id) => view.factor(*id).map(|factor| words::in_full(factor, "threads' time")),
            Item::Latency => view.latency.as_ref().map(|latency| visible(&latency.about()).into_owned()),
            Item::Rate(id) => {
                let group = view.groups.iter().find(|group| group.rates.iter().any(|rate| rate.id == *id));
                view.factor(*id).map(|factor| words::in_full(factor, group.map_or("", |group| group.name)))
            }
            Item::Function(name, module) => {
                let share = self.hot(name, module).map(|hot| match hot.error {
                    Some(error) => format!(
                        "{} +- {} of {}",
                        percent(hot.share).joined(),
                        percent(2.0 * error).joined(),
                        cx.head.event
                    ),
                    None => percent(hot.share).joined(),
                });
                let share = share.unwrap_or_else(|| "no longer among the hottest".to_string());
                let place = if module.is_empty() { String::new() } else { format!("  {}", visible(module)) };
                Some(format!("{}{place}  {share}", visible(name)))
            }
            Item::Finding(rule) => {
                let found = view.findings.found.iter().find(|finding| finding.rule == *rule)?;
                Some(format!("{}: {}", visible(found.title), visible(&found.claim)))
            }
        }
    }

    fn selected_name(&self) -> Option<String> {
        match self.selected.as_ref()? {
            Item::Function(name, _) => Some(name.clone()),
            Item::Tile(id) | Item::Part(id) | Item::Rate(id) => Some(id.name().to_string()),
            Item::Finding(rule) => Some(rule.clone()),
            Item::Latency => None,
        }
    }
}
