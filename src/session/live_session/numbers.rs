//! The history's own numbers of frames and stacks. The stream's grow without end; the history drops those that nothing
//! refers to and numbers the rest again.

use crate::model::profile::Left;
use crate::model::{Definition, Event, FrameId, StackEnd, StackId};

/// The stream's numbers of the frames and stacks in the history, each in order.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    frames: Vec<u32>,
    stacks: Vec<u32>,
}

impl Numbers {
    /// The event in the history's numbers; `None` for a definition about something dropped.
    pub(super) fn own(&mut self, mut event: Event) -> Option<Event> {
        match &mut event {
            Event::Define(Definition::Frame(def)) => {
                self.frames.push(def.id.0);
                def.id = FrameId(self.frames.len() as u32 - 1);
            }
            Event::Define(Definition::Stack(def)) => {
                def.frame = FrameId(find(&self.frames, def.frame.0)?);
                if let Some(parent) = &mut def.parent {
                    *parent = StackId(find(&self.stacks, parent.0)?);
                }
                self.stacks.push(def.id.0);
                def.id = StackId(self.stacks.len() as u32 - 1);
            }
            Event::Define(Definition::Names { frame, .. }) => *frame = FrameId(find(&self.frames, frame.0)?),
            Event::Sample(sample) => self.own_stack(&mut sample.stack, &mut sample.end),
            Event::OffCpu(span) => self.own_stack(&mut span.stack, &mut span.end),
            // Its sample tells where the stack ends.
            Event::Access(access) => self.own_stack(&mut access.stack, &mut StackEnd::NotTaken),
            _ => {}
        }
        Some(event)
    }

    /// After the history has dropped all but `left`.
    pub(super) fn renumber(&mut self, left: &Left) {
        self.frames = left.frames.iter().filter_map(|at| self.frames.get(*at as usize).copied()).collect();
        self.stacks = left.stacks.iter().filter_map(|at| self.stacks.get(*at as usize).copied()).collect();
    }

    /// A thread that waited since before its stack was dropped comes back without it.
    fn own_stack(&self, stack: &mut Option<StackId>, end: &mut StackEnd) {
        let Some(id) = *stack else { return };
        *stack = find(&self.stacks, id.0).map(StackId);
        if stack.is_none() {
            *end = StackEnd::Broken;
        }
    }
}

/// The place of a number. Most numbers are new, and none of the new ones has been dropped.
fn find(numbers: &[u32], number: u32) -> Option<u32> {
    let last = *numbers.last()?;
    let from_end = numbers.len().checked_sub(1 + last.checked_sub(number)? as usize);
    let at = from_end.filter(|at| numbers[*at] == number).or_else(|| numbers.binary_search(&number).ok())?;
    u32::try_from(at).ok()
}
