//! State of the detail around one function: section, open branches, selected line, history.
//! Lines are remembered by name.

use super::rows::Key;
use crate::tui::list::{List, ListRow};
use crate::view::functions::{Detail, Tree};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) enum Section {
    /// Callers of the function.
    #[default]
    Callers,
    /// Callees of the function.
    Callees,
    /// Source lines.
    Lines,
    /// Instructions.
    Addresses,
    /// Classes of instructions.
    Mix,
}

/// The sections in their order.
pub(super) const SECTIONS: [Section; 5] =
    [Section::Callers, Section::Callees, Section::Lines, Section::Addresses, Section::Mix];

/// A branch with at least this share of its parent's weight is open by default.
const MAIN_WAY: f64 = 0.9;

/// Maximum number of branches with a remembered state; beyond it all are forgotten, which bounds the memory.
const MOST_TURNED: usize = 10_000;

/// Maximum number of functions to go back to.
const MOST_HISTORY: usize = 100;

/// A line of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    /// Index of the entry, line or instruction.
    pub index: usize,
    /// Identifies the line independently of its numbers.
    pub id: u64,
    /// Whether the lines below it are shown; `None` if there are none.
    pub open: Option<bool>,
    /// Number of forks above it in the tree.
    pub forks: u16,
    /// Whether it is the only child of the line before it.
    pub goes_on: bool,
}

/// The state of the detail.
#[derive(Debug, Default)]
pub(super) struct Pane {
    /// Whether keys go to the detail instead of the table.
    pub focus: bool,
    pub section: Section,
    pub list: List<u64>,
    turned: FxHashMap<u64, bool>,
    history: Vec<(Key, Section)>,
}

fn id(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Section {
    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Section::Callers => "Callers",
            Section::Callees => "Callees",
            Section::Lines => "Lines",
            Section::Addresses => "Addresses",
            Section::Mix => "Mix",
        }
    }

    /// Its tree; `None` for sections without one.
    pub fn tree(self, detail: &Detail) -> Option<&Tree> {
        match self {
            Section::Callers => Some(&detail.callers),
            Section::Callees => Some(&detail.callees),
            Section::Lines | Section::Addresses | Section::Mix => None,
        }
    }

    /// The number of entries; for a tree, those at its root.
    pub fn count(self, detail: &Detail) -> usize {
        match self {
            Section::Lines => detail.lines.len() + detail.lines_left_out,
            Section::Addresses => detail.instructions.len() + detail.instructions_left_out,
            Section::Mix => detail.mix.len(),
            _ => self.tree(detail).map_or(0, |tree| tree.entries.iter().filter(|entry| entry.depth == 0).count()),
        }
    }

    /// The section that many places further; `None` beyond the ends.
    pub fn beside(self, by: isize) -> Option<Section> {
        let at = SECTIONS.iter().position(|section| *section == self)?;
        SECTIONS.get(at.checked_add_signed(by)?).copied()
    }
}

impl Pane {
    /// A fresh state with that section open.
    pub fn on(section: Section) -> Pane {
        Pane { section, ..Pane::default() }
    }

    /// The lines of the open section.
    pub fn items(&self, detail: &Detail) -> Vec<Item> {
        let plain = |index: usize, id: u64| Item { index, id, open: None, forks: 0, goes_on: false };
        match (self.section, self.section.tree(detail)) {
            (_, Some(tree)) => self.branches(detail, tree),
            (Section::Lines, None) => {
                detail.lines.iter().enumerate().map(|(at, line)| plain(at, id((&line.file, line.line)))).collect()
            }
            (Section::Mix, None) => detail.mix.iter().enumerate().map(|(at, row)| plain(at, id(row.label()))).collect(),
            (_, None) => detail.instructions.iter().enumerate().map(|(at, own)| plain(at, id(&own.place))).collect(),
        }
    }

    fn branches(&self, detail: &Detail, tree: &Tree) -> Vec<Item> {
        let mut items = Vec::new();
        // For each depth: identity, share, forks above its children, whether it has only one child.
        let mut above = vec![(id((&detail.name, &detail.module, self.section)), 1.0, 0_u16, false)];
        let mut at = 0;
        while let Some(entry) = tree.entries.get(at) {
            above.truncate(entry.depth as usize + 1);
            let Some((parent, share, forks, single)) = above.last().copied() else { break };
            let own = id((parent, &entry.name, &entry.module));
            let opens = self.turned.get(&own).copied().unwrap_or(entry.share >= MAIN_WAY * share);
            let open = (entry.below > 0).then_some(opens);
            items.push(Item { index: at, id: own, open, forks, goes_on: single });
            let below = entry.below as usize;
            let only = below > 0 && tree.entries.get(at + 1).is_some_and(|first| first.below as usize + 1 == below);
            above.push((own, entry.share, forks.saturating_add(u16::from(!only)), only));
            at += if open == Some(true) { 1 } else { below + 1 };
        }
        items
    }

    /// The parent of a line.
    pub fn above(&self, detail: &Detail, item: Item) -> Option<usize> {
        let tree = self.section.tree(detail)?;
        let depth = |item: &Item| tree.entries.get(item.index).map_or(0, |entry| entry.depth);
        let items = self.items(detail);
        items.iter().rposition(|other| other.index < item.index && depth(other) < depth(&item))
    }

    /// The lines as the list knows them, without a search.
    pub fn list_rows(&self, detail: &Detail) -> Vec<ListRow<u64>> {
        self.items(detail).into_iter().map(|item| ListRow { key: item.id, matches: false }).collect()
    }

    /// The selected line.
    pub fn current(&self, detail: &Detail) -> Option<Item> {
        let at = self.list.at(&self.list_rows(detail))?;
        self.items(detail).get(at).copied()
    }

    /// Restores the selected line; without one, selects the first.
    pub fn settle(&mut self, detail: &Detail) {
        let rows = self.list_rows(detail);
        self.list.settle(&rows);
    }

    /// Shows or hides the lines below a line.
    pub fn turn(&mut self, item: Item, open: bool) {
        if self.turned.len() >= MOST_TURNED {
            self.turned.clear();
        }
        self.turned.insert(item.id, open);
    }

    /// Shows or hides everything below a line.
    pub fn turn_all(&mut self, detail: &Detail, item: Item, open: bool) {
        self.turn(item, open);
        let Some(last) = self.section.tree(detail).and_then(|tree| tree.entries.get(item.index)) else { return };
        let last = item.index + last.below as usize;
        // Hidden branches have no lines yet: each round opens one more level.
        loop {
            let inside = self.items(detail).into_iter().filter(|other| other.index > item.index && other.index <= last);
            let turn: Vec<Item> = inside.filter(|other| other.open == Some(!open)).collect();
            if turn.is_empty() || !open {
                break;
            }
            turn.into_iter().for_each(|other| self.turn(other, open));
        }
    }

    /// Opens a section.
    pub fn open(&mut self, section: Section) {
        (self.section, self.list) = (section, List::default());
    }

    /// Goes to another function and remembers this one.
    pub fn leave(&mut self, from: Key) {
        if self.history.len() >= MOST_HISTORY {
            self.history.remove(0);
        }
        self.history.push((from, self.section));
        self.open(self.section);
    }

    /// Returns to the previous function.
    pub fn back(&mut self) -> Option<Key> {
        let (key, section) = self.history.pop()?;
        self.open(section);
        Some(key)
    }

    /// Whether there is a previous function.
    pub fn has_history(&self) -> bool {
        !self.history.is_empty()
    }

    /// Clears the history for a function that was not reached through the detail.
    pub fn start_anew(&mut self) {
        self.history.clear();
        self.list = List::default();
    }
}
