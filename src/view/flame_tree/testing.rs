//! Call trees from folded stacks, for tests.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::FlameTree;
use crate::analysis::{CallTree, CodeKind, Label, Node};

/// The tree of `a;b 10 a;c 5`, compared with another one. Names in brackets are headings, names that begin with `k_`
/// are kernel code, with `j_` JIT code, and names that end with `'` are inlined.
pub fn flame_tree(folded: &str, before: Option<&str>) -> FlameTree {
    FlameTree::build(&tree(folded), before.map(tree).as_ref(), "ns")
}

fn tree(folded: &str) -> CallTree {
    let mut tree = CallTree::default();
    let words: Vec<_> = folded.split(' ').collect();
    // A name may contain a space inside brackets: `[p 1];main 5`.
    let mut stack = String::new();
    for word in words {
        match word.parse::<u64>() {
            Ok(weight) if !stack.contains('[') || stack.contains(']') => {
                insert(&mut tree, &stack, weight);
                stack.clear();
            }
            _ => {
                stack.push_str(if stack.is_empty() { "" } else { " " });
                stack.push_str(word);
            }
        }
    }
    tree
}

fn insert(tree: &mut CallTree, stack: &str, weight: u64) {
    let mut at: Option<u32> = None;
    for name in stack.split(';') {
        let label = label(tree, name);
        let found = tree.nodes.iter().position(|node| node.parent == at && node.label == label);
        at = Some(found.unwrap_or_else(|| {
            tree.nodes.push(Node { parent: at, label, self_weight: 0, self_samples: 0 });
            tree.nodes.len() - 1
        }) as u32);
    }
    let leaf = &mut tree.nodes[at.unwrap() as usize];
    (leaf.self_weight, leaf.self_samples) = (leaf.self_weight + weight, leaf.self_samples + weight);
}

fn label(tree: &mut CallTree, name: &str) -> u32 {
    let kind = match name {
        _ if name.starts_with('[') => CodeKind::Heading,
        _ if name.starts_with("k_") => CodeKind::Kernel,
        _ if name.starts_with("j_") => CodeKind::Jit,
        _ => CodeKind::User,
    };
    let label = Label { text: name.trim_end_matches('\'').to_string(), kind, inlined: name.ends_with('\'') };
    let known = tree.labels.iter().position(|other| *other == label);
    known.unwrap_or_else(|| {
        tree.labels.push(label);
        tree.labels.len() - 1
    }) as u32
}
