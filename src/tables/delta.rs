//! Parquet's DELTA_BINARY_PACKED: each number's distance from the one before it, packed. For numbers that mostly rise.
//! Distances wrap around at the width of the type, so that any numbers can be written.

use super::bits::{pack, put_varint, take_varint, unpack, unzigzag, width, zigzag};
use super::format::corrupt;
use super::values::Number;
use crate::error::Result;

/// How distances are grouped. A block's distances are written above its smallest; a miniblock's share a width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    block: usize,
    miniblocks: usize,
    /// Widths are multiples of this many bits.
    step: u32,
}

impl Layout {
    /// As few bits as possible, for distances that a compressor finds nothing in.
    pub const NARROW: Layout = Layout { block: 128, miniblocks: 4, step: 1 };

    /// Whole bytes of one width, in which a compressor finds distances that come again.
    pub fn even(values: usize) -> Layout {
        Layout { block: values.next_multiple_of(128).clamp(128, MOST), miniblocks: 1, step: u8::BITS }
    }

    fn miniblock(&self) -> usize {
        self.block / self.miniblocks
    }
}

/// No block is larger: readers may hold one in memory.
const MOST: usize = 1 << 16;

/// Appends the numbers.
pub(super) fn put<N: Number>(values: &[N], layout: Layout, out: &mut Vec<u8>) {
    put_varint(layout.block as u64, out);
    put_varint(layout.miniblocks as u64, out);
    put_varint(values.len() as u64, out);
    put_varint(zigzag(values.first().map_or(0, |first| first.signed())), out);
    let distances: Vec<i64> = values.windows(2).map(|pair| N::of(distance(pair[0], pair[1])).signed()).collect();
    distances.chunks(layout.block).for_each(|block| put_block(block, layout, out));
}

fn distance<N: Number>(from: N, to: N) -> u64 {
    to.signed().wrapping_sub(from.signed()) as u64
}

fn put_block(block: &[i64], layout: Layout, out: &mut Vec<u8>) {
    let smallest = block.iter().copied().min().unwrap_or(0);
    let above = |distance: &i64| distance.wrapping_sub(smallest) as u64;
    put_varint(zigzag(smallest), out);
    let widths = out.len();
    out.resize(widths + layout.miniblocks, 0);
    for (at, part) in block.chunks(layout.miniblock()).enumerate() {
        let bits = part.iter().map(above).map(width).max().unwrap_or(0).next_multiple_of(layout.step);
        out[widths + at] = bits as u8;
        let zeros = std::iter::repeat_n(0, layout.miniblock() - part.len());
        pack(part.iter().map(above).chain(zeros), bits, out);
    }
}

/// Reads `count` numbers.
///
/// # Errors
/// [`crate::error::ErrorKind::Corrupt`] if the bytes hold another number of them or are damaged.
pub(super) fn take<N: Number>(mut bytes: &[u8], count: usize) -> Result<Vec<N>> {
    let (block, miniblocks) = (take_varint(&mut bytes)?, take_varint(&mut bytes)?);
    let (total, first) = (take_varint(&mut bytes)?, unzigzag(take_varint(&mut bytes)?));
    let usual = (1..=MOST as u64).contains(&block) && miniblocks > 0 && block % miniblocks == 0;
    if !usual || (block / miniblocks) % 8 != 0 || total != count as u64 {
        return Err(corrupt(&"differences are not laid out as announced"));
    }
    let miniblock = (block / miniblocks) as usize;
    let (mut values, mut last) = (Vec::with_capacity(count), first);
    values.extend((count > 0).then(|| N::of(first as u64)));
    while values.len() < count {
        let smallest = unzigzag(take_varint(&mut bytes)?);
        let widths = bytes.split_at_checked(miniblocks as usize);
        let (widths, mut rest) = widths.ok_or_else(|| corrupt(&"differences end too early"))?;
        for bits in widths.iter().map(|bits| u32::from(*bits)) {
            let wanted = miniblock.min(count - values.len());
            if wanted == 0 {
                break;
            }
            unpack(rest, bits, wanted, |above| {
                last = last.wrapping_add(smallest).wrapping_add(above as i64);
                values.push(N::of(last as u64));
            })?;
            rest = rest.get(miniblock * bits as usize / 8..).unwrap_or_default();
        }
        bytes = rest;
    }
    Ok(values)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn there_and_back<N: Number + std::fmt::Debug>(values: &[N], layout: Layout) -> usize {
        let mut bytes = Vec::new();
        put(values, layout, &mut bytes);
        assert_eq!(take::<N>(&bytes, values.len()).unwrap(), values, "{layout:?}");
        assert!(take::<N>(&bytes, values.len() + 1).is_err(), "another number of values");
        bytes.len()
    }

    #[test]
    fn numbers_that_rise_evenly_cost_almost_nothing() {
        for layout in [Layout::NARROW, Layout::even(10_000)] {
            assert!(there_and_back(&(0..10_000u64).map(|at| at * 1_001_001).collect::<Vec<_>>(), layout) < 1_000);
            assert!(there_and_back(&(0..10_000u32).collect::<Vec<_>>(), layout) < 1_000);
        }
    }

    #[test]
    fn a_distance_of_narrow_numbers_never_takes_more_bits_than_the_type_has() {
        let values = [0, u32::MAX, 0, 1 << 31, (1 << 31) - 1, u32::MAX, 1];
        assert!(there_and_back(&values, Layout::NARROW) <= 20 + 32 * 4);
        assert!(there_and_back(&values, Layout::even(values.len())) <= 20 + 128 * 4);
    }

    #[test]
    fn more_numbers_than_a_block_holds_go_on_in_the_next() {
        let values: Vec<u64> = (0..MOST as u64 * 2 + 5).map(|at| at * at).collect();
        there_and_back(&values, Layout::even(values.len()));
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic() {
        let (values, mut bytes) = ((0..200u64).map(|at| at * at * 7).collect::<Vec<_>>(), Vec::new());
        put(&values, Layout::NARROW, &mut bytes);
        for length in 0..bytes.len() {
            // Only what fills the last miniblock may lack.
            let read = take::<u64>(&bytes[..length], 200);
            assert!(read.map_or_else(|_| true, |read| read == values), "{length} bytes of it");
        }
        assert!(take::<u64>(&bytes[..bytes.len() / 2], 200).is_err());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            let _ = take::<u64>(&damaged, 200);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_numbers_read_back(values in proptest::collection::vec(any::<u64>(), 0..300), shift in 0u32..64) {
            for layout in [Layout::NARROW, Layout::even(values.len())] {
                there_and_back(&values.iter().map(|value| value >> shift).collect::<Vec<_>>(), layout);
                there_and_back(&values.iter().map(|value| (value >> shift) as u32).collect::<Vec<_>>(), layout);
            }
        }
    }
}
