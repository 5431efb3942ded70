//! Examines the pages of a file before they are decompressed: a page of some kilobytes can stand for gigabytes.

use super::table::corrupt;
use crate::error::Result;
use crate::model::limits::{PART_DECODED_BYTES, PART_ROWS};
use polars_parquet::read::{DataPageHeader, PageReader};
use polars_parquet::write::{CompressedPage, Encoding};

/// How much more may be decoded of a file.
#[derive(Debug)]
pub(super) struct PageRoom {
    bytes: u64,
}

impl Default for PageRoom {
    fn default() -> Self {
        PageRoom { bytes: PART_DECODED_BYTES }
    }
}

#[cfg(test)]
impl PageRoom {
    pub(super) fn of(bytes: u64) -> PageRoom {
        PageRoom { bytes }
    }

    pub(super) fn left(&self) -> u64 {
        self.bytes
    }
}

impl PageRoom {
    /// Takes the room for the pages of a column, which begin with `bytes`.
    ///
    /// # Errors
    /// `Corrupt` if the pages need more room than there is, or hold what no recorder writes.
    pub(super) fn take(&mut self, bytes: &[u8], pages: PageReader) -> Result<()> {
        // Of a dictionary, which comes first, the library keeps the size for itself.
        if !bytes.is_empty() {
            self.take_bytes(first_size(bytes).ok_or_else(|| corrupt(&"a page of unknown size"))?)?;
        }
        let mut values = 0_usize;
        for page in pages {
            if let CompressedPage::Data(page) = page.map_err(|error| corrupt(&error))? {
                self.take_bytes(page.uncompressed_size() as u64)?;
                values = values.saturating_add(page.num_values());
                let encoding = match page.header() {
                    DataPageHeader::V1(header) => header.encoding,
                    DataPageHeader::V2(header) => header.encoding,
                };
                // Each value may repeat the start of the one before it: they take any multiple of the page.
                if Encoding::try_from(encoding).is_ok_and(|encoding| encoding == Encoding::DeltaByteArray) {
                    return Err(corrupt(&"text in an encoding that no recorder writes"));
                }
            }
        }
        if values > PART_ROWS { Err(corrupt(&"a column has more values than a part has rows")) } else { Ok(()) }
    }

    fn take_bytes(&mut self, size: u64) -> Result<()> {
        let Some(left) = self.bytes.checked_sub(size) else {
            return Err(corrupt(&format_args!("it decompresses to more than {PART_DECODED_BYTES} bytes")));
        };
        self.bytes = left;
        Ok(())
    }
}

/// The decompressed size that the first page's header states: its second field, after the type.
fn first_size(bytes: &[u8]) -> Option<u64> {
    /// A field of 32 bits that follows the one before it, in Thrift's compact protocol.
    const NEXT_I32: u8 = 0x15;
    let (mut bytes, mut value) = (bytes.iter(), 0);
    for _ in 0..2 {
        bytes.next().filter(|field| **field == NEXT_I32)?;
        value = 0;
        for shift in (0..35).step_by(7) {
            let byte = *bytes.next()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    // Zigzag: sizes are even numbers, halved.
    (value & 1 == 0).then_some(value >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_first_page_is_read_from_its_header_or_not_at_all() {
        for (bytes, size) in [
            (&[0x15, 0, 0x15, 0x90, 0x4e][..], Some(5000)),
            (&[0x15, 4, 0x15, 2, 0x15, 9], Some(1)),
            (&[0x15, 4, 0x15, 0xfe, 0xff, 0xff, 0xff, 0xf], Some(i32::MAX as u64)),
            (&[0x15, 4, 0x15, 1], None),
            (&[0x25, 4, 0x15, 2], None),
            (&[0x15, 4, 0x15], None),
            (&[], None),
        ] {
            assert_eq!(first_size(bytes), size, "{bytes:?}");
        }
    }
}
