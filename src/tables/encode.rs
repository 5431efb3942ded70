//! Chooses the encoding of a column's values, because the encoding affects the size of a recording more than the
//! compressor does. Encoding is lossless.

use super::table::corrupt;
use crate::error::Result;
use polars_arrow::array::{Array, PrimitiveArray};
use polars_arrow::types::NativeType;
use polars_parquet::write::{
    CompressedPage, CompressionOptions, Encoding, Page, ParquetType, StatisticsOptions, Version, WriteOptions,
    ZstdLevel, array_to_pages, compress, get_dtype_encoding, to_nested,
};
use std::fmt::Display;

/// Level 9 shrinks a recording by 1 % over level 1 and takes 1.7 times the CPU time (`cargo bench --bench store`).
const ZSTD_LEVEL: i32 = 1;

/// A column's compressed pages: dictionary or plain encoding, or delta encoding where that is smaller. Delta encoding
/// is tried only for columns whose values mostly rise (definition numbers, times).
pub(super) fn column(array: &dyn Array, kind: ParquetType) -> Result<Vec<CompressedPage>> {
    let options = options()?;
    let nested = to_nested(array, &kind).map_err(|error| corrupt(&error))?.concat();
    let (ParquetType::PrimitiveType(kind), [encoding]) = (kind, &get_dtype_encoding(array.dtype())[..]) else {
        return Err(corrupt(&"a column of columns"));
    };
    let encode = |encoding| {
        let pages = array_to_pages(array, kind.clone(), &nested, options, encoding).map_err(|error| corrupt(&error))?;
        Pages::compress(pages, options.compression)
    };
    let usual = encode(*encoding)?;
    if !mostly_rises(array) {
        return Ok(usual.pages);
    }
    let differences = encode(Encoding::DeltaBinaryPacked)?;
    Ok(if differences.bytes < usual.bytes { differences.pages } else { usual.pages })
}

#[derive(Default)]
struct Pages {
    pages: Vec<CompressedPage>,
    /// Compressed size. A dictionary counts uncompressed, because its compressed size is not available.
    bytes: usize,
}

impl Pages {
    fn compress(
        encoded: impl Iterator<Item = std::result::Result<Page, impl Display>>,
        options: CompressionOptions,
    ) -> Result<Pages> {
        let mut compressed = Pages::default();
        for page in encoded {
            let page = page.map_err(|error| corrupt(&error))?;
            let dictionary = if let Page::Dict(page) = &page { page.buffer.len() } else { 0 };
            let page = compress(page, Vec::new(), options).map_err(|error| corrupt(&error))?;
            compressed.bytes +=
                if let CompressedPage::Data(page) = &page { page.compressed_size() } else { dictionary };
            compressed.pages.push(page);
        }
        Ok(compressed)
    }
}

pub(super) fn options() -> Result<WriteOptions> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(|error| corrupt(&error))?;
    Ok(WriteOptions {
        statistics: StatisticsOptions::empty(),
        version: Version::V1,
        compression: CompressionOptions::Zstd(Some(level)),
        data_page_size: Some(usize::MAX),
    })
}

fn mostly_rises(array: &dyn Array) -> bool {
    let any = array.as_any();
    any.downcast_ref().is_some_and(rises::<u32>)
        || any.downcast_ref().is_some_and(rises::<u64>)
        || any.downcast_ref().is_some_and(rises::<i64>)
}

/// True if at least two of three steps go up.
fn rises<T: NativeType + PartialOrd>(values: &PrimitiveArray<T>) -> bool {
    let (mut last, mut up, mut steps) = (None, 0usize, 0usize);
    for value in values.iter().flatten() {
        up += usize::from(last.is_some_and(|last| value > last));
        steps += 1;
        last = Some(value);
    }
    up * 3 >= steps * 2
}
