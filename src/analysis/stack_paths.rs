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
    known: Vec<End>,
    generation: u32,
    /// Stacks on the way to a known one, innermost first.
    way: Vec<StackId>,
}

/// The end of a stack in the tree.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    node: u32,
    /// When it was found, and how many stacks deep.
    age: u32,
}

/// Bits of the depth, which is at most [`DEEPEST`].
const DEPTH_BITS: u32 = DEEPEST.ilog2() + 1;

impl End {
    fn generation(self) -> u32 {
        self.age >> DEPTH_BITS
    }

    fn depth(self) -> u32 {
        self.age & ((1 << DEPTH_BITS) - 1)
    }
}

impl<'a> StackPaths<'a> {
    pub fn of(profile: &'a Profile, names: &'a Names) -> StackPaths<'a> {
        let known = vec![End::default(); profile.stacks.len()];
        StackPaths { profile, names, root: None, known, generation: 1, way: Vec::new() }
    }

    /// Forgets all paths; the next ones begin below `root`.
    pub fn restart(&mut self, root: Option<u32>) {
        self.root = root;
        self.generation += 1;
        if self.generation >> (u32::BITS - DEPTH_BITS) != 0 {
            self.known.fill(End::default());
            self.generation = 1;
        }
    }

    /// The end of a stack's path; `None` without any address. `child` returns the path that continues another.
    pub fn end(&mut self, stack: Option<StackId>, mut child: impl FnMut(Option<u32>, Call) -> u32) -> Option<u32> {
        let (profile, names) = (self.profile, self.names);
        let (mut node, mut depth, mut outer, mut caller) = (self.root, 0, None, None);
        let mut next = stack.filter(|id| (id.0 as usize) < profile.stacks.len());
        self.way.clear();
        while let Some(id) = next {
            let known = self.known[id.0 as usize];
            let def = profile.stacks.at(id);
            if known.generation() == self.generation {
                (node, depth, outer) = (Some(known.node), known.depth(), names.at(def.frame).first().copied());
                caller = Some(def.frame);
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
            let frame = profile.stacks.at(id).frame;
            let calls = names.at(frame);
            if let Some(call) = caller.and_then(|caller| names.tail_call(caller, frame)) {
                node = Some(child(node, call));
            }
            for call in calls.iter().rev().filter(|call| !call.faceless || outer != Some(**call)) {
                node = Some(child(node, *call));
            }
            outer = calls.first().copied().or(outer);
            caller = Some(frame);
            depth += 1;
            if let Some(node) = node {
                self.known[id.0 as usize] = End { node, age: self.generation << DEPTH_BITS | depth };
            }
        }
        (depth > 0).then_some(node).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::ProfileBuilder;
    use crate::model::{CallGraph, FrameDef, FrameId, Meta, Plan, Rate, StackDef, Target};

    #[test]
    fn ends_are_found_anew_after_every_restart_however_many_there_were() {
        let plan = Plan::new(Target::Cpus { cpus: vec![] }, Rate::Frequency(997), CallGraph::Auto);
        let mut builder = ProfileBuilder::new(Meta::new((1, 0), plan));
        for number in 0..3 {
            builder.add_frame(FrameDef { id: FrameId(number), module: None, address: u64::from(number) });
            let parent = number.checked_sub(1).map(StackId);
            builder.add_stack(StackDef { id: StackId(number), parent, frame: FrameId(number) });
        }
        let names = Names::of(builder.profile());
        let mut paths = StackPaths::of(builder.profile(), &names);
        for start in [1, 1 << (u32::BITS - DEPTH_BITS - 1), (1 << (u32::BITS - DEPTH_BITS)) - 2] {
            paths.generation = start;
            for _ in 0..4 {
                let mut asked = 0;
                let mut child = |parent: Option<u32>, _: Call| {
                    asked += 1;
                    parent.map_or(100, |parent| parent + 1)
                };
                // Addresses outside every mapping are one path.
                let ends = [2, 1, 2].map(|id| paths.end(Some(StackId(id)), &mut child));
                assert_eq!((ends, asked), ([Some(100); 3], 1), "{start}");
                paths.restart(None);
            }
        }
    }
}
