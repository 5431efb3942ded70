//! Assigns numbers to frames and stacks, so that a sample is a few words whatever its depth. It allocates only for new
//! ones, and only for up to [`MOST_STACKS`]. A live capture begins anew at [`NEWEST`], so that it may run without end.

use super::event_queue::EventQueue;
use super::modules::KERNEL;
use crate::model::profile::Newest;
use crate::model::{Definition, Event, FrameDef, FrameId, ModuleId, StackDef, StackId, Symbol};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};

/// Limit of distinct stacks, some 200 MB here; programs have thousands, an import of a whole machine's compilers has
/// millions. Beyond it, stacks end where they become new.
const MOST_STACKS: usize = 8 << 20;

/// A live capture keeps this many in its tables, some 10 MB. Beyond it, all are defined again under new numbers as they
/// come: no event refers to a stack or frame with as many newer ones, except for threads that have waited since then.
pub const NEWEST: Newest = Newest { frames: 112 << 10, stacks: 448 << 10 };

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
    /// The stacks by number, from the first one since the tables began anew.
    stacks: Vec<Node>,
    /// Frames and stacks defined before that.
    frames_before: u32,
    stacks_before: u32,
    /// The stacks that are not the first child of their parent.
    further: FxHashMap<CallKey, StackId>,
    /// Kernel functions known only by name.
    named: FxHashMap<String, u64>,
    most: MostStacks,
}

#[derive(Debug)]
struct MostStacks(usize);

impl Default for MostStacks {
    fn default() -> MostStacks {
        MostStacks(MOST_STACKS)
    }
}

/// A stack: its innermost frame, and the stack that was first called from it. Most stacks are called from by one other
/// only, which a table of all pairs would store, and look up, at several times the cost.
#[derive(Debug, Clone, Copy)]
struct Node {
    frame: FrameId,
    first: Option<std::num::NonZero<u32>>,
}

/// Module and address in three words instead of four, hashed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameKey {
    module: u32,
    low: u32,
    high: u32,
}

impl Hash for FrameKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let address = u64::from(self.high) << 32 | u64::from(self.low);
        state.write_u64(address ^ u64::from(self.module).rotate_left(44));
    }
}

/// Parent and frame in two words, hashed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CallKey {
    /// The parent's number plus one; 0 for none.
    parent: u32,
    frame: u32,
}

impl Hash for CallKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.parent) << 32 | u64::from(self.frame));
    }
}

impl CallKey {
    fn new(parent: Option<StackId>, frame: FrameId) -> CallKey {
        CallKey { parent: parent.map_or(0, |parent| parent.0.wrapping_add(1)), frame: frame.0 }
    }
}

impl FrameKey {
    fn new(module: Option<ModuleId>, address: u64) -> FrameKey {
        let module = module.map_or(u32::MAX, |module| module.0);
        FrameKey { module, low: address as u32, high: (address >> 32) as u32 }
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
        if self.stacks.len() >= self.most.0 {
            let frame = *self.frames.get(&FrameKey::new(module, address))?;
            return Some((frame, self.known(parent, frame)?));
        }
        let frame = self.frame(module, address, out);
        let stack = self.known(parent, frame).unwrap_or_else(|| self.add(parent, frame, out));
        Some((frame, stack))
    }

    /// Begins anew once there are more than `newest`; true if it did. Call it between two stacks.
    pub fn renew_beyond(&mut self, newest: Newest) -> bool {
        let full = self.frames.len() >= newest.frames || self.stacks.len() >= newest.stacks;
        if full {
            self.frames_before = self.frames_before.wrapping_add(self.frames.len() as u32);
            self.stacks_before = self.stacks_before.wrapping_add(self.stacks.len() as u32);
            self.frames.clear();
            self.stacks.clear();
            self.further.clear();
        }
        full
    }

    /// The address that represents a kernel function known only by name.
    pub fn named(&mut self, function: &str, out: &mut impl Definitions) -> u64 {
        let known = self.named.get(function).copied();
        let address = known.unwrap_or_else(|| (1 + self.named.len() as u64).min(NAMED_BELOW - 1));
        if known.is_none() {
            self.named.insert(function.to_string(), address);
        } else if self.frames.contains_key(&FrameKey::new(Some(KERNEL), address)) {
            return address;
        }
        let frame = self.frame(Some(KERNEL), address, out);
        out.define(Definition::Names { frame, symbols: vec![Symbol::named(function)] });
        address
    }

    fn frame(&mut self, module: Option<ModuleId>, address: u64, out: &mut impl Definitions) -> FrameId {
        let next = FrameId(self.frames_before.wrapping_add(self.frames.len() as u32));
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
        self.further.get(&CallKey::new(parent, frame)).copied()
    }

    fn node(&self, stack: StackId) -> Option<&Node> {
        self.stacks.get(stack.0.checked_sub(self.stacks_before)? as usize)
    }

    fn add(&mut self, parent: Option<StackId>, frame: FrameId, out: &mut impl Definitions) -> StackId {
        let next = StackId(self.stacks_before.wrapping_add(self.stacks.len() as u32));
        self.stacks.push(Node { frame, first: None });
        // The first stack of all has no parent, so no child has number 0.
        let known = parent.and_then(|parent| parent.0.checked_sub(self.stacks_before));
        match known.and_then(|parent| self.stacks.get_mut(parent as usize)) {
            Some(parent) if parent.first.is_none() => parent.first = std::num::NonZero::new(next.0),
            _ => drop(self.further.insert(CallKey::new(parent, frame), next)),
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
    fn a_stack_seen_again_after_the_tables_began_anew_is_defined_again_and_its_kernel_names_with_it() {
        let (mut interner, mut out) = (Interner::default(), EventQueue::default());
        let newest = Newest { frames: 3, stacks: 5 };
        let mut walked = Vec::new();
        for turn in 0..40_u64 {
            interner.renew_beyond(newest);
            let kernel = interner.named("do_wait", &mut out);
            let first = interner.call(None, None, 70 + turn % 2, &mut out).map(|(_, stack)| stack);
            walked.push((interner.call(first, Some(KERNEL), kernel, &mut out), 70 + turn % 2));
        }
        let mut builder = crate::model::profile::ProfileBuilder::new(crate::model::Meta::new(
            (1, 0),
            crate::model::Plan::new(
                crate::model::Target::Cpus { cpus: vec![] },
                crate::model::Rate::Frequency(1),
                crate::model::CallGraph::Auto,
            ),
        ));
        out.take().into_iter().for_each(|event| builder.apply(event));
        let profile = builder.profile();
        assert_eq!(builder.rejected(), 0, "numbers go on");
        for (called, address) in walked {
            let frames: Vec<_> = profile.walk(called.map(|(_, stack)| stack)).collect();
            let addresses: Vec<_> = frames.iter().filter_map(|id| profile.frame(*id)).map(|def| def.address).collect();
            assert_eq!(addresses, [1, address]);
            assert_eq!(profile.names_at(frames[0])[0].function, "do_wait");
        }
        assert!(profile.stacks.len() > 40 && interner.stacks.len() <= newest.stacks + 2);
    }

    #[test]
    fn beyond_the_bound_only_what_is_known_has_a_number() {
        let mut interner = Interner { most: MostStacks(1000), ..Interner::default() };
        let mut out = EventQueue::default();
        let first = interner.call(None, None, 1, &mut out);
        for address in 2..=1000 {
            assert!(interner.call(None, None, address, &mut out).is_some());
        }
        assert_eq!(interner.call(None, None, u64::MAX, &mut out), None);
        assert_eq!(interner.call(None, None, 1, &mut out), first);
    }
}
