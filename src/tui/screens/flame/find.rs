//! The cells that match a search, and their share of the whole.

use crate::view::flame_tree::FlameTree;

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchMatches {
    /// For each label: whether its name contains the text.
    labels: Vec<bool>,
    /// The share of matching cells, each stack counted once; `None` without a search.
    pub share: Option<f64>,
}

impl SearchMatches {
    /// Searches for a text; a capital letter makes the search case-sensitive.
    pub fn of(tree: &FlameTree, text: &str) -> SearchMatches {
        if text.is_empty() {
            return SearchMatches::default();
        }
        let exact = text.chars().any(char::is_uppercase);
        let holds = |name: &str| if exact { name.contains(text) } else { name.to_lowercase().contains(text) };
        let labels: Vec<bool> = tree.labels.iter().map(|label| holds(&label.text)).collect();
        let mut inside = vec![false; tree.nodes.len()];
        let mut sum = 0_u64;
        for (at, node) in tree.nodes.iter().enumerate() {
            let above = node.parent.is_some_and(|parent| inside[parent as usize]);
            let here = labels[node.label as usize];
            if here && !above {
                sum = sum.saturating_add(node.value);
            }
            inside[at] = above || here;
        }
        SearchMatches { labels, share: Some(tree.share(sum)) }
    }

    /// Whether a cell's name contains the text.
    pub fn has(&self, tree: &FlameTree, node: u32) -> bool {
        let label = tree.nodes.get(node as usize).map(|node| node.label as usize);
        label.and_then(|label| self.labels.get(label)).copied().unwrap_or(false)
    }
}
