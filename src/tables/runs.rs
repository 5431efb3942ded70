//! Parquet's RLE encoding: runs of one value in turn with packed values in eights. Levels and numbers of dictionary
//! entries are written in it.

use super::bits::{pack, put_varint, take_varint, unpack};
use super::format::corrupt;
use crate::error::Result;

/// Packed values come in eights; a shorter run is packed.
const PACK: usize = 8;

/// Appends the values, each of at most `width` bits.
pub(super) fn put(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut packed, mut at) = (0, 0);
    while at < values.len() {
        let length = values[at..].iter().take_while(|value| **value == values[at]).count();
        // What is packed before a run must be whole eights: it takes what lacks from the run.
        let lacking = (at - packed).next_multiple_of(PACK) - (at - packed);
        if length < lacking + PACK {
            at += length;
            continue;
        }
        put_packed(&values[packed..at + lacking], width, out);
        put_varint((length - lacking) as u64 * 2, out);
        let value = values[at].to_le_bytes();
        out.extend_from_slice(&value[..width.div_ceil(u8::BITS) as usize]);
        at += length;
        packed = at;
    }
    put_packed(&values[packed..], width, out);
}

fn put_packed(values: &[u32], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let eights = values.len().div_ceil(PACK);
    put_varint(eights as u64 * 2 + 1, out);
    let zeros = std::iter::repeat_n(0, eights * PACK - values.len());
    pack(values.iter().map(|value| u64::from(*value)).chain(zeros), width, out);
}

/// Reads `count` values of `width` bits.
///
/// # Errors
/// [`crate::error::ErrorKind::Corrupt`] if the bytes hold fewer or the width is impossible.
pub(super) fn take(mut bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>> {
    if width > u32::BITS {
        return Err(corrupt(&"packed numbers are too wide"));
    }
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let header = take_varint(&mut bytes)?;
        let (length, left) = ((header >> 1) as usize, count - values.len());
        if header & 1 == 1 {
            unpack(bytes, width, length.saturating_mul(PACK).min(left), |value| values.push(value as u32))?;
            bytes = bytes.get(length.saturating_mul(width as usize)..).unwrap_or_default();
        } else {
            let stored = width.div_ceil(u8::BITS) as usize;
            let (value, rest) = bytes.split_at_checked(stored).ok_or_else(|| corrupt(&"a run ends too early"))?;
            let mut whole = [0; 4];
            whole[..stored].copy_from_slice(value);
            values.resize(values.len() + length.min(left), u32::from_le_bytes(whole));
            bytes = rest;
        }
        if length == 0 && bytes.is_empty() {
            return Err(corrupt(&"runs end too early"));
        }
    }
    Ok(values)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::tables::bits;
    use proptest::prelude::*;

    #[test]
    fn a_long_run_costs_a_few_bytes_wherever_it_begins() {
        for before in 0..20 {
            let values: Vec<u32> = (0..before).chain([7; 10_000]).chain([9]).collect();
            let mut bytes = Vec::new();
            put(&values, 5, &mut bytes);
            assert!(bytes.len() < 30, "{before} before it: {}", bytes.len());
            assert_eq!(take(&bytes, 5, values.len()).unwrap(), values);
        }
    }

    #[test]
    fn runs_that_end_too_early_or_claim_too_much_are_refused_or_cut() {
        assert!(take(&[], 3, 1).is_err());
        assert!(take(&[0, 0, 0, 0], 3, 1).is_err(), "runs of nothing");
        assert!(take(&[3], 3, 8).is_err(), "packed values without bytes");
        assert!(take(&[16], 9, 8).is_err(), "a run without its value");
        assert!(take(&[2, 1], 33, 1).is_err());
        assert_eq!(take(&[0xfe, 0xff, 0xff, 0xff, 0xff, 1, 5], 3, 4).unwrap(), [5; 4], "a run longer than its column");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_runs_read_back(runs in proptest::collection::vec((any::<u32>(), 1usize..40), 0..20), shift in 0u32..32) {
            let run = |(value, length): &(u32, usize)| vec![value >> shift; *length];
            let values: Vec<u32> = runs.iter().flat_map(run).collect();
            let width = bits::width(values.iter().copied().max().unwrap_or(0).into());
            let mut bytes = Vec::new();
            put(&values, width, &mut bytes);
            prop_assert_eq!(take(&bytes, width, values.len()).unwrap(), values);
        }
    }
}
