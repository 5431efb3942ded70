//! Reads the shared page in which a program counts with `native/ironlaw.h`: one counter per thread, added up here. The
//! page is read, not mapped: if it is truncated during a reading, that reading fails, not this process.

use super::total::Raw;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::files::{open_plain, read_from};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Directory of the pages.
pub(super) const DIRECTORY: &str = "/dev/shm";
/// `ironlaw_page.magic`, written last, in the machine's byte order.
const MAGIC: u64 = u64::from_ne_bytes(*b"IRONLAWP");
const VERSION: u32 = 1;
/// `IRONLAW_MAX_SLOTS`.
const MAX_SLOTS: u32 = 65_536;

/// The head of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Bytes from one counter to the next; the head itself takes as many.
    line: u32,
    pub(super) slots: u32,
    /// Threads that took a slot; those beyond the slots share the last one.
    pub(super) taken: u32,
    /// When counting began from zero; a page that is started again gets another value.
    pub(super) started: u64,
    /// Version, counts for each slot, and offset of the latencies; all 0 without.
    pub(super) latencies: (u32, u32, u64),
}

/// Path of the page with that name.
pub(super) fn path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("ironlaw-{name}"))
}

/// The sum of the page's counters, named after the start of its count.
///
/// # Errors
/// `NotFound` while there is no page, `Corrupt` for a file that is not one.
pub(super) fn read(path: &Path) -> Result<Raw> {
    let named = || format!("cannot read operations from {}", path.display());
    let (file, head) = open(path).context(named)?;
    let total = counters(&file, head).context(named)?.into_iter().fold(0_u64, u64::saturating_add);
    Ok((head.started.to_string(), total as f64))
}

/// The open page with its head.
pub(super) fn open(path: &Path) -> Result<(File, Head)> {
    let (file, _) = open_plain(path).map_err(Error::from).map_err(|error| {
        let hint = "The program makes it with ironlaw_open(\"NAME\", THREADS) of native/ironlaw.h, once it runs.";
        if error.kind() == ErrorKind::NotFound { error.hint(hint) } else { error }
    })?;
    let head = Head::parse(&read_from(&file, 0, 64)?)?;
    Ok((file, head))
}

impl Head {
    fn parse(bytes: &[u8]) -> Result<Head> {
        let four = |at: usize| bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map(u32::from_ne_bytes);
        let eight = |at: usize| bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map(u64::from_ne_bytes);
        let no_page = || Error::new(ErrorKind::Corrupt, "the file is not a page made by ironlaw_open");
        if eight(0) != Some(MAGIC) {
            return Err(no_page());
        }
        let (Some(version), Some(line), Some(slots), Some(started)) = (four(8), four(12), four(16), eight(24)) else {
            return Err(no_page());
        };
        if version != VERSION {
            return Err(Error::new(ErrorKind::Unsupported, format!("the page has version {version}, not {VERSION}"))
                .hint("Build the program with the ironlaw.h of this version of ironlaw."));
        }
        if !matches!(line, 64 | 128) || slots == 0 || slots > MAX_SLOTS {
            return Err(no_page());
        }
        let latencies = (four(32).unwrap_or(0), four(36).unwrap_or(0), eight(40).unwrap_or(0));
        Ok(Head { line, slots, taken: four(20).unwrap_or(0), started, latencies })
    }
}

/// One count per thread. The kernel need not copy eight bytes at once, so a count that changes meanwhile may be torn.
/// The median of three readings is intact, unless two were torn.
fn counters(file: &File, head: Head) -> Result<Vec<u64>> {
    let readings = [once(file, head)?, once(file, head)?, once(file, head)?];
    let middle = |slot: usize| {
        let mut three = readings.each_ref().map(|reading| reading[slot]);
        three.sort_unstable();
        three[1]
    };
    Ok((0..head.slots as usize).map(middle).collect())
}

fn once(file: &File, head: Head) -> Result<Vec<u64>> {
    let (line, slots) = (head.line as usize, head.slots as usize);
    let bytes = read_from(file, line as u64, (line * slots) as u64)?;
    if bytes.len() < line * slots {
        return Err(Error::new(ErrorKind::Corrupt, "the page is shorter than its header states"));
    }
    let count = |slot: &[u8]| slot.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    Ok(bytes.chunks_exact(line).map(count).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;

    pub(in crate::ops) fn page(line: u32, slots: u32, counts: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; (line * (slots + 1)) as usize];
        bytes[..8].copy_from_slice(b"IRONLAWP");
        bytes[8..12].copy_from_slice(&VERSION.to_ne_bytes());
        bytes[12..16].copy_from_slice(&line.to_ne_bytes());
        bytes[16..20].copy_from_slice(&slots.to_ne_bytes());
        bytes[24..32].copy_from_slice(&77_u64.to_ne_bytes());
        for (slot, count) in counts.iter().enumerate() {
            let at = line as usize * (slot + 1);
            bytes[at..at + 8].copy_from_slice(&count.to_ne_bytes());
        }
        bytes
    }

    fn check(bytes: &[u8], expected: Result<f64, &str>) {
        let dir = tempfile::tempdir().unwrap();
        let path = path(dir.path(), "test");
        std::fs::write(&path, bytes).unwrap();
        match (read(&path), expected) {
            (Ok(raw), Ok(total)) => assert_eq!(raw, ("77".to_string(), total)),
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_threads_counts_are_added_up() {
        check(&page(64, 1, &[9]), Ok(9.0));
        check(&page(128, 3, &[1, 20, 300]), Ok(321.0));
        check(&page(64, 4, &[]), Ok(0.0));
    }

    #[test]
    fn what_is_no_page_is_told_so() {
        let whole = page(64, 2, &[1, 2]);
        check(b"", Err("not a page"));
        check(&[0; 4096], Err("not a page"));
        check(&whole[..40], Err("shorter"));
        check(&whole[..150], Err("shorter"));
        check(&page(64, 0, &[]), Err("not a page"));
        for (at, value, text) in [(8, 2_u32, "version 2"), (12, 8, "not a page"), (16, u32::MAX, "not a page")] {
            let mut wrong = whole.clone();
            wrong[at..at + 4].copy_from_slice(&value.to_ne_bytes());
            check(&wrong, Err(text));
        }
    }

    #[test]
    fn a_page_that_is_not_there_and_a_link_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = read(&path(dir.path(), "none")).unwrap_err();
        assert!(error.kind() == ErrorKind::NotFound && error.remedy().unwrap().contains("ironlaw.h"), "{error}");
        std::fs::write(dir.path().join("real"), page(64, 1, &[1])).unwrap();
        std::os::unix::fs::symlink(dir.path().join("real"), path(dir.path(), "link")).unwrap();
        assert!(read(&path(dir.path(), "link")).is_err());
    }
}
