//! The bytes of an unwind table, read when a stack first needs them: most mapped code is never sampled. Go compresses its
//! tables.

use crate::model::ObjectFile;
use crate::model::limits::{UNWIND_TABLE, UNWIND_TABLES};
use object::{CompressedData, CompressionFormat};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of all tables in memory.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A table in a file. It is empty if it is too large, or can no longer be read: stacks then end at its code.
#[derive(Clone)]
pub(super) struct SectionBytes(Arc<Lazy>);

struct Lazy {
    file: ObjectFile,
    start: u64,
    length: u64,
    /// Bytes of which it is the zlib stream, if it is compressed.
    plain: Option<u64>,
    bytes: OnceLock<Box<[u8]>>,
}

impl SectionBytes {
    pub(super) fn new(file: ObjectFile, start: u64, length: u64) -> SectionBytes {
        SectionBytes(Arc::new(Lazy { file, start, length, plain: None, bytes: OnceLock::new() }))
    }

    /// A table of `plain` bytes that the file has as a zlib stream of `length`.
    pub(super) fn deflated(file: ObjectFile, start: u64, length: u64, plain: u64) -> SectionBytes {
        SectionBytes(Arc::new(Lazy { file, start, length, plain: Some(plain), bytes: OnceLock::new() }))
    }
}

impl SectionBytes {
    /// Number of bytes. They are not read.
    pub(super) fn length(&self) -> u64 {
        self.0.plain.unwrap_or(self.0.length)
    }
}

impl Lazy {
    fn read(&self) -> Box<[u8]> {
        if self.plain.unwrap_or(self.length).max(self.length) > UNWIND_TABLE
            || HELD.load(Ordering::Relaxed) > UNWIND_TABLES
        {
            return Box::default();
        }
        let bytes = self.file.bytes(self.start, self.length).unwrap_or_default();
        let bytes = match self.plain {
            Some(plain) => inflated(&bytes, plain).unwrap_or_default(),
            None => bytes,
        };
        HELD.fetch_add(bytes.len(), Ordering::Relaxed);
        bytes
    }
}

/// The contents of a zlib stream, if it has so many bytes.
fn inflated(data: &[u8], uncompressed_size: u64) -> Option<Box<[u8]>> {
    let data = CompressedData { format: CompressionFormat::Zlib, data, uncompressed_size };
    data.decompress().ok().map(|plain| plain.into_owned().into_boxed_slice())
}

impl Drop for Lazy {
    fn drop(&mut self) {
        HELD.fetch_sub(self.bytes.get().map_or(0, |bytes| bytes.len()), Ordering::Relaxed);
    }
}

impl Deref for SectionBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes.get_or_init(|| self.0.read())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
    use super::*;
    use crate::model::ReadAt;
    use flate2::{Compression, write::ZlibEncoder};
    use std::io::{self, Write};

    /// Any number of zeros.
    struct Zeros(u64);

    impl ReadAt for Zeros {
        fn length(&self) -> u64 {
            self.0
        }

        fn read_at(&self, _: u64, to: &mut [u8]) -> io::Result<usize> {
            to.fill(0);
            Ok(to.len())
        }
    }

    #[test]
    fn a_table_is_read_once_and_a_huge_one_never() {
        let file = ObjectFile::new(Zeros(1 << 42));
        let lengths = [(0, 0), (100, 100), (UNWIND_TABLE, UNWIND_TABLE as usize), (UNWIND_TABLE + 1, 0), (1 << 41, 0)];
        for (length, read) in lengths {
            let table = SectionBytes::new(file.clone(), 7, length);
            assert_eq!((table.len(), table.clone().as_ptr() == table.as_ptr()), (read, true), "{length} bytes");
        }
    }

    #[test]
    fn a_compressed_table_is_read_whole_or_not_at_all() {
        let plain: Vec<u8> = (0..5000).map(|at| (at / 7) as u8).collect();
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&plain).unwrap();
        let packed = encoder.finish().unwrap();
        let length = packed.len() as u64;
        let file = ObjectFile::new([&[9; 3][..], &packed].concat());
        let table = |start, length, plain| SectionBytes::deflated(file.clone(), start, length, plain);
        assert_eq!(table(3, length, 5000).length(), 5000);
        assert!(*table(3, length, 5000) == plain[..]);
        for (name, table) in [
            ("a longer one", table(3, length, 5001)),
            ("half of the stream", table(3, length / 2, 5000)),
            ("another place", table(2, length, 5000)),
            ("beyond the file", table(4, length, 5000)),
            ("more than is held", table(3, length, UNWIND_TABLE + 1)),
        ] {
            assert!(table.is_empty(), "{name}");
        }
    }
}
