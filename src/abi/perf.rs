//! The parts of perf's records (`perf_event_open(2)`) that are the same in the ring and in a file: types, flags, and
//! every field whose place does not depend on the attributes of the event.

use super::cursor::{Cursor, Words};

/// Types of records (`PERF_RECORD_*`).
pub mod kind {
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
    pub const CGROUP: u32 = 19;
    /// First of perf's own types.
    pub const USER: u32 = 64;
}

/// Bits of a record's `misc` (`PERF_RECORD_MISC_*`); what they mean depends on the record.
pub mod misc {
    pub const COMM_EXEC: u16 = 1 << 13;
    pub const FORK_EXEC: u16 = 1 << 13;
    pub const SWITCH_OUT: u16 = 1 << 13;
    pub const SWITCH_OUT_PREEMPT: u16 = 1 << 14;
    pub const MMAP_BUILD_ID: u16 = 1 << 14;
}

/// Words of a call chain at the top of the address range, which mark whose addresses follow (`PERF_CONTEXT_*`).
pub mod context {
    /// The lowest marker.
    pub const MAX: u64 = -4095i64 as u64;
    pub const KERNEL: u64 = -128i64 as u64;
    pub const USER: u64 = -512i64 as u64;
}

/// The kernel cuts call chains that have more user frames (`perf_event_max_stack`).
pub const LONGEST_CHAIN: usize = 127;

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
    /// The mode in a record's `misc`.
    #[must_use]
    pub fn of(misc: u16) -> Mode {
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

/// Splits a call chain at its markers into the kernel's and the program's part, innermost first. Every address but the
/// first of each part is a return address; the address minus one lies within the call.
pub fn split_chain(chain: Words<'_>, mode: Mode, kernel: &mut Vec<u64>, user: &mut Vec<u64>) {
    kernel.clear();
    user.clear();
    let in_kernel = matches!(mode, Mode::Kernel | Mode::Hypervisor | Mode::GuestKernel);
    // Early kernels omitted the first marker.
    let mut into = Some(if in_kernel { &mut *kernel } else { &mut *user });
    for word in chain.iter() {
        match word {
            context::KERNEL => into = Some(&mut *kernel),
            context::USER => into = Some(&mut *user),
            context::MAX.. => into = None,
            address => {
                if let Some(part) = &mut into {
                    part.push(if part.is_empty() { address } else { address.wrapping_sub(1) });
                }
            }
        }
    }
}

/// A range of addresses that code is mapped to (`PERF_RECORD_MMAP`, `PERF_RECORD_MMAP2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmapRecord<'a> {
    /// The process; `u32::MAX` for the kernel's own.
    pub pid: u32,
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Offset in the file; for the kernel the address of its reference symbol.
    pub offset: u64,
    /// Device of the file, major and minor number; 0 where not recorded.
    pub device: (u32, u32),
    /// The inode of the file, where recorded.
    pub inode: Option<u64>,
    /// The build-id, where recorded.
    pub build_id: Option<&'a [u8]>,
    /// Path or name of the mapping, as the process sees it.
    pub path: &'a [u8],
    /// Processor mode of these addresses.
    pub mode: Mode,
}

impl<'a> MmapRecord<'a> {
    /// Parses the body of a record of this kind.
    pub fn parse(record: u32, misc: u16, cursor: &mut Cursor<'a>) -> Option<MmapRecord<'a>> {
        let pid = cursor.u32()?;
        cursor.skip(4)?;
        let (start, length, offset) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let (mut device, mut inode, mut build_id) = ((0, 0), None, None);
        if record == kind::MMAP2 {
            if misc & misc::MMAP_BUILD_ID != 0 {
                let length = usize::from(cursor.u8()?);
                cursor.skip(3)?;
                build_id = cursor.take(20)?.get(..length).filter(|id| !id.is_empty());
            } else {
                device = (cursor.u32()?, cursor.u32()?);
                inode = Some(cursor.u64()?).filter(|inode| *inode != 0);
                // Inode generation.
                cursor.skip(8)?;
            }
            // Protection and flags.
            cursor.skip(8)?;
        }
        let path = cursor.name();
        Some(MmapRecord { pid, start, length, offset, device, inode, build_id, path, mode: Mode::of(misc) })
    }

    /// The first address after the range; `None` if the range is empty or wraps.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.start.checked_add(self.length).filter(|end| *end > self.start)
    }
}

/// A task's new name (`PERF_RECORD_COMM`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommRecord<'a> {
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// The name.
    pub comm: &'a [u8],
    /// Whether the task executed another program.
    pub exec: bool,
}

impl<'a> CommRecord<'a> {
    /// Parses the body.
    pub fn parse(misc: u16, cursor: &mut Cursor<'a>) -> Option<CommRecord<'a>> {
        let (pid, tid) = (cursor.u32()?, cursor.u32()?);
        Some(CommRecord { pid, tid, comm: cursor.name(), exec: misc & misc::COMM_EXEC != 0 })
    }
}

/// A control group and the id that samples name it by (`PERF_RECORD_CGROUP`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CgroupRecord<'a> {
    /// Its id: the inode of its directory.
    pub id: u64,
    /// Its path from the root of the hierarchy.
    pub path: &'a [u8],
}

impl<'a> CgroupRecord<'a> {
    /// Parses the body.
    pub fn parse(cursor: &mut Cursor<'a>) -> Option<CgroupRecord<'a>> {
        Some(CgroupRecord { id: cursor.u64()?, path: cursor.name() })
    }
}

/// The birth or end of a task (`PERF_RECORD_FORK`, `PERF_RECORD_EXIT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRecord {
    /// Its process.
    pub pid: u32,
    /// Its thread.
    pub tid: u32,
    /// Process id of the parent.
    pub parent_pid: u32,
    /// Thread id of the parent.
    pub parent_tid: u32,
    /// Whether a new process does not inherit its parent's mappings: perf reports its own ones afterwards.
    pub own_mappings: bool,
}

impl TaskRecord {
    /// Parses the body.
    pub fn parse(misc: u16, cursor: &mut Cursor<'_>) -> Option<TaskRecord> {
        let (pid, parent_pid, tid, parent_tid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?);
        Some(TaskRecord { pid, tid, parent_pid, parent_tid, own_mappings: misc & misc::FORK_EXEC != 0 })
    }
}

/// User registers of a sample: a mask, and the values in the order of its bits. A kernel thread has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers<'a> {
    /// A bit for each register present.
    pub mask: u64,
    /// Their values.
    pub values: Words<'a>,
    /// Whether it was a 64-bit program.
    pub wide: bool,
}

impl<'a> Registers<'a> {
    /// Parses the ABI (0: no registers, 2: 64 bits), then one word per bit of the mask.
    pub fn parse(cursor: &mut Cursor<'a>, mask: u64) -> Option<Registers<'a>> {
        /// `PERF_SAMPLE_REGS_ABI_64`.
        const WIDE: u64 = 2;
        match cursor.u64()? {
            0 => Some(Registers::default()),
            abi => {
                Some(Registers { mask, values: cursor.take_words(u64::from(mask.count_ones()))?, wide: abi == WIDE })
            }
        }
    }

    /// The register with that number in perf's numbering (`PERF_REG_*`).
    #[must_use]
    pub fn get(&self, register: u32) -> Option<u64> {
        let bit = 1u64.checked_shl(register)?;
        let at = (self.mask & (bit - 1)).count_ones() as usize;
        if self.mask & bit != 0 { self.values.get(at) } else { None }
    }
}

/// The number of lost records in a record of this kind; `None` for any other.
pub fn lost(record: u32, cursor: &mut Cursor<'_>) -> Option<u64> {
    match record {
        kind::LOST => cursor.skip(8)?,
        kind::LOST_SAMPLES => {}
        _ => return None,
    }
    cursor.u64()
}

/// A counted list of entries of `words` words each: call chains and branch records.
pub fn counted<'a>(cursor: &mut Cursor<'a>, words: u64) -> Option<Words<'a>> {
    let count = cursor.u64()?;
    cursor.take_words(count.checked_mul(words)?)
}

/// The raw data of a tracepoint.
pub fn raw<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let size = cursor.u32()?;
    cursor.take_counted(u64::from(size))
}

/// The copied user stack from the stack pointer upwards, as many bytes as the kernel could copy: the reserved size,
/// that many bytes, and how many of them the kernel filled.
pub fn stack<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let reserved = cursor.u64()?;
    if reserved == 0 {
        return Some(&[]);
    }
    let bytes = cursor.take_counted(reserved)?;
    let filled = usize::try_from(cursor.u64()?).ok()?;
    Some(&bytes[..filled.min(bytes.len())])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn registers_are_found_by_their_number_and_a_kernel_thread_has_none() {
        let body = bytes(&[2, 0x7000, 0x1010]);
        let registers = Registers::parse(&mut Cursor::new(&body, false), 1 << 7 | 1 << 8).unwrap();
        assert_eq!([7, 8, 6, 64].map(|at| registers.get(at)), [Some(0x7000), Some(0x1010), None, None]);
        assert!(registers.wide);
        let body = bytes(&[0]);
        let none = Registers::parse(&mut Cursor::new(&body, false), 1 << 7).unwrap();
        assert_eq!((none.get(7), none), (None, Registers::default()));
        assert_eq!(Registers::parse(&mut Cursor::new(&bytes(&[2, 1]), false), 3), None, "one of two values");
    }

    #[test]
    fn counts_beyond_the_record_are_refused() {
        for count in [u64::MAX, 1 << 61, 3] {
            let body = bytes(&[count, 1, 2]);
            assert_eq!(counted(&mut Cursor::new(&body, false), 1), None, "{count} words");
            assert_eq!(stack(&mut Cursor::new(&bytes(&[count.max(24), 1]), false)), None, "{count} bytes of stack");
        }
        assert_eq!(stack(&mut Cursor::new(&bytes(&[8, 7, 99]), false)).unwrap().len(), 8, "filled beyond its size");
        assert_eq!(stack(&mut Cursor::new(&bytes(&[0]), false)), Some(&[][..]));
    }

    #[test]
    fn an_empty_or_wrapping_range_has_no_end() {
        for (start, length, end) in [(16, 16, Some(32)), (16, 0, None), (16, u64::MAX, None)] {
            let body = bytes(&[5, start, length, 0]);
            let mapping = MmapRecord::parse(kind::MMAP, 2, &mut Cursor::new(&body, false)).unwrap();
            assert_eq!(mapping.end(), end, "{length} bytes");
        }
    }

    #[test]
    fn losses_are_counted_in_the_two_records_that_have_them() {
        let count = |record| lost(record, &mut Cursor::new(&bytes(&[7, 12]), false));
        assert_eq!([kind::LOST, kind::LOST_SAMPLES, kind::COMM].map(count), [Some(12), Some(7), None]);
    }
}
