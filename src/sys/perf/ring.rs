//! The ring buffer that the kernel writes records into, read in place.
//! Only the tail is written: the position up to which records have been read.

use super::event::PerfEvent;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Offsets in `struct perf_event_mmap_page`.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
const HEADER: usize = 8;

/// A mapped ring buffer. Records are read between `refresh`, which reads the head, and `release`, which frees space.
#[derive(Debug)]
pub struct Ring {
    /// The event that owns the ring. It must stay open, or redirected events lose their output.
    owner: PerfEvent,
    base: *mut u8,
    mapped: usize,
    page: usize,
    size: u64,
    /// Position up to which the kernel had written at the last refresh.
    head: u64,
    /// Position up to which records have been consumed.
    tail: u64,
    released: u64,
    /// For records that wrap around the end.
    scratch: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone; the kernel is the only other party, whichever thread reads.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `bytes` (a power of two, whole pages) onto `owner`.
    ///
    /// # Errors
    /// `PermissionDenied` beyond the locked-memory limit, `OutOfMemory`. The owner is returned for another try.
    pub fn map(owner: PerfEvent, bytes: usize) -> Result<Ring, (PerfEvent, io::Error)> {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let page = rustix::param::page_size();
        let (mapped, access) = (page + bytes, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a fresh shared mapping at an address of the kernel's choice touches no memory of ours.
        let base = unsafe { mmap(std::ptr::null_mut(), mapped, access, MapFlags::SHARED, &owner, 0) };
        match base {
            Ok(base) => Ok(Ring {
                owner,
                base: base.cast(),
                mapped,
                page,
                size: bytes as u64,
                head: 0,
                tail: 0,
                released: 0,
                scratch: Vec::with_capacity(1 << 16),
            }),
            Err(error) => Err((owner, error.into())),
        }
    }

    /// The event that owns the ring; others are redirected to it.
    #[must_use]
    pub fn owner(&self) -> &PerfEvent {
        &self.owner
    }

    /// Reads how far the kernel has written.
    pub fn refresh(&mut self) {
        // Acquire: the records below the head must be read after it.
        self.head = self.position(DATA_HEAD).load(Ordering::Acquire);
    }

    /// Returns the next record that has not been consumed, header included. Skips all unread bytes if they are invalid.
    pub fn peek(&mut self) -> Option<&[u8]> {
        // SAFETY: the data lies behind the first page and is `size` long; the slices die with the borrow of `self`.
        let (first, second) = unsafe { readable(self.base.wrapping_add(self.page), self.size, self.tail, self.head) };
        if first.is_empty() {
            return None;
        }
        if measure(first, second).is_none() {
            self.tail = self.head;
            return None;
        }
        next(first, second, &mut self.scratch)
    }

    /// Consumes a record of this length. Space is handed back to the kernel in eighths of the ring, so that a long
    /// round does not starve the writer.
    pub fn consume(&mut self, length: usize) {
        self.tail = self.tail.saturating_add(length as u64).min(self.head);
        if self.tail - self.released > self.size / 8 {
            self.release();
        }
    }

    /// Hands the consumed space back to the kernel.
    pub fn release(&mut self) {
        if self.released != self.tail {
            self.released = self.tail;
            // Release: the kernel may overwrite only after we have read.
            self.position(DATA_TAIL).store(self.tail, Ordering::Release);
        }
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: both offsets are aligned u64 fields of the mapped first page, shared with the kernel, which
        // accesses them atomically; the mapping lives as long as `self`.
        unsafe { AtomicU64::from_ptr(self.base.add(offset).cast()) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.owner.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map` and no slice of it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.base.cast::<c_void>(), self.mapped) };
    }
}

/// The bytes between tail and head: up to the ring's end, then from its start.
///
/// # Safety
/// `data` must be readable for `size` bytes, and nobody may write between tail and head while the slices live.
unsafe fn readable<'a>(data: *const u8, size: u64, tail: u64, head: u64) -> (&'a [u8], &'a [u8]) {
    let length = head.saturating_sub(tail).min(size) as usize;
    let start = (tail % size) as usize;
    let front = length.min(size as usize - start);
    // SAFETY: both ranges lie within `size`; the caller vouches for the rest.
    unsafe { (std::slice::from_raw_parts(data.add(start), front), std::slice::from_raw_parts(data, length - front)) }
}

/// The length of the record at the front; `None` when it is less than a header or more than the available bytes.
fn measure(first: &[u8], second: &[u8]) -> Option<usize> {
    // Records are 8-byte aligned and so is the ring's end: a header never wraps.
    let length = usize::from(u16::from_ne_bytes([*first.get(6)?, *first.get(7)?]));
    (length >= HEADER && length <= first.len() + second.len()).then_some(length)
}

/// The record at the front, in place, or copied together when it wraps.
fn next<'a>(first: &'a [u8], second: &[u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let length = measure(first, second)?;
    if let Some(record) = first.get(..length) {
        return Some(record);
    }
    scratch.clear();
    scratch.extend_from_slice(first);
    scratch.extend_from_slice(&second[..length - first.len()]);
    Some(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(length: u16, fill: u8) -> Vec<u8> {
        let mut bytes = vec![fill; usize::from(length)];
        bytes[6..8].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    /// Writes records at growing positions into a ring of 64 bytes and reads each back, wrapped or not.
    #[test]
    fn every_record_is_read_whole_wherever_it_wraps() {
        let (mut ring, mut position, mut scratch) = ([0u8; 64], 0u64, Vec::new());
        for turn in 0..50u8 {
            let written = record([8, 16, 24, 40][usize::from(turn) % 4], turn);
            for (i, byte) in written.iter().enumerate() {
                ring[(position as usize + i) % 64] = *byte;
            }
            let head = position + written.len() as u64;
            // SAFETY: the array is 64 bytes long and not written while the slices live.
            let (first, second) = unsafe { readable(ring.as_ptr(), 64, position, head) };
            assert_eq!(next(first, second, &mut scratch), Some(&written[..]), "turn {turn}");
            position = head;
        }
    }

    #[test]
    fn nothing_is_read_past_the_head_or_from_a_lying_header() {
        let mut scratch = Vec::new();
        let honest = record(16, 1);
        let mut lying = honest.clone();
        lying[6..8].copy_from_slice(&4u16.to_ne_bytes());
        let table: [(&[u8], bool); 4] =
            [(&honest, true), (&honest[..8], false), (&lying, false), (&honest[..3], false)];
        for (bytes, whole) in table {
            assert_eq!(next(bytes, &[], &mut scratch).is_some(), whole, "{bytes:?}");
        }
        // SAFETY: the vector is 16 bytes long and not written while the slices live.
        assert_eq!(unsafe { readable(honest.as_ptr(), 16, 5, 5) }, (&[][..], &[][..]));
    }
}
