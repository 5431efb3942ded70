//! Jobs in batches whose files are of bounded size: what an answer keeps in memory grows with the rows that it is worked out
//! from, so a fleet is answered a few jobs at a time.

use crate::protocol::{Rows, Table};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Jobs in their order, in batches of at most so many bytes of files or of one job. `None` if the tables are not of a data
/// set.
pub(crate) fn job_batches(tables: &[Table], most_bytes: u64) -> Option<Vec<Vec<String>>> {
    let mut jobs: BTreeMap<String, u64> = BTreeMap::new();
    for table in tables {
        let Rows::Folder(folder) = &table.rows else { return None };
        for entry in fs::read_dir(folder).ok()?.flatten() {
            *jobs.entry(job_of(entry.file_name().to_str()?)?).or_default() += bytes_in(&entry.path());
        }
    }
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut room = 0;
    for (job, bytes) in jobs {
        match batches.last_mut().filter(|_| bytes <= room) {
            Some(batch) => batch.push(job),
            None => {
                batches.push(vec![job]);
                room = most_bytes;
            }
        }
        room = room.saturating_sub(bytes);
    }
    Some(batches)
}

/// The job whose rows lie in a folder of this name: bytes may stand as %XX.
fn job_of(folder: &str) -> Option<String> {
    let name = folder.strip_prefix("job=")?.as_bytes();
    let (mut bytes, mut at) = (Vec::with_capacity(name.len()), 0);
    while let Some(byte) = name.get(at) {
        let code = name.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let decoded = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(decoded.unwrap_or(*byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8(bytes).ok()
}

/// What cannot be read counts as empty: the engine says why when it reads it.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        _ => entry.metadata().map_or(0, |file| file.len()),
    });
    bytes.sum()
}
