//! Where the entry of a thread has what, for all programs that share it.

/// States a thread leaves the CPU in: runnable, sleeping, uninterruptible, another.
pub const STATES: usize = 4;

/// Words of a thread's entry: process and thread, when it left, when it was woken, its state, then four per state:
/// waits, time blocked, time queued, the longest; last the time blocked and queued of all waits, passed on or summed, and the
/// time that interrupts took, if that is followed.
pub(super) const WORDS: usize = 4 + 4 * STATES + 3;
pub(super) const IDS: i16 = 0;
pub(super) const LEFT: i16 = 8;
pub(super) const WOKEN: i16 = 16;
pub(super) const STATE: i16 = 24;
pub(super) const SUMS: i16 = 32;
pub(super) const BLOCKED: i16 = SUMS + 32 * STATES as i16;
pub(super) const QUEUED: i16 = BLOCKED + 8;
pub(super) const INTERRUPTED: i16 = QUEUED + 8;
