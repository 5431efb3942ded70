//! Reads and writes tables as Parquet bytes that any Parquet reader understands: plain types, dictionary pages, zstd.
//! Works on bytes in memory and starts no threads. Damaged bytes cause an error, not a panic.

use super::checksum;
use super::pages::PageRoom;
use super::stream::Stream;
use super::table::{Column, Table, corrupt};
use crate::error::{Error, ErrorKind, Result, catch_panic};
use crate::model::limits::{PART_COLUMNS, PART_ROWS};
use polars_arrow::array::{Array, new_empty_array};
use polars_arrow::compute::concatenate::concatenate;
use polars_arrow::datatypes::Field;
use polars_parquet::read::{
    BasicDecompressor, ColumnChunkMetadata, FileMetadata, PageReader, column_iter_to_arrays, infer_schema,
    read_metadata,
};
use polars_parquet::write::KeyValue;
use std::io::Cursor;

/// Encodes the table as one Parquet file with one row group.
///
/// # Errors
/// Only if the encoder rejects the table, which would be a bug.
pub fn to_parquet(table: &Table) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Without minima and maxima: parts are small, so they would cost more than they could save.
    let mut file = Stream::start(&mut bytes, table)?;
    file.add(table)?;
    file.finish_with(KeyValue::new(checksum::KEY.to_string(), checksum::BLANK.to_string()))?;
    checksum::seal(&mut bytes)?;
    Ok(bytes)
}

/// Decodes a table from a Parquet file, including columns that this version does not know.
///
/// # Errors
/// [`ErrorKind::Corrupt`] unless the bytes are a complete Parquet file of plausible size.
pub fn from_parquet(bytes: &[u8]) -> Result<Table> {
    checksum::check(bytes)?;
    decode(bytes, &mut PageRoom::default())
}

/// Decodes a file that need not carry a checksum, as other tools read it.
#[cfg(test)]
pub(crate) fn from_foreign_parquet(bytes: &[u8]) -> Result<Table> {
    decode(bytes, &mut PageRoom::default())
}

fn decode(bytes: &[u8], room: &mut PageRoom) -> Result<Table> {
    catch_panic(|| {
        let metadata = read_metadata(&mut Cursor::new(bytes)).map_err(|error| corrupt(&error))?;
        check_size(&metadata)?;
        let schema = infer_schema(&metadata).map_err(|error| corrupt(&error))?;
        let fields = schema.iter_values().enumerate();
        let columns = fields.map(|(at, field)| column(bytes, &metadata, at, field, room)).collect::<Result<_>>()?;
        Table::of(metadata.num_rows, columns)
    })
}

/// The column of this number, from all row groups.
fn column(bytes: &[u8], metadata: &FileMetadata, at: usize, field: &Field, room: &mut PageRoom) -> Result<Column> {
    let mut arrays = Vec::new();
    for group in &metadata.row_groups {
        let chunk = group.parquet_columns().get(at).ok_or_else(|| corrupt(&"a row group lacks a column"))?;
        arrays.extend(chunk_arrays(bytes, chunk, field, room)?);
    }
    let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
    let values = match arrays[..] {
        [] => Ok(new_empty_array(field.dtype.clone())),
        _ => concatenate(&arrays),
    };
    Ok(Column { name: field.name.to_string(), values: values.map_err(|error| corrupt(&error))? })
}

fn chunk_arrays(
    bytes: &[u8],
    chunk: &ColumnChunkMetadata,
    field: &Field,
    room: &mut PageRoom,
) -> Result<Vec<Box<dyn Array>>> {
    let place = chunk.byte_range();
    let pages = bytes.get(place.start as usize..place.end as usize);
    let pages = pages.ok_or_else(|| corrupt(&format_args!("column {} lies outside the file", field.name)))?;
    let reader = || PageReader::new(Cursor::new(pages.to_vec().into()), chunk, Vec::new(), usize::MAX);
    room.take(pages, reader())?;
    let kind = &chunk.descriptor().descriptor.primitive_type;
    let decoded =
        column_iter_to_arrays(vec![BasicDecompressor::new(reader(), Vec::new())], vec![kind], field.clone(), None);
    decoded.map(|(arrays, _)| arrays).map_err(|error| corrupt(&error))
}

fn check_size(metadata: &FileMetadata) -> Result<()> {
    let groups = &metadata.row_groups;
    let rows = groups.iter().map(|group| group.num_rows()).try_fold(0usize, usize::checked_add);
    let columns = groups.iter().map(|group| group.n_columns()).max().unwrap_or(0);
    if rows != Some(metadata.num_rows) || metadata.num_rows > PART_ROWS || columns > PART_COLUMNS {
        let rows = rows.map_or_else(|| "too many".to_string(), |rows| rows.max(metadata.num_rows).to_string());
        return Err(Error::new(ErrorKind::Corrupt, format!("an unlikely size: {rows} rows, {columns} columns")));
    }
    // No column holds lists. Room is made for as many values as a chunk states.
    for group in groups {
        let whole =
            |chunk: &ColumnChunkMetadata| usize::try_from(chunk.num_values()).is_ok_and(|it| it == group.num_rows());
        if !group.parquet_columns().iter().all(whole) {
            return Err(corrupt(&"a column has more or fewer values than its row group has rows"));
        }
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
        let equal = |(a, b): (&Column, &Column)| a.name == b.name && a.values == b.values;
        a.columns().len() == b.columns().len() && a.columns().iter().zip(b.columns()).all(equal)
    }

    #[test]
    fn every_type_reads_back_as_it_was_written() {
        for rows in [0, 1, 200, 5_000] {
            let bytes = to_parquet(&table(rows)).unwrap();
            assert!(same(&from_parquet(&bytes).unwrap(), &table(rows)), "{rows} rows");
        }
    }

    #[test]
    fn a_count_of_values_that_is_not_that_of_the_rows_is_refused_before_room_is_made_for_them() {
        let bytes = to_parquet(&table(5_000)).unwrap();
        // 5,000 as the footer writes it, and -8,192, which is as long.
        let (count, forged) = ([0x90, 0x4e], [0xff, 0x7f]);
        let places: Vec<usize> = (0..bytes.len() - 1).filter(|at| bytes[*at..at + 2] == count).collect();
        let refused = places.iter().filter(|at| {
            let mut bytes = bytes.clone();
            bytes[**at..**at + 2].copy_from_slice(&forged);
            decode(&bytes, &mut PageRoom::default()).is_err()
        });
        // One for each column, its row group and the file.
        assert!(refused.count() >= 9, "{places:?}");
    }

    #[test]
    fn a_file_is_decoded_only_into_so_many_bytes() {
        let bytes = to_parquet(&table(5_000)).unwrap();
        let mut whole = PageRoom::default();
        decode(&bytes, &mut whole).unwrap();
        let used = PageRoom::default().left() - whole.left();
        assert!(used > bytes.len() as u64, "{used} bytes");
        for (room, enough) in [(used, true), (used - 1, false), (0, false)] {
            let read = decode(&bytes, &mut PageRoom::of(room));
            assert_eq!(read.map_err(|error| error.kind()).err(), (!enough).then_some(ErrorKind::Corrupt), "{room}");
        }
    }

    #[test]
    fn a_part_has_only_so_many_rows() {
        for (rows, enough) in [(PART_ROWS, true), (PART_ROWS + 1, false)] {
            let table = Table::builder(rows).bool("kernel", (0..rows).map(|_| true)).build().unwrap();
            let read = from_parquet(&to_parquet(&table).unwrap());
            let said = read.as_ref().err().map_or_else(String::new, ToString::to_string);
            assert!(enough || said.ends_with(&format!("an unlikely size: {rows} rows, 1 columns")), "{said}");
            assert_eq!(read.map(|table| table.rows()).ok(), enough.then_some(rows));
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

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = to_parquet(&table(60)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(from_parquet(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_file_with_a_true_checksum_but_impossible_lengths_is_refused_without_a_panic() {
        let mut footer = to_parquet(&table(5)).unwrap();
        let length = footer.len();
        for forged in [0, 1, u32::MAX, u32::MAX >> 1] {
            footer[length - 8..length - 4].copy_from_slice(&forged.to_le_bytes());
            let mut resealed = footer.clone();
            checksum::reseal(&mut resealed);
            assert_eq!(from_parquet(&resealed).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
