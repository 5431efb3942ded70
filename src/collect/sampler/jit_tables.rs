//! Unwind tables of just-in-time code, which has no frame pointers where its runtime writes tables into its jitdump
//! (CPython with `-X perf_jit`, V8 with `--perf-prof-unwinding-info`). The file is read on when a stack ended too early.
//! What the runtime has not written yet, as it buffers the file, is recognised where it is a copy of code with a known table.

use super::maps::{Mapping, Memory};
use super::proc_source::ProcSource;
use crate::abi::Cursor;
use crate::abi::jitdump::{CODE_LOAD, HEADER, UNWINDING_INFO, file_header, is_jitdump, record_header};
use crate::model::ObjectFile;
use crate::model::limits::{JIT_TABLES, UNWIND_FUNCTION};
use crate::units::Nanos;
use crate::unwind::UnwindTables;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Time between two looks into a file: code without tables gives an early end in every sample.
const PAUSE: Nanos = Nanos(100_000_000);
/// Records that are read in one look.
const RECORDS: usize = 4096;
/// Bytes of a record of code that are read: its header, process, thread, and three addresses.
const LOAD: u64 = HEADER as u64 + 32;
/// Kinds of code that are remembered for their copies, and the bytes of one.
const SHAPES: usize = 8;
const SHAPE: usize = 128;
/// Addresses that are looked at for copies.
const LOOKED_AT: usize = 1 << 14;
/// Bytes of a record of code that are read for its instructions, which follow its name.
const NAMED: u64 = 4096;
/// The size of the longest function, bytes.
const LONGEST: u64 = 1 << 30;

/// The jitdump of one process, and how far it was read.
#[derive(Debug)]
pub struct JitTables {
    mapping: Mapping<'static>,
    path: String,
    /// Where the next record begins; 0 before the header was read.
    at: u64,
    big: bool,
    /// The table for the next code.
    table: Option<Vec<u8>>,
    found: usize,
    due: Nanos,
    shapes: Vec<Shape>,
    looked_at: FxHashSet<u64>,
}

/// Machine code and its table. A runtime makes many copies of one trampoline.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    code: Vec<u8>,
    table: Vec<u8>,
}

impl JitTables {
    /// For a mapped file; `None` unless it is a jitdump.
    pub fn of(mapping: &Mapping<'_>) -> Option<JitTables> {
        let Memory::File(path) = &mapping.memory else { return None };
        let path = Some(path.to_string()).filter(|path| is_jitdump(Path::new(path)))?;
        let mapping = Mapping { memory: Memory::File(Cow::Owned(path.clone())), ..*mapping };
        Some(JitTables {
            mapping,
            path,
            at: 0,
            big: false,
            table: None,
            found: 0,
            due: Nanos(0),
            shapes: Vec::new(),
            looked_at: FxHashSet::default(),
        })
    }

    /// The file, as the process sees it.
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// The function at an address in the process's memory, if its code is that of a function with a known table.
    pub fn copy_at(&mut self, at: u64, pid: u32, proc: &mut impl ProcSource) -> Option<(Range<u64>, UnwindTables)> {
        if self.shapes.is_empty() || self.looked_at.len() >= LOOKED_AT || !self.looked_at.insert(at) {
            return None;
        }
        let mut memory = [0; 2 * SHAPE];
        // Nothing may be mapped before the page.
        let (start, length) = [at.saturating_sub(SHAPE as u64), at & !0xfff]
            .into_iter()
            .map(|start| (start, proc.memory(pid, start, &mut memory)))
            .find(|(_, length)| *length > 0)?;
        self.shapes.iter().find_map(|Shape { code, table }| {
            let mut places = memory[..length].windows(code.len()).enumerate().filter(|(_, bytes)| bytes == code);
            let code = places.find_map(|(place, _)| {
                let first = start + place as u64;
                Some(first..first.checked_add(code.len() as u64)?).filter(|code| code.contains(&at))
            })?;
            Some((code.clone(), UnwindTables::of_function(code, table.clone())))
        })
    }

    /// Reads what the process has written since; returns the functions with tables.
    pub fn read(&mut self, at: Nanos, pid: u32, proc: &mut impl ProcSource) -> Vec<(Range<u64>, UnwindTables)> {
        let mut found = Vec::new();
        if at < self.due || self.at == u64::MAX {
            return found;
        }
        self.due = at + PAUSE;
        let Some(opened) = proc.open(pid, &self.path, &self.mapping).found() else { return found };
        if self.at == 0 {
            let Some((big, first)) = opened.file.bytes(0, HEADER as u64).and_then(|bytes| file_header(&bytes)) else {
                return found;
            };
            (self.big, self.at) = (big, first);
        }
        for _ in 0..RECORDS {
            if self.found + found.len() >= JIT_TABLES {
                self.at = u64::MAX;
                break;
            }
            // The runtime is still writing the last record.
            let Some(size) = self.record(&opened.file, &mut found) else { break };
            self.at += size;
        }
        self.found += found.len();
        found
    }

    fn remember(&mut self, code: Option<&[u8]>, table: &[u8]) {
        let Some(code) = code.filter(|_| self.shapes.len() < SHAPES) else { return };
        let shape = Shape { code: code.to_vec(), table: table.to_vec() };
        if !self.shapes.contains(&shape) {
            self.shapes.push(shape);
        }
    }

    /// Reads the record at this place; returns its size, if the file has all of it.
    fn record(&mut self, file: &ObjectFile, found: &mut Vec<(Range<u64>, UnwindTables)>) -> Option<u64> {
        let (kind, size) = record_header(&file.bytes(self.at, HEADER as u64)?, self.big)?;
        self.at.checked_add(size).filter(|end| *end <= file.length())?;
        match kind {
            UNWINDING_INFO => {
                let record = file.bytes(self.at, size.min(UNWIND_FUNCTION as u64))?;
                self.table = eh_frame(&record, self.big);
            }
            CODE_LOAD => {
                let record = file.bytes(self.at, LOAD.max(size.min(NAMED)).min(size))?;
                if let Some((code, table)) = code(&record, self.big).zip(self.table.take()) {
                    self.remember(machine_code(&record, &code), &table);
                    found.push((code.clone(), UnwindTables::of_function(code, table)));
                }
            }
            _ => {}
        }
        Some(size)
    }
}

/// The instructions in a record, behind the function's name; `None` if they are more than those of a shape.
fn machine_code<'a>(record: &'a [u8], code: &Range<u64>) -> Option<&'a [u8]> {
    let name = record.get(LOAD as usize + 8..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    let length = usize::try_from(code.end - code.start).ok().filter(|length| *length <= SHAPE)?;
    name.get(end + 1..)?.get(..length)
}

/// The table in a record: a sorted index, which one function does not need, is its end.
fn eh_frame(record: &[u8], big: bool) -> Option<Vec<u8>> {
    let mut cursor = Cursor::new(record, big);
    cursor.skip(HEADER)?;
    let (length, index) = (cursor.u64()?, cursor.u64()?);
    // The bytes that the runtime has mapped.
    cursor.skip(8)?;
    Some(cursor.take_counted(length.checked_sub(index)?)?.to_vec()).filter(|table| !table.is_empty())
}

/// Where the code of a record lies.
fn code(record: &[u8], big: bool) -> Option<Range<u64>> {
    let mut cursor = Cursor::new(record, big);
    // Its process, its thread, and its address when it was made.
    cursor.skip(HEADER + 8 + 8)?;
    let (start, size) = (cursor.u64()?, cursor.u64()?);
    let end = start.checked_add(size).filter(|_| (1..=LONGEST).contains(&size))?;
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;
    use crate::model::Identity;

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = (HEADER + body.len()) as u32;
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &[0; 8], body].concat()
    }

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn table(bytes: &[u8], index: u64) -> Vec<u8> {
        record(UNWINDING_INFO, &[words(&[bytes.len() as u64, index, 0]), bytes.to_vec()].concat())
    }

    fn load(start: u64, size: u64) -> Vec<u8> {
        record(CODE_LOAD, &[words(&[0, start, start, size, 1]), b"f\0code".to_vec()].concat())
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        let header: Vec<u8> =
            [0x4a69_5444_u32, 1, 40, 62, 0, 7, 0, 0, 0, 0].iter().flat_map(|it| it.to_le_bytes()).collect();
        [header, records.concat()].concat()
    }

    fn tables() -> JitTables {
        let identity = Identity { major: 8, minor: 1, inode: 5 };
        let memory = Memory::File(Cow::Borrowed("/tmp/jit-7.dump"));
        let mapping = Mapping { start: 0x1000, end: 0x2000, offset: 0, identity, memory };
        JitTables::of(&mapping).unwrap_or_else(|| panic!("a jitdump"))
    }

    #[test]
    fn each_table_belongs_to_the_code_that_follows_it() {
        let frames = [7; 24];
        let bytes = file(&[load(0x100, 16), table(&frames, 8), record(9, &[1, 2]), load(0x200, 16), load(0x300, 16)]);
        let mut proc = Tables { image: Some(ObjectFile::new(bytes)), ..Tables::default() };
        let mut tables = tables();
        let found: Vec<_> = tables.read(Nanos(1), 7, &mut proc).into_iter().map(|(code, _)| code).collect();
        assert_eq!(found.first().map(|code| (code.start, code.end)), Some((0x200, 0x210)));
        assert_eq!(found.len(), 1);
        assert!(tables.read(Nanos(2), 7, &mut proc).is_empty(), "not due yet");
    }

    #[test]
    fn copies_of_known_code_have_its_table_wherever_they_lie() {
        let mut tables = tables();
        let mut memory = vec![0x90; 300];
        for place in [0, 100, 280] {
            memory[place..place + 4].copy_from_slice(b"code");
        }
        let image = Some(ObjectFile::new(file(&[table(&[7; 24], 0), load(0x200, 4)])));
        let mut proc = Tables { image, memory: (0x7000, memory), ..Tables::default() };
        assert!(tables.copy_at(0x7001, 7, &mut proc).is_none(), "nothing is known yet");
        assert_eq!(tables.read(Nanos(1), 7, &mut proc).len(), 1);
        let mut copy = |at| tables.copy_at(at, 7, &mut proc).map(|(code, _)| code);
        assert_eq!((copy(0x7001), copy(0x7067)), (Some(0x7000..0x7004), Some(0x7064..0x7068)));
        assert_eq!((copy(0x7068), copy(0x7118), copy(0x9000)), (None, Some(0x7118..0x711c), None));
        assert_eq!(copy(0x7118), None, "each address is looked at once");
    }

    #[test]
    fn a_file_is_read_on_behind_its_last_whole_record() {
        let whole = file(&[table(&[7; 24], 0), load(0x200, 16), table(&[7; 24], 0), load(0x300, 16)]);
        let mut tables = tables();
        let mut starts = Vec::new();
        for (look, length) in [41, 80, 120, whole.len() - 1, whole.len()].into_iter().enumerate() {
            let mut proc = Tables { image: Some(ObjectFile::new(whole[..length].to_vec())), ..Tables::default() };
            let at = Nanos(look as u64 * PAUSE.0 + 1);
            starts.extend(tables.read(at, 7, &mut proc).into_iter().map(|(code, _)| code.start));
        }
        assert_eq!(starts, [0x200, 0x300]);
    }

    #[test]
    fn what_is_no_jitdump_or_claims_too_much_gives_nothing() {
        for (name, bytes) in [
            ("empty", vec![]),
            ("no jitdump", vec![0; 200]),
            ("an index longer than the table", file(&[table(&[7; 24], 25), load(0x200, 16)])),
            ("no code", file(&[table(&[7; 24], 0), load(0x200, 0)])),
            ("code that wraps", file(&[table(&[7; 24], 0), load(u64::MAX, 16)])),
            ("a table of nothing", file(&[table(&[], 0), load(0x200, 16)])),
            ("a record without a size", [file(&[]), vec![0; 64]].concat()),
        ] {
            let mut proc = Tables { image: Some(ObjectFile::new(bytes)), ..Tables::default() };
            assert!(tables().read(Nanos(1), 7, &mut proc).is_empty(), "{name}");
        }
    }
}
