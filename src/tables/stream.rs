//! Writes a Parquet file group by group, for tables that do not fit into memory.
//! The output is not part of a recording and carries no checksum.

use super::encode::{self, Chunk, Page};
use super::format::{
    AS_TEXT, AS_UINT32, AS_UINT64, BOOLEAN, BYTE_ARRAY, DATA_PAGE, DICTIONARY_PAGE, INT32, INT64, MAGIC, PLAIN, RLE,
};
use super::table::{Column, Table};
use super::thrift::{self, Struct};
use super::values::Values;
use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::io::Write;

/// A file being written.
pub struct Stream<W: Write> {
    out: W,
    written: usize,
    columns: Vec<Described>,
    groups: Vec<Group>,
}

/// A column as the file's schema describes it.
#[derive(Debug, Clone, PartialEq)]
struct Described {
    name: String,
    kind: i32,
    /// What the type stands for.
    meaning: Option<i32>,
    optional: bool,
}

/// Rows that were written together.
struct Group {
    rows: usize,
    chunks: Vec<Written>,
}

/// Where a column of a group lies.
struct Written {
    start: usize,
    data_start: usize,
    end: usize,
    plain_bytes: usize,
    encoding: i32,
    codec: i32,
}

impl<W: Write> fmt::Debug for Stream<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl<W: Write> Stream<W> {
    /// Starts a file whose tables have the columns of this one. Its rows are not written.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn start(out: W, columns: &Table) -> Result<Stream<W>> {
        let columns = columns.columns().iter().map(described).collect();
        let mut stream = Stream { out, written: 0, columns, groups: Vec::new() };
        stream.put(MAGIC)?;
        Ok(stream)
    }

    /// Writes the table's rows as one row group.
    ///
    /// # Errors
    /// If the columns differ or the writer fails.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        if table.rows() == 0 {
            return Ok(());
        }
        if !table.columns().iter().map(described).eq(self.columns.iter().cloned()) {
            return Err(Error::new(ErrorKind::Corrupt, "the table has other columns than the file"));
        }
        let mut chunks = Vec::with_capacity(self.columns.len());
        for column in table.columns() {
            let chunk = encode::column(column)?;
            chunks.push(self.chunk(&chunk)?);
        }
        self.groups.push(Group { rows: table.rows(), chunks });
        Ok(())
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(self) -> Result<()> {
        self.finish_with(&[])
    }

    /// Writes the end of the file with these keys and values in its metadata.
    pub(super) fn finish_with(mut self, entries: &[(&str, &str)]) -> Result<()> {
        let mut footer = Vec::new();
        thrift::put(&mut footer, |file| self.describe(file, entries));
        let length = (footer.len() as u32).to_le_bytes();
        footer.extend_from_slice(&length);
        footer.extend_from_slice(MAGIC);
        self.put(&footer)?;
        self.out.flush().map_err(failed)
    }

    fn chunk(&mut self, chunk: &Chunk) -> Result<Written> {
        let start = self.written;
        if let Some(dictionary) = &chunk.dictionary {
            self.page(DICTIONARY_PAGE, dictionary)?;
        }
        let data_start = self.written;
        self.page(DATA_PAGE, &chunk.data)?;
        let headers = self.written - start - chunk.pages().map(|page| page.bytes.len()).sum::<usize>();
        let plain_bytes = headers + chunk.pages().map(|page| page.plain_bytes).sum::<usize>();
        let (encoding, codec) = (chunk.data.encoding, chunk.codec);
        Ok(Written { start, data_start, end: self.written, plain_bytes, encoding, codec })
    }

    fn page(&mut self, kind: i32, page: &Page) -> Result<()> {
        let mut header = Vec::new();
        thrift::put(&mut header, |fields| {
            fields.int32(1, kind);
            fields.int32(2, page.plain_bytes as i32);
            fields.int32(3, page.bytes.len() as i32);
            fields.nested(if kind == DATA_PAGE { 5 } else { 7 }, |fields| {
                fields.int32(1, page.values as i32);
                fields.int32(2, page.encoding);
                if kind == DATA_PAGE {
                    fields.int32(3, RLE);
                    fields.int32(4, RLE);
                }
            });
        });
        self.put(&header)?;
        self.put(&page.bytes)
    }

    /// The fields of `FileMetaData`.
    fn describe(&self, file: &mut Struct<'_>, entries: &[(&str, &str)]) {
        file.int32(1, 1);
        let schema: Vec<Option<&Described>> = [None].into_iter().chain(self.columns.iter().map(Some)).collect();
        file.structs(2, &schema, |element, column| match column {
            None => {
                element.text(4, "root");
                element.int32(5, self.columns.len() as i32);
            }
            Some(column) => column.describe(element),
        });
        file.int64(3, self.groups.iter().map(|group| group.rows).sum());
        file.structs(4, &self.groups, |fields, group| self.describe_group(fields, group));
        if !entries.is_empty() {
            file.structs(5, entries, |entry, (key, value)| {
                entry.text(1, key);
                entry.text(2, value);
            });
        }
    }

    /// The fields of `RowGroup`.
    fn describe_group(&self, fields: &mut Struct<'_>, group: &Group) {
        let columns: Vec<_> = group.chunks.iter().zip(&self.columns).collect();
        fields.structs(1, &columns, |chunk, (written, column)| {
            chunk.int64(2, 0);
            chunk.nested(3, |fields| written.describe(fields, column, group.rows));
        });
        fields.int64(2, group.chunks.iter().map(|chunk| chunk.plain_bytes).sum());
        fields.int64(3, group.rows);
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len();
        self.out.write_all(bytes).map_err(failed)
    }
}

impl Described {
    /// The fields of `SchemaElement`.
    fn describe(&self, element: &mut Struct<'_>) {
        element.int32(1, self.kind);
        element.int32(3, self.optional.into());
        element.text(4, &self.name);
        if let Some(meaning) = self.meaning {
            element.int32(6, meaning);
        }
    }
}

impl Written {
    /// The fields of `ColumnMetaData`.
    fn describe(&self, fields: &mut Struct<'_>, column: &Described, rows: usize) {
        fields.int32(1, column.kind);
        fields.int32s(2, &[PLAIN, RLE, self.encoding][..if self.encoding == PLAIN { 2 } else { 3 }]);
        fields.texts(3, &[&column.name]);
        fields.int32(4, self.codec);
        fields.int64(5, rows);
        fields.int64(6, self.plain_bytes);
        fields.int64(7, self.end - self.start);
        fields.int64(9, self.data_start);
        if self.data_start > self.start {
            fields.int64(11, self.start);
        }
    }
}

fn described(column: &Column) -> Described {
    let (kind, meaning) = match column.values {
        Values::Narrow(_) => (INT32, Some(AS_UINT32)),
        Values::Wide(_) => (INT64, Some(AS_UINT64)),
        Values::Bool(_) => (BOOLEAN, None),
        Values::Text(_) => (BYTE_ARRAY, Some(AS_TEXT)),
    };
    Described { name: column.name.clone(), kind, meaning, optional: column.optional }
}

fn failed(error: std::io::Error) -> Error {
    Error::from(error).context("cannot write the table")
}
