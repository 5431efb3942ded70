//! The screen Baseline: the session compared with its baseline, the deviations and what explains them, and the suspects
//! whose CPU use moved with them. The screen labels a correlation as no more than that.

mod draw;
mod factors;
mod panel;
mod rows;
#[cfg(test)]
mod tests;
mod timeline;
mod words;

use crate::tui::list::{List, ListRow};
use crate::tui::panel::PanelContext;
use crate::units::Nanos;
use crate::view::baseline::BaselineComparisonView as View;
use draw::Areas;
use ratatui::layout::{Position, Rect};
use rows::Row;
use words::Key;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    contents: Contents,
    list: List<Key>,
    /// Whether all quantities are listed, not only the factors and the deviations.
    all: bool,
}

/// The result of the last snapshot.
#[derive(Debug, Default)]
enum Contents {
    /// No snapshot yet.
    #[default]
    Nothing,
    /// The session has no baseline.
    Without,
    Compared(Box<View>),
}

impl State {
    fn view(&self) -> Option<&View> {
        match &self.contents {
            Contents::Compared(view) => Some(view),
            Contents::Nothing | Contents::Without => None,
        }
    }

    fn list_rows(&self) -> Vec<ListRow<Key>> {
        let Some(view) = self.view() else { return Vec::new() };
        let matches = |key: &Key| self.list.finds(|text| words::matches(view, key, text));
        rows::keys(view, self.all).into_iter().map(|key| ListRow { matches: matches(&key), key }).collect()
    }

    /// The selected item: the first until the user moves, or after the item has disappeared.
    fn selected(&self) -> Option<Key> {
        self.list.key(&self.list_rows())
    }

    /// The last unusual moment of the selected alarm.
    fn alarm_end(&self) -> Option<Nanos> {
        let Key::Alarm(at) = self.selected()? else { return None };
        Some(self.view()?.assessment.alarms.get(at)?.window.to)
    }

    /// The rows of one side of the screen, and the first visible one.
    fn rows(&self, cx: &PanelContext<'_>, areas: &Areas, right: bool) -> (Vec<Row>, usize) {
        let Some(view) = self.view() else { return (Vec::new(), 0) };
        let area = if right { areas.right } else { areas.left };
        let all = match (areas.is_split(), right) {
            (true, false) => rows::left(view, self.all, cx, area.width),
            (true, true) => rows::right(view, cx, area.width),
            (false, false) => rows::one(view, self.all, cx, area.width),
            (false, true) => Vec::new(),
        };
        let top = draw::top(&all, self.selected().as_ref(), area.height);
        (all, top)
    }

    fn key_at(&self, cx: &PanelContext<'_>, area: Rect, at: Position) -> Option<Key> {
        let areas = Areas::of(area);
        let right = areas.right.contains(at);
        let part = if right { areas.right } else { areas.left };
        let (rows, top) = self.rows(cx, &areas, right);
        part.contains(at).then(|| rows.get(top + usize::from(at.y - part.y))?.key.clone()).flatten()
    }
}
