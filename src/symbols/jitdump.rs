//! Reads functions from a jitdump file, as specified in perf's documentation, piece by piece: a piece ends anywhere, and
//! the machine code in it is passed over. Sizes are checked: the file may be half written or not a jitdump at all.

use super::demangle::cut;
use crate::abi::Cursor;
use crate::abi::jitdump::{self, CODE_LOAD, CODE_MOVE, HEADER};
use crate::model::limits::{JIT_FUNCTIONS, JIT_NAMES, JIT_RECORD, READABLE_NAME};
use rustc_hash::FxHashMap;

/// Bytes of a record that are read: its header, its numbers and a name.
const READ: usize = HEADER + 40 + READABLE_NAME;

/// Bytes of a function in memory beside its name, about.
pub(super) const FUNCTION: usize = 64;

/// How far a file was read.
#[derive(Debug, Default)]
pub(super) struct JitDump {
    /// Where the next record begins; 0 before the header was read.
    at: u64,
    big: bool,
    /// By their number, for those that move.
    names: FxHashMap<u64, Box<str>>,
    /// Bytes of all of them in memory.
    held: usize,
}

impl JitDump {
    /// Memory of what was read, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.held
    }

    /// Where to read on.
    pub(super) fn position(&self) -> u64 {
        self.at
    }

    /// Calls `tell` with the start, size and name of every function in the next `bytes` of a file of `length` bytes, in
    /// the order of their creation, and again for a function that moved. Returns whether the file may hold more.
    pub(super) fn read(&mut self, length: u64, bytes: &[u8], tell: &mut dyn FnMut(u64, u64, &str)) -> bool {
        let begun = self.at;
        if begun == 0 && self.read_header(bytes).is_none() {
            return self.stop(bytes.len());
        }
        // A record may end behind what was read of the file, but not behind the file.
        while self.at < length
            && let Some(record) = bytes.get((self.at - begun) as usize..)
        {
            let size = jitdump::record_header(record, self.big).map(|(_, size)| size);
            let Some(size) = size.filter(|size| self.at + size <= length) else {
                return self.stop(record.len());
            };
            let whole = usize::try_from(size).unwrap_or(usize::MAX).min(READ);
            let Some(record) = record.get(..whole) else { break };
            // A record of another kind, or one without a function.
            let _ = self.function(record, tell);
            self.at += size;
        }
        self.at > begun && self.at < length
    }

    /// Gives up a file in which nothing follows that could be a record.
    fn stop(&mut self, left: usize) -> bool {
        if left > JIT_RECORD {
            self.at = u64::MAX;
        }
        false
    }

    fn read_header(&mut self, bytes: &[u8]) -> Option<()> {
        (self.big, self.at) = jitdump::file_header(bytes)?;
        Some(())
    }

    fn function(&mut self, record: &[u8], tell: &mut dyn FnMut(u64, u64, &str)) -> Option<()> {
        let mut cursor = Cursor::new(record, self.big);
        let kind = cursor.u32()?;
        // Its size and time, process and thread, address in the process's memory.
        cursor.skip(12 + 16)?;
        match kind {
            CODE_LOAD => {
                let (start, size, index) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
                let name = cut(&String::from_utf8_lossy(cursor.name()));
                tell(start, size, &name);
                if self.names.len() < JIT_FUNCTIONS && self.held < JIT_NAMES {
                    let name: Box<str> = name.into();
                    self.held += FUNCTION + name.len();
                    let before = self.names.insert(index, name);
                    self.held -= before.map_or(0, |name| FUNCTION + name.len());
                }
            }
            CODE_MOVE => {
                cursor.skip(8)?;
                let (start, size, index) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
                tell(start, size, self.names.get(&index)?);
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u32::try_from(16 + body.len()).unwrap_or(0);
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &0u64.to_le_bytes(), body].concat()
    }

    fn load(address: u64, index: u64, name: &str, code: &[u8]) -> Vec<u8> {
        let numbers = words(&[0, address, address, code.len() as u64, index]);
        record(CODE_LOAD, &[&numbers[..], name.as_bytes(), &[0], code].concat())
    }

    fn header(size: u32) -> Vec<u8> {
        // Magic, version, header size, machine, padding, pid; then timestamp and flags.
        let head: Vec<u8> = [0x4a69_5444u32, 1, size, 62, 0, 7].iter().flat_map(|word| word.to_le_bytes()).collect();
        [head, words(&[0, 0])].concat()
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        [header(40), records.concat()].concat()
    }

    /// The functions of a file that is read in pieces of so many bytes.
    fn read_by(piece: usize, bytes: &[u8]) -> Vec<(u64, u64, String)> {
        let (mut dump, mut found) = (JitDump::default(), Vec::new());
        loop {
            let rest = bytes.get(dump.position() as usize..).unwrap_or_default();
            let read = &rest[..rest.len().min(piece)];
            if !dump.read(bytes.len() as u64, read, &mut |start, size, name| {
                found.push((start, size, name.to_string()));
            }) {
                return found;
            }
        }
    }

    fn read(bytes: &[u8]) -> Vec<(u64, u64, String)> {
        read_by(usize::MAX, bytes)
    }

    #[test]
    fn functions_come_with_their_moves() {
        let moved = record(CODE_MOVE, &words(&[0, 0x500, 0x100, 0x500, 4, 9]));
        let bytes = file(&[load(0x100, 9, "js fib", b"code"), moved]);
        assert_eq!(read(&bytes), [(0x100, 4, "js fib".to_string()), (0x500, 4, "js fib".to_string())]);
    }

    #[test]
    fn a_file_gives_the_same_functions_in_pieces_of_any_size() {
        let code = vec![7; 3 * READ];
        let records: Vec<_> = (0..5).map(|nth| load(0x10000 * nth, nth, &format!("f{nth}"), &code)).collect();
        let bytes = file(&records);
        let whole = read(&bytes);
        assert_eq!(whole.len(), 5);
        for piece in [READ, READ + 1, 2 * READ + 77, 4 * READ, bytes.len()] {
            assert_eq!(read_by(piece, &bytes), whole, "{piece} bytes");
        }
    }

    #[test]
    fn a_file_that_grows_is_read_on_where_it_ended() {
        let bytes = file(&[load(0x100, 1, "a", b"1234"), load(0x200, 2, "b", b"5678")]);
        let (mut dump, mut found) = (JitDump::default(), Vec::new());
        for end in 0..=bytes.len() {
            let rest = bytes[..end].get(dump.position() as usize..).unwrap_or_default();
            dump.read(end as u64, rest, &mut |start, _, _| found.push(start));
        }
        assert_eq!(found, [0x100, 0x200]);
    }

    #[test]
    fn a_file_cut_anywhere_gives_what_is_whole() {
        let bytes = file(&[load(0x100, 1, "a", b"1234"), load(0x200, 2, "b", b"5678")]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).len() < 2, "{end}");
        }
        let mut lying = bytes.clone();
        lying[44..48].copy_from_slice(&3u32.to_le_bytes());
        assert_eq!(read(&lying), []);
    }

    #[test]
    fn a_header_of_any_size_panics_nowhere() {
        let records = load(0x100, 1, "a", b"1234");
        for (size, functions) in [(0, 0), (39, 0), (40, 1), (4095, 1), (4096, 1), (4097, 0), (u32::MAX, 0)] {
            let mut bytes = header(size);
            bytes.resize(bytes.len().max(size.min(9000) as usize), 0);
            bytes.extend(&records);
            assert_eq!(read(&bytes).len(), functions, "{size} bytes");
        }
    }

    /// The record claims nearly all of a hole of 5 GB, of which nothing is there to be read but its start.
    #[test]
    fn a_record_as_long_as_a_hole_is_passed_over() {
        let start = [header(40), vec![0; 4], u32::MAX.to_le_bytes().to_vec(), vec![0; 2 * READ]].concat();
        let (mut dump, mut found) = (JitDump::default(), 0);
        assert!(dump.read(5 << 30, &start, &mut |_, _, _| found += 1));
        assert_eq!((found, dump.position()), (1, 40 + u64::from(u32::MAX)));
        assert!(!dump.read(5 << 30, &[0; READ], &mut |_, _, _| found += 1), "what follows is no record");
    }

    #[test]
    fn a_file_without_a_further_record_is_given_up_once_much_of_it_is_read() {
        for (left, expected) in [(JIT_RECORD, 40), (JIT_RECORD + 1, u64::MAX)] {
            let bytes = [header(40), vec![0; left]].concat();
            let mut dump = JitDump::default();
            assert!(!dump.read(1 << 40, &bytes, &mut |_, _, _| {}));
            assert_eq!(dump.position(), expected);
        }
    }

    #[test]
    fn names_that_are_kept_for_moves_take_only_so_much_memory() {
        let name = "n".repeat(READABLE_NAME - 1);
        let (mut dump, mut told) = (JitDump::default(), 0);
        for begin in (0..1 << 16).step_by(256) {
            let records: Vec<_> = (begin..begin + 256).map(|nth| load(0x100, nth, &name, b"1234")).collect();
            let bytes = if begin == 0 { file(&records) } else { records.concat() };
            dump.read(u64::MAX, &bytes, &mut |_, _, _| told += 1);
        }
        assert!(told > 65_000 && (JIT_NAMES..JIT_NAMES + 5000).contains(&dump.bytes()), "{told} {}", dump.bytes());
        let held = dump.names.values().map(|name| FUNCTION + name.len()).sum::<usize>();
        assert_eq!(dump.bytes(), held);
    }

    #[test]
    fn a_name_is_cut_where_a_reader_stops_reading() {
        for (length, cut) in [(READABLE_NAME - 1, false), (READABLE_NAME, false), (READABLE_NAME + 1, true)] {
            let found = read(&file(&[load(0x100, 1, &"n".repeat(length), b"1234")]));
            assert!(found[0].2.len() <= READABLE_NAME + '…'.len_utf8());
            assert_eq!(found[0].2.len() < length || found[0].2.ends_with('…'), cut, "{length}");
        }
    }
}
