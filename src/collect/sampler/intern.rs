//! Assigns numbers to frames and stacks, so that a sample is a few words whatever its depth. It allocates only for new
//! ones, and only for up to [`MOST_STACKS`].

use super::event_queue::EventQueue;
use super::modules::KERNEL;
use crate::model::{Definition, Event, FrameDef, FrameId, ModuleId, StackDef, StackId, Symbol};
use rustc_hash::FxHashMap;

/// Limit of distinct stacks, some 50 MB here; programs have thousands. Beyond it, stacks end where they become new.
const MOST_STACKS: usize = 2 << 20;

/// Kernel functions known only by name get addresses below this, where no kernel code lies.
pub const NAMED_BELOW: u64 = 1 << 20;

/// Receives the definitions of new frames and stacks.
pub trait Definitions {
    /// Adds a definition.
    fn define(&mut self, definition: Definition);
}

impl Definitions for EventQueue {
    fn define(&mut self, definition: Definition) {
        self.push(Event::Define(definition));
    }
}

/// Frames and stacks seen so far.
#[derive(Debug, Default)]
pub struct Interner {
    frames: FxHashMap<FrameKey, FrameId>,
    /// The stacks by number.
    stacks: Vec<Node>,
    /// The stacks that are not the first child of their parent.
    further: FxHashMap<(Option<StackId>, FrameId), StackId>,
    /// Kernel functions known only by name.
    named: FxHashMap<String, u64>,
}

/// A stack: its innermost frame, and the stack that was first called from it. Most stacks are called from by one other
/// only, which a table of all pairs would store, and look up, at several times the cost.
#[derive(Debug, Clone, Copy)]
struct Node {
    frame: FrameId,
    first: Option<std::num::NonZero<u32>>,
}

/// Module and address in three words instead of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct FrameKey {
    module: u32,
    address: [u32; 2],
}

impl FrameKey {
    fn new(module: Option<ModuleId>, address: u64) -> FrameKey {
        FrameKey {
            module: module.map_or(u32::MAX, |module| module.0),
            address: [address as u32, (address >> 32) as u32],
        }
    }
}

impl Interner {
    /// The frame at `address` called from `parent`, and the stack they make; new ones are defined in the stream. `None`
    /// for a new one once the limit is reached.
    pub fn call(
        &mut self,
        parent: Option<StackId>,
        module: Option<ModuleId>,
        address: u64,
        out: &mut impl Definitions,
    ) -> Option<(FrameId, StackId)> {
        if self.stacks.len() >= MOST_STACKS {
            let frame = *self.frames.get(&FrameKey::new(module, address))?;
            return Some((frame, self.known(parent, frame)?));
        }
        let frame = self.frame(module, address, out);
        let stack = self.known(parent, frame).unwrap_or_else(|| self.add(parent, frame, out));
        Some((frame, stack))
    }

    /// The address that represents a kernel function known only by name.
    pub fn named(&mut self, function: &str, out: &mut impl Definitions) -> u64 {
        if let Some(address) = self.named.get(function) {
            return *address;
        }
        let address = (1 + self.named.len() as u64).min(NAMED_BELOW - 1);
        self.named.insert(function.to_string(), address);
        let frame = self.frame(Some(KERNEL), address, out);
        let symbol = Symbol { function: function.to_string(), file: None, line: None, inlined: false };
        out.define(Definition::Names { frame, symbols: vec![symbol] });
        address
    }

    fn frame(&mut self, module: Option<ModuleId>, address: u64, out: &mut impl Definitions) -> FrameId {
        let next = FrameId(self.frames.len() as u32);
        *self.frames.entry(FrameKey::new(module, address)).or_insert_with(|| {
            out.define(Definition::Frame(FrameDef { id: next, module, address }));
            next
        })
    }

    fn known(&self, parent: Option<StackId>, frame: FrameId) -> Option<StackId> {
        if let Some(parent) = parent {
            let first = self.node(parent)?.first?.get();
            if self.node(StackId(first)).is_some_and(|node| node.frame == frame) {
                return Some(StackId(first));
            }
        }
        self.further.get(&(parent, frame)).copied()
    }

    fn node(&self, stack: StackId) -> Option<&Node> {
        self.stacks.get(stack.0 as usize)
    }

    fn add(&mut self, parent: Option<StackId>, frame: FrameId, out: &mut impl Definitions) -> StackId {
        let next = StackId(self.stacks.len() as u32);
        self.stacks.push(Node { frame, first: None });
        // The first stack of all has no parent, so no child has number 0.
        match parent.and_then(|parent| self.stacks.get_mut(parent.0 as usize)) {
            Some(parent) if parent.first.is_none() => parent.first = std::num::NonZero::new(next.0),
            _ => drop(self.further.insert((parent, frame), next)),
        }
        out.define(Definition::Stack(StackDef { id: next, parent, frame }));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_one_number_and_defined_once_parents_first() {
        let (mut interner, mut out) = (Interner::default(), EventQueue::default());
        let mut walk = |addresses: &[u64]| {
            addresses
                .iter()
                .fold(None, |parent, address| interner.call(parent, None, *address, &mut out).map(|(_, stack)| stack))
        };
        let (a, b, again) = (walk(&[1, 2, 3]), walk(&[1, 2, 4]), walk(&[1, 2, 3]));
        assert!(a == again && a != b);
        let stacks: Vec<_> = out
            .take()
            .into_iter()
            .filter_map(|event| if let Event::Define(Definition::Stack(def)) = event { Some(def) } else { None })
            .collect();
        assert_eq!(stacks.len(), 4);
        for (at, def) in stacks.iter().enumerate() {
            assert!(def.id.0 as usize == at && def.parent.is_none_or(|parent| parent < def.id), "{def:?}");
        }
    }

    #[test]
    fn beyond_the_bound_only_what_is_known_has_a_number() {
        let (mut interner, mut out) = (Interner::default(), EventQueue::default());
        let first = interner.call(None, None, 1, &mut out);
        for address in 2..=MOST_STACKS as u64 {
            interner.call(None, None, address, &mut out);
            if address % 4096 == 0 {
                out.take();
            }
        }
        assert_eq!(interner.call(None, None, u64::MAX, &mut out), None);
        assert_eq!(interner.call(None, None, 1, &mut out), first);
    }
}
