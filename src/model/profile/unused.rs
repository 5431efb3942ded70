//! Drops frames and stacks that nothing refers to, so that a session without end keeps a bounded number of them.

use super::Profile;
use crate::model::{FrameId, StackDef, StackId};

/// The number of newest frames and stacks that later events may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newest {
    /// Frames.
    pub frames: usize,
    /// Stacks.
    pub stacks: usize,
}

/// The former numbers of the frames and stacks that are left, by their present number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Frames.
    pub frames: Vec<u32>,
    /// Stacks.
    pub stacks: Vec<u32>,
}

impl Profile {
    /// Drops all but the newest frames and stacks that no sample and no wait refers to. The rest is numbered again in
    /// the same order; `None` if there are no more than the newest.
    pub fn drop_unused(&mut self, newest: Newest) -> Option<Left> {
        if self.frames.len() <= newest.frames && self.stacks.len() <= newest.stacks {
            return None;
        }
        let stacks = self.used_stacks(newest.stacks);
        let mut frames = last(self.frames.len(), newest.frames);
        let used = self.stacks.iter().zip(&stacks).filter(|(_, used)| **used);
        used.for_each(|(stack, _)| mark(&mut frames, stack.frame.0));
        let (frame_numbers, stack_numbers) = (numbers(&frames), numbers(&stacks));
        let frame = |id: FrameId| FrameId(frame_numbers[id.0 as usize]);
        let stack = |id: StackId| StackId(stack_numbers[id.0 as usize]);
        keep(&mut self.names, &frames);
        keep(&mut self.frames, &frames);
        self.frames.iter_mut().for_each(|def| def.id = frame(def.id));
        self.stacks.keep(&stacks, |def| StackDef { parent: def.parent.map(stack), frame: frame(def.frame), ..def });
        self.samples.stack.iter_mut().for_each(|id| *id = id.map(stack));
        self.accesses.iter_mut().for_each(|access| access.stack = access.stack.map(stack));
        self.off_cpu.update(|span| span.stack = span.stack.map(stack));
        Some(Left { frames: places(&frames), stacks: places(&stacks) })
    }

    /// Which stacks are among the newest, or referred to by a sample, a wait or a stack in use.
    fn used_stacks(&self, newest: usize) -> Vec<bool> {
        let mut used = last(self.stacks.len(), newest);
        self.samples.stack.iter().flatten().for_each(|id| mark(&mut used, id.0));
        self.accesses.iter().filter_map(|access| access.stack).for_each(|id| mark(&mut used, id.0));
        self.off_cpu.iter().filter_map(|span| span.stack).for_each(|id| mark(&mut used, id.0));
        // A parent's number is lower than its child's.
        for (at, def) in self.stacks.iter().enumerate().rev() {
            if let (true, Some(parent)) = (used[at], def.parent) {
                mark(&mut used, parent.0);
            }
        }
        used
    }
}

fn last(count: usize, newest: usize) -> Vec<bool> {
    (0..count).map(|at| at + newest >= count).collect()
}

fn mark(used: &mut [bool], id: u32) {
    if let Some(used) = used.get_mut(id as usize) {
        *used = true;
    }
}

/// The number of each that is used, and an arbitrary one of the others.
fn numbers(used: &[bool]) -> Vec<u32> {
    let next = used.iter().scan(0, |next, used| {
        let number = *next;
        *next += u32::from(*used);
        Some(number)
    });
    next.collect()
}

fn places(used: &[bool]) -> Vec<u32> {
    (0..).zip(used).filter(|(_, used)| **used).map(|(at, _)| at).collect()
}

fn keep<T>(list: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    list.retain(|_| used.next() == Some(&true));
    list.shrink_to_fit();
}
