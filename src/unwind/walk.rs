//! The walk over a sampled stack. It allocates nothing once the images that it meets are known, and its cost is bounded,
//! whatever they contain.

use super::AddressSpace;
use super::code::Unwinder;
use super::cost::Cost;
use super::returns::{Candidate, Lack, MOST_SITES, Reach, choose};
use crate::abi::perf::Registers;
use crate::error::catch_panic;
use crate::model::StackEnd;
use crate::model::limits::UNWIND_STACK;
use framehop::{CacheNative, Error, FrameAddress, MayAllocateDuringUnwind, Unwinder as _};
use std::fmt;

/// Deeper stacks are truncated: four times the kernel's default, and a bound on what a corrupt stack can cost.
const DEPTH: usize = 512;

/// The registers a stack walk starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regs {
    /// Instruction pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer (`rbp`, `x29`).
    pub bp: u64,
    /// Link register; unused on x86-64.
    pub lr: u64,
}

/// perf's numbers of the instruction, stack and frame pointer, and of the link register if there is one.
#[cfg(target_arch = "x86_64")]
const NUMBERS: (u32, u32, u32, Option<u32>) = (8, 7, 6, None);
#[cfg(target_arch = "aarch64")]
const NUMBERS: (u32, u32, u32, Option<u32>) = (32, 31, 29, Some(30));

/// Where the kernel saved the registers of interrupted code, above the stack pointer in the frame that a signal's handler
/// returns to: instruction, stack and frame pointer, and the link register if there is one.
#[cfg(target_arch = "x86_64")]
const INTERRUPTED: (u64, u64, u64, Option<u64>) = (168, 160, 120, None);
#[cfg(target_arch = "aarch64")]
const INTERRUPTED: (u64, u64, u64, Option<u64>) = (568, 560, 544, Some(552));

/// The registers that a sample must carry for unwinding. Every other one would cost eight bytes per sample.
pub const REGISTERS: u64 = {
    let (ip, sp, bp, lr) = NUMBERS;
    1 << ip
        | 1 << sp
        | 1 << bp
        | match lr {
            Some(lr) => 1 << lr,
            None => 0,
        }
};

impl Regs {
    /// The registers of a sample; `None` if any is missing, as in a kernel thread.
    #[must_use]
    pub fn sampled(registers: &Registers<'_>) -> Option<Regs> {
        let (ip, sp, bp, lr) = NUMBERS;
        let lr = lr.map_or(Some(0), |lr| registers.get(lr))?;
        Some(Regs { ip: registers.get(ip)?, sp: registers.get(sp)?, bp: registers.get(bp)?, lr })
    }
}

/// Addresses whose cost is remembered.
const KNOWN: usize = 512;

/// What is remembered of images, shared by all address spaces of one thread.
pub struct Cache {
    rules: CacheNative<MayAllocateDuringUnwind>,
    /// Image, address in it, and what unwinding from there costs.
    costs: Box<[(u64, u64, Option<Cost>); KNOWN]>,
    /// For code of no image: it follows frame pointers.
    nowhere: Unwinder,
    /// Return addresses that fit a measured call, of the walk in hand.
    candidates: Vec<Candidate>,
}

impl Default for Cache {
    fn default() -> Cache {
        let costs = Box::new([(u64::MAX, 0, None); KNOWN]);
        Cache { rules: CacheNative::default(), costs, nowhere: Unwinder::new(), candidates: Vec::new() }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

impl Cache {
    /// Number of rules that had to be made.
    fn made(&self) -> u64 {
        let stats = self.rules.stats();
        stats.miss_empty_slot_count + stats.miss_wrong_address_count + stats.miss_wrong_modules_count
    }
}

/// A walk on its way.
struct Walk<'a> {
    space: &'a AddressSpace,
    cache: &'a mut Cache,
    regs: framehop::UnwindRegsNative,
    /// Bytes of unwind instructions that may still be evaluated.
    left: usize,
    /// The stack pointer that the sample, or the last signal on the way, found.
    sp: u64,
    /// It ended at a return address of zero.
    null_return: bool,
    /// As many addresses end it.
    deepest: usize,
    /// What it lacked at a measured call.
    lack: Option<Lack>,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkEnd {
    /// Whole where a function has no caller.
    pub end: StackEnd,
    /// That the caller's address is zero was all that said so: a stack that code switched to often ends in zeros, too.
    pub null_return: bool,
    /// What it lacked to go on at a measured call.
    pub lack: Option<Lack>,
}

/// Where a part of a walk ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// At the return of a measured function.
    Probe,
    End(StackEnd),
}

/// A step of a walk.
enum Step {
    /// To the function that called, at an address within the call.
    Caller(u64),
    /// To code that a signal interrupted, at its next instruction.
    Interrupted(u64),
    End(StackEnd),
}

impl Walk<'_> {
    /// From an address to its caller's; `exact` if it is that of an instruction rather than within a call.
    fn step(&mut self, at: u64, exact: bool, read: &mut impl FnMut(u64) -> Result<u64, ()>) -> Step {
        let mapping = self.space.find(at);
        let at = mapping.map_or(at, |mapping| at.wrapping_sub(mapping.base));
        let address = if exact {
            Some(FrameAddress::from_instruction_pointer(at))
        } else {
            FrameAddress::from_return_address(at.wrapping_add(1))
        };
        let mut evaluated = 0;
        let cost = mapping.map_or(Some(Cost::default()), |mapping| {
            let image = mapping.code.number(exact);
            let known = &mut self.cache.costs[(at ^ image) as usize % KNOWN];
            if (known.0, known.1) != (image, at) {
                // To tell what they cost, they are read once as well.
                evaluated += 1;
                let cost = mapping.code.cost(at, exact);
                *known = (image, at, cost.map(|cost| Cost { starts: mapping.code.starts_program(at), ..cost }));
            }
            known.2
        });
        let (Some(address), Some(cost)) = (address, cost) else { return Step::End(StackEnd::Broken) };
        if cost.signal {
            // Its unwind instructions read memory, which only those of signals' frames do.
            let Some(left) = self.left.checked_sub(evaluated * cost.bytes as usize) else {
                return Step::End(StackEnd::Truncated);
            };
            self.left = left;
            return self.interrupted(read).unwrap_or(Step::End(StackEnd::Broken));
        }
        if cost.starts {
            return Step::End(StackEnd::Whole);
        }
        let made = self.cache.made();
        let Cache { rules, nowhere, .. } = &mut *self.cache;
        let unwinder = mapping.map_or(&*nowhere, |mapping| mapping.code.unwinder(exact));
        let caller = unwinder.unwind_frame(address, &mut self.regs, rules, read);
        evaluated += usize::from(self.cache.made() > made);
        let Some(left) = self.left.checked_sub(evaluated * cost.bytes as usize) else {
            return Step::End(StackEnd::Truncated);
        };
        self.left = left;
        match caller {
            Ok(Some(address)) if address > 0 => Step::Caller(address - 1),
            Ok(_) => Step::End(StackEnd::Whole),
            Err(Error::ReturnAddressIsNull) => {
                self.null_return = true;
                Step::End(StackEnd::Whole)
            }
            Err(_) => Step::End(StackEnd::Broken),
        }
    }

    /// From the frame that the kernel made for a signal's handler to the code that was interrupted.
    fn interrupted(&mut self, read: &mut impl FnMut(u64) -> Result<u64, ()>) -> Option<Step> {
        let frame = self.regs.sp();
        let mut saved = |offset: u64| read(frame.wrapping_add(offset)).ok();
        let (ip, sp, bp, lr) = INTERRUPTED;
        let lr = lr.map_or(Some(0), &mut saved)?;
        let regs = Regs { ip: saved(ip)?, sp: saved(sp)?, bp: saved(bp)?, lr };
        self.regs = self.space.native(&regs);
        self.sp = regs.sp;
        (regs.ip > 0).then_some(Step::Interrupted(regs.ip))
    }

    fn run(&mut self, ip: u64, read: &mut impl FnMut(u64) -> Result<u64, ()>, out: &mut Vec<u64>) -> StackEnd {
        self.deepest = out.len() + DEPTH;
        // The kernel is about to resume the caller.
        let has_returned = self.space.measured.is_trampoline(ip);
        let mut stop = if has_returned { Stop::Probe } else { self.stretch(ip, true, read, out) };
        loop {
            match stop {
                Stop::End(end) => return end,
                Stop::Probe if out.len() >= self.deepest => return StackEnd::Truncated,
                Stop::Probe => {}
            }
            match self.put_back(read, out) {
                Ok(site) => stop = self.stretch(site.wrapping_sub(1), false, read, out),
                Err(lack) => {
                    self.lack = Some(lack);
                    // The first frame is where it ran; of another one, the address within the call.
                    let is_first = out.len() + DEPTH == self.deepest;
                    out.push(if is_first { ip } else { self.space.measured.within() });
                    return StackEnd::Broken;
                }
            }
        }
    }

    /// The return address that the trampoline has taken the place of. The walk stands where the measured function has just
    /// returned, and `out` ends with that function unless it has done so already.
    fn put_back(&mut self, read: &mut impl FnMut(u64) -> Result<u64, ()>, out: &mut Vec<u64>) -> Result<u64, Lack> {
        let (regs, sp, null_return, length) = (self.regs, self.sp, self.null_return, out.len());
        let space = self.space;
        let measured = out.last().and_then(|within| space.function(*within));
        let mut candidates = std::mem::take(&mut self.cache.candidates);
        candidates.clear();
        for site in space.measured.sites().iter().take(MOST_SITES) {
            let within = site.wrapping_sub(1);
            // Code without tables would have to be followed by frame pointers, which lead anywhere.
            if space.find(within).is_none() || space.measured.is_trampoline(*site) {
                continue;
            }
            let stop = self.stretch(within, false, read, out);
            let back = out.get(length + 1).map(|caller| caller.wrapping_add(1));
            let is_code = out.iter().skip(length).all(|address| space.find(*address).is_some());
            // Only the measured function returns to the trampoline.
            let outer = out.last().and_then(|within| space.function(*within));
            let is_other = stop == Stop::Probe && measured.is_some() && outer != measured;
            let reach = match stop {
                _ if is_other => None,
                Stop::Probe | Stop::End(StackEnd::Whole) if is_code && !self.null_return => Some(Reach::Whole),
                Stop::End(StackEnd::Truncated) if is_code => Some(Reach::Cut),
                Stop::Probe | Stop::End(StackEnd::Whole) => Some(Reach::Doubtful),
                Stop::End(_) => None,
            };
            (self.regs, self.sp, self.null_return) = (regs, sp, null_return);
            out.truncate(length);
            if let Some(reach) = reach {
                candidates.push(Candidate { site: *site, reach, function: space.function(within), back });
            }
        }
        let chosen = choose(&mut candidates, &space.measured);
        self.cache.candidates = candidates;
        chosen
    }

    /// From an address to the return of the next measured function, or to the end.
    fn stretch(
        &mut self,
        from: u64,
        exact: bool,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
        out: &mut Vec<u64>,
    ) -> Stop {
        let (mut at, mut exact) = (from, exact);
        out.push(at);
        loop {
            let step = self.step(at, exact, read);
            exact = matches!(step, Step::Interrupted(_));
            match step {
                Step::End(end) => return Stop::End(end),
                Step::Caller(address) if self.space.measured.is_trampoline(address.wrapping_add(1)) => {
                    return Stop::Probe;
                }
                Step::Caller(_) | Step::Interrupted(_) if out.len() >= self.deepest => {
                    return Stop::End(StackEnd::Truncated);
                }
                Step::Caller(address) | Step::Interrupted(address) => {
                    at = address;
                    out.push(address);
                }
            }
        }
    }
}

impl AddressSpace {
    /// Whether a thread starts in the function at this address. Unwinding it without any stack shows that it has no caller.
    pub fn starts_thread(&self, cache: &mut Cache, ip: u64) -> bool {
        // Not zero: where frame pointers replace unwind information, a zero one would mean the end.
        let regs = Regs { ip, sp: 0x1000, bp: 0x1000, lr: 0x1000 };
        self.unwind(cache, &regs, &[], &mut Vec::new()) == StackEnd::Whole
    }

    /// Walks a stack. `stack` holds the bytes from `regs.sp` upward. Appends addresses to `out`, innermost first; a
    /// caller's address is the return address minus one, so that it lies within the call.
    pub fn unwind(&self, cache: &mut Cache, regs: &Regs, stack: &[u8], out: &mut Vec<u64>) -> StackEnd {
        self.walk(cache, regs, stack, out).end
    }

    /// As [`AddressSpace::unwind`]; also says what ended the walk.
    pub fn walk(&self, cache: &mut Cache, regs: &Regs, stack: &[u8], out: &mut Vec<u64>) -> WalkEnd {
        let limit = regs.sp.saturating_add(stack.len() as u64);
        let mut beyond = false;
        let mut read = |address: u64| {
            let offset = address.checked_sub(regs.sp).and_then(|offset| usize::try_from(offset).ok()).ok_or(())?;
            let bytes = offset.checked_add(8).and_then(|end| stack.get(offset..end));
            // An address up to 16 MiB past the copy still belongs to this stack; anything else is an unwinding error.
            beyond |= bytes.is_none() && address < limit.saturating_add(16 << 20);
            bytes.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes).ok_or(())
        };
        let mut walk = Walk {
            space: self,
            cache,
            regs: self.native(regs),
            left: UNWIND_STACK,
            sp: regs.sp,
            null_return: false,
            deepest: usize::MAX,
            lack: None,
        };
        // A damaged table can make the parser overflow; the program that brought it must not end the recording.
        let end = catch_panic(|| Ok(walk.run(regs.ip, &mut read, out))).unwrap_or(StackEnd::Broken);
        // A handler on a stack of its own interrupted another one, of which nothing was copied.
        let elsewhere = !(regs.sp..=limit).contains(&walk.sp);
        let end = if end == StackEnd::Broken && (beyond || elsewhere) { StackEnd::Truncated } else { end };
        WalkEnd { end, null_return: walk.null_return, lack: walk.lack }
    }

    #[cfg(target_arch = "x86_64")]
    #[expect(clippy::unused_self, reason = "other architectures' addresses are signed")]
    fn native(&self, regs: &Regs) -> framehop::UnwindRegsNative {
        framehop::UnwindRegsNative::new(regs.ip, regs.sp, regs.bp)
    }

    /// Return addresses may be signed. The mask strips the bits that no code address of this process uses.
    #[cfg(target_arch = "aarch64")]
    fn native(&self, regs: &Regs) -> framehop::UnwindRegsNative {
        let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(self.end());
        framehop::UnwindRegsNative::new_with_ptr_auth_mask(mask, regs.lr, regs.sp, regs.bp)
    }
}
