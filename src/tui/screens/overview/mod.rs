//! The screen Overview: the law's factors, where the time goes, the rates, the hottest functions, the findings.

mod below;
mod draw;
mod latency;
mod layout;
mod page;
mod panel;
mod rates;
mod split;
mod tiles;
mod words;

use crate::tui::finding;
use crate::tui::panel::{PanelContext, PanelRequest, ScreenId};
use crate::view::overview::{HotFunction, Overview as View};
use page::{Item, Page, Step};
use ratatui::layout::Rect;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    selected: Option<Item>,
}

impl State {
    /// The number of findings, for the tab; `None` before the first snapshot.
    #[must_use]
    pub fn findings(&self) -> Option<usize> {
        self.view.as_ref().map(|view| view.findings.found.len())
    }

    fn page(&self, cx: &PanelContext<'_>, area: Rect) -> Page {
        self.view.as_ref().map_or_else(Page::default, |view| layout::layout(view, cx, area))
    }

    fn select(&mut self, item: Option<Item>) -> Vec<PanelRequest> {
        if item.is_some() {
            self.selected = item;
        }
        Vec::new()
    }

    fn step(&mut self, step: Step, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let next = self.page(cx, area).step(self.selected.as_ref(), step);
        self.select(next)
    }

    fn edge(&mut self, last: bool, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let edge = self.page(cx, area).edge(last);
        self.select(edge)
    }

    fn hot(&self, name: &str, module: &str) -> Option<&HotFunction> {
        self.view.as_ref()?.hot.iter().find(|hot| hot.name == name && hot.module == module)
    }

    /// Opens the selected item; without a selection, the first finding.
    fn enter(&self, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        let Some(view) = &self.view else { return Vec::new() };
        match &self.selected {
            Some(Item::Function(name, module)) => vec![PanelRequest::Detail(name.clone(), module.clone())],
            Some(Item::Finding(rule)) => {
                let found = view.findings.found.iter().find(|finding| finding.rule == *rule);
                let evidence = found.map(|finding| finding::evidence(finding, cx)).unwrap_or_default();
                if evidence.is_empty() { vec![PanelRequest::Go(ScreenId::Findings)] } else { evidence }
            }
            Some(Item::Latency) => vec![PanelRequest::Go(ScreenId::Latency)],
            Some(Item::Part(_)) => vec![PanelRequest::Go(ScreenId::Threads)],
            Some(Item::Tile(id) | Item::Rate(id)) => vec![PanelRequest::Metric(*id)],
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
