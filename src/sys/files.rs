//! Opens and reads files of this program and of others.

use super::foreign_files::stamp_of;
pub use super::foreign_files::{is_believed, open_foreign, open_plain, open_regular};
pub use super::mapped_file::{MappedFile, map, map_of_length};
use crate::abi::mappings;
use crate::model::{ObjectFile, ReadAt};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

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
