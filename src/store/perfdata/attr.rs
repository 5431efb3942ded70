//! The attributes of an event (`perf_event_attr`), which determine the layout of all its records.
//! Unknown kinds of events are accepted, because their records can still be read.

use crate::abi::Cursor;

/// Bits of `sample_type` (`PERF_SAMPLE_*`) that affect the layout of a record.
pub(super) mod sample {
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const BRANCH_STACK: u64 = 1 << 11;
    pub const REGS_USER: u64 = 1 << 12;
    pub const STACK_USER: u64 = 1 << 13;
    pub const WEIGHT: u64 = 1 << 14;
    pub const DATA_SRC: u64 = 1 << 15;
    pub const IDENTIFIER: u64 = 1 << 16;
    pub const TRANSACTION: u64 = 1 << 17;
    pub const REGS_INTR: u64 = 1 << 18;
    pub const PHYS_ADDR: u64 = 1 << 19;
    pub const CGROUP: u64 = 1 << 21;
    pub const WEIGHT_STRUCT: u64 = 1 << 24;
}

/// Bits of `read_format` (`PERF_FORMAT_*`).
pub(super) mod read {
    pub const ENABLED: u64 = 1 << 0;
    pub const RUNNING: u64 = 1 << 1;
    pub const ID: u64 = 1 << 2;
    pub const GROUP: u64 = 1 << 3;
    pub const LOST: u64 = 1 << 4;
}

/// Bits of `branch_sample_type` (`PERF_SAMPLE_BRANCH_*`).
mod branch {
    pub const CALL_STACK: u64 = 1 << 11;
    pub const HW_INDEX: u64 = 1 << 17;
    pub const COUNTERS: u64 = 1 << 19;
}

/// Bits of the flags.
mod flag {
    pub const INHERIT: u64 = 1 << 1;
    pub const EXCLUDE_USER: u64 = 1 << 4;
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub const EXCLUDE_HV: u64 = 1 << 6;
    pub const FREQ: u64 = 1 << 10;
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub const EXCLUDE_HOST: u64 = 1 << 19;
    pub const EXCLUDE_GUEST: u64 = 1 << 20;
}

/// The size of the first published `perf_event_attr`; no shorter one exists.
pub(super) const SMALLEST: usize = 64;

/// The attributes an event was opened with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attr {
    /// `PERF_TYPE_*` or a PMU's number.
    pub kind: u32,
    /// What to count.
    pub config: u64,
    /// Extension of `config`.
    pub config1: u64,
    /// Extension of `config`.
    pub config2: u64,
    /// Events per sample, or samples per second.
    pub rate: u64,
    /// Bytes of user stack copied per sample.
    pub stack_bytes: u32,
    /// Contents of samples (`PERF_SAMPLE_*`).
    pub sample: u64,
    /// Layout of counter values (`PERF_FORMAT_*`).
    pub read: u64,
    /// User registers in samples.
    pub registers: u64,
    /// Registers at the interrupt in samples.
    pub interrupted_registers: u64,
    /// Branches in samples (`PERF_SAMPLE_BRANCH_*`).
    pub branches: u64,
    /// The flags, in the bit order of a little-endian machine.
    pub flags: u64,
}

impl Attr {
    /// Parses the fields that exist in a structure of `bytes`' length.
    pub(super) fn parse(bytes: &[u8], big: bool) -> Option<Attr> {
        let mut cursor = Cursor::new(bytes, big);
        let kind = cursor.u32()?;
        cursor.skip(4)?;
        let (config, rate, sample, read) = (cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let flags = flags(cursor.u64()?, big);
        cursor.skip(8)?;
        let config1 = cursor.u64()?;
        let mut attr = Attr { kind, config, config1, rate, sample, read, flags, ..Attr::default() };
        let mut later = || {
            attr.config2 = cursor.u64()?;
            attr.branches = cursor.u64()?;
            attr.registers = cursor.u64()?;
            attr.stack_bytes = cursor.u32()?;
            // The clock.
            cursor.skip(4)?;
            attr.interrupted_registers = cursor.u64()?;
            Some(())
        };
        // Later fields were added one by one; an older file ends before them, and they stay zero.
        let _ = later();
        Some(attr)
    }

    /// Whether samples carry the counts of the whole group.
    #[must_use]
    pub fn reads_group(&self) -> bool {
        self.sample & sample::READ != 0 && self.read & read::GROUP != 0
    }

    /// Whether the counts in samples are those of the sampled thread alone, although the event follows new threads
    /// (kernel 6.13 and later; earlier ones refuse it).
    #[must_use]
    pub fn reads_by_thread(&self) -> bool {
        self.flags & flag::INHERIT != 0 && self.sample & sample::READ != 0
    }

    /// Whether `rate` is samples per second.
    #[must_use]
    pub fn is_frequency(&self) -> bool {
        self.flags & flag::FREQ != 0
    }

    /// `precise_ip`, 0 to 3.
    #[must_use]
    pub fn precise(&self) -> u8 {
        (self.flags >> 15 & 3) as u8
    }

    /// Excluded modes: user, kernel, hypervisor, guest, host.
    #[must_use]
    pub fn excludes(&self) -> [bool; 5] {
        [flag::EXCLUDE_USER, flag::EXCLUDE_KERNEL, flag::EXCLUDE_HV, flag::EXCLUDE_GUEST, flag::EXCLUDE_HOST]
            .map(|bit| self.flags & bit != 0)
    }

    /// Whether samples carry a call chain.
    #[must_use]
    pub fn has_chain(&self) -> bool {
        self.sample & sample::CALLCHAIN != 0
    }

    /// Whether samples carry the user's registers and stack bytes.
    #[must_use]
    pub fn has_stack(&self) -> bool {
        self.sample & sample::STACK_USER != 0 && self.sample & sample::REGS_USER != 0
    }

    /// Whether samples carry branch records.
    #[must_use]
    pub fn has_branches(&self) -> bool {
        self.sample & sample::BRANCH_STACK != 0
    }

    /// Whether these branch records are the hardware's call stack, not just any branches taken.
    #[must_use]
    pub fn has_call_stack(&self) -> bool {
        self.has_branches() && self.branches & branch::CALL_STACK != 0
    }

    pub(super) fn has_branch_index(&self) -> bool {
        self.branches & branch::HW_INDEX != 0
    }

    pub(super) fn has_branch_counters(&self) -> bool {
        self.branches & branch::COUNTERS != 0
    }

    /// Whether records other than samples end with a stamp (task, time, ids, CPU).
    pub(super) fn stamps_all(&self) -> bool {
        self.flags & flag::SAMPLE_ID_ALL != 0
    }

    /// Offset of a sample's event id from its start.
    pub(super) fn id_in_sample(&self) -> Option<usize> {
        self.place(
            &[sample::IP, sample::TID, sample::TIME, sample::ADDR],
            self.sample & sample::IDENTIFIER != 0,
            self.sample & sample::ID != 0,
        )
    }

    /// Offset of another record's event id from its end.
    pub(super) fn id_from_end(&self) -> Option<usize> {
        if !self.stamps_all() {
            return None;
        }
        if self.sample & sample::IDENTIFIER != 0 {
            return Some(8);
        }
        (self.sample & sample::ID != 0).then(|| self.words(&[sample::ID, sample::STREAM_ID, sample::CPU]))
    }

    /// Bytes of the stamp at the end of records other than samples.
    pub(super) fn stamp_bytes(&self) -> usize {
        let fields = [sample::TID, sample::TIME, sample::ID, sample::STREAM_ID, sample::CPU, sample::IDENTIFIER];
        if self.stamps_all() { self.words(&fields) } else { 0 }
    }

    /// Offset of a sample's time from its start, or of the place where it would be.
    pub(super) fn time_in_sample(&self) -> usize {
        // A sample without a time still has what follows it, e.g. the CPU.
        self.words(&[sample::IDENTIFIER, sample::IP, sample::TID])
    }

    fn place(&self, before: &[u64], first: bool, there: bool) -> Option<usize> {
        if first { Some(0) } else { there.then(|| self.words(before)) }
    }

    /// Bytes taken by those of the fields that are present.
    fn words(&self, fields: &[u64]) -> usize {
        fields.iter().filter(|field| self.sample & **field != 0).count() * 8
    }
}

/// The flags are bit fields, which compilers for big-endian machines allocate from the other end.
fn flags(word: u64, big: bool) -> u64 {
    if !big {
        return word;
    }
    let turned = word.reverse_bits();
    // The only two-bit field is moved as a whole, but its bits keep their order.
    let (low, high) = (turned >> 15 & 1, turned >> 16 & 1);
    turned & !(3 << 15) | low << 16 | high << 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_fields_that_are_there() {
        let attr = |sample, flags| Attr { sample, flags, ..Attr::default() };
        let plain = attr(sample::IP | sample::TID | sample::TIME | sample::ID | sample::CPU, flag::SAMPLE_ID_ALL);
        assert_eq!((plain.id_in_sample(), plain.time_in_sample()), (Some(24), 16));
        assert_eq!((plain.id_from_end(), plain.stamp_bytes()), (Some(16), 32));
        let first = attr(sample::IDENTIFIER | sample::IP | sample::TIME, flag::SAMPLE_ID_ALL);
        assert_eq!((first.id_in_sample(), first.id_from_end(), first.time_in_sample()), (Some(0), Some(8), 16));
        let bare = attr(sample::IP, 0);
        assert_eq!((bare.id_in_sample(), bare.id_from_end(), bare.stamp_bytes()), (None, None, 0));
    }

    #[test]
    fn flags_of_a_big_endian_file_are_bits_from_the_other_end() {
        let big = |bit: u32| 1u64 << (63 - bit);
        assert_eq!(flags(big(5) | big(18), true), flag::EXCLUDE_KERNEL | flag::SAMPLE_ID_ALL);
        // precise_ip = 1: its lower bit is the field's last.
        let precise = Attr { flags: flags(big(16), true), ..Attr::default() };
        assert_eq!(precise.precise(), 1);
    }

    #[test]
    fn a_structure_of_the_first_length_is_read_and_a_shorter_one_is_not() {
        let mut bytes = vec![0; SMALLEST];
        bytes[8] = 7;
        assert_eq!(Attr::parse(&bytes, false).map(|attr| (attr.config, attr.stack_bytes)), Some((7, 0)));
        assert_eq!(Attr::parse(&bytes[..SMALLEST - 1], false), None);
    }
}
