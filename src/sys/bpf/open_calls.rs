//! The calls that threads are within: what the programs that time them and those that sum waits share.

use super::calls;
use std::io;
use std::os::fd::OwnedFd;

/// Threads that may be within a call at once. The calls of others are not measured, and counted.
const MOST_THREADS: u32 = 32_768;

/// Words of a thread's entry, and where they lie: when and where the call began, what the thread had waited until then,
/// its faults.
pub(super) const BEGIN_WORDS: i16 = 7;
pub(super) const BEGAN: i16 = 0;
pub(super) const STACK: i16 = 8;
pub(super) const BLOCKED: i16 = 16;
pub(super) const QUEUED: i16 = 24;
pub(super) const INTERRUPTED: i16 = 32;
pub(super) const FAULTS: i16 = 40;

/// Words of the choice of calls to keep: the threshold, below which random number of 32 bits a shorter one is kept, what
/// that one stands for.
const CHOICE_WORDS: u32 = 3;

/// The calls that threads are within, and from which length on calls are kept. [`super::WaitSums`] passes on more of the waits
/// within calls by them.
#[derive(Debug)]
pub struct OpenCalls {
    /// When and where the call of each thread began, with what its thread had waited until then.
    pub(super) threads: OwnedFd,
    /// The choice of calls to keep, its threshold first.
    pub(super) choice: OwnedFd,
}

impl OpenCalls {
    /// Creates them, without any call.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn create() -> io::Result<OpenCalls> {
        Ok(OpenCalls {
            threads: calls::create_map(calls::HASH, 8 * BEGIN_WORDS as u32, MOST_THREADS, 0)?,
            choice: calls::create_map(calls::ARRAY, 8 * CHOICE_WORDS, 1, 0)?,
        })
    }

    /// The same maps.
    ///
    /// # Errors
    /// As `dup(2)`.
    pub(super) fn try_clone(&self) -> io::Result<OpenCalls> {
        Ok(OpenCalls { threads: self.threads.try_clone()?, choice: self.choice.try_clone()? })
    }
}
