//! Reads the target's threads in turn within a budget of CPU time, so that thousands of them do not make a tick
//! expensive. Threads beyond the budget are read at the next tick; values are cumulative, so nothing is lost.

use super::cache::TickTiming;
use super::thread::{COUNTERS, Counts, KernelAccounting, Outcome, Thread};
use crate::model::{Event, Scope};
use crate::sys::clock;
use crate::sys::procfs::{Scratch, TaskDir};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many threads are read between two checks of the budget.
const BATCH: usize = 16;

/// A thread: the group whose directory contains its files (a process, or 0 for the whole machine), and its id.
pub(super) type ThreadKey = (u32, u32);

/// Limits of the reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many thread files may be held open.
    pub open_files: usize,
    /// A thread born before this moment (ticks since boot) already had counts when it was first seen.
    pub opened_ticks: u64,
}

/// The threads of the target.
#[derive(Debug)]
pub(super) struct Threads {
    groups: FxHashMap<u32, TaskDir>,
    known: FxHashMap<ThreadKey, Thread>,
    totals: Counts,
    round: Vec<ThreadKey>,
    next: usize,
    open_files: usize,
    accounting: KernelAccounting,
    limits: Limits,
    scratch: Scratch,
}

impl Threads {
    /// Starts empty. Until [`Threads::opened`] is called, every thread counts from when it is first seen.
    pub(super) fn new(accounting: KernelAccounting, open_files: usize) -> Threads {
        Threads {
            groups: FxHashMap::default(),
            known: FxHashMap::default(),
            totals: [None; COUNTERS.len()],
            round: Vec::new(),
            next: 0,
            open_files: 0,
            accounting,
            limits: Limits { open_files, opened_ticks: u64::MAX },
            scratch: Scratch::default(),
        }
    }

    /// From now on a thread born after `ticks` since boot counts from its birth.
    pub(super) fn opened(&mut self, ticks: u64) {
        self.limits.opened_ticks = ticks;
    }

    /// Adds a group's directory.
    pub(super) fn add_group(&mut self, group: u32, dir: TaskDir) {
        self.groups.insert(group, dir);
    }

    /// Drops a group with its threads; what they counted stays in the totals.
    pub(super) fn remove_group(&mut self, group: u32) {
        self.groups.remove(&group);
        self.forget(|place| place.0 == group);
    }

    /// Number of threads known to be alive.
    pub(super) fn alive(&self) -> usize {
        self.known.len()
    }

    /// The living threads.
    pub(super) fn places(&self) -> Vec<ThreadKey> {
        self.known.keys().copied().collect()
    }

    /// The living thread that used the most CPU time, and that time in nanoseconds.
    pub(super) fn busiest(&self) -> Option<(ThreadKey, u64)> {
        let used = self.known.iter().map(|(place, thread)| (*place, thread.values()[0].unwrap_or(0)));
        // The oldest of equals: what was started, not what that has started.
        used.max_by_key(|&(place, cpu)| (cpu, std::cmp::Reverse(place)))
    }

    /// Number of living threads per group.
    pub(super) fn alive_by_group(&self) -> FxHashMap<u32, usize> {
        let mut alive = FxHashMap::default();
        self.known.keys().for_each(|place| *alive.entry(place.0).or_default() += 1);
        alive
    }

    /// Sums over all threads since the capture began, ended ones included. An ended thread keeps its last reading: its
    /// last partial interval is missing, and so is a thread that lived only between two rounds.
    pub(super) fn totals(&self) -> &Counts {
        &self.totals
    }

    /// Whether every thread has been read since the round began.
    pub(super) fn round_is_over(&self) -> bool {
        self.next >= self.round.len()
    }

    /// Begins a round. Each group comes with its threads, or with `None` if they are unchanged.
    pub(super) fn begin_round(&mut self, groups: Vec<(u32, Option<Vec<u32>>)>) {
        let unchanged: FxHashSet<u32> =
            groups.iter().filter(|(_, tids)| tids.is_none()).map(|&(group, _)| group).collect();
        let mut round: FxHashSet<ThreadKey> =
            self.known.keys().filter(|place| unchanged.contains(&place.0)).copied().collect();
        for (group, tids) in groups {
            round.extend(tids.into_iter().flatten().map(|tid| (group, tid)));
        }
        self.forget(|place| !round.contains(&place));
        self.round.clear();
        self.round.extend(round);
        self.round.sort_unstable();
        self.next = 0;
    }

    /// Continues the round until it is over or `budget` of CPU time is used, and reports what changed.
    pub(super) fn advance(&mut self, budget: Nanos, now: TickTiming, out: &mut Vec<Event>) -> Progress {
        let start = clock::thread_cpu();
        let mut progress = Progress::default();
        while self.next < self.round.len() {
            let batch = self.round.len().min(self.next + BATCH);
            for index in self.next..batch {
                let place = self.round[index];
                match self.visit(place, now, out) {
                    Outcome::Ran => progress.ran.push(place),
                    Outcome::Ended => progress.ended.push(place),
                    Outcome::Idle => {}
                }
            }
            self.next = batch;
            if clock::thread_cpu() - start >= budget {
                break;
            }
        }
        progress
    }

    /// Reads another file of a thread.
    pub(super) fn file(&mut self, place: ThreadKey, name: &str) -> Option<&[u8]> {
        self.groups.get(&place.0)?.read(place.1, name, &mut self.scratch)
    }

    fn visit(&mut self, place: ThreadKey, now: TickTiming, out: &mut Vec<Event>) -> Outcome {
        let Some(dir) = self.groups.get(&place.0) else { return Outcome::Ended };
        let met = !self.known.contains_key(&place);
        // Readings are discarded while the baseline is taken, and a thread's first one is not repeated.
        let is_open = self.limits.opened_ticks != u64::MAX;
        let thread = self.known.entry(place).or_default();
        let before = thread.values();
        let kept = thread.keeps_a_file();
        let outcome =
            thread.read(dir, place.1, self.open_files < self.limits.open_files, self.accounting, &mut self.scratch);
        self.open_files += usize::from(!kept && thread.keeps_a_file());
        match outcome {
            Outcome::Ended => self.forget(|known| known == place),
            // Births are known to a tick, so a birth within that tick counts as later.
            Outcome::Ran if met && thread.start_ticks.saturating_add(1) < self.limits.opened_ticks => {
                thread.baseline = thread.counts;
                add(&mut self.totals, &[None; COUNTERS.len()], &thread.values());
            }
            Outcome::Ran => {
                add(&mut self.totals, &before, &thread.values());
                if is_open {
                    thread.say(Scope::Thread(place.1), now, out);
                }
            }
            // Once: a thread that never ran is known to be idle, which differs from never having been read.
            Outcome::Idle if is_open && !thread.has_spoken() => thread.say(Scope::Thread(place.1), now, out),
            Outcome::Idle => {}
        }
        outcome
    }

    fn forget(&mut self, gone: impl Fn(ThreadKey) -> bool) {
        let open_files = &mut self.open_files;
        self.known.retain(|&place, thread| {
            let keep = !gone(place);
            *open_files -= usize::from(!keep && thread.keeps_a_file());
            keep
        });
    }
}

/// What one call of [`Threads::advance`] found.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Threads that had run since they were last read.
    pub ran: Vec<ThreadKey>,
    /// Threads that have ended.
    pub ended: Vec<ThreadKey>,
}

/// Adds the growth of each part to its total; a counter becomes known with its first part.
fn add(totals: &mut Counts, before: &Counts, after: &Counts) {
    for ((total, before), after) in totals.iter_mut().zip(before).zip(after) {
        if let Some(after) = after {
            let grown = after.saturating_sub(before.unwrap_or(0));
            *total = Some(total.unwrap_or(0).saturating_add(grown));
        }
    }
}
