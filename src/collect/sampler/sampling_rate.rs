//! Chooses the sampling frequency at which a capture costs no more than allowed: samples cost the target each interruption,
//! and ironlaw what it takes to drain them; they get what waits, counters and probes leave.

use super::overhead::Overhead;
use crate::model::Note;
use crate::units::Nanos;

/// A lower frequency shows hardly anything.
const LEAST: u64 = 49;
/// Cost must fall to this part of what is allowed before the frequency rises again, so that it does not swing.
const ROOM: f64 = 0.67;
/// The part of what is allowed that samples get where the rest costs more than that already: hardly any samples would make
/// the sum no smaller to speak of.
const KEPT: f64 = 0.25;

/// What sampling had cost by the end of a window.
#[derive(Debug, Clone, Copy, Default)]
pub struct SamplingCost {
    /// The time.
    pub at: Nanos,
    /// Number of samples of the target.
    pub samples: u64,
    /// CPU time of draining all records.
    pub drained: Nanos,
    /// Number of samples drained, and of all records.
    pub records: [u64; 2],
    /// What else had cost the target: waits, counters, probes and longer switches.
    pub others: Nanos,
}

impl SamplingCost {
    /// CPU time of draining samples since then.
    fn drained_since(&self, last: &SamplingCost) -> f64 {
        let [samples, all] = [0, 1].map(|at| self.records[at].saturating_sub(last.records[at]) as f64);
        (self.drained - last.drained).as_f64() * samples / all.max(1.0)
    }
}

/// The frequency, and what limits it.
#[derive(Debug)]
pub struct SamplingRate {
    /// What a sample costs the target, if that is known.
    pub cost: Option<Nanos>,
    /// Samples per second and running event; 0 if samples are not taken at a frequency.
    pub hertz: u64,
    planned: u64,
    /// The highest that the target's part allows.
    most: u64,
    lowest: u64,
    /// Share that is allowed, 0 to 1.
    allowed: f64,
    last: Option<SamplingCost>,
    /// The frequency that would have fitted in the last window.
    fitted: f64,
    why: Option<Why>,
    /// CPU time that shares are of, the target's or that of one CPU while it used less, and what else was spent in it.
    time: f64,
    others: f64,
}

/// The reason for the lowest frequency.
#[derive(Debug, Clone, Copy)]
struct Why {
    since: Option<Nanos>,
    share: f64,
    others: f64,
}

impl SamplingRate {
    /// The frequency to begin with, if at most these percent are allowed.
    pub fn new(planned: u64, percent: Option<f64>, cost: Option<Nanos>) -> SamplingRate {
        let allowed = percent.map_or(f64::INFINITY, |percent| percent / 100.0);
        let share = planned as f64 * cost.unwrap_or_default().seconds();
        let most = if share > allowed { lowered(planned, allowed / share) } else { planned };
        let why = (most < planned).then_some(Why { since: None, share, others: 0.0 });
        let fitted = f64::INFINITY;
        SamplingRate {
            cost,
            hertz: most,
            planned,
            most,
            lowest: most,
            allowed,
            last: None,
            fitted,
            why,
            time: 0.0,
            others: 0.0,
        }
    }

    /// Whether a window of this length is over and can be judged.
    pub fn is_due(&self, at: Nanos, interval: Nanos) -> bool {
        let since = self.last.map_or(Nanos(0), |last| last.at);
        self.planned > 0 && self.allowed.is_finite() && at >= since + interval
    }

    /// Whether the frequency changes. Two windows in a row must agree: the first samples of a program, for which
    /// its files are read, are not like later ones.
    pub fn next(&mut self, now: SamplingCost, events: usize) -> bool {
        let Some(last) = self.last.replace(now) else { return false };
        let (samples, elapsed) = ((now.samples - last.samples) as f64, (now.at - last.at).as_f64());
        let ran = samples * 1e9 / (self.hertz as f64 * events.max(1) as f64);
        let spent = samples * self.cost.unwrap_or_default().as_f64() + now.drained_since(&last);
        let time = ran.max(elapsed).max(1.0);
        self.time += time;
        self.others += (now.others - last.others).as_f64();
        // What samples cost is not known from a window without any.
        if samples == 0.0 {
            return false;
        }
        let (share, others) = (spent / time, (now.others - last.others).as_f64() / time);
        let left = if others < self.allowed { self.allowed - others } else { self.allowed * KEPT };
        let fits = self.hertz as f64 * left / share.max(f64::MIN_POSITIVE);
        let before = std::mem::replace(&mut self.fitted, fits);
        let next = if fits.max(before) < self.hertz as f64 {
            lowered(self.hertz, fits.max(before) / self.hertz as f64)
        } else {
            self.most.min((fits.min(before) * ROOM) as u64).max(self.hertz)
        };
        if next < self.lowest {
            let share = share * self.planned as f64 / self.hertz as f64;
            (self.lowest, self.why) = (next, Some(Why { since: Some(now.at), share, others }));
        }
        next != std::mem::replace(&mut self.hertz, next)
    }

    /// A note if the frequency is lower than planned from the beginning.
    pub fn note_on_begin(&self) -> Option<Note> {
        self.why.filter(|why| why.since.is_none()).map(|why| self.note(why))
    }

    /// A note if the frequency was lowered on the way.
    pub fn note_on_end(&self) -> Option<Note> {
        self.why.filter(|why| why.since.is_some()).map(|why| self.note(why))
    }

    /// The highest frequency that the cost of a sample allows.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The part of the first frequency that samples are taken at now.
    pub fn share(&self) -> f64 {
        if self.most > 0 { self.hertz as f64 / self.most as f64 } else { 1.0 }
    }

    /// A note if waits, counters and probes together took more than is allowed.
    pub fn exceeded(&self, overhead: &Overhead) -> Option<Note> {
        let all = self.others / self.time.max(1.0);
        let share = |part: Nanos| all * part.as_f64() / overhead.total().as_f64().max(1.0);
        let mut parts = [
            (
                share(overhead.waits()),
                "seeing waits",
                "Without --off-cpu (of top: with --no-off-cpu) waits cost nothing",
            ),
            (share(overhead.counters()), "hardware counters", "With -M none fewer hardware events are counted"),
            (share(overhead.switches()), "events on threads", "record -a has events on CPUs in place of threads"),
            (share(overhead.probes()), "probes", "Measure or count something rarer"),
        ];
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        (all > self.allowed && overhead.total().0 > 0).then(|| {
            let took: Vec<String> = parts
                .iter()
                .filter(|(share, ..)| *share >= 0.0005)
                .map(|(share, what, _)| format!("{what} {:.1}%", 100.0 * share))
                .collect();
            Note {
                topic: "overhead-exceeded".to_string(),
                text: format!(
                    "Of the target's CPU time, these took more than the {}% that are allowed (--max-overhead): {}. They went \
                     on, and samples kept a quarter of the limit.",
                    100.0 * self.allowed,
                    took.join(", ")
                ),
                fix: Some(format!("{}; --max-overhead 100 lifts the limit.", parts[0].2)),
            }
        })
    }

    fn note(&self, why: Why) -> Note {
        let (planned, lowest) = (self.planned, self.lowest);
        let since = why.since.map_or(String::new(), |since| format!(" from {:.1} s on", since.seconds()));
        let cost = self
            .cost
            .map_or(String::new(), |cost| format!(" A sample takes {:.1} us from the target.", cost.as_f64() / 1e3));
        let others = match why.others {
            ..0.0005 => String::new(),
            others => format!(" Waits, counters, probes and longer switches take {:.1}%.", 100.0 * others),
        };
        Note {
            topic: Note::SAMPLING_SLOWED.to_string(),
            text: format!(
                "Sampling at {planned} Hz would cost the target and ironlaw {:.1}% of the target's CPU time, where {}% are \
                 allowed (--max-overhead): {lowest} Hz{since}.{others}{cost}",
                100.0 * why.share,
                100.0 * self.allowed
            ),
            fix: Some(format!("To sample at {planned} Hz nevertheless: --max-overhead 100.")),
        }
    }
}

/// Odd numbers, so that samples do not align with timers.
fn lowered(hertz: u64, factor: f64) -> u64 {
    (((hertz as f64 * factor) as u64).saturating_sub(1) | 1).max(LEAST.min(hertz))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A program that uses `cpus` CPUs: each sample takes `cost` from it, and `drain` to be drained. Returns the frequency
    /// after each window.
    fn steered(rate: &mut SamplingRate, cpus: f64, drain: &[u64]) -> Vec<u64> {
        let mut now = SamplingCost::default();
        let window = |drain: &u64| {
            let samples = (rate.hertz as f64 * cpus) as u64;
            now.at += Nanos(SECOND);
            now.samples += samples;
            now.records = now.records.map(|records| records + samples);
            now.drained += Nanos(samples * drain);
            assert!(rate.is_due(now.at, Nanos(SECOND)));
            rate.next(now, 1);
            rate.hertz
        };
        drain.iter().map(window).collect()
    }

    #[test]
    fn what_costs_little_is_sampled_as_planned_and_nothing_is_noted() {
        for (percent, cost, cpus, drain) in
            [(Some(2.0), 6_000, 1.0, 5_000), (Some(2.0), 6_000, 64.0, 10_000), (Some(2.0), 0, 0.1, 190_000)]
        {
            let mut rate = SamplingRate::new(997, percent, Some(Nanos(cost)));
            assert_eq!(steered(&mut rate, cpus, &[drain; 5]), [997; 5], "{cost} {cpus} {drain}");
            assert!(rate.note_on_begin().is_none() && rate.note_on_end().is_none());
        }
        let mut unlimited = SamplingRate::new(9_999, None, Some(Nanos(50_000)));
        assert!(!unlimited.is_due(Nanos(u64::MAX), Nanos(1)) && unlimited.note_on_begin().is_none());
        unlimited.next(SamplingCost::default(), 1);
        assert_eq!(unlimited.hertz, 9_999);
    }

    #[test]
    fn a_sample_that_costs_the_target_too_much_lowers_the_frequency_from_the_start() {
        for (planned, percent, cost, hertz) in
            [(4_999, 2.0, 8_000, 2_499), (997, 2.0, 30_000, 665), (997, 0.1, 200_000, 49), (30, 0.1, 900_000, 30)]
        {
            let rate = SamplingRate::new(planned, Some(percent), Some(Nanos(cost)));
            assert_eq!(rate.hertz, hertz, "{planned} Hz, {percent}%, {cost} ns");
        }
        let note =
            SamplingRate::new(4_999, Some(2.0), Some(Nanos(8_000))).note_on_begin().unwrap_or_else(|| panic!("a note"));
        let named = ["4999 Hz would", "4.0%", "2% are allowed", ": 2499 Hz.", "8.0 us"];
        assert!(named.iter().all(|part| note.text.contains(part)), "{}", note.text);
    }

    #[test]
    fn draining_that_costs_too_much_for_two_windows_lowers_it_until_it_costs_less() {
        let mut rate = SamplingRate::new(997, Some(2.0), Some(Nanos(5_000)));
        let hertz =
            steered(&mut rate, 1.0, &[9_000, 90_000, 9_000, 35_000, 35_000, 35_000, 35_000, 5_000, 5_000, 5_000]);
        assert_eq!(hertz, [997, 997, 997, 997, 499, 499, 499, 499, 997, 997]);
        assert!(rate.note_on_begin().is_none());
        let note = rate.note_on_end().unwrap_or_else(|| panic!("a note"));
        assert!(note.text.contains(": 499 Hz from 5.0 s on") && note.text.contains("4.0%"), "{}", note.text);
    }

    #[test]
    fn it_settles_where_the_cost_is_what_is_allowed() {
        for (planned, percent, cost, drain) in
            [(4_999, 2.0, 4_000, 60_000), (997, 1.0, 3_000, 100_000), (20_000, 5.0, 1_000, 20_000)]
        {
            let mut rate = SamplingRate::new(planned, Some(percent), Some(Nanos(cost)));
            let last = steered(&mut rate, 2.0, &[drain; 12])[11];
            // The drain's time is of two CPUs' samples.
            let share = 100.0 * last as f64 * (cost + drain) as f64 * 1e-9;
            assert!((percent * 0.6..=percent * 1.01).contains(&share), "{share}% at {last} Hz, {percent}% allowed");
        }
    }

    /// A program that uses one CPU, whose samples cost 10 us each and whose waits and counters take a share of its time.
    fn beside(others: f64, windows: u64) -> SamplingRate {
        let mut rate = SamplingRate::new(997, Some(2.0), Some(Nanos(10_000)));
        let mut now = SamplingCost::default();
        for _ in 0..windows {
            now.at += Nanos(SECOND);
            now.samples += rate.hertz;
            now.others += Nanos((others * SECOND as f64) as u64);
            rate.next(now, 1);
        }
        rate
    }

    #[test]
    fn samples_get_what_waits_counters_and_probes_leave_of_what_is_allowed() {
        // Two percent are 1994 samples of 10 us each.
        for (others, hertz) in [(0.0, 997), (0.008, 997), (0.012, 797), (0.016, 397), (0.0199, 49)] {
            let rate = beside(others, 6);
            assert!(rate.hertz.abs_diff(hertz) <= 4, "{} Hz beside {others}", rate.hertz);
            let share = others + rate.hertz as f64 * 10e-6;
            assert!(share <= 0.0204, "{share} in all");
            assert_eq!(rate.note_on_end().is_some(), hertz < 997, "{others}");
        }
        let note = beside(0.012, 6).note_on_end().unwrap_or_else(|| panic!("a note"));
        assert!(note.text.contains("Waits, counters, probes and longer switches take 1.2%."), "{}", note.text);
    }

    #[test]
    fn where_the_others_take_more_than_is_allowed_samples_keep_a_quarter_and_a_note_names_what_to_leave_out() {
        let rate = beside(0.09, 6);
        assert!(rate.hertz.abs_diff(497) <= 4, "{} Hz", rate.hertz);
        let overhead = Overhead::new(false);
        assert_eq!(rate.exceeded(&overhead), None, "nothing was spent");
        overhead.waits_took(Nanos(4 * SECOND / 10));
        overhead.counters_took(Nanos(5 * SECOND / 100));
        let note = rate.exceeded(&overhead).unwrap_or_else(|| panic!("a note"));
        assert!(
            note.text.contains("the 2% that are allowed (--max-overhead): seeing waits 8.0%, hardware counters 1.0%."),
            "{}",
            note.text
        );
        assert!(note.fix.is_some_and(|fix| fix.starts_with("Without --off-cpu")));
    }
}
