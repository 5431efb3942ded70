//! The bytes of an unwind table, read when a stack first needs them: most mapped code is never sampled.

use crate::model::ObjectFile;
use crate::model::limits::{UNWIND_TABLE, UNWIND_TABLES};
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
    bytes: OnceLock<Box<[u8]>>,
}

impl SectionBytes {
    pub(super) fn new(file: ObjectFile, start: u64, length: u64) -> SectionBytes {
        SectionBytes(Arc::new(Lazy { file, start, length, bytes: OnceLock::new() }))
    }
}

impl SectionBytes {
    /// Number of bytes in the file. They are not read.
    pub(super) fn length(&self) -> u64 {
        self.0.length
    }
}

impl Lazy {
    fn read(&self) -> Box<[u8]> {
        if self.length > UNWIND_TABLE || HELD.load(Ordering::Relaxed) > UNWIND_TABLES {
            return Box::default();
        }
        let bytes = self.file.bytes(self.start, self.length).unwrap_or_default();
        HELD.fetch_add(bytes.len(), Ordering::Relaxed);
        bytes
    }
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
    use super::*;
    use crate::model::ReadAt;
    use std::io;

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
}
