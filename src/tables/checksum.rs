//! Detects a damaged file before a decoder trusts its lengths. The checksum of the whole file is stored in the file's
//! own key-value metadata. It guards against accidents, not against forgery.

use crate::error::{Error, ErrorKind, Result};

/// The metadata key. Its value is the CRC-32 of the file with this value set to [`BLANK`], in eight hexadecimal digits.
pub(super) const KEY: &str = "ironlaw.crc32";

/// Placeholder for the checksum.
pub(super) const BLANK: &str = "--------";

/// Replaces [`BLANK`] with the checksum.
///
/// # Errors
/// [`ErrorKind::Corrupt`] if the file has no placeholder.
pub(super) fn seal(bytes: &mut [u8]) -> Result<()> {
    let at = place(bytes).ok_or_else(unsealed)?;
    let sum = format!("{:08x}", crc32([&*bytes]));
    bytes[at..at + BLANK.len()].copy_from_slice(sum.as_bytes());
    Ok(())
}

/// # Errors
/// [`ErrorKind::Corrupt`] if the bytes do not match the stored checksum.
pub(super) fn check(bytes: &[u8]) -> Result<()> {
    let at = place(bytes).ok_or_else(unsealed)?;
    let (before, rest) = bytes.split_at(at);
    let (sum, after) = rest.split_at(BLANK.len());
    if format!("{:08x}", crc32([before, BLANK.as_bytes(), after])).as_bytes() == sum {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt, "the checksum does not match: the file is damaged"))
}

/// Position of the checksum value. The format puts two bytes between key and value: the value's type and its length.
/// The last occurrence of the key is the one in the metadata; a column with the same text lies before it.
fn place(bytes: &[u8]) -> Option<usize> {
    let key = KEY.as_bytes();
    let at = bytes.windows(key.len()).rposition(|window| window == key)? + key.len() + 2;
    (at + BLANK.len() <= bytes.len()).then_some(at)
}

fn unsealed() -> Error {
    Error::new(ErrorKind::Corrupt, "truncated, or not a table written by ironlaw: it has no checksum")
}

/// CRC-32 as in ISO 3309 and zlib, over the concatenated pieces.
fn crc32<const N: usize>(pieces: [&[u8]; N]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    pieces.into_iter().for_each(|piece| sum.update(piece));
    sum.finalize()
}

/// Recomputes the checksum of a file that was changed after sealing, as a forger would.
#[cfg(any(test, fuzzing))]
pub(crate) fn reseal(bytes: &mut [u8]) {
    if let Some(at) = place(bytes) {
        bytes[at..at + BLANK.len()].copy_from_slice(BLANK.as_bytes());
        let _ = seal(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_zlib() {
        assert_eq!(crc32([b"123456789"]), 0xcbf4_3926);
        assert_eq!(crc32([b"1234", b"", b"56789"]), 0xcbf4_3926);
    }

    #[test]
    fn any_changed_byte_breaks_the_seal() {
        let mut sealed = format!("PAR1 data {KEY}\u{18}\u{8}{BLANK} footer PAR1").into_bytes();
        assert!(check(&sealed).is_err(), "not sealed yet");
        seal(&mut sealed).unwrap_or_else(|error| panic!("{error}"));
        assert!(check(&sealed).is_ok());
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 4;
            assert_eq!(check(&damaged).map_err(|error| error.kind()), Err(ErrorKind::Corrupt), "byte {at}");
        }
    }
}
