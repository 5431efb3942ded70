//! Builds a flame tree from a profile's call tree, and finds its cells in the tree of another time or recording.

use super::tree::{FlameTree, Node, ReferenceTotals};
use crate::analysis::{CodeIpc, Label, ProfileTree};
use crate::view::context::ViewContext;
use crate::view::labels::axis_of;
use crate::view::query::Grouping;
use rustc_hash::FxHashMap;

/// A ratio as a step from -2 to 2: twice as much is much more, a fifth is within what code differs by anyway.
fn slowness_step(ratio: f64) -> i8 {
    match ratio {
        ratio if ratio >= 2.0 => 2,
        ratio if ratio >= 1.2 => 1,
        ratio if ratio <= 0.5 => -2,
        ratio if ratio <= 1.0 / 1.2 => -1,
        _ => 0,
    }
}

impl FlameTree {
    /// The call tree of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>, by: Grouping) -> FlameTree {
        let grow = |context: &ViewContext<'_>| {
            let ViewContext { profile, names, tasks, .. } = context;
            match by {
                Grouping::Plain => ProfileTree::of(profile, names, tasks, context.counts()),
                Grouping::Threads => ProfileTree::by_thread(profile, names, tasks, context.counts()),
            }
        };
        let (tree, before) = (grow(context), context.reference.as_deref().map(grow));
        let unit = axis_of(&context.profile.meta, context.selection.axis).1;
        let mut flame_tree = FlameTree::build(&tree, before.as_ref(), unit);
        let ViewContext { profile, names, tasks, selection, .. } = context;
        if let Some(code_ipc) = CodeIpc::of(profile, names, tasks, selection) {
            let known = code_ipc.slowness();
            let step = |label: &Label| known.get(label.text.as_str()).map(|ratio| slowness_step(*ratio));
            flame_tree.slowness = flame_tree.labels.iter().map(step).collect();
        }
        flame_tree
    }

    pub(super) fn build(tree: &ProfileTree, before: Option<&ProfileTree>, unit: &'static str) -> FlameTree {
        let sums = tree.inclusive();
        let (places, roots) = tree.breadth_first(|_| true, Label::cmp);
        let node = |place: &crate::analysis::Place| {
            let (node, sum) = (&tree.nodes[place.node as usize], sums[place.node as usize]);
            Node {
                parent: place.parent,
                label: node.function,
                first_child: place.first_child,
                children: place.children,
                value: sum.weight,
                own: node.own.weight,
                samples: sum.samples,
                before: 0,
            }
        };
        let nodes: Vec<Node> = places.iter().map(node).collect();
        let total = nodes.iter().take(roots as usize);
        let mut flame_tree = FlameTree {
            labels: tree.functions.clone(),
            roots,
            unit,
            total: total.clone().fold(0, |sum, root| sum.saturating_add(root.value)),
            samples: total.map(|root| root.samples).sum(),
            past: None,
            slowness: Vec::new(),
            difference: None,
            nodes,
        };
        if let Some(before) = before {
            flame_tree.compare(before);
        }
        flame_tree
    }

    /// Stores the weights of another tree in the cells. Cells are the same if all names from the root match.
    /// Compare shares, not weights, because two recordings differ in length.
    fn compare(&mut self, other: &ProfileTree) {
        let sums = other.inclusive();
        let mut by_place: FxHashMap<(Option<u32>, &str, bool), u32> = FxHashMap::default();
        let mut past = ReferenceTotals { total: 0, samples: 0 };
        for (at, node) in other.nodes.iter().enumerate() {
            let label = &other.functions[node.function as usize];
            by_place.insert((node.parent, label.text.as_str(), label.inlined), at as u32);
            if node.parent.is_none() {
                past.total = past.total.saturating_add(sums[at].weight);
                past.samples += sums[at].samples;
            }
        }
        let mut there: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        for at in 0..self.nodes.len() {
            let node = self.nodes[at];
            let Label { text, inlined, .. } = &self.labels[node.label as usize];
            let found = match node.parent.map(|parent| there[parent as usize]) {
                Some(None) => None,
                Some(parent) => by_place.get(&(parent, text.as_str(), *inlined)).copied(),
                None => by_place.get(&(None, text.as_str(), *inlined)).copied(),
            };
            there.push(found);
            self.nodes[at].before = found.map_or(0, |found| sums[found as usize].weight);
        }
        self.past = Some(past);
    }
}
