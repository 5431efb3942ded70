//! Turns the kernel's sums of waits, and the waits it passed on with their stacks, into the event stream.
//!
//! A wait of length `d` came with its stack with probability `p = min(1, d / spacing)`, so it stands for `1 / p` waits
//! like it. Those that it stands for besides itself are known as a sum: the time and the number of the waits that came
//! without a stack. That sum is shared out among the stacks of the same thread, state and window in the proportion in
//! which they stand for it. So the totals are exact, and the stacks' shares are right on average: their error is that of
//! a sample of as many stacks.

use super::event_queue::EventQueue;
use crate::model::{Event, OffCpu, StackEnd, StackId, TaskState, WaitBegan};
use crate::sys::bpf::{STATES, Sum, ThreadSums};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The states as the kernel's sums number them.
const BY_NUMBER: [TaskState; STATES] =
    [TaskState::Runnable, TaskState::Sleeping, TaskState::DiskSleep, TaskState::Other];

/// A wait with its stack.
#[derive(Debug, Clone, Copy)]
pub struct StackedWait {
    /// When the thread left the CPU.
    pub at: Nanos,
    /// Time blocked.
    pub blocked: Nanos,
    /// Time runnable without a CPU; `None` if the wake-up was not seen.
    pub queued: Option<Nanos>,
    /// Its stack.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// The length from which every wait comes with its stack.
    pub spacing: Nanos,
}

impl StackedWait {
    /// Stands for waits of which none came with a stack.
    const NONE: StackedWait = StackedWait {
        at: Nanos(0),
        blocked: Nanos(0),
        queued: None,
        stack: None,
        end: StackEnd::NotTaken,
        spacing: Nanos(u64::MAX),
    };

    /// Splits the time off the CPU by the state the thread left in.
    pub fn split(state: usize, at: Nanos, woken: Option<Nanos>, ran: Nanos) -> (Nanos, Option<Nanos>) {
        match (BY_NUMBER.get(state), woken) {
            (Some(TaskState::Runnable), _) => (Nanos(0), Some(ran - at)),
            (_, Some(woken)) => (woken - at, Some(ran - woken)),
            (_, None) => (ran - at, None),
        }
    }

    fn length(&self) -> f64 {
        (self.blocked + self.queued.unwrap_or_default()).0.max(1) as f64
    }

    /// The time of waits without a stack that it stands for, and their number.
    fn stands_for(&self) -> (f64, f64) {
        let time = (self.spacing.0 as f64 - self.length()).max(0.0);
        (time, time / self.length())
    }
}

/// The waits of a thread that left the CPU in one state.
#[derive(Debug, Default)]
struct Waits {
    /// The kernel's sum at the last reading.
    read: Sum,
    /// Read, and not yet shared out.
    pending: Sum,
    since: Nanos,
    stacked: Vec<StackedWait>,
    /// The last waits that a sum was shared out among, for what is left at the end.
    last: Vec<StackedWait>,
}

#[derive(Debug, Default)]
struct Thread {
    waits: [Waits; STATES],
    since: Nanos,
}

/// Waits of threads whose ends the kernel sees.
#[derive(Debug, Default)]
pub struct SummedWaits {
    threads: FxHashMap<u32, Thread>,
    /// When all sums were last read: a thread that is new since then has waited no earlier.
    read_at: Nanos,
    /// Waits so far, with a stack or summed.
    count: u64,
}

impl SummedWaits {
    /// Counting began, or all sums have been read.
    pub fn read_all(&mut self, at: Nanos) {
        self.read_at = at;
    }

    /// How many waits came with a stack or were summed, up to the last reading.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A wait came with its stack.
    pub fn stacked(&mut self, tid: u32, state: usize, wait: StackedWait) {
        self.count += 1;
        let thread = self.thread(tid);
        if let Some(waits) = thread.waits.get_mut(state) {
            waits.stacked.push(wait);
        }
    }

    /// The sums of a thread were read.
    pub fn read(&mut self, at: Nanos, sums: &ThreadSums, out: &mut EventQueue) {
        self.settle(at, sums, false, out);
    }

    /// The sums of a thread were read for the last time: nothing of them stays pending.
    pub fn ended(&mut self, at: Nanos, sums: &ThreadSums, out: &mut EventQueue) {
        self.settle(at, sums, true, out);
        self.threads.remove(&sums.tid);
    }

    fn thread(&mut self, tid: u32) -> &mut Thread {
        let since = self.read_at;
        self.threads.entry(tid).or_insert_with(|| Thread { since, ..Thread::default() })
    }

    fn settle(&mut self, at: Nanos, sums: &ThreadSums, last: bool, out: &mut EventQueue) {
        let mut count = 0;
        let thread = self.thread(sums.tid);
        let since = std::mem::replace(&mut thread.since, at);
        for ((waits, now), state) in thread.waits.iter_mut().zip(&sums.sums).zip(BY_NUMBER) {
            count += waits.add(now, since);
            for Share { wait, own, count, blocked, queued, longest, at } in waits.share_out(last) {
                out.push(Event::OffCpu(OffCpu {
                    at,
                    pid: sums.pid,
                    tid: sums.tid,
                    state,
                    blocked,
                    queued,
                    stack: wait.stack,
                    end: wait.end,
                    estimated: wait.stack.is_some() && !(own && count == 1),
                    count,
                    longest,
                    began: WaitBegan::Seen,
                }));
            }
        }
        self.count += count;
    }
}

/// A wait, and its share of a sum.
#[derive(Debug, Clone, Copy)]
struct Share {
    wait: StackedWait,
    /// Whether the wait itself is part of it.
    own: bool,
    at: Nanos,
    count: u64,
    blocked: Nanos,
    queued: Option<Nanos>,
    longest: Nanos,
}

impl Share {
    fn of(wait: StackedWait, own: bool) -> Share {
        let StackedWait { at, blocked, queued, .. } = wait;
        match own {
            true => Share { wait, own, at, count: 1, blocked, queued, longest: blocked + queued.unwrap_or_default() },
            false => Share { wait, own, at, count: 0, blocked: Nanos(0), queued: None, longest: Nanos(0) },
        }
    }
}

impl Waits {
    /// Adds what was summed since the last reading; returns how many waits.
    fn add(&mut self, now: &Sum, since: Nanos) -> u64 {
        let pending = &mut self.pending;
        if pending.count == 0 {
            self.since = since;
        }
        let count = now.count.saturating_sub(self.read.count);
        pending.count += count;
        pending.blocked += now.blocked - self.read.blocked;
        pending.queued += now.queued - self.read.queued;
        if now.longest > self.read.longest {
            pending.longest = now.longest;
        }
        self.read = *now;
        count
    }

    /// The waits that came with stacks, and with them the pending sum if any of them stands for it. The `last` time it
    /// goes to the stacks before, or has none.
    fn share_out(&mut self, last: bool) -> Vec<Share> {
        let stands = |waits: &[StackedWait]| waits.iter().any(|wait| wait.stands_for().0 > 0.0);
        let mut shares: Vec<Share> = self.stacked.iter().map(|wait| Share::of(*wait, true)).collect();
        if stands(&self.stacked) {
            self.last = std::mem::take(&mut self.stacked);
        } else if last && self.pending.count > 0 {
            let before = if stands(&self.last) { std::mem::take(&mut self.last) } else { vec![StackedWait::NONE] };
            shares.extend(before.into_iter().map(|wait| Share::of(wait, false)));
        } else {
            self.stacked.clear();
            return shares;
        }
        self.stacked.clear();
        spread(&std::mem::take(&mut self.pending), self.since, &mut shares);
        shares
            .retain(|share| share.count > 0 || share.blocked.0 > 0 || share.queued.is_some_and(|queued| queued.0 > 0));
        shares
    }
}

/// Shares a sum out. What stands for several waits has no moment of its own: these shares follow one another.
fn spread(sum: &Sum, since: Nanos, shares: &mut [Share]) {
    let all = shares.iter().map(|share| share.wait.stands_for());
    let (time, count) = all.fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    if let Some(share) = shares.iter_mut().max_by_key(|share| share.longest) {
        share.longest = share.longest.max(sum.longest);
    }
    let Some(end) = shares.iter().rposition(|share| share.wait.stands_for().0 > 0.0) else { return };
    let (mut at, mut before, mut given) = (since, (0.0, 0.0), Sum::default());
    for (index, share) in shares.iter_mut().enumerate() {
        let (stands_for_time, stands_for_count) = share.wait.stands_for();
        before = (before.0 + stands_for_time, before.1 + stands_for_count);
        // Of running sums, so that the rounded parts add up to the whole.
        let part = |of: u64, share: f64| if index >= end { of } else { (of as f64 * share) as u64 };
        let until = Sum {
            count: part(sum.count, before.1 / count),
            blocked: Nanos(part(sum.blocked.0, before.0 / time)),
            queued: Nanos(part(sum.queued.0, before.0 / time)),
            longest: sum.longest,
        };
        let (blocked, queued) = (until.blocked - given.blocked, until.queued - given.queued);
        share.count += until.count.saturating_sub(given.count);
        share.blocked += blocked;
        if queued.0 > 0 || !share.own {
            share.queued = Some(share.queued.unwrap_or_default() + queued);
        }
        if stands_for_time > 0.0 {
            share.at = at;
            at = at + share.blocked + share.queued.unwrap_or_default();
        }
        given = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACING: u64 = 1_000_000;
    const SLEEPING: usize = 1;

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) * end) >> 31
        }
    }

    /// A thread as the kernel would sum it, and its spans.
    struct Simulated {
        waits: SummedWaits,
        sums: ThreadSums,
        out: EventQueue,
        random: Random,
        at: u64,
    }

    impl Simulated {
        fn new(seed: u64) -> Simulated {
            let sums = ThreadSums { pid: 1, tid: 2, left: None, sums: Default::default() };
            Simulated { waits: SummedWaits::default(), sums, out: EventQueue::default(), random: Random(seed), at: 0 }
        }

        fn wait(&mut self, stack: u32, blocked: u64, queued: u64) {
            let length = blocked + queued;
            let at = Nanos(self.at);
            self.at += length + 1_000;
            if self.random.below(SPACING) < length {
                let (blocked, queued, stack) = (Nanos(blocked), Some(Nanos(queued)), Some(StackId(stack)));
                let wait = StackedWait { at, blocked, queued, stack, end: StackEnd::Whole, spacing: Nanos(SPACING) };
                return self.waits.stacked(2, SLEEPING, wait);
            }
            let sum = &mut self.sums.sums[SLEEPING];
            sum.count += 1;
            (sum.blocked, sum.queued) = (sum.blocked + Nanos(blocked), sum.queued + Nanos(queued));
            sum.longest = sum.longest.max(Nanos(length));
        }

        fn read(&mut self) {
            self.waits.read(Nanos(self.at), &self.sums, &mut self.out);
            self.waits.read_all(Nanos(self.at));
        }

        fn spans(mut self) -> Vec<OffCpu> {
            self.waits.ended(Nanos(self.at), &self.sums, &mut self.out);
            let spans = self.out.take().into_iter();
            spans.filter_map(|event| if let Event::OffCpu(span) = event { Some(span) } else { None }).collect()
        }
    }

    fn total(spans: &[OffCpu]) -> (u64, u64, u64, u64) {
        let sum = |of: fn(&OffCpu) -> u64| spans.iter().map(of).sum::<u64>();
        let queued = sum(|span| span.queued.unwrap_or_default().0);
        let longest = spans.iter().map(|span| span.longest.0).max().unwrap_or(0);
        (sum(|span| span.count), sum(|span| span.blocked.0), queued, longest)
    }

    #[test]
    fn whatever_comes_with_a_stack_every_wait_is_counted_once() {
        for seed in 0..200 {
            let mut thread = Simulated::new(seed);
            let (mut expected, mut shape) = ((0, 0, 0, 0), Random(seed ^ 99));
            for _ in 0..shape.below(400) {
                let most = [100, 30_000, 3_000_000][shape.below(3) as usize];
                let (blocked, queued) = (1 + shape.below(most), shape.below(200));
                thread.wait(shape.below(5) as u32, blocked, queued);
                let (count, all, queues, longest) = expected;
                expected = (count + 1, all + blocked, queues + queued, longest.max(blocked + queued));
                if shape.below(40) == 0 {
                    thread.read();
                }
            }
            let end = thread.at;
            let spans = thread.spans();
            assert_eq!(total(&spans), expected, "seed {seed}");
            assert!(spans.iter().all(|span| (span.at + span.whole()).0 <= end), "seed {seed}");
        }
    }

    #[test]
    fn shares_of_stacks_are_right_on_average_however_their_lengths_differ() {
        // Stack, length, number in a round: 40%, 10%, 50% of the time.
        const KINDS: [(u32, u64, u32); 3] = [(0, 20_000, 2000), (1, 500_000, 20), (2, 5_000_000, 10)];
        let whole: u64 = KINDS.iter().map(|(_, length, count)| length * u64::from(*count)).sum();
        let (mut time, mut count, runs) = ([0.0; 3], [0.0; 3], 100);
        for seed in 0..runs {
            let mut thread = Simulated::new(seed * 7 + 1);
            for (stack, length, number) in KINDS {
                (0..number).for_each(|_| thread.wait(stack, length, 0));
            }
            for span in thread.spans() {
                let stack = span.stack.map_or(0, |stack| stack.0 as usize);
                time[stack] += span.blocked.0 as f64 / (runs * whole) as f64;
                count[stack] += span.count as f64 / runs as f64;
            }
        }
        for (at, (_, length, number)) in KINDS.into_iter().enumerate() {
            let share = (length * u64::from(number)) as f64 / whole as f64;
            assert!((time[at] / share - 1.0).abs() < 0.06, "stack {at}: {time:?} of the time");
            assert!((count[at] / f64::from(number) - 1.0).abs() < 0.12, "stack {at}: {count:?} waits");
        }
    }

    #[test]
    fn long_waits_are_as_seen_and_short_ones_without_any_stack_have_none() {
        let mut thread = Simulated::new(3);
        thread.wait(7, 4 * SPACING, 10);
        thread.read();
        thread.sums.sums[SLEEPING] = Sum { count: 3, blocked: Nanos(30), queued: Nanos(0), longest: Nanos(20) };
        let spans = thread.spans();
        let seen: Vec<_> = spans.iter().map(|s| (s.stack.map(|s| s.0), s.count, s.blocked.0, s.estimated)).collect();
        assert_eq!(seen, [(Some(7), 1, 4 * SPACING, false), (None, 3, 30, false)]);
    }
}
