//! Stacks as a flame graph shows them: cells from the root, with a heading if the outer part of a stack is missing.
//! A path is only three small values, so millions of samples can share their stacks.

use crate::analysis::CodeKind;
use crate::model::{FrameId, StackEnd, StackId};
use rustc_hash::FxHashMap;

/// A stack with its headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    pub(super) stack: Option<StackId>,
    /// Whether the outer part is missing.
    pub(super) truncated: bool,
    /// Whether this is the run-queue time after the wait.
    pub(super) queued: bool,
}

/// A path's number in [`Paths`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// One call in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell<'a> {
    /// Its name as a flame graph shows it, e.g. `main`, `libc.so.6+0x1f3a`, `[truncated stack]`.
    pub name: &'a str,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Whether it was inlined into its caller.
    pub inlined: bool,
    /// Its frame; `None` for a heading, and for a tail call.
    pub frame: Option<FrameId>,
    /// The caller's frame of a tail call: the function ended in a jump to the next one and has no frame of its own.
    pub tail_called_by: Option<FrameId>,
    /// Which of the frame's names this is; 0 is the innermost.
    pub depth: usize,
}

impl Path {
    /// The path of a stack with this end.
    #[must_use]
    pub fn of(stack: Option<StackId>, end: StackEnd) -> Path {
        Path { stack, truncated: matches!(end, StackEnd::Truncated | StackEnd::Broken), queued: false }
    }

    /// The same path for the run-queue time.
    #[must_use]
    pub(super) fn queued(self) -> Path {
        Path { queued: true, ..self }
    }

    /// Its stack, without headings.
    #[must_use]
    pub fn stack(self) -> Option<StackId> {
        self.stack
    }
}

/// Paths, numbered in order of first use.
#[derive(Debug, Default)]
pub struct Paths {
    list: Vec<Path>,
    ids: FxHashMap<Path, PathId>,
}

impl Paths {
    /// The path's number; a new path gets the next one.
    pub fn id(&mut self, path: Path) -> PathId {
        let next = PathId(self.list.len() as u32);
        let id = *self.ids.entry(path).or_insert(next);
        if id == next {
            self.list.push(path);
        }
        id
    }

    /// All paths, by number.
    #[must_use]
    pub fn list(&self) -> &[Path] {
        &self.list
    }
}
