//! Keys and mouse on the screen, and what it shows and asks for.

use super::areas::{Areas, Page};
use super::{State, chart, draw, stack, table, words};
use crate::tui::keys::Action;
use crate::tui::list::wheel;
use crate::tui::panel::{Panel, PanelContext, PanelRequest, ScreenId};
use crate::view::Axis;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

impl State {
    fn turn(&mut self, pages: &[Page], by: isize) {
        let here = pages.iter().position(|page| *page == self.page).unwrap_or(0) as isize;
        if !pages.is_empty() {
            self.page = pages[(here + by).rem_euclid(pages.len() as isize) as usize];
        }
    }

    /// Opens the differential flame graph at the chosen point; for a function, zoomed to it, on the axis of its loss.
    fn enter(&self, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        if self.point().is_none() {
            return vec![PanelRequest::Say("no run is over yet".to_string())];
        }
        let Some(row) = self.row() else { return vec![PanelRequest::Go(ScreenId::Flame)] };
        let axis = if row.waits { Axis::OffCpu } else { Axis::Event(0) };
        let count = (axis != cx.axis).then_some(PanelRequest::Count(axis));
        count.into_iter().chain([PanelRequest::Zoom(vec![row.loss.function.name.clone()])]).collect()
    }

    fn through_points(&mut self, action: Action, areas: &Areas) -> bool {
        let rows = self.widths();
        !rows.is_empty() && self.widths.act(action, &rows, areas.points.height)
    }

    fn through_functions(&mut self, action: Action, areas: &Areas) -> bool {
        let rows = self.functions();
        self.functions.act(action, &rows, areas.losses.height)
    }

    fn click(&mut self, areas: &Areas, event: MouseEvent, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        let (x, y) = (event.column, event.row);
        let inside = |area: Rect| area.contains((x, y).into());
        if inside(areas.tabs) {
            self.page = draw::page_at(areas, x).unwrap_or(self.page);
        } else if inside(areas.losses) {
            let (rows, before) = (self.functions(), std::mem::replace(&mut self.page, Page::Functions));
            if self.functions.mouse(event, &rows, areas.losses) && before == Page::Functions {
                return self.enter(cx);
            }
        } else if let Some(at) = self.point_below(areas, cx, x, y) {
            let again = self.at() == Some(at) && !inside(areas.chart);
            if self.page == Page::Functions {
                self.page = Page::Points;
            }
            let rows = self.widths();
            self.widths.pick(&rows, at);
            return if again { self.enter(cx) } else { Vec::new() };
        }
        Vec::new()
    }

    /// The point whose row or column is at a screen position.
    fn point_below(&self, areas: &Areas, cx: &PanelContext<'_>, x: u16, y: u16) -> Option<usize> {
        let inside = |area: Rect| area.contains((x, y).into());
        let view = self.view.as_ref()?;
        match () {
            () if inside(areas.points) => table::row_at(self, areas.points, y),
            () if inside(areas.stack) => stack::point_at(self, view, cx, areas.stack, y),
            () if inside(areas.chart) => chart::point_at(view, areas.chart, x),
            () => None,
        }
    }
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Up, "the point before, or the function above"),
            (Action::Down, "the next point, or the function below"),
            (Action::StepBack, "the point before, from any screen"),
            (Action::StepForward, "the next point, from any screen"),
            (Action::Left, "the part of the screen before"),
            (Action::Right, "the next part of the screen"),
            (Action::Detail, "from points to functions, and back"),
            (Action::Enter, "flame graph of the change per op"),
            (Action::OffCpu, "there: CPU time, or time blocked"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Scaling
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Scaling(view) = body {
            // The widest point is selected until the user moves.
            self.widths.start_at(usize::MAX);
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let areas = Areas::of(area, self.page, self.points().len());
        match action {
            Action::Left => self.turn(areas.pages, -1),
            Action::Right => self.turn(areas.pages, 1),
            Action::Detail => self.page = if self.page == Page::Functions { Page::Points } else { Page::Functions },
            Action::Enter => return Some(self.enter(cx)),
            Action::Filter => self.functions.only = !self.functions.only,
            Action::SearchNext | Action::SearchPrevious => _ = self.through_functions(action, &areas),
            action if self.page == Page::Functions => return self.through_functions(action, &areas).then(Vec::new),
            action => return self.through_points(action, &areas).then(Vec::new),
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let areas = Areas::of(area, self.page, self.points().len());
        let over_losses = areas.losses.contains((event.column, event.row).into());
        match wheel(event.kind) {
            None if event.kind == MouseEventKind::Down(MouseButton::Left) => return self.click(&areas, event, cx),
            None => {}
            Some(action) if over_losses => _ = self.through_functions(action, &areas),
            Some(action) => _ = self.through_points(action, &areas),
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.functions.search(text);
        if !text.is_empty() {
            // A search applies to function names.
            self.page = Page::Functions;
            let rows = self.functions();
            self.functions.go_to_match(&rows);
        }
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        let view = self.view.as_ref()?;
        match (self.page, self.row()) {
            (Page::Functions, Some(row)) => Some(words::function(view, self.loss()?, &row, cx)),
            (Page::Functions, None) => Some(words::no_losses(self, view)),
            (Page::Stack, _) => Some(words::stack(view, self.point()?, cx)),
            (Page::Chart, _) => Some(words::law(view, self.point()?, cx)),
            (Page::Points, _) => Some(words::point(view, self.point()?, cx)),
        }
    }

    fn selected_name(&self) -> Option<String> {
        self.row().map(|row| row.loss.function.name.clone())
    }
}
