//! Chooses the encoding of a column's values, because the encoding affects the size of a recording more than the
//! compressor does. Encoding is lossless.

use super::delta::{self, Layout};
use super::format::{CODEC_NONE, CODEC_ZSTD, DELTA_BINARY_PACKED, PLAIN, RLE_DICTIONARY, corrupt};
use super::table::Column;
use super::values::{Number, Values};
use super::{bits, runs};
use crate::error::Result;
use polars_parquet::parquet::compression::{self, CompressionOptions, ZstdLevel};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Level 1 makes recordings 4 to 12 % larger and saves little time; level 9 makes them 2 % smaller in twice the time.
const ZSTD_LEVEL: i32 = 3;

/// Up to this many rows all encodings are tried; of more rows only those that promise something.
const FEW_ROWS: usize = 1 << 10;

/// So many rows show how a column's differences compress.
const SAMPLE_ROWS: usize = 1 << 13;

/// What the header of a page costs, about.
const HEADER_BYTES: usize = 20;

/// A column's pages: their values, after those of a dictionary if they refer to one.
pub(super) struct Chunk {
    pub dictionary: Option<Page>,
    pub data: Page,
    pub codec: i32,
}

/// A page as it is written after its header.
pub(super) struct Page {
    pub encoding: i32,
    /// Rows, or entries of a dictionary.
    pub values: usize,
    /// Size before compression.
    pub plain_bytes: usize,
    pub bytes: Vec<u8>,
}

impl Page {
    fn new(encoding: i32, values: usize, bytes: Vec<u8>) -> Page {
        Page { encoding, values, plain_bytes: bytes.len(), bytes }
    }
}

impl Chunk {
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.dictionary.iter().chain([&self.data])
    }

    /// Compresses the pages if that makes them smaller: the file format wants all or none.
    fn compress(&mut self) -> Result<()> {
        let packed = self.pages().map(|page| compressed(&page.bytes)).collect::<Result<Vec<_>>>()?;
        let plain: usize = self.pages().map(|page| page.bytes.len()).sum();
        if packed.iter().map(Vec::len).sum::<usize>() >= plain {
            return Ok(());
        }
        let pages = self.dictionary.iter_mut().chain([&mut self.data]);
        pages.zip(packed).for_each(|(page, packed)| page.bytes = packed);
        self.codec = CODEC_ZSTD;
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.pages().map(|page| page.bytes.len() + HEADER_BYTES).sum()
    }
}

/// The column in its smallest encoding.
///
/// # Errors
/// Only if the compressor fails, which would be a bug.
pub(super) fn column(column: &Column) -> Result<Chunk> {
    let draft = Draft { rows: column.values.len(), levels: levels(column) };
    let mut chunks = match &column.values {
        Values::Narrow(values) => draft.numbers(&present(values.iter().copied(), column))?,
        Values::Wide(values) => draft.numbers(&present(values.iter().copied(), column))?,
        Values::Text(values) => draft.values(&present(values.iter(), column), true),
        Values::Bool(values) => {
            let bits = present(values.iter().copied(), column).into_iter().map(u64::from);
            vec![draft.chunk(PLAIN, None, |out| bits::pack(bits, 1, out))]
        }
    };
    for chunk in &mut chunks {
        chunk.compress()?;
    }
    chunks.into_iter().min_by_key(Chunk::bytes).ok_or_else(|| corrupt(&"no encoding"))
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(|error| corrupt(&error))?;
    let mut packed = Vec::new();
    let done = compression::compress(CompressionOptions::Zstd(Some(level)), bytes, &mut packed);
    done.map_err(|error| corrupt(&error))?;
    Ok(packed)
}

/// The layout in which a sample of the differences is smaller.
fn layout<N: Number>(values: &[N]) -> Result<Layout> {
    let start = (values.len() / 2).min(values.len().saturating_sub(SAMPLE_ROWS));
    let sample = &values[start..values.len().min(start + SAMPLE_ROWS)];
    let size = |layout| -> Result<usize> {
        let mut bytes = Vec::new();
        delta::put(sample, layout, &mut bytes);
        Ok(compressed(&bytes)?.len().min(bytes.len()))
    };
    let even = size(Layout::even(sample.len()))? < size(Layout::NARROW)?;
    Ok(if even { Layout::even(values.len()) } else { Layout::NARROW })
}

/// A data page that begins with these levels.
struct Draft {
    rows: usize,
    levels: Vec<u8>,
}

impl Draft {
    fn numbers<N: Number + Plain>(&self, values: &[N]) -> Result<Vec<Chunk>> {
        let rise = mostly_rise(values);
        let mut chunks = self.values(values, !rise);
        if rise {
            let layout = layout(values)?;
            chunks.push(self.chunk(DELTA_BINARY_PACKED, None, |out| delta::put(values, layout, out)));
        }
        Ok(chunks)
    }

    /// With a dictionary, unless most values differ, and plainly where that may be smaller.
    fn values<T: Plain + Copy + Eq + Hash>(&self, values: &[T], plainly: bool) -> Vec<Chunk> {
        let few = values.len() <= FEW_ROWS;
        let most = if few { values.len() } else { values.len() / 2 };
        let dictionary = dictionary(values, most).map(|(words, numbers)| {
            let width = bits::width(words.len() as u64 - 1);
            let page = Page::new(PLAIN, words.len(), plain(&words));
            self.chunk(RLE_DICTIONARY, Some(page), |out| {
                out.push(width as u8);
                runs::put(&numbers, width, out);
            })
        });
        let plainly = few || plainly && dictionary.is_none();
        let plainly = plainly.then(|| self.chunk(PLAIN, None, |out| out.extend(plain(values))));
        dictionary.into_iter().chain(plainly).collect()
    }

    fn chunk(&self, encoding: i32, dictionary: Option<Page>, put: impl FnOnce(&mut Vec<u8>)) -> Chunk {
        let mut bytes = self.levels.clone();
        put(&mut bytes);
        Chunk { dictionary, data: Page::new(encoding, self.rows, bytes), codec: CODEC_NONE }
    }
}

/// A value written as it is.
trait Plain {
    fn put(&self, out: &mut Vec<u8>);
}

impl Plain for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
}

impl Plain for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
}

impl Plain for &str {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        out.extend_from_slice(self.as_bytes());
    }
}

fn plain(values: &[impl Plain]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| value.put(&mut bytes));
    bytes
}

/// Which rows of an optional column have a value, with the length in front.
fn levels(column: &Column) -> Vec<u8> {
    if !column.optional {
        return Vec::new();
    }
    let levels = match &column.present {
        Some(present) => present.iter().map(|present| u32::from(*present)).collect(),
        None => vec![1; column.values.len()],
    };
    let mut bytes = vec![0; 4];
    runs::put(&levels, 1, &mut bytes);
    let length = bytes.len() as u32 - 4;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn present<T>(values: impl Iterator<Item = T>, column: &Column) -> Vec<T> {
    match &column.present {
        Some(present) => values.zip(present).filter(|(_, present)| **present).map(|(value, _)| value).collect(),
        None => values.collect(),
    }
}

/// The distinct values in the order of their first use, and each value's number among them. `None` if there are none, or
/// more than `most`.
fn dictionary<T: Copy + Eq + Hash>(values: &[T], most: usize) -> Option<(Vec<T>, Vec<u32>)> {
    let (mut words, mut places) = (Vec::new(), FxHashMap::default());
    let mut numbers = Vec::with_capacity(values.len());
    for value in values {
        numbers.push(match places.entry(*value) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                words.push(*value);
                *place.insert(words.len() as u32 - 1)
            }
        });
        if words.len() > most {
            return None;
        }
    }
    (!words.is_empty()).then_some((words, numbers))
}

/// True if at least two of three steps go up.
fn mostly_rise<N: Number>(values: &[N]) -> bool {
    let up = values.windows(2).filter(|pair| pair[1] > pair[0]).count();
    up * 3 >= values.len() * 2
}
