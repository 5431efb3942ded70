//! Latency as a panel: keys, mouse and the status line.

use super::layout::{GUTTER, Layout, bands};
use super::{Cursor, State, draw, words};
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::latency_history::{Band, LatencyView};
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

impl State {
    /// Moves the cursor by rows and columns of the heat map. The first move puts it to the 99th percentile, now.
    fn step(&mut self, rows: i32, columns: i64, layout: &Layout) {
        let Some(view) = self.view.as_deref() else { return };
        let Some(last) = view.columns.len().checked_sub(1) else { return };
        let Some(cursor) = self.cursor else {
            self.cursor = start(view, layout);
            return;
        };
        let range = bands(view);
        let band = i32::from(cursor.band.0) + rows.saturating_mul(i32::from(layout.rows.each));
        let band = band.clamp(i32::from(range.start), i32::from(range.end) - 1) as u16;
        let run = self.column().and_then(|column| layout.cells.of_column(column)).unwrap_or(0);
        let run = (run as i64 + columns).clamp(0, layout.cells.runs.saturating_sub(1) as i64) as usize;
        let column = if columns == 0 { self.column().unwrap_or(last) } else { layout.cells.run(run).end - 1 };
        self.cursor = Cursor::of(&layout.rows, Band(band), view.columns[column.min(last)].window.to);
    }
}

fn start(view: &LatencyView, layout: &Layout) -> Option<Cursor> {
    let rows = view.total.iter().flat_map(|total| &total.rows);
    let value = |name: &str| rows.clone().find(|row| row.name == name).and_then(|row| row.value);
    let range = bands(view);
    let band = Band::of(value("p99").or(value("p50"))?);
    let band = Band(band.0.clamp(range.start, range.end.saturating_sub(1).max(range.start)));
    Cursor::of(&layout.rows, band, view.columns.last()?.window.to)
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Up, "choose a longer latency"),
            (Action::Down, "choose a shorter latency"),
            (Action::Left, "choose an earlier window"),
            (Action::Right, "choose a later window"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Latency
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Latency(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        const MANY: i32 = 1 << 20;
        let layout = Layout::of(self.view.as_deref()?, area);
        match action {
            Action::Up => self.step(1, 0, &layout),
            Action::Down => self.step(-1, 0, &layout),
            Action::Left => self.step(0, -1, &layout),
            Action::Right => self.step(0, 1, &layout),
            Action::Top => self.step(MANY, 0, &layout),
            Action::Bottom => self.step(-MANY, 0, &layout),
            Action::Back if self.cursor.take().is_some() => {}
            _ => return None,
        }
        Some(Vec::new())
    }

    /// A click on the heat map chooses the latency and the window there.
    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let Some(view) = self.view.as_deref() else { return Vec::new() };
        let layout = Layout::of(view, area);
        let heat = layout.areas.heat;
        let is_click = event.kind == MouseEventKind::Down(MouseButton::Left);
        if !is_click || !heat.contains(Position::new(event.column, event.row)) {
            return Vec::new();
        }
        let row = heat.bottom() - 1 - event.row;
        let run = usize::from(event.column.saturating_sub(heat.x + GUTTER) / layout.cells.wide);
        if row < layout.rows.count && run < layout.cells.runs {
            let at = view.columns[layout.cells.run(run).end - 1].window.to;
            let bands = layout.rows.bands(row);
            self.cursor = Some(Cursor { band: Band(bands.start), end: Band(bands.end), at });
        }
        Vec::new()
    }

    fn search(&mut self, _: &str) {}

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
        words::status(self, self.view.as_deref()?)
    }
}
