//! Draws the session: head line, tabs, open screen, history strip, status line and overlay.

use super::state::{App, SessionPhase};
use crate::tui::chrome::{self, SessionStatus};
use crate::tui::keys::Action;
use crate::tui::layout::{Areas, LEAST};
use crate::tui::overlay::{Entry, Overlay, Palette, PaletteRow, PromptKind};
use crate::tui::panel::{PanelContext, ScreenId};
use crate::tui::screens::SessionKind;
use crate::tui::widgets::{WidgetContext, put_line, rule};
use crate::view::escape::visible;
use crate::view::fit::{end, width};
use crate::view::snapshot::ScreenHeader;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};

/// Rows of the command palette.
const PALETTE_ROWS: u16 = 12;

/// Minimum width for the help in two columns.
const TWO_COLUMNS: u16 = 120;

/// A line of an overlay as styled spans.
type Spans = Vec<(String, Style)>;

impl App {
    /// Draws the session.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let size = (area.width, area.height);
        let areas = Areas::of(size);
        let buf = frame.buffer_mut();
        buf.set_style(area, self.theme.text);
        if !Areas::fits(size) {
            let text = format!("ironlaw needs {}x{}; this is {}x{}", LEAST.0, LEAST.1, size.0, size.1);
            put_line(buf, area, area.x, &text, self.theme.warn);
            return;
        }
        match (self.phase, &self.head) {
            (SessionPhase::Picking, _) => self.draw_picker(areas, buf),
            (_, Some(head)) => self.draw_session(head, areas, buf),
            (_, None) => self.lines(&[vec![("opening ...".to_string(), self.theme.dim)]], areas.body, buf),
        }
        self.draw_overlay(areas, buf);
        if let Some(cursor) = self.draw_status(areas.status, buf) {
            frame.set_cursor_position(cursor);
        }
    }

    fn draw_picker(&self, areas: Areas, buf: &mut Buffer) {
        let x = put_line(buf, areas.head, areas.head.x + 1, "ironlaw", self.theme.accent) + 2;
        let about = match self.behind {
            Some(true) if self.kind == SessionKind::Profile => {
                "choose another target: the history held is then saved · Esc goes back to it"
            }
            Some(_) => "choose another target · Esc goes back",
            None => "choose a target",
        };
        put_line(buf, areas.head, x, about, self.theme.dim);
        self.picker.draw(&self.theme, &self.glyphs, areas.whole_body(), buf);
    }

    fn draw_session(&self, head: &ScreenHeader, areas: Areas, buf: &mut Buffer) {
        let live = matches!(self.phase, SessionPhase::Open { live: true });
        // The runs of a sweep take as long as they take.
        let (ended, silent) = (self.ended.is_some(), live && head.sweep.is_none() && self.silent);
        let doing = SessionStatus { live, ended, silent, filter: &self.filter_label };
        let look = (&self.theme, &self.glyphs);
        chrome::head_line(head, &self.time, doing, look, areas.head, buf);
        chrome::tab_line(&self.tabs(), self.screen, &self.keys.first(Action::Help), &self.theme, areas.tabs, buf);
        rule(WidgetContext { theme: &self.theme, glyphs: &self.glyphs }, areas.rule, buf);
        match &self.problem {
            None => self.panel().draw(&self.cx(head), areas.body, buf),
            Some(error) => {
                let remedy = error.remedy().map(|remedy| visible(remedy).into_owned()).unwrap_or_default();
                let text = visible(&error.to_string()).into_owned();
                self.lines(&[vec![(text, self.theme.warn)], vec![(remedy, self.theme.dim)]], areas.body, buf);
            }
        }
        chrome::strip(head, &self.time, &self.theme, &self.glyphs, areas.strip, buf);
    }

    fn cx<'a>(&'a self, head: &'a ScreenHeader) -> PanelContext<'a> {
        PanelContext {
            theme: &self.theme,
            glyphs: &self.glyphs,
            keys: &self.keys,
            head,
            time: &self.time,
            axis: self.axis,
            compared: self.time.compare,
        }
    }

    /// Draws the typed line, the notice or the selection; returns the cursor's position while the user types.
    fn draw_status(&self, area: Rect, buf: &mut Buffer) -> Option<Position> {
        if let Some((label, line)) = self.typed() {
            let x = put_line(buf, area, area.x + 1, label, self.theme.accent);
            put_line(buf, area, x, line.text(), self.theme.text);
            let column = x + width(line.before_cursor()) as u16;
            return Some(Position::new(column.min(area.right().saturating_sub(1)), area.y));
        }
        let (text, style) = match (&self.notice, &self.head) {
            (Some(notice), _) => (notice.text.clone(), if notice.bad { self.theme.bad } else { self.theme.accent2 }),
            (None, Some(head)) if self.problem.is_none() && matches!(self.phase, SessionPhase::Open { .. }) => {
                (self.panel().status(&self.cx(head)).unwrap_or_default(), self.theme.text)
            }
            _ => return None,
        };
        let search = if self.search.is_empty() { String::new() } else { format!("/{} ", visible(&self.search)) };
        let right = area.right().saturating_sub(width(&search) as u16);
        put_line(buf, area, right, &search, self.theme.accent);
        let room = usize::from(right.saturating_sub(area.x + 2));
        put_line(buf, area, area.x + 1, &end(&text, room, self.glyphs.ellipsis), style);
        None
    }

    /// The line being typed and its label.
    fn typed(&self) -> Option<(&'static str, &crate::tui::line::Line)> {
        match &self.overlay {
            Overlay::Prompt(PromptKind::Search, line) => Some(("/", line)),
            Overlay::Prompt(PromptKind::Record, line) => {
                Some(("write a recording (empty: named after target and time): ", line))
            }
            Overlay::Prompt(PromptKind::Export, line) => {
                Some(("write a picture (empty: named after target and time): ", line))
            }
            Overlay::Palette(palette) => Some((":", &palette.line)),
            _ => None,
        }
    }

    fn draw_overlay(&self, areas: Areas, buf: &mut Buffer) {
        let room = Rect { height: areas.whole.height.saturating_sub(4), y: 3.min(areas.whole.height), ..areas.whole };
        let (lines, scroll) = match &self.overlay {
            Overlay::Help(scroll) => (self.help_lines(), *scroll),
            Overlay::Notes(scroll) => (self.note_lines(), *scroll),
            Overlay::Palette(palette) => return self.draw_palette(palette, room, buf),
            Overlay::None | Overlay::Prompt(..) => return,
        };
        Clear.render(room, buf);
        buf.set_style(room, self.theme.text);
        let shown: Vec<_> = lines.into_iter().skip(scroll).collect();
        self.lines(&shown, room, buf);
    }

    fn draw_palette(&self, palette: &Palette, room: Rect, buf: &mut Buffer) {
        let rows = palette.rows(&self.keys);
        let height = PALETTE_ROWS.min(room.height);
        let area = Rect { y: room.bottom() - height, height, ..room };
        Clear.render(area, buf);
        buf.set_style(area, self.theme.text);
        let selected = palette.selected.min(rows.len().saturating_sub(1));
        let first = selected.saturating_sub(usize::from(height).saturating_sub(1));
        let line = |(at, PaletteRow { entry, name, text }): (usize, &PaletteRow)| {
            let style = if at == selected { self.theme.selected } else { self.theme.text };
            let keys = match entry {
                Entry::Action(action) => self.keys.keys_for(*action).join(" "),
                Entry::Command(_) => String::new(),
            };
            vec![(format!(" {name:<30} {text:<36} "), style), (keys, self.theme.dim)]
        };
        let lines: Vec<Spans> = rows.iter().enumerate().skip(first).map(line).collect();
        self.lines(&lines, area, buf);
    }

    /// Writes lines from the top and drops those that do not fit.
    fn lines(&self, lines: &[Spans], area: Rect, buf: &mut Buffer) {
        for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
            let row = Rect { y, height: 1, ..area };
            let mut x = row.x + 1;
            for (text, style) in line {
                let room = usize::from(row.right().saturating_sub(x));
                x = put_line(buf, row, x, &end(text, room, self.glyphs.ellipsis), *style);
            }
        }
    }

    fn help_lines(&self) -> Vec<Spans> {
        let mut lines = Vec::new();
        let here = self.panel().keys().iter();
        let here: Vec<_> = here.map(|(action, text)| (self.keys.keys_for(*action).join(" "), *text)).collect();
        let here =
            (!here.is_empty() && matches!(self.phase, SessionPhase::Open { .. })).then_some(("On this screen", here));
        let is_there = |action| match action {
            Action::Screen(number) => self.kind.numbered(number).is_some(),
            Action::Per => self.kind == SessionKind::Comparison,
            action if self.kind == SessionKind::Fleet => !action.is_of_time() && action != Action::OffCpu,
            action if self.kind == SessionKind::Comparison => !action.is_of_time() || action.is_a_step(),
            _ => true,
        };
        for (section, rows) in here.into_iter().chain(self.keys.help(is_there)) {
            lines.push(vec![(section.to_string(), self.theme.heading)]);
            for (keys, text) in rows {
                lines.push(vec![(format!("  {keys:<22} "), self.theme.accent), (text.to_string(), self.theme.text)]);
            }
            lines.push(Vec::new());
        }
        let mut lines =
            if self.size.0 >= TWO_COLUMNS { side_by_side(lines, usize::from(self.size.0) / 2) } else { lines };
        lines.push(vec![("Keys are changed in the file that `ironlaw config --path` names.".into(), self.theme.dim)]);
        lines
    }

    fn note_lines(&self) -> Vec<Spans> {
        let notes = self.head.as_ref().map_or(&[][..], |head| head.notes.as_slice());
        let mut lines = vec![vec![("What to know before trusting the numbers".to_string(), self.theme.heading)]];
        if notes.is_empty() {
            lines.push(vec![("  no problems".to_string(), self.theme.dim)]);
        }
        for note in notes {
            lines.push(vec![(format!("  {}", visible(&note.text)), self.theme.text)]);
            if let Some(fix) = &note.fix {
                lines.push(vec![(format!("    {}", visible(fix)), self.theme.dim)]);
            }
        }
        lines
    }

    /// The number of lines of a scrolling overlay, which limits the scroll.
    pub(super) fn overlay_lines(&self) -> usize {
        match &self.overlay {
            Overlay::Help(_) => self.help_lines().len(),
            Overlay::Notes(_) => self.note_lines().len(),
            _ => 0,
        }
    }

    /// The screen whose tab covers a column.
    pub(super) fn tab_at(&self, column: u16) -> Option<ScreenId> {
        let tabs = self.tabs();
        tabs.iter()
            .find(|(_, label, start)| column >= *start && column < start + label.len() as u16)
            .map(|(id, ..)| *id)
    }

    fn tabs(&self) -> Vec<chrome::Tab> {
        let standing = self.head.as_ref().and_then(|head| head.standing);
        chrome::tabs(self.kind, self.panels.findings(self.screen), standing, self.size.0)
    }
}

/// Moves the second half of the lines, from the next empty line on, into a second column.
fn side_by_side(mut lines: Vec<Spans>, column: usize) -> Vec<Spans> {
    let half = lines.len().div_ceil(2);
    let gap = lines.iter().skip(half).position(Vec::is_empty).map_or(lines.len(), |at| half + at + 1);
    let right = lines.split_off(gap);
    for (line, right) in lines.iter_mut().zip(right) {
        let used: usize = line.iter().map(|(text, _)| width(text)).sum();
        line.push((" ".repeat(column.saturating_sub(used)), Style::new()));
        line.extend(right);
    }
    lines
}
