//! Buffers one table's rows, writes them as parts, and merges neighbouring parts later. The caller decides when.

use super::folder::Folder;
use super::part::Part;
use super::rows::Rows;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::PART_BYTES;
use crate::tables::{Table, from_parquet, to_parquet};
use std::mem;

/// Maximum rows in one merged part: enough to compress well, few enough to merge in bounded memory.
const MERGED_ROWS: u64 = 1 << 18;

/// A part of this many rows is not merged again, so that each row is rewritten a few times at most.
const LARGE_ROWS: u64 = MERGED_ROWS / 2;

/// A part on disk.
#[derive(Debug, Clone, Copy)]
struct Written {
    part: Part,
    rows: u64,
}

/// A table being written.
#[derive(Debug)]
pub(super) struct Buffer<R> {
    events: Vec<R>,
    rows: usize,
    written: Vec<Written>,
    flushes: usize,
}

/// The writer's interface to any table.
pub(super) trait Spool {
    /// The table's name.
    fn table(&self) -> &'static str;
    /// Rows not yet on disk.
    fn buffered(&self) -> usize;
    /// Rows on disk.
    fn stored(&self) -> u64;
    /// Flushes since the last merge attempt.
    fn flushes(&self) -> usize;
    /// Writes the buffered rows as one part. On failure the rows stay buffered.
    fn flush(&mut self, folder: &Folder) -> Result<()>;
    /// Merges neighbouring parts as far as [`MERGED_ROWS`] allows. On failure the parts stay.
    fn merge(&mut self, folder: &Folder) -> Result<()>;
}

impl<R> Default for Buffer<R> {
    fn default() -> Self {
        Buffer { events: Vec::new(), rows: 0, written: Vec::new(), flushes: 0 }
    }
}

impl<R: Rows> Buffer<R> {
    /// Adds an event. An event without rows (an empty list of names) is left out.
    pub fn push(&mut self, event: R) {
        let height = event.height();
        if height > 0 {
            self.rows += height;
            self.events.push(event);
        }
    }
}

impl<R: Rows> Spool for Buffer<R> {
    fn table(&self) -> &'static str {
        R::TABLE
    }

    fn buffered(&self) -> usize {
        self.rows
    }

    fn stored(&self) -> u64 {
        self.written.iter().map(|written| written.rows).sum()
    }

    fn flushes(&self) -> usize {
        self.flushes
    }

    fn flush(&mut self, folder: &Folder) -> Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let number = self.written.last().map_or(0, |written| written.part.last + 1);
        let part = Part { table: R::TABLE, first: number, last: number };
        let bytes = to_parquet(&R::encode(&self.events)?)?;
        folder.place(&part.file_name(), &bytes)?;
        self.written.push(Written { part, rows: self.rows as u64 });
        self.events.clear();
        self.rows = 0;
        self.flushes += 1;
        Ok(())
    }

    fn merge(&mut self, folder: &Folder) -> Result<()> {
        self.flushes = 0;
        let mut kept = Vec::new();
        let mut failure = None;
        for run in runs(mem::take(&mut self.written)) {
            match merge_run(folder, &run) {
                Ok(Some(merged)) => kept.push(merged),
                Ok(None) => kept.extend(run),
                Err(error) => {
                    failure.get_or_insert(error);
                    kept.extend(run);
                }
            }
        }
        self.written = kept;
        failure.map_or(Ok(()), Err)
    }
}

/// Splits the parts into runs of neighbours that may become one part each.
fn runs(parts: Vec<Written>) -> Vec<Vec<Written>> {
    let mut runs: Vec<Vec<Written>> = Vec::new();
    let mut rows = MERGED_ROWS;
    for part in parts {
        let fits = part.rows < LARGE_ROWS && rows + part.rows <= MERGED_ROWS;
        match runs.last_mut() {
            Some(run) if fits => run.push(part),
            _ => {
                runs.push(vec![part]);
                rows = if part.rows < LARGE_ROWS { 0 } else { MERGED_ROWS };
            }
        }
        rows += part.rows;
    }
    runs
}

/// Writes the merged part first, then deletes the parts it covers. Readers ignore covered parts, so a kill in between
/// neither loses nor duplicates a row.
fn merge_run(folder: &Folder, run: &[Written]) -> Result<Option<Written>> {
    let [first, .., last] = run else { return Ok(None) };
    let merged = Written {
        part: Part { table: first.part.table, first: first.part.first, last: last.part.last },
        rows: run.iter().map(|written| written.rows).sum(),
    };
    let table = joined(folder, run)?;
    if table.rows() as u64 != merged.rows {
        return Err(Error::new(ErrorKind::Corrupt, format!("{} changed while recording", merged.part.file_name())));
    }
    let bytes = to_parquet(&table)?;
    folder.place(&merged.part.file_name(), &bytes)?;
    folder.sync()?;
    run.iter().try_for_each(|written| folder.remove(&written.part.file_name()))?;
    Ok(Some(merged))
}

fn joined(folder: &Folder, run: &[Written]) -> Result<Table> {
    let mut joined: Option<Table> = None;
    for written in run {
        let name = written.part.file_name();
        let table = from_parquet(&folder.read(&name, PART_BYTES)?).map_err(|error| error.context(name))?;
        match &mut joined {
            None => joined = Some(table),
            Some(joined) => joined.append(&table)?,
        }
    }
    joined.ok_or_else(|| Error::new(ErrorKind::Corrupt, "nothing to merge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_neighbours_are_merged_and_large_parts_are_left_alone() {
        let large = LARGE_ROWS;
        for (rows, expected) in [
            (vec![5, 6, 7], vec![3]),
            (vec![large, 6, 7, large, 8], vec![1, 2, 1, 1]),
            (vec![large - 1, large - 1, large - 1, 1], vec![2, 2]),
            (vec![], vec![]),
        ] {
            let parts = rows
                .iter()
                .zip(0..)
                .map(|(&rows, number)| Written { part: Part { table: "samples", first: number, last: number }, rows });
            let lengths: Vec<_> = runs(parts.collect()).iter().map(Vec::len).collect();
            assert_eq!(lengths, expected, "{rows:?}");
        }
    }
}
