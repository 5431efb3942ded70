//! The functions that lost, as rows of the list: on a CPU and in waits.
//! The rows keep the order of the analysis.

use crate::tui::search::holds;
use crate::view::sweep::{FunctionId, Loss, LossRow};

/// Identifies a row by its function and whether it shows the function's waits.
pub(super) type Key = (bool, FunctionId);

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct FunctionRow<'a> {
    /// Whether the loss is time blocked.
    pub waits: bool,
    pub loss: &'a LossRow,
}

impl FunctionRow<'_> {
    pub fn key(&self) -> Key {
        (self.waits, self.loss.function.clone())
    }

    /// Whether its name or module contains the text.
    pub fn fits(&self, text: &str) -> bool {
        let FunctionId { name, module, .. } = &self.loss.function;
        holds(name, text) || holds(module, text)
    }

    /// From -2, much less, to 2, much more; 0 if chance may explain the change.
    pub fn step(&self) -> i8 {
        let LossRow { base, here, .. } = self.loss;
        let much = *here >= 2.0 * base || *base >= 2.0 * here;
        match (self.loss.is_real(), self.loss.growth() < 0.0) {
            (false, _) => 0,
            (true, true) => -1 - i8::from(much),
            (true, false) => 1 + i8::from(much),
        }
    }
}

/// The functions on a CPU and the waits; the group with the larger total loss comes first.
pub(super) fn rows(loss: &Loss) -> Vec<FunctionRow<'_>> {
    let row = |waits| move |loss| FunctionRow { waits, loss };
    let (running, waiting) = (loss.functions.iter().map(row(false)), loss.waits.iter().map(row(true)));
    let waited = loss.blocked.map_or(0.0, |(base, here)| here - base);
    if waited > loss.here - loss.base { waiting.chain(running).collect() } else { running.chain(waiting).collect() }
}
