//! Maps files of other processes as shared bytes, so that symbols outlive exec, exit and deletion.

use super::foreign_files::stamp_of;
pub use super::foreign_files::{is_believed, open_foreign, open_plain, open_regular};
use crate::abi::mappings;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Bytes, ObjectFile, ReadAt};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Reads up to `most` bytes from offset `from`; returns none where the file is shorter.
///
/// # Errors
/// As `read(2)`.
pub fn read_from(mut file: &File, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file on disk that is read in places, and its length when it was opened.
struct DiskFile {
    file: File,
    length: u64,
}

impl ReadAt for DiskFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(&self.file, to, at)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

/// An object file that is read in places, as far as it reaches now. It keeps the descriptor.
///
/// # Errors
/// As `fstat(2)`.
pub fn object(file: File) -> io::Result<ObjectFile> {
    let stamp = stamp_of(&rustix::fs::fstat(&file)?);
    Ok(object_of_length(file, stamp.size).stamped(stamp))
}

/// The same of a file whose length is known.
#[must_use]
pub fn object_of_length(file: File, length: u64) -> ObjectFile {
    ObjectFile::new(DiskFile { file, length })
}

/// A private read-only mapping; unmapped when dropped.
struct Mapped {
    address: *mut std::ffi::c_void,
    length: usize,
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
        const PAGE: usize = 4096;
        let (start, end) = (range.start.next_multiple_of(PAGE), range.end.min(self.length));
        if start >= end {
            return;
        }
        let address = self.address.wrapping_byte_add(start);
        // SAFETY: the range lies in a private mapping of a file that is never written to, so its pages are dropped and
        // read from the file again. A kernel with larger pages refuses an unaligned start, which changes nothing.
        let _ = unsafe { rustix::mm::madvise(address, end - start, rustix::mm::Advice::LinuxDontNeed) };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
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
    Ok(Mapped { address, length })
}

/// Reads the vdso image of this process. All processes on the kernel share it (64-bit ones on a 64-bit kernel).
/// `None` where there is no vdso or `/proc` is not mounted.
#[must_use]
pub fn own_vdso() -> Option<Vec<u8>> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let vdso = mappings(&maps).find(|mapping| *mapping.name() == *b"[vdso]")?;
    let mut image = vec![0; usize::try_from(vdso.end.checked_sub(vdso.start)?).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut image, vdso.start).ok()?;
    Some(image)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

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
    fn a_growing_file_is_read_from_where_reading_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map");
        std::fs::write(&path, b"one two").unwrap();
        let (file, stamp) = open_plain(&path).unwrap();
        let read = |from, most| read_from(&file, from, most).unwrap();
        assert_eq!((stamp.size, read(4, 9), read(0, 3), read(99, 9)), (7, b"two".to_vec(), b"one".to_vec(), vec![]));
    }

    #[test]
    fn the_vdso_is_an_elf_image() {
        if let Some(image) = own_vdso() {
            assert!(image.starts_with(b"\x7fELF"));
        }
    }
}
