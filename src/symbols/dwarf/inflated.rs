//! Debug sections that are compressed in their file, decompressed. That takes longer than finding a name in them, so
//! they are left to later sessions.

use crate::model::Bytes;
use crate::model::limits::{INFLATED_BYTES, INFLATED_RATIO};
use crate::symbols::files::Files;
use object::{CompressedData, CompressedFileRange};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bytes of sections that are stored: smaller ones are soon decompressed, larger ones would displace all others.
const STORED: RangeInclusive<usize> = 64 << 10..=16 << 20;

/// The last bytes of a stored section: the disk may have lost the end of a file that was just written.
const END: &[u8] = b"ironlaw section 1";

/// Whether a section would be larger than any compiler writes, after others of the same file. It is not decompressed.
pub(super) fn is_refused(section: &CompressedFileRange, others: u64) -> bool {
    let (packed, size) = (section.compressed_size, section.uncompressed_size);
    let grown = size > *STORED.end() as u64 && size / INFLATED_RATIO > packed;
    grown || others.saturating_add(size) > INFLATED_BYTES
}

/// A section's contents, which are the first bytes, and their size; `None` if they are damaged. They are stored under
/// `name`, if the section has one.
pub(super) fn inflated(name: Option<String>, section: CompressedData<'_>, files: &dyn Files) -> Option<(Bytes, usize)> {
    let size = usize::try_from(section.uncompressed_size).ok()?;
    let inflate = |section: CompressedData<'_>| section.decompress().ok().map(Cow::into_owned);
    let Some(name) = name.filter(|_| STORED.contains(&size)) else {
        return Some((Arc::new(inflate(section)?), size));
    };
    let stored = || files.stored(&name).filter(|bytes| is_whole(bytes, size));
    if let Some(bytes) = stored() {
        return Some((bytes, size));
    }
    let mut bytes = inflate(section)?;
    bytes.extend_from_slice(END);
    files.store(&name, &bytes);
    // From the file only what is used lies in memory.
    Some((stored().unwrap_or_else(|| Arc::new(bytes)), size))
}

fn is_whole(bytes: &Bytes, size: usize) -> bool {
    let bytes = (**bytes).as_ref();
    bytes.len() == size + END.len() && bytes.ends_with(END)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::symbols::tests::Stored;
    use flate2::{Compression, write::ZlibEncoder};
    use object::CompressionFormat;
    use std::io::Write;

    fn deflated(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn plain(size: usize) -> Vec<u8> {
        (0..size).map(|at| (at / 7) as u8).collect()
    }

    fn read(data: &[u8], size: usize, files: &Stored) -> Option<Vec<u8>> {
        let section = CompressedData { format: CompressionFormat::Zlib, data, uncompressed_size: size as u64 };
        inflated(Some("debug_info-1".into()), section, files).map(|(bytes, size)| (*bytes).as_ref()[..size].to_vec())
    }

    #[test]
    fn a_section_is_the_same_from_its_file_and_stored_and_only_middling_ones_are_stored() {
        let (least, most) = (*STORED.start(), *STORED.end());
        for (size, kept) in [(0, false), (least - 1, false), (least, true), (most, true), (most + 1, false)] {
            let (files, plain) = (Stored::default(), plain(size));
            let data = deflated(&plain);
            assert!(read(&data, size, &files).as_ref() == Some(&plain), "{size} bytes");
            assert_eq!(files.0.borrow().is_some(), kept, "{size} bytes");
            assert!(read(&data, size, &files).as_ref() == Some(&plain), "{size} bytes again");
        }
    }

    #[test]
    fn a_section_beyond_use_is_not_decompressed() {
        let whole = *STORED.end() as u64;
        for (packed, size, others, expected) in [
            (1, whole, 0, false),
            (1, whole + 1, 0, true),
            (whole / INFLATED_RATIO, whole + 1, 0, false),
            (whole / INFLATED_RATIO, whole + INFLATED_RATIO, 0, true),
            (INFLATED_BYTES, INFLATED_BYTES, 0, false),
            (INFLATED_BYTES, INFLATED_BYTES, 1, true),
            (INFLATED_BYTES, INFLATED_BYTES + 1, 0, true),
            (u64::MAX, u64::MAX, u64::MAX, true),
        ] {
            let format = CompressionFormat::Zlib;
            let section = CompressedFileRange { format, offset: 0, compressed_size: packed, uncompressed_size: size };
            assert_eq!(is_refused(&section, others), expected, "{size} of {packed} after {others}");
        }
    }

    #[test]
    fn a_stored_section_is_used_unless_its_end_is_lost() {
        let (files, size) = (Stored::default(), *STORED.start());
        let data = deflated(&plain(size));
        let whole = [vec![7; size], END.to_vec()].concat();
        let (mut zeros, cut, longer) = (whole.clone(), whole[..size].to_vec(), [&whole[..], b"1"].concat());
        zeros[size..].fill(0);
        for (stored, used) in [(whole, true), (zeros, false), (cut, false), (longer, false)] {
            *files.0.borrow_mut() = Some(stored);
            assert_eq!(read(&data, size, &files).unwrap() == vec![7; size], used);
        }
    }

    #[test]
    fn a_section_that_is_shorter_than_it_says_has_no_contents() {
        let files = Stored::default();
        let data = deflated(&plain(100_000));
        for (data, size) in [(&data[..], 100_001), (&data[..data.len() / 2], 100_000), (b"x", 100_000)] {
            assert!(read(data, size, &files).is_none(), "{size} bytes");
        }
        assert!(files.0.borrow().is_none());
    }
}
