//! Iterates over the records of the data section in file order and unpacks compressed ones.
//! Reading stops at an invalid record, because anything could follow it.

use crate::abi::Cursor;
use crate::abi::perf::kind;
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{PERF_UNPACKED_AT_ONCE, PERF_UNPACKED_LEAST, PERF_UNPACKED_RATIO};
use std::borrow::Cow;
use zstd_safe::{DCtx, InBuffer, OutBuffer};

/// perf's own types of records that the stream itself must know.
pub(super) mod own {
    pub const ATTR: u32 = 64;
    pub const TRACING_DATA: u32 = 66;
    pub const BUILD_ID: u32 = 67;
    pub const FINISHED_ROUND: u32 = 68;
    pub const AUXTRACE: u32 = 71;
    pub const STAT: u32 = 76;
    pub const EVENT_UPDATE: u32 = 78;
    pub const FEATURE: u32 = 80;
    pub const COMPRESSED: u32 = 81;
    pub const COMPRESSED2: u32 = 83;
}

/// Bytes of a record's header.
const HEAD: usize = 8;

/// A record without its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Raw<'a> {
    pub kind: u32,
    pub misc: u16,
    pub body: Cow<'a, [u8]>,
}

/// A position in the data section.
pub(super) struct Stream<'a> {
    rest: &'a [u8],
    /// What follows the last record without being part of it.
    behind: &'a [u8],
    /// Where `rest` lies in the file.
    at: usize,
    big: bool,
    piped: bool,
    unpacker: Option<DCtx<'static>>,
    unpacked: Vec<u8>,
    /// How much of `unpacked` has been returned.
    done: usize,
    /// How many bytes more may be unpacked: a file of a megabyte can stand for terabytes.
    room: u64,
    gap: Option<String>,
}

impl std::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("at", &self.at).field("left", &self.rest.len()).finish_non_exhaustive()
    }
}

impl<'a> Stream<'a> {
    /// Starts at a data section that begins at byte `at` of its file.
    pub(super) fn new(bytes: &'a [u8], at: usize, big: bool, piped: bool) -> Stream<'a> {
        let room = PERF_UNPACKED_LEAST.max((bytes.len() as u64).saturating_mul(PERF_UNPACKED_RATIO));
        Stream {
            rest: bytes,
            behind: &[],
            at,
            big,
            piped,
            unpacker: None,
            unpacked: Vec::new(),
            done: 0,
            room,
            gap: None,
        }
    }

    /// Where the next record lies in the file.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Why reading ended before the data did, if it did.
    pub(super) fn gap(&self) -> Option<&str> {
        self.gap.as_deref()
    }

    /// What follows the last record without being part of it: traces, and in a pipe the kernel's tracing files.
    pub(super) fn behind_last(&self) -> &'a [u8] {
        self.behind
    }

    /// The next record; a compressed record is replaced by its contents.
    pub(super) fn next(&mut self) -> Option<Raw<'a>> {
        loop {
            if let Some(raw) = self.next_unpacked() {
                return Some(raw);
            }
            let raw = self.next_outer()?;
            let packed = match raw.kind {
                own::COMPRESSED => Some(&*raw.body),
                own::COMPRESSED2 => sized(&raw.body, self.big),
                _ => return Some(raw),
            };
            if let Err(error) = self.unpack(packed.unwrap_or_default()) {
                self.end(&error.to_string());
            }
        }
    }

    /// The next record as it lies in the file.
    pub(super) fn next_outer(&mut self) -> Option<Raw<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((raw, length)) = split(self.rest, self.big) else {
            self.end("the record there is not whole");
            return None;
        };
        let behind = self.behind(&raw);
        let step = usize::try_from(behind).ok().and_then(|behind| length.checked_add(behind)).unwrap_or(usize::MAX);
        let Some(rest) = self.rest.get(step..) else {
            self.end("the record there is not whole");
            return None;
        };
        self.behind = self.rest.get(length..step).unwrap_or_default();
        self.rest = rest;
        self.at += step;
        Some(Raw { body: Cow::Borrowed(raw.body), kind: raw.kind, misc: raw.misc })
    }

    /// Bytes that follow a record without being part of it.
    fn behind(&self, raw: &Plain<'_>) -> u64 {
        let mut body = Cursor::new(raw.body, self.big);
        match raw.kind {
            own::AUXTRACE => body.u64().unwrap_or_default(),
            own::TRACING_DATA if self.piped => u64::from(body.u32().unwrap_or_default()).next_multiple_of(8),
            _ => 0,
        }
    }

    fn end(&mut self, why: &str) {
        self.gap = Some(format!("byte {}: {why}; {} bytes from there on could not be read", self.at, self.rest.len()));
        self.rest = &[];
    }

    fn next_unpacked(&mut self) -> Option<Raw<'a>> {
        let left = self.unpacked.get(self.done..).unwrap_or_default();
        let Some((raw, length)) = split(left, self.big) else {
            // A record may continue in the next compressed record.
            if left.len() >= HEAD && split_size(left, self.big).is_none_or(|size| size < HEAD) {
                self.end("its compressed data is not a record");
                self.unpacked.clear();
            }
            return None;
        };
        let raw = Raw { kind: raw.kind, misc: raw.misc, body: Cow::Owned(raw.body.to_vec()) };
        self.done += length;
        Some(raw)
    }

    fn unpack(&mut self, packed: &[u8]) -> Result<()> {
        self.unpacked.drain(..self.done.min(self.unpacked.len()));
        self.done = 0;
        let context = self.unpacker.get_or_insert_with(DCtx::create);
        let (mut input, mut chunk) = (InBuffer::around(packed), vec![0; 128 << 10]);
        loop {
            let mut output = OutBuffer::around(&mut chunk[..]);
            context.decompress_stream(&mut output, &mut input).map_err(|code| {
                let why = zstd_safe::get_error_name(code);
                Error::new(ErrorKind::Corrupt, format!("cannot unpack it ({why})"))
            })?;
            let written = output.pos();
            self.unpacked.extend_from_slice(&chunk[..written]);
            if self.unpacked.len() > PERF_UNPACKED_AT_ONCE {
                return Err(Error::new(ErrorKind::Corrupt, "it decompresses to more than perf writes at once"));
            }
            let Some(room) = self.room.checked_sub(written as u64) else {
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    "the file decompresses to more than perf makes of its size",
                ));
            };
            self.room = room;
            if input.pos() >= packed.len() && written < chunk.len() {
                return Ok(());
            }
        }
    }
}

/// A record whose bytes are borrowed.
struct Plain<'a> {
    kind: u32,
    misc: u16,
    body: &'a [u8],
}

/// The first record in `bytes` and its whole length; `None` if it is incomplete.
fn split(bytes: &[u8], big: bool) -> Option<(Plain<'_>, usize)> {
    let mut head = Cursor::new(bytes, big);
    let (kind, misc, size) = (head.u32()?, head.u16()?, usize::from(head.u16()?));
    Some((Plain { kind, misc, body: bytes.get(HEAD..size)? }, size))
}

fn split_size(bytes: &[u8], big: bool) -> Option<usize> {
    let mut head = Cursor::new(bytes, big);
    head.skip(6)?;
    head.u16().map(usize::from)
}

/// Newer perf pads compressed bytes and stores their number.
fn sized(body: &[u8], big: bool) -> Option<&[u8]> {
    let mut body = Cursor::new(body, big);
    let size = body.u64()?;
    body.take_counted(size)
}

/// Whether a record type is perf's own.
pub(super) fn is_own(record: u32) -> bool {
    record >= kind::USER
}

#[cfg(test)]
pub(super) mod fake {
    /// A little-endian record.
    pub fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(misc.to_le_bytes());
        bytes.extend((body.len() as u16 + 8).to_le_bytes());
        bytes.extend(body);
        bytes
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::fake::record;
    use super::*;

    fn kinds(bytes: &[u8], piped: bool) -> (Vec<(u32, usize)>, Option<String>) {
        let mut stream = Stream::new(bytes, 100, false, piped);
        let mut found = Vec::new();
        while let Some(raw) = stream.next() {
            found.push((raw.kind, raw.body.len()));
        }
        (found, stream.gap().map(String::from))
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 1 << 16];
        let length = zstd_safe::compress(&mut out[..], bytes, 1).unwrap();
        out.truncate(length);
        out
    }

    #[test]
    fn packed_records_come_in_place_of_their_packing_even_when_cut_in_two() {
        let inner = [record(9, 0, &[1; 16]), record(3, 0, &[2; 8])].concat();
        for at in 1..inner.len() {
            let (first, second) = (packed(&inner[..at]), packed(&inner[at..]));
            let padded = [&(second.len() as u64).to_le_bytes()[..], &second, &[0; 5]].concat();
            let bytes = [
                record(own::COMPRESSED, 0, &first),
                record(own::COMPRESSED2, 0, &padded),
                record(own::FINISHED_ROUND, 0, &[]),
            ];
            assert_eq!(kinds(&bytes.concat(), false), (vec![(9, 16), (3, 8), (68, 0)], None), "cut at {at}");
        }
    }

    #[test]
    fn only_so_much_is_unpacked_of_a_file_of_a_size() {
        let inner = record(9, 0, &[7; 60_000]).repeat(1000);
        let one = record(own::COMPRESSED, 0, &packed(&inner));
        let most = PERF_UNPACKED_LEAST as usize / inner.len();
        for (count, whole) in [(1, true), (most, true), (most + 1, false), (3 * most, false)] {
            let bytes = one.repeat(count);
            assert!((bytes.len() as u64 * PERF_UNPACKED_RATIO) < PERF_UNPACKED_LEAST);
            let mut stream = Stream::new(&bytes, 0, false, false);
            let mut records = 0;
            while stream.next().is_some() {
                records += 1;
            }
            assert_eq!(stream.gap().is_none(), whole, "{count}: {:?}", stream.gap());
            assert!(records >= 1000 * count.min(most) && records < 1000 * (most + 1), "{records} of {count}");
        }
    }

    #[test]
    fn what_lies_behind_a_record_is_passed_over() {
        let traced = [record(own::TRACING_DATA, 0, &5u32.to_le_bytes()), vec![0xff; 8], record(9, 0, &[])].concat();
        assert_eq!(kinds(&traced, true), (vec![(66, 4), (9, 0)], None));
        let aux = [record(own::AUXTRACE, 0, &24u64.to_le_bytes()), vec![0xff; 24], record(9, 0, &[])].concat();
        assert_eq!(kinds(&aux, false), (vec![(71, 8), (9, 0)], None));
    }

    #[test]
    fn reading_ends_with_a_reason_where_a_record_makes_no_sense() {
        let whole = record(9, 0, &[0; 8]);
        let broken = [
            [&whole[..], &whole[..9]].concat(),
            [&whole[..], &[0; 8]].concat(),
            [whole.clone(), record(own::AUXTRACE, 0, &u64::MAX.to_le_bytes())].concat(),
            [whole.clone(), record(own::COMPRESSED, 0, b"not packed at all")].concat(),
            [whole.clone(), record(own::COMPRESSED, 0, &packed(&[0; 64]))].concat(),
        ];
        for bytes in broken {
            let (found, gap) = kinds(&bytes, false);
            assert_eq!(found, [(9, 8)], "{bytes:?}");
            assert!(gap.is_some_and(|gap| gap.starts_with("byte 1")), "{bytes:?}");
        }
    }
}
