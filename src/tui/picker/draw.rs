//! Draws the picker: sections, search line, rows, and a hint for Enter.

use super::columns::{CellContext, Column, columns, flow_head};
use super::rows::{Row, Section};
use super::{Picker, rows};
use crate::tui::line::Line;
use crate::tui::theme::{Glyphs, Theme};
use crate::tui::widgets::put_line;
use crate::view::escape::visible;
use crate::view::fit::{end, front, width, wrap};
use crate::view::picker::Choices;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Below this width the sections have short names.
const SHORT: u16 = 64;

/// The areas of the picker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    pub tabs: Rect,
    pub typed: Rect,
    pub heads: Rect,
    pub rows: Rect,
    pub hint: Rect,
}

impl Parts {
    /// The rows with their heading.
    pub fn table(&self) -> Rect {
        self.heads.union(self.rows)
    }

    pub fn of(area: Rect) -> Parts {
        let row = |y: u16, rows: u16| Rect { y: area.y.saturating_add(y), height: rows, ..area }.intersection(area);
        let rows = area.height.saturating_sub(4);
        Parts { tabs: row(0, 1), typed: row(1, 1), heads: row(2, 1), rows: row(3, rows), hint: row(3 + rows, 1) }
    }
}

/// The sections' titles with their first columns.
fn tabs(choices: &Choices, area: Rect) -> Vec<(Section, u16, String)> {
    let mut x = area.x.saturating_add(1);
    let mut tabs = Vec::new();
    for section in Section::ALL {
        let (long, short) = section.titles();
        let title = if area.width < SHORT { short } else { long };
        let count =
            rows::rows(choices, section, "", false).iter().filter(|row| !matches!(row, Row::Machine(_))).count();
        let text = if section == Section::Command { title.to_string() } else { format!("{title} {count}") };
        let next = x.saturating_add(width(&text) as u16).saturating_add(3);
        tabs.push((section, x, text));
        x = next;
    }
    tabs
}

/// The section whose title covers a column.
pub(super) fn tab_at(choices: &Choices, area: Rect, column: u16) -> Option<Section> {
    let tabs = tabs(choices, area);
    let hit = tabs.iter().find(|(_, x, text)| (*x..x.saturating_add(width(text) as u16)).contains(&column));
    hit.map(|(section, ..)| *section)
}

impl Picker {
    /// Draws itself.
    pub fn draw(&self, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
        let parts = Parts::of(area.intersection(*buf.area()));
        for (section, x, text) in tabs(&self.choices, parts.tabs) {
            put_line(buf, parts.tabs, x, &text, if section == self.section { theme.tab_open } else { theme.dim });
        }
        let rows = self.rows();
        self.draw_typed(theme, glyphs, parts.typed, buf);
        if self.section == Section::Command {
            self.draw_command_help(theme, parts, buf);
        } else if rows.is_empty() {
            put_line(buf, parts.rows, parts.rows.x + 1, &self.nothing(), theme.dim);
        } else {
            self.draw_heads(theme, parts.heads, buf);
            self.draw_rows(&rows, theme, glyphs, parts.rows, buf);
        }
        self.draw_hint(self.selected().and_then(|at| rows.get(at)), theme, glyphs, parts.hint, buf);
    }

    /// Draws the typed text with the cursor.
    fn draw_typed(&self, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
        let command = self.section == Section::Command;
        let (label, line) = if command { ("$ ", &self.command) } else { ("/ ", &self.filter) };
        let x = put_line(buf, area, area.x.saturating_add(1), label, theme.accent);
        if !self.is_typing() {
            put_line(buf, area, x, "type to search", theme.dim);
            return;
        }
        let room = usize::from(area.right().saturating_sub(x).saturating_sub(2));
        let (before, after) = around_cursor(line);
        let x = put_line(buf, area, x, &front(&before, room, glyphs.ellipsis), theme.text);
        let under = after.chars().next().unwrap_or(' ').to_string();
        let after_x = put_line(buf, area, x, &under, theme.text.add_modifier(Modifier::REVERSED));
        put_line(buf, area, after_x, &after[after.len().min(under.len())..], theme.text);
    }

    fn draw_command_help(&self, theme: &Theme, parts: Parts, buf: &mut Buffer) {
        let text = "Type a program and its arguments: make -j8. Quotes work as in a shell; pipes, redirections and \
             variables take one: sh -c 'a | b'. The command is profiled from its first instruction, with the processes \
             it starts; its output is reported at the end.";
        let lines = wrap(text, usize::from(parts.rows.width.saturating_sub(2)).min(100));
        for (line, y) in lines.iter().zip(parts.rows.top()..parts.rows.bottom()) {
            put_line(buf, Rect { y, height: 1, ..parts.rows }, parts.rows.x + 1, line, theme.dim);
        }
    }

    /// Explains why there are no rows.
    fn nothing(&self) -> String {
        let typed = self.filter.text().trim();
        match (&self.choices.problem, self.section) {
            (Some(problem), Section::Processes) => visible(problem).into_owned(),
            _ if self.choices.unix_ns == 0 => "listing ...".to_string(),
            _ if !typed.is_empty() => format!("nothing matches {}: Esc clears the search", visible(typed)),
            (_, Section::Recordings) => "no recordings (*.ironlaw) or sweeps (*.sweep) in this directory".to_string(),
            _ => "nothing to choose from".to_string(),
        }
    }

    fn draw_heads(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut x = area.x.saturating_add(2);
        for column in columns(self.section, area.width) {
            x = aligned(buf, area, x, column, column.head(self.section), theme.heading);
        }
        put_line(buf, area, x + 1, &flow_head(self.section, self.is_tree()), theme.heading);
    }

    fn draw_rows(&self, rows: &[Row<'_>], theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
        let busiest = rows.iter().filter(|row| !matches!(row, Row::Machine(_))).filter_map(Row::cpu);
        let scale = busiest.filter_map(|cpu| cpu.value().copied()).fold(1.0, f64::max);
        let context = CellContext { theme, glyphs, choices: &self.choices, scale };
        let first = self.list().top(&self.list_rows(), area.height.saturating_add(1));
        let selected = self.selected();
        let shown = columns(self.section, area.width);
        for ((at, row), y) in rows.iter().enumerate().skip(first).zip(area.top()..area.bottom()) {
            let line = Rect { y, height: 1, ..area };
            let mut x = line.x.saturating_add(2);
            for column in &shown {
                let (text, style) = context.cell(row, *column);
                x = aligned(buf, line, x, *column, &text, style);
            }
            x += 1;
            for (text, style) in context.flow(row, self.is_tree()) {
                let room = usize::from(line.right().saturating_sub(x));
                x = put_line(buf, line, x, &end(&text, room, glyphs.ellipsis), style);
            }
            if selected == Some(at) {
                put_line(buf, line, line.x, glyphs.right, theme.accent);
                buf.set_style(line, theme.selected);
            }
        }
    }

    /// Whether rows are shown as a tree; a search shows a flat list.
    fn is_tree(&self) -> bool {
        self.tree && self.filter.text().trim().is_empty()
    }

    /// Describes the effect of Enter, then the other keys that fit.
    fn draw_hint(&self, selected: Option<&Row<'_>>, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
        let does = self.enter_does(selected);
        let room = usize::from(area.width.saturating_sub(2));
        let mut x = area.x.saturating_add(1);
        if !does.is_empty() {
            x = put_line(buf, area, x, "Enter ", theme.accent);
            x = put_line(buf, area, x, &end(&does, room.saturating_sub(6), glyphs.ellipsis), theme.text);
        }
        for (key, does) in self.other_keys() {
            let dot = if x > area.x.saturating_add(1) { format!(" {} ", glyphs.dot) } else { String::new() };
            let more = width(&dot) + width(key) + 1 + width(does);
            if usize::from(area.right().saturating_sub(x)) < more + 1 {
                break;
            }
            x = put_line(buf, area, x, &dot, theme.dim);
            x = put_line(buf, area, x, key, theme.accent);
            x = put_line(buf, area, x, &format!(" {does}"), theme.dim);
        }
    }

    fn enter_does(&self, selected: Option<&Row<'_>>) -> String {
        match selected {
            None if self.section == Section::Command && !self.command.text().trim().is_empty() => {
                "starts and profiles it".to_string()
            }
            None if self.section == Section::Processes
                && !self.choices.processes.is_empty()
                && self.likely.is_none() =>
            {
                "opens the busiest process: being measured ...".to_string()
            }
            None => String::new(),
            Some(Row::Machine(_)) => "profiles the whole machine".to_string(),
            Some(Row::Process(row)) => {
                format!("profiles {} {}", visible(&row.process.comm), row.process.pid)
            }
            Some(Row::Cgroup(row)) => format!("profiles {}", visible(&row.cgroup.path)),
            Some(Row::Recording(it)) => {
                let cut = if it.duration_s.is_none() { " (not finished: its length is unknown)" } else { "" };
                format!("opens {}{cut}", visible(&it.path.to_string_lossy()))
            }
        }
    }

    fn other_keys(&self) -> Vec<(&'static str, &'static str)> {
        let next = match self.section.step(1) {
            Section::Processes => "processes",
            Section::Cgroups => "groups",
            Section::Command => "command",
            Section::Recordings => "recordings",
        };
        let mut keys = vec![("Tab", next)];
        match (self.section, self.is_typing()) {
            (Section::Command, _) => keys.extend([("Esc", "back"), ("Ctrl-c", "quit")]),
            (_, true) => keys.extend([("Esc", "clears the search"), ("Ctrl-c", "quit")]),
            (Section::Processes, false) => {
                keys.extend([("F5", if self.tree { "list" } else { "tree" }), ("Ctrl-c", "quit"), ("F1", "help")]);
            }
            (_, false) => keys.extend([("Ctrl-c", "quit"), ("F1", "help")]),
        }
        keys
    }
}

/// The text before the cursor, and the text from it on.
fn around_cursor(line: &Line) -> (String, String) {
    let before = line.before_cursor();
    let after = &line.text()[before.len()..];
    (visible(before).into_owned(), visible(after).into_owned())
}

/// Writes a cell; returns the column after it and the gap.
fn aligned(buf: &mut Buffer, area: Rect, x: u16, column: Column, text: &str, style: Style) -> u16 {
    let room = column.width();
    let indent = match column {
        Column::Bar | Column::Age => 0,
        _ => room.saturating_sub(width(text) as u16),
    };
    let cell = Rect { width: area.right().min(x.saturating_add(room)).saturating_sub(area.x), ..area };
    put_line(buf, cell, x.saturating_add(indent), text, style);
    x.saturating_add(room + 1)
}
