//! Pairs leaving the CPU, being woken and running again into off-CPU spans. Switch records make the spans; the sample
//! taken just before one shows where and in which state the thread left. A span whose records may be lost is dropped
//! and counted.

use crate::model::{OffCpu, StackEnd, StackId, TaskState, WaitBegan};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

/// Sample of a thread that is about to leave the CPU; its switch record comes next.
#[derive(Debug, Clone, Copy)]
pub struct DepartureSample {
    /// Its state, if the event contains it.
    pub state: Option<TaskState>,
    /// Its stack.
    pub stack: Option<StackId>,
    /// How that stack ended.
    pub end: StackEnd,
}

/// A thread that has left the CPU.
#[derive(Debug, Clone, Copy)]
struct Left {
    at: Nanos,
    pid: u32,
    tid: u32,
    state: TaskState,
    stack: Option<StackId>,
    end: StackEnd,
}

/// Threads that are off the CPU.
#[derive(Debug, Default)]
pub struct OffCpuSpans {
    /// Whether only some spans come with a stack. Others then take the last stack of their thread and length class, so
    /// that the time of each class is distributed as sampled, and long waits do not describe short ones.
    partial: bool,
    sampled: FxHashMap<(u32, u8), (StackId, StackEnd)>,
    leaving: FxHashMap<u32, DepartureSample>,
    open: FxHashMap<u32, (Left, Option<Nanos>)>,
    /// Threads that ended in this round and in the one before: each leaves the CPU once more.
    ended: [FxHashSet<u32>; 2],
}

impl OffCpuSpans {
    /// Starts with no thread off the CPU. With `partial` only some spans come with a stack.
    pub fn new(partial: bool) -> OffCpuSpans {
        OffCpuSpans { partial, ..OffCpuSpans::default() }
    }

    /// A thread was sampled as it left the CPU.
    pub fn leaving(&mut self, tid: u32, leaving: DepartureSample) {
        self.leaving.insert(tid, leaving);
    }

    /// A thread left the CPU. Returns true if it had left before and was not seen to come back: that span is lost.
    pub fn left(&mut self, at: Nanos, pid: u32, tid: u32, preempted: bool) -> bool {
        let sampled = self.leaving.remove(&tid);
        if self.ended.iter_mut().any(|ended| ended.remove(&tid)) {
            return false;
        }
        let DepartureSample { state, stack, end } =
            sampled.unwrap_or(DepartureSample { state: None, stack: None, end: StackEnd::NotTaken });
        // A switch record separates preempted from blocked threads, but not storage from other waits; the stack may.
        let state = state.unwrap_or(if preempted { TaskState::Runnable } else { TaskState::Sleeping });
        self.open.insert(tid, (Left { at, pid, tid, state, stack, end }, None)).is_some()
    }

    /// A thread was woken. Only the first wake-up of a blocked thread counts.
    pub fn woken(&mut self, tid: u32, at: Nanos) {
        if let Some((left, woken @ None)) = self.open.get_mut(&tid)
            && left.state != TaskState::Runnable
        {
            *woken = Some(at);
        }
    }

    /// A thread was put on a CPU. Returns the span that this ends, unless its beginning was not seen.
    pub fn runs(&mut self, tid: u32, at: Nanos) -> Option<OffCpu> {
        let (left, woken) = self.open.remove(&tid)?;
        let (blocked, queued) = match (left.state, woken) {
            (TaskState::Runnable, _) => (Nanos(0), Some(at - left.at)),
            (_, Some(woken)) => (woken - left.at, Some(at - woken)),
            (_, None) => (at - left.at, None),
        };
        let span = span(&left, blocked, queued);
        Some(if self.partial { self.estimated(span) } else { span })
    }

    /// Keeps a span's stack for similar spans, or takes the last one kept.
    fn estimated(&mut self, mut span: OffCpu) -> OffCpu {
        if span.state == TaskState::Runnable {
            return span;
        }
        let alike = (span.tid, span.length());
        match span.stack {
            Some(stack) => {
                self.sampled.insert(alike, (stack, span.end));
            }
            None => {
                if let Some((stack, end)) = self.sampled.get(&alike) {
                    (span.stack, span.end, span.estimated) = (Some(*stack), *end, true);
                }
            }
        }
        span
    }

    /// The process of a thread that has been blocked since `from` or longer and whose stack is unknown.
    pub fn blocked_since(&self, tid: u32, from: Nanos) -> Option<u32> {
        let (left, _) = self.open.get(&tid)?;
        let fits = left.at <= from && left.stack.is_none() && left.state != TaskState::Runnable;
        fits.then_some(left.pid)
    }

    /// Sets the stack that was sampled while a thread was blocked.
    pub fn seen(&mut self, tid: u32, stack: Option<StackId>, end: StackEnd) {
        if let Some((left, _)) = self.open.get_mut(&tid) {
            (left.stack, left.end) = (stack, end);
        }
    }

    /// A thread has ended.
    pub fn ended(&mut self, tid: u32) {
        self.leaving.remove(&tid);
        self.open.remove(&tid);
        self.ended[0].insert(tid);
        if self.partial {
            for length in 0..OffCpu::LENGTHS {
                self.sampled.remove(&(tid, length));
            }
        }
    }

    /// Ends the round: threads that ended in the round before have left by now.
    pub fn sweep(&mut self) {
        self.ended.swap(0, 1);
        self.ended[0].clear();
    }

    /// Records were lost on some ring: any open span may have ended unseen. Drops them all and returns how many.
    pub fn lost(&mut self) -> u64 {
        let count = self.open.len() as u64;
        self.leaving.clear();
        self.open.clear();
        count
    }

    /// Ends the capture: closes the spans of threads still blocked or waiting for a CPU.
    pub fn close(&mut self, at: Nanos) -> Vec<OffCpu> {
        let open: Vec<u32> = self.open.keys().copied().collect();
        open.into_iter().filter_map(|tid| self.runs(tid, at)).collect()
    }
}

fn span(left: &Left, blocked: Nanos, queued: Option<Nanos>) -> OffCpu {
    let Left { at, pid, tid, state, stack, end } = *left;
    let longest = blocked + queued.unwrap_or_default();
    let began = WaitBegan::Seen;
    OffCpu { at, pid, tid, state, blocked, queued, stack, end, estimated: false, count: 1, longest, began }
}

/// Decodes the state in a `sched_switch` record: `TASK_*` bits of linux/sched.h as `task_state_index` reports them. A
/// preempted thread has no bit set, or only one above the reported ones.
pub fn state(prev_state: u64) -> TaskState {
    match prev_state & 0xff {
        0 => TaskState::Runnable,
        1 => TaskState::Sleeping,
        2 => TaskState::DiskSleep,
        // Idle kernel threads wait for work.
        0x80 => TaskState::Sleeping,
        _ => TaskState::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Step {
        /// Sampled as it leaves, then its switch record.
        Left(u32, u64, TaskState),
        /// A switch record alone.
        Switched(u32, u64, bool),
        Swept,
        Woken(u32, u64),
        Runs(u32, u64),
        Lost,
        Ended(u32),
    }
    use Step::{Ended, Left as Out, Lost, Runs, Swept, Switched, Woken};
    use TaskState::{DiskSleep, Runnable, Sleeping};

    /// Thread, when it left, how long it was blocked and queued.
    type Seen = (u32, u64, u64, Option<u64>);

    /// The spans, and how many were lost.
    fn play(steps: &[Step]) -> (Vec<Seen>, u64) {
        let (mut spans, mut done, mut lost) = (OffCpuSpans::default(), Vec::new(), 0);
        for step in steps {
            match *step {
                Out(tid, at, state) => {
                    spans.leaving(tid, DepartureSample { state: Some(state), stack: None, end: StackEnd::NotTaken });
                    lost += u64::from(spans.left(Nanos(at), 1, tid, false));
                }
                Switched(tid, at, preempted) => lost += u64::from(spans.left(Nanos(at), 1, tid, preempted)),
                Swept => spans.sweep(),
                Woken(tid, at) => spans.woken(tid, Nanos(at)),
                Runs(tid, at) => {
                    done.extend(spans.runs(tid, Nanos(at)).map(|s| (s.tid, s.at.0, s.blocked.0, s.queued.map(|q| q.0))))
                }
                Lost => lost += spans.lost(),
                Ended(tid) => spans.ended(tid),
            }
        }
        (done, lost)
    }

    #[test]
    fn spans_are_paired_per_thread_and_never_over_a_loss() {
        let table: [(&[Step], &[Seen], u64); 14] = [
            (&[Out(1, 10, Sleeping), Woken(1, 60), Runs(1, 65)], &[(1, 10, 50, Some(5))], 0),
            (&[Out(1, 10, Sleeping), Woken(1, 60), Woken(1, 62), Runs(1, 65)], &[(1, 10, 50, Some(5))], 0),
            (&[Out(1, 10, DiskSleep), Runs(1, 65)], &[(1, 10, 55, None)], 0),
            (&[Out(1, 10, Runnable), Woken(1, 12), Runs(1, 15)], &[(1, 10, 0, Some(5))], 0),
            (&[Runs(1, 5), Woken(1, 6)], &[], 0),
            (
                &[Out(1, 10, Sleeping), Out(2, 11, Sleeping), Runs(2, 20), Runs(1, 30)],
                &[(2, 11, 9, None), (1, 10, 20, None)],
                0,
            ),
            (
                &[Out(1, 10, Sleeping), Out(2, 11, Sleeping), Lost, Runs(1, 20), Out(1, 30, Sleeping), Runs(1, 31)],
                &[(1, 30, 1, None)],
                2,
            ),
            (&[Out(1, 10, Sleeping), Out(1, 20, Sleeping), Runs(1, 25)], &[(1, 20, 5, None)], 1),
            (&[Out(1, 10, Sleeping), Ended(1), Runs(1, 25)], &[], 0),
            (&[Switched(1, 10, false), Runs(1, 25)], &[(1, 10, 15, None)], 0),
            (&[Switched(1, 10, true), Runs(1, 25)], &[(1, 10, 0, Some(15))], 0),
            (&[Ended(1), Switched(1, 10, false), Runs(1, 25)], &[], 0),
            (&[Ended(1), Swept, Switched(1, 10, false), Runs(1, 25)], &[], 0),
            // The id was reused by another thread.
            (&[Ended(1), Swept, Swept, Switched(1, 10, false), Runs(1, 25)], &[(1, 10, 15, None)], 0),
        ];
        for (at, (steps, spans, lost)) in table.into_iter().enumerate() {
            assert_eq!(play(steps), (spans.to_vec(), lost), "row {at}");
        }
    }

    #[test]
    fn threads_still_blocked_at_the_end_count_up_to_it() {
        let mut spans = OffCpuSpans::default();
        spans.left(Nanos(10), 1, 1, false);
        let closed: Vec<_> = spans.close(Nanos(40)).iter().map(|span| (span.blocked, span.queued)).collect();
        assert_eq!(closed, [(Nanos(30), None)]);
    }

    #[test]
    fn a_span_without_a_stack_takes_the_last_one_of_its_thread_and_length() {
        let mut spans = OffCpuSpans::new(true);
        let mut at = 0;
        let mut wait = |spans: &mut OffCpuSpans, tid, length, preempted, stack: Option<u32>| {
            at += 1_000_000;
            spans.left(Nanos(at), 1, tid, preempted);
            if let Some(stack) = stack {
                assert_eq!(spans.blocked_since(tid, Nanos(at - 1)), None, "it ran when the look began");
                assert_eq!(spans.blocked_since(tid, Nanos(at + 1)), Some(1));
                spans.seen(tid, Some(StackId(stack)), StackEnd::Whole);
                assert_eq!(spans.blocked_since(tid, Nanos(at + 1)), None, "one look is enough");
            }
            spans.runs(tid, Nanos(at + length)).map(|span| (span.stack.map(|stack| stack.0), span.estimated))
        };
        for (tid, length, preempted, stack, expected) in [
            (1, 100, false, None, (None, false)),
            (1, 100, false, Some(7), (Some(7), false)),
            (1, 120, false, None, (Some(7), true)),
            (1, 9_000, false, None, (None, false)),
            (1, 9_000, false, Some(8), (Some(8), false)),
            (1, 100, false, None, (Some(7), true)),
            (1, 100, true, None, (None, false)),
            (2, 100, false, None, (None, false)),
        ] {
            assert_eq!(wait(&mut spans, tid, length, preempted, stack), Some(expected), "thread {tid}, {length} ns");
        }
        spans.ended(1);
        spans.sweep();
        spans.sweep();
        assert_eq!(wait(&mut spans, 1, 100, false, None), Some((None, false)), "another thread of that number");
    }

    #[test]
    fn states_are_read_from_their_bits() {
        for (bits, expected) in [
            (0, Runnable),
            (0x100, Runnable),
            (1, Sleeping),
            (2, DiskSleep),
            (0x80, Sleeping),
            (0x20, TaskState::Other),
        ] {
            assert_eq!(state(bits), expected, "{bits:#x}");
        }
    }
}
