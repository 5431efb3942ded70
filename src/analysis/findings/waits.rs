//! Off-CPU time by reason, thread and call path, as rules need it: waits for another thread's lock, for its signal, for
//! storage, for others. A wait in a lock's system call is not assumed to be for a lock: idle threads wait there too.

use super::Place;
use super::families::{bare, is_allocator};
use super::limits::SHORT_WAIT;
use super::paths::{WaitReason, lock_taker, lock_wait_reason};
use super::sleepers::{Sleepers, wait_path};
use super::stacks::Paths;
use crate::analysis::LockCalls;
use crate::analysis::causes::Cause;
use crate::analysis::names::{Function, Names};
use crate::analysis::offcpu::{WaitAge, each, kernel};
use crate::analysis::profile_tree::TRUNCATED;
use crate::analysis::selection::{Axis, Selection};
use crate::analysis::tasks::Tasks;
use crate::analysis::text::name;
use crate::analysis::wait_coverage::WaitCoverage;
use crate::model::profile::Profile;
use crate::model::{LockCode, OffCpu, StackEnd, StackId, TaskState};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The waits of one reason.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum {
    /// Their number, and their total in seconds.
    pub count: u64,
    pub seconds: f64,
    /// The same for short waits.
    pub short_count: u64,
    pub short_seconds: f64,
    /// Seconds of waits without a recorded wake-up: they include run-queue time.
    without_wakeup: f64,
}

/// Waits of one thread for one reason with one call path, given by labels from the root.
#[derive(Debug)]
struct StackSamples {
    reason: WaitReason,
    cause: Cause,
    pid: u32,
    tid: u32,
    incomplete: bool,
    /// Whether the memory allocator waits.
    in_allocator: bool,
    /// Whether it waits for space in a pipe that is full.
    fills_pipe: bool,
    path: Vec<u32>,
    sum: Sum,
}

/// Part of the waits of the one that waits most often from which a thread sleeps as often as others at a place. [P]
const AS_OFTEN: f64 = 0.1;

/// Part of the time for which the one that waits longest for the allocator does, from which a thread waits for it too. [P]
const AS_LONG: f64 = 0.1;

/// What a thread has waited in since before the capture.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierWait {
    pub pid: u32,
    pub reason: WaitReason,
    pub cause: Cause,
    /// Within the selection.
    pub seconds: f64,
    pub age: WaitAge,
}

impl EarlierWait {
    /// Whether no idle thread waits like that.
    pub fn is_stuck(&self) -> bool {
        matches!(self.reason, WaitReason::Lock | WaitReason::Allocator | WaitReason::MmapLock | WaitReason::Storage)
    }
}

/// What the one who has a lock is blocked in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HoldersWait {
    pub cause: Cause,
    pub seconds: f64,
    /// Whether most of that is for space in a pipe.
    pub fills_pipe: bool,
}

/// What may block a thread that has a lock, other than another one.
const HOLDERS: [Cause; 4] = [Cause::Pipe, Cause::Network, Cause::BlockIo, Cause::Sleep];
/// Part of the time for which a lock is waited for, by each waiter, from which the wait of its holder is why. [P]
const HOLDING: f64 = 0.5;

/// Part of the time for which others run, from which a thread waits meanwhile for its turn. [P]
const TURNS: f64 = 0.1;

/// How threads wait for each other and for what is outside the program, as seconds of short waits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MutualWaits {
    /// For signals of other threads.
    pub signalled: f64,
    /// The number of threads that wait so.
    pub waiters: usize,
    /// For what is outside, of threads that wait longer for that than for other threads: they may bring work to these.
    pub outside: f64,
    /// The same of all others: what they have taken meanwhile others cannot have.
    pub holding: f64,
}

/// All waits of a selection.
#[derive(Debug)]
pub(super) struct Waits<'a> {
    rows: Vec<StackSamples>,
    earlier: FxHashMap<u32, EarlierWait>,
    paths: Paths<'a>,
    /// Number of off-CPU spans.
    pub spans: u64,
    /// Seconds of spans without a recorded wake-up: they include run-queue time.
    without_wakeup: f64,
    /// Seconds of run-queue time that spans record separately.
    queued: f64,
    /// The squares of these waits for a CPU, summed.
    queued_squares: f64,
    /// How much of the blocked time has a known cause.
    pub coverage: WaitCoverage,
}

impl<'a> Waits<'a> {
    /// The waits of a selection, given the locks that were found in the code.
    pub fn of(
        profile: &Profile,
        names: &'a Names,
        tasks: &Tasks,
        selection: &Selection,
        locks: &LockCode,
    ) -> Waits<'a> {
        let mut known: FxHashMap<(Option<StackId>, Cause), WaitReason> = FxHashMap::default();
        let mut sums: FxHashMap<_, Sum> = FxHashMap::default();
        let (mut spans, mut without_wakeup, mut queued, mut queued_squares) = (0, 0.0, 0.0, 0.0);
        let mut coverage = WaitCoverage::default();
        let mut earlier: FxHashMap<u32, EarlierWait> = FxHashMap::default();
        each(profile, names, tasks, selection, |span, seen, cause| {
            spans += span.count;
            coverage.add(span, seen.weight);
            let delay = seen.queued as f64 * 1e-9;
            queued += delay;
            queued_squares += delay * delay / span.count.max(1) as f64;
            if span.queued.is_none() {
                without_wakeup += seen.weight as f64 * 1e-9;
            }
            if span.state == TaskState::Runnable {
                return;
            }
            let reason =
                *known.entry((span.stack, cause)).or_insert_with(|| reason(profile, names, span, cause, locks));
            if let Some(age) = WaitAge::of(span) {
                let known = EarlierWait { pid: span.pid, reason, cause, seconds: 0.0, age };
                let known = earlier.entry(span.tid).or_insert(known);
                known.seconds += seen.weight as f64 * 1e-9;
                known.age = known.age.max(age);
            }
            let incomplete = matches!(seen.end, StackEnd::Truncated | StackEnd::Broken);
            let sum = sums.entry((reason, cause, span.pid, span.tid, incomplete, span.stack)).or_default();
            sum.add(span.count, seen.weight as f64 * 1e-9, span.queued.is_some());
        });
        let rows: Vec<_> = sums
            .into_iter()
            .map(|((reason, cause, pid, tid, incomplete, stack), sum)| {
                let path = wait_path(profile, names, stack, locks);
                let mut calls = names.walk(profile, stack).map(|call| &names.functions[call.function as usize]);
                let in_allocator = calls.any(is_allocator);
                let fills_pipe = cause == Cause::Pipe && fills_pipe(profile, names, stack);
                StackSamples { reason, cause, pid, tid, incomplete, in_allocator, fills_pipe, path, sum }
            })
            .collect();
        let paths = Paths::of(names, tasks, rows.iter().map(|row| row.pid), Axis::OffCpu);
        Waits { rows, earlier, paths, spans, without_wakeup, queued, queued_squares, coverage }
    }

    /// All waits for one of these reasons.
    pub fn sum(&self, reasons: &[WaitReason]) -> Sum {
        let mut sum = Sum::default();
        self.rows.iter().filter(|row| reasons.contains(&row.reason)).for_each(|row| sum.join(&row.sum));
        sum
    }

    /// Whether locks of the memory allocator are most of what is waited for with locks.
    pub fn mostly_allocator(&self) -> bool {
        let mut seconds = [0.0; 2];
        for row in self.rows.iter().filter(|row| row.reason == WaitReason::Lock) {
            seconds[usize::from(row.in_allocator)] += row.sum.seconds;
        }
        seconds[1] > seconds[0]
    }

    /// The number of threads that wait for locks of the memory allocator, without those that hardly do.
    pub fn allocator_waiters(&self) -> usize {
        let mut threads: FxHashMap<u32, f64> = FxHashMap::default();
        for row in self.rows.iter().filter(|row| row.reason == WaitReason::Lock && row.in_allocator) {
            *threads.entry(row.tid).or_default() += row.sum.seconds;
        }
        let most = threads.values().copied().fold(0.0, f64::max);
        threads.values().filter(|seconds| **seconds > 0.0 && **seconds >= most * AS_LONG).count()
    }

    /// Whether most of the time for which threads wait for sockets and pipes is for space in a pipe.
    pub fn fill_pipes(&self) -> bool {
        let mut seconds = [0.0; 2];
        for row in self.rows.iter().filter(|row| row.reason == WaitReason::Peer) {
            seconds[usize::from(row.fills_pipe)] += row.sum.seconds;
        }
        seconds[1] > seconds[0]
    }

    /// How threads wait for each other, without those that hardly ran.
    pub fn mutual(&self, parked: &FxHashSet<u32>) -> MutualWaits {
        let mut threads: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
        for row in self.rows.iter().filter(|row| !parked.contains(&row.tid)) {
            let (signalled, outside) = threads.entry(row.tid).or_default();
            match row.reason {
                WaitReason::Signal => *signalled += row.sum.short_seconds,
                WaitReason::Peer | WaitReason::Storage | WaitReason::Other => *outside += row.sum.short_seconds,
                WaitReason::Lock | WaitReason::Allocator | WaitReason::MmapLock | WaitReason::Join => {}
            }
        }
        let mut sum = MutualWaits::default();
        for (signalled, outside) in threads.into_values() {
            sum.signalled += signalled;
            sum.waiters += usize::from(signalled > 0.0);
            let part = if outside > signalled { &mut sum.outside } else { &mut sum.holding };
            *part += outside;
        }
        sum
    }

    /// Whether a thread waits for its turn where the others wait most for other threads: there for a good part of the time for
    /// which they run, in seconds. So it is for what one has at a time, however long it keeps that; who is last at a barrier,
    /// and who makes what others take, waits elsewhere or not at all.
    pub fn takes_turns(&self, tid: u32, others_run: f64) -> bool {
        let mut places: FxHashMap<(u32, &[u32]), [f64; 2]> = FxHashMap::default();
        let counts = |row: &&StackSamples| matches!(row.reason, WaitReason::Lock | WaitReason::Signal);
        for row in self.rows.iter().filter(counts) {
            places.entry((row.pid, &row.path)).or_default()[usize::from(row.tid == tid)] += row.sum.short_seconds;
        }
        let most = places.into_iter().max_by(|(a, [x, _]), (b, [y, _])| x.total_cmp(y).then_with(|| b.cmp(a)));
        most.is_some_and(|(_, [others, own])| others > others_run && own > others_run * TURNS)
    }

    /// The threads that have waited since before the capture.
    pub fn earlier(&self) -> impl Iterator<Item = (u32, &EarlierWait)> {
        self.earlier.iter().map(|(tid, wait)| (*tid, wait))
    }

    /// Where one thread waited most.
    pub fn place_of(&self, tid: u32) -> Option<Place> {
        self.most(|row| row.tid == tid, false)
    }

    /// Seconds blocked for this reason, and the rest of its waits: run-queue time that no wake-up tells apart, if threads queued
    /// for `queued` seconds altogether.
    pub fn blocked(&self, reason: WaitReason, queued: f64) -> (f64, f64) {
        let sum = self.sum(&[reason]);
        let hidden = (queued - self.queued).clamp(0.0, self.without_wakeup);
        let rest = if hidden > 0.0 { sum.without_wakeup * hidden / self.without_wakeup } else { 0.0 };
        (sum.seconds - rest, rest)
    }

    /// The number of equal waits for a CPU that would vary as much as these; `None` where they are not most of `queued` seconds.
    pub fn queue_moments(&self, queued: f64) -> Option<f64> {
        (self.queued >= queued / 2.0 && self.queued > 0.0).then(|| self.queued * self.queued / self.queued_squares)
    }

    /// The call path with the most time blocked for these reasons, down to the function that requested the wait. With
    /// `only_short`, only short waits count.
    pub fn worst(&self, reasons: &[WaitReason], only_short: bool) -> Option<Place> {
        self.most(|row| reasons.contains(&row.reason), only_short)
    }

    /// The threads that go to sleep for these reasons, by the place where they do.
    pub fn sleepers(&self, reasons: &[WaitReason]) -> Vec<Sleepers> {
        let mut groups: BTreeMap<(WaitReason, &[u32]), Sleepers> = BTreeMap::new();
        let counts = |row: &&StackSamples| {
            reasons.contains(&row.reason) && matches!(row.cause, Cause::Lock | Cause::Events) && !row.path.is_empty()
        };
        for row in self.rows.iter().filter(counts) {
            let (pid, incomplete) = (row.pid, row.incomplete);
            let none = || Sleepers { path: row.path.clone(), threads: FxHashMap::default(), count: 0, pid, incomplete };
            let group = groups.entry((row.reason, &row.path)).or_insert_with(none);
            *group.threads.entry(row.tid).or_default() += row.sum.count;
        }
        let mut groups: Vec<Sleepers> = groups.into_values().collect();
        for group in &mut groups {
            let most = group.threads.values().copied().max().unwrap_or(0) as f64;
            group.threads.retain(|_, count| *count as f64 >= most * AS_OFTEN);
            group.count = group.threads.values().sum();
        }
        groups
    }

    /// Where these threads sleep.
    pub fn place_of_sleepers(&self, group: &Sleepers) -> Place {
        self.paths.place(group.pid, group.incomplete, &group.path, group.threads.clone())
    }

    /// What the one who has the lock that threads wait for most is blocked in itself, if that is why they wait.
    pub fn holders_wait(&self) -> Option<HoldersWait> {
        type Blocked = (f64, FxHashSet<u32>);
        let mut paths: FxHashMap<(u32, &[u32]), Blocked> = FxHashMap::default();
        for row in self.rows.iter().filter(|row| row.reason == WaitReason::Lock) {
            let (seconds, threads) = paths.entry((row.pid, &row.path)).or_default();
            *seconds += row.sum.seconds;
            threads.insert(row.tid);
        }
        let most = paths.into_iter().max_by(|(a, (x, _)), (b, (y, _))| x.total_cmp(y).then_with(|| b.cmp(a)));
        let ((pid, path), (locked, threads)) = most?;
        // The function that takes the lock may end in a call that has no frame of its caller's.
        let caller = path.split_last().map_or(path, |(_, caller)| caller);
        let is_within = |row: &&StackSamples| row.pid == pid && (row.path.starts_with(path) || row.path == caller);
        let mut causes: FxHashMap<(Cause, bool), Blocked> = FxHashMap::default();
        for row in self.rows.iter().filter(|row| HOLDERS.contains(&row.cause)).filter(is_within) {
            let (seconds, threads) = causes.entry((row.cause, row.fills_pipe)).or_default();
            *seconds += row.sum.seconds;
            threads.insert(row.tid);
        }
        let most = causes.into_iter().max_by(|(a, (x, _)), (b, (y, _))| x.total_cmp(y).then_with(|| b.cmp(a)));
        let ((cause, fills_pipe), (seconds, holders)) = most?;
        // Of so many threads one has the lock and the others wait for it.
        let enough = seconds >= HOLDING * locked / threads.len().max(2).saturating_sub(1) as f64;
        (enough && holders.iter().any(|tid| threads.contains(tid))).then_some(HoldersWait {
            cause,
            seconds,
            fills_pipe,
        })
    }

    fn most(&self, counts: impl Fn(&StackSamples) -> bool, only_short: bool) -> Option<Place> {
        type Branch = (f64, FxHashMap<u32, u64>);
        let mut branches: FxHashMap<(u32, bool, &[u32]), Branch> = FxHashMap::default();
        for row in self.rows.iter().filter(|row| counts(row)) {
            let seconds = if only_short { row.sum.short_seconds } else { row.sum.seconds };
            let branch = branches.entry((row.pid, row.incomplete, &row.path)).or_default();
            branch.0 += seconds;
            *branch.1.entry(row.tid).or_default() += (seconds * 1e9) as u64;
        }
        let worst = branches.into_iter().filter(|(_, (seconds, _))| *seconds > 0.0);
        let worst = worst.max_by(|(a, (x, _)), (b, (y, _))| x.total_cmp(y).then_with(|| b.cmp(a)));
        worst.map(|((pid, incomplete, path), (_, by_thread))| self.paths.place(pid, incomplete, path, by_thread))
    }
}

impl Sum {
    fn add(&mut self, count: u64, seconds: f64, has_wakeup: bool) {
        self.count += count;
        self.seconds += seconds;
        self.without_wakeup += if has_wakeup { 0.0 } else { seconds };
        if seconds < SHORT_WAIT * count as f64 {
            self.short_count += count;
            self.short_seconds += seconds;
        }
    }

    fn join(&mut self, other: &Sum) {
        self.count += other.count;
        self.seconds += other.seconds;
        self.short_count += other.short_count;
        self.short_seconds += other.short_seconds;
        self.without_wakeup += other.without_wakeup;
    }

    /// The mean length, seconds; 0 without any.
    pub fn mean(&self) -> f64 {
        self.seconds / self.count.max(1) as f64
    }
}

/// Whether the stack waits in a write to a pipe, by the kernel's function, or by the system call and its file where only these
/// are known.
fn fills_pipe(profile: &Profile, names: &Names, stack: Option<StackId>) -> bool {
    let (mut writes, mut pipe) = (false, false);
    kernel(profile, names, stack).map(|call| bare(names.text(call.label))).any(|name| {
        writes |= name.starts_with("sys_write");
        pipe |= name == "on a pipe";
        name.contains("pipe_write") || (writes && pipe)
    })
}

fn reason(profile: &Profile, names: &Names, span: &OffCpu, cause: Cause, locks: &LockCode) -> WaitReason {
    match cause {
        Cause::BlockIo => WaitReason::Storage,
        Cause::Network | Cause::Pipe => WaitReason::Peer,
        Cause::Lock => {
            let mut path: Vec<&Function> =
                names.walk(profile, span.stack).map(|call| &names.functions[call.function as usize]).collect();
            path.reverse();
            let reason = lock_wait_reason(&path);
            let takes = || lock_taker(&path, LockCalls::of(profile, names, locks, span.stack)).is_some();
            if reason == WaitReason::Signal && takes() { WaitReason::Lock } else { reason }
        }
        Cause::Sleep | Cause::RunQueue | Cause::Events | Cause::Other | Cause::Unknown => WaitReason::Other,
    }
}

/// The end of a sentence on waits: the function below which most of them are; empty for a place without frames.
pub(super) fn mostly_below(place: Option<&Place>) -> String {
    let innermost = place.and_then(|place| place.frames.last()).filter(|frame| *frame != TRUNCATED);
    innermost.map_or(String::new(), |frame| format!(", most of it below {}", name(frame)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn a_holder_that_waits_is_why_others_wait_for_its_lock_if_it_waits_for_most_of_that_time() {
        const LOCK: &str = "app!work;app!log_line;pthread_mutex_lock;[kernel]!futex_wait";
        let found = |written: u64, stack: &str| {
            let mut synthetic = Synthetic::new();
            for tid in [41, 42, 43] {
                synthetic.alive(tid, "app").off_cpu(0, tid, TaskState::Sleeping, 100, Some(0), LOCK);
                synthetic.off_cpu(200, tid, TaskState::Sleeping, written, Some(0), stack);
            }
            let mut profile = synthetic.finish();
            profile.off_cpu = profile.off_cpu.iter().map(|span| OffCpu { pid: 41, ..span }).collect();
            let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
            let waits = Waits::of(&profile, &names, &tasks, &Selection::default(), &LockCode::default());
            waits.holders_wait().map(|wait| (wait.cause, (wait.seconds * 1e3).round() as u64, wait.fills_pipe))
        };
        let write = "app!work;app!log_line;/lib/libc.so.6!write;[kernel]!pipe_write";
        assert_eq!(found(50, write), Some((Cause::Pipe, 150, true)));
        assert_eq!(found(20, write), None, "others have it while they work");
        let tail = "app!work;/lib/libc.so.6!fflush;/lib/libc.so.6!write;[kernel]!pipe_write";
        assert_eq!(found(50, tail), Some((Cause::Pipe, 150, true)), "the taker's frame is gone");
        let read = "app!work;app!log_line;/lib/libc.so.6!read;[kernel]!pipe_read";
        assert_eq!(found(50, read), Some((Cause::Pipe, 150, false)), "of a pipe that is empty");
        assert_eq!(found(50, "app!main;app!read_input;/lib/libc.so.6!read;[kernel]!pipe_read"), None, "elsewhere");
    }

    #[test]
    fn locks_of_the_allocator_are_told_from_others_with_those_who_wait() {
        const MALLOC: &str =
            "app!main;app!serve;/lib/libc.so.6!malloc;/lib/libc.so.6!__lll_lock_wait_private;[kernel]!futex_wait";
        const OTHER: &str = "app!main;app!serve;pthread_mutex_lock;[kernel]!futex_wait";
        for (row, expected) in [
            ((100, 0, 10), (true, 1)),
            ((100, 0, 200), (false, 1)),
            ((100, 50, 10), (true, 2)),
            ((100, 5, 10), (true, 1)),
            ((0, 0, 10), (false, 0)),
        ] {
            let (first, second, other) = row;
            let mut synthetic = Synthetic::new();
            for (tid, length, stack) in [(41, first, MALLOC), (42, second, MALLOC), (43, other, OTHER)] {
                if length > 0 {
                    synthetic.off_cpu(0, tid, TaskState::Sleeping, length, Some(0), stack);
                }
            }
            let profile = synthetic.finish();
            let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
            let waits = Waits::of(&profile, &names, &tasks, &Selection::default(), &LockCode::default());
            assert_eq!((waits.mostly_allocator(), waits.allocator_waiters()), expected, "{row:?}");
        }
    }

    #[test]
    fn only_a_write_waits_for_space_in_a_pipe() {
        for (kernel, expected) in [
            ("[kernel]!sys_write;[kernel]!pipe_write", true),
            ("[kernel]!sys_write;[kernel]!anon_pipe_write;[kernel]!schedule", true),
            ("[kernel]!sys_write;[kernel]!on a pipe", true),
            ("[kernel]!sys_read;[kernel]!on a pipe", false),
            ("[kernel]!sys_read;[kernel]!pipe_read", false),
            ("[kernel]!sys_write;[kernel]!tty_write;[kernel]!n_tty_write", false),
            ("[kernel]!sys_recvfrom;[kernel]!unix_stream_read_generic", false),
        ] {
            let mut synthetic = Synthetic::new();
            synthetic.off_cpu(0, 41, TaskState::Sleeping, 50, Some(0), &format!("app!main;{kernel}"));
            let profile = synthetic.finish();
            let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
            let waits = Waits::of(&profile, &names, &tasks, &Selection::default(), &LockCode::default());
            assert_eq!(waits.fill_pipes(), expected, "{kernel}");
        }
    }

    #[test]
    fn time_in_the_queue_that_no_wake_up_tells_apart_is_not_blocked() {
        let mut synthetic = Synthetic::new();
        synthetic
            .off_cpu(0, 41, TaskState::Sleeping, 200, None, "app!main;pthread_mutex_lock;[kernel]!futex_wait")
            .off_cpu(250, 41, TaskState::Sleeping, 100, None, "app!main;[kernel]!pipe_read")
            .off_cpu(400, 41, TaskState::Sleeping, 100, Some(50), "app!main;pthread_mutex_lock;[kernel]!futex_wait")
            .off_cpu(600, 41, TaskState::Runnable, 0, Some(50), "app!main");
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let waits = Waits::of(&profile, &names, &tasks, &Selection::default(), &LockCode::default());
        for (queued, expected) in [(0.0, 0.3), (0.1, 0.3), (0.25, 0.2), (9.0, 0.1)] {
            let (blocked, rest) = waits.blocked(WaitReason::Lock, queued);
            assert!((blocked - expected).abs() < 1e-9, "{queued} s in the queue: {blocked}");
            assert!((blocked + rest - 0.3).abs() < 1e-9, "{queued} s in the queue: {rest}");
        }
    }
}
