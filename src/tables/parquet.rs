//! Reads and writes tables as Parquet bytes that any Parquet reader understands: plain types, dictionary pages, zstd.
//! Works on bytes in memory and starts no threads. Damaged bytes cause an error, not a panic.

use super::checksum;
use super::decode::{self, Decoder};
use super::format::corrupt;
use super::stream::Stream;
use super::table::{Column, Table};
use crate::error::{Error, ErrorKind, Result, catch_panic};
use polars_parquet::parquet::compression::DecompressionContext;
use polars_parquet::parquet::metadata::{ColumnChunkMetadata, FileMetadata};
use polars_parquet::parquet::page::Page;
use polars_parquet::parquet::read::{PageReader, decompress, read_metadata};
use std::io::Cursor;

/// A file that claims more rows is rejected before anything is allocated for them. Writers stay far below this limit.
const MAX_ROWS: usize = 1 << 24;

/// The same limit for columns. Our own tables have about a dozen.
const MAX_COLUMNS: usize = 256;

/// Encodes the table as one Parquet file with one row group.
///
/// # Errors
/// Only if the encoder rejects the table, which would be a bug.
pub fn to_parquet(table: &Table) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = Stream::start(&mut bytes, table)?;
    file.add(table)?;
    file.finish_with(&[(checksum::KEY, checksum::BLANK)])?;
    checksum::seal(&mut bytes)?;
    Ok(bytes)
}

/// Decodes a table from a Parquet file, without columns of types that no recording has.
///
/// # Errors
/// [`ErrorKind::Corrupt`] unless the bytes are a complete Parquet file of plausible size.
pub fn from_parquet(bytes: &[u8]) -> Result<Table> {
    checksum::check(bytes)?;
    catch_panic(|| {
        let metadata = read_metadata(&mut Cursor::new(bytes)).map_err(|error| corrupt(&error))?;
        check_size(&metadata)?;
        let columns = 0..metadata.schema().columns().len();
        let columns = columns.filter_map(|at| column(bytes, &metadata, at).transpose()).collect::<Result<_>>()?;
        Table::of(metadata.num_rows, columns)
    })
}

/// The column of this number, from all row groups; `None` if its type is unknown.
fn column(bytes: &[u8], metadata: &FileMetadata, at: usize) -> Result<Option<Column>> {
    let column = &metadata.schema().columns()[at];
    let Some(none) = decode::none_of(&column.descriptor) else { return Ok(None) };
    let optional = column.descriptor.max_def_level > 0;
    let mut decoder = Decoder::new(none, optional);
    for group in &metadata.row_groups {
        let chunk = group.parquet_columns().get(at).ok_or_else(|| corrupt(&"a row group lacks a column"))?;
        decode_chunk(bytes, chunk, metadata.num_rows, &mut decoder)?;
    }
    let name = column.descriptor.primitive_type.field_info.name.to_string();
    Ok(Some(Column { name, optional, present: decoder.present(), values: decoder.values }))
}

fn decode_chunk(bytes: &[u8], chunk: &ColumnChunkMetadata, rows: usize, decoder: &mut Decoder) -> Result<()> {
    let place = chunk.byte_range();
    let pages = bytes.get(place.start as usize..place.end as usize);
    let pages = pages.ok_or_else(|| corrupt(&"a column lies outside the file"))?;
    let pages = PageReader::new(Cursor::new(pages.to_vec().into()), chunk, Vec::new(), usize::MAX);
    let mut context = DecompressionContext::Unset;
    for page in pages {
        let page = page.and_then(|page| decompress(page, &mut Vec::new(), &mut context));
        match page.map_err(|error| corrupt(&error))? {
            Page::Dict(page) => decoder.dictionary(&page)?,
            Page::Data(page) => decoder.page(&page, rows - decoder.values.len().min(rows))?,
        }
    }
    Ok(())
}

fn check_size(metadata: &FileMetadata) -> Result<()> {
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
        let equal = |(a, b): (&Column, &Column)| (&a.name, &a.values, &a.present) == (&b.name, &b.values, &b.present);
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
