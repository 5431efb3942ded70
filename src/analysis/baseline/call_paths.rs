//! Merges current call paths and a baseline's into one tree, by name: a baseline stores nothing else of a function.

use crate::analysis::names::{CodeKind, SourceOwner};
use crate::analysis::sweep::{FunctionId, PathCost, Sums};
use crate::analysis::{CallTree, Names, Selection, SideCosts, StackCounts, Tasks, ThreadSet};
use crate::model::profile::Profile;
use crate::model::{Baseline, Unit};
use rustc_hash::FxHashMap;

/// The samples in the selected time.
pub(super) struct CurrentPaths {
    pub paths: Vec<PathCost>,
    /// Of all threads.
    pub weight: f64,
    /// Of all threads.
    pub samples: u64,
    /// Whether the call paths are those of some threads only.
    pub part: bool,
}

impl CurrentPaths {
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> Option<CurrentPaths> {
        let who = selection.who(tasks);
        let everybody = Selection { time: selection.time, axis: selection.axis, ..Selection::default() };
        let counts = StackCounts::of(profile, tasks, &everybody);
        let mut sums = Sums::default();
        counts.rows.iter().filter(|row| who.has(row.tid)).for_each(|row| sums.add_row(row));
        let (weight, samples) = (counts.weight as f64, counts.samples);
        let paths = sums.cost(profile, names, Unit::Nanos).paths;
        (weight > 0.0).then_some(CurrentPaths { paths, weight, samples, part: who != ThreadSet::All })
    }
}

/// Both sides as one tree. `now` scales current weights, `usual` those of the baseline.
pub(super) fn merged(
    current: &CurrentPaths,
    now: f64,
    baseline: &Baseline,
    usual: f64,
) -> CallTree<FunctionId, SideCosts> {
    let mut tree: CallTree<&str, SideCosts> = CallTree::default();
    // The identity of functions that were seen now.
    let mut known: FxHashMap<&str, &FunctionId> = FxHashMap::default();
    for path in &current.paths {
        path.frames.iter().for_each(|function| _ = known.entry(&function.name).or_insert(function));
        let node = tree.insert(path.frames.iter().map(|function| function.name.as_str()));
        add(&mut tree, node, SideCosts { cost: [0.0, path.weight * now], samples: [0, path.samples] });
    }
    for stack in &baseline.stacks {
        let node = tree.insert(stack.frames.iter().map(String::as_str));
        add(&mut tree, node, SideCosts { cost: [stack.cpu_ns * usual, 0.0], samples: [stack.samples.unwrap_or(0), 0] });
    }
    tree.map_functions(|name| known.get(name).map_or_else(|| named(name), |function| (*function).clone()))
}

fn add(tree: &mut CallTree<&str, SideCosts>, node: Option<u32>, own: SideCosts) {
    if let Some(node) = node.and_then(|node| tree.nodes.get_mut(node as usize)) {
        node.own += own;
    }
}

/// A function that is gone from the program is known only by name.
fn named(name: &str) -> FunctionId {
    let kind = if name.starts_with('[') { CodeKind::Heading } else { CodeKind::User };
    FunctionId { name: name.to_string(), module: String::new(), kind, inlined: false, source: SourceOwner::Unknown }
}
