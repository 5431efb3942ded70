//! Writes one job's rows of one host. A day's rows stay in memory, and its files are replaced whole at each flush: a
//! killed writer loses what came since the last one, and no reader sees half a file or a row twice.

use super::columns;
use super::files;
use super::function_hours::FunctionHours;
use super::layout::{Partition, TableKind, day_of, day_text, file_name};
use super::root;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{AlarmRow, DatasetRows, NeighbourRow, WindowRow};
use crate::tables::{Stream, Table};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rows in memory, of windows, neighbours and alarms: more than a week of minutes whose disk is full.
const MOST_ROWS: usize = 1 << 18;

/// Whose rows a writer writes.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The job.
    pub job: String,
    /// The host.
    pub host: String,
    /// Tells the writer's files from those of others of the same job and host. Who writes the same rows again under
    /// the same number replaces them.
    pub id: u64,
}

/// A writer of rows.
#[derive(Debug)]
pub struct DatasetWriter {
    dir: PathBuf,
    partition: Partition,
    id: u64,
    /// Days to keep, the running one included; all without it.
    keep_days: Option<u32>,
    days: BTreeMap<i64, Day>,
    functions: FunctionHours,
    /// Days that were forgotten: their files are not written again.
    forgotten: u64,
    dropped: u64,
}

/// Rows of a day.
#[derive(Debug, Default)]
struct Day {
    windows: Vec<WindowRow>,
    neighbours: Vec<NeighbourRow>,
    alarms: Vec<AlarmRow>,
    /// The tables that have rows which no file has.
    unwritten: Vec<TableKind>,
    /// The number in the names of its files.
    id: u64,
}

impl DatasetWriter {
    /// Opens a data set, or begins one in a new or empty folder.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be written; a name of job or host cannot be a folder's.
    pub fn open(dir: &Path, origin: &Origin, keep_days: Option<u32>) -> Result<DatasetWriter> {
        let partition = Partition::new(&origin.job, &origin.host)?;
        root::create(dir)?;
        let (days, functions) = (BTreeMap::new(), FunctionHours::default());
        let dir = dir.to_path_buf();
        Ok(DatasetWriter { dir, partition, id: origin.id, keep_days, days, functions, forgotten: 0, dropped: 0 })
    }

    /// Takes rows, to be written at the next flush.
    pub fn add(&mut self, rows: DatasetRows) {
        let mut room = MOST_ROWS.saturating_sub(self.days.values().map(Day::len).sum());
        let mut take = |count: &mut u64| {
            let fits = room > 0;
            room = room.saturating_sub(1);
            *count += u64::from(!fits);
            fits
        };
        let mut dropped = 0;
        for row in rows.windows {
            if take(&mut dropped) {
                self.day(row.start_s, TableKind::Windows).windows.push(row);
            }
        }
        for row in rows.neighbours {
            if take(&mut dropped) {
                self.day(row.start_s, TableKind::Neighbours).neighbours.push(row);
            }
        }
        for row in rows.alarms {
            let alarms = &mut self.day(row.start_s, TableKind::Alarms).alarms;
            // More is known about an alarm that is known already.
            match alarms.iter_mut().find(|known| known.start_s == row.start_s) {
                Some(known) => *known = row,
                None if take(&mut dropped) => alarms.push(row),
                None => {}
            }
        }
        for day in self.functions.add(rows.functions) {
            self.day(day * super::layout::DAY_S, TableKind::Functions);
        }
        self.dropped += dropped;
    }

    fn day(&mut self, start_s: i64, table: TableKind) -> &mut Day {
        // A day that comes back after it was forgotten has new files, as its rows are not there any more.
        let id = self.id.wrapping_add(self.forgotten);
        let day = self.days.entry(day_of(start_s)).or_insert_with(|| Day { id, ..Day::default() });
        if !day.unwritten.contains(&table) {
            day.unwritten.push(table);
        }
        day
    }

    /// Number of rows that were dropped since the last call because too many could not be written.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Writes what no file has, and removes days that are to be kept no longer.
    ///
    /// # Errors
    /// The first of those that the file system reports. What could not be written is kept for the next flush.
    pub fn flush(&mut self) -> Result<()> {
        let mut first = None;
        for (number, day) in &mut self.days {
            for table in std::mem::take(&mut day.unwritten) {
                let written = table_of(table, day, &self.functions, *number)
                    .and_then(|rows| write(&self.dir, &self.partition, table, *number, day.id, &rows));
                if let Err(error) = written {
                    day.unwritten.push(table);
                    first.get_or_insert(error);
                }
            }
        }
        self.forget_past();
        self.remove_old();
        first.map_or(Ok(()), |error| Err(advised(error)))
    }

    /// Forgets days that are over and written: the rows of the last minutes before midnight come after it, in time for
    /// the flush.
    fn forget_past(&mut self) {
        let newest = self.days.keys().next_back().copied();
        let over = |number: &i64, day: &Day| Some(*number) < newest && day.unwritten.is_empty();
        let gone: Vec<i64> = self.days.iter().filter(|(number, day)| over(number, day)).map(|(at, _)| *at).collect();
        for day in gone {
            self.days.remove(&day);
            self.functions.forget(day);
            self.forgotten += 1;
        }
    }

    /// Removes this host's days before those to keep.
    fn remove_old(&self) {
        let (Some(keep), Some(newest)) = (self.keep_days, self.days.keys().next_back()) else { return };
        let first = format!("day={}", day_text(newest - i64::from(keep.max(1)) + 1));
        for table in TableKind::ALL {
            let Ok(entries) = fs::read_dir(self.partition.days(&self.dir, table)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                // Days are written with leading zeros, so their order is that of their names.
                let is_day = name.len() == first.len() && name.starts_with("day=");
                if is_day && name < first && files::remove_day(&entry.path().join(self.partition.host())) {
                    // Other hosts may have files of that day.
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

impl Day {
    fn len(&self) -> usize {
        self.windows.len() + self.neighbours.len() + self.alarms.len()
    }
}

/// The rows of a table with the start of the first.
fn table_of(table: TableKind, day: &Day, functions: &FunctionHours, number: i64) -> Result<(i64, Table)> {
    let first = |start_s: Option<i64>| start_s.unwrap_or(number * super::layout::DAY_S);
    Ok(match table {
        TableKind::Windows => (first(day.windows.first().map(|row| row.start_s)), columns::windows(&day.windows)?),
        TableKind::Neighbours => {
            (first(day.neighbours.first().map(|row| row.start_s)), columns::neighbours(&day.neighbours)?)
        }
        TableKind::Alarms => (first(day.alarms.first().map(|row| row.start_s)), columns::alarms(&day.alarms)?),
        TableKind::Functions => {
            let rows = functions.of_day(number);
            (first(rows.first().map(|row| row.start_s)), columns::functions(&rows)?)
        }
    })
}

fn write(
    dir: &Path,
    partition: &Partition,
    table: TableKind,
    day: i64,
    id: u64,
    (start_s, rows): &(i64, Table),
) -> Result<()> {
    if rows.rows() == 0 {
        return Ok(());
    }
    let folder = partition.folder(dir, table, day);
    files::make_private(&folder)?;
    let placed = files::place(&folder, &file_name(*start_s, id), &parquet(rows)?);
    // After a failure, too: what is left may be what fills the disk.
    files::remove_left(&folder);
    placed
}

/// A table as the bytes of a file that any reader of Parquet takes.
///
/// # Errors
/// If the encoder rejects the table.
pub fn parquet(rows: &Table) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = Stream::start(&mut bytes, rows)?;
    file.add(rows)?;
    file.finish()?;
    Ok(bytes)
}

fn advised(error: Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::Exhausted => "Free some space: what is missing is written then.",
        ErrorKind::NotPermitted => "Make the folder writable: what is missing is written then.",
        _ => return error,
    };
    error.hint(hint)
}
