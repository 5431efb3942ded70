//! Decodes the pages of a column: the encodings that [`super::encode`] and older versions chose among.

use super::format::corrupt;
use super::values::{Number, Texts, Values};
use super::{bits, delta, runs};
use crate::error::Result;
use polars_parquet::parquet::encoding::Encoding;
use polars_parquet::parquet::metadata::Descriptor;
use polars_parquet::parquet::page::{DataPage, DataPageHeader, DictPage};
use polars_parquet::parquet::schema::types::{PhysicalType, PrimitiveConvertedType};

/// The values of the type that the column has, none so far; `None` for a type that a recording never holds.
pub(super) fn none_of(column: &Descriptor) -> Option<Values> {
    let kind = &column.primitive_type;
    let flat = column.max_rep_level == 0 && column.max_def_level <= 1;
    match (kind.physical_type, kind.converted_type) {
        _ if !flat => None,
        (PhysicalType::Int32, Some(PrimitiveConvertedType::Uint32)) => Some(Values::Narrow(Vec::new())),
        (PhysicalType::Int64, Some(PrimitiveConvertedType::Uint64)) => Some(Values::Wide(Vec::new())),
        (PhysicalType::Boolean, None) => Some(Values::Bool(Vec::new())),
        (PhysicalType::ByteArray, Some(PrimitiveConvertedType::Utf8)) => Some(Values::Text(Texts::default())),
        _ => None,
    }
}

/// A column being decoded, page by page.
pub(super) struct Decoder {
    pub values: Values,
    /// Which rows have a value; none of the column's rows is missing while this is empty.
    present: Vec<bool>,
    optional: bool,
    dictionary: Values,
}

impl Decoder {
    pub fn new(values: Values, optional: bool) -> Decoder {
        Decoder { dictionary: values.clone(), values, present: Vec::new(), optional }
    }

    /// Which rows have a value, unless all have one.
    pub fn present(&mut self) -> Option<Vec<bool>> {
        self.present.contains(&false).then(|| std::mem::take(&mut self.present))
    }

    pub fn dictionary(&mut self, page: &DictPage) -> Result<()> {
        self.dictionary = plain(&self.values, &page.buffer, page.num_values)?;
        Ok(())
    }

    /// Appends the values of a page of at most `most` rows.
    pub fn page(&mut self, page: &DataPage, most: usize) -> Result<()> {
        let (DataPageHeader::V1(_), rows) = (page.header(), page.num_values()) else {
            return Err(corrupt(&"a page of another version"));
        };
        if rows > most {
            return Err(corrupt(&"a page has more rows than the file"));
        }
        let (present, bytes) =
            if self.optional { levels(page.buffer(), rows)? } else { (vec![true; rows], page.buffer()) };
        let count = present.iter().filter(|present| **present).count();
        let values = self.decoded(page.encoding(), bytes, count)?;
        let values = if count == rows { values } else { spread(values, &present) };
        self.present.extend(present);
        self.values.append(&values);
        Ok(())
    }

    fn decoded(&self, encoding: Encoding, bytes: &[u8], count: usize) -> Result<Values> {
        match (encoding, &self.values) {
            (Encoding::Plain, _) => plain(&self.values, bytes, count),
            (Encoding::RleDictionary | Encoding::PlainDictionary, _) => self.looked_up(bytes, count),
            (Encoding::DeltaBinaryPacked, Values::Narrow(_)) => delta::take(bytes, count).map(Values::Narrow),
            (Encoding::DeltaBinaryPacked, Values::Wide(_)) => delta::take(bytes, count).map(Values::Wide),
            (Encoding::Rle, Values::Bool(_)) => {
                let bits = runs::take(bytes.get(4..).unwrap_or_default(), 1, count)?;
                Ok(Values::Bool(bits.into_iter().map(|bit| bit == 1).collect()))
            }
            _ => Err(corrupt(&"an encoding that no version writes")),
        }
    }

    fn looked_up(&self, bytes: &[u8], count: usize) -> Result<Values> {
        let numbers = match bytes.split_first() {
            Some((width, bytes)) => runs::take(bytes, u32::from(*width), count)?,
            None if count == 0 => Vec::new(),
            None => return Err(corrupt(&"numbers of dictionary entries are missing")),
        };
        let values = match &self.dictionary {
            Values::Narrow(words) => select(words, &numbers).map(Values::Narrow),
            Values::Wide(words) => select(words, &numbers).map(Values::Wide),
            Values::Bool(words) => select(words, &numbers).map(Values::Bool),
            Values::Text(words) => words.clone().select(&numbers).map(Values::Text),
        };
        values.ok_or_else(|| corrupt(&"a value refers to a dictionary entry that does not exist"))
    }
}

fn select<T: Copy>(words: &[T], numbers: &[u32]) -> Option<Vec<T>> {
    numbers.iter().map(|number| words.get(*number as usize).copied()).collect()
}

/// Reads which rows have a value off the start of a page.
fn levels(bytes: &[u8], rows: usize) -> Result<(Vec<bool>, &[u8])> {
    let split = bytes.split_first_chunk().and_then(|(length, rest)| {
        let length = u32::from_le_bytes(*length) as usize;
        rest.split_at_checked(length)
    });
    let (levels, rest) = split.ok_or_else(|| corrupt(&"a page ends too early"))?;
    let levels = runs::take(levels, 1, rows)?;
    Ok((levels.into_iter().map(|level| level == 1).collect(), rest))
}

/// Gives rows without a value the type's default.
fn spread(values: Values, present: &[bool]) -> Values {
    match values {
        Values::Narrow(values) => Values::Narrow(spread_of(values.into_iter(), present).collect()),
        Values::Wide(values) => Values::Wide(spread_of(values.into_iter(), present).collect()),
        Values::Bool(values) => Values::Bool(spread_of(values.into_iter(), present).collect()),
        Values::Text(values) => Values::Text(values.spread(present)),
    }
}

fn spread_of<T: Default>(mut values: impl Iterator<Item = T>, present: &[bool]) -> impl Iterator<Item = T> {
    present.iter().map(move |present| if *present { values.next().unwrap_or_default() } else { T::default() })
}

/// Values of the same type as these, written as they are.
fn plain(kind: &Values, bytes: &[u8], count: usize) -> Result<Values> {
    match kind {
        Values::Narrow(_) => numbers(bytes, count).map(Values::Narrow),
        Values::Wide(_) => numbers(bytes, count).map(Values::Wide),
        Values::Text(_) => texts(bytes, count).map(Values::Text),
        Values::Bool(_) => {
            let mut values = Vec::new();
            bits::unpack(bytes, 1, count, |bit| values.push(bit == 1))?;
            Ok(Values::Bool(values))
        }
    }
}

fn numbers<N: Number>(bytes: &[u8], count: usize) -> Result<Vec<N>> {
    let bytes = count.checked_mul(N::BYTES).and_then(|length| bytes.get(..length));
    let bytes = bytes.ok_or_else(|| corrupt(&"numbers end too early"))?;
    let number = |bytes: &[u8]| {
        let mut whole = [0; 8];
        whole[..N::BYTES].copy_from_slice(bytes);
        N::of(u64::from_le_bytes(whole))
    };
    Ok(bytes.chunks_exact(N::BYTES).map(number).collect())
}

fn texts(mut bytes: &[u8], count: usize) -> Result<Texts> {
    let mut texts = Texts::default();
    for _ in 0..count {
        let text = bytes.split_first_chunk().and_then(|(length, rest)| {
            let length = u32::from_le_bytes(*length) as usize;
            rest.split_at_checked(length)
        });
        let (text, rest) = text.ok_or_else(|| corrupt(&"texts end too early"))?;
        texts.push_bytes(text)?;
        bytes = rest;
    }
    Ok(texts)
}
