//! The periods of events that sample at a frequency. They vary: a fixed one that equals a program's cycle finds the same place of
//! each cycle, whatever else the program does (lockstep sampling). Each sample weighs its own period.
//!
//! An event is given another period some tens of times a second. That begins the interval anew, so the next sample comes at
//! another phase of a cycle, too. What the broken interval was worth is added to the first sample that follows.

use super::even_spread::EvenSpread;
use crate::model::Rate;
use crate::sys::perf::event::{Request, clock_period};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Frequencies lie within this part above and below the mean.
const SPREAD: f64 = 0.3;
/// The time between two changes of all events; the half to one and a half of it.
const BETWEEN: Nanos = Nanos(33_000_000);
/// A period of an event on a CPU lasts this many samples at least, as every change breaks an interval. On a thread, how much of it
/// had passed is less certain.
const LEAST_ON_CPU: u64 = 5;
const LEAST_ON_THREAD: u64 = 8;
/// Maximum number of changes at a time: each interrupts a CPU, for some microseconds.
const MOST_CHANGES: usize = 32;

/// The periods of all events of a capture.
#[derive(Debug, Default)]
pub struct SamplePeriods {
    /// In the order of the opened events; `None` for one that is not sampled at a frequency.
    events: Vec<Option<VariedEvent>>,
    by_id: FxHashMap<u64, u32>,
    /// Of which share of the time samples are taken, before and after the last change of that.
    shares: [f64; 2],
    shared_since: Nanos,
    next: Nanos,
    /// The moments of changes.
    moments: EvenSpread,
    /// The event that is looked at first.
    first: usize,
}

/// An event whose period varies.
#[derive(Debug)]
pub struct VariedEvent {
    /// Whether the kernel's timer samples it: then samples report the period that the event was opened with.
    is_clock: bool,
    /// Whether it goes on whatever its CPU runs, so that it is due for a sample at a known time.
    is_on_cpu: bool,
    reported: u64,
    frequencies: EvenSpread,
    since: Nanos,
    /// Before and after the last change.
    periods: [u64; 2],
    /// Samples since then, and the time of the last.
    samples: u64,
    last: Nanos,
    /// What the interval was worth that the last change broke, until that is added to a sample, up to this time. Others than
    /// clocks weigh what the kernel reports: each loses the same part.
    broken: u64,
    until: Nanos,
}

/// The period to be set next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPeriod {
    /// Samples per second.
    pub hertz: u64,
    /// Nanoseconds, of a clock.
    pub period: u64,
    /// Whether it is a clock.
    pub is_clock: bool,
}

impl SamplePeriods {
    /// Of these opened events: the id and the request of those that are sampled, and whether they go on whatever their CPU
    /// runs.
    pub fn of<'a>(events: impl Iterator<Item = Option<(u64, &'a Request, bool)>>, seed: u64) -> SamplePeriods {
        let mut periods = SamplePeriods { shares: [1.0; 2], moments: EvenSpread::of(seed), ..SamplePeriods::default() };
        for event in events {
            let at = periods.events.len() as u32;
            let varied = event.and_then(|(id, request, is_on_cpu)| {
                let Some(Rate::Frequency(hertz)) = request.rate else { return None };
                periods.by_id.insert(id, at);
                let (is_clock, period) = (request.is_clock(), clock_period(hertz));
                Some(VariedEvent {
                    is_clock,
                    is_on_cpu: is_on_cpu && is_clock,
                    reported: period,
                    frequencies: EvenSpread::of(seed.wrapping_add(id)),
                    since: Nanos(0),
                    periods: [period; 2],
                    samples: 0,
                    last: Nanos(0),
                    broken: 0,
                    until: Nanos(0),
                })
            });
            periods.events.push(varied);
        }
        periods
    }

    /// From now on, samples are taken for this share of the time.
    pub fn in_turns(&mut self, at: Nanos, share: f64) {
        (self.shared_since, self.shares) = (at, [self.shares[1], share]);
    }

    /// Whether an event is sampled at a frequency.
    pub fn is_varied(&self, event: usize) -> bool {
        self.events.get(event).is_some_and(Option::is_some)
    }

    /// The time until periods are changed next; `None` if there are none.
    pub fn due_in(&self, now: Nanos) -> Option<Nanos> {
        (!self.by_id.is_empty()).then(|| self.next - now)
    }

    /// Changes the periods of events that have kept theirs for long enough, if it is time for it; `set` is given the position of
    /// an event and says when the kernel had done it.
    pub fn vary(&mut self, now: Nanos, hertz: u64, mut set: impl FnMut(usize, NextPeriod) -> Option<Nanos>) {
        if self.by_id.is_empty() || now < self.next {
            return;
        }
        self.next = now + Nanos((BETWEEN.as_f64() * (0.5 + self.moments.draw())) as u64);
        let (count, mut left) = (self.events.len(), MOST_CHANGES);
        for event in (self.first..count).chain(0..self.first) {
            if left == 0 {
                self.first = event;
                return;
            }
            if let Some(varied) = self.events[event].as_mut().filter(|varied| varied.is_due(now)) {
                varied.change(hertz, |next| set(event, next));
                left -= 1;
            }
        }
    }

    /// Changes all periods, as their mean changes.
    pub fn change_all(&mut self, hertz: u64, mut set: impl FnMut(usize, NextPeriod) -> Option<Nanos>) {
        for (event, varied) in self.events.iter_mut().enumerate() {
            varied.iter_mut().for_each(|varied| varied.change(hertz, |next| set(event, next)));
        }
    }

    /// The weight of a sample of the event with this id, which carries this period.
    #[inline]
    pub fn weight(&mut self, id: u64, at: Nanos, reported: u64) -> u64 {
        let event = self.by_id.get(&id).and_then(|event| self.events[*event as usize].as_mut());
        let Some(event) = event else { return reported };
        let weight = event.weight(at, reported);
        match self.shares[usize::from(at >= self.shared_since)] {
            1.0 => weight,
            share => (weight as f64 / share) as u64,
        }
    }
}

impl VariedEvent {
    /// Whether its period is old enough. An event that counts only while its thread runs is given another one only after
    /// samples: a thread that hardly runs would never come to the end of an interval.
    fn is_due(&self, now: Nanos) -> bool {
        if self.is_on_cpu {
            now >= self.since + Nanos(LEAST_ON_CPU * self.periods[1])
        } else {
            self.samples >= LEAST_ON_THREAD
        }
    }

    fn change(&mut self, hertz: u64, set: impl FnOnce(NextPeriod) -> Option<Nanos>) {
        let hertz = hertz as f64 * (1.0 + SPREAD * (2.0 * self.frequencies.draw() - 1.0));
        let period = (1e9 / hertz.max(1e-9)) as u64;
        // One whose thread has ended has nothing to change.
        let Some(at) = set(NextPeriod { hertz: hertz as u64, period, is_clock: self.is_clock }) else { return };
        (self.broken, self.until) = match (self.is_clock, self.is_on_cpu) {
            (false, _) => (0, at),
            (true, true) if self.since.0 > 0 => (self.half().min((at - self.since).0), at + Nanos(period + period / 2)),
            (true, true) => (0, at),
            (true, false) => (self.counted(at), Nanos(u64::MAX)),
        };
        self.periods = [self.periods[1], period];
        (self.since, self.last, self.samples) = (at, at, 0);
    }

    /// What an interval is worth that a change breaks at any moment, on average.
    fn half(&self) -> u64 {
        self.periods[1] / 2
    }

    /// What an event on a thread has counted since its last sample, by how fast it counted before. If that is more than a
    /// period, there are samples that have not been read.
    fn counted(&self, at: Nanos) -> u64 {
        let until_last = (self.last - self.since).as_f64();
        let speed = if self.samples > 0 { (self.samples * self.periods[1]) as f64 / until_last.max(1.0) } else { 0.0 };
        let counted = (speed * (at - self.last).as_f64()) as u64;
        if counted < self.periods[1] { counted } else { self.half() }
    }

    fn weight(&mut self, at: Nanos, reported: u64) -> u64 {
        // A copy that a thread has inherited keeps the period of that moment, and reports it.
        if self.is_clock && reported != self.reported {
            return reported;
        }
        let is_after = at >= self.since;
        let period = if self.is_clock { self.periods[usize::from(is_after)] } else { reported };
        if !is_after {
            return period;
        }
        (self.samples, self.last) = (self.samples + 1, at);
        let broken = std::mem::take(&mut self.broken);
        period + if at <= self.until { broken } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::perf::event::SOFTWARE;

    const HERTZ: u64 = 1000;
    const PERIOD: u64 = 1_000_000;

    fn request(pmu: u32, config: u64, rate: Rate) -> Request {
        Request { rate: Some(rate), ..Request::counting(pmu, [config, 0, 0]) }
    }

    /// A clock with the id 9 on a CPU or a thread.
    fn clock(is_on_cpu: bool) -> SamplePeriods {
        let clock = request(SOFTWARE, 0, Rate::Frequency(HERTZ));
        SamplePeriods::of([Some((9, &clock, is_on_cpu))].into_iter(), 1)
    }

    /// The next change, from `now` on, at that moment.
    fn vary(periods: &mut SamplePeriods, now: u64) -> Option<u64> {
        let mut set = None;
        periods.vary(Nanos(now), HERTZ, |_, next| {
            set = Some(next.period);
            Some(Nanos(now))
        });
        set
    }

    #[test]
    fn only_what_is_sampled_at_a_frequency_varies_and_only_clocks_weigh_what_was_set() {
        let frequency = Rate::Frequency(HERTZ);
        let requests = [
            request(SOFTWARE, 0, frequency),
            request(SOFTWARE, 1, frequency),
            request(SOFTWARE, 0, Rate::Period(5)),
            request(SOFTWARE, 2, frequency),
            request(0, 0, frequency),
        ];
        let opened = requests.iter().zip(10..).map(|(request, id)| Some((id, request, true))).chain([None]);
        let mut periods = SamplePeriods::of(opened, 1);
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6].map(|event| periods.is_varied(event)),
            [true, true, false, true, true, false, false]
        );
        periods.change_all(500, |_, _| Some(Nanos(10)));
        let weights =
            |periods: &mut SamplePeriods, at| [10, 11, 12, 13, 14, 15].map(|id| periods.weight(id, Nanos(at), PERIOD));
        assert_eq!(weights(&mut periods, 9), [PERIOD; 6], "before the change");
        for (id, weight) in (10..).zip(weights(&mut periods, 4_000_000)) {
            let is_near = (1_530_000..=2_860_000).contains(&weight);
            assert_eq!(is_near, id < 12, "{id}: {weight}");
        }
        let before = weights(&mut periods, 4_999_999);
        periods.in_turns(Nanos(5_000_000), 0.25);
        assert_eq!(weights(&mut periods, 4_999_999), before);
        let after = weights(&mut periods, 5_000_000);
        assert_eq!([0, 1, 3, 4].map(|at| after[at]), [0, 1, 3, 4].map(|at| 4 * before[at]));
        assert_eq!([after[2], after[5]], [PERIOD; 2]);
    }

    #[test]
    fn a_refused_change_is_none() {
        let mut periods = clock(true);
        periods.change_all(HERTZ, |_, _| None);
        assert_eq!(periods.weight(9, Nanos(5), PERIOD), PERIOD);
    }

    #[test]
    fn an_event_on_a_thread_keeps_its_period_until_it_has_been_sampled() {
        let mut periods = clock(false);
        assert_eq!(vary(&mut periods, 1_000_000_000), None);
        for at in 1..=LEAST_ON_THREAD {
            assert_eq!(vary(&mut periods, (1 + at) * 1_000_000_000), None);
            periods.weight(9, Nanos(at), PERIOD);
        }
        assert!(vary(&mut periods, 10_000_000_000).is_some());
    }

    #[test]
    fn an_inherited_copy_keeps_the_period_that_it_reports() {
        let mut periods = clock(false);
        periods.change_all(HERTZ, |_, _| Some(Nanos(1)));
        assert_eq!(periods.weight(9, Nanos(5), 800_001), 800_001);
    }

    #[test]
    fn no_more_than_some_events_change_at_a_time_and_the_others_next() {
        let clock = request(SOFTWARE, 0, Rate::Frequency(HERTZ));
        let mut periods = SamplePeriods::of((0..80).map(|id| Some((id, &clock, true))), 1);
        let mut changed = vec![0; 80];
        for round in 1..=5 {
            let (now, before) = (Nanos(round * 100_000_000), changed.iter().sum::<usize>());
            periods.vary(now, HERTZ, |event, _| {
                changed[event] += 1;
                Some(now)
            });
            assert_eq!(changed.iter().sum::<usize>() - before, MOST_CHANGES);
        }
        assert!(changed.iter().all(|changes| *changes == 2), "{changed:?}");
    }

    /// The time from the beginning to the end by the weights of the samples that a clock of the kernel's takes: of all of them,
    /// and of those in the first 60% of each cycle. The clock counts while `runs`.
    fn sampled(is_on_cpu: bool, end: u64, cycle: u64, runs: impl Fn(u64) -> bool) -> [f64; 2] {
        let mut periods = clock(is_on_cpu);
        let (mut left, mut period, mut found) = (PERIOD, PERIOD, [0.0; 2]);
        let step = 10_000;
        for now in (0..end).step_by(step as usize) {
            periods.vary(Nanos(now), HERTZ, |_, next| {
                (left, period) = (next.period, next.period);
                Some(Nanos(now))
            });
            if !is_on_cpu && !runs(now) {
                continue;
            }
            left = left.saturating_sub(step);
            if left == 0 {
                left = period;
                // An event on a CPU is due whatever runs; samples of others are dropped.
                if runs(now) {
                    let weight = periods.weight(9, Nanos(now), PERIOD) as f64;
                    found[0] += weight;
                    found[1] += if now % cycle < cycle * 6 / 10 { weight } else { 0.0 };
                }
            }
        }
        found
    }

    #[test]
    fn weights_are_the_time_and_no_cycle_keeps_step() {
        let end = 60_000_000_000;
        for is_on_cpu in [true, false] {
            for cycle in [500_000, 1_000_000, 1_500_000, 2_000_000, 3_000_000] {
                let [all, first] = sampled(is_on_cpu, end, cycle, |_| true);
                assert!((all / end as f64 - 1.0).abs() < 0.01, "{is_on_cpu} {cycle}: {all}");
                let share = first / all;
                assert!((share - 0.6).abs() < 0.03, "{is_on_cpu} {cycle}: {share}");
            }
            // A thread that runs for a tenth, and for a hundredth of the time.
            for (part, tolerance) in [(10, 0.03), (100, 0.08)] {
                let [all, _] = sampled(is_on_cpu, end, PERIOD, |now| now / 700_000 % part == 0);
                let truth = end as f64 / part as f64;
                assert!((all / truth - 1.0).abs() < tolerance, "{is_on_cpu}, 1 of {part}: {}", all / truth);
            }
        }
    }
}
