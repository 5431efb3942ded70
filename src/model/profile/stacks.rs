//! The stacks of a profile in two words each: a machine's profile has millions.

use crate::model::{FrameId, StackDef, StackId};

/// Stacks by number.
#[derive(Debug, Clone, Default)]
pub struct Stacks(Vec<Node>);

#[derive(Debug, Clone, Copy)]
struct Node {
    frame: FrameId,
    /// The parent's number plus one; 0 for none.
    parent: u32,
}

impl Node {
    fn of(def: StackDef) -> Node {
        Node { frame: def.frame, parent: def.parent.map_or(0, |parent| parent.0.saturating_add(1)) }
    }

    fn def(self, number: usize) -> StackDef {
        StackDef { id: StackId(number as u32), parent: self.parent.checked_sub(1).map(StackId), frame: self.frame }
    }
}

impl Stacks {
    /// Number of stacks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stack by id; `None` if the stream never defined it.
    #[inline]
    #[must_use]
    pub fn get(&self, id: StackId) -> Option<StackDef> {
        self.0.get(id.0 as usize).map(|node| node.def(id.0 as usize))
    }

    /// The stack by id.
    ///
    /// # Panics
    /// The stream never defined it.
    #[inline]
    #[must_use]
    pub fn at(&self, id: StackId) -> StackDef {
        self.0[id.0 as usize].def(id.0 as usize)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = StackDef> + ExactSizeIterator + '_ {
        self.0.iter().enumerate().map(|(number, node)| node.def(number))
    }

    /// Adds a stack, which gets the next number.
    #[inline]
    pub fn push(&mut self, def: StackDef) {
        self.0.push(Node::of(def));
    }

    /// Drops the stacks that are not used, and changes the others, which keep their order.
    pub(super) fn keep(&mut self, used: &[bool], change: impl Fn(StackDef) -> StackDef) {
        let mut number = 0;
        self.0.retain_mut(|node| {
            *node = Node::of(change(node.def(number)));
            number += 1;
            used.get(number - 1) == Some(&true)
        });
        self.0.shrink_to_fit();
    }

    /// Memory, bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
