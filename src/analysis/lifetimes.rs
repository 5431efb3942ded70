//! How long the target's threads lived, exact to birth and exit: the denominator of shares of thread time. A thread
//! without a recorded birth was alive before the recording; one without a recorded exit is still alive.

use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{LossKind, Target, TaskChange, TaskEvent};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The lifetimes of the target's threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Lifetimes {
    lives: FxHashMap<u32, Vec<Lifetime>>,
    births: TimestampSums,
    ends: TimestampSums,
    /// When records were first lost. An exit lost with them would look like a thread that lives on.
    complete_until: Option<Nanos>,
}

#[derive(Debug, Clone, Copy)]
struct Lifetime {
    pid: u32,
    born: Nanos,
    ended: Option<Nanos>,
}

impl Lifetimes {
    /// Collects the lifetimes from task events. `None` if there are none, or if the target is a set of CPUs, which has
    /// no threads of its own.
    pub fn of(profile: &Profile) -> Option<Lifetimes> {
        let target = &profile.meta.plan.target;
        let wanted = |event: &&TaskEvent| match target {
            Target::Threads { tids } => tids.contains(&event.tid),
            _ => true,
        };
        if matches!(target, Target::Cpus { .. }) {
            return None;
        }
        let mut lifetimes = Lifetimes::default();
        // A thread may join a cgroup long after its birth.
        let joins = matches!(target, Target::Cgroup { .. });
        let began = profile.tasks.first().map(|event| event.at).unwrap_or_default();
        for event in profile.tasks.iter().filter(wanted) {
            lifetimes.apply(event, if joins && event.at > began + JOINED_LATER { event.at } else { Nanos(0) });
        }
        let lives = || lifetimes.lives.values().flatten();
        lifetimes.births = TimestampSums::of(lives().map(|lifetime| lifetime.born));
        lifetimes.ends = TimestampSums::of(lives().filter_map(|lifetime| lifetime.ended));
        let lost = profile.lost.iter().filter(|lost| lost.kind == LossKind::Ring);
        lifetimes.complete_until = lost.map(|lost| lost.at).min();
        (!lifetimes.lives.is_empty()).then_some(lifetimes)
    }

    /// Whether no event was lost up to that moment.
    pub fn is_complete(&self, until: Nanos) -> bool {
        self.complete_until.is_none_or(|lost| lost >= until)
    }

    /// Time that all threads together lived within the window.
    pub fn total(&self, window: Window) -> Nanos {
        let until = |at: Nanos| self.births.elapsed(at) - self.ends.elapsed(at);
        Nanos(u64::try_from(until(window.to) - until(window.from)).unwrap_or(0))
    }

    /// Time that this thread lived within the window; `None` if no record mentions it.
    pub fn thread(&self, tid: u32, window: Window) -> Option<Nanos> {
        let range = window.range();
        let within = |lifetime: &Lifetime| {
            range.overlap(lifetime.born, lifetime.ended.unwrap_or(Nanos(u64::MAX)) - lifetime.born)
        };
        Some(self.lives.get(&tid)?.iter().map(within).fold(Nanos(0), |sum, lifetime| sum + lifetime))
    }

    /// The share of its time in the window before its last reading: the last of `moments` it lived to, or `read`.
    pub fn seen(&self, tid: u32, window: Window, moments: &[Nanos], read: Nanos) -> f64 {
        let Some(lived) = self.thread(tid, window).filter(|lived| lived.0 > 0) else { return 1.0 };
        let ends = self.lives[&tid].iter().filter_map(|lifetime| Some((lifetime.born, lifetime.ended?)));
        let unseen = ends.map(|(born, ended)| {
            let last = moments[..moments.partition_point(|at| *at <= ended)].last().copied().unwrap_or_default();
            let since = last.max(read).max(born);
            window.range().overlap(since, ended - since)
        });
        1.0 - unseen.fold(Nanos(0), |sum, part| sum + part).as_f64() / lived.as_f64()
    }

    fn apply(&mut self, event: &TaskEvent, met: Nanos) {
        let TaskEvent { at, pid, tid, .. } = *event;
        match &event.change {
            TaskChange::Born { .. } => {
                self.end(tid, at);
                self.begin(pid, tid, at);
            }
            TaskChange::Ended => self.end(tid, at),
            TaskChange::Renamed { exec: true, .. } => {
                // Only one thread survives an exec. It takes over the id of the first thread.
                for lifetime in self.lives.iter_mut().filter(|(other, _)| **other != tid).flat_map(|(_, lives)| lives) {
                    if lifetime.pid == pid && lifetime.ended.is_none() {
                        lifetime.ended = Some(at);
                    }
                }
                match self.lives.get(&tid) {
                    None => self.begin(pid, tid, met),
                    Some(lives) if lives.last().is_some_and(|lifetime| lifetime.ended.is_some()) => {
                        self.begin(pid, tid, at)
                    }
                    Some(_) => {}
                }
            }
            // A thread seen alive after its exit was in the last moments of exiting.
            TaskChange::Alive { .. } | TaskChange::Renamed { .. } if self.lives.contains_key(&tid) => {}
            TaskChange::Alive { .. } | TaskChange::Renamed { .. } => self.begin(pid, tid, met),
        }
    }

    fn begin(&mut self, pid: u32, tid: u32, born: Nanos) {
        self.lives.entry(tid).or_default().push(Lifetime { pid, born, ended: None });
    }

    fn end(&mut self, tid: u32, at: Nanos) {
        if let Some(lifetime) = self.lives.get_mut(&tid).and_then(|lives| lives.last_mut())
            && lifetime.ended.is_none()
        {
            lifetime.ended = Some(at);
        }
    }
}

/// The threads in a cgroup when capture begins are all reported within this time.
const JOINED_LATER: Nanos = Nanos(100_000_000);

/// Sorted timestamps with prefix sums, so that a window costs two searches whatever their number.
#[derive(Debug, Clone, Default)]
struct TimestampSums {
    at: Vec<u64>,
    sums: Vec<i128>,
}

impl TimestampSums {
    fn of(moments: impl Iterator<Item = Nanos>) -> TimestampSums {
        let mut at: Vec<u64> = moments.map(|moment| moment.0).collect();
        at.sort_unstable();
        let sums = at.iter().scan(0, |sum, at| {
            *sum += i128::from(*at);
            Some(*sum)
        });
        let sums = std::iter::once(0).chain(sums).collect();
        TimestampSums { at, sums }
    }

    /// The time from each timestamp before `now` until `now`, summed.
    fn elapsed(&self, now: Nanos) -> i128 {
        let before = self.at.partition_point(|at| *at < now.0);
        before as i128 * i128::from(now.0) - self.sums.get(before).copied().unwrap_or(0)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};

    fn born() -> TaskChange {
        TaskChange::Born { parent: 41, comm: "w".to_string() }
    }

    fn exec() -> TaskChange {
        TaskChange::Renamed { comm: "x".to_string(), exec: true }
    }

    fn alive() -> TaskChange {
        TaskChange::Alive { comm: "w".to_string() }
    }

    /// Checks the threads' time in each window, milliseconds.
    fn check(target: Option<Target>, events: &[(u64, u32, TaskChange)], windows: &[(u64, u64, u64)]) {
        let mut synthetic = Synthetic::new();
        synthetic.meta.plan.target = target.unwrap_or_else(|| synthetic.meta.plan.target.clone());
        for (at, tid, change) in events {
            synthetic.task(*at, 41, *tid, change.clone());
        }
        let lifetimes = Lifetimes::of(&synthetic.finish()).unwrap();
        for (from, to, expected) in windows {
            let window = Window { from: ms(*from), to: ms(*to) };
            assert_eq!(lifetimes.total(window), ms(*expected), "{from}-{to} of {events:?}");
            let threads: u64 = lifetimes.lives.keys().map(|tid| lifetimes.thread(*tid, window).unwrap().0).sum();
            assert_eq!(threads, ms(*expected).0, "thread by thread, {from}-{to} of {events:?}");
        }
    }

    #[test]
    fn a_thread_counts_from_its_birth_to_its_end() {
        let events = [(0, 41, alive()), (300, 42, born()), (800, 42, TaskChange::Ended), (900, 41, TaskChange::Ended)];
        check(None, &events, &[(0, 1000, 1400), (0, 400, 500), (400, 850, 850), (850, 2000, 50), (1000, 2000, 0)]);
    }

    #[test]
    fn a_number_used_again_is_another_life() {
        let events = [(100, 42, born()), (200, 42, TaskChange::Ended), (500, 42, born()), (600, 42, TaskChange::Ended)];
        check(None, &events, &[(0, 1000, 200), (150, 550, 100)]);
    }

    #[test]
    fn an_exec_ends_all_threads_but_the_one_that_goes_on() {
        let others = [(0, 41, alive()), (100, 42, born()), (300, 41, exec())];
        check(None, &others, &[(0, 1000, 1200)]);
        let by_another = [(0, 41, alive()), (100, 42, born()), (200, 41, TaskChange::Ended), (300, 41, exec())];
        check(None, &by_another, &[(0, 1000, 1100)]);
        check(None, &[(50, 41, exec())], &[(0, 1000, 1000)]);
    }

    #[test]
    fn a_thread_seen_once_more_in_its_exit_does_not_live_again() {
        let events = [(0, 41, alive()), (300, 41, TaskChange::Ended), (301, 41, alive())];
        check(None, &events, &[(0, 1000, 300)]);
    }

    #[test]
    fn a_thread_that_joins_a_control_group_counts_from_then_on() {
        let group = Target::Cgroup { name: "g".to_string(), path: "/g".into(), others: vec![] };
        check(Some(group), &[(0, 41, alive()), (600, 42, alive())], &[(0, 1000, 1400)]);
    }

    #[test]
    fn only_the_threads_that_were_asked_for_count() {
        let threads = Target::Threads { tids: vec![42] };
        check(Some(threads), &[(0, 42, alive()), (600, 43, born())], &[(0, 1000, 1000)]);
    }

    #[test]
    fn whole_cpus_have_no_threads_of_their_own_and_a_loss_is_known() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").lost(500, LossKind::Ring, 3);
        let mut profile = synthetic.finish();
        let lifetimes = Lifetimes::of(&profile).unwrap();
        assert!(lifetimes.is_complete(ms(500)) && !lifetimes.is_complete(ms(501)));
        profile.meta.plan.target = Target::Cpus { cpus: vec![] };
        assert!(Lifetimes::of(&profile).is_none());
    }
}
