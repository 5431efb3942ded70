//! Waits that began before the capture. No record of the kernel tells of them until they end, and of a program that hangs
//! none ever does: `/proc` shows which threads are blocked as the capture begins, and its count of switches which of
//! them have not run since.

use super::cpu_clock::CpuClocks;
use super::proc_source::ProcSource;
use super::waiting::{WaitSample, look};
use crate::model::{Note, OffCpu, StackEnd, StackId, TaskState, WaitBegan};
use crate::sys::clock::Clock;
use crate::sys::procfs::{status, switches};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Threads that are followed at most: to look at one takes some 60 us before the capture begins.
const MOST: usize = 4096;
/// Threads that are polled in one interval; with more, the intervals grow.
const AT_A_TIME: u64 = 256;

/// A thread that was blocked when the capture began.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    pid: u32,
    state: TaskState,
    /// Context switches until then.
    switches: u64,
    stack: Option<StackId>,
    end: StackEnd,
    /// When it ran last, `CLOCK_MONOTONIC`, nanoseconds.
    ran: Option<u64>,
    /// The end of what was reported of its wait.
    reported_until: Nanos,
    /// Whether it has run since, so that only a record tells when its wait was over.
    over: bool,
}

/// A blocked thread as it was found.
#[derive(Debug)]
pub struct FoundWaiting {
    /// What it waits in; `None` if this user may not read that.
    pub sample: Option<WaitSample>,
    state: TaskState,
    switches: u64,
}

/// Looks at a thread; `None` if it is not blocked.
pub fn find(tid: u32, stacks: bool, proc: &mut impl ProcSource) -> Option<FoundWaiting> {
    let (state, _) = blocked(tid, proc)?;
    let sample = look(tid, stacks, proc);
    // Read again: what was seen counts only if the thread has not run since.
    let (_, switches) = blocked(tid, proc)?;
    Some(FoundWaiting { sample, state, switches })
}

/// The state of a thread that is blocked, and how often it has left a CPU.
fn blocked(tid: u32, proc: &mut impl ProcSource) -> Option<(TaskState, u64)> {
    let text = proc.read(tid, "status").ok()?;
    let state = match status(&text).state? {
        'S' => TaskState::Sleeping,
        'D' => TaskState::DiskSleep,
        'T' | 't' => TaskState::Other,
        _ => return None,
    };
    switches(&text).map(|(voluntary, involuntary)| (state, voluntary + involuntary))
}

/// The threads that were blocked when the capture began, until they run.
#[derive(Debug)]
pub struct EarlierWaits {
    clock: Clock,
    clocks: CpuClocks,
    waiting: FxHashMap<u32, Waiting>,
    began: Nanos,
    polled: Nanos,
    /// Threads that were not looked at.
    left_out: usize,
    /// Threads whose cause this user may not read.
    refused: usize,
}

impl EarlierWaits {
    /// No thread waits.
    pub fn new(clock: Clock) -> EarlierWaits {
        EarlierWaits {
            clock,
            clocks: CpuClocks::new(),
            waiting: FxHashMap::default(),
            began: Nanos(0),
            polled: Nanos(0),
            left_out: 0,
            refused: 0,
        }
    }

    /// Whether another thread is to be looked at; one that is not is counted.
    pub fn has_room(&mut self) -> bool {
        let room = self.waiting.len() < MOST;
        self.left_out += usize::from(!room);
        room
    }

    /// Follows a thread from the begin of the capture on.
    pub fn follow(
        &mut self,
        (pid, tid): (u32, u32),
        found: &FoundWaiting,
        (stack, end): (Option<StackId>, StackEnd),
        proc: &mut impl ProcSource,
    ) {
        let FoundWaiting { state, switches, .. } = *found;
        self.refused += usize::from(found.sample.is_none());
        let ran = self.clocks.last_ran(tid, proc);
        self.waiting
            .insert(tid, Waiting { pid, state, switches, stack, end, ran, reported_until: Nanos(0), over: false });
    }

    /// The capture begins.
    pub fn begin(&mut self, at: Nanos) {
        (self.began, self.polled) = (at, at);
        self.waiting.values_mut().for_each(|thread| thread.reported_until = at);
    }

    /// Whether the next poll is due.
    pub fn is_due(&self, now: Nanos, interval: Nanos) -> bool {
        let rounds = (self.waiting.len() as u64).div_ceil(AT_A_TIME);
        rounds > 0 && now >= self.polled + Nanos(interval.0.saturating_mul(rounds))
    }

    /// The waits of those that still wait, since the last poll.
    pub fn poll(&mut self, now: Nanos, proc: &mut impl ProcSource) -> Vec<OffCpu> {
        self.report(now, |tid| blocked(tid, proc))
    }

    fn report(&mut self, now: Nanos, mut blocked: impl FnMut(u32) -> Option<(TaskState, u64)>) -> Vec<OffCpu> {
        self.polled = now;
        let (clock, began) = (self.clock, self.began);
        let mut spans = Vec::new();
        for (tid, thread) in self.waiting.iter_mut().filter(|(_, thread)| !thread.over) {
            match blocked(*tid) {
                // It has been blocked all the time, and queued for no CPU.
                Some((_, switches)) if switches == thread.switches => {
                    spans.push(thread.until(*tid, now, Some(Nanos(0)), began, clock));
                }
                _ => thread.over = true,
            }
        }
        spans.sort_unstable_by_key(|span| span.tid);
        spans
    }

    /// A thread was put on a CPU: the rest of its wait, if it is one of these.
    pub fn runs(&mut self, tid: u32, at: Nanos) -> Option<OffCpu> {
        let mut thread = self.waiting.remove(&tid)?;
        (at > thread.reported_until).then(|| thread.until(tid, at, None, self.began, self.clock))
    }

    /// A thread left the CPU or has ended, or its records are lost: it may have run unseen.
    pub fn forget(&mut self, tid: u32) {
        self.waiting.remove(&tid);
    }

    /// Records were lost: when the waits that are over ended is not known.
    pub fn lost(&mut self) {
        self.waiting.retain(|_, thread| !thread.over);
    }

    /// What is not known of these waits.
    pub fn notes(&self) -> Vec<Note> {
        let left_out = (self.left_out > 0).then(|| Note {
            topic: "earlier-waits-left-out".to_string(),
            text: format!(
                "{MOST} threads that waited as the capture began are followed: of {} others, waits that began earlier \
                 are left out.",
                self.left_out
            ),
            fix: Some("Profile fewer processes, or single threads with -t.".to_string()),
        });
        let hidden = (self.refused > 0 && self.refused * 2 > self.waiting.len()).then(super::waiting::causes_hidden);
        left_out.into_iter().chain(hidden).collect()
    }
}

impl Waiting {
    /// The part of the wait from where it was last passed on.
    fn until(&mut self, tid: u32, at: Nanos, queued: Option<Nanos>, began: Nanos, clock: Clock) -> OffCpu {
        let first = self.reported_until == began;
        let from = std::mem::replace(&mut self.reported_until, at);
        let Waiting { pid, state, stack, end, ran, .. } = *self;
        let least = at - began;
        let age = ran.map(|ran| Nanos((clock.start_ns() + at.0).saturating_sub(ran)));
        OffCpu {
            at: from,
            pid,
            tid,
            state,
            blocked: at - from,
            queued,
            stack,
            end,
            estimated: false,
            count: u64::from(first),
            // A clock that was read a moment apart does not make a wait younger than it was seen to be.
            longest: age.map_or(least, |age| age.max(least)),
            began: if ran.is_some() { WaitBegan::Before } else { WaitBegan::LongBefore },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::proc_source::LiveProc;
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const START: u64 = 100 * SECOND;

    /// Thread 1 ran last 60 s before the clock's start, when thread 2 did is unknown.
    fn waits() -> EarlierWaits {
        let mut waits = EarlierWaits::new(Clock::starting_at(START));
        for (tid, ran) in [(1, Some(40 * SECOND)), (2, None)] {
            let thread = Waiting {
                pid: 1,
                state: TaskState::Sleeping,
                switches: 7,
                stack: Some(StackId(tid)),
                end: StackEnd::Whole,
                ran,
                reported_until: Nanos(0),
                over: false,
            };
            waits.waiting.insert(tid, thread);
        }
        waits.begin(Nanos(SECOND));
        waits
    }

    type Reported = (u32, u64, u64, u64, u64, WaitBegan);

    fn reported(spans: &[OffCpu]) -> Vec<Reported> {
        let seconds = |nanos: Nanos| nanos.0 / SECOND;
        let row = |s: &OffCpu| (s.tid, seconds(s.at), seconds(s.blocked), s.count, seconds(s.longest), s.began);
        spans.iter().map(row).collect()
    }

    #[test]
    fn a_wait_that_goes_on_is_reported_in_parts_that_count_once_and_grow_older() {
        let mut waits = waits();
        assert!(!waits.is_due(Nanos(SECOND), Nanos(SECOND)) && waits.is_due(Nanos(2 * SECOND), Nanos(SECOND)));
        let still = |_| Some((TaskState::Sleeping, 7));
        let first = waits.report(Nanos(3 * SECOND), still);
        assert_eq!(reported(&first), [(1, 1, 2, 1, 63, WaitBegan::Before), (2, 1, 2, 1, 2, WaitBegan::LongBefore)]);
        let second = waits.report(Nanos(4 * SECOND), still);
        assert_eq!(reported(&second), [(1, 3, 1, 0, 64, WaitBegan::Before), (2, 3, 1, 0, 3, WaitBegan::LongBefore)]);
        assert!(first.iter().chain(&second).all(|span| span.queued == Some(Nanos(0)) && span.stack.is_some()));
    }

    #[test]
    fn a_thread_that_has_run_waits_until_its_record_says_and_no_longer() {
        let mut waits = waits();
        // Thread 1 ran and waits again, thread 2 runs.
        let polled = waits.report(Nanos(3 * SECOND), |tid| (tid == 1).then_some((TaskState::Sleeping, 8)));
        assert_eq!(reported(&polled), []);
        let span: Vec<OffCpu> = waits.runs(1, Nanos(2 * SECOND)).into_iter().collect();
        assert_eq!(reported(&span), [(1, 1, 1, 1, 62, WaitBegan::Before)]);
        assert_eq!(span[0].queued, None, "its wake-up was not seen");
        assert_eq!(waits.runs(1, Nanos(4 * SECOND)), None, "that is another wait");
        waits.lost();
        assert_eq!(waits.runs(2, Nanos(4 * SECOND)), None, "its record may be lost");
    }

    #[test]
    fn a_record_that_is_older_than_the_last_report_adds_nothing() {
        let mut waits = waits();
        waits.report(Nanos(3 * SECOND), |_| Some((TaskState::Sleeping, 7)));
        assert_eq!(waits.runs(1, Nanos(3 * SECOND)), None);
    }

    #[test]
    fn a_running_thread_does_not_wait() {
        let proc = &mut LiveProc::new("/proc");
        assert!(find(std::process::id(), false, proc).is_none_or(|found| found.switches > 0));
        assert!(find(u32::MAX - 1, true, proc).is_none());
    }
}
