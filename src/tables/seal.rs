//! Tells a file that was damaged from one that was not, before a decoder trusts its lengths: the checksum of the whole
//! file stands in the file's own key-value metadata. It guards against accidents, not against forgery.

use crate::error::{Error, ErrorKind, Result};

/// The metadata key. Its value is the CRC-32 of the file with this value set to [`BLANK`], in eight hexadecimal digits.
pub(super) const KEY: &str = "ironlaw.crc32";

/// What stands where the checksum will be.
pub(super) const BLANK: &str = "--------";

/// Puts the checksum where [`BLANK`] stands.
///
/// # Errors
/// [`ErrorKind::Corrupt`] when the file has no place for it.
pub(super) fn seal(bytes: &mut [u8]) -> Result<()> {
    let at = place(bytes).ok_or_else(unsealed)?;
    let sum = format!("{:08x}", crc32([&*bytes]));
    bytes[at..at + BLANK.len()].copy_from_slice(sum.as_bytes());
    Ok(())
}

/// # Errors
/// [`ErrorKind::Corrupt`] when the bytes are not those that were sealed.
pub(super) fn check(bytes: &[u8]) -> Result<()> {
    let at = place(bytes).ok_or_else(unsealed)?;
    let (before, rest) = bytes.split_at(at);
    let (sum, after) = rest.split_at(BLANK.len());
    if format!("{:08x}", crc32([before, BLANK.as_bytes(), after])).as_bytes() == sum {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt, "the checksum does not match: the file is damaged"))
}

/// Where the value begins: the format puts one byte, the value's type, and one, its length, between key and value.
/// The last occurrence is the metadata's: a column holding the same text lies before it.
fn place(bytes: &[u8]) -> Option<usize> {
    let key = KEY.as_bytes();
    let at = bytes.windows(key.len()).rposition(|window| window == key)? + key.len() + 2;
    (at + BLANK.len() <= bytes.len()).then_some(at)
}

fn unsealed() -> Error {
    Error::new(ErrorKind::Corrupt, "truncated, or not a table written by ironlaw: it has no checksum")
}

/// CRC-32 as in ISO 3309 and zlib, over the pieces as one.
fn crc32<const N: usize>(pieces: [&[u8]; N]) -> u32 {
    let step = |crc: u32, byte: &u8| (crc >> 8) ^ TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)];
    !pieces.into_iter().flatten().fold(u32::MAX, step)
}

static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let (mut crc, mut bit) = (index as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

/// Seals what was changed after it had been sealed, as a forger would.
#[cfg(test)]
pub(super) fn reseal(bytes: &mut [u8]) {
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
