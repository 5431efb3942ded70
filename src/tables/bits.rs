//! Numbers packed into as few bits as they need, lowest bit first, as every encoding of Parquet packs them.

use super::format::corrupt;
use crate::error::Result;

/// Bits that the number needs.
pub(super) fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Appends values of at most `width` bits. The last byte is filled with zeros.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0u64, 0);
    for value in values {
        waiting |= value << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend_from_slice(&waiting.to_le_bytes());
            bits -= u64::BITS;
            waiting = value.checked_shr(width - bits).unwrap_or(0);
        }
    }
    out.extend_from_slice(&waiting.to_le_bytes()[..bits.div_ceil(u8::BITS) as usize]);
}

/// Calls `each` with `count` values of `width` bits.
///
/// # Errors
/// [`crate::error::ErrorKind::Corrupt`] if the bytes hold fewer, or the width is impossible.
pub(super) fn unpack(bytes: &[u8], width: u32, count: usize, mut each: impl FnMut(u64)) -> Result<()> {
    let length = count.checked_mul(width as usize).map(|bits| bits.div_ceil(8));
    let bytes = length.filter(|_| width <= u64::BITS).and_then(|length| bytes.get(..length));
    let bytes = bytes.ok_or_else(|| corrupt(&"packed numbers end too early"))?;
    let mask = u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
    for at in 0..count {
        let bit = at * width as usize;
        let rest = &bytes[bit / 8..];
        each(match rest.first_chunk() {
            Some(window) if width <= 56 => u64::from_le_bytes(*window) >> (bit % 8) & mask,
            _ => straddling(rest, bit % 8) & mask,
        });
    }
    Ok(())
}

/// The bits from this one on, also those of a ninth byte, or of bytes that end early.
fn straddling(bytes: &[u8], bit: usize) -> u64 {
    let mut window = [0; 16];
    let taken = bytes.len().min(window.len());
    window[..taken].copy_from_slice(&bytes[..taken]);
    (u128::from_le_bytes(window) >> bit) as u64
}

/// A number in groups of seven bits, lowest first (LEB128).
pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number as [`put_varint`] writes it off the bytes' start.
///
/// # Errors
/// [`crate::error::ErrorKind::Corrupt`] if the bytes end too early or the number has more than 64 bits.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(|| corrupt(&"a number ends too early"))?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(corrupt(&"a number is too long"))
}

/// Numbers near zero become small, whatever their sign.
pub(super) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_claim_more_than_the_bytes_hold_are_refused() {
        for (bytes, width, count) in [(&[0u8; 3][..], 8, 4), (&[], 1, 1), (&[0; 64], 65, 2), (&[0; 8], 8, usize::MAX)] {
            assert!(unpack(bytes, width, count, |_| {}).is_err(), "{count} of {width} bits");
        }
        assert!(take_varint(&mut &[0x80u8; 9][..]).is_err());
        assert!(take_varint(&mut &[0xffu8; 12][..]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_packed_unpacks(values in proptest::collection::vec(any::<u64>(), 0..70), shift in 0u32..64) {
            let values: Vec<u64> = values.iter().map(|value| value >> shift).collect();
            let width = width(values.iter().copied().max().unwrap_or(0));
            let (mut bytes, mut read) = (Vec::new(), Vec::new());
            pack(values.iter().copied(), width, &mut bytes);
            prop_assert_eq!(bytes.len(), (values.len() * width as usize).div_ceil(8));
            unpack(&bytes, width, values.len(), |value| read.push(value)).unwrap();
            prop_assert_eq!(read, values);
        }

        #[test]
        fn a_number_of_any_size_and_sign_reads_back(value in any::<i64>(), shift in 0u32..64) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put_varint(zigzag(value), &mut bytes);
            prop_assert_eq!(unzigzag(take_varint(&mut &bytes[..]).unwrap()), value);
        }
    }
}
