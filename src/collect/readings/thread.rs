//! Reads one thread's counters as cheaply as the kernel allows: `schedstat` always, the rest only if the thread ran.

use super::cache::{ReadingCache, TickTiming};
use super::split::Split;
use crate::collect::catalog;
use crate::model::{CounterId, Event, Scope};
use crate::sys::procfs::{self, SchedStat, Scratch, TaskDir, TaskFile};

/// The counters of a thread, in the order of [`Counts`].
pub(super) const COUNTERS: [CounterId; 11] = [
    catalog::TASK_CLOCK,
    catalog::USER_TIME,
    catalog::SYSTEM_TIME,
    catalog::MINOR_FAULTS,
    catalog::MAJOR_FAULTS,
    catalog::RUN_DELAY,
    catalog::TIMESLICES,
    catalog::VOLUNTARY_SWITCHES,
    catalog::INVOLUNTARY_SWITCHES,
    catalog::MIGRATIONS,
    catalog::BLKIO_DELAY,
];

/// How many of them are more accurate per process than as the sum of its threads: these come first.
pub(super) const KNOWN_PER_PROCESS: usize = 5;

/// Values since the thread's birth; `None` if this kernel does not count them.
pub(super) type Counts = [Option<u64>; COUNTERS.len()];

/// What this kernel offers, detected once.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelAccounting {
    /// Length of a clock tick, nanoseconds.
    pub tick_ns: u64,
    /// Whether block I/O wait time is accounted; `None` if only a value above zero can show it.
    pub delay_accounting: Option<bool>,
}

/// A followed thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Birth, which distinguishes it from a later thread with the same id; 0 until it first ran.
    pub start_ticks: u64,
    /// Values before the capture; zero for one born later.
    pub baseline: Counts,
    /// Values as last read.
    pub counts: Counts,
    cache: ReadingCache,
    sched: Option<SchedStat>,
    split: Split,
    kept: Option<TaskFile>,
}

/// Result of reading a thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has not run since the last reading.
    Idle,
    /// It ran: its counts are new.
    Ran,
    /// It has ended.
    Ended,
}

impl Thread {
    /// Reads the thread. With `keep` its first file stays open, which makes the next read six times cheaper.
    pub(super) fn read(
        &mut self,
        dir: &TaskDir,
        tid: u32,
        keep: bool,
        accounting: KernelAccounting,
        scratch: &mut Scratch,
    ) -> Outcome {
        if keep && self.kept.is_none() {
            self.kept = dir.keep(tid, "schedstat", scratch);
        }
        let text = match &self.kept {
            Some(file) => file.read(scratch),
            None => dir.read(tid, "schedstat", scratch),
        };
        let sched = text.and_then(procfs::sched_stat);
        if self.kept.is_some() && sched.is_none() {
            return Outcome::Ended;
        }
        if sched.is_some() && sched == self.sched {
            return Outcome::Idle;
        }
        // A kernel without schedstat omits this file: then only `stat` shows whether the thread exists.
        let Some(stat) = dir.read(tid, "stat", scratch).and_then(procfs::task_stat) else { return Outcome::Ended };
        if self.start_ticks != 0 && self.start_ticks != stat.start_ticks {
            return Outcome::Ended;
        }
        let (user, system) = (stat.user_ticks[0], stat.system_ticks[0]);
        self.start_ticks = stat.start_ticks;
        let clock =
            sched.map_or(user.saturating_add(system).saturating_mul(accounting.tick_ns), |sched| sched.on_cpu_ns);
        self.split.update(clock, user, system);
        let waited = accounting.delay_accounting.unwrap_or(stat.blkio_ticks > 0);
        let blkio = waited.then(|| stat.blkio_ticks.saturating_mul(accounting.tick_ns));
        let (minor, major) = (stat.minor_faults[0], stat.major_faults[0]);
        let [voluntary, involuntary, migrations] = switches(dir, tid, scratch);
        self.counts = [
            Some(clock),
            Some(self.split.user),
            Some(self.split.system),
            Some(minor),
            Some(major),
            sched.map(|sched| sched.run_delay_ns),
            sched.map(|sched| sched.timeslices),
            voluntary,
            involuntary,
            migrations,
            blkio,
        ];
        self.sched = sched;
        Outcome::Ran
    }

    /// Whether one of its files is held open.
    pub(super) fn keeps_a_file(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether anything has been reported for it.
    pub(super) fn has_spoken(&self) -> bool {
        !self.cache.is_empty()
    }

    /// Its values since the capture began.
    pub(super) fn values(&self) -> Counts {
        let since = |(count, baseline): (&Option<u64>, &Option<u64>)| {
            count.map(|count| count.saturating_sub(baseline.unwrap_or(0)))
        };
        let mut values = self.counts;
        values.iter_mut().zip(self.counts.iter().zip(&self.baseline)).for_each(|(value, pair)| *value = since(pair));
        values
    }

    /// Reports the values that changed.
    pub(super) fn say(&mut self, scope: Scope, now: TickTiming, out: &mut Vec<Event>) {
        for (counter, value) in COUNTERS.into_iter().zip(self.values()) {
            if let Some(value) = value {
                self.cache.sum(scope, counter, value, now, out);
            }
        }
    }
}

/// `sched` contains all three counts; where the kernel omits it, `status` still has two.
fn switches(dir: &TaskDir, tid: u32, scratch: &mut Scratch) -> [Option<u64>; 3] {
    let details = dir.read(tid, "sched", scratch).map(procfs::sched_details).unwrap_or_default();
    if details.voluntary.is_some() {
        return [details.voluntary, details.involuntary, details.migrations];
    }
    let counts = dir.read(tid, "status", scratch).and_then(procfs::switches);
    [counts.map(|(voluntary, _)| voluntary), counts.map(|(_, involuntary)| involuntary), details.migrations]
}
