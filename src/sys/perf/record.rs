//! The records of the ring as typed views of its bytes, without copies or allocations.
//! Lengths are checked: a record that does not contain what it claims is `None`.
//!
//! All events are opened with the same common fields, so that records of different events can share one ring. Samples
//! begin with address, task, time, id, CPU and period; every other record ends with task, time, id and CPU: the id has
//! a fixed place. Where memory accesses are sampled, all samples of the capture have the address of their data before
//! the id.

use crate::abi::data_source::AccessWords;
use crate::abi::perf::{self, CgroupRecord, CommRecord, MmapRecord, Mode, Registers, TaskRecord, kind, misc};
use crate::abi::{Cursor, Words};

/// Optional contents of a sample, after the common prefix. The same for all samples of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// Members of the event's group, whose counts each sample carries after its own; 0 for no counts.
    pub members: u8,
    /// A call chain made by the kernel: its own frames; the user's, too, where these come from nowhere else.
    pub chain: bool,
    /// The chain has the user's frames although registers and stack come as well.
    pub user_chain: bool,
    /// Raw tracepoint data.
    pub raw: bool,
    /// Branch records.
    pub branches: bool,
    /// Mask of user registers; 0 for none.
    pub registers: u64,
    /// Bytes of user stack; 0 for none.
    pub stack_bytes: u32,
    /// The id of the task's control group.
    pub cgroup: bool,
    /// The address of the data. It stands before the id: all events of a capture have it, or none.
    pub address: bool,
    /// What was measured of a memory access, and where its data was.
    pub access: bool,
}

/// Task, time, event and CPU, which every record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleId {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub time: u64,
    /// Event id.
    pub id: u64,
    /// CPU.
    pub cpu: u32,
}

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample<'a> {
    /// Sampled instruction address.
    pub ip: u64,
    /// Number of events it represents.
    pub period: u64,
    /// Processor mode.
    pub mode: Mode,
    /// The counts so far of the event and the members of its group.
    pub counts: Words<'a>,
    /// Call chain with context markers, innermost first.
    pub chain: Words<'a>,
    /// Raw tracepoint data.
    pub raw: &'a [u8],
    /// Branch records: from, to, flags each; latest first.
    pub branches: Words<'a>,
    /// User registers; none in a kernel thread.
    pub registers: Registers<'a>,
    /// User stack from the stack pointer upwards.
    pub stack: &'a [u8],
    /// The task's control group, by its id.
    pub cgroup: Option<u64>,
    /// What it did to memory.
    pub access: AccessWords,
}

/// Contents of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// A new executable mapping.
    Mmap(MmapRecord<'a>),
    /// A thread changed its name.
    Comm(CommRecord<'a>),
    /// A control group was created.
    Cgroup(CgroupRecord<'a>),
    /// A task was born.
    Fork(TaskRecord),
    /// A task ended.
    Exit(TaskRecord),
    /// The ring was full; this many records are lost.
    Lost(u64),
    /// The kernel paused the event.
    Throttle,
    /// The stamped task was put on the CPU.
    SwitchIn,
    /// The stamped task left the CPU.
    SwitchOut {
        /// Whether it was still runnable.
        preempted: bool,
    },
    /// Anything else.
    Other,
}

const HEADER: usize = 8;
const TRAILER: usize = 32;

/// Returns the time of a record without parsing the rest; `None` if the record is too short.
#[must_use]
pub fn time(record: &[u8]) -> Option<u64> {
    let (kind, _) = header(record)?;
    let at = if kind == kind::SAMPLE { HEADER + 16 } else { record.len().checked_sub(TRAILER)? + 8 };
    Cursor::native(record.get(at..)?).u64()
}

/// Parses one record, header included. `addressed` says whether the samples of this capture have the address of their
/// data; `layout` returns the contents of an event's samples; a sample of an unknown event is `Other`.
pub fn parse<'a>(
    record: &'a [u8],
    addressed: bool,
    layout: impl FnOnce(u64) -> Option<Layout>,
) -> Option<(SampleId, Record<'a>)> {
    let (kind, misc) = header(record)?;
    if kind == kind::SAMPLE {
        return sample(record.get(HEADER..)?, misc, addressed, layout);
    }
    let (body, trailer) = record.get(HEADER..)?.split_at_checked(record.len().checked_sub(HEADER + TRAILER)?)?;
    let (stamp, _) = stamp(&mut Cursor::native(trailer), false)?;
    let cursor = &mut Cursor::native(body);
    let record = match kind {
        kind::MMAP2 => Record::Mmap(MmapRecord::parse(kind, misc, cursor)?),
        kind::COMM => Record::Comm(CommRecord::parse(misc, cursor)?),
        kind::CGROUP => Record::Cgroup(CgroupRecord::parse(cursor)?),
        kind::FORK => Record::Fork(TaskRecord::parse(misc, cursor)?),
        kind::EXIT => Record::Exit(TaskRecord::parse(misc, cursor)?),
        kind::LOST | kind::LOST_SAMPLES => Record::Lost(perf::lost(kind, cursor)?),
        kind::THROTTLE => Record::Throttle,
        kind::SWITCH | kind::SWITCH_CPU_WIDE if misc & misc::SWITCH_OUT == 0 => Record::SwitchIn,
        kind::SWITCH | kind::SWITCH_CPU_WIDE => Record::SwitchOut { preempted: misc & misc::SWITCH_OUT_PREEMPT != 0 },
        _ => Record::Other,
    };
    Some((stamp, record))
}

/// Type and `misc`.
fn header(record: &[u8]) -> Option<(u32, u16)> {
    let mut cursor = Cursor::native(record);
    let (kind, misc, _size) = (cursor.u32()?, cursor.u16()?, cursor.u16()?);
    Some((kind, misc))
}

/// Task, time, id and CPU, in the order that samples and the ends of other records share; 0 for the address that only
/// samples may have between them.
fn stamp(cursor: &mut Cursor<'_>, addressed: bool) -> Option<(SampleId, u64)> {
    let (pid, tid, time) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
    let address = if addressed { cursor.u64()? } else { 0 };
    Some((SampleId { pid, tid, time, id: cursor.u64()?, cpu: cursor.u32()? }, address))
}

fn sample<'a>(
    body: &'a [u8],
    misc: u16,
    addressed: bool,
    layout: impl FnOnce(u64) -> Option<Layout>,
) -> Option<(SampleId, Record<'a>)> {
    let cursor = &mut Cursor::native(body);
    let ip = cursor.u64()?;
    let (stamp, address) = stamp(cursor, addressed)?;
    cursor.skip(4)?;
    let period = cursor.u64()?;
    let Some(layout) = layout(stamp.id) else { return Some((stamp, Record::Other)) };
    let counts = if layout.members > 0 { group_counts(cursor)? } else { Words::default() };
    let chain = if layout.chain { perf::counted(cursor, 1)? } else { Words::default() };
    let raw = if layout.raw { perf::raw(cursor)? } else { &[] };
    let branches = if layout.branches { perf::counted(cursor, 3)? } else { Words::default() };
    let registers =
        if layout.registers > 0 { Registers::parse(cursor, layout.registers)? } else { Registers::default() };
    let stack = if layout.stack_bytes > 0 { perf::stack(cursor)? } else { &[] };
    let (cost, source) = if layout.access { (cursor.u64()?, cursor.u64()?) } else { (0, 0) };
    let cgroup = if layout.cgroup { Some(cursor.u64()?) } else { None };
    let (mode, access) = (Mode::of(misc), AccessWords { address, cost, source });
    let sample = Sample { ip, period, mode, counts, chain, raw, branches, registers, stack, cgroup, access };
    Some((stamp, Record::Sample(sample)))
}

/// The counts of a group: their number, the times enabled and running, and the counts, the leader's first.
fn group_counts<'a>(cursor: &mut Cursor<'a>) -> Option<Words<'a>> {
    let number = cursor.u64()?;
    cursor.skip(16)?;
    cursor.take_words(number)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
pub(crate) mod fake {
    //! Records as the kernel would write them, for the tests of all readers of the ring.

    use super::*;

    /// A record of `kind` with `body`, followed by `stamp`.
    pub fn record(kind: u32, misc: u16, body: &[u8], stamp: SampleId) -> Vec<u8> {
        let mut bytes = body.to_vec();
        bytes.resize(body.len().next_multiple_of(8), 0);
        bytes.extend(words32(&[stamp.pid, stamp.tid]));
        bytes.extend(words64(&[stamp.time, stamp.id, u64::from(stamp.cpu)]));
        framed(kind, misc, &bytes)
    }

    /// A sample with `tail` after the common prefix.
    pub fn sample(misc: u16, ip: u64, period: u64, stamp: SampleId, tail: &[u8]) -> Vec<u8> {
        addressed(misc, ip, &[], period, stamp, tail)
    }

    /// The same, of a capture whose samples have the address of their data.
    pub fn access(misc: u16, ip: u64, address: u64, period: u64, stamp: SampleId, tail: &[u8]) -> Vec<u8> {
        addressed(misc, ip, &[address], period, stamp, tail)
    }

    fn addressed(misc: u16, ip: u64, address: &[u64], period: u64, stamp: SampleId, tail: &[u8]) -> Vec<u8> {
        let mut bytes = words64(&[ip]);
        bytes.extend(words32(&[stamp.pid, stamp.tid]));
        bytes.extend(words64(&[stamp.time]));
        bytes.extend(words64(address));
        bytes.extend(words64(&[stamp.id, u64::from(stamp.cpu), period]));
        bytes.extend(tail);
        framed(kind::SAMPLE, misc, &bytes)
    }

    /// An MMAP2 record.
    pub fn mapping(start: u64, length: u64, offset: u64, inode: u64, path: &str, stamp: SampleId) -> Vec<u8> {
        let mut body = words32(&[stamp.pid, stamp.tid]);
        body.extend(words64(&[start, length, offset]));
        body.extend(words32(&[8, 1]));
        body.extend(words64(&[inode, 0, 5]));
        body.extend(path.as_bytes());
        body.push(0);
        record(kind::MMAP2, 2, &body, stamp)
    }

    /// A COMM record.
    pub fn comm(name: &str, exec: bool, stamp: SampleId) -> Vec<u8> {
        let mut body = words32(&[stamp.pid, stamp.tid]);
        body.extend(name.as_bytes());
        body.push(0);
        record(kind::COMM, if exec { misc::COMM_EXEC } else { 0 }, &body, stamp)
    }

    /// A FORK record of the child, stamped by its parent.
    pub fn fork(pid: u32, tid: u32, parent: SampleId) -> Vec<u8> {
        record(kind::FORK, 0, &task_body(pid, tid, parent), parent)
    }

    /// An EXIT record.
    pub fn exit(stamp: SampleId) -> Vec<u8> {
        record(kind::EXIT, 0, &task_body(stamp.pid, stamp.tid, stamp), stamp)
    }

    /// A CGROUP record.
    pub fn cgroup(id: u64, path: &str, stamp: SampleId) -> Vec<u8> {
        let mut body = words64(&[id]);
        body.extend(path.as_bytes());
        body.push(0);
        record(kind::CGROUP, 0, &body, stamp)
    }

    /// A LOST record.
    pub fn lost(count: u64, stamp: SampleId) -> Vec<u8> {
        record(kind::LOST, 0, &words64(&[stamp.id, count]), stamp)
    }

    /// A SWITCH record of a task put on the CPU.
    pub fn switch_in(stamp: SampleId) -> Vec<u8> {
        record(kind::SWITCH, 0, &[], stamp)
    }

    /// A SWITCH record of a task that leaves the CPU.
    pub fn switch_out(preempted: bool, stamp: SampleId) -> Vec<u8> {
        let preempt = if preempted { misc::SWITCH_OUT_PREEMPT } else { 0 };
        record(kind::SWITCH, misc::SWITCH_OUT | preempt, &[], stamp)
    }

    /// 64-bit words as bytes.
    pub fn words64(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// 32-bit words as bytes.
    pub fn words32(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn task_body(pid: u32, tid: u32, parent: SampleId) -> Vec<u8> {
        let mut body = words32(&[pid, parent.pid, tid, parent.tid]);
        body.extend(words64(&[parent.time]));
        body
    }

    fn framed(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = words32(&[kind]);
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(u16::try_from(HEADER + body.len()).unwrap().to_ne_bytes());
        bytes.extend(body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::fake::{words32, words64};
    use super::*;

    const STAMP: SampleId = SampleId { pid: 41, tid: 42, time: 7_000, id: 99, cpu: 3 };

    fn read(record: &[u8], layout: Layout) -> Option<(SampleId, Record<'_>)> {
        parse(record, layout.address, |id| (id == 99).then_some(layout))
    }

    #[test]
    fn a_sample_with_everything_is_split_at_the_right_places() {
        let layout = Layout {
            members: 1,
            chain: true,
            user_chain: false,
            raw: true,
            branches: true,
            registers: 0b111,
            stack_bytes: 16,
            cgroup: true,
            address: true,
            access: true,
        };
        let mut tail = words64(&[2, 70, 60, 500, 900]);
        tail.extend(words64(&[2, 0xaa, 0xbb]));
        tail.extend(words32(&[4, 0xfeed]));
        tail.extend(words64(&[1, 10, 20, 30]));
        tail.extend(words64(&[2, 1, 2, 3]));
        tail.extend(words64(&[16, 0x11, 0x22, 8, 412, 0x118_6810_0242, 4711]));
        let bytes = fake::access(2, 0x400, 0xadd, 1003, STAMP, &tail);
        let Some((stamp, Record::Sample(sample))) = read(&bytes, layout) else { panic!("not a sample") };
        assert_eq!((stamp, time(&bytes)), (STAMP, Some(7_000)));
        assert_eq!((sample.ip, sample.period, sample.mode, sample.registers.wide), (0x400, 1003, Mode::User, true));
        assert_eq!(sample.counts.iter().collect::<Vec<_>>(), [500, 900]);
        assert_eq!(sample.chain.iter().collect::<Vec<_>>(), [0xaa, 0xbb]);
        assert_eq!(sample.raw, 0xfeedu32.to_ne_bytes());
        assert_eq!(sample.branches.iter().collect::<Vec<_>>(), [10, 20, 30]);
        assert_eq!(sample.registers.values.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(sample.access, AccessWords { address: 0xadd, cost: 412, source: 0x118_6810_0242 });
        assert_eq!((sample.stack, sample.cgroup), (&0x11u64.to_ne_bytes()[..], Some(4711)));
    }

    #[test]
    fn a_kernel_thread_has_neither_registers_nor_stack() {
        let layout = Layout { registers: 0b111, stack_bytes: 16, ..Layout::default() };
        let bytes = fake::sample(1, 0x400, 1, STAMP, &words64(&[0, 0]));
        let Some((_, Record::Sample(sample))) = read(&bytes, layout) else { panic!("not a sample") };
        assert!(sample.registers == Registers::default() && sample.stack.is_empty() && sample.mode == Mode::Kernel);
    }

    #[test]
    fn side_band_records_say_who_and_what() {
        let born = TaskRecord { pid: 50, tid: 51, parent_pid: 41, parent_tid: 42, own_mappings: false };
        let table = [
            (
                fake::comm("redis", true, STAMP),
                Record::Comm(CommRecord { pid: 41, tid: 42, exec: true, comm: b"redis" }),
            ),
            (fake::cgroup(99, "/a/b", STAMP), Record::Cgroup(CgroupRecord { id: 99, path: b"/a/b" })),
            (fake::fork(50, 51, STAMP), Record::Fork(born)),
            (fake::lost(12, STAMP), Record::Lost(12)),
            (fake::switch_in(STAMP), Record::SwitchIn),
            (fake::switch_out(false, STAMP), Record::SwitchOut { preempted: false }),
            (fake::switch_out(true, STAMP), Record::SwitchOut { preempted: true }),
            (fake::record(kind::SWITCH_CPU_WIDE, 0, &words32(&[1, 2]), STAMP), Record::SwitchIn),
            (
                fake::record(kind::SWITCH_CPU_WIDE, misc::SWITCH_OUT, &words32(&[1, 2]), STAMP),
                Record::SwitchOut { preempted: false },
            ),
            (fake::record(kind::THROTTLE, 0, &words64(&[1, 2, 3]), STAMP), Record::Throttle),
            (
                fake::mapping(0x1000, 0x2000, 0x40, 77, "/usr/bin/x", STAMP),
                Record::Mmap(MmapRecord {
                    pid: 41,
                    start: 0x1000,
                    length: 0x2000,
                    offset: 0x40,
                    device: (8, 1),
                    inode: Some(77),
                    build_id: None,
                    mode: Mode::User,
                    path: b"/usr/bin/x",
                }),
            ),
        ];
        for (bytes, expected) in &table {
            assert_eq!(read(bytes, Layout::default()), Some((STAMP, *expected)));
            assert_eq!(time(bytes), Some(STAMP.time));
        }
    }

    #[test]
    fn a_record_cut_anywhere_is_refused_without_a_panic() {
        let layout = Layout {
            members: 1,
            chain: true,
            user_chain: false,
            raw: true,
            branches: true,
            registers: 0b111,
            stack_bytes: 16,
            cgroup: true,
            address: true,
            access: true,
        };
        let mut tail = words64(&[2, 70, 60, 500, 900, 1, 0xaa]);
        tail.extend(words32(&[4, 1]));
        tail.extend(words64(&[0, 2, 1, 2, 3, 8, 0x11, 8, 1, 2, 99]));
        for whole in [fake::access(2, 1, 0, 1, STAMP, &tail), fake::mapping(1, 2, 3, 4, "/x", STAMP)] {
            assert!(read(&whole, layout).is_some());
            for cut in 0..whole.len() {
                let _ = (read(&whole[..cut], layout), time(&whole[..cut]));
            }
        }
        for lie in [u64::MAX, 1 << 40, 3] {
            let bytes = fake::sample(2, 1, 1, STAMP, &words64(&[lie]));
            assert_eq!(read(&bytes, Layout { chain: true, ..Layout::default() }), None);
            assert_eq!(read(&bytes, Layout { members: 1, ..Layout::default() }), None);
        }
    }
}
