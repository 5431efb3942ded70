//! The page that a program counts its operations in with `native/ironlaw.h`: a head, then a cache line per thread.
//! It is read as a file: a program that cuts it short gives an error here, where a mapping would end this process.

use crate::error::{Context, Error, ErrorKind, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

const MAGIC: &[u8; 8] = b"IRONLAW1";
/// Bytes of the head, whatever the length of a line.
const HEAD: usize = 128;
/// More threads than any program has.
const MOST_LINES: usize = 1 << 16;

/// An open page.
#[derive(Debug)]
pub(super) struct Page {
    file: File,
    path: PathBuf,
}

impl Page {
    /// The page of that name.
    pub fn open(name: &str) -> Result<Page> {
        let path = PathBuf::from(format!("/dev/shm/ironlaw-{name}"));
        let file =
            File::open(&path).context(|| format!("cannot open the page {}", path.display())).map_err(|error| {
                error.hint("The program makes it with ironlaw_open(name) of ironlaw.h; start it first.")
            })?;
        Ok(Page { file, path })
    }

    /// The operations all threads have counted.
    pub fn total(&self) -> Result<f64> {
        let place = || format!("cannot read the page {}", self.path.display());
        let wrong = |why: &str| Error::new(ErrorKind::Corrupt, why).context(place());
        let mut head = [0u8; HEAD];
        self.file.read_exact_at(&mut head, 0).context(place)?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let (line, lines) = (word(8), word(12));
        if &head[..8] != MAGIC || !(8..=4096).contains(&line) || lines > MOST_LINES {
            return Err(wrong("it is not one of ironlaw.h"));
        }
        let mut counts = vec![0u8; line * lines];
        self.file.read_exact_at(&mut counts, HEAD as u64).context(place)?;
        let first = |chunk: &[u8]| chunk.first_chunk::<8>().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        Ok(counts.chunks(line).map(first).fold(0u64, u64::wrapping_add) as f64)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn page(bytes: &[u8]) -> Page {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page");
        std::fs::write(&path, bytes).unwrap();
        Page { file: File::open(&path).unwrap(), path }
    }

    fn made(line: u32, lines: u32, counts: &[u64]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(line.to_ne_bytes());
        bytes.extend(lines.to_ne_bytes());
        bytes.resize(HEAD, 0);
        for count in counts {
            bytes.extend(count.to_ne_bytes());
            bytes.resize(bytes.len() + line as usize - 8, 0);
        }
        bytes
    }

    #[test]
    fn every_threads_line_counts() {
        assert_eq!(page(&made(64, 3, &[5, 0, 37])).total().unwrap(), 42.0);
        assert_eq!(page(&made(128, 1, &[7])).total().unwrap(), 7.0);
    }

    #[test]
    fn rubbish_and_short_pages_are_refused() {
        for bytes in [vec![], b"IRONLAW9".to_vec(), made(64, 3, &[1]), made(7, 1, &[]), made(64, u32::MAX, &[])] {
            assert!(page(&bytes).total().is_err(), "{} bytes", bytes.len());
        }
        assert_eq!(Page::open("no such page").unwrap_err().kind(), ErrorKind::NotFound);
    }
}
