//! Builds a flame tree from a profile's call tree, and finds its cells in the tree of another time or recording.

use super::rates::FlameRates;
use super::tree::{FlameTree, Node, ReferenceTotals};
use crate::analysis::{CodeIpc, CodeRate, GroupKey, Label, PathRates, ProfileTree, RowRates};
use crate::view::code_ipc::step;
use crate::view::context::ViewContext;
use crate::view::labels::axis_of;
use crate::view::query::Grouping;
use rustc_hash::FxHashMap;

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
        if let Some(ipc) = CodeIpc::of(profile, tasks, selection) {
            let rates = RowRates::of(&ipc, profile, names, tasks, &[GroupKey::Function]);
            let paths = ipc.paths(names, by == Grouping::Threads);
            flame_tree.rates = Some(Box::new(flame_tree.rates_of(&rates, &paths)));
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
            rates: None,
            difference: None,
            nodes,
        };
        if let Some(before) = before {
            flame_tree.compare(before);
        }
        flame_tree
    }

    /// Stores the weights of another tree in the cells. Compare shares, not weights, because two recordings differ in
    /// length.
    fn compare(&mut self, other: &ProfileTree) {
        let sums = other.inclusive();
        let mut past = ReferenceTotals { total: 0, samples: 0 };
        for (_, sum) in other.nodes.iter().zip(&sums).filter(|(node, _)| node.parent.is_none()) {
            past.total = past.total.saturating_add(sum.weight);
            past.samples += sum.samples;
        }
        let there = self.find_in(other);
        for (node, found) in self.nodes.iter_mut().zip(there) {
            node.before = found.map_or(0, |found| sums[found as usize].weight);
        }
        self.past = Some(past);
    }

    /// The rates of the cells, from those of functions and of paths.
    fn rates_of(&self, functions: &RowRates, paths: &PathRates) -> FlameRates {
        let steps = |rate| {
            let known = functions.against_whole(rate);
            self.labels.iter().map(|label| known.get(label.text.as_str()).map(|ratio| step(*ratio))).collect()
        };
        let found = self.find_in(&paths.tree).into_iter();
        FlameRates {
            cpi: steps(CodeRate::Cpi),
            mpki: steps(CodeRate::Mpki),
            paths: found.map(|at| Some((*paths.rates.get(at? as usize)?).into())).collect(),
        }
    }

    /// The cells' paths in another tree. They are the same if all names from the root match.
    fn find_in(&self, other: &ProfileTree) -> Vec<Option<u32>> {
        let mut by_place: FxHashMap<(Option<u32>, &str, bool), u32> = FxHashMap::default();
        for (at, node) in other.nodes.iter().enumerate() {
            let label = &other.functions[node.function as usize];
            by_place.insert((node.parent, label.text.as_str(), label.inlined), at as u32);
        }
        let mut there: Vec<Option<u32>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let Label { text, inlined, .. } = &self.labels[node.label as usize];
            let find = |parent| by_place.get(&(parent, text.as_str(), *inlined)).copied();
            let parent = node.parent.map(|parent| there[parent as usize]);
            there.push(if parent == Some(None) { None } else { find(parent.flatten()) });
        }
        there
    }
}
