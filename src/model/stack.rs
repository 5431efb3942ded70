//! Interned call stacks: a stack is a leaf frame and a parent stack, so equal stacks are equal numbers.
//! Names are attached to frames later, off the sampling path.

use super::ModuleId;
use serde::{Deserialize, Serialize};

/// Index into the recording's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub u32);

/// Index into the recording's stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StackId(pub u32);

/// A code address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FrameDef {
    /// Its number. Definitions are in order from 0, without gaps.
    pub id: FrameId,
    /// The module it lies in; `None` for an address outside every known mapping.
    pub module: Option<ModuleId>,
    /// The address to look up, in the terms of the module (see `ModuleKind`). A caller's address is the return address
    /// minus one, so that it lies within the call instruction.
    pub address: u64,
}

/// A stack: `frame`, called from `parent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackDef {
    /// Its number. Definitions are in order from 0, without gaps, a parent before its children.
    pub id: StackId,
    /// The calling stack; `None` for the outermost frame.
    pub parent: Option<StackId>,
    /// The innermost frame.
    pub frame: FrameId,
}

/// How a sample's stack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackEnd {
    /// It reached the outermost frame: the program's or thread's start, or a pure kernel task.
    Whole,
    /// The copied stack bytes ended before the stack did, or the depth limit was reached.
    Truncated,
    /// Unwinding stopped early: unwind information was missing or inconsistent.
    Broken,
    /// No stack was requested.
    NotTaken,
}

/// One name at a frame. A frame with inlined calls has several, innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Symbol {
    /// Demangled function name.
    pub function: String,
    /// Source file, if debug information names it.
    pub file: Option<String>,
    /// Source line, from 1.
    pub line: Option<u32>,
    /// Whether this function was inlined into the next one.
    pub inlined: bool,
    /// Of the outermost name: the function that the call instruction at this address names. Where the stack goes on with
    /// another function, the named one has ended in a jump to it and has no frame of its own.
    pub calls: Option<Box<str>>,
}

impl Symbol {
    /// A function of which only the name is known.
    #[must_use]
    pub fn named(function: impl Into<String>) -> Symbol {
        Symbol { function: function.into(), file: None, line: None, inlined: false, calls: None }
    }
}
