//! The interface that every screen implements.
//! A panel draws only within its own area; it asks the session for everything else by returning requests.

use super::keys::{Action, KeyTable};
use super::theme::{Glyphs, Theme};
use super::time::Time;
use super::widgets::put;
use crate::model::MetricId;
use crate::units::Nanos;
use crate::view::Axis;
use crate::view::fit::width;
use crate::view::query::{FleetTab, TaskFilter, ViewRequest};
use crate::view::snapshot::{PanelView, ScreenHeader};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::fmt::Debug;

/// What a panel can read of the session.
#[derive(Debug, Clone, Copy)]
pub struct PanelContext<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// The characters to draw with.
    pub glyphs: &'a Glyphs,
    /// The key bindings, for hints.
    pub keys: &'a KeyTable,
    /// The target and the history.
    pub head: &'a ScreenHeader,
    /// The shown time.
    pub time: &'a Time,
    /// The counted quantity.
    pub axis: Axis,
    /// Whether changes since a mark or against a baseline are shown.
    pub compared: bool,
}

impl PanelContext<'_> {
    /// Draws keys and their meaning at the right of a line, as many as fit next to the `taken` columns.
    pub fn hints(&self, keys: &[(Action, &str)], taken: usize, area: Rect, buf: &mut Buffer) {
        let mut room = usize::from(area.width.saturating_sub(2)).saturating_sub(taken);
        let mut parts = Vec::new();
        for (action, meaning) in keys {
            let key = self.keys.first(*action);
            let needs = width(&key) + width(meaning) + 3;
            if needs > room {
                break;
            }
            room -= needs;
            parts.push((key, *meaning, needs));
        }
        let used: usize = parts.iter().map(|(.., needs)| needs).sum();
        let mut x = area.right().saturating_sub(used as u16);
        for (key, meaning, _) in parts {
            x = put(buf, area, (x, area.y), &key, self.theme.accent);
            x = put(buf, area, (x + 1, area.y), meaning, self.theme.dim) + 2;
        }
    }
}

/// A screen of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScreenId {
    /// The factors at a glance.
    Overview,
    /// The call tree.
    Flame,
    /// The table of functions.
    Functions,
    /// The threads.
    Threads,
    /// The counters.
    Counters,
    /// The findings.
    Findings,
    /// Memory and threads by NUMA node.
    Numa,
    /// How long operations took.
    Latency,
    /// The sweep.
    Scaling,
    /// The session compared with its baseline.
    Baseline,
    /// The result of a comparison.
    Changes,
    /// The code that changed.
    Code,
    /// The conditions and caveats of a comparison.
    Conditions,
    /// Tables of a data set of many machines.
    Fleet(FleetTab),
}

/// A panel's request to the session.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelRequest {
    /// Take a new snapshot: the panel needs another view.
    Refresh,
    /// Show another screen.
    Go(ScreenId),
    /// Show the flame graph zoomed into the cell with these names from the root, as far as they exist.
    Zoom(Vec<String>),
    /// Show a function's callers, callees and lines, given its name and its module's path.
    Detail(String, String),
    /// Show the classes of instructions, of the function selected last.
    Mix,
    /// Show only these threads or processes; the text is their label.
    Only(TaskFilter, String),
    /// Show the history of a metric.
    Metric(MetricId),
    /// Show how the thread with this id spent its time.
    Thread(u32),
    /// Pause at this moment.
    At(Nanos),
    /// Count this quantity.
    Count(Axis),
    /// Show a text in the status line.
    Say(String),
}

/// A screen: state, keys and drawing. Every `area` is the one that [`Panel::draw`] gets at the same terminal size.
pub trait Panel: Debug {
    /// Keys with a meaning of their own on this screen, for the help.
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[]
    }

    /// The view that the panel needs now.
    fn request(&self) -> ViewRequest;

    /// Takes a new view; the selection is kept by name. Views of other panels are ignored.
    fn show(&mut self, body: PanelView);

    /// Draws the panel, at any size down to one cell, and also before the first view.
    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer);

    /// Carries out an action; `None` if it has no meaning here.
    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>>;

    /// Handles a click, the wheel, or a mouse movement within its area.
    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let _ = (event, cx, area);
        Vec::new()
    }

    /// Searches for a text as it is typed; an empty text ends the search.
    fn search(&mut self, text: &str);

    /// The selection in full for the status line: name, values, reasons for missing values.
    fn status(&self, cx: &PanelContext<'_>) -> Option<String>;

    /// The selected name, for the clipboard.
    fn selected_name(&self) -> Option<String> {
        None
    }
}
