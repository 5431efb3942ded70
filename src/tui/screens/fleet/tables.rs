//! The other screens: one table at a time, and a row of it on the whole screen.

use super::columns::{cell, columns};
use super::page;
use crate::tui::keys::Action;
use crate::tui::list::{List, ListRow, WHEEL_LINES, wheel};
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::tui::search::holds;
use crate::tui::widgets::table::{Cell, Table};
use crate::tui::widgets::{WidgetContext, put_line};
use crate::view::fit::{end, width};
use crate::view::fleet::{FleetTables, Section, SectionId};
use crate::view::number::count;
use crate::view::query::{FleetTab, ViewRequest};
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use std::sync::Arc;

/// Blank columns between the names of two tables.
const GAP: u16 = 3;

/// The tables of a screen.
fn tables(tab: FleetTab) -> &'static [SectionId] {
    match tab {
        FleetTab::Jobs => &[SectionId::Jobs],
        FleetTab::Hosts => &[SectionId::Hosts, SectionId::ExpensiveHosts, SectionId::Alarms],
        FleetTab::Functions => &[SectionId::Functions],
        FleetTab::Suspects => &[SectionId::Suspects, SectionId::Influences, SectionId::Contention],
        FleetTab::Versions => &[SectionId::Versions, SectionId::Configs],
        FleetTab::Usual => &[SectionId::Usual, SectionId::Seasons],
    }
}

/// The state of a screen.
#[derive(Debug)]
pub(super) struct State {
    tab: FleetTab,
    tables: Option<Arc<FleetTables>>,
    /// Index of the shown table.
    shown: usize,
    /// The rows of each table by their index.
    lists: Vec<List<usize>>,
    /// The first visible line of the selected row if it has the whole screen.
    opened: Option<usize>,
}

/// The areas of the screen.
struct Areas {
    names: Rect,
    about: Rect,
    table: Rect,
    remarks: Rect,
}

impl Areas {
    /// At most a third of the screen goes to what is said below the table.
    fn of(area: Rect, remarks: usize) -> Areas {
        let line = |at: u16, least: u16| Rect {
            y: area.y + at.min(area.height),
            height: u16::from(area.height > least),
            ..area
        };
        let (names, about) = (line(0, 3), line(1, 5));
        let top = names.height + about.height;
        let rest = area.height - top;
        let below = u16::try_from(remarks).unwrap_or(u16::MAX).min(rest / 3);
        Areas {
            names,
            about,
            table: Rect { y: area.y + top, height: rest - below, ..area },
            remarks: Rect { y: area.bottom() - below, height: below, ..area },
        }
    }
}

impl State {
    pub fn of(tab: FleetTab) -> State {
        let lists = tables(tab).iter().map(|_| List::default()).collect();
        State { tab, tables: None, shown: 0, lists, opened: None }
    }

    fn section_of(&self, at: usize) -> Option<&Section> {
        self.tables.as_ref()?.section(tables(self.tab)[at])
    }

    fn section(&self) -> Option<&Section> {
        self.section_of(self.shown)
    }

    fn list(&self) -> &List<usize> {
        &self.lists[self.shown]
    }

    fn rows(&self) -> Vec<ListRow<usize>> {
        let Some(section) = self.section() else { return Vec::new() };
        let fits = |row: &[String], text: &str| row.iter().take(section.names).any(|name| holds(name, text));
        let list = self.list();
        let shown = section.rows.iter().enumerate().filter(|(_, row)| list.shows(|text| fits(row, text)));
        shown.map(|(key, row)| ListRow { key, matches: list.finds(|text| fits(row, text)) }).collect()
    }

    fn row(&self) -> Option<&Vec<String>> {
        self.section()?.rows.get(self.list().key(&self.rows())?)
    }

    fn turn(&mut self, by: isize) {
        let count = self.lists.len() as isize;
        self.shown = (self.shown as isize + by).rem_euclid(count) as usize;
    }

    fn remarks(&self, area: Rect) -> Vec<page::Line> {
        let remarks = self.section().map_or(&[][..], |section| &section.remarks);
        page::paragraphs(remarks, usize::from(area.width.saturating_sub(2)))
    }

    fn areas(&self, area: Rect) -> Areas {
        Areas::of(area, self.remarks(area).len())
    }

    /// The labels of the tables with the columns where they begin.
    fn names(&self, area: Rect) -> Vec<(usize, String, u16)> {
        let mut x = area.x + 1;
        let mut label = |(at, id): (usize, &SectionId)| {
            let rows = self.section_of(at).map_or(0, |section| section.rows.len());
            let label = format!("{} {}", id.title(), count(rows as u64));
            let start = x;
            x = x.saturating_add(width(&label) as u16 + GAP);
            (at, label, start)
        };
        tables(self.tab).iter().enumerate().map(&mut label).collect()
    }

    fn draw_names(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let names = self.names(area);
        let one = names.len() == 1;
        let mut taken = 0;
        for (at, label, x) in names {
            let style = match at == self.shown {
                true if one => cx.theme.heading,
                true => cx.theme.tab_open,
                false => cx.theme.dim,
            };
            taken = usize::from(put_line(buf, area, x, &label, style).saturating_sub(area.x));
        }
        let hints = [(Action::Right, "next table"), (Action::Enter, "whole row"), (Action::Search, "search")];
        cx.hints(&hints[usize::from(one)..], taken, area, buf);
    }

    fn draw_table(&self, section: &Section, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let rows = self.rows();
        if rows.is_empty() {
            let text = match self.tables.as_ref().filter(|_| section.rows.is_empty()) {
                Some(tables) => tables.nothing(section.id),
                None => "nothing matches the search",
            };
            let room = usize::from(area.width.saturating_sub(2));
            put_line(buf, area, area.x + 1, &end(text, room, cx.glyphs.ellipsis), cx.theme.text);
            return;
        }
        let top = self.list().top(&rows, area.height);
        let shown = rows.iter().skip(top).take(usize::from(area.height));
        let shown: Vec<&Vec<String>> = shown.filter_map(|row| section.rows.get(row.key)).collect();
        let columns = columns(section, &shown, None, area.width.saturating_sub(2), cx.glyphs);
        let selected = self.list().at(&rows);
        let table = Table { columns: &columns, sorted: None, rows: rows.len(), selected, top };
        let draw = |row: usize, column: usize| {
            let text = section.rows.get(rows[row].key).and_then(|row| row.get(column)).map_or("", String::as_str);
            let style = match (column, text) {
                (column, _) if column < section.names && rows[row].matches => cx.theme.found,
                (_, "-") => cx.theme.missing,
                (column, _) if column > 0 && column < section.names => cx.theme.dim,
                _ => cx.theme.text,
            };
            Cell::new(cell(text, cx.glyphs), style)
        };
        table.draw(draw, WidgetContext { theme: cx.theme, glyphs: cx.glyphs }, area, buf);
    }

    /// The lines of the selected row.
    fn details(&self, cx: &PanelContext<'_>, area: Rect) -> Vec<page::Line> {
        let Some((section, row)) = self.section().zip(self.row()) else { return Vec::new() };
        page::row(section, row, usize::from(area.width.saturating_sub(2)), cx.glyphs)
    }

    /// An action while a row has the whole screen.
    fn act_opened(&mut self, action: Action, top: usize, cx: &PanelContext<'_>, area: Rect) -> bool {
        if action == Action::Back {
            self.opened = None;
            return true;
        }
        let height = area.height.saturating_sub(1);
        let turned = page::turned(action, &self.details(cx, area), top, self.list().needle(), height);
        self.opened = Some(turned.unwrap_or(top));
        turned.is_some()
    }
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        if self.lists.len() == 1 {
            return &[(Action::Enter, "the whole row"), (Action::Back, "back to the table")];
        }
        &[
            (Action::Right, "the next table of this screen"),
            (Action::Left, "the table before it"),
            (Action::Enter, "the whole row"),
            (Action::Back, "back to the table"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Fleet(self.tab)
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Fleet(tab, tables) = body
            && tab == self.tab
        {
            self.tables = Some(tables);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let Some(section) = self.section() else {
            put_line(buf, area, area.x + 1, "waiting for the data set", cx.theme.dim);
            return;
        };
        if let Some(top) = self.opened {
            let title = Rect { height: area.height.min(1), ..area };
            let rest = Rect { y: area.y + title.height, height: area.height - title.height, ..area };
            let x = put_line(buf, title, title.x + 1, section.title, cx.theme.heading);
            let hints = [(Action::Back, "all rows"), (Action::Down, "scroll")];
            cx.hints(&hints, usize::from(x.saturating_sub(area.x)), title, buf);
            return page::draw(&self.details(cx, area), top, self.list().needle(), cx, rest, buf);
        }
        let areas = self.areas(area);
        if !areas.names.is_empty() {
            self.draw_names(cx, areas.names, buf);
        }
        if !areas.about.is_empty() {
            let room = usize::from(area.width.saturating_sub(2));
            put_line(buf, areas.about, area.x + 1, &end(&section.about, room, cx.glyphs.ellipsis), cx.theme.dim);
        }
        self.draw_table(section, cx, areas.table, buf);
        page::draw(&self.remarks(area), 0, "", cx, areas.remarks, buf);
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        if let Some(top) = self.opened {
            return self.act_opened(action, top, cx, area).then(Vec::new);
        }
        match action {
            Action::Enter | Action::Detail => self.opened = self.row().map(|_| 0),
            Action::Right | Action::Who => self.turn(1),
            Action::Left => self.turn(-1),
            Action::Filter => {
                let only = !self.list().only;
                self.lists.iter_mut().for_each(|list| list.only = only);
            }
            action => {
                let (rows, table) = (self.rows(), self.areas(area).table);
                return self.lists[self.shown].act(action, &rows, table.height).then(Vec::new);
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
        let areas = self.areas(area);
        let at = (event.column, event.row).into();
        if event.kind == MouseEventKind::Down(MouseButton::Left) && areas.names.contains(at) {
            let covers = |(_, label, x): &&(usize, String, u16)| {
                event.column >= *x && event.column < x.saturating_add(width(label) as u16)
            };
            self.shown = self.names(areas.names).iter().find(covers).map_or(self.shown, |(at, ..)| *at);
            return Vec::new();
        }
        let rows = self.rows();
        if self.lists[self.shown].mouse(event, &rows, areas.table) {
            self.opened = Some(0);
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.lists.iter_mut().for_each(|list| list.search(text));
        let rows = self.rows();
        self.lists[self.shown].go_to_match(&rows);
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        Some(page::in_words(self.section()?, self.row()?, cx.glyphs))
    }

    fn selected_name(&self) -> Option<String> {
        self.row()?.first().cloned()
    }
}
