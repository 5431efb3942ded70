//! Rates of call paths: of the function at their end and everything that it calls there.

use super::{CodeIpc, Rates, Seen, Tally};
use crate::analysis::names::Names;
use crate::analysis::profile_tree::ProfileTree;
use crate::analysis::selection::{Axis, Selection};
use crate::analysis::stack_counts::StackCounts;
use crate::model::{StackEnd, StackId};
use rustc_hash::FxHashMap;

/// The call paths of all samples that tell something.
#[derive(Debug, Clone)]
pub struct PathRates {
    /// The paths.
    pub tree: ProfileTree,
    /// The rates of each.
    pub rates: Vec<Rates>,
}

impl CodeIpc<'_> {
    /// The rates of call paths, with headings for threads if these are asked for.
    #[must_use]
    pub fn paths(&self, names: &Names, threads: bool) -> PathRates {
        let mut rows = Vec::new();
        for event in self.roles.sampled() {
            let selection = Selection { axis: Axis::Event(event), ..self.selection.clone() };
            rows.extend(StackCounts::of(self.profile, self.tasks, &selection).rows);
        }
        let mut ends: FxHashMap<(u32, Option<StackId>, StackEnd), u32> = FxHashMap::default();
        let tree = ProfileTree::grow(self.profile, names, self.tasks, &rows, threads, |row, end| {
            ends.insert((row.tid, row.stack, row.end), end);
        });
        let samples = &self.profile.samples;
        let rates = self.of_tree(&tree, |at| ends.get(&(samples.tid[at], samples.stack[at], samples.end[at])).copied());
        PathRates { tree, rates }
    }

    /// The rates of each path of a tree; `end` gets a sample's index and returns the path that it ends.
    fn of_tree(&self, tree: &ProfileTree, end: impl Fn(usize) -> Option<u32>) -> Vec<Rates> {
        let mut tallies = vec![Tally::default(); tree.nodes.len()];
        let mut tally = |node: Option<u32>, add: &dyn Fn(&mut Tally)| {
            if let Some(tally) = node.and_then(|node| tallies.get_mut(node as usize)) {
                add(tally);
            }
        };
        self.visit(|seen| match seen {
            Seen::Own { at, place } => tally(end(at), &|tally| tally.add_own(place, self.profile.samples.weight[at])),
            Seen::Leader { at, before } => {
                let own = end(at);
                tally(own, &|tally| tally.add_sample(before.is_some()));
                // The interval belongs to the paths that both samples are on.
                let before = before.filter(|before| self.same_thread(*before, at)).and_then(&end);
                tally(shared(tree, before, own), &|tally| tally.add_interval(self.roles.carried(self.profile, at)));
            }
        });
        let mut all = 0;
        for at in (0..tallies.len()).rev() {
            let own = tallies[at];
            match tree.nodes[at].parent {
                Some(parent) => tallies[parent as usize] += own,
                None => all += own.samples,
            }
        }
        tallies.iter().map(|tally| self.rates(tally, all)).collect()
    }
}

/// The longest path that two begin with. A parent's index is lower than its child's.
fn shared(tree: &ProfileTree, one: Option<u32>, other: Option<u32>) -> Option<u32> {
    let (mut one, mut other) = (one?, other?);
    while one != other {
        let longer = if one > other { &mut one } else { &mut other };
        *longer = tree.nodes.get(*longer as usize)?.parent?;
    }
    Some(one)
}
