//! The weight of samples whose frequency changes. Of those that a clock's timer took, the kernel goes on reporting the period
//! that the event was opened with; of all that are taken for a part of the time, the period while they are.

use crate::model::Rate;
use crate::sys::perf::event::{Request, clock_period};
use crate::units::Nanos;

/// The periods of the sampled clocks.
#[derive(Debug, Default)]
pub struct ClockPeriods {
    /// Whether each event is such a clock.
    clocks: Vec<bool>,
    /// The last change; older samples have been drained by the next.
    since: Nanos,
    /// The periods before and after it; `None` is the reported one.
    periods: [Option<u64>; 2],
    /// Whether each event is another one that is sampled at a frequency, and of which share of the time before and after.
    others: Vec<bool>,
    shares: [f64; 2],
}

impl ClockPeriods {
    /// Of these events, none of which has changed.
    pub fn of(sampled: &[Request]) -> ClockPeriods {
        let is_clock = |request: &Request| request.is_clock() && matches!(request.rate, Some(Rate::Frequency(_)));
        let is_other = |request: &Request| !request.is_clock() && matches!(request.rate, Some(Rate::Frequency(_)));
        ClockPeriods {
            clocks: sampled.iter().map(is_clock).collect(),
            others: sampled.iter().map(is_other).collect(),
            shares: [1.0; 2],
            ..ClockPeriods::default()
        }
    }

    /// From now on, samples are taken at their first frequency for this share of the time, which is this frequency on
    /// average.
    pub fn in_turns(&mut self, at: Nanos, hertz: u64, share: f64) {
        self.changed(at, hertz);
        self.shares = [self.shares[1], share];
    }

    /// The frequency of all changed.
    pub fn changed(&mut self, at: Nanos, hertz: u64) {
        self.since = at;
        self.periods = [self.periods[1], Some(clock_period(hertz))];
    }

    /// The weight of a sample of this event.
    pub fn weight(&self, event: u16, at: Nanos, reported: u64) -> u64 {
        let period = self.periods[usize::from(at >= self.since)];
        match self.clocks.get(usize::from(event)) {
            Some(true) => period.unwrap_or(reported),
            _ if self.others.get(usize::from(event)) == Some(&true) => {
                (reported as f64 / self.shares[usize::from(at >= self.since)]) as u64
            }
            _ => reported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::perf::event::SOFTWARE;

    #[test]
    fn only_samples_of_a_clocks_timer_weigh_what_was_set_and_from_then_on() {
        let [frequency, period] = [Rate::Frequency(1000), Rate::Period(5)];
        let requests =
            [(SOFTWARE, 0, frequency), (SOFTWARE, 1, frequency), (SOFTWARE, 0, period), (SOFTWARE, 2, frequency)];
        let hardware = (0, 0, frequency);
        let requests = requests.into_iter().chain([hardware]);
        let requests: Vec<_> = requests
            .map(|(pmu, config, rate)| Request { rate: Some(rate), ..Request::counting(pmu, [config, 0, 0]) })
            .collect();
        let mut periods = ClockPeriods::of(&requests);
        let weights = |periods: &ClockPeriods, at| [0, 1, 2, 3, 4, 5].map(|event| periods.weight(event, Nanos(at), 7));
        assert_eq!(weights(&periods, 0), [7; 6]);
        periods.changed(Nanos(10), 500);
        assert_eq!(weights(&periods, 9), [7; 6]);
        assert_eq!(weights(&periods, 10), [2_000_000, 2_000_000, 7, 7, 7, 7]);
        periods.changed(Nanos(20), 1000);
        assert_eq!(weights(&periods, 19), [2_000_000, 2_000_000, 7, 7, 7, 7]);
        assert_eq!(weights(&periods, 20), [1_000_000, 1_000_000, 7, 7, 7, 7]);
        periods.in_turns(Nanos(30), 250, 0.25);
        assert_eq!(weights(&periods, 29), [1_000_000, 1_000_000, 7, 7, 7, 7]);
        assert_eq!(weights(&periods, 30), [4_000_000, 4_000_000, 7, 28, 28, 7]);
    }
}
