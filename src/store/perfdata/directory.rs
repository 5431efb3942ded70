//! Joins the files of a directory that `perf record --threads` wrote: `data`, a whole file, and `data.0`, `data.1`, ...,
//! the records of each thread without a head.

use crate::abi::Cursor;

/// Where the head says where the records lie: offset and length.
const DATA: usize = 40;

/// One file with all records, which are those of the head's file and then of the parts; `None` if the head is cut off.
///
/// What the head refers to by its offset stays where it is; the records, and the table that follows them, are appended.
#[must_use]
pub fn joined(head: &[u8], parts: &[Vec<u8>]) -> Option<Vec<u8>> {
    let big = head.starts_with(b"2ELIFREP");
    let mut place = Cursor::new(head.get(DATA..)?, big);
    let (at, length) = (usize::try_from(place.u64()?).ok()?, usize::try_from(place.u64()?).ok()?);
    let (own, table) = (head.get(at..at.checked_add(length)?)?, head.get(at + length..)?);
    let records: usize = own.len() + parts.iter().map(Vec::len).sum::<usize>();
    let mut bytes = Vec::with_capacity(head.len() + records + table.len());
    bytes.extend_from_slice(head);
    bytes.extend_from_slice(own);
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes.extend_from_slice(table);
    for (at, number) in [(DATA, head.len()), (DATA + 8, records)] {
        let number = number as u64;
        bytes[at..at + 8].copy_from_slice(&if big { number.to_be_bytes() } else { number.to_le_bytes() });
    }
    Some(bytes)
}
