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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameDef {
    /// Its number; definitions come in order from 0 without gaps.
    pub id: FrameId,
    /// The module it lies in; `None` for an address outside every known mapping.
    pub module: Option<ModuleId>,
    /// The address to look up, in the module's own terms (see `ModuleKind`). For a caller it is one less than the
    /// return address, so that it lies within the call instruction.
    pub address: u64,
}

/// A stack: `frame`, called from `parent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StackDef {
    /// Its number; definitions come in order from 0 without gaps, a parent before its children.
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
    /// The copied stack bytes, or the depth limit, ended before the stack did.
    Truncated,
    /// Unwinding stopped early: no unwind information, or it made no sense.
    Broken,
    /// No stack was asked for.
    NotTaken,
}

/// One name at a frame. A frame with inlined calls has several, innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// Demangled function name.
    pub function: String,
    /// Source file, if debug information names it.
    pub file: Option<String>,
    /// Source line, from 1.
    pub line: Option<u32>,
    /// Whether this function was inlined into the next one.
    pub inlined: bool,
}
