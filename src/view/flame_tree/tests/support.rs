//! Call trees from folded stacks, for tests.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::FlameTree;
use crate::analysis::{CodeKind, Label, ProfileTree, Weight};

/// The tree of `a;b 10 a;c 5`, compared with another one. Names in brackets are headings, names that begin with `k_`
/// are kernel code, with `j_` JIT code, and names that end with `'` are inlined.
pub fn flame_tree(folded: &str, before: Option<&str>) -> FlameTree {
    FlameTree::build(&tree(folded), before.map(tree).as_ref(), "ns")
}

fn tree(folded: &str) -> ProfileTree {
    let mut tree = ProfileTree::default();
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

fn insert(tree: &mut ProfileTree, stack: &str, weight: u64) {
    let leaf = tree.insert(stack.split(';').map(label)).unwrap();
    tree.nodes[leaf as usize].own += Weight { weight, samples: weight };
}

fn label(name: &str) -> Label {
    let kind = match name {
        _ if name.starts_with('[') => CodeKind::Heading,
        _ if name.starts_with("k_") => CodeKind::Kernel,
        _ if name.starts_with("j_") => CodeKind::Jit,
        _ => CodeKind::User,
    };
    Label { text: name.trim_end_matches('\'').to_string(), kind, inlined: name.ends_with('\'') }
}
