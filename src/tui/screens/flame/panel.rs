//! The screen's answers to keys, the mouse and new views.

use super::state::{Colours, SearchMatches, State};
use super::{draw, moves};
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::CodeRate;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

/// Rows per step of the mouse wheel.
const WHEEL_ROWS: i64 = 3;

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Flame { by: self.by, against_baseline: self.against_baseline }
    }

    fn show(&mut self, body: PanelView) {
        let PanelView::Flame(tree) = body else { return };
        let compared = tree.is_compared();
        if compared != self.compared {
            self.colours = if compared { Colours::Change } else { Colours::Kind };
            self.compared = compared;
        }
        let first = !std::mem::replace(&mut self.seen, true);
        // In a graph of another kind, paths may have other names in between.
        let turned = self.tree.difference.is_some() != tree.difference.is_some();
        self.tree = tree;
        if (first || turned) && !self.zoom.is_empty() {
            self.settle_loosely();
        }
        self.settle();
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        match action {
            Action::Enter => {
                self.zoom_into(self.selected);
                Some(Vec::new())
            }
            Action::Back => {
                let zoom = self.zoom_node?;
                let parent = self.tree.nodes.get(zoom as usize).and_then(|node| node.parent);
                self.zoom_into(parent);
                self.select(Some(zoom));
                Some(Vec::new())
            }
            Action::Detail => {
                let name = self.selected_name()?;
                Some(vec![PanelRequest::Detail(name, String::new())])
            }
            Action::AgainstBaseline => Some(self.against_baseline(cx)),
            Action::Who if self.against_baseline => Some(vec![PanelRequest::Say(
                "a baseline contains no threads: its difference has no groups".to_string(),
            )]),
            Action::Who => {
                self.by = self.by.next();
                self.zoom_into(None);
                Some(vec![PanelRequest::Refresh])
            }
            Action::Invert => {
                self.upside_down = !self.upside_down;
                Some(Vec::new())
            }
            Action::Colours => {
                self.colours = match self.colours {
                    Colours::Kind => Colours::Name,
                    Colours::Name if self.compared => Colours::Change,
                    Colours::Name | Colours::Change if self.tree.rates.is_some() => Colours::Rate(CodeRate::Cpi),
                    Colours::Rate(CodeRate::Cpi) => Colours::Rate(CodeRate::Mpki),
                    Colours::Name | Colours::Change | Colours::Rate(_) => Colours::Kind,
                };
                Some(Vec::new())
            }
            action => moves::act(self, action, area),
        }
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let here = self.at(area, event.column, event.row);
        let down = if self.upside_down { -WHEEL_ROWS } else { WHEEL_ROWS };
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if here.is_some() => self.zoom_into(here),
            MouseEventKind::Down(MouseButton::Right) => self.zoom_into(None),
            MouseEventKind::Moved => self.hovered = here,
            MouseEventKind::ScrollDown => self.scroll_by(down, area),
            MouseEventKind::ScrollUp => self.scroll_by(-down, area),
            _ => {}
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_string();
        self.found = SearchMatches::of(&self.tree, &self.search);
    }

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
        self.describe(self.hovered.or(self.selected)?)
    }

    fn selected_name(&self) -> Option<String> {
        self.selected.and_then(|node| self.tree.label(node)).map(|label| label.text.clone())
    }
}
