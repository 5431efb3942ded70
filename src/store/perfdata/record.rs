//! One record of the data section as plain data, from the kernel or synthesized by perf.
//! Lists are views of the record's bytes, so no allocation depends on a number in the file.

use super::attr::{Attr, read, sample};
use super::cursor::{Cursor, Words};
use crate::model::BuildId;

/// Processor mode of a sampled address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Not recorded.
    Unknown,
    /// The kernel.
    Kernel,
    /// A program.
    User,
    /// A hypervisor.
    Hypervisor,
    /// A guest's kernel.
    GuestKernel,
    /// A guest's program.
    GuestUser,
}

impl Mode {
    fn of(misc: u16) -> Mode {
        match misc & 7 {
            1 => Mode::Kernel,
            2 => Mode::User,
            3 => Mode::Hypervisor,
            4 => Mode::GuestKernel,
            5 => Mode::GuestUser,
            _ => Mode::Unknown,
        }
    }
}

/// Time and CPU of a record; missing values are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Time on the recording's clock, nanoseconds.
    pub time: Option<u64>,
    /// The CPU.
    pub cpu: Option<u32>,
}

/// A range of addresses that code is mapped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// The process; `u32::MAX` for the kernel's own.
    pub pid: u32,
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Offset in the file; for the kernel the address of its reference symbol.
    pub offset: u64,
    /// The inode of the file, where recorded.
    pub inode: Option<u64>,
    /// The build-id, where recorded.
    pub build_id: Option<BuildId>,
    /// Path or name of the mapping.
    pub path: &'a [u8],
    /// Processor mode of these addresses.
    pub mode: Mode,
}

/// Counter values in a record, each with the event's id where recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads<'a> {
    /// Time enabled, nanoseconds.
    pub enabled: Option<u64>,
    /// Time running, nanoseconds.
    pub running: Option<u64>,
    alone: Option<(u64, Option<u64>)>,
    group: Words<'a>,
    /// Words per value of a group.
    step: usize,
    numbered: bool,
}

impl<'a> Reads<'a> {
    /// Values and event ids.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Option<u64>)> + use<'a> {
        let Reads { alone, group, step, numbered, .. } = *self;
        let member = move |at: usize| Some((group.get(at * step)?, group.get(at * step + 1).filter(|_| numbered)));
        alone.into_iter().chain((0..group.len() / step).filter_map(member))
    }

    /// `struct read_format`: a group starts with the times, a single event with its value.
    fn parse(cursor: &mut Cursor<'a>, format: u64, big: bool) -> Option<Reads<'a>> {
        let has = |bit: u64| format & bit != 0;
        let step = 1 + usize::from(has(read::ID)) + usize::from(has(read::LOST));
        let first = cursor.u64()?;
        let enabled = if has(read::ENABLED) { Some(cursor.u64()?) } else { None };
        let running = if has(read::RUNNING) { Some(cursor.u64()?) } else { None };
        let (mut alone, mut group) = (None, Words::default());
        if has(read::GROUP) {
            let bytes = cursor.take_counted(first.checked_mul(step as u64 * 8)?)?;
            group = Cursor::new(bytes, big).words();
        } else {
            let id = if has(read::ID) { Some(cursor.u64()?) } else { None };
            alone = Some((first, id));
            cursor.skip(if has(read::LOST) { 8 } else { 0 })?;
        }
        Some(Reads { enabled, running, alone, group, step, numbered: has(read::ID) })
    }
}

/// User registers of a sample: a mask, and the values in the order of its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers<'a> {
    /// A bit for each register present.
    pub mask: u64,
    /// Their values.
    pub values: Words<'a>,
    /// Whether it was a 64-bit program.
    pub wide: bool,
}

impl Registers<'_> {
    /// The register with that number in perf's numbering (`PERF_REG_*`).
    #[must_use]
    pub fn get(&self, register: u32) -> Option<u64> {
        let bit = 1u64.checked_shl(register)?;
        let at = (self.mask & (bit - 1)).count_ones() as usize;
        if self.mask & bit != 0 { self.values.get(at) } else { None }
    }
}

/// A sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Processor mode.
    pub mode: Mode,
    /// The instruction address, where recorded.
    pub ip: Option<u64>,
    /// The process, where recorded.
    pub pid: Option<u32>,
    /// The thread, where recorded.
    pub tid: Option<u32>,
    /// Number of events it represents, where recorded.
    pub period: Option<u64>,
    /// Counter values, where recorded.
    pub reads: Option<Reads<'a>>,
    /// The call chain with its markers (`PERF_CONTEXT_*`), innermost first.
    pub chain: Words<'a>,
    /// Branch records: from, to, flags.
    pub branches: Words<'a>,
    /// User registers; `None` if not recorded or if there are none, as in a kernel thread.
    pub registers: Option<Registers<'a>>,
    /// User stack from the stack pointer upwards.
    pub stack: &'a [u8],
}

/// A task's new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Naming<'a> {
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// The name.
    pub comm: &'a [u8],
    /// Whether the task executed another program.
    pub exec: bool,
}

/// A new task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Birth {
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// Process id of the parent.
    pub parent_pid: u32,
    /// Thread id of the parent.
    pub parent_tid: u32,
    /// Whether a new process does not inherit its parent's mappings: perf reports its own ones afterwards.
    pub fresh: bool,
}

/// Code generated by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelCode<'a> {
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Its name.
    pub name: &'a [u8],
    /// Whether it has been removed.
    pub gone: bool,
}

/// Contents of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What<'a> {
    /// Code was mapped.
    Mapped(Mapping<'a>),
    /// A task changed its name.
    Named(Naming<'a>),
    /// A task was created.
    Born(Birth),
    /// A task ended.
    Ended {
        /// Its process.
        pid: u32,
        /// Its thread.
        tid: u32,
    },
    /// This many records were lost.
    Lost(u64),
    /// Sampling was paused.
    Throttled,
    /// Counters of a thread that ended.
    Read {
        /// The thread.
        tid: u32,
        /// Their values.
        reads: Reads<'a>,
    },
    /// A sample.
    Sample(Sample<'a>),
    /// Code that the kernel generated at run time, e.g. of a BPF program.
    KernelCode(KernelCode<'a>),
    /// Anything else.
    Other,
}

/// Types of records (`PERF_RECORD_*`).
pub(super) mod kind {
    pub const MMAP: u32 = 1;
    pub const LOST: u32 = 2;
    pub const COMM: u32 = 3;
    pub const EXIT: u32 = 4;
    pub const THROTTLE: u32 = 5;
    pub const FORK: u32 = 7;
    pub const READ: u32 = 8;
    pub const SAMPLE: u32 = 9;
    pub const MMAP2: u32 = 10;
    pub const LOST_SAMPLES: u32 = 13;
    pub const SWITCH: u32 = 14;
    pub const SWITCH_CPU_WIDE: u32 = 15;
    pub const KSYMBOL: u32 = 17;
    /// First of perf's own types.
    pub const USER: u32 = 64;
}

/// Bits of a record's `misc`; what they mean depends on the record.
mod misc {
    pub const COMM_EXEC: u16 = 1 << 13;
    pub const FORK_EXEC: u16 = 1 << 13;
    pub const MMAP_BUILD_ID: u16 = 1 << 14;
}

/// Parses the content of a kernel's record; `None` when it is too short.
pub(super) fn parse<'a>(record: u32, misc: u16, body: &'a [u8], attr: &Attr, big: bool) -> Option<What<'a>> {
    let cursor = &mut Cursor::new(body, big);
    Some(match record {
        kind::MMAP | kind::MMAP2 => What::Mapped(mapping(record, misc, cursor)?),
        kind::COMM => {
            let (pid, tid) = (cursor.u32()?, cursor.u32()?);
            What::Named(Naming { pid, tid, comm: cursor.name(), exec: misc & misc::COMM_EXEC != 0 })
        }
        kind::FORK => {
            let (pid, parent_pid, tid, parent_tid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?);
            What::Born(Birth { pid, tid, parent_pid, parent_tid, fresh: misc & misc::FORK_EXEC != 0 })
        }
        kind::EXIT => {
            let (pid, _parent_pid, tid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
            What::Ended { pid, tid }
        }
        kind::LOST => {
            cursor.skip(8)?;
            What::Lost(cursor.u64()?)
        }
        kind::LOST_SAMPLES => What::Lost(cursor.u64()?),
        kind::THROTTLE => What::Throttled,
        kind::READ => {
            let (_pid, tid) = (cursor.u32()?, cursor.u32()?);
            What::Read { tid, reads: Reads::parse(cursor, attr.read, big)? }
        }
        kind::KSYMBOL => {
            let (start, length) = (cursor.u64()?, u64::from(cursor.u32()?));
            let (_kind, flags) = (cursor.u16()?, cursor.u16()?);
            What::KernelCode(KernelCode { start, length, name: cursor.name(), gone: flags & 1 != 0 })
        }
        kind::SAMPLE => What::Sample(sampled(misc, cursor, attr, big)?),
        _ => What::Other,
    })
}

fn mapping<'a>(record: u32, misc: u16, cursor: &mut Cursor<'a>) -> Option<Mapping<'a>> {
    let pid = cursor.u32()?;
    cursor.skip(4)?;
    let (start, length, offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let (mut inode, mut build_id) = (None, None);
    if record == kind::MMAP2 {
        if misc & misc::MMAP_BUILD_ID != 0 {
            let length = usize::from(cursor.u8()?);
            cursor.skip(3)?;
            build_id = cursor.take(20)?.get(..length).filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        } else {
            cursor.skip(8)?;
            inode = Some(cursor.u64()?).filter(|inode| *inode != 0);
            cursor.skip(8)?;
        }
        // Protection and flags.
        cursor.skip(8)?;
    }
    Some(Mapping { pid, start, length, offset, inode, build_id, path: cursor.name(), mode: Mode::of(misc) })
}

fn sampled<'a>(misc: u16, cursor: &mut Cursor<'a>, attr: &Attr, big: bool) -> Option<Sample<'a>> {
    let has = |field: u64| attr.sample & field != 0;
    cursor.skip(if has(sample::IDENTIFIER) { 8 } else { 0 })?;
    let ip = if has(sample::IP) { Some(cursor.u64()?) } else { None };
    let (pid, tid) = if has(sample::TID) { (Some(cursor.u32()?), Some(cursor.u32()?)) } else { (None, None) };
    for field in [sample::TIME, sample::ADDR, sample::ID, sample::STREAM_ID, sample::CPU] {
        cursor.skip(if has(field) { 8 } else { 0 })?;
    }
    let period = if has(sample::PERIOD) { Some(cursor.u64()?) } else { None };
    let reads = if has(sample::READ) { Some(Reads::parse(cursor, attr.read, big)?) } else { None };
    let chain = if has(sample::CALLCHAIN) { counted(cursor, 8, big)? } else { Words::default() };
    if has(sample::RAW) {
        let size = cursor.u32()?;
        cursor.take_counted(u64::from(size))?;
    }
    let branches = if attr.has_branches() { branches(cursor, attr, big)? } else { Words::default() };
    let registers = if has(sample::REGS_USER) { registers(cursor, attr.registers, big)? } else { None };
    let stack = if has(sample::STACK_USER) { stack(cursor)? } else { &[] };
    // Weights, data addresses and the like follow; they are not read.
    Some(Sample { mode: Mode::of(misc), ip, pid, tid, period, reads, chain, branches, registers, stack })
}

fn counted<'a>(cursor: &mut Cursor<'a>, each: u64, big: bool) -> Option<Words<'a>> {
    let count = cursor.u64()?;
    Some(Cursor::new(cursor.take_counted(count.checked_mul(each)?)?, big).words())
}

fn branches<'a>(cursor: &mut Cursor<'a>, attr: &Attr, big: bool) -> Option<Words<'a>> {
    let count = cursor.u64()?;
    cursor.skip(if attr.has_branch_index() { 8 } else { 0 })?;
    let entries = cursor.take_counted(count.checked_mul(24)?)?;
    cursor.take_counted(if attr.has_branch_counters() { count.checked_mul(8)? } else { 0 })?;
    Some(Cursor::new(entries, big).words())
}

/// `Some(None)`: the sample has no registers.
#[expect(clippy::option_option, reason = "too short a record and a kernel thread are not the same")]
fn registers<'a>(cursor: &mut Cursor<'a>, mask: u64, big: bool) -> Option<Option<Registers<'a>>> {
    /// `PERF_SAMPLE_REGS_ABI_64`.
    const WIDE: u64 = 2;
    let abi = cursor.u64()?;
    if abi == 0 {
        return Some(None);
    }
    let values = Cursor::new(cursor.take(mask.count_ones() as usize * 8)?, big).words();
    Some(Some(Registers { mask, values, wide: abi == WIDE }))
}

/// The copied stack, as many bytes as the kernel could copy.
fn stack<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let size = cursor.u64()?;
    if size == 0 {
        return Some(&[]);
    }
    let bytes = cursor.take_counted(size)?;
    let filled = usize::try_from(cursor.u64()?).ok()?;
    Some(&bytes[..filled.min(bytes.len())])
}

/// Time and CPU of a record.
pub(super) fn stamp(record: u32, body: &[u8], attr: &Attr, big: bool) -> Stamp {
    let at = if record == kind::SAMPLE { Some(attr.time_in_sample()) } else { trailer(body, attr) };
    let Some(mut cursor) = at.and_then(|at| body.get(at..)).map(|rest| Cursor::new(rest, big)) else {
        return Stamp::default();
    };
    let has = |field: u64| attr.sample & field != 0;
    let read = |cursor: &mut Cursor<'_>, field: u64| if has(field) { cursor.u64() } else { None };
    if record != kind::SAMPLE {
        read(&mut cursor, sample::TID);
    }
    let time = read(&mut cursor, sample::TIME);
    let between: &[u64] = if record == kind::SAMPLE { &[sample::ADDR] } else { &[] };
    for field in between.iter().chain(&[sample::ID, sample::STREAM_ID]) {
        read(&mut cursor, *field);
    }
    let cpu = if has(sample::CPU) { cursor.u32() } else { None };
    Stamp { time, cpu }
}

fn trailer(body: &[u8], attr: &Attr) -> Option<usize> {
    let bytes = attr.stamp_bytes();
    if bytes == 0 { None } else { body.len().checked_sub(bytes) }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    /// Bytes in either byte order.
    struct Bytes {
        bytes: Vec<u8>,
        big: bool,
    }

    impl Bytes {
        fn new(big: bool) -> Bytes {
            Bytes { bytes: Vec::new(), big }
        }

        fn u64(mut self, values: &[u64]) -> Bytes {
            for value in values {
                self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
            }
            self
        }

        fn u32(mut self, values: &[u32]) -> Bytes {
            for value in values {
                self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
            }
            self
        }

        fn raw(mut self, bytes: &[u8]) -> Bytes {
            self.bytes.extend(bytes);
            self
        }
    }

    /// An event whose samples carry everything, with branch records of calls.
    fn full(big: bool) -> Attr {
        let fields = sample::IP | sample::TID | sample::TIME | sample::ADDR | sample::READ | sample::CALLCHAIN;
        let more = sample::ID | sample::CPU | sample::PERIOD | sample::STREAM_ID | sample::RAW | sample::BRANCH_STACK;
        let last = sample::REGS_USER | sample::STACK_USER | sample::IDENTIFIER;
        let format = read::ENABLED | read::RUNNING | read::ID | read::GROUP;
        let order = |bits: u64| if big { bits.reverse_bits() } else { bits };
        let (call_stack_and_index, ip_and_sp) = (1 << 11 | 1 << 17, 1 << 7 | 1 << 8);
        let attr = Bytes::new(big).u32(&[0, 112]).u64(&[0, 1, fields | more | last, format, order(1 << 18), 0, 0, 0]);
        Attr::parse(&attr.u64(&[call_stack_and_index, ip_and_sp]).u32(&[64, 0]).bytes, big).unwrap()
    }

    fn full_sample(big: bool) -> Vec<u8> {
        let head = Bytes::new(big).u64(&[77, 0x1010]).u32(&[5, 6]).u64(&[1000, 0xadd, 77, 0]).u32(&[3, 0]).u64(&[250]);
        let reads = head.u64(&[2, 10, 9, 41, 77, 42, 78]);
        let chain = reads.u64(&[2, -512i64 as u64, 0x1010]);
        let raw = chain.u32(&[12]).raw(&[0xee; 12]);
        let branches = raw.u64(&[1, 0, 0x2000, 0x1000, 0]);
        let registers = branches.u64(&[2, 0x7000, 0x1010]);
        registers.u64(&[16]).raw(&[9; 16]).u64(&[8]).u64(&[0xffff]).bytes
    }

    #[test]
    fn a_sample_with_everything_is_read_in_both_orders_of_bytes() {
        for big in [false, true] {
            let (attr, body) = (full(big), full_sample(big));
            let Some(What::Sample(sample)) = parse(kind::SAMPLE, 2, &body, &attr, big) else { panic!("no sample") };
            assert_eq!((sample.mode, sample.ip, sample.pid, sample.tid), (Mode::User, Some(0x1010), Some(5), Some(6)));
            assert_eq!(sample.period, Some(250));
            let reads = sample.reads.unwrap();
            assert_eq!(reads.iter().collect::<Vec<_>>(), [(41, Some(77)), (42, Some(78))]);
            assert_eq!((reads.enabled, reads.running), (Some(10), Some(9)));
            assert_eq!(sample.chain.iter().nth(1), Some(0x1010));
            assert_eq!(sample.branches.iter().collect::<Vec<_>>(), [0x2000, 0x1000, 0]);
            let registers = sample.registers.unwrap();
            assert_eq!([7, 8, 6, 64].map(|at| registers.get(at)), [Some(0x7000), Some(0x1010), None, None]);
            assert!(registers.wide && sample.stack == [9; 8], "no more of the stack than could be copied");
            assert_eq!(stamp(kind::SAMPLE, &body, &attr, big), Stamp { time: Some(1000), cpu: Some(3) });
            assert_eq!((attr.has_call_stack(), attr.id_in_sample()), (true, Some(0)));
        }
    }

    #[test]
    fn a_sample_cut_anywhere_before_its_last_field_is_none() {
        let (attr, body) = (full(false), full_sample(false));
        for length in 0..body.len() - 8 {
            assert_eq!(parse(kind::SAMPLE, 2, &body[..length], &attr, false), None, "{length} bytes");
        }
        // Impossible counts at every place.
        for at in (0..body.len() - 7).step_by(4) {
            let mut hostile = body.clone();
            hostile[at..at + 8].fill(0xff);
            let _ = parse(kind::SAMPLE, 2, &hostile, &attr, false);
            let _ = stamp(kind::SAMPLE, &hostile, &attr, false);
        }
    }

    #[test]
    fn a_single_value_stands_before_its_times_and_its_number_after_them() {
        let attr = Attr { read: read::ENABLED | read::RUNNING | read::ID | read::LOST, ..Attr::default() };
        let body = Bytes::new(false).u32(&[1, 9]).u64(&[500, 20, 10, 77, 3]).bytes;
        let Some(What::Read { tid, reads }) = parse(kind::READ, 0, &body, &attr, false) else { panic!("no values") };
        assert_eq!((tid, reads.iter().collect::<Vec<_>>()), (9, vec![(500, Some(77))]));
        assert_eq!((reads.enabled, reads.running), (Some(20), Some(10)));
    }

    #[test]
    fn a_mapping_names_its_inode_or_its_build() {
        let mapped = |misc: u16, file: &[u8]| {
            let body =
                Bytes::new(false).u32(&[5, 5]).u64(&[0x1000, 0x2000, 0x100]).raw(file).u32(&[5, 2]).raw(b"/bin/x\0\0");
            match parse(kind::MMAP2, misc, &body.bytes, &Attr::default(), false) {
                Some(What::Mapped(mapping)) => {
                    (mapping.inode, mapping.build_id.map(|id| id.0.len()), mapping.path.to_vec())
                }
                other => panic!("{other:?}"),
            }
        };
        let inode = Bytes::new(false).u32(&[8, 1]).u64(&[4711, 0]).bytes;
        assert_eq!(mapped(2, &inode), (Some(4711), None, b"/bin/x".to_vec()));
        let build = |length: u8| [&[length, 0, 0, 0][..], &[7; 20]].concat();
        assert_eq!(mapped(2 | misc::MMAP_BUILD_ID, &build(16)), (None, Some(16), b"/bin/x".to_vec()));
        assert_eq!(
            mapped(2 | misc::MMAP_BUILD_ID, &build(255)),
            (None, None, b"/bin/x".to_vec()),
            "no build is that long"
        );
    }
}
