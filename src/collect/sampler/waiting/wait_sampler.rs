//! The sampling thread and its owner.

use super::causes_hidden;
use super::wait_sample::{STACK_BYTES, ThreadState, WaitFiles, WaitSample};
use crate::collect::sampler::follow::FollowedTasks;
use crate::collect::sampler::new_threads::threads_of;
use crate::error::{Context, Result};
use crate::model::Note;
use crate::sys::clock::{monotonic_ns, thread_cpu};
use crate::units::Nanos;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// All threads are sampled this often, if the budget allows.
const EVERY: Nanos = Nanos(2_500_000);
/// Share of one CPU that may be used, as a divisor.
const BUDGET: u64 = 100;
/// New threads are searched for this often, nanoseconds.
const LIST_EVERY: u64 = 50_000_000;
/// Number of threads whose files stay open: descriptors are few, and events need them too.
const KEPT_OPEN: usize = 64;
/// Samples that may wait for the drain thread; further ones are dropped, which only costs precision.
const BACKLOG: usize = 4096;

/// The sampled tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Watched {
    Processes(Vec<u32>),
    Threads(Vec<u32>),
}

/// State shared by the sampling thread and its owner.
#[derive(Debug)]
struct Shared {
    watched: Mutex<Watched>,
    stop: AtomicBool,
    refused: AtomicU64,
    taken: AtomicU64,
}

/// The sampling thread.
#[derive(Debug)]
pub struct WaitSampler {
    shared: Arc<Shared>,
    samples: Receiver<WaitSample>,
    next: Option<WaitSample>,
    thread: Option<JoinHandle<()>>,
}

impl WaitSampler {
    /// Starts the thread; with `stacks` user stacks are read too.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(follow: &FollowedTasks, stacks: bool) -> Result<WaitSampler> {
        let (sender, samples) = sync_channel(BACKLOG);
        let shared = Arc::new(Shared {
            watched: Mutex::new(watched(follow)),
            stop: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("waits".into()).spawn(move || own.run(stacks, &sender));
        Ok(WaitSampler { shared, samples, next: None, thread: Some(thread.context(|| "cannot start a thread")?) })
    }

    /// Updates the followed tasks.
    pub fn watch(&self, follow: &FollowedTasks) {
        *self.shared.watched.lock().unwrap_or_else(PoisonError::into_inner) = watched(follow);
    }

    /// The next sample that ended by `until`, on `CLOCK_MONOTONIC`; samples come in time order.
    pub fn next_until(&mut self, until: u64) -> Option<WaitSample> {
        if self.next.is_none() {
            self.next = self.samples.try_recv().ok();
        }
        self.next.take_if(|next| next.to <= until)
    }

    /// A note if more samples were refused than taken.
    pub fn note(&self) -> Option<Note> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.shared.refused) > count(&self.shared.taken)).then(causes_hidden)
    }
}

impl Drop for WaitSampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It ends within one sample; a panic there only costs samples.
            let _ = thread.join();
        }
    }
}

/// Only users who may sample the kernel can follow whole CPUs and control groups, and they see every switch.
fn watched(follow: &FollowedTasks) -> Watched {
    match follow {
        FollowedTasks::Processes { pids, .. } => Watched::Processes(pids.iter().copied().collect()),
        FollowedTasks::Threads(tids) => Watched::Threads(tids.iter().copied().collect()),
        FollowedTasks::Everything => Watched::Threads(Vec::new()),
    }
}

impl Shared {
    fn run(&self, stacks: bool, out: &SyncSender<WaitSample>) {
        let stack_bytes = if stacks { STACK_BYTES } else { 0 };
        let mut threads: Vec<WaitFiles> = Vec::new();
        let mut listed = 0;
        let mut random = monotonic_ns() | 1;
        while !self.stop.load(Ordering::Relaxed) {
            let before = thread_cpu();
            let now = monotonic_ns();
            if now - listed >= LIST_EVERY {
                self.list(&mut threads);
                listed = now;
            }
            threads.retain(|place| {
                let seen = place.look(stack_bytes);
                let has_ended = matches!(seen, ThreadState::Ended);
                let counter = match seen {
                    // The drain thread is behind: this sample is dropped.
                    ThreadState::Blocked(sample) => out.try_send(sample).ok().map(|()| &self.taken),
                    ThreadState::Refused => Some(&self.refused),
                    ThreadState::Running | ThreadState::Ended => None,
                };
                counter.map(|counter| counter.fetch_add(1, Ordering::Relaxed));
                !has_ended
            });
            std::thread::park_timeout(pause(thread_cpu() - before, &mut random));
        }
    }

    /// Adds new threads and drops those that have ended.
    fn list(&self, threads: &mut Vec<WaitFiles>) {
        let now: BTreeSet<u32> = self.threads().into_iter().collect();
        threads.retain(|place| now.contains(&place.tid()));
        let known: BTreeSet<u32> = threads.iter().map(WaitFiles::tid).collect();
        for tid in now.difference(&known) {
            threads.push(WaitFiles::new(*tid, threads.len() < KEPT_OPEN));
        }
    }

    fn threads(&self) -> Vec<u32> {
        match self.watched.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            Watched::Processes(pids) => pids.into_iter().flat_map(|pid| threads_of(Path::new("/"), pid)).collect(),
            Watched::Threads(tids) => tids,
        }
    }
}

/// How long to pause after this cost: within the budget, and out of step with the program's own timers.
fn pause(cost: Nanos, random: &mut u64) -> Duration {
    // Xorshift; a quarter to seven quarters of the mean.
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let mean = cost.0.saturating_mul(BUDGET - 1).max(EVERY.0);
    Duration::from_nanos(mean / 4 + *random % (mean + mean / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_keep_within_their_budget_and_out_of_step() {
        let mut random = 77;
        for (cost, mean) in [(0, EVERY.0), (10_000, EVERY.0), (1_000_000, 99_000_000)] {
            let pauses: Vec<_> = (0..1000).map(|_| pause(Nanos(cost), &mut random).as_nanos() as u64).collect();
            let average = pauses.iter().sum::<u64>() / 1000;
            assert!(average.abs_diff(mean) < mean / 10, "cost {cost}: {average}, not {mean}");
            let unlike: BTreeSet<_> = pauses.iter().collect();
            assert!(unlike.len() > 990);
        }
    }
}
