//! Shared test helpers: a head with a history, keys by name, settings, a screen as text.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::app::App;
use super::keys::Action;
use super::panel::{Panel, PanelContext, PanelRequest};
use super::settings::Settings;
use super::theme::ThemeName;
use super::time::Time;
use crate::model::Measure;
use crate::units::Nanos;
use crate::view::snapshot::{LoadHistory, MarkView, ScreenHeader, SelectedComparison};
use crate::view::{Axis, Coverage};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use std::sync::Arc;

/// The head of a live session with `windows` windows of one second.
pub fn head(windows: u64) -> ScreenHeader {
    let second = |at: u64| Nanos(at * 1_000_000_000);
    ScreenHeader {
        target: "redis-server 4123".into(),
        threads: Measure::exact(5.0),
        event: "cpu-clock".into(),
        unit: "ns",
        events: vec!["cpu-clock".into()],
        first_sampled: Axis::Event(0),
        has_off_cpu: true,
        rate: "997 Hz".into(),
        samples: 12_345,
        whole: Some(0.992),
        coverage: Measure::exact(Coverage { share: 0.998, error: 0.009, counter: "task-clock" }),
        lost: 0,
        own_cpu: Measure::exact(0.006),
        live: true,
        since: Nanos(0),
        now: second(windows),
        from: Nanos(0),
        to: second(windows),
        started_unix_ns: 1_780_000_000_000_000_000,
        marks: vec![MarkView { at: second(windows / 2), label: "mark 1".into() }],
        strip: LoadHistory {
            at: (1..=windows).map(second).collect(),
            busy: (1..=windows).map(|at| (at % 7 != 3).then_some((at % 5) as f64 * 0.5)).collect(),
        },
        notes: vec![],
        cpus: 2,
        standing: None,
        sweep: None,
        comparison: None,
        fleet: None,
    }
}

/// The default settings.
pub fn settings() -> Settings {
    Settings::default()
}

/// A key by name: a character, or `Esc`, `Enter`, `Tab`, `Down`, `Ctrl-u` ...
pub fn key(name: &str) -> Event {
    let (code, modifiers) = match name {
        "Esc" => (KeyCode::Esc, KeyModifiers::NONE),
        "Enter" => (KeyCode::Enter, KeyModifiers::NONE),
        "Tab" => (KeyCode::Tab, KeyModifiers::NONE),
        "Up" => (KeyCode::Up, KeyModifiers::NONE),
        "Down" => (KeyCode::Down, KeyModifiers::NONE),
        "Left" => (KeyCode::Left, KeyModifiers::NONE),
        "Right" => (KeyCode::Right, KeyModifiers::NONE),
        "Space" => (KeyCode::Char(' '), KeyModifiers::NONE),
        "Backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
        "F1" => (KeyCode::F(1), KeyModifiers::NONE),
        "F5" => (KeyCode::F(5), KeyModifiers::NONE),
        "End" => (KeyCode::End, KeyModifiers::NONE),
        name if name.starts_with("Ctrl-") => (KeyCode::Char(name.chars().last().unwrap()), KeyModifiers::CONTROL),
        name => (KeyCode::Char(name.chars().next().unwrap()), KeyModifiers::NONE),
    };
    Event::Key(KeyEvent::new(code, modifiers))
}

/// The text of a buffer, one line per row, without trailing blanks.
pub fn text(buf: &Buffer) -> String {
    let rows = buf.content.chunks(usize::from(buf.area.width.max(1)));
    let row = |cells: &[ratatui::buffer::Cell]| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_string()
    };
    rows.map(row).collect::<Vec<_>>().join("\n")
}

/// The whole session as text.
pub fn screen(app: &App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| app.draw(frame)).unwrap();
    text(terminal.backend().buffer())
}

/// A comparison with a side that costs more, and with hostile names.
pub fn compared() -> SelectedComparison {
    SelectedComparison { view: Arc::new(crate::view::diff::testing::costlier()), at: 0 }
}

/// A context for testing a panel.
pub struct PanelFixture {
    pub settings: Settings,
    pub axis: Axis,
    pub compared: bool,
    pub live: bool,
}

impl Default for PanelFixture {
    fn default() -> Self {
        PanelFixture { settings: settings(), axis: Axis::Event(0), compared: false, live: false }
    }
}

impl PanelFixture {
    /// Without colours and without Unicode.
    pub fn plain() -> PanelFixture {
        let settings = Settings { theme: ThemeName::Mono, ascii: true, ..settings() };
        PanelFixture { settings, ..PanelFixture::default() }
    }

    /// Of a session that goes on.
    pub fn live() -> PanelFixture {
        PanelFixture { live: true, ..PanelFixture::default() }
    }

    /// Runs `f` with the panel's context.
    pub fn with<T>(&self, f: impl FnOnce(&PanelContext<'_>) -> T) -> T {
        let PanelFixture { settings, axis, compared, live } = self;
        let (theme, glyphs, head, time) = (settings.theme(), settings.glyphs(), head(20), Time::new(*live, false));
        let (theme, glyphs, keys, head, time) = (&theme, &glyphs, &settings.keys, &head, &time);
        f(&PanelContext { theme, glyphs, keys, head, time, axis: *axis, compared: *compared })
    }

    /// Draws the panel and returns its text with the status line.
    pub fn described(&self, panel: &dyn Panel, width: u16, height: u16) -> String {
        let status = self.with(|cx| panel.status(cx)).unwrap_or_default();
        format!("{}\n[{status}]", self.drawn(panel, width, height))
    }

    /// Draws the panel and returns its text.
    pub fn drawn(&self, panel: &dyn Panel, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        self.with(|cx| panel.draw(cx, area, &mut buf));
        text(&buf)
    }

    /// Carries out an action.
    pub fn act(&self, panel: &mut dyn Panel, action: Action) -> Option<Vec<PanelRequest>> {
        self.with(|cx| panel.act(action, cx, Rect::new(0, 0, 100, 25)))
    }

    /// Carries out actions in an area of that size.
    pub fn act_in(&self, panel: &mut dyn Panel, actions: &[Action], width: u16, height: u16) {
        for action in actions {
            self.with(|cx| panel.act(*action, cx, Rect::new(0, 0, width, height)));
        }
    }
}
