//! The stacks of a selection as a tree of calls, visited depth first: what depends on a call path is computed once per
//! call, not once per stack and call.

use super::names::{Call, Names};
use super::stack_counts::StackCounts;
use crate::model::profile::Profile;
use crate::model::{FrameId, StackId};

/// The distinct stacks of a selection, and their place in the tree of all stacks.
#[derive(Debug)]
pub(super) struct StackTree<'a> {
    profile: &'a Profile,
    names: &'a Names,
    /// The distinct stacks.
    pub stacks: Vec<StackId>,
    /// The stack of each row of the counts: index into `stacks`; `None` without any address.
    pub stack_of: Vec<Option<u32>>,
    /// By stack id. Memory of stacks outside the selection is never touched.
    links: Vec<[u32; 3]>,
    root: u32,
}

/// Positions in a link. Each value is an index plus one; 0 means none.
const CHILD: usize = 0;
const SIBLING: usize = 1;
const OWN: usize = 2;
/// In place of the next sibling: there is none, but the stack is part of the tree.
const LAST: u32 = u32::MAX;

/// What is computed along the paths of a tree.
pub(super) trait Visit {
    /// The path continues with the calls of one frame, innermost first, or with a tail call; none if the frame repeats its
    /// caller.
    fn enter(&mut self, calls: &[Call]);
    /// A stack of the selection ends here: index into [`StackTree::stacks`].
    fn end(&mut self, stack: usize);
    /// The path loses these calls again.
    fn leave(&mut self, calls: &[Call]);
}

/// Both are computed in one visit.
impl<A: Visit, B: Visit> Visit for (A, B) {
    #[inline]
    fn enter(&mut self, calls: &[Call]) {
        self.0.enter(calls);
        self.1.enter(calls);
    }

    #[inline]
    fn end(&mut self, stack: usize) {
        self.0.end(stack);
        self.1.end(stack);
    }

    #[inline]
    fn leave(&mut self, calls: &[Call]) {
        self.0.leave(calls);
        self.1.leave(calls);
    }
}

struct Open<'a> {
    id: u32,
    /// Before the calls.
    tail_call: Option<Call>,
    calls: &'a [Call],
    innermost: Option<Call>,
}

impl<'a> StackTree<'a> {
    pub fn of(profile: &'a Profile, names: &'a Names, counts: &StackCounts) -> StackTree<'a> {
        let mut tree = StackTree {
            profile,
            names,
            stacks: Vec::new(),
            stack_of: Vec::with_capacity(counts.rows.len()),
            links: vec![[0; 3]; profile.stacks.len()],
            root: LAST,
        };
        for row in &counts.rows {
            let known = row.stack.filter(|id| (id.0 as usize) < profile.stacks.len());
            let own = known.map(|id| tree.own(id));
            tree.stack_of.push(own);
        }
        tree
    }

    fn own(&mut self, id: StackId) -> u32 {
        let own = &mut self.links[id.0 as usize][OWN];
        if *own == 0 {
            self.stacks.push(id);
            *own = self.stacks.len() as u32;
            self.link(id);
        }
        self.links[id.0 as usize][OWN] - 1
    }

    /// Links a stack and those of its callers that are not part of the tree yet.
    fn link(&mut self, id: StackId) {
        let mut next = Some(id);
        while let Some(id) = next.filter(|id| self.links[id.0 as usize][SIBLING] == 0) {
            next = self.profile.stacks.at(id).parent;
            let first = match next {
                Some(parent) => &mut self.links[parent.0 as usize][CHILD],
                None => &mut self.root,
            };
            let sibling = std::mem::replace(first, id.0 + 1);
            self.links[id.0 as usize][SIBLING] = if sibling == 0 { LAST } else { sibling };
        }
    }

    /// Visits every path of the tree.
    pub fn visit(&self, visitor: &mut impl Visit) {
        let mut open: Vec<Open<'_>> = Vec::new();
        let mut next = self.root;
        loop {
            if next != 0 && next != LAST {
                let id = next - 1;
                let outer = open.last().and_then(|open| open.innermost);
                let tail_call = open.last().and_then(|open| self.names.tail_call(self.frame(open.id), self.frame(id)));
                if let Some(call) = &tail_call {
                    visitor.enter(std::slice::from_ref(call));
                }
                let calls = self.calls(id, outer);
                visitor.enter(calls);
                let [child, _, own] = self.links[id as usize];
                if own != 0 {
                    visitor.end(own as usize - 1);
                }
                open.push(Open { id, tail_call, calls, innermost: calls.first().copied().or(outer) });
                next = child;
            } else if let Some(done) = open.pop() {
                visitor.leave(done.calls);
                if let Some(call) = &done.tail_call {
                    visitor.leave(std::slice::from_ref(call));
                }
                next = self.links[done.id as usize][SIBLING];
            } else {
                return;
            }
        }
    }

    /// The calls of a stack's innermost frame; a run of faceless frames counts as one.
    #[inline]
    fn calls(&self, id: u32, outer: Option<Call>) -> &'a [Call] {
        match self.names.at(self.frame(id)) {
            [call] if call.faceless && outer == Some(*call) => &[],
            calls => calls,
        }
    }

    /// The innermost frame of a stack.
    #[inline]
    fn frame(&self, id: u32) -> FrameId {
        self.profile.stacks.at(StackId(id)).frame
    }
}
