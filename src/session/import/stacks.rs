//! From a recorded sample to a numbered stack: the kernel's part, then the program's, innermost first.
//! It never invents a frame: where the program's code is not at hand, the stack is what was recorded, and said to be cut.

use super::objects::Objects;
use crate::collect::sampler::{Interner, Outbox, Space};
use crate::model::{ModuleId, StackEnd, StackId};
use crate::store::perfdata::{Attr, Mode, Registers, Sample};
use crate::unwind::{Cache, Regs};

/// A call chain longer than this many frames was cut by the kernel (`perf_event_max_stack`).
const LONGEST_CHAIN: usize = 127;

/// `PERF_CONTEXT_*`: words at the top of the address range that say whose addresses follow.
const CONTEXT_MAX: u64 = -4095i64 as u64;
const CONTEXT_KERNEL: u64 = -128i64 as u64;
const CONTEXT_USER: u64 = -512i64 as u64;

/// Registers in perf's count: instruction, stack and frame pointer, and link register where there is one.
#[cfg(target_arch = "x86_64")]
const REGISTERS: (u32, u32, u32, Option<u32>) = (8, 7, 6, None);
#[cfg(target_arch = "aarch64")]
const REGISTERS: (u32, u32, u32, Option<u32>) = (32, 31, 29, Some(30));

/// Builds stacks; keeps its memory between samples.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// Whether the recorded machine's registers are those this program can unwind from.
    native: bool,
    interner: Interner,
    cache: Cache,
    kernel: Vec<u64>,
    user: Vec<u64>,
}

/// A process's side of a stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub space: &'a Space,
    pub objects: &'a Objects,
    /// Where a guest's addresses are put.
    pub guest: Option<ModuleId>,
}

impl Stacks {
    /// For a recording of a machine of this architecture (`uname -m`).
    pub(super) fn new(arch: &str) -> Stacks {
        Stacks { native: arch == std::env::consts::ARCH, ..Stacks::default() }
    }

    /// The stack of a sample and how it ends.
    pub(super) fn build(
        &mut self,
        sample: &Sample<'_>,
        attr: &Attr,
        around: Surroundings<'_>,
        out: &mut Outbox,
    ) -> (Option<StackId>, StackEnd) {
        self.split(sample);
        let end = self.complete(sample, attr, around);
        self.lead(sample);
        let (stack, cut) = self.intern(sample.mode, around, out);
        (stack, if cut { StackEnd::Truncated } else { end })
    }

    /// Sorts the chain by its markers. Every address but the first of each part is a return address; one less lies within
    /// the call.
    fn split(&mut self, sample: &Sample<'_>) {
        let Stacks { kernel, user, .. } = self;
        kernel.clear();
        user.clear();
        let in_kernel = matches!(sample.mode, Mode::Kernel | Mode::Hypervisor | Mode::GuestKernel);
        // Early kernels left the first marker out.
        let mut into = Some(if in_kernel { &mut *kernel } else { &mut *user });
        for word in sample.chain.iter() {
            match word {
                CONTEXT_KERNEL => into = Some(&mut *kernel),
                CONTEXT_USER => into = Some(&mut *user),
                CONTEXT_MAX.. => into = None,
                address => {
                    if let Some(part) = &mut into {
                        part.push(if part.is_empty() { address } else { address.wrapping_sub(1) });
                    }
                }
            }
        }
    }

    /// Adds what the chain lacks of the program's part, and judges how it ends.
    fn complete(&mut self, sample: &Sample<'_>, attr: &Attr, around: Surroundings<'_>) -> StackEnd {
        if self.user.is_empty() && attr.has_call_stack() {
            return self.branches(sample);
        }
        match &sample.registers {
            Some(registers) if attr.has_stack() => self.unwind(registers, sample, around.space),
            // A kernel thread has no user side: its chain is all there is.
            None if attr.has_stack() => StackEnd::Whole,
            _ if attr.has_chain() => self.chain_end(around),
            _ => StackEnd::NotTaken,
        }
    }

    fn unwind(&mut self, registers: &Registers<'_>, sample: &Sample<'_>, space: &Space) -> StackEnd {
        let (ip, sp, bp, lr) = REGISTERS;
        let from = (|| {
            let lr = lr.map_or(Some(0), |lr| registers.get(lr))?;
            Some(Regs { ip: registers.get(ip)?, sp: registers.get(sp)?, bp: registers.get(bp)?, lr })
        })();
        let Some(from) = from.filter(|_| self.native && registers.wide) else { return StackEnd::Truncated };
        self.user.clear();
        let end = space.unwind.unwind(&mut self.cache, &from, sample.stack, &mut self.user);
        // Where the first address lies in no code that is here, nothing was learnt of how the stack ends.
        if self.user.len() <= 1 { StackEnd::Truncated } else { end }
    }

    /// Branch records of calls: where each call was made from, innermost first.
    fn branches(&mut self, sample: &Sample<'_>) -> StackEnd {
        let mut words = sample.branches.iter();
        while let (Some(from), Some(to), Some(_flags)) = (words.next(), words.next(), words.next()) {
            if self.user.is_empty() {
                self.user.push(sample.ip.filter(|_| sample.mode == Mode::User).unwrap_or(to));
            }
            self.user.push(from);
        }
        // The hardware's stack of calls is 8 to 32 deep and does not say whether older ones fell out.
        StackEnd::Truncated
    }

    /// The kernel does not say why its walk along frame pointers ended. It was whole if the outermost frame is one that
    /// nobody calls, which unwinding it without any stack tells; without its code, nothing does.
    fn chain_end(&mut self, around: Surroundings<'_>) -> StackEnd {
        let Some(outermost) = self.user.last().copied() else { return StackEnd::Whole };
        let known = around.space.find(outermost).is_some_and(|(module, _)| around.objects.has_code(module));
        if self.user.len() >= LONGEST_CHAIN || !known || !self.native {
            return StackEnd::Truncated;
        }
        let mut walked = Vec::new();
        // No zeros: where frame pointers must stand in for unwind information, a zero one would mean the end.
        let regs = Regs { ip: outermost, sp: 0x1000, bp: 0x1000, lr: 0x1000 };
        let end = around.space.unwind.unwind(&mut self.cache, &regs, &[], &mut walked);
        if end == StackEnd::Whole { StackEnd::Whole } else { StackEnd::Broken }
    }

    /// The sampled address itself leads: a precise one differs from where its chain was taken.
    fn lead(&mut self, sample: &Sample<'_>) {
        let Some(ip) = sample.ip else { return };
        let part = match sample.mode {
            Mode::User | Mode::Unknown | Mode::GuestUser => {
                // A kernel part without a sample in the kernel is none.
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

    /// Numbers the stack from the outermost frame inwards; true if its inner part had to be left out.
    fn intern(&mut self, mode: Mode, around: Surroundings<'_>, out: &mut Outbox) -> (Option<StackId>, bool) {
        let Stacks { user, kernel, interner, .. } = self;
        let (mut stack, mut first) = (None, user.len() + kernel.len());
        let in_user = |address: u64| around.space.find(address).map_or((None, address), |(m, at)| (Some(m), at));
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
