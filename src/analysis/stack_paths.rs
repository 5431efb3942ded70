//! Merges stacks into call paths: each call of the tree of stacks is looked up once, whatever the number of stacks
//! that pass through it.

use super::names::{Call, DEEPEST, Names};
use crate::model::StackId;
use crate::model::profile::Profile;

/// The ends of stacks in a tree of paths that the caller grows.
#[derive(Debug)]
pub(super) struct StackPaths<'a> {
    profile: &'a Profile,
    names: &'a Names,
    /// Where all paths begin.
    root: Option<u32>,
    /// By stack id; valid if of this generation.
    known: Vec<[u32; 3]>,
    generation: u32,
    /// Stacks on the way to a known one, innermost first.
    way: Vec<StackId>,
}

/// Positions in a known end.
const GENERATION: usize = 0;
const NODE: usize = 1;
const DEPTH: usize = 2;

impl<'a> StackPaths<'a> {
    pub fn of(profile: &'a Profile, names: &'a Names) -> StackPaths<'a> {
        let known = vec![[0; 3]; profile.stacks.len()];
        StackPaths { profile, names, root: None, known, generation: 1, way: Vec::new() }
    }

    /// Forgets all paths; the next ones begin below `root`.
    pub fn restart(&mut self, root: Option<u32>) {
        self.root = root;
        self.generation += 1;
    }

    /// The end of a stack's path; `None` without any address. `child` returns the path that continues another.
    pub fn end(&mut self, stack: Option<StackId>, mut child: impl FnMut(Option<u32>, Call) -> u32) -> Option<u32> {
        let (profile, names) = (self.profile, self.names);
        let (mut node, mut depth, mut outer) = (self.root, 0, None);
        let mut next = stack.filter(|id| (id.0 as usize) < profile.stacks.len());
        self.way.clear();
        while let Some(id) = next {
            let known = self.known[id.0 as usize];
            let def = profile.stacks[id.0 as usize];
            if known[GENERATION] == self.generation {
                (node, depth, outer) = (Some(known[NODE]), known[DEPTH], names.at(def.frame).first().copied());
                break;
            }
            self.way.push(id);
            next = def.parent;
        }
        if depth as usize + self.way.len() > DEEPEST {
            let calls: Vec<Call> = names.walk(profile, stack).collect();
            return calls.iter().rev().fold(self.root, |node, call| Some(child(node, *call)));
        }
        for id in self.way.drain(..).rev() {
            let calls = names.at(profile.stacks[id.0 as usize].frame);
            for call in calls.iter().rev().filter(|call| !call.faceless || outer != Some(**call)) {
                node = Some(child(node, *call));
            }
            outer = calls.first().copied().or(outer);
            depth += 1;
            if let Some(node) = node {
                self.known[id.0 as usize] = [self.generation, node, depth];
            }
        }
        (depth > 0).then_some(node).flatten()
    }
}
