//! Instructions per cycle and cache misses of the cells of a flame graph.

use crate::view::code_ipc::CodeRates;
use serde::Serialize;

/// The rates of cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FlameRates {
    /// For each label, the cycles per instruction of its own code against those of all code, from -2 (much less) to 2
    /// (much more); `None` where they are not known.
    pub cpi: Vec<Option<i8>>,
    /// The same of last-level cache misses per instruction.
    pub mpki: Vec<Option<i8>>,
    /// For each cell, the rates of it and everything it calls; `None` for cells without samples of their own event.
    pub paths: Vec<Option<CodeRates>>,
}
