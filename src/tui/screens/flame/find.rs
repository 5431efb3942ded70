//! The cells that match a search, and their share of the whole.

use crate::view::flame_tree::FlameTree;

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// For each label: whether its name contains the text.
    labels: Vec<bool>,
    /// The share of matching cells, each stack counted once; `None` without a search.
    pub share: Option<f64>,
}

impl Found {
    /// Searches for a text; a capital letter makes the search case-sensitive.
    pub fn of(icicle: &FlameTree, text: &str) -> Found {
        if text.is_empty() {
            return Found::default();
        }
        let exact = text.chars().any(char::is_uppercase);
        let holds = |name: &str| if exact { name.contains(text) } else { name.to_lowercase().contains(text) };
        let labels: Vec<bool> = icicle.labels.iter().map(|label| holds(&label.text)).collect();
        let mut inside = vec![false; icicle.nodes.len()];
        let mut sum = 0_u64;
        for (at, node) in icicle.nodes.iter().enumerate() {
            let above = node.parent.is_some_and(|parent| inside[parent as usize]);
            let here = labels[node.label as usize];
            if here && !above {
                sum = sum.saturating_add(node.value);
            }
            inside[at] = above || here;
        }
        Found { labels, share: Some(icicle.share(sum)) }
    }

    /// Whether a cell's name contains the text.
    pub fn has(&self, icicle: &FlameTree, node: u32) -> bool {
        let label = icicle.nodes.get(node as usize).map(|node| node.label as usize);
        label.and_then(|label| self.labels.get(label)).copied().unwrap_or(false)
    }
}
