//! Tables as Parquet bytes that any reader of that format understands: plain types, dictionary pages, zstd.
//! It never opens a file, starts no threads, and no bytes it is given make it panic.

use super::quiet::caught;
use super::table::{Table, corrupt};
use crate::error::{Error, ErrorKind, Result};
use polars::io::SerReader;
use polars::io::parquet::read::{ParallelStrategy, ParquetReader};
use polars::io::parquet::write::{ParquetCompression, ParquetWriter, StatisticsOptions};
use polars::polars_utils::compression::ZstdLevel;
use std::io::Cursor;

/// Levels 1 to 9 differ by 3 % in size and by a factor of four in time on sample tables (`benches/store.rs`).
const ZSTD_LEVEL: i32 = 3;

/// A file that claims more rows is refused before anything is allocated for them; writers stay far below.
const MAX_ROWS: usize = 1 << 24;

/// Likewise for columns: ours have a dozen.
const MAX_COLUMNS: usize = 256;

/// The table as one Parquet file with one row group.
///
/// # Errors
/// Only when the encoder refuses the table, which would be a defect.
pub fn to_parquet(table: &Table) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(|error| corrupt(&error))?;
    let mut frame = table.frame().clone();
    frame.rechunk_mut();
    let writer = ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Zstd(Some(level)))
        // Small parts: minima and maxima would cost more than they could ever skip.
        .with_statistics(StatisticsOptions::empty())
        // A page of its own would need its own dictionary.
        .with_data_page_size(Some(usize::MAX))
        .set_parallel(false);
    let mut batches = writer.batched(frame.schema()).map_err(|error| corrupt(&error))?;
    batches.write_batch(&frame).map_err(|error| corrupt(&error))?;
    batches.finish().map_err(|error| corrupt(&error))?;
    drop(batches);
    Ok(bytes)
}

/// The table in a Parquet file's bytes, columns this version does not know included.
///
/// # Errors
/// [`ErrorKind::Corrupt`] for anything that is not a whole Parquet file of a sane size.
pub fn from_parquet(bytes: &[u8]) -> Result<Table> {
    caught(|| {
        let mut reader = ParquetReader::new(Cursor::new(bytes)).read_parallel(ParallelStrategy::None);
        check_size(&mut reader)?;
        reader.finish().map(Table::from_frame).map_err(|error| corrupt(&error))
    })
}

fn check_size(reader: &mut ParquetReader<Cursor<&[u8]>>) -> Result<()> {
    let metadata = reader.get_metadata().map_err(|error| corrupt(&error))?;
    let groups = &metadata.row_groups;
    let rows = groups.iter().map(|group| group.num_rows()).try_fold(0usize, usize::checked_add);
    let columns = groups.iter().map(|group| group.n_columns()).max().unwrap_or(0);
    if rows != Some(metadata.num_rows) || metadata.num_rows > MAX_ROWS || columns > MAX_COLUMNS {
        return Err(Error::new(ErrorKind::Corrupt, format!("an unlikely size: {rows:?} rows, {columns} columns")));
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn table(rows: u32) -> Table {
        let rows = || 0..rows;
        Table::builder(rows().len())
            .u64("at_ns", rows().map(|i| u64::from(i) * 1_003_009))
            .opt_u64("queued_ns", rows().map(|i| (i % 3 > 0).then_some(u64::MAX - u64::from(i))))
            .u32("tid", rows().map(|i| i % 5))
            .opt_u32("stack", rows().map(|i| (i % 7 > 0).then_some(i)))
            .bool("kernel", rows().map(|i| i % 4 == 0))
            .text("end", rows().map(|i| if i % 9 == 0 { "truncated" } else { "whole" }))
            .opt_text("file", rows().map(|i| (i % 2 == 0).then(|| format!("src/{i}.rs"))))
            .build()
            .unwrap()
    }

    fn same(a: &Table, b: &Table) -> bool {
        a.frame().equals_missing(b.frame())
    }

    #[test]
    fn every_type_reads_back_as_it_was_written() {
        for rows in [0, 1, 200, 5_000] {
            let bytes = to_parquet(&table(rows)).unwrap();
            assert!(same(&from_parquet(&bytes).unwrap(), &table(rows)), "{rows} rows");
        }
    }

    #[test]
    fn a_truncated_file_is_corrupt() {
        let bytes = to_parquet(&table(300)).unwrap();
        for length in (0..bytes.len()).step_by(37) {
            let error = from_parquet(&bytes[..length]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{length}: {error}");
        }
    }

    /// A changed bit may go unnoticed or be refused; it may not bring the process down.
    #[test]
    fn no_flipped_bit_panics() {
        let bytes = to_parquet(&table(60)).unwrap();
        let refused = (0..bytes.len())
            .filter(|&at| {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << (at % 8);
                from_parquet(&damaged).is_err()
            })
            .count();
        assert!(refused > 100, "only {refused} of {} were refused", bytes.len());
    }
}
