//! The screen Findings: what was found with its evidence and the next step, what could not be decided and why.
//! It never asks a profile itself.

mod detail;
mod draw;

use crate::tui::finding;
use crate::tui::keys::Action;
use crate::tui::panel::{Cx, Panel, Wish};
use crate::view::escape::visible;
use crate::view::findings::{FindingView, FindingsView as View, UndecidedView};
use crate::view::look::{Ask, Body};
use draw::{Areas, Row};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// Its state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    /// The rule that is selected; none until the user moves.
    selected: Option<String>,
    search: String,
    /// Lines of the detail above what is shown.
    scroll: u16,
}

/// What the selection may rest on.
#[derive(Debug, Clone, Copy)]
enum Chosen<'a> {
    Found(&'a FindingView),
    Undecided(&'a UndecidedView),
}

impl State {
    /// How many findings there are, for the tab; `None` before the first look.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.view.as_ref().map(|view| view.found.len())
    }

    /// The selected rule; the first one until the user moves, or once it is gone.
    fn chosen(&self) -> Option<Chosen<'_>> {
        let view = self.view.as_ref()?;
        let wanted = self.selected.as_deref();
        let found = view.found.iter().find(|found| Some(&*found.rule) == wanted).map(Chosen::Found);
        let undecided = || view.undecided.iter().find(|other| Some(&*other.rule) == wanted).map(Chosen::Undecided);
        let first = || view.found.first().map(Chosen::Found);
        found.or_else(undecided).or_else(first).or_else(|| view.undecided.first().map(Chosen::Undecided))
    }

    fn rules(&self) -> Vec<String> {
        let Some(view) = &self.view else { return Vec::new() };
        let found = view.found.iter().map(|found| found.rule.to_string());
        found.chain(view.undecided.iter().map(|other| other.rule.to_string())).collect()
    }

    fn go(&mut self, to: impl FnOnce(usize, usize) -> usize) -> Vec<Wish> {
        let rules = self.rules();
        let here = self.chosen().map(|chosen| chosen.rule().to_string());
        let here = rules.iter().position(|rule| Some(rule) == here.as_ref()).unwrap_or(0);
        if let Some(last) = rules.len().checked_sub(1) {
            let next = to(here, last).min(last);
            self.scroll = if next == here { self.scroll } else { 0 };
            self.selected = rules.get(next).cloned();
        }
        Vec::new()
    }

    /// The next rule whose title or claim holds the text that is searched for.
    fn find(&mut self, by: isize) -> Vec<Wish> {
        let Some(view) = self.view.as_ref().filter(|_| !self.search.is_empty()) else { return Vec::new() };
        let fits = |text: &str| text.to_lowercase().contains(&self.search);
        let found = view.found.iter().map(|found| fits(&found.title) || fits(&found.claim));
        let fit: Vec<_> = found.chain(view.undecided.iter().map(|other| fits(&other.title))).collect();
        self.go(|here, _| {
            let count = fit.len() as isize;
            let at = |step: isize| (here as isize + by * step).rem_euclid(count) as usize;
            let start = if by == 0 { 0 } else { 1 };
            (start..=count).map(at).find(|at| fit[*at]).unwrap_or(here)
        })
    }

    fn scroll_by(&mut self, by: i32, cx: &Cx<'_>, area: Rect) -> Vec<Wish> {
        let areas = Areas::of(area, self.view.as_ref());
        let lines = self.detail(cx, areas.detail.width).len() as u16;
        let most = lines.saturating_sub(areas.detail.height);
        self.scroll = self.scroll.min(most).saturating_add_signed(by.clamp(-999, 999) as i16).min(most);
        Vec::new()
    }

    fn detail(&self, cx: &Cx<'_>, width: u16) -> Vec<ratatui::text::Line<'static>> {
        match self.chosen() {
            Some(Chosen::Found(found)) => detail::found(found, cx, usize::from(width)),
            Some(Chosen::Undecided(undecided)) => detail::undecided(undecided, cx, usize::from(width)),
            None => Vec::new(),
        }
    }
}

impl Chosen<'_> {
    fn rule(&self) -> &str {
        match self {
            Chosen::Found(found) => &found.rule,
            Chosen::Undecided(undecided) => &undecided.rule,
        }
    }
}

impl Panel for State {
    fn ask(&self) -> Ask {
        Ask::Findings
    }

    fn show(&mut self, body: Body) {
        if let Body::Findings(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        let Some(view) = &self.view else { return draw::waiting(cx, area, buf) };
        let areas = Areas::of(area, Some(view));
        let chosen = self.chosen().map(|chosen| chosen.rule().to_string());
        draw::list(view, chosen.as_deref(), cx, areas.list, buf);
        draw::detail(&self.detail(cx, areas.detail.width), self.scroll, &areas, cx, buf);
    }

    fn act(&mut self, action: Action, cx: &Cx<'_>, area: Rect) -> Option<Vec<Wish>> {
        let half = i32::from(Areas::of(area, self.view.as_ref()).detail.height / 2).max(1);
        Some(match action {
            Action::Up => self.go(|here, _| here.saturating_sub(1)),
            Action::Down => self.go(|here, _| here + 1),
            Action::Top => self.go(|_, _| 0),
            Action::Bottom => self.go(|_, last| last),
            Action::HalfPageUp => self.scroll_by(-half, cx, area),
            Action::HalfPageDown => self.scroll_by(half, cx, area),
            Action::PageUp => self.scroll_by(-2 * half, cx, area),
            Action::PageDown => self.scroll_by(2 * half, cx, area),
            Action::SearchNext => self.find(1),
            Action::SearchPrevious => self.find(-1),
            Action::Enter => match self.chosen() {
                Some(Chosen::Found(found)) => {
                    let way = finding::way(found, cx);
                    if way.is_empty() { vec![Wish::Say("this finding has no place in the code".into())] } else { way }
                }
                _ => Vec::new(),
            },
            _ => return None,
        })
    }

    fn mouse(&mut self, event: MouseEvent, cx: &Cx<'_>, area: Rect) -> Vec<Wish> {
        let areas = Areas::of(area, self.view.as_ref());
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if areas.list.contains(at) => {
                let Some(view) = &self.view else { return Vec::new() };
                let chosen = self.chosen().map(|chosen| chosen.rule().to_string());
                let rows = draw::rows(view, chosen.as_deref(), areas.list.height);
                if let Some(Row::Found(rule) | Row::Undecided(rule)) = rows.get(usize::from(at.y - areas.list.y)) {
                    let rule = (*rule).to_string();
                    if self.selected.replace(rule.clone()).as_ref() == Some(&rule) {
                        return self.act(Action::Enter, cx, area).unwrap_or_default();
                    }
                    self.scroll = 0;
                }
                Vec::new()
            }
            MouseEventKind::ScrollDown if areas.detail.contains(at) => self.scroll_by(3, cx, area),
            MouseEventKind::ScrollUp if areas.detail.contains(at) => self.scroll_by(-3, cx, area),
            MouseEventKind::ScrollDown => self.go(|here, _| here + 1),
            MouseEventKind::ScrollUp => self.go(|here, _| here.saturating_sub(1)),
            _ => Vec::new(),
        }
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        let fits = self.chosen().is_some_and(|chosen| match chosen {
            Chosen::Found(found) => format!("{} {}", found.title, found.claim).to_lowercase().contains(&self.search),
            Chosen::Undecided(other) => other.title.to_lowercase().contains(&self.search),
        });
        if !fits {
            self.find(1);
        }
    }

    fn status(&self, _cx: &Cx<'_>) -> Option<String> {
        Some(match self.chosen()? {
            Chosen::Found(found) => {
                format!(
                    "{}: {} of the time, confidence {}",
                    visible(&found.title),
                    finding::share(found),
                    finding::confidence(found.confidence)
                )
            }
            Chosen::Undecided(other) => format!("{}: {}", visible(&other.title), other.why.text()),
        })
    }

    fn selected_name(&self) -> Option<String> {
        Some(match self.chosen()? {
            Chosen::Found(found) => match found.place.as_ref().and_then(|place| place.frames.last()) {
                Some(function) => function.clone(),
                None => found.rule.to_string(),
            },
            Chosen::Undecided(other) => other.rule.to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
