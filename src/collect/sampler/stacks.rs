//! Turns the raw parts of a sample into an interned stack: kernel chain, then user frames, innermost first. User stacks
//! are unwound here, while they still lie in the ring, so their bytes are not stored.

use super::address_map::AddressMap;
use super::event_queue::EventQueue;
use super::intern::{Interner, NEWEST};
use super::modules::KERNEL;
use super::own_frames::{OwnCode, OwnFrames};
use super::waiting::WaitSample;
use crate::abi::perf::{LONGEST_CHAIN, Mode, split_chain};
use crate::model::{CallGraph, FrameId, StackEnd, StackId};
use crate::sys::perf::record::Sample;
use crate::unwind::{Cache, Lack, Regs, WalkEnd};
use rustc_hash::FxHashMap;

/// The innermost functions of a blocked thread, a system-call wrapper and the one that keeps a frame pointer, have pushed
/// fewer bytes than this.
const FRAME_POINTER_WITHIN: usize = 512;
/// A frame pointer that is not known. Not zero, which would mean that its function has no caller.
const UNKNOWN: u64 = 1;
/// Stacks are aligned to as many bytes where a frame pointer points.
const FRAME_ALIGNMENT: u64 = 16;

/// A walk fails soon after it left the frames of a chain: so many of its outermost frames are looked for there.
const JOINED_WITHIN: usize = 16;

/// Builds stacks; reuses its memory between samples.
#[derive(Debug)]
pub struct Stacks {
    method: CallGraph,
    interner: Interner,
    cache: Cache,
    kernel: Vec<u64>,
    user: Vec<u64>,
    /// User frames that the kernel found by frame pointers, where `user` is unwound.
    chained: Vec<u64>,
    /// For each known frame, whether its thread starts there.
    starts: FxHashMap<FrameId, bool>,
    /// What the last walk lacked.
    lack: Option<Lack>,
    /// What stacks of waits do not show.
    pub own: OwnFrames,
}

/// A built stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltStack {
    /// Its number; `None` if there was not even an address.
    pub stack: Option<StackId>,
    /// How it ended.
    pub end: StackEnd,
    /// Whether a user address lies in no known mapping.
    pub unknown: bool,
    /// The own code that runs in it.
    pub own: Option<OwnCode>,
}

/// A numbered stack.
#[derive(Debug, Clone, Copy, Default)]
struct Interned {
    stack: Option<StackId>,
    outermost: Option<(FrameId, u64)>,
    unknown: bool,
    /// Its inner part was left out: the limit of distinct stacks is reached.
    cut: bool,
}

impl Interned {
    fn cut(self) -> Interned {
        Interned { cut: true, ..self }
    }
}

impl Stacks {
    /// Builds stacks taken by this method.
    pub fn new(method: CallGraph) -> Stacks {
        Stacks {
            method,
            interner: Interner::default(),
            cache: Cache::default(),
            kernel: Vec::with_capacity(256),
            user: Vec::with_capacity(1024),
            chained: Vec::with_capacity(LONGEST_CHAIN),
            starts: FxHashMap::default(),
            lack: None,
            own: OwnFrames::default(),
        }
    }

    /// The stack of a sample from a process with these mappings.
    pub fn build(&mut self, sample: &Sample<'_>, space: &AddressMap, out: &mut EventQueue) -> BuiltStack {
        self.renew();
        split_chain(sample.chain, sample.mode, &mut self.kernel, &mut self.user);
        self.complete(sample, space, out)
    }

    /// The same of a wait, whose stack an own program has taken.
    pub fn of_wait(&mut self, sample: &Sample<'_>, space: &AddressMap, out: &mut EventQueue) -> BuiltStack {
        self.renew();
        split_chain(sample.chain, sample.mode, &mut self.kernel, &mut self.user);
        self.own.trim(&mut self.kernel);
        self.complete(sample, space, out)
    }

    fn complete(&mut self, sample: &Sample<'_>, space: &AddressMap, out: &mut EventQueue) -> BuiltStack {
        let mut by_frame_pointers = None;
        let end = match self.method {
            CallGraph::None => StackEnd::NotTaken,
            CallGraph::FramePointer => {
                by_frame_pointers = Some(self.user.len());
                StackEnd::Broken
            }
            CallGraph::Lbr => self.branches(sample),
            CallGraph::Dwarf { .. } => self.unwind(sample, space).end,
            CallGraph::Auto => {
                std::mem::swap(&mut self.user, &mut self.chained);
                self.user.clear();
                let walked = self.unwind(sample, space);
                let leads_on =
                    (walked.end != StackEnd::Whole || walked.null_return) && self.continue_by_frame_pointers(space);
                by_frame_pointers = leads_on.then_some(self.chained.len());
                walked.end
            }
        };
        if self.kernel.is_empty() && self.user.is_empty() {
            let at = if sample.mode == Mode::Kernel { &mut self.kernel } else { &mut self.user };
            at.push(sample.ip);
        }
        let own = self.own.runs(&self.kernel);
        let Interned { stack, outermost, unknown, cut } = self.intern(space, out);
        let end = match by_frame_pointers {
            _ if cut => StackEnd::Truncated,
            Some(length) => self.chain_end(length, space, outermost),
            None => end,
        };
        BuiltStack { stack, end, unknown, own }
    }

    /// What the stack built last lacked at a call of a measured function.
    pub fn lack(&self) -> Option<Lack> {
        self.lack
    }

    /// The outermost user address of the stack built last.
    pub fn outermost(&self) -> Option<u64> {
        self.user.last().copied()
    }

    /// The outermost calls of the stack built last, innermost first: where a walk went astray. The innermost address of a
    /// stack is where it was interrupted, not a call.
    pub fn outermost_calls(&self) -> &[u64] {
        let calls = self.user.get(1..).unwrap_or_default();
        &calls[calls.len().saturating_sub(JOINED_WITHIN)..]
    }

    /// The stack of a blocked thread from a wait sample.
    pub fn waiting(&mut self, sample: &WaitSample, space: &AddressMap, out: &mut EventQueue) -> BuiltStack {
        self.renew();
        self.kernel.clear();
        self.user.clear();
        for function in &sample.kernel {
            self.kernel.push(self.interner.named(function, out));
        }
        let end = match sample.user {
            Some((ip, sp)) => self.unwind_blocked(ip, sp, &sample.stack, space),
            None => StackEnd::Broken,
        };
        let Interned { stack, unknown, cut, .. } = self.intern(space, out);
        BuiltStack { stack, end: if cut { StackEnd::Truncated } else { end }, unknown, own: None }
    }

    fn renew(&mut self) {
        self.lack = None;
        if self.interner.renew_beyond(NEWEST) {
            self.starts.clear();
        }
    }

    /// Unwinds without a frame pointer, which cannot be read from a thread that is not stopped. If a function keeps one, it
    /// is on the stack above what the functions within have pushed, below a return address. What is saved there is its
    /// caller's, who may use that register for anything. Such words are tried, the innermost first, and accepted only if
    /// they lead to the thread's start.
    fn unwind_blocked(&mut self, ip: u64, sp: u64, stack: &[u8], space: &AddressMap) -> StackEnd {
        let (user, cache, lack) = (&mut self.user, &mut self.cache, &mut self.lack);
        let mut from = |bp, user: &mut Vec<u64>| {
            user.clear();
            let walked = space.unwind.walk(cache, &Regs { ip, sp, bp, lr: 0 }, stack, user);
            *lack = walked.lack;
            walked.end
        };
        let plain = from(UNKNOWN, user);
        if plain == StackEnd::Whole {
            return plain;
        }
        let word = |at: usize| stack.get(at..at + 8).map(|bytes| u64::from_le_bytes(std::array::from_fn(|i| bytes[i])));
        let is_frame = |at: &usize| {
            let is_aligned = (sp + *at as u64).is_multiple_of(FRAME_ALIGNMENT);
            // A zero would end the walk at the next function that keeps one.
            is_aligned
                && word(*at).is_some_and(|saved| saved != 0)
                && word(*at + 8).is_some_and(|back| space.find(back).is_some())
        };
        for at in (0..FRAME_POINTER_WITHIN.min(stack.len())).step_by(8).filter(is_frame) {
            if from(sp + at as u64, user) == StackEnd::Whole {
                return StackEnd::Whole;
            }
        }
        from(UNKNOWN, user)
    }

    fn unwind(&mut self, sample: &Sample<'_>, space: &AddressMap) -> WalkEnd {
        let Some(from) = Regs::sampled(&sample.registers) else {
            // A kernel thread has no user side: its chain is complete.
            return WalkEnd { end: StackEnd::Whole, null_return: false, lack: None };
        };
        // In a program that is just being loaded: the registers and the stack are those of the one before, and gone.
        if sample.mode == Mode::Kernel && sample.stack.is_empty() && space.find(from.ip).is_none() {
            return WalkEnd { end: StackEnd::Whole, null_return: false, lack: None };
        }
        if !sample.registers.wide {
            self.user.push(from.ip);
            return WalkEnd { end: StackEnd::Broken, null_return: false, lack: None };
        }
        let walked = space.unwind.walk(&mut self.cache, &from, sample.stack, &mut self.user);
        self.lack = walked.lack;
        walked
    }

    /// Continues a walk that the tables did not end with the kernel's chain of frame pointers, which crosses from one stack
    /// to another: Go's system stack, signal stacks, coroutines. False unless the chain contains a frame of the walk and
    /// leads further. Only callers in mapped code count: without frame pointers, the register may point anywhere.
    fn continue_by_frame_pointers(&mut self, space: &AddressMap) -> bool {
        let Stacks { user, chained, .. } = self;
        let is_code = |address: &u64| space.find(*address).is_some();
        let recent = user.len().saturating_sub(JOINED_WITHIN);
        let joined = (recent..user.len()).rev().find_map(|at| {
            chained.iter().position(|address| *address == user[at]).map(|there| (at, &chained[there + 1..]))
        });
        let Some((at, callers)) = joined else { return false };
        let callers = &callers[..callers.iter().take_while(|caller| is_code(caller)).count()];
        let walked = at + 1 + user[at + 1..].iter().take_while(|address| is_code(address)).count();
        let further = walked + callers.len() > user.len();
        if further {
            user.truncate(walked);
            user.extend_from_slice(callers);
        }
        further
    }

    /// Branch records of calls: the call sites, innermost first, below the sampled address itself.
    fn branches(&mut self, sample: &Sample<'_>) -> StackEnd {
        if sample.mode == Mode::User {
            self.user.push(sample.ip);
        }
        let mut words = sample.branches.iter();
        while let (Some(from), Some(to), Some(_flags)) = (words.next(), words.next(), words.next()) {
            if self.user.is_empty() {
                self.user.push(to);
            }
            self.user.push(from);
        }
        // The hardware's call stack is 8 to 32 entries deep and does not show whether older ones fell out.
        StackEnd::Truncated
    }

    /// Interns the stack from the outermost frame inwards.
    fn intern(&mut self, space: &AddressMap, out: &mut EventQueue) -> Interned {
        let mut done = Interned::default();
        let Stacks { user, kernel, interner, .. } = self;
        for address in user.iter().rev() {
            let found = space.find(*address);
            done.unknown |= found.is_none();
            let (module, offset) = found.map_or((None, *address), |(module, offset)| (Some(module), offset));
            let Some((frame, stack)) = interner.call(done.stack, module, offset, out) else { return done.cut() };
            done.outermost = done.outermost.or(Some((frame, *address)));
            done.stack = Some(stack);
        }
        for address in kernel.iter().rev() {
            let Some((_, stack)) = interner.call(done.stack, Some(KERNEL), *address, out) else { return done.cut() };
            done.stack = Some(stack);
        }
        done
    }

    /// Determines how a frame-pointer chain of this length ended, which the kernel does not report. It is whole if the
    /// outermost frame has no caller; unwinding that frame without any stack shows this.
    fn chain_end(&mut self, length: usize, space: &AddressMap, outermost: Option<(FrameId, u64)>) -> StackEnd {
        let Some((frame, address)) = outermost else { return StackEnd::Whole };
        if length >= LONGEST_CHAIN {
            return StackEnd::Truncated;
        }
        let Stacks { starts, cache, .. } = self;
        let starts = *starts.entry(frame).or_insert_with(|| space.unwind.starts_thread(cache, address));
        if starts { StackEnd::Whole } else { StackEnd::Broken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::perf::context;
    use crate::collect::sampler::modules::Placed;
    use crate::model::{Definition, Event, ModuleId};
    use crate::sys::perf::record::{Layout, Record, SampleId, fake, parse};

    const STAMP: SampleId = SampleId { pid: 1, tid: 1, time: 0, id: 9, cpu: 0 };

    /// The frames of a sample, innermost first, as (module, address), and the built stack.
    fn built(method: CallGraph, layout: Layout, misc: u16, tail: &[u64]) -> (Vec<(Option<u32>, u64)>, BuiltStack) {
        let bytes = fake::sample(misc, 0x1010, 1, STAMP, &fake::words64(tail));
        let Some((_, Record::Sample(sample))) = parse(&bytes, false, |_| Some(layout)) else { panic!("not a sample") };
        let mut space = AddressMap::default();
        space.map(0x1000, 0x2000, &Placed { module: ModuleId(4), base: 0x1000, code: None });
        let mut out = EventQueue::default();
        let built = Stacks::new(method).build(&sample, &space, &mut out);
        let (mut frames, mut stacks) = (Vec::new(), Vec::new());
        for event in out.take() {
            match event {
                Event::Define(Definition::Frame(def)) => frames.push((def.module.map(|module| module.0), def.address)),
                Event::Define(Definition::Stack(def)) => stacks.push(def),
                _ => {}
            }
        }
        let mut next = built.stack;
        let walk = std::iter::from_fn(|| {
            let def = stacks.get(next?.0 as usize)?;
            next = def.parent;
            frames.get(def.frame.0 as usize).copied()
        });
        (walk.collect(), built)
    }

    const CHAIN: Layout = Layout {
        members: 0,
        chain: true,
        user_chain: false,
        raw: false,
        branches: false,
        registers: 0,
        stack_bytes: 0,
        cgroup: false,
        address: false,
        access: false,
    };

    #[test]
    fn a_chain_is_split_at_its_markers_and_callers_lie_within_their_calls() {
        let chain = [6, context::KERNEL, 0xffff_8000, 0xffff_9000, context::USER, 0x1010, 0x1021];
        let (frames, built) = built(CallGraph::FramePointer, CHAIN, 1, &chain);
        assert_eq!(frames, [(Some(0), 0xffff_8000), (Some(0), 0xffff_8fff), (Some(4), 0x10), (Some(4), 0x20)]);
        assert!(!built.unknown && built.end == StackEnd::Broken);
    }

    #[test]
    fn guest_addresses_are_left_out_and_unknown_ones_kept_as_they_are() {
        let guest = -2048i64 as u64;
        let (frames, built) =
            built(CallGraph::FramePointer, CHAIN, 2, &[5, guest, 0x77, context::USER, 0x1010, 0x9001]);
        assert_eq!(frames, [(Some(4), 0x10), (None, 0x9000)]);
        assert!(built.unknown);
    }

    #[test]
    fn a_kernel_thread_is_whole_and_a_bare_sample_is_its_address() {
        let dumped = Layout { chain: true, registers: crate::unwind::REGISTERS, stack_bytes: 64, ..Layout::default() };
        let (frames, kernel) = built(CallGraph::Auto, dumped, 1, &[2, context::KERNEL, 0xffff_8000, 0, 0]);
        assert_eq!((frames, kernel.end), (vec![(Some(0), 0xffff_8000)], StackEnd::Whole));
        let (frames, bare) = built(CallGraph::None, Layout::default(), 2, &[]);
        assert_eq!((frames, bare.end), (vec![(Some(4), 0x10)], StackEnd::NotTaken));
    }

    #[test]
    fn frame_pointers_lead_on_where_tables_fail_and_only_through_mapped_code() {
        let layout = Layout {
            chain: true,
            user_chain: true,
            registers: crate::unwind::REGISTERS,
            stack_bytes: 64,
            ..Layout::default()
        };
        let sampled = |chain: &[u64]| {
            let mut tail = vec![chain.len() as u64 + 1, context::USER];
            tail.extend(chain);
            // Of a 64-bit program: all registers point to the code, where no stack was copied.
            tail.push(2);
            tail.extend(std::iter::repeat_n(0x1010, crate::unwind::REGISTERS.count_ones() as usize));
            tail.push(0);
            tail
        };
        let own = (Some(4), 0x10);
        let (cut, left) = (StackEnd::Truncated, StackEnd::Broken);
        for (name, chain, expected, end) in [
            ("no chain", &[][..], vec![own], cut),
            ("the chain leads on", &[0x1010, 0x1101, 0x1201], vec![own, (Some(4), 0x100), (Some(4), 0x200)], left),
            ("it leaves the code", &[0x1010, 0x1101, 0x9001, 0x1201], vec![own, (Some(4), 0x100)], left),
            ("a chain of another place", &[0x1020, 0x1101], vec![own], cut),
        ] {
            let (frames, built) = self::built(CallGraph::Auto, layout, 2, &sampled(chain));
            assert_eq!((frames, built.end), (expected, end), "{name}");
        }
    }

    #[test]
    fn branch_records_name_the_calls_below_the_sampled_address() {
        let layout = Layout { branches: true, ..Layout::default() };
        let (frames, built) = built(CallGraph::Lbr, layout, 2, &[2, 0x1100, 0x1010, 0, 0x1200, 0x10f0, 0]);
        assert_eq!(frames, [(Some(4), 0x10), (Some(4), 0x100), (Some(4), 0x200)]);
        assert_eq!(built.end, StackEnd::Truncated);
    }
}
