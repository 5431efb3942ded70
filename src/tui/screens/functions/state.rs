//! What the screen shows and what is selected.

use super::pane::{Item, Pane, Section};
use super::rows::{Key, Rows};
use crate::view::functions::{Detail, FunctionsView, Row};
use crate::view::{CodeKind, GroupBy};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    pub(super) view: Option<FunctionsView>,
    pub(super) by: GroupBy,
    pub(super) rows: Rows,
    pub(super) pane: Pane,
}

impl State {
    /// Shows that function's callers, callees and lines; without a module, the largest function of that name.
    pub fn detail(&mut self, name: String, module: String) {
        (self.by, self.rows.module, self.rows.list.only) = (GroupBy::Function, None, false);
        self.pane.start_anew();
        self.pane.focus = true;
        self.look_around((name, module));
    }

    /// Opens the classes of instructions.
    pub fn show_mix(&mut self) {
        if self.by != GroupBy::Function {
            self.group(GroupBy::Function);
        }
        self.pane.focus = true;
        self.pane.open(Section::Mix);
    }

    pub(super) fn look_around(&mut self, key: Key) {
        self.rows.list.select(key);
        self.arrange();
    }

    pub(super) fn arrange(&mut self) {
        if let Some(view) = &self.view {
            self.rows.arrange(view);
        }
    }

    pub(super) fn row(&self) -> Option<&Row> {
        self.rows.current(self.view.as_ref()?)
    }

    pub(super) fn around(&self) -> Option<&Detail> {
        self.view.as_ref()?.detail.as_deref()
    }

    /// The selected line of the detail.
    pub(super) fn item(&self) -> Option<(&Detail, Item)> {
        let detail = self.around()?;
        Some((detail, self.pane.current(detail)?))
    }
}

/// The letter for the kind of code; inlined calls have their own.
pub(super) fn mark(kind: CodeKind, inlined: bool) -> &'static str {
    match kind {
        CodeKind::Kernel => "k",
        CodeKind::Jit => "j",
        CodeKind::User if inlined => "i",
        CodeKind::User | CodeKind::Heading => "",
    }
}
