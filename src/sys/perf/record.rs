//! The records of the ring as typed views of its bytes, without copies or allocations.
//! Lengths are checked: a record that does not contain what it claims is `None`.
//!
//! All events are opened with the same common fields, so that records of different events can share one ring. Samples
//! begin with address, task, time, id, CPU and period; every other record ends with task, time, id and CPU: the id has
//! a fixed place.

/// Optional contents of a sample, after the common prefix. The same for all samples of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// A call chain made by the kernel.
    pub chain: bool,
    /// Raw tracepoint data.
    pub raw: bool,
    /// Branch records.
    pub branches: bool,
    /// Mask of user registers; 0 for none.
    pub registers: u64,
    /// Bytes of user stack; 0 for none.
    pub stack_bytes: u32,
}

/// Task, time, event and CPU, which every record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
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

/// The processor mode a sample was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Kernel.
    Kernel,
    /// User.
    User,
    /// Hypervisor, guest or unknown.
    Other,
}

/// A list of 64-bit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// The words.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.0.chunks_exact(8).map(|word| u64::from_ne_bytes(std::array::from_fn(|i| word[i])))
    }
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
    /// Call chain with context markers, innermost first.
    pub chain: Words<'a>,
    /// Raw tracepoint data.
    pub raw: &'a [u8],
    /// Branch records: from, to, flags each; latest first.
    pub branches: Words<'a>,
    /// User registers in the order of the mask; empty for a kernel thread.
    pub registers: Words<'a>,
    /// Whether the registers are those of a 64-bit program.
    pub wide: bool,
    /// User stack from the stack pointer upwards.
    pub stack: &'a [u8],
}

/// A new executable mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// Process id.
    pub pid: u32,
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Device, major and minor number.
    pub device: (u32, u32),
    /// Inode.
    pub inode: u64,
    /// Path as the process sees it.
    pub path: &'a [u8],
}

/// A fork or an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lineage {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Process id of the parent.
    pub parent_pid: u32,
    /// Thread id of the parent.
    pub parent_tid: u32,
}

/// Contents of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// A new executable mapping.
    Mapping(Mapping<'a>),
    /// A thread changed its name.
    Comm {
        /// Process id.
        pid: u32,
        /// Thread id.
        tid: u32,
        /// Whether it did so by executing a program.
        exec: bool,
        /// The name.
        name: &'a [u8],
    },
    /// A task was born.
    Fork(Lineage),
    /// A task ended.
    Exit(Lineage),
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

const MMAP2: u32 = 10;
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const THROTTLE: u32 = 5;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const SWITCH: u32 = 14;
const SWITCH_CPU_WIDE: u32 = 15;

const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_SWITCH_OUT: u16 = 1 << 13;
const MISC_SWITCH_OUT_PREEMPT: u16 = 1 << 14;
const HEADER: usize = 8;
const TRAILER: usize = 32;

/// Returns the time of a record without parsing the rest; `None` if the record is too short.
#[must_use]
pub fn time(record: &[u8]) -> Option<u64> {
    let (kind, _) = header(record)?;
    let at = if kind == SAMPLE { HEADER + 16 } else { record.len().checked_sub(TRAILER)? + 8 };
    Fields::new(record.get(at..)?).u64()
}

/// Parses one record, header included. `layout` returns the contents of an event's samples; a sample of an unknown
/// event is `Other`.
pub fn parse<'a>(record: &'a [u8], layout: impl FnOnce(u64) -> Option<Layout>) -> Option<(Stamp, Record<'a>)> {
    let (kind, misc) = header(record)?;
    if kind == SAMPLE {
        return sample(record.get(HEADER..)?, misc, layout);
    }
    let (body, trailer) = record.get(HEADER..)?.split_at_checked(record.len().checked_sub(HEADER + TRAILER)?)?;
    let stamp = trailing_stamp(&mut Fields::new(trailer))?;
    let mut fields = Fields::new(body);
    let record = match kind {
        MMAP2 => Record::Mapping(mapping(&mut fields)?),
        COMM => comm(&mut fields, misc)?,
        FORK => Record::Fork(lineage(&mut fields)?),
        EXIT => Record::Exit(lineage(&mut fields)?),
        LOST => {
            fields.u64()?;
            Record::Lost(fields.u64()?)
        }
        LOST_SAMPLES => Record::Lost(fields.u64()?),
        THROTTLE => Record::Throttle,
        SWITCH | SWITCH_CPU_WIDE if misc & MISC_SWITCH_OUT == 0 => Record::SwitchIn,
        SWITCH | SWITCH_CPU_WIDE => Record::SwitchOut { preempted: misc & MISC_SWITCH_OUT_PREEMPT != 0 },
        _ => Record::Other,
    };
    Some((stamp, record))
}

fn header(record: &[u8]) -> Option<(u32, u16)> {
    let mut fields = Fields::new(record);
    let kind = fields.u32()?;
    let word = fields.u32()?;
    Some((kind, if cfg!(target_endian = "little") { word as u16 } else { (word >> 16) as u16 }))
}

fn trailing_stamp(fields: &mut Fields<'_>) -> Option<Stamp> {
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    let (time, id) = (fields.u64()?, fields.u64()?);
    Some(Stamp { pid, tid, time, id, cpu: fields.u32()? })
}

fn sample<'a>(body: &'a [u8], misc: u16, layout: impl FnOnce(u64) -> Option<Layout>) -> Option<(Stamp, Record<'a>)> {
    let mut fields = Fields::new(body);
    let ip = fields.u64()?;
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    let (time, id) = (fields.u64()?, fields.u64()?);
    let cpu = fields.u32()?;
    fields.u32()?;
    let period = fields.u64()?;
    let stamp = Stamp { pid, tid, time, id, cpu };
    let Some(layout) = layout(id) else { return Some((stamp, Record::Other)) };
    let chain = if layout.chain { fields.counted_words(1)? } else { Words::default() };
    let raw = if layout.raw { fields.raw()? } else { &[] };
    let branches = if layout.branches { fields.counted_words(3)? } else { Words::default() };
    let (wide, registers) = if layout.registers > 0 { fields.registers(layout.registers)? } else { Default::default() };
    let stack = if layout.stack_bytes > 0 { fields.stack()? } else { &[] };
    let mode = match misc & 7 {
        1 => Mode::Kernel,
        2 => Mode::User,
        _ => Mode::Other,
    };
    Some((stamp, Record::Sample(Sample { ip, period, mode, chain, raw, branches, registers, wide, stack })))
}

fn mapping<'a>(fields: &mut Fields<'a>) -> Option<Mapping<'a>> {
    let pid = fields.u32()?;
    fields.u32()?;
    let (start, length, offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let device = (fields.u32()?, fields.u32()?);
    let inode = fields.u64()?;
    // Inode generation, protection and flags.
    fields.take(16)?;
    Some(Mapping { pid, start, length, offset, device, inode, path: fields.string() })
}

fn comm<'a>(fields: &mut Fields<'a>, misc: u16) -> Option<Record<'a>> {
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    Some(Record::Comm { pid, tid, exec: misc & MISC_COMM_EXEC != 0, name: fields.string() })
}

fn lineage(fields: &mut Fields<'_>) -> Option<Lineage> {
    let (pid, parent_pid) = (fields.u32()?, fields.u32()?);
    let (tid, parent_tid) = (fields.u32()?, fields.u32()?);
    Some(Lineage { pid, tid, parent_pid, parent_tid })
}

/// Takes fields off the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Fields(bytes)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8).map(|b| u64::from_ne_bytes(std::array::from_fn(|i| b[i])))
    }

    fn counted_words(&mut self, each: usize) -> Option<Words<'a>> {
        let count = usize::try_from(self.u64()?).ok()?;
        self.take(count.checked_mul(8 * each)?).map(Words)
    }

    fn raw(&mut self) -> Option<&'a [u8]> {
        let size = self.u32()? as usize;
        self.take(size)
    }

    /// The ABI (0: no registers, 2: 64 bits), then one word per bit of the mask.
    fn registers(&mut self, mask: u64) -> Option<(bool, Words<'a>)> {
        match self.u64()? {
            0 => Some((false, Words::default())),
            abi => Some((abi == 2, Words(self.take(mask.count_ones() as usize * 8)?))),
        }
    }

    /// The reserved size, that many bytes, and how many of them the kernel filled.
    fn stack(&mut self) -> Option<&'a [u8]> {
        let reserved = usize::try_from(self.u64()?).ok()?;
        if reserved == 0 {
            return Some(&[]);
        }
        let bytes = self.take(reserved)?;
        let filled = usize::try_from(self.u64()?).ok()?;
        bytes.get(..filled)
    }

    /// The rest up to the first zero byte.
    fn string(&self) -> &'a [u8] {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
pub(crate) mod fake {
    //! Records as the kernel would write them, for the tests of all readers of the ring.

    use super::*;

    /// A record of `kind` with `body`, followed by `stamp`.
    pub fn record(kind: u32, misc: u16, body: &[u8], stamp: Stamp) -> Vec<u8> {
        let mut bytes = body.to_vec();
        bytes.resize(body.len().next_multiple_of(8), 0);
        bytes.extend(words32(&[stamp.pid, stamp.tid]));
        bytes.extend(words64(&[stamp.time, stamp.id, u64::from(stamp.cpu)]));
        framed(kind, misc, &bytes)
    }

    /// A sample with `tail` after the common prefix.
    pub fn sample(misc: u16, ip: u64, period: u64, stamp: Stamp, tail: &[u8]) -> Vec<u8> {
        let mut bytes = words64(&[ip]);
        bytes.extend(words32(&[stamp.pid, stamp.tid]));
        bytes.extend(words64(&[stamp.time, stamp.id, u64::from(stamp.cpu), period]));
        bytes.extend(tail);
        framed(SAMPLE, misc, &bytes)
    }

    /// An MMAP2 record.
    pub fn mapping(start: u64, length: u64, offset: u64, inode: u64, path: &str, stamp: Stamp) -> Vec<u8> {
        let mut body = words32(&[stamp.pid, stamp.tid]);
        body.extend(words64(&[start, length, offset]));
        body.extend(words32(&[8, 1]));
        body.extend(words64(&[inode, 0, 5]));
        body.extend(path.as_bytes());
        body.push(0);
        record(MMAP2, 2, &body, stamp)
    }

    /// A COMM record.
    pub fn comm(name: &str, exec: bool, stamp: Stamp) -> Vec<u8> {
        let mut body = words32(&[stamp.pid, stamp.tid]);
        body.extend(name.as_bytes());
        body.push(0);
        record(COMM, if exec { MISC_COMM_EXEC } else { 0 }, &body, stamp)
    }

    /// A FORK record of the child, stamped by its parent.
    pub fn fork(pid: u32, tid: u32, parent: Stamp) -> Vec<u8> {
        record(FORK, 0, &lineage_body(pid, tid, parent), parent)
    }

    /// An EXIT record.
    pub fn exit(stamp: Stamp) -> Vec<u8> {
        record(EXIT, 0, &lineage_body(stamp.pid, stamp.tid, stamp), stamp)
    }

    /// A LOST record.
    pub fn lost(count: u64, stamp: Stamp) -> Vec<u8> {
        record(LOST, 0, &words64(&[stamp.id, count]), stamp)
    }

    /// A SWITCH record of a task put on the CPU.
    pub fn switch_in(stamp: Stamp) -> Vec<u8> {
        record(SWITCH, 0, &[], stamp)
    }

    /// A SWITCH record of a task that leaves the CPU.
    pub fn switch_out(preempted: bool, stamp: Stamp) -> Vec<u8> {
        let preempt = if preempted { MISC_SWITCH_OUT_PREEMPT } else { 0 };
        record(SWITCH, MISC_SWITCH_OUT | preempt, &[], stamp)
    }

    /// 64-bit words as bytes.
    pub fn words64(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// 32-bit words as bytes.
    pub fn words32(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn lineage_body(pid: u32, tid: u32, parent: Stamp) -> Vec<u8> {
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

    const STAMP: Stamp = Stamp { pid: 41, tid: 42, time: 7_000, id: 99, cpu: 3 };

    fn read(record: &[u8], layout: Layout) -> Option<(Stamp, Record<'_>)> {
        parse(record, |id| (id == 99).then_some(layout))
    }

    #[test]
    fn a_sample_with_everything_is_split_at_the_right_places() {
        let layout = Layout { chain: true, raw: true, branches: true, registers: 0b111, stack_bytes: 16 };
        let mut tail = words64(&[2, 0xaa, 0xbb]);
        tail.extend(words32(&[4, 0xfeed]));
        tail.extend(words64(&[1, 10, 20, 30]));
        tail.extend(words64(&[2, 1, 2, 3]));
        tail.extend(words64(&[16, 0x11, 0x22, 8]));
        let bytes = fake::sample(2, 0x400, 1003, STAMP, &tail);
        let Some((stamp, Record::Sample(sample))) = read(&bytes, layout) else { panic!("not a sample") };
        assert_eq!((stamp, time(&bytes)), (STAMP, Some(7_000)));
        assert_eq!((sample.ip, sample.period, sample.mode, sample.wide), (0x400, 1003, Mode::User, true));
        assert_eq!(sample.chain.iter().collect::<Vec<_>>(), [0xaa, 0xbb]);
        assert_eq!(sample.raw, 0xfeedu32.to_ne_bytes());
        assert_eq!(sample.branches.iter().collect::<Vec<_>>(), [10, 20, 30]);
        assert_eq!(sample.registers.iter().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(sample.stack, 0x11u64.to_ne_bytes());
    }

    #[test]
    fn a_kernel_thread_has_neither_registers_nor_stack() {
        let layout = Layout { registers: 0b111, stack_bytes: 16, ..Layout::default() };
        let bytes = fake::sample(1, 0x400, 1, STAMP, &words64(&[0, 0]));
        let Some((_, Record::Sample(sample))) = read(&bytes, layout) else { panic!("not a sample") };
        assert!(sample.registers == Words::default() && sample.stack.is_empty() && sample.mode == Mode::Kernel);
    }

    #[test]
    fn side_band_records_say_who_and_what() {
        let lineage = Lineage { pid: 50, tid: 51, parent_pid: 41, parent_tid: 42 };
        let table = [
            (fake::comm("redis", true, STAMP), Record::Comm { pid: 41, tid: 42, exec: true, name: b"redis" }),
            (fake::fork(50, 51, STAMP), Record::Fork(lineage)),
            (fake::lost(12, STAMP), Record::Lost(12)),
            (fake::switch_in(STAMP), Record::SwitchIn),
            (fake::switch_out(false, STAMP), Record::SwitchOut { preempted: false }),
            (fake::switch_out(true, STAMP), Record::SwitchOut { preempted: true }),
            (fake::record(SWITCH_CPU_WIDE, 0, &words32(&[1, 2]), STAMP), Record::SwitchIn),
            (
                fake::record(SWITCH_CPU_WIDE, MISC_SWITCH_OUT, &words32(&[1, 2]), STAMP),
                Record::SwitchOut { preempted: false },
            ),
            (fake::record(THROTTLE, 0, &words64(&[1, 2, 3]), STAMP), Record::Throttle),
            (
                fake::mapping(0x1000, 0x2000, 0x40, 77, "/usr/bin/x", STAMP),
                Record::Mapping(Mapping {
                    pid: 41,
                    start: 0x1000,
                    length: 0x2000,
                    offset: 0x40,
                    device: (8, 1),
                    inode: 77,
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
        let layout = Layout { chain: true, raw: true, branches: true, registers: 0b111, stack_bytes: 16 };
        let mut tail = words64(&[1, 0xaa]);
        tail.extend(words32(&[4, 1]));
        tail.extend(words64(&[0, 2, 1, 2, 3, 8, 0x11, 8]));
        for whole in [fake::sample(2, 1, 1, STAMP, &tail), fake::mapping(1, 2, 3, 4, "/x", STAMP)] {
            assert!(read(&whole, layout).is_some());
            for cut in 0..whole.len() {
                let _ = (read(&whole[..cut], layout), time(&whole[..cut]));
            }
        }
        for lie in [u64::MAX, 1 << 40, 3] {
            let bytes = fake::sample(2, 1, 1, STAMP, &words64(&[lie]));
            assert_eq!(read(&bytes, Layout { chain: true, ..Layout::default() }), None);
        }
    }
}
