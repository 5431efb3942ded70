//! One process's code as the unwinder sees it, and the walk over a sampled stack.
//! Unwinding allocates nothing per stack once the process's mappings are known.

use super::code::UnwindTables;
use super::section::SectionBytes;
use crate::abi::perf::Registers;
use crate::error::catch_panic;
use crate::model::StackEnd;
use framehop::{CacheNative, Error, FrameAddress, MayAllocateDuringUnwind, Module, Unwinder, UnwinderNative};
use std::fmt;
use std::sync::Arc;

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

/// Cache of computed unwind rules, shared by all address spaces of one thread.
#[derive(Default)]
pub struct Cache(CacheNative<MayAllocateDuringUnwind>);

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

/// The executable mappings of one process. Cloned when the process forks.
#[derive(Clone, Default)]
pub struct AddressSpace {
    unwinder: UnwinderNative<SectionBytes, MayAllocateDuringUnwind>,
    /// Start, end, file offset and code of each mapping, sorted by address, without overlap.
    mapped: Vec<(u64, u64, u64, Arc<UnwindTables>)>,
}

impl fmt::Debug for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressSpace").field("mappings", &self.mapped.len()).finish()
    }
}

impl AddressSpace {
    /// Creates an address space without code.
    #[must_use]
    pub fn new() -> Self {
        AddressSpace::default()
    }

    /// Maps a file's bytes from `file_offset` on. Replaces any mapping in the range.
    pub fn map(&mut self, start: u64, end: u64, file_offset: u64, code: &Arc<UnwindTables>) {
        self.unmap(start, end);
        self.add(start, end, file_offset, code.clone());
    }

    /// Removes the mappings in the range. A mapping that lies only partly in it keeps the rest.
    pub fn unmap(&mut self, start: u64, end: u64) {
        let from = self.mapped.partition_point(|m| m.1 <= start);
        let to = self.mapped.partition_point(|m| m.0 < end);
        let cut: Vec<_> = self.mapped.drain(from..to.max(from)).collect();
        for (old_start, old_end, offset, code) in cut {
            self.unwinder.remove_module(old_start);
            if old_start < start {
                self.add(old_start, start, offset, code.clone());
            }
            if old_end > end {
                self.add(end, old_end, offset.saturating_add(end - old_start), code);
            }
        }
    }

    fn add(&mut self, start: u64, end: u64, file_offset: u64, code: Arc<UnwindTables>) {
        let Some(address) = code.address_of(file_offset) else { return };
        if start >= end {
            return;
        }
        let base = start.wrapping_sub(address);
        self.unwinder.add_module(Module::new(String::new(), start..end, base, code.sections()));
        let at = self.mapped.partition_point(|m| m.0 < start);
        self.mapped.insert(at, (start, end, file_offset, code));
    }

    /// Whether a thread starts in the function at this address. Unwinding it without any stack shows that it has no caller.
    pub fn starts_thread(&self, cache: &mut Cache, ip: u64) -> bool {
        // Not zero: where frame pointers replace unwind information, a zero one would mean the end.
        let regs = Regs { ip, sp: 0x1000, bp: 0x1000, lr: 0x1000 };
        self.unwind(cache, &regs, &[], &mut Vec::new()) == StackEnd::Whole
    }

    /// Walks a stack. `stack` holds the bytes from `regs.sp` upward. Appends addresses to `out`, innermost first; a
    /// caller's address is the return address minus one, so that it lies within the call.
    pub fn unwind(&self, cache: &mut Cache, regs: &Regs, stack: &[u8], out: &mut Vec<u64>) -> StackEnd {
        let limit = regs.sp.saturating_add(stack.len() as u64);
        let mut beyond = false;
        let mut read = |address: u64| {
            let offset = address.checked_sub(regs.sp).and_then(|offset| usize::try_from(offset).ok()).ok_or(())?;
            let bytes = offset.checked_add(8).and_then(|end| stack.get(offset..end));
            // An address up to 16 MiB past the copy still belongs to this stack; anything else is an unwinding error.
            beyond |= bytes.is_none() && address < limit.saturating_add(16 << 20);
            bytes.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes).ok_or(())
        };
        let walk = || {
            let mut frames = self.unwinder.iter_frames(regs.ip, self.native(regs), &mut cache.0, &mut read);
            for _ in 0..DEPTH {
                match frames.next() {
                    Ok(Some(FrameAddress::InstructionPointer(ip))) => out.push(ip),
                    Ok(Some(FrameAddress::ReturnAddress(address))) => out.push(address.get() - 1),
                    Ok(None) | Err(Error::ReturnAddressIsNull) => return Ok(StackEnd::Whole),
                    Err(_) => return Ok(StackEnd::Broken),
                }
            }
            Ok(StackEnd::Truncated)
        };
        // A damaged table can make the parser overflow; the program that brought it must not end the recording.
        let end = catch_panic(walk).unwrap_or(StackEnd::Broken);
        if end == StackEnd::Broken && beyond { StackEnd::Truncated } else { end }
    }

    #[cfg(target_arch = "x86_64")]
    fn native(&self, regs: &Regs) -> framehop::UnwindRegsNative {
        framehop::UnwindRegsNative::new(regs.ip, regs.sp, regs.bp)
    }

    /// Return addresses may be signed. The mask strips the bits that no code address of this process uses.
    #[cfg(target_arch = "aarch64")]
    fn native(&self, regs: &Regs) -> framehop::UnwindRegsNative {
        let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(self.unwinder.max_known_code_address());
        framehop::UnwindRegsNative::new_with_ptr_auth_mask(mask, regs.lr, regs.sp, regs.bp)
    }
}
