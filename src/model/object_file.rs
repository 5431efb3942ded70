//! The bytes of an object file, read where they are needed. A file that others can change or cut is never mapped: then
//! its bytes could change while they are read, and vanish under a reader.

use super::file_stamp::FileStamp;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Bytes that can be read at any place.
pub trait ReadAt: Send + Sync {
    /// Number of bytes.
    fn length(&self) -> u64;

    /// Reads bytes from offset `at` on; fewer than fit into `to` only at the end.
    ///
    /// # Errors
    /// As `pread(2)`.
    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize>;

    /// The file on disk, if that is what they are.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl<B: AsRef<[u8]> + Send + Sync> ReadAt for B {
    fn length(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.as_ref().get(at..)).unwrap_or(&[]);
        let length = rest.len().min(to.len());
        to.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(length)
    }
}

/// An executable, library or debug file. Shared, and readable as long as anything refers to it.
#[derive(Clone)]
pub struct ObjectFile {
    bytes: Arc<dyn ReadAt>,
    stamp: Option<FileStamp>,
}

impl ObjectFile {
    /// Reads from these bytes.
    pub fn new(bytes: impl ReadAt + 'static) -> ObjectFile {
        ObjectFile { bytes: Arc::new(bytes), stamp: None }
    }

    /// The same bytes, which are those of this file.
    #[must_use]
    pub fn stamped(self, stamp: FileStamp) -> ObjectFile {
        ObjectFile { stamp: Some(stamp), ..self }
    }

    /// Which file it is; `None` for bytes that are of no file.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        self.stamp
    }

    /// Number of bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.bytes.length()
    }

    /// The file on disk; `None` for an image in memory.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.bytes.descriptor()
    }

    /// A range of its bytes; `None` if it does not have all of them, or if there is no memory for them.
    #[must_use]
    pub fn bytes(&self, start: u64, length: u64) -> Option<Box<[u8]>> {
        start.checked_add(length).filter(|end| *end <= self.length())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).ok()?).ok()?;
        let read = ObjectReader { file: self.clone(), at: start }.take(length).read_to_end(&mut bytes).ok()?;
        (read as u64 == length).then(|| bytes.into_boxed_slice())
    }

    /// Reads it from the start.
    #[must_use]
    pub fn reader(&self) -> ObjectReader {
        ObjectReader { file: self.clone(), at: 0 }
    }
}

impl fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectFile").field("length", &self.length()).finish_non_exhaustive()
    }
}

/// A position in an object file.
#[derive(Debug, Clone)]
pub struct ObjectReader {
    file: ObjectFile,
    at: u64,
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.file.bytes.read_at(self.at, to)?;
        self.at += length as u64;
        Ok(length)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.file.length(), by),
        };
        self.at = from.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_whole_or_not_at_all() {
        let file = ObjectFile::new(b"0123456789".to_vec());
        for (start, length, expected) in [
            (0, 10, Some("0123456789")),
            (3, 4, Some("3456")),
            (10, 0, Some("")),
            (9, 2, None),
            (11, 0, None),
            (u64::MAX, 2, None),
            (0, u64::MAX, None),
        ] {
            let bytes = file.bytes(start, length);
            assert_eq!(bytes.as_deref(), expected.map(str::as_bytes), "{length} bytes from {start}");
        }
    }

    /// A file that was cut after its length was asked for.
    struct Cut;

    impl ReadAt for Cut {
        fn length(&self) -> u64 {
            100
        }

        fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
            b"only this".as_slice().read_at(at, to)
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_has_no_more_bytes() {
        let file = ObjectFile::new(Cut);
        assert_eq!(file.bytes(0, 9).as_deref(), Some(b"only this".as_slice()));
        assert_eq!(file.bytes(5, 50), None);
        let mut reader = file.reader();
        assert_eq!((reader.seek(SeekFrom::End(-95)).unwrap(), reader.seek(SeekFrom::Current(-3)).unwrap()), (5, 2));
        assert!(reader.seek(SeekFrom::Start(1)).is_ok() && reader.seek(SeekFrom::Current(-2)).is_err());
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "nly this");
    }
}
