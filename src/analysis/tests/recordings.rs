//! Random recordings: samples and waits of a few threads of two processes, over stacks with recursion, inlined calls, tail
//! calls, kernel code and code without a name.

use crate::analysis::testing::Synthetic;
use crate::model::profile::Profile;
use crate::model::{StackEnd, TaskChange, TaskState};
use proptest::prelude::*;

/// The threads, and the process that each belongs to.
const THREADS: [(u32, u32); 4] = [(41, 41), (42, 41), (43, 41), (51, 50)];

/// Frames that stacks are made of.
const FRAMES: [&str; 11] = [
    "/bin/app!main",
    "/bin/app!serve",
    "/bin/app!parse",
    "/bin/app!inner < outer",
    "/bin/app!main => serve",
    "/bin/app!inner < outer => parse",
    "/lib/libc.so!write",
    "/lib/libc.so!main",
    "[kernel]!futex_wait",
    "[jit]!+0x7f00",
    "?",
];

/// A sample or a wait.
#[derive(Debug, Clone)]
pub(super) struct SampleSpec {
    pub at_ms: u64,
    pub thread: usize,
    pub frames: Vec<usize>,
    pub weight: u64,
    pub end: StackEnd,
    /// The state it began in and its time in the run queue, of a wait.
    pub wait: Option<(TaskState, Option<u64>)>,
}

impl SampleSpec {
    fn stack(&self) -> String {
        self.frames.iter().map(|at| FRAMES[*at]).collect::<Vec<_>>().join(";")
    }
}

/// The profile of what was taken, in this order.
pub(super) fn profile(taken: &[SampleSpec]) -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    for (tid, pid) in THREADS {
        s.task(0, pid, tid, TaskChange::Alive { comm: format!("thread {tid}") });
    }
    for one in taken {
        let (tid, stack) = (THREADS[one.thread].0, one.stack());
        match one.wait {
            None => {
                s.weight = one.weight;
                s.ended(one.at_ms, tid, &stack, 1, one.end);
            }
            Some((state, queued)) => {
                s.off_cpu(one.at_ms, tid, state, one.weight % 500, queued, &stack);
            }
        }
    }
    let mut profile = s.finish();
    let of = |tid: u32| THREADS.iter().find(|(other, _)| *other == tid).map_or(tid, |(_, pid)| *pid);
    for (pid, tid) in profile.samples.pid.iter_mut().zip(&profile.samples.tid) {
        *pid = of(*tid);
    }
    profile.off_cpu.update(|span| span.pid = of(span.tid));
    profile
}

fn taken() -> impl Strategy<Value = SampleSpec> {
    let end = prop_oneof![
        6 => Just(StackEnd::Whole),
        1 => Just(StackEnd::Truncated),
        1 => Just(StackEnd::Broken),
        1 => Just(StackEnd::NotTaken),
    ];
    let state =
        prop::sample::select(vec![TaskState::Sleeping, TaskState::DiskSleep, TaskState::Runnable, TaskState::Other]);
    let wait = prop::option::weighted(0.3, (state, prop::option::of(0..40_u64)));
    let frames = prop::collection::vec(0..FRAMES.len(), 0..7);
    (0..9000_u64, 0..THREADS.len(), frames, 1..2_000_000_u64, end, wait)
        .prop_map(|(at_ms, thread, frames, weight, end, wait)| SampleSpec { at_ms, thread, frames, weight, end, wait })
}

/// Up to fifty samples and waits.
pub(super) fn any_recording() -> impl Strategy<Value = Vec<SampleSpec>> {
    prop::collection::vec(taken(), 0..50)
}

/// Few cases, each of many samples: what is checked holds or fails on nearly every recording.
pub(super) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() }
}
