//! Pairs leaving the CPU, being woken and running again into spans off the CPU.
//! It never guesses: a span whose records may be lost is dropped and counted.

use crate::model::{OffCpu, StackEnd, StackId, TaskState};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// A thread that has left the CPU.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    /// When.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// In which state.
    pub state: TaskState,
    /// From where.
    pub stack: Option<StackId>,
    /// How that stack ended.
    pub end: StackEnd,
}

/// Threads that are off the CPU.
#[derive(Debug, Default)]
pub struct Spans {
    open: FxHashMap<u32, (Left, Option<Nanos>)>,
}

impl Spans {
    /// A thread left the CPU. True if it had left before without having been seen to come back: that span is lost.
    pub fn left(&mut self, left: Left) -> bool {
        self.open.insert(left.tid, (left, None)).is_some()
    }

    /// A thread was woken. Only the first wake-up of a blocked thread counts.
    pub fn woken(&mut self, tid: u32, at: Nanos) {
        if let Some((left, woken @ None)) = self.open.get_mut(&tid)
            && left.state != TaskState::Runnable
        {
            *woken = Some(at);
        }
    }

    /// A thread was put on a CPU: the span it ends, unless its beginning was not seen.
    pub fn runs(&mut self, tid: u32, at: Nanos) -> Option<OffCpu> {
        let (left, woken) = self.open.remove(&tid)?;
        let (blocked, queued) = match (left.state, woken) {
            (TaskState::Runnable, _) => (Nanos(0), Some(at - left.at)),
            (_, Some(woken)) => (woken - left.at, Some(at - woken)),
            (_, None) => (at - left.at, None),
        };
        Some(span(&left, blocked, queued))
    }

    /// A thread has ended.
    pub fn ended(&mut self, tid: u32) {
        self.open.remove(&tid);
    }

    /// Records were lost on some ring: any open span may have been closed and another opened unseen. How many go.
    pub fn lost(&mut self) -> u64 {
        let count = self.open.len() as u64;
        self.open.clear();
        count
    }

    /// The capture ends: threads still blocked, up to now; those only waiting for a CPU as well.
    pub fn close(&mut self, at: Nanos) -> impl Iterator<Item = OffCpu> + '_ {
        self.open.drain().map(move |(_, (left, woken))| match (left.state, woken) {
            (TaskState::Runnable, _) => span(&left, Nanos(0), Some(at - left.at)),
            (_, Some(woken)) => span(&left, woken - left.at, Some(at - woken)),
            (_, None) => span(&left, at - left.at, None),
        })
    }
}

fn span(left: &Left, blocked: Nanos, queued: Option<Nanos>) -> OffCpu {
    let Left { at, pid, tid, state, stack, end } = *left;
    OffCpu { at, pid, tid, state, blocked, queued, stack, end }
}

/// The state in a `sched_switch` record: `TASK_*` bits of linux/sched.h as `task_state_index` reports them. A
/// preempted thread carries no bit, or only one above the reported ones.
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
        Left(u32, u64, TaskState),
        Woken(u32, u64),
        Runs(u32, u64),
        Lost,
        Ended(u32),
    }
    use Step::{Ended, Left as Out, Lost, Runs, Woken};
    use TaskState::{DiskSleep, Runnable, Sleeping};

    /// Thread, when it left, how long it was blocked and queued.
    type Seen = (u32, u64, u64, Option<u64>);

    /// The spans, and how many were lost.
    fn play(steps: &[Step]) -> (Vec<Seen>, u64) {
        let (mut spans, mut done, mut lost) = (Spans::default(), Vec::new(), 0);
        for step in steps {
            match *step {
                Out(tid, at, state) => {
                    let left = Left { at: Nanos(at), pid: 1, tid, state, stack: None, end: StackEnd::NotTaken };
                    lost += u64::from(spans.left(left));
                }
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
        let table: [(&[Step], &[Seen], u64); 9] = [
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
        ];
        for (at, (steps, spans, lost)) in table.into_iter().enumerate() {
            assert_eq!(play(steps), (spans.to_vec(), lost), "row {at}");
        }
    }

    #[test]
    fn threads_still_blocked_at_the_end_count_up_to_it() {
        let mut spans = Spans::default();
        spans.left(Left { at: Nanos(10), pid: 1, tid: 1, state: Sleeping, stack: None, end: StackEnd::Whole });
        let closed: Vec<_> = spans.close(Nanos(40)).map(|span| (span.blocked, span.queued)).collect();
        assert_eq!(closed, [(Nanos(30), None)]);
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
