//! Parses the per-task files that are read every interval: `stat`, `schedstat`, `status`, `sched`, `children`.
//! The parsers borrow from the buffer and allocate nothing: they run for thousands of threads per second.

use super::{fields, number, parse};
use crate::units::Nanos;

/// `/proc/PID/stat` (whole process) or `/proc/PID/task/TID/stat` (one thread). Times are in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskStat<'a> {
    /// Process or thread id.
    pub id: u32,
    /// Its name as raw bytes: it may contain blanks, parentheses and line ends.
    pub comm: &'a [u8],
    /// State letter: `R`, `S`, `D`, `Z` ...
    pub state: u8,
    /// Parent process.
    pub parent: u32,
    /// Kernel flags (`PF_*`).
    pub flags: u32,
    /// Minor faults, and those of children that were waited for.
    pub minor_faults: [u64; 2],
    /// Major faults, likewise.
    pub major_faults: [u64; 2],
    /// User time, likewise.
    pub user_ticks: [u64; 2],
    /// Kernel time, likewise.
    pub system_ticks: [u64; 2],
    /// Threads alive.
    pub threads: u32,
    /// Start time, ticks since boot.
    pub start_ticks: u64,
    /// The CPU it last ran on; in `/proc/PID/stat` the leader's. `None` on kernels that do not report it.
    pub cpu: Option<u32>,
    /// Time waiting for block I/O; zero when delay accounting is off, and in `/proc/PID/stat` only the leader's.
    pub blkio_ticks: u64,
}

impl TaskStat<'_> {
    /// Whether it is a kernel thread (`PF_KTHREAD`).
    #[must_use]
    pub fn kernel_thread(&self) -> bool {
        self.flags & 0x0020_0000 != 0
    }

    /// Whether it has ended and waits for its parent to reap it.
    #[must_use]
    pub fn zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Parses `stat`; `None` for invalid text.
#[must_use]
pub fn task_stat(text: &[u8]) -> Option<TaskStat<'_>> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    // The name may contain parentheses itself, but the fields after it cannot: the last one closes it.
    let close = text.iter().rposition(|&byte| byte == b')').filter(|&close| close > open)?;
    let id = parse(&text[..open])?;
    let mut rest = fields(&text[close + 1..]);
    let state = *rest.next()?.first()?;
    let parent = number::<i64>(&mut rest).and_then(|parent| u32::try_from(parent).ok())?;
    let mut rest = rest.skip(4);
    let flags = number(&mut rest)?;
    let mut pair = || Some([number::<u64>(&mut rest)?, number::<u64>(&mut rest)?]);
    let (minor_faults, major_faults) = (pair()?, pair()?);
    let ([user, system], [child_user, child_system]) = (pair()?, pair()?);
    let mut rest = rest.skip(2);
    let threads = number(&mut rest)?;
    let start_ticks = number(&mut rest.by_ref().skip(1))?;
    let mut rest = rest.skip(16);
    let cpu = number(&mut rest);
    // Field 42; kernels without delay accounting print 0 there.
    let blkio_ticks = number(&mut rest.skip(2)).unwrap_or(0);
    Some(TaskStat {
        id,
        comm: &text[open + 1..close],
        state,
        parent,
        flags,
        minor_faults,
        major_faults,
        user_ticks: [user, child_user],
        system_ticks: [system, child_system],
        threads,
        start_ticks,
        cpu,
        blkio_ticks,
    })
}

/// `/proc/PID/task/TID/schedstat`; `/proc/PID/schedstat` covers the main thread alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU, nanoseconds.
    pub on_cpu_ns: u64,
    /// Time runnable but waiting for a CPU, nanoseconds.
    pub run_delay_ns: u64,
    /// Times it was put on a CPU.
    pub timeslices: u64,
}

/// Parses `schedstat`.
#[must_use]
pub fn sched_stat(text: &[u8]) -> Option<SchedStat> {
    let mut fields = fields(text);
    Some(SchedStat {
        on_cpu_ns: number(&mut fields)?,
        run_delay_ns: number(&mut fields)?,
        timeslices: number(&mut fields)?,
    })
}

/// Voluntary and involuntary context switches from `status`. They are its last lines, so the search runs backwards.
#[must_use]
pub fn switches(status: &[u8]) -> Option<(u64, u64)> {
    let value = |key: &[u8]| status.rsplit(|&byte| byte == b'\n').find_map(|line| parse(line.strip_prefix(key)?));
    Some((value(b"voluntary_ctxt_switches:")?, value(b"nonvoluntary_ctxt_switches:")?))
}

/// Counts from `/proc/PID/task/TID/sched`, one cheap file; each is `None` where this kernel omits the line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedDetails {
    /// Context switches because the thread blocked.
    pub voluntary: Option<u64>,
    /// Context switches because it was preempted.
    pub involuntary: Option<u64>,
    /// Migrations to another CPU.
    pub migrations: Option<u64>,
}

/// Parses `sched`. Its first line contains the thread's name, which is too short to imitate any of the keys.
#[must_use]
pub fn sched_details(text: &[u8]) -> SchedDetails {
    let mut details = SchedDetails::default();
    for line in text.split(|&byte| byte == b'\n') {
        let value = |key: &[u8]| parse(line.strip_prefix(key)?.trim_ascii_start().strip_prefix(b":")?);
        match line {
            [b's', ..] => details.migrations = details.migrations.or_else(|| value(b"se.nr_migrations")),
            [b'n', ..] => {
                details.voluntary = details.voluntary.or_else(|| value(b"nr_voluntary_switches"));
                details.involuntary = details.involuntary.or_else(|| value(b"nr_involuntary_switches"));
            }
            _ => {}
        }
    }
    details
}

/// When the thread last ran, from `/proc/PID/task/TID/sched`: on the clock of the CPU it ran on, which starts at boot and
/// leaves out what interrupts and the host take. `None` on a kernel that does not print it, and for a thread that was moved
/// to another CPU without running there: the kernel then forgets it.
#[must_use]
pub fn last_ran(sched: &[u8]) -> Option<Nanos> {
    let line = sched.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"se.exec_start"))?;
    let value = std::str::from_utf8(line).ok()?.trim_start().strip_prefix(':')?.trim();
    let (millis, nanos) = value.split_once('.')?;
    let (millis, nanos): (u64, u64) = (millis.parse().ok()?, nanos.parse().ok().filter(|_| nanos.len() == 6)?);
    Some(Nanos(millis.checked_mul(1_000_000)?.checked_add(nanos)?)).filter(|ran| ran.0 > 0)
}

/// Bytes a process read from and wrote to storage, from `/proc/PID/io`. Reads served from caches do not count.
#[must_use]
pub fn storage_bytes(io: &[u8]) -> Option<u64> {
    let value = |key: &[u8]| io.split(|&byte| byte == b'\n').find_map(|line| parse::<u64>(line.strip_prefix(key)?));
    Some(value(b"read_bytes:")?.saturating_add(value(b"write_bytes:")?))
}

/// Process ids in `/proc/PID/task/TID/children`.
pub fn children(text: &[u8]) -> impl Iterator<Item = u32> + '_ {
    fields(text).filter_map(parse)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TAIL: &[u8] =
        b" S 1 41 41 0 -1 4194304 99 7 3 2 11 12 13 14 20 0 5 0 390537 3133440 361 18446744073709551615 \
        1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 77 0 0 1 2 3 4 5 6 7 0\n";

    #[test]
    fn a_name_may_hold_blanks_parentheses_and_line_ends() {
        for name in ["cat", "a b", "x) S 1 (", ")", "(", "", "a\nb", "((sd-pam))"] {
            let text = [format!("41 ({name})").as_bytes(), TAIL].concat();
            let stat = task_stat(&text).unwrap();
            assert_eq!((stat.id, stat.comm), (41, name.as_bytes()), "{name:?}");
            assert_eq!((stat.state, stat.parent, stat.threads, stat.start_ticks), (b'S', 1, 5, 390_537), "{name:?}");
        }
    }

    #[test]
    fn own_values_and_those_of_ended_children_are_kept_apart() {
        let text = [b"41 (x)", TAIL].concat();
        let stat = task_stat(&text).unwrap();
        assert_eq!((stat.minor_faults, stat.major_faults), ([99, 7], [3, 2]));
        assert_eq!((stat.user_ticks, stat.system_ticks), ([11, 13], [12, 14]));
        assert_eq!((stat.cpu, stat.blkio_ticks), (Some(1), 77));
        assert!(!stat.kernel_thread() && !stat.zombie());
    }

    #[test]
    fn the_lines_of_status_and_sched_that_count_are_found() {
        let status = b"Name:\tvoluntary\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(switches(status), Some((17, 3)));
        assert_eq!(switches(b"Name:\tx\n"), None);
        let sched = b"cat (7, #threads: 1)\n----\nse.nr_migrations      :      12\nnr_switches : 4\n\
            nr_voluntary_switches    :   3\nnr_involuntary_switches  :     1\n";
        let expected = SchedDetails { voluntary: Some(3), involuntary: Some(1), migrations: Some(12) };
        assert_eq!(sched_details(sched), expected);
        assert_eq!(sched_details(b"cat (7, #threads: 1)\n"), SchedDetails::default());
        assert_eq!(children(b"12 13 \n").collect::<Vec<_>>(), [12, 13]);
    }

    #[test]
    fn storage_traffic_is_what_reached_storage() {
        let io =
            b"rchar: 9\nwchar: 9\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 5\n";
        assert_eq!(storage_bytes(io), Some(12_288));
        assert_eq!(storage_bytes(b"read_bytes: 4096\n"), None);
    }

    #[test]
    fn scheduler_times_need_all_three_fields() {
        let expected = SchedStat { on_cpu_ns: 1_139_693, run_delay_ns: 2_856_159, timeslices: 4 };
        assert_eq!(sched_stat(b"1139693 2856159 4\n"), Some(expected));
        for bad in ["", "1 2", "a b c", "-1 2 3", "99999999999999999999 1 1"] {
            assert_eq!(sched_stat(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn the_kernel_of_this_machine_is_understood() {
        let text = std::fs::read("/proc/self/stat").unwrap();
        let stat = task_stat(&text).unwrap();
        assert_eq!(stat.id, std::process::id());
        assert!(stat.threads >= 1 && stat.start_ticks > 0 && !stat.kernel_thread());
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (task_stat(&text), sched_stat(&text), switches(&text), sched_details(&text), storage_bytes(&text));
            let framed = [b"1 (", text.as_slice(), b") ", text.as_slice()].concat();
            let _ = (task_stat(&framed), children(&text).count());
        }
    }
}
