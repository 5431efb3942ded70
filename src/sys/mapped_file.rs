//! Whole files as bytes in memory. A file that others cut meanwhile ends in zeros, and says so.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Bytes;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::param::page_size;
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// A private read-only mapping; unmapped when dropped.
struct Mapped {
    address: *mut c_void,
    length: usize,
    guard: Option<&'static Guard>,
}

// SAFETY: the mapping is read-only and owned; nothing about it depends on the thread that reads it.
unsafe impl Send for Mapped {}
// SAFETY: as above: shared reads of read-only memory.
unsafe impl Sync for Mapped {}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `address..address + length` was mapped readable by `map` and stays so until drop.
        unsafe { std::slice::from_raw_parts(self.address.cast(), self.length) }
    }
}

impl Mapped {
    fn release(&self, range: std::ops::Range<usize>) {
        let (start, end) = (range.start.next_multiple_of(page_size()), range.end.min(self.length));
        if start >= end {
            return;
        }
        let address = self.address.wrapping_byte_add(start);
        // SAFETY: the range lies in a private mapping of a file that is never written to, so its pages are dropped and
        // read from the file again.
        let _ = unsafe { rustix::mm::madvise(address, end - start, rustix::mm::Advice::LinuxDontNeed) };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(guard) = self.guard {
            guard.start.store(0, Ordering::Release);
        }
        // SAFETY: the range is ours alone and no reference outlives `self`. A failure harmlessly leaves it mapped.
        let _ = unsafe { rustix::mm::munmap(self.address, self.length) };
    }
}

/// A mapped file whose pages are given back as it is read, so that it takes no memory in proportion to its size.
#[derive(Clone)]
pub struct MappedFile(Arc<Mapped>);

impl MappedFile {
    /// Maps a whole file.
    ///
    /// # Errors
    /// As [`map`].
    pub fn open(file: &File) -> Result<MappedFile> {
        mapped(file).map(|mapped| MappedFile(Arc::new(mapped)))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Arc::clone(&self.0) as Bytes
    }

    /// Whether the file became shorter than what was read of it. Bytes beyond its end are read as zeros.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.0.guard.is_some_and(|guard| guard.cut.load(Ordering::Acquire))
    }

    /// Gives back the pages in a range of bytes. They can still be read: the kernel then maps them again.
    pub fn release(&self, range: std::ops::Range<usize>) {
        self.0.release(range);
    }
}

impl std::fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MappedFile").field("length", &self.0.length).finish_non_exhaustive()
    }
}

/// Maps a whole file of the user's own or of the kernel, which nobody changes. The bytes stay readable after the file is
/// deleted.
///
/// # Errors
/// `Corrupt` for an empty file; otherwise as `mmap(2)`.
pub fn map(file: &File) -> Result<Bytes> {
    mapped(file).map(|mapped| Arc::new(mapped) as Bytes)
}

/// The same of a file whose length is known.
///
/// # Errors
/// As for [`map`].
pub fn map_of_length(file: &File, length: u64) -> Result<Bytes> {
    mapped_of_length(file, length).map(|mapped| Arc::new(mapped) as Bytes)
}

fn mapped(file: &File) -> Result<Mapped> {
    mapped_of_length(file, file.metadata()?.len())
}

fn mapped_of_length(file: &File, length: u64) -> Result<Mapped> {
    let length = usize::try_from(length).unwrap_or(0);
    if length == 0 {
        return Err(Error::new(ErrorKind::Corrupt, "the file is empty"));
    }
    // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of ours.
    let address =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0) }
            .map_err(io::Error::from)?;
    Ok(Mapped { address, length, guard: Guard::over(address.addr(), length) })
}

/// A mapping whose file others may cut: the kernel answers a read beyond its end with `SIGBUS`, which would end the
/// program. The handler puts zeros there instead, and says so.
struct Guard {
    /// First address; 0 while it guards nothing.
    start: AtomicUsize,
    length: AtomicUsize,
    cut: AtomicBool,
}

/// More than are ever mapped at once; a mapping beyond them is not guarded.
static GUARDS: [Guard; 64] =
    [const { Guard { start: AtomicUsize::new(0), length: AtomicUsize::new(0), cut: AtomicBool::new(false) } }; 64];

/// Set while a guard is being made or handed over, in place of its first address.
const TAKEN: usize = usize::MAX;

impl Guard {
    fn over(start: usize, length: usize) -> Option<&'static Guard> {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(catch_bus_errors);
        let free = |guard: &&Guard| guard.start.compare_exchange(0, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let guard = GUARDS.iter().find(free)?;
        guard.length.store(length, Ordering::Relaxed);
        guard.cut.store(false, Ordering::Relaxed);
        guard.start.store(start, Ordering::Release);
        Some(guard)
    }

    /// Replaces the mapping by zeros from this address to its end; false if the address is not in it.
    fn patch(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        let length = self.length.load(Ordering::Relaxed);
        if start == 0 || start == TAKEN || !(start..start.saturating_add(length)).contains(&address) {
            return false;
        }
        let page = address & !(page_size() - 1);
        let (anonymous, read) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED, libc::PROT_READ);
        // SAFETY: replaces pages of a mapping of ours, which its owner only reads. The call is a system call and no more,
        // as a signal handler requires.
        let zeros = unsafe { libc::mmap(page as *mut c_void, start + length - page, read, anonymous, -1, 0) };
        self.cut.store(true, Ordering::Release);
        zeros != libc::MAP_FAILED
    }
}

/// What `SIGBUS` meant before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

fn catch_bus_errors() {
    // SAFETY: all zeros are a valid `sigaction`, and both calls get pointers to one. The handler does what a signal
    // handler may: it reads atomics and makes system calls.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut ours: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return;
        }
        // Set first: from here on the handler may run.
        BEFORE.get_or_init(|| before);
        ours.sa_sigaction = on_bus_error as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut());
    }
}

extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t`, which has an address for this signal.
    let address = unsafe { (*info).si_addr() }.addr();
    if GUARDS.iter().any(|guard| guard.patch(address)) {
        return;
    }
    // Somebody else's: on return, the same access is answered as if this handler had never been.
    if let Some(before) = BEFORE.get() {
        // SAFETY: `before` came from the same call.
        unsafe { libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::sys::files::open_regular;

    #[test]
    fn mapped_bytes_outlive_the_file_and_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("code");
        std::fs::write(&path, b"\x7fELF").unwrap();
        let (file, stamp) = open_regular(&path).unwrap();
        let bytes = map(&file).unwrap();
        drop(file);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((*bytes).as_ref(), b"\x7fELF");
        assert_ne!(stamp.identity.inode, 0);
    }

    #[test]
    fn released_pages_read_the_same_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let written: Vec<u8> = (0..50_000u32).map(|at| at as u8).collect();
        std::fs::write(&path, &written).unwrap();
        let file = MappedFile::open(&File::open(&path).unwrap()).unwrap();
        let bytes = file.bytes();
        for range in [0..50_000, 1..4097, 5000..100_000, 8192..8192, 60_000..70_000] {
            assert!((*bytes).as_ref() == written);
            file.release(range);
        }
        assert!((*bytes).as_ref() == written);
    }

    #[test]
    fn an_empty_file_cannot_be_mapped() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(map(&file).err().map(|error| error.kind()), Some(ErrorKind::Corrupt));
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_read_ends_in_zeros_and_says_so() {
        let file = tempfile::tempfile().unwrap();
        let written = vec![7; 5 * page_size()];
        std::os::unix::fs::FileExt::write_all_at(&file, &written, 0).unwrap();
        let mapped = MappedFile::open(&file).unwrap();
        let bytes = mapped.bytes();
        assert!((*bytes).as_ref() == written && !mapped.was_cut());
        file.set_len(2 * page_size() as u64).unwrap();
        assert!(
            (*bytes).as_ref()[..2 * page_size()] == written[..2 * page_size()] && !mapped.was_cut(),
            "this is still there"
        );
        assert!((*bytes).as_ref()[2 * page_size()..].iter().all(|byte| *byte == 0) && mapped.was_cut());
        drop((bytes, mapped));
        let again = MappedFile::open(&file).unwrap();
        assert!(
            (*again.bytes()).as_ref() == &written[..2 * page_size()] && !again.was_cut(),
            "its guard was handed over"
        );
    }
}
