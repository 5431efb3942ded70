//! Breaks sampled or blocked time down by names alone, so that the costs of two recordings can be compared: addresses,
//! processes and threads differ from run to run.

use super::types::{Cost, FunctionId, PathCost};
use crate::analysis::calltree::CallTree;
use crate::analysis::lock_calls::LockCalls;
use crate::analysis::names::{Call, CodeKind, Names, SourceOwner, short};
use crate::analysis::observe::Observation;
use crate::analysis::profile_tree::{TRUNCATED, UNKNOWN};
use crate::analysis::stack_counts::{StackCount, StackCounts};
use crate::analysis::stack_paths::StackPaths;
use crate::model::profile::Profile;
use crate::model::{LockCode, MICROSAMPLES, StackEnd, StackId, Unit};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Sums observations by stack.
#[derive(Debug, Default)]
pub(in crate::analysis) struct Sums {
    by_stack: FxHashMap<(Option<StackId>, bool), Sum>,
}

/// Weight and samples.
type Sum = (f64, u64);

impl Sums {
    /// Adds one observation; time in the run queue does not belong to its stack.
    pub fn add(&mut self, seen: &Observation) {
        let incomplete = matches!(seen.end, StackEnd::Truncated | StackEnd::Broken);
        let (weight, samples) = self.by_stack.entry((seen.stack, incomplete)).or_default();
        *weight += seen.weight as f64;
        *samples += 1;
    }

    /// The sums of counted observations.
    pub fn of(counts: &StackCounts) -> Sums {
        let mut sums = Sums::default();
        counts.rows.iter().for_each(|row| sums.add_row(row));
        sums
    }

    /// Adds the observations of a row.
    pub fn add_row(&mut self, row: &StackCount) {
        let (weight, samples) = self.by_stack.entry((row.stack, row.is_incomplete())).or_default();
        *weight += row.weight as f64;
        *samples += row.samples;
    }

    /// Names the stacks, and merges those of equal functions into one path. Stacks of the same calls are named once.
    pub fn cost(self, profile: &Profile, names: &Names, unit: Unit) -> Cost {
        self.cost_by(profile, names, unit, &LockCode::default())
    }

    /// The same, with the part of each path that a lock has.
    pub fn cost_by(self, profile: &Profile, names: &Names, unit: Unit, locks: &LockCode) -> Cost {
        // Sorted by stack: a hash map's order would show in the last digits of a sum.
        let mut stacks: Vec<_> = self.by_stack.into_iter().collect();
        stacks.sort_unstable_by_key(|(stack, _)| *stack);
        let mut tree: CallTree<(), ()> = CallTree::default();
        let mut ends = StackPaths::of(profile, names);
        let mut sums: BTreeMap<(Option<u32>, bool, Option<LockCalls>), Sum> = BTreeMap::new();
        for ((stack, incomplete), (weight, samples)) in stacks {
            let end = ends.end(stack, |parent, call| tree.child(parent, key(names, call)));
            let lock = LockCalls::of(profile, names, locks, stack);
            let sum = sums.entry((end, incomplete, lock)).or_default();
            *sum = (sum.0 + weight, sum.1 + samples);
        }
        drop(ends);
        let mut paths: BTreeMap<(Vec<FunctionId>, Option<LockCalls>), Sum> = BTreeMap::new();
        for ((end, incomplete, lock), (weight, samples)) in sums {
            let sum = paths.entry((frames(names, &tree, end, incomplete), lock)).or_default();
            *sum = (sum.0 + weight, sum.1 + samples);
        }
        let path = |((frames, lock), (weight, samples))| PathCost { frames, weight, samples, lock };
        let paths: Vec<PathCost> = paths.into_iter().map(path).collect();
        Cost {
            unit,
            samples: paths.iter().map(|path| path.samples).sum(),
            // An empty sum is a negative zero.
            weight: paths.iter().map(|path| path.weight).sum::<f64>() + 0.0,
            paths,
        }
    }
}

impl Cost {
    /// Millionths of samples as samples.
    pub(super) fn in_samples(mut self) -> Cost {
        if self.unit == Unit::Microsamples {
            self.unit = Unit::Samples;
            let parts = self.paths.iter_mut().map(|path| &mut path.weight);
            parts.chain([&mut self.weight]).for_each(|weight| *weight /= MICROSAMPLES as f64);
        }
        self
    }
}

/// What tells two calls apart: the function, and whether it was inlined.
fn key(names: &Names, call: Call) -> u32 {
    call.function << 1 | u32::from(names.is_inlined(call.label))
}

fn frames(names: &Names, tree: &CallTree<(), ()>, end: Option<u32>, incomplete: bool) -> Vec<FunctionId> {
    let calls = std::iter::successors(end, |node| tree.nodes[*node as usize].parent);
    let mut calls: Vec<_> = calls.map(|node| function(names, tree.nodes[node as usize].function)).collect();
    if calls.is_empty() {
        calls.push(heading(UNKNOWN));
    }
    if incomplete {
        calls.push(heading(TRUNCATED));
    }
    calls.reverse();
    calls
}

fn function(names: &Names, key: u32) -> FunctionId {
    let function = &names.functions[key as usize >> 1];
    FunctionId {
        name: function.name.clone(),
        module: short(&function.module).to_string(),
        kind: function.kind,
        inlined: key & 1 == 1,
        source: function.source,
    }
}

fn heading(text: &str) -> FunctionId {
    FunctionId {
        name: text.to_string(),
        module: String::new(),
        kind: CodeKind::Heading,
        inlined: false,
        source: SourceOwner::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::selection::Selection;
    use crate::analysis::tasks::Tasks;
    use crate::analysis::testing::Synthetic;

    fn paths(synthetic: Synthetic) -> Vec<(String, f64, u64)> {
        let profile = synthetic.finish();
        let counts = StackCounts::of(&profile, &Tasks::of(&profile), &Selection::default());
        let cost = Sums::of(&counts).cost(&profile, &Names::of(&profile), Unit::Nanos);
        assert_eq!(cost.weight, cost.paths.iter().map(|path| path.weight).sum::<f64>());
        let text = |path: &PathCost| path.frames.iter().map(|f| f.name.clone()).collect::<Vec<_>>().join(";");
        cost.paths.iter().map(|path| (text(path), path.weight, path.samples)).collect()
    }

    #[test]
    fn equal_functions_make_one_path_whatever_their_addresses_and_threads() {
        let mut synthetic = Synthetic::new();
        synthetic.weight = 10;
        synthetic.samples(0, 41, "/a/app!main;/a/app!work", 2).samples(0, 42, "/b/app!main;/b/app!work", 3);
        synthetic.samples(0, 41, "/a/app!main;/a/app!+0x40", 1).samples(0, 41, "/a/app!main;/a/app!+0x80", 1);
        let expected = [("main;[unresolved]".to_string(), 20.0, 2), ("main;work".to_string(), 50.0, 5)];
        assert_eq!(paths(synthetic), expected);
    }

    #[test]
    fn incomplete_stacks_stand_under_their_heading_and_none_is_one_too() {
        let mut synthetic = Synthetic::new();
        synthetic.ended(0, 41, "app!work", 2, StackEnd::Truncated).samples(0, 41, "", 1);
        let expected = [("[truncated stack];work".to_string(), 2.0, 2), ("[unknown]".to_string(), 1.0, 1)];
        assert_eq!(paths(synthetic), expected);
    }
}
