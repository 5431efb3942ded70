//! Reads the threads in rounds, each window as many as its budget allows, and follows births and ends.

use super::cache::TickTiming;
use super::threads::Progress;
use super::{Members, Readings};
use crate::model::{Event, Note};
use crate::sys::procfs::{self, TaskDir};
use crate::sys::{cgroupfs, clock};
use crate::units::Nanos;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// Share of an interval that reading the threads may take, as a divisor: 5%.
const THREAD_BUDGET: u64 = 20;

impl Readings {
    /// Adds a process started by one of the target's, as the sampler learns of it. Has no effect if the target does not
    /// follow children or the process is already known.
    pub fn follow(&mut self, pid: u32) {
        let Members::Processes(processes) = &mut self.members else { return };
        if processes.follows_children() && processes.add(pid, self.opened_ticks) {
            self.watch_threads_of(pid);
        }
    }

    pub(super) fn add(&mut self, pid: u32) {
        let Members::Processes(processes) = &mut self.members else { return };
        if processes.add(pid, self.opened_ticks) {
            self.watch_threads_of(pid);
        }
    }

    fn watch_threads_of(&mut self, pid: u32) {
        if let Ok(dir) = TaskDir::of_process(&self.proc, pid) {
            self.threads.add_group(pid, dir);
        }
    }

    /// `fresh`: whether the processes have just been read.
    pub(super) fn read_threads(&mut self, span: Nanos, fresh: bool, now: TickTiming, out: &mut Vec<Event>) {
        // All later readings are compared with the first one, so it covers every thread.
        let budget = if span.0 == 0 { Nanos(u64::MAX) } else { Nanos(span.0 / THREAD_BUDGET) };
        let start = clock::thread_cpu();
        if self.threads.round_is_over() {
            self.begin_round(fresh);
        }
        let progress = self.threads.advance(budget - (clock::thread_cpu() - start), now, out);
        self.note_progress(&progress);
    }

    pub(super) fn note_late_rounds(&mut self) {
        self.late_ticks = if self.threads.round_is_over() { 0 } else { self.late_ticks + 1 };
        if self.late_ticks == 2 && !self.notes.iter().any(|note| note.topic == "threads-in-turn") {
            self.notes.push(Note {
                topic: "threads-in-turn".to_string(),
                text: format!(
                    "{} threads are too many to read each within 5% of an interval: they are read in turn, each every \
                     few intervals. Values are cumulative, so nothing is lost by it",
                    self.threads.alive()
                ),
                fix: Some("Use a longer --interval.".to_string()),
            });
        }
    }

    pub(super) fn begin_round(&mut self, fresh: bool) {
        let groups = match &mut self.members {
            Members::Processes(processes) => {
                let known = self.threads.alive_by_group();
                let listing = |(pid, threads): (u32, u32)| {
                    let unchanged = fresh && known.get(&pid) == Some(&(threads as usize));
                    (pid, if unchanged { None } else { Some(self.proc.threads(pid).unwrap_or_default()) })
                };
                processes.alive().map(listing).collect()
            }
            Members::Threads(tids) => vec![(0, Some(tids.clone()))],
            // A removed group has no members.
            Members::Groups(paths) => {
                let threads = paths.iter().flat_map(|path| cgroupfs::threads(path).unwrap_or_default());
                vec![(0, Some(threads.collect()))]
            }
            Members::Nobody => Vec::new(),
        };
        self.threads.begin_round(groups);
    }

    /// Reads the groups that limit the target's threads, if that is due.
    pub(super) fn read_limits(&mut self, at: Nanos) {
        let Some(limiting) = self.limiting.as_mut().filter(|limiting| limiting.is_due(at)) else { return };
        limiting.read(at, || {
            let mut texts = FxHashSet::default();
            let mut places = self.threads.places();
            if let Members::Processes(processes) = &self.members {
                // Threads of one that has just begun have not been read.
                places.extend(processes.alive().map(|(pid, _)| (pid, pid)));
            }
            for place in places {
                let text = self.threads.file(place, "cgroup").map(String::from_utf8_lossy);
                texts.extend(text.filter(|text| !texts.contains(text.as_ref())).map(Cow::into_owned));
            }
            texts
        });
    }

    /// A process of the target executed a program, mostly right after it was moved to another group, or was
    /// given other conditions.
    pub fn executed(&mut self, at: Nanos) {
        self.read_limits(at);
        self.read_conditions_now(at);
    }

    /// Drops ended threads, because their ids may be reused, and adds processes started by threads that ran.
    pub(super) fn note_progress(&mut self, progress: &Progress) {
        match &mut self.members {
            Members::Threads(tids) => tids.retain(|&tid| !progress.ended.contains(&(0, tid))),
            Members::Processes(processes) if processes.follows_children() => {
                for &place in &progress.ran {
                    let children: Vec<u32> = self
                        .threads
                        .file(place, "children")
                        .map(|text| procfs::children(text).collect())
                        .unwrap_or_default();
                    children.into_iter().for_each(|pid| self.add(pid));
                }
            }
            _ => {}
        }
    }

    /// Estimates thread time from the threads alive at both ends of the window. This approximates their births and
    /// ends, which the stream also contains unless records were lost.
    pub(super) fn count_thread_time(&mut self, span: Nanos) {
        let (before, now) = (self.alive_before, self.alive());
        self.alive_before = now;
        // A target that has ended did so at the window's end, or the window would have ended before.
        let alive = if now == 0 { before as f64 } else { (before + now) as f64 / 2.0 };
        self.thread_time += alive * span.as_f64();
    }

    pub(super) fn refresh_processes(&mut self) {
        let Members::Processes(processes) = &mut self.members else { return };
        for pid in processes.refresh() {
            self.threads.remove_group(pid);
        }
    }

    fn alive(&self) -> usize {
        match &self.members {
            Members::Processes(processes) => processes.alive().map(|(_, threads)| threads as usize).sum(),
            _ => self.threads.alive(),
        }
    }
}
