//! The screen Fleet: the jobs, and below them, or on the whole screen, what is known of the selected one.

use super::columns::{cell, columns};
use super::order::Order;
use super::page::{self, Line};
use crate::tui::keys::Action;
use crate::tui::list::{List, ListRow, WHEEL_LINES, wheel};
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::tui::search::holds;
use crate::tui::widgets::table::{Cell, Table};
use crate::tui::widgets::{WidgetContext, put_line};
use crate::view::fit::{end, width};
use crate::view::fleet::{FleetJob, FleetTables, Section, SectionId, job_sections, job_summary};
use crate::view::query::{FleetTab, ViewRequest};
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Below this height, only the table is shown.
const LEAST_WITH_DETAILS: u16 = 11;

/// The screen's state.
#[derive(Debug, Default)]
pub(super) struct State {
    tables: Option<Arc<FleetTables>>,
    /// The jobs by their index in the view.
    list: List<usize>,
    order: Order,
    reversed: bool,
    /// The first visible line of the details if they have the whole screen.
    opened: Option<usize>,
}

/// The areas of the screen.
struct Areas {
    title: Rect,
    table: Rect,
    details: Rect,
}

impl Areas {
    fn of(area: Rect, rows: usize) -> Areas {
        let title = Rect { height: u16::from(area.height > 4), ..area };
        let rest = Rect { y: area.y + title.height, height: area.height - title.height, ..area };
        if rest.height < LEAST_WITH_DETAILS {
            return Areas { title, table: rest, details: Rect { height: 0, ..rest } };
        }
        let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(1);
        let table = wanted.min(rest.height.div_ceil(2));
        // A line between them stays empty.
        let details = Rect { y: rest.y + table + 1, height: rest.height - table - 1, ..rest };
        Areas { title, table: Rect { height: table, ..rest }, details }
    }
}

impl State {
    fn jobs(&self) -> &[FleetJob] {
        self.tables.as_ref().map_or(&[], |tables| &tables.view.jobs)
    }

    fn section(&self) -> Option<&Section> {
        self.tables.as_ref()?.section(SectionId::Jobs)
    }

    fn fits(job: &FleetJob, text: &str) -> bool {
        holds(&job.job, text) || holds(&job.platform, text)
    }

    fn rows(&self) -> Vec<ListRow<usize>> {
        let jobs = self.jobs();
        let mut order = self.order.sorted(jobs, self.reversed);
        order.retain(|at| self.list.shows(|text| Self::fits(&jobs[*at], text)));
        let row = |key: usize| ListRow { key, matches: self.list.finds(|text| Self::fits(&jobs[key], text)) };
        order.into_iter().map(row).collect()
    }

    fn selected(&self) -> Option<usize> {
        self.list.key(&self.rows())
    }

    /// All lines of the details: the name, how much the job costs, and its rows of every table.
    fn details(&self, cx: &PanelContext<'_>, width: u16) -> Vec<Line> {
        let Some((tables, at)) = self.tables.as_ref().zip(self.selected()) else { return Vec::new() };
        let Some(job) = tables.view.jobs.get(at) else { return Vec::new() };
        let room = usize::from(width.saturating_sub(2));
        let mut lines = page::beginning(&format!("{} on {}", job.job, job.platform), &[job_summary(job)], room);
        lines.extend(page::sections(&job_sections(&tables.view, job), room, cx.glyphs));
        lines
    }

    fn title(&self, section: &Section, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let about = match (self.order, self.reversed) {
            (Order::CpuTime, false) => section.about.clone(),
            (order, false) => format!("by {}; 95% intervals over hosts", order.heading()),
            (order, true) => format!("by {}, the least first; 95% intervals over hosts", order.heading()),
        };
        let hints = [(Action::Enter, "details"), (Action::Sort, "sort"), (Action::Search, "search")];
        self.heading((section.title, cx.theme.heading), &about, &hints, cx, area, buf);
    }

    fn heading(
        &self,
        (title, style): (&str, ratatui::style::Style),
        about: &str,
        hints: &[(Action, &str)],
        cx: &PanelContext<'_>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        if area.is_empty() {
            return;
        }
        let room = usize::from(area.width.saturating_sub(2));
        let x = put_line(buf, area, area.x + 1, &end(title, room, cx.glyphs.ellipsis), style);
        let room = room.saturating_sub(width(title) + 2);
        let about = end(about, room, cx.glyphs.ellipsis);
        put_line(buf, area, x + 2, &about, cx.theme.dim);
        cx.hints(hints, width(title) + width(&about) + 3, area, buf);
    }

    fn table(&self, section: &Section, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let rows = self.rows();
        if rows.is_empty() {
            put_line(buf, area, area.x + 1, "no job matches the search", cx.theme.dim);
            return;
        }
        let top = self.list.top(&rows, area.height);
        let shown = rows.iter().skip(top).take(usize::from(area.height));
        let shown: Vec<&Vec<String>> = shown.filter_map(|row| section.rows.get(row.key)).collect();
        let sorted = section.head.iter().position(|title| *title == self.order.heading());
        let columns = columns(section, &shown, sorted, area.width.saturating_sub(2), cx.glyphs);
        let table = Table {
            columns: &columns,
            sorted: sorted.map(|at| (at, !self.reversed)),
            rows: rows.len(),
            selected: self.list.at(&rows),
            top,
        };
        let draw = |row: usize, column: usize| {
            let text = section.rows.get(rows[row].key).and_then(|row| row.get(column)).map_or("", String::as_str);
            let alerts = matches!(section.head[column], "unusual" | "suspects") && !matches!(text, "0" | "-");
            let style = match (column, text) {
                (0, _) if rows[row].matches => cx.theme.found,
                (_, "-") => cx.theme.missing,
                _ if alerts => cx.theme.warn,
                (column, _) if column > 0 && column < section.names => cx.theme.dim,
                _ => cx.theme.text,
            };
            Cell::new(cell(text, cx.glyphs), style)
        };
        table.draw(draw, WidgetContext { theme: cx.theme, glyphs: cx.glyphs }, area, buf);
    }

    /// What there is to say if there are no jobs.
    fn nothing(&self, tables: &FleetTables, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let title = SectionId::Jobs.nothing();
        let notes = tables.view.notes.iter().flat_map(|note| [Some(&note.text), note.fix.as_ref()]);
        let notes: Vec<String> = notes.flatten().filter(|text| *text != title).cloned().collect();
        let lines = page::beginning(title, &notes, usize::from(area.width.saturating_sub(2)));
        page::draw(&lines, 0, "", cx, area, buf);
    }

    /// An action while the details have the whole screen.
    fn act_opened(&mut self, action: Action, top: usize, cx: &PanelContext<'_>, area: Rect) -> bool {
        let by = match action {
            Action::Back => {
                self.opened = None;
                return true;
            }
            Action::Left => -1,
            Action::Right => 1,
            action => {
                let lines = self.details(cx, area.width);
                let height = area.height.saturating_sub(1);
                let turned = page::turned(action, &lines, top, self.list.needle(), height);
                self.opened = Some(turned.unwrap_or(top));
                return turned.is_some();
            }
        };
        let rows = self.rows();
        if let Some(at) = self.list.at(&rows) {
            let table = Areas::of(area, rows.len()).table;
            self.list.go(&rows, at.saturating_add_signed(by), table.height);
            self.opened = Some(0);
        }
        true
    }
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Enter, "the job on the whole screen"),
            (Action::Back, "back to all jobs"),
            (Action::Right, "there, the next job"),
            (Action::Sort, "by CPU time, CPU/op, CPI, unusual hosts, suspects"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Fleet(FleetTab::Jobs)
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Fleet(FleetTab::Jobs, tables) = body {
            self.tables = Some(tables);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let (Some(tables), Some(section)) = (self.tables.as_deref(), self.section()) else {
            put_line(buf, area, area.x + 1, "waiting for the data set", cx.theme.dim);
            return;
        };
        if section.rows.is_empty() {
            return self.nothing(tables, cx, area, buf);
        }
        let areas = Areas::of(area, self.rows().len());
        match self.opened {
            Some(top) => {
                let (title, rest) = opened(area);
                let hints = [(Action::Back, "all jobs"), (Action::Right, "next job"), (Action::Down, "scroll")];
                self.heading((section.title, cx.theme.heading), "", &hints, cx, title, buf);
                page::draw(&self.details(cx, area.width), top, self.list.needle(), cx, rest, buf);
            }
            None => {
                self.title(section, cx, areas.title, buf);
                self.table(section, cx, areas.table, buf);
                if !areas.details.is_empty() {
                    page::draw(&self.details(cx, area.width), 0, "", cx, areas.details, buf);
                }
            }
        }
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        if let Some(top) = self.opened {
            return self.act_opened(action, top, cx, area).then(Vec::new);
        }
        match action {
            Action::Enter | Action::Detail => self.opened = self.selected().map(|_| 0),
            Action::Sort => self.order = self.order.next(),
            Action::SortReverse => self.reversed = !self.reversed,
            Action::Filter => self.list.only = !self.list.only,
            action => {
                let rows = self.rows();
                let table = Areas::of(area, rows.len()).table;
                return self.list.act(action, &rows, table.height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        if let Some(top) = self.opened {
            if let Some(action) = wheel(event.kind) {
                let scroll = |top, _| {
                    self.act_opened(action, top, cx, area);
                    self.opened.unwrap_or(top)
                };
                (0..WHEEL_LINES).fold(top, scroll);
            }
            return Vec::new();
        }
        let rows = self.rows();
        let table = Areas::of(area, rows.len()).table;
        if self.list.mouse(event, &rows, table) {
            self.opened = Some(0);
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.rows();
        self.list.go_to_match(&rows);
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        let section = self.section()?;
        Some(page::in_words(section, section.rows.get(self.selected()?)?, cx.glyphs))
    }

    fn selected_name(&self) -> Option<String> {
        Some(self.jobs().get(self.selected()?)?.job.clone())
    }
}

/// The title line and the lines below it.
fn opened(area: Rect) -> (Rect, Rect) {
    let title = Rect { height: area.height.min(1), ..area };
    (title, Rect { y: area.y + title.height, height: area.height - title.height, ..area })
}
