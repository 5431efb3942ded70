//! The parts of an object file that a parser of the `object` crate reads. They are kept, and in all no more of them than
//! a limit: a file says itself how large its tables are, and a hole takes no room on disk.

use super::object_file::{ObjectFile, ObjectReader};
use object::{ReadCache, ReadRef};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::Range;

/// Bytes of a part beside its contents, about.
const PART: u64 = 128;
/// Bytes at which a text without an end is given up.
const TEXT: u64 = 4096;

/// Parts of one object file.
#[derive(Debug)]
pub struct ObjectParts {
    file: ReadCache<ObjectReader>,
    /// Start and length of each part; a text has none.
    known: RefCell<HashSet<(u64, Option<u64>)>>,
    left: Cell<u64>,
}

impl ObjectFile {
    /// Its parts, of which `most` bytes can be read in all.
    #[must_use]
    pub fn parts(&self, most: u64) -> ObjectParts {
        ObjectParts { file: ReadCache::new(self.reader()), known: RefCell::default(), left: Cell::new(most) }
    }
}

impl ObjectParts {
    fn spend(&self, bytes: u64) {
        self.left.set(self.left.get().saturating_sub(bytes.saturating_add(PART)));
    }
}

impl<'a> ReadRef<'a> for &'a ObjectParts {
    fn len(self) -> Result<u64, ()> {
        (&self.file).len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let part = (offset, Some(size));
        if size > self.left.get() && !self.known.borrow().contains(&part) {
            return Err(());
        }
        let bytes = (&self.file).read_bytes_at(offset, size)?;
        if self.known.borrow_mut().insert(part) {
            self.spend(size);
        }
        Ok(bytes)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let part = (range.start, None);
        if self.left.get() == 0 && !self.known.borrow().contains(&part) {
            return Err(());
        }
        let text = (&self.file).read_bytes_at_until(range, delimiter);
        // A text without an end is not kept, but read again each time.
        if text.is_err() || self.known.borrow_mut().insert(part) {
            self.spend(text.map_or(TEXT, |text| text.len() as u64));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ReadAt;
    use std::io;

    /// A hole of 1 TiB whose every 100th byte ends a text.
    struct Hole;

    impl ReadAt for Hole {
        fn length(&self) -> u64 {
            1 << 40
        }

        fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
            assert!(to.len() <= 1 << 20, "{} bytes are read at once", to.len());
            to.iter_mut().zip(at..).for_each(|(byte, at)| *byte = u8::from(at % 100 == 99));
            Ok(to.len())
        }
    }

    #[test]
    fn of_a_file_as_large_as_it_says_only_so_much_is_read_and_what_was_read_stays() {
        let parts = ObjectFile::new(Hole).parts(1 << 20);
        let read = |at, size| (&parts).read_bytes_at(at, size).map(<[u8]>::len);
        assert_eq!((read(0, 1 << 39), read(5, (1 << 20) + 1), read(u64::MAX, 9)), (Err(()), Err(()), Err(())));
        assert_eq!((read(7, 1 << 19), read(8, 1 << 19), read(7, 1 << 19)), (Ok(1 << 19), Err(()), Ok(1 << 19)));
        assert_eq!((0..1 << 20).take_while(|at| read(*at, 64).is_ok()).count(), ((1 << 19) - 128) / (64 + 128));
    }

    #[test]
    fn texts_count_with_those_that_have_no_end() {
        for (delimiter, each) in [(1, 99 + PART), (2, TEXT + PART)] {
            let parts = ObjectFile::new(Hole).parts(1 << 20);
            let texts = (0..).take_while(|nth| {
                let _ = (&parts).read_bytes_at_until(nth * 100..1 << 30, delimiter);
                parts.left.get() > 0
            });
            assert_eq!(texts.count() as u64, (1 << 20) / each);
            assert!((&parts).read_bytes_at_until(1 << 25..1 << 30, 1).is_err());
            assert_eq!((&parts).read_bytes_at_until(0..1 << 30, delimiter).is_ok(), delimiter == 1);
        }
    }
}
