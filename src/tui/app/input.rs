//! Routes keys, mouse events and resizes: first to the overlay, then to the session, then to the open screen.

use super::state::{App, SessionPhase};
use crate::tui::effect::Effect;
use crate::tui::keys::{Action, Key};
use crate::tui::layout::Areas;
use crate::tui::list::{scrolled, wheel};
use crate::tui::overlay::{Entered, Overlay, PromptKind};
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::path::PathBuf;

impl App {
    pub(super) fn input(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Mouse(event) => self.mouse(event),
            Event::Paste(text) => self.paste(&text),
            Event::Resize(width, height) => {
                self.size = (width, height);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let action = self.keys.action(key);
        // These work everywhere, also while the user types a line.
        match action {
            Some(Action::Suspend) => return vec![Effect::Suspend],
            Some(Action::Redraw) => return vec![Effect::Redraw],
            _ => {}
        }
        match self.overlay {
            Overlay::Prompt(..) => self.prompt_key(key),
            Overlay::Palette(_) => self.palette_key(key, action),
            Overlay::Help(_) | Overlay::Notes(_) => self.scroll_key(action),
            Overlay::None if self.phase == SessionPhase::Picking => self.picker_key(key, action),
            Overlay::None => match action {
                Some(action) => self.act(action),
                None => self.unbound(key),
            },
        }
    }

    /// A key that nothing is bound to says where the keys are.
    fn unbound(&mut self, key: KeyEvent) -> Vec<Effect> {
        let text = format!("{} does nothing: {} shows the keys", Key::of(key), self.keys.first(Action::Help));
        self.say(&text, false)
    }

    fn picker_key(&mut self, key: KeyEvent, action: Option<Action>) -> Vec<Effect> {
        // Letters are text: they search, or belong to the command.
        if !matches!(key.code, KeyCode::Char(_)) || key.modifiers.contains(KeyModifiers::CONTROL) {
            match action {
                Some(Action::Quit) => return vec![Effect::Quit],
                Some(Action::Help) => {
                    self.overlay = Overlay::Help(0);
                    return Vec::new();
                }
                _ => {}
            }
        }
        self.notice = None;
        if key.code == KeyCode::Esc && self.picker.is_at_rest() {
            return if self.behind.is_some() { self.choose_nothing() } else { vec![Effect::Quit] };
        }
        match self.picker.key(key, action, Areas::of(self.size).whole_body()) {
            Some(choice) => {
                self.phase = SessionPhase::Opening;
                vec![Effect::Open(choice)]
            }
            None => Vec::new(),
        }
    }

    fn prompt_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Overlay::Prompt(kind, line) = &mut self.overlay else { return Vec::new() };
        let kind = *kind;
        match key.code {
            KeyCode::Esc => self.close_prompt(kind),
            KeyCode::Char('c' | 'g') if key.modifiers.contains(ratatui::crossterm::event::KeyModifiers::CONTROL) => {
                self.close_prompt(kind)
            }
            KeyCode::Enter => {
                let typed = line.text().to_string();
                self.overlay = Overlay::None;
                self.entered(kind, typed)
            }
            _ => {
                if !line.edit(key) || kind != PromptKind::Search {
                    return Vec::new();
                }
                let typed = line.text().to_string();
                self.find(typed)
            }
        }
    }

    fn close_prompt(&mut self, kind: PromptKind) -> Vec<Effect> {
        self.overlay = Overlay::None;
        if kind == PromptKind::Search { self.find(String::new()) } else { Vec::new() }
    }

    fn entered(&mut self, kind: PromptKind, typed: String) -> Vec<Effect> {
        let path = (!typed.trim().is_empty()).then(|| PathBuf::from(typed.trim()));
        match kind {
            PromptKind::Search => Vec::new(),
            PromptKind::Record => vec![Effect::Record(path)],
            PromptKind::Export => {
                vec![Effect::Export { query: self.query(), flame: self.flame_shown(), path }]
            }
        }
    }

    /// Searches the open screen; asks for a new view if the result changes what the screen needs.
    pub(super) fn find(&mut self, text: String) -> Vec<Effect> {
        self.search = text;
        let text = self.search.clone();
        let before = self.panel().request();
        self.with_panel(|panel, _| panel.search(&text));
        if self.panel().request() == before { Vec::new() } else { self.request() }
    }

    fn palette_key(&mut self, key: KeyEvent, action: Option<Action>) -> Vec<Effect> {
        let Overlay::Palette(palette) = &mut self.overlay else { return Vec::new() };
        match (key.code, action) {
            (KeyCode::Esc, _) => self.overlay = Overlay::None,
            (KeyCode::Up, _) => palette.step(-1, &self.keys),
            (KeyCode::Down | KeyCode::Tab, _) => palette.step(1, &self.keys),
            (KeyCode::Enter, _) => {
                let entered = palette.enter(&self.keys);
                let typed = palette.line.text().trim().to_string();
                if entered != Entered::Waits {
                    self.overlay = Overlay::None;
                }
                return match entered {
                    Entered::Action(action) => self.act(action),
                    Entered::Command(command, arguments) => self.command(command, &arguments),
                    Entered::Waits => Vec::new(),
                    Entered::Nothing => {
                        let palette = self.keys.first(Action::Palette);
                        self.say(&format!("no command is named '{typed}'; {palette} alone lists them"), false)
                    }
                };
            }
            (KeyCode::Char('c'), Some(Action::Quit)) => self.overlay = Overlay::None,
            _ => {
                palette.line.edit(key);
                palette.selected = 0;
            }
        }
        Vec::new()
    }

    /// Any key that does not scroll closes the help and the notes.
    fn scroll_key(&mut self, action: Option<Action>) -> Vec<Effect> {
        let (lines, height) = (self.overlay_lines(), self.size.1.saturating_sub(4));
        let (Overlay::Help(top) | Overlay::Notes(top)) = &mut self.overlay else { return Vec::new() };
        match action.and_then(|action| scrolled(action, *top, lines, height)) {
            Some(to) => *top = to,
            None => self.overlay = Overlay::None,
        }
        Vec::new()
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        match &mut self.overlay {
            Overlay::Prompt(kind, line) => {
                line.insert(text);
                if *kind == PromptKind::Search {
                    let typed = line.text().to_string();
                    return self.find(typed);
                }
            }
            Overlay::Palette(palette) => palette.line.insert(text),
            Overlay::None if self.phase == SessionPhase::Picking => self.picker.paste(text),
            _ => {}
        }
        Vec::new()
    }

    fn mouse(&mut self, event: MouseEvent) -> Vec<Effect> {
        let at = (event.column, event.row).into();
        let areas = Areas::of(self.size);
        match (&self.overlay, self.phase) {
            (Overlay::Help(_) | Overlay::Notes(_), _) => {
                let action = wheel(event.kind);
                let closes = matches!(event.kind, MouseEventKind::Down(_));
                if action.is_some() || closes { self.scroll_key(action) } else { Vec::new() }
            }
            (Overlay::Palette(_) | Overlay::Prompt(..), _) | (_, SessionPhase::Opening) => Vec::new(),
            (Overlay::None, SessionPhase::Picking) => match self.picker.mouse(event, areas.whole_body()) {
                Some(choice) => {
                    self.phase = SessionPhase::Opening;
                    vec![Effect::Open(choice)]
                }
                None => Vec::new(),
            },
            (Overlay::None, SessionPhase::Open { .. }) if self.drag.is_some() || areas.strip.contains(at) => {
                self.strip_mouse(event, areas)
            }
            (Overlay::None, SessionPhase::Open { .. }) if areas.tabs.contains(at) => match event.kind {
                MouseEventKind::Down(MouseButton::Left) => {
                    self.tab_at(event.column).map(|screen| self.go(screen)).unwrap_or_default()
                }
                _ => Vec::new(),
            },
            (Overlay::None, SessionPhase::Open { .. }) => {
                let wishes = self.with_panel(|panel, cx| panel.mouse(event, cx, areas.body));
                self.grant(wishes.unwrap_or_default())
            }
        }
    }

    /// A click on the strip jumps to a moment, a drag selects a range.
    fn strip_mouse(&mut self, event: MouseEvent, areas: Areas) -> Vec<Effect> {
        let Some(head) = self.head.clone() else { return Vec::new() };
        let here = crate::tui::chrome::moment_at(&head, areas.strip, event.column);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.drag = Some(here);
                self.time.go(&head, here);
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                if let Some(anchor) = self.drag {
                    self.time.select(anchor, here);
                }
            }
            MouseEventKind::Up(MouseButton::Left) => self.drag = None,
            MouseEventKind::ScrollUp => self.time.step(&head, -1),
            MouseEventKind::ScrollDown => self.time.step(&head, 1),
            _ => return Vec::new(),
        }
        self.request()
    }
}
