//! A fleet that does not exist, as a data set: minutes of jobs on hosts of several CPU models, with noise as fleets have
//! it and with planted causes, which `truth.json` names. The same seed gives the same rows.

mod fleet;
mod host_days;
mod random;

pub use fleet::Settings;

use crate::error::{Error, ErrorKind, Result};
use crate::model::DatasetRows;
use crate::store::dataset::{
    Partition, TableKind, alarms, create, file_name, functions, neighbours, open, parquet, windows, write_file,
};
use crate::tables::Table;
use fleet::{DAY_S, FIRST_DAY, Fleet};
use host_days::HostDays;
use random::{Random, SkewedNoise};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Shape of the noise of CPI: as long a tail as in fleets.
const SHAPE: f64 = 0.12;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Causes that were planted.
    pub causes: usize,
}

/// Writes the data set of a simulated fleet, with as many threads as the machine has CPUs.
///
/// # Errors
/// `Usage` if the folder holds something; otherwise as the file system reports.
pub fn simulate(dir: &Path, settings: Settings) -> Result<Written> {
    simulate_some(dir, settings, |_| true)
}

/// As [`simulate`], of the rows that start in the seconds to keep.
pub(super) fn simulate_some(dir: &Path, settings: Settings, keep: impl Fn(i64) -> bool + Sync) -> Result<Written> {
    if open(dir).is_ok() {
        return Err(Error::new(ErrorKind::Usage, format!("{} is a data set already", dir.display()))
            .hint("Name a new or empty folder: simulated rows and real ones do not mix."));
    }
    create(dir)?;
    let (fleet, noise) = (Fleet::new(settings), SkewedNoise::new(SHAPE));
    let truth = fleet.truth();
    let text = serde_json::to_vec_pretty(&truth).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))?;
    write_file(dir, "truth.json", &text)?;
    let (next, rows, bytes) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(host) = fleet.hosts.get(number) else { return Ok(()) };
            let mut days = HostDays::new(&fleet, host, number, &noise);
            let partitions = host.jobs.iter().map(|job| Partition::new(&fleet.jobs[*job].name, &host.name));
            let partitions = partitions.collect::<Result<Vec<_>>>()?;
            let id = Random::of(settings.seed, (4 << 32) + number as u64).next();
            for day in 0..settings.days {
                for (mut own, partition) in days.day(day).into_iter().zip(&partitions) {
                    own.retain(&keep);
                    let written = write(dir, partition, i64::from(day), id, &own).inspect_err(|_| {
                        // The other threads have nothing left to do.
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                    })?;
                    rows.fetch_add(written.0, Ordering::Relaxed);
                    bytes.fetch_add(written.1, Ordering::Relaxed);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(fleet.hosts.len());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "a thread of the simulation failed")))
        })
    })?;
    Ok(Written { rows: rows.into_inner(), bytes: bytes.into_inner(), causes: truth.causes.len() })
}

/// Returns the rows and the bytes written.
fn write(dir: &Path, partition: &Partition, day: i64, id: u64, rows: &DatasetRows) -> Result<(u64, u64)> {
    let day = FIRST_DAY + day;
    let tables: [(TableKind, Table); 4] = [
        (TableKind::Windows, windows(&rows.windows)?),
        (TableKind::Functions, functions(&rows.functions)?),
        (TableKind::Neighbours, neighbours(&rows.neighbours)?),
        (TableKind::Alarms, alarms(&rows.alarms)?),
    ];
    let mut sum = (0, 0);
    for (kind, table) in tables.iter().filter(|(_, table)| table.rows() > 0) {
        let bytes = parquet(table)?;
        write_file(&partition.folder(dir, *kind, day), &file_name(day * DAY_S, id), &bytes)?;
        sum = (sum.0 + table.rows() as u64, sum.1 + bytes.len() as u64);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
