//! Which user registers a sample must carry for unwinding, and their positions in it.
//! No others are sampled: every register costs eight bytes per sample.

use super::record::Words;

/// The registers that unwinding starts from. `lr` is 0 where the architecture has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Instruction pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer.
    pub bp: u64,
    /// Link register.
    pub lr: u64,
}

/// Bits of `PERF_REG_X86_BP`, `_SP` and `_IP`.
#[cfg(target_arch = "x86_64")]
pub const MASK: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Bits of `PERF_REG_ARM64_X29`, `_LR`, `_SP` and `_PC`.
#[cfg(target_arch = "aarch64")]
pub const MASK: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// The registers of a sample taken with `MASK`; `None` for a kernel thread, which has none.
#[must_use]
pub fn decode(words: &Words<'_>) -> Option<Registers> {
    let mut next = words.iter();
    #[cfg(target_arch = "x86_64")]
    {
        let (bp, sp) = (next.next()?, next.next()?);
        Some(Registers { bp, sp, ip: next.next()?, lr: 0 })
    }
    #[cfg(target_arch = "aarch64")]
    {
        let (bp, lr) = (next.next()?, next.next()?);
        let sp = next.next()?;
        Some(Registers { bp, lr, sp, ip: next.next()? })
    }
}
