//! Which cells a search means, and how much of all they are. It never moves the selection.

use crate::view::icicle::Icicle;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// By label: whether its name holds the text.
    labels: Vec<bool>,
    /// Part of all that lies in such cells, each stack counted once; `None` without a search.
    pub share: Option<f64>,
}

impl Found {
    /// Searches for a text; a capital in it makes the case matter.
    pub fn of(icicle: &Icicle, text: &str) -> Found {
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

    /// Whether a cell's name holds the text.
    pub fn has(&self, icicle: &Icicle, node: u32) -> bool {
        let label = icicle.nodes.get(node as usize).map(|node| node.label as usize);
        label.and_then(|label| self.labels.get(label)).copied().unwrap_or(false)
    }
}
