//! Numbers for frames and stacks, so that a sample is a few words whatever its depth.
//! It allocates only for what it has never seen.

use super::outbox::Outbox;
use crate::model::{Definition, Event, FrameDef, FrameId, ModuleId, StackDef, StackId};
use rustc_hash::FxHashMap;

/// Frames and stacks seen so far.
#[derive(Debug, Default)]
pub struct Interner {
    frames: FxHashMap<(Option<ModuleId>, u64), FrameId>,
    stacks: FxHashMap<(Option<StackId>, FrameId), StackId>,
}

impl Interner {
    /// The frame's number; a new one is defined in the stream.
    pub fn frame(&mut self, module: Option<ModuleId>, address: u64, out: &mut Outbox) -> FrameId {
        let next = FrameId(self.frames.len() as u32);
        *self.frames.entry((module, address)).or_insert_with(|| {
            out.push(Event::Define(Definition::Frame(FrameDef { id: next, module, address })));
            next
        })
    }

    /// The number of the stack `frame` called from `parent`; a new one is defined in the stream.
    pub fn stack(&mut self, parent: Option<StackId>, frame: FrameId, out: &mut Outbox) -> StackId {
        let next = StackId(self.stacks.len() as u32);
        *self.stacks.entry((parent, frame)).or_insert_with(|| {
            out.push(Event::Define(Definition::Stack(StackDef { id: next, parent, frame })));
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_are_one_number_and_defined_once_parents_first() {
        let (mut interner, mut out) = (Interner::default(), Outbox::default());
        let mut walk = |addresses: &[u64]| {
            addresses.iter().fold(None, |parent, address| {
                let frame = interner.frame(None, *address, &mut out);
                Some(interner.stack(parent, frame, &mut out))
            })
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
}
