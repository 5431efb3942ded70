//! Builds a numbered stack from a recorded sample: the kernel's part, then the program's, innermost first.
//! Only recorded or unwound frames are used. Without the program's code, it is the recorded stack, marked as truncated.

use super::chains::{Built, ChainKey, Chains, UnknownEnd};
use super::objects::Objects;
use super::tasks::Space;
use crate::abi::perf::{LONGEST_CHAIN, Mode, Registers, split_chain};
use crate::collect::sampler::{AddressMap, Definitions, Interner};
use crate::model::{Definition, FrameDef, ModuleId, StackEnd, StackId};
use crate::store::perfdata::{Attr, Sample};
use crate::unwind::{Cache, Regs};
use rustc_hash::FxHashMap;

/// Limit of remembered outermost addresses.
const MOST_STARTS: usize = 1 << 16;

/// Builds stacks and reuses its memory between samples.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// Whether this program can unwind from the recorded machine's registers.
    native: bool,
    interner: Interner,
    /// The frames that lie in a module, to be named.
    frames: Vec<FrameDef>,
    chains: Chains,
    cache: Cache,
    /// Whether a thread starts at an address, by the version of the mappings.
    starts: FxHashMap<(u64, u64), bool>,
    kernel: Vec<u64>,
    user: Vec<u64>,
    /// Stacks whose completeness is unknown, because their end is not here or says nothing.
    unknown_ends: [u64; 2],
    /// Stacks without their inner frames.
    cut: u64,
}

/// The context of a stack: its event, process and machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackContext<'a> {
    /// Index of the event.
    pub event: usize,
    pub space: &'a Space,
    pub objects: &'a Objects,
    /// Module for a guest's addresses.
    pub guest: Option<ModuleId>,
}

impl Stacks {
    /// For a recording of a machine with this architecture (`uname -m`).
    pub(super) fn new(arch: &str) -> Stacks {
        Stacks { native: arch == std::env::consts::ARCH, ..Stacks::default() }
    }

    /// Number of stacks so far whose completeness is unknown: their end is not here, or says nothing.
    pub(super) fn unknown_ends(&self) -> [u64; 2] {
        self.unknown_ends
    }

    /// Number of stacks so far whose inner frames were dropped, for there are too many different stacks.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }

    /// The frames of all stacks that lie in a module.
    pub(super) fn into_frames(self) -> Vec<FrameDef> {
        self.frames
    }

    /// The stack of a sample and how it ends.
    pub(super) fn build(
        &mut self,
        sample: &Sample<'_>,
        attr: &Attr,
        around: StackContext<'_>,
        out: &mut impl Definitions,
    ) -> (Option<StackId>, StackEnd) {
        let key = self.key(sample, attr, around);
        let known = key.and_then(|key| self.chains.get(key));
        let built = known.unwrap_or_else(|| self.walk(sample, attr, around, out));
        if let (Some(key), None) = (key, known) {
            self.chains.insert(key, built);
        }
        self.count(built);
        (built.stack, built.end)
    }

    /// The same without looking at what is remembered.
    #[cfg(test)]
    pub(super) fn build_anew(
        &mut self,
        sample: &Sample<'_>,
        attr: &Attr,
        around: StackContext<'_>,
        out: &mut impl Definitions,
    ) -> (Option<StackId>, StackEnd) {
        let built = self.walk(sample, attr, around, out);
        self.count(built);
        (built.stack, built.end)
    }

    fn count(&mut self, built: Built) {
        self.unknown_ends[0] += u64::from(built.unknown_end == Some(UnknownEnd::NotHere));
        self.unknown_ends[1] += u64::from(built.unknown_end == Some(UnknownEnd::Mute));
        self.cut += u64::from(built.cut);
    }

    /// Everything that a stack depends on; `None` if that is more than the chain.
    fn key(&self, sample: &Sample<'_>, attr: &Attr, around: StackContext<'_>) -> Option<ChainKey> {
        let StackContext { event, space, objects, .. } = around;
        let ip = sample.ip.map_or([0, 0], |ip| [1, ip]);
        let event = (event as u64) << 8 | ip[0] << 4 | sample.mode as u64;
        let context = [event, ip[1], space.version, objects.kernel_version(), sample.chain.len() as u64];
        (!attr.has_stack() && !attr.has_branches()).then(|| self.chains.key(context, sample.chain))
    }

    fn walk(
        &mut self,
        sample: &Sample<'_>,
        attr: &Attr,
        around: StackContext<'_>,
        out: &mut impl Definitions,
    ) -> Built {
        split_chain(sample.chain, sample.mode, &mut self.kernel, &mut self.user);
        let (end, unknown_end) = self.complete(sample, attr, around);
        self.lead(sample);
        let (stack, cut) = self.intern(sample.mode, around, out);
        Built { stack, end: if cut { StackEnd::Truncated } else { end }, unknown_end, cut }
    }

    /// Completes the program's part of the chain and determines how it ends, and whether that is unknown.
    fn complete(
        &mut self,
        sample: &Sample<'_>,
        attr: &Attr,
        around: StackContext<'_>,
    ) -> (StackEnd, Option<UnknownEnd>) {
        if self.user.is_empty() && attr.has_call_stack() {
            return (self.branches(sample), None);
        }
        match attr.has_stack() {
            // A kernel thread has no user stack: its chain is complete.
            true if sample.registers == Registers::default() => (StackEnd::Whole, None),
            true => (self.unwind(sample, &around.space.map), None),
            false if attr.has_chain() => self.chain_end(around),
            false => (StackEnd::NotTaken, None),
        }
    }

    fn unwind(&mut self, sample: &Sample<'_>, space: &AddressMap) -> StackEnd {
        let known = self.native && sample.registers.wide;
        let Some(from) = Regs::sampled(&sample.registers).filter(|_| known) else { return StackEnd::Truncated };
        self.user.clear();
        let end = space.unwind.unwind(&mut self.cache, &from, sample.stack, &mut self.user);
        // If the first address is in unavailable code, unwinding gives no information about the stack's end.
        if self.user.len() <= 1 { StackEnd::Truncated } else { end }
    }

    /// Call branch records: the origin of each call, innermost first.
    fn branches(&mut self, sample: &Sample<'_>) -> StackEnd {
        let mut words = sample.branches.iter();
        while let (Some(from), Some(to), Some(_flags)) = (words.next(), words.next(), words.next()) {
            if self.user.is_empty() {
                self.user.push(sample.ip.filter(|_| sample.mode == Mode::User).unwrap_or(to));
            }
            self.user.push(from);
        }
        // The hardware's call stack has 8 to 32 entries and does not report dropped older ones.
        StackEnd::Truncated
    }

    /// The kernel does not report why its frame-pointer walk ended. The stack is whole if the outermost frame has no
    /// caller. Unwinding that frame with an empty stack shows this; without its code it stays unknown.
    fn chain_end(&mut self, around: StackContext<'_>) -> (StackEnd, Option<UnknownEnd>) {
        let Some(outermost) = self.user.last().copied() else { return (StackEnd::Whole, None) };
        if self.user.len() >= LONGEST_CHAIN {
            return (StackEnd::Truncated, None);
        }
        let space = &around.space.map;
        let module = space.find(outermost).map(|(module, _)| module).filter(|_| self.native);
        if !module.is_some_and(|module| around.objects.has_code(module)) {
            let is_here = module.is_some_and(|module| around.objects.is_here(module));
            return (StackEnd::Truncated, Some(if is_here { UnknownEnd::Mute } else { UnknownEnd::NotHere }));
        }
        let Stacks { starts, cache, .. } = self;
        if starts.len() >= MOST_STARTS {
            starts.clear();
        }
        let starts = starts.entry((around.space.version, outermost));
        let starts = *starts.or_insert_with(|| space.unwind.starts_thread(cache, outermost));
        (if starts { StackEnd::Whole } else { StackEnd::Broken }, None)
    }

    /// Puts the sampled address first: a precise address differs from the first one of its chain.
    fn lead(&mut self, sample: &Sample<'_>) {
        let Some(ip) = sample.ip else { return };
        let part = match sample.mode {
            Mode::User | Mode::Unknown | Mode::GuestUser => {
                // Without a sample in the kernel there is no kernel part.
                self.kernel.clear();
                &mut self.user
            }
            _ => &mut self.kernel,
        };
        match part.first_mut() {
            Some(first) => *first = ip,
            None => part.push(ip),
        }
    }

    /// Numbers the stack from the outermost frame inwards; true if its inner part was dropped.
    fn intern(&mut self, mode: Mode, around: StackContext<'_>, out: &mut impl Definitions) -> (Option<StackId>, bool) {
        let Stacks { user, kernel, interner, frames: named, .. } = self;
        let out = &mut Named { frames: named, out };
        let (mut stack, mut first) = (None, user.len() + kernel.len());
        let in_user = |address: u64| around.space.map.find(address).map_or((None, address), |(m, at)| (Some(m), at));
        let in_kernel = |address: u64| match mode {
            Mode::GuestKernel => (around.guest, address),
            _ => (around.objects.in_kernel(address), address),
        };
        let outside = matches!(mode, Mode::Unknown | Mode::GuestUser);
        let frames = user.iter().rev().map(|address| if outside { (None, *address) } else { in_user(*address) });
        for (module, address) in frames.chain(kernel.iter().rev().map(|address| in_kernel(*address))) {
            first -= 1;
            let Some((_, next)) = interner.call(stack, module, address, out) else { return (stack, true) };
            stack = Some(next);
        }
        (stack, first > 0)
    }
}

/// Remembers the frames to be named on their way out.
struct Named<'a, D> {
    frames: &'a mut Vec<FrameDef>,
    out: &'a mut D,
}

impl<D: Definitions> Definitions for Named<'_, D> {
    fn define(&mut self, definition: Definition) {
        if let Definition::Frame(frame @ FrameDef { module: Some(_), .. }) = definition {
            self.frames.push(frame);
        }
        self.out.define(definition);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::abi::Words;
    use crate::abi::perf::context;
    use crate::collect::sampler::{EventQueue, Placed};
    use crate::model::{Definition, Event, HostFacts};
    use crate::session::import::files::LocalFiles;

    const CALL_STACK: Attr = Attr { sample: 1 << 11, branches: 1 << 11, ..NOTHING };
    const CHAIN: Attr = Attr { sample: 1 << 5, ..NOTHING };
    const DUMPED: Attr = Attr { sample: 1 << 5 | 1 << 12 | 1 << 13, ..NOTHING };
    const NOTHING: Attr = Attr {
        kind: 0,
        config: 0,
        config1: 0,
        config2: 0,
        rate: 0,
        stack_bytes: 0,
        sample: 0,
        read: 0,
        registers: 0,
        interrupted_registers: 0,
        branches: 0,
        flags: 0,
    };

    /// The frames of a sample, innermost first, as (module, address), and how it ends.
    fn built(mode: Mode, ip: u64, attr: &Attr, chain: &[u64], branches: &[u64]) -> (Vec<(Option<u32>, u64)>, StackEnd) {
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (chain, branches) = (bytes(chain), bytes(branches));
        let sample = Sample {
            mode,
            ip: Some(ip),
            pid: None,
            tid: None,
            period: None,
            reads: None,
            chain: Words::new(&chain, false),
            branches: Words::new(&branches, false),
            registers: Registers::default(),
            stack: &[],
            access: Default::default(),
            cgroup: None,
        };
        let mut out = EventQueue::default();
        let local = LocalFiles::new(None, &HostFacts::default(), &HostFacts::default());
        let objects = Objects::new(local, &[], false, &mut out);
        let mut space = Space::default();
        space.map.map(0x1000, 0x2000, &Placed { module: ModuleId(4), base: 0x1000, code: None });
        let around = StackContext { event: 0, space: &space, objects: &objects, guest: Some(ModuleId(9)) };
        let (stack, end) = Stacks::new("x86_64").build(&sample, attr, around, &mut out);
        let (mut frames, mut stacks) = (Vec::new(), Vec::new());
        for event in out.take() {
            match event {
                Event::Define(Definition::Frame(def)) => frames.push((def.module.map(|module| module.0), def.address)),
                Event::Define(Definition::Stack(def)) => stacks.push(def),
                _ => {}
            }
        }
        let first = stack.map(|id| stacks[id.0 as usize]);
        let walk = std::iter::successors(first, |def| def.parent.map(|id| stacks[id.0 as usize]));
        (walk.map(|def| frames[def.frame.0 as usize]).collect(), end)
    }

    #[test]
    fn a_chain_is_split_at_its_markers_and_the_sampled_address_leads() {
        let chain = [context::KERNEL, 0xffff_8000, 0xffff_9000, context::USER, 0x1010, 0x1021];
        let (frames, end) = built(Mode::Kernel, 0xffff_8004, &CHAIN, &chain, &[]);
        assert_eq!(frames, [(Some(0), 0xffff_8004), (Some(0), 0xffff_8fff), (Some(4), 0x10), (Some(4), 0x20)]);
        assert_eq!(end, StackEnd::Truncated, "nothing tells where it ends");
        let (frames, _) = built(Mode::User, 0x1014, &CHAIN, &[context::USER, 0x1010, 0x9001], &[]);
        assert_eq!(frames, [(Some(4), 0x14), (None, 0x9000)]);
    }

    #[test]
    fn a_chain_without_markers_is_of_the_samples_own_side() {
        assert_eq!(built(Mode::Kernel, 0x50, &CHAIN, &[0x50, 0x61], &[]).0, [(Some(0), 0x50), (Some(0), 0x60)]);
        assert_eq!(built(Mode::User, 0x1010, &CHAIN, &[0x1010, 0x1021], &[]).0, [(Some(4), 0x10), (Some(4), 0x20)]);
    }

    #[test]
    fn a_kernel_thread_is_whole_and_a_bare_sample_is_its_address() {
        assert_eq!(
            built(Mode::Kernel, 0x50, &DUMPED, &[context::KERNEL, 0x50], &[]),
            (vec![(Some(0), 0x50)], StackEnd::Whole)
        );
        assert_eq!(built(Mode::User, 0x1010, &NOTHING, &[], &[]), (vec![(Some(4), 0x10)], StackEnd::NotTaken));
    }

    #[test]
    fn guests_and_modes_nobody_knows_are_no_part_of_the_machine() {
        assert_eq!(built(Mode::GuestKernel, 0x50, &NOTHING, &[], &[]).0, [(Some(9), 0x50)]);
        assert_eq!(built(Mode::GuestUser, 0x1010, &NOTHING, &[], &[]).0, [(None, 0x1010)]);
    }

    #[test]
    fn branch_records_of_calls_make_the_stack_where_there_is_no_chain() {
        let branches = [0x1100, 0x1000, 0, 0x1200, 0x10f0, 0];
        let (frames, end) = built(Mode::User, 0x1010, &CALL_STACK, &[], &branches);
        assert_eq!((frames, end), (vec![(Some(4), 0x10), (Some(4), 0x100), (Some(4), 0x200)], StackEnd::Truncated));
        let kernel = built(Mode::Kernel, 0x50, &CALL_STACK, &[context::KERNEL, 0x50], &branches).0;
        assert_eq!(kernel, [(Some(0), 0x50), (Some(4), 0), (Some(4), 0x100), (Some(4), 0x200)]);
        let any = Attr { branches: 1 << 3, ..CALL_STACK };
        assert_eq!(built(Mode::User, 0x1010, &any, &[], &branches).0, [(Some(4), 0x10)], "any branches are no calls");
    }

    #[test]
    fn registers_of_another_kind_of_machine_are_not_unwound() {
        let words: Vec<u8> = [7u64, 8, 9].iter().flat_map(|word| word.to_le_bytes()).collect();
        let registers = Registers { mask: 7 << 6, values: Words::new(&words, false), wide: false };
        let sample = Sample {
            mode: Mode::User,
            ip: Some(9),
            pid: None,
            tid: None,
            period: None,
            reads: None,
            chain: Words::default(),
            branches: Words::default(),
            registers,
            stack: &[],
            access: Default::default(),
            cgroup: None,
        };
        let mut out = EventQueue::default();
        let objects =
            Objects::new(LocalFiles::new(None, &HostFacts::default(), &HostFacts::default()), &[], false, &mut out);
        let space = Space::default();
        let around = StackContext { event: 0, space: &space, objects: &objects, guest: None };
        let (stack, end) = Stacks::new("armv7l").build(&sample, &DUMPED, around, &mut out);
        assert_eq!((stack.unwrap().0, end), (0, StackEnd::Truncated));
    }
}
