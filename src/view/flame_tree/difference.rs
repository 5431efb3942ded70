//! Builds a flame tree from the difference of two call trees.

use super::tree::{FlameTree, Node};
use crate::analysis::Label;
use crate::view::diff_flamegraph::DiffFlameGraph;
use rustc_hash::FxHashMap;

/// Total weight of all cells: fine enough for a millionth of a cell.
const WHOLE: f64 = 1e12;

impl FlameTree {
    /// The flame tree of a difference. Its nodes have the order of the difference's cells.
    #[must_use]
    pub fn of_difference(difference: DiffFlameGraph) -> FlameTree {
        let cells = &difference.cells;
        let mut numbers: FxHashMap<Label, u32> = FxHashMap::default();
        let mut labels = Vec::new();
        let mut number = |label: Label| {
            *numbers.entry(label.clone()).or_insert_with(|| {
                labels.push(label);
                labels.len() as u32 - 1
            })
        };
        let mut nodes: Vec<Node> = Vec::with_capacity(cells.len());
        for cell in cells {
            let function = &cell.function;
            let label = Label { text: function.name.clone(), kind: function.kind, inlined: function.inlined };
            nodes.push(Node {
                parent: cell.parent,
                label: number(label),
                first_child: cell.first_child,
                children: cell.children,
                value: 0,
                own: own(&difference, cell.first_child, cell.children, cell.width),
                samples: 0,
                before: 0,
            });
        }
        // Children come after their parents.
        for at in (0..nodes.len()).rev() {
            nodes[at].value = nodes[at].value.saturating_add(nodes[at].own);
            let Node { parent, value, .. } = nodes[at];
            if let Some(parent) = parent.and_then(|parent| nodes.get_mut(parent as usize)) {
                parent.value = parent.value.saturating_add(value);
            }
        }
        FlameTree {
            labels,
            total: nodes.iter().take(difference.roots as usize).fold(0, |sum, node| sum.saturating_add(node.value)),
            roots: difference.roots,
            unit: difference.unit,
            samples: difference.samples[1],
            rates: None,
            past: None,
            nodes,
            difference: Some(Box::new(difference)),
        }
    }

    /// Whether cells carry changes.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.past.is_some() || self.difference.is_some()
    }

    /// How a cell changed, from -2 (much less) to 2 (much more); `None` without a comparison.
    #[must_use]
    pub fn step(&self, node: u32) -> Option<i8> {
        match &self.difference {
            Some(difference) => difference.cells.get(node as usize).map(|cell| cell.step),
            None => self.change(node).map(|change| change.step),
        }
    }
}

/// The part of a cell's width that none of its children covers.
fn own(difference: &DiffFlameGraph, first: u32, count: u32, width: f64) -> u64 {
    let below = difference.cells.iter().skip(first as usize).take(count as usize).map(|cell| cell.width).sum::<f64>();
    if difference.width > 0.0 { ((width - below).max(0.0) / difference.width * WHOLE).round() as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::diff_flamegraph::CostAxis;
    use crate::view::sweep::difference;
    use crate::view::sweep::fixture::{self, Machine};

    #[test]
    fn cells_are_as_wide_as_the_larger_cost_and_lie_within_their_callers() {
        let points = fixture::analysis(Machine::Clock).points;
        let difference = difference(&points[0], &points[6], CostAxis::Cpu).expect("both have operations");
        let flame_tree = FlameTree::of_difference(difference.clone());
        assert_eq!((flame_tree.nodes.len(), flame_tree.is_compared()), (difference.cells.len(), true));
        for (at, node) in flame_tree.nodes.iter().enumerate() {
            let cell = &difference.cells[at];
            assert_eq!(flame_tree.label(at as u32).map(|label| &label.text), Some(&cell.function.name));
            let below: u64 =
                flame_tree.below(Some(at as u32)).map(|child| flame_tree.nodes[child as usize].value).sum();
            assert_eq!(node.value, node.own + below);
            assert!((flame_tree.share(node.value) - cell.width / difference.width).abs() < 1e-9);
            assert_eq!(flame_tree.step(at as u32), Some(cell.step));
        }
        assert!(flame_tree.find(&["fast_path_alone".to_string()]).is_some(), "what is gone is still there");
    }
}
