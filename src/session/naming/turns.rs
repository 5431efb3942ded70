//! Whose names are read next. Files that others bring may take long, so what everybody has comes first, and of users the
//! one whose files have taken least.

use crate::model::{FrameDef, ModuleId};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// Who brought a module, first to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Turn {
    /// The kernel did.
    OfMachine,
    /// Its file belongs to root or to us.
    Believed,
    /// This user did.
    OfUser(u32),
    /// This process made it.
    OfProcess(u32),
}

/// Frames that are to be named.
#[derive(Debug, Default)]
pub(super) struct Turns {
    wanted: BTreeMap<ModuleId, (Turn, VecDeque<FrameDef>)>,
    took: FxHashMap<Turn, Nanos>,
    /// The turns of the modules so far.
    turns: FxHashMap<ModuleId, Turn>,
}

impl Turns {
    /// Whether all have been named.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Frames that are left.
    pub(super) fn len(&self) -> usize {
        self.wanted.values().map(|(_, frames)| frames.len()).sum()
    }

    /// Adds frames of a module.
    pub(super) fn add(&mut self, module: ModuleId, frames: Vec<FrameDef>, turn: impl FnOnce() -> Turn) {
        let turn = *self.turns.entry(module).or_insert_with(turn);
        self.wanted.entry(module).or_insert((turn, VecDeque::new())).1.extend(frames);
    }

    /// The module that is next.
    pub(super) fn first(&self) -> Option<ModuleId> {
        let took = |turn: &Turn| match turn {
            Turn::OfMachine => (0, Nanos(0)),
            Turn::Believed => (1, Nanos(0)),
            Turn::OfUser(_) | Turn::OfProcess(_) => (2, self.took.get(turn).copied().unwrap_or_default()),
        };
        self.wanted.iter().min_by_key(|(_, (turn, _))| took(turn)).map(|(module, _)| *module)
    }

    /// Some frames of the module that is next.
    pub(super) fn next(&mut self, most: usize) -> Option<(ModuleId, Vec<FrameDef>)> {
        let module = self.first()?;
        let (_, frames) = self.wanted.get_mut(&module)?;
        let some = frames.drain(..most.min(frames.len())).collect();
        if frames.is_empty() {
            self.wanted.remove(&module);
        }
        Some((module, some))
    }

    /// So long it took to name frames of a module.
    pub(super) fn took(&mut self, module: ModuleId, time: Nanos) {
        if let Some(turn) = self.turns.get(&module) {
            let sum = self.took.entry(*turn).or_default();
            *sum += time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FrameId;

    fn frames(module: u32, count: u32) -> Vec<FrameDef> {
        let frame =
            |at: u32| FrameDef { id: FrameId(module * 1000 + at), module: Some(ModuleId(module)), address: at.into() };
        (0..count).map(frame).collect()
    }

    #[test]
    fn what_everybody_has_comes_first_and_a_user_whose_files_take_long_last() {
        let mut turns = Turns::default();
        let modules = [
            (4, Turn::OfUser(7)),
            (5, Turn::OfUser(7)),
            (6, Turn::OfUser(8)),
            (7, Turn::OfProcess(9)),
            (8, Turn::Believed),
            (9, Turn::OfMachine),
        ];
        for (module, turn) in modules {
            turns.add(ModuleId(module), frames(module, 3), || turn);
        }
        assert_eq!(turns.len(), 18);
        let mut order = Vec::new();
        while let Some((module, some)) = turns.next(2) {
            order.push((module.0, some.len()));
            turns.took(module, Nanos(if module.0 == 4 { 100 } else { 10 }));
        }
        let expected = [(9, 2), (9, 1), (8, 2), (8, 1), (4, 2), (6, 2), (7, 2), (6, 1), (7, 1), (4, 1), (5, 2), (5, 1)];
        assert_eq!(order, expected);
        assert!(turns.is_empty() && turns.first().is_none());
    }
}
