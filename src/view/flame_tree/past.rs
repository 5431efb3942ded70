//! Matches the cells of a call tree with those of another one: cells are the same if all names from the root match.
//! Compare shares, not the stored weights, because two recordings differ in length.

use super::{FlameTree, Label, Past, inclusive};
use crate::analysis::CallTree;
use rustc_hash::FxHashMap;

/// Stores the other tree's weights in the cells.
pub(super) fn compare(flame_tree: &mut FlameTree, other: &CallTree) {
    let (values, samples) = inclusive(other);
    let mut by_place: FxHashMap<(Option<u32>, &str, bool), u32> = FxHashMap::default();
    let mut past = Past { total: 0, samples: 0 };
    for (at, node) in other.nodes.iter().enumerate() {
        let label = &other.labels[node.label as usize];
        by_place.insert((node.parent, label.text.as_str(), label.inlined), at as u32);
        if node.parent.is_none() {
            past.total = past.total.saturating_add(values[at]);
            past.samples += samples[at];
        }
    }
    let mut there: Vec<Option<u32>> = Vec::with_capacity(flame_tree.nodes.len());
    for at in 0..flame_tree.nodes.len() {
        let node = flame_tree.nodes[at];
        let Label { text, inlined, .. } = &flame_tree.labels[node.label as usize];
        let above = node.parent.map(|parent| there[parent as usize]);
        let found = match above {
            Some(None) => None,
            Some(parent) => by_place.get(&(parent, text.as_str(), *inlined)).copied(),
            None => by_place.get(&(None, text.as_str(), *inlined)).copied(),
        };
        there.push(found);
        flame_tree.nodes[at].before = found.map_or(0, |found| values[found as usize]);
    }
    flame_tree.past = Some(past);
}
