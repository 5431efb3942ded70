//! Chooses the stretches of time in which latencies are measured, if measuring all the time would cost the target more than
//! allowed: a probe stops the program at each hit, measured or not, so only probes that are closed cost nothing.

use super::even_spread::EvenSpread;
use crate::units::Nanos;

/// Stretches are at least this long: an operation that is going on at the end of one is not measured.
const STRETCH: Nanos = Nanos(1_000_000_000);

/// The turns of measuring and resting.
#[derive(Debug, Clone)]
pub struct LatencyTurns {
    /// The CPU seconds per second that measuring may cost; `None` for no limit.
    allowed: Option<f64>,
    start: Nanos,
    measuring: bool,
    /// When the stretch began, and the operations so far then.
    since: Nanos,
    before: u64,
    /// The share of the time to measure, by the last stretch that was measured.
    share: f64,
    spread: EvenSpread,
    /// The time measured before this stretch.
    measured: Nanos,
}

impl LatencyTurns {
    /// Measures from now on.
    pub fn new(allowed: Option<f64>, at: Nanos) -> LatencyTurns {
        LatencyTurns {
            allowed,
            start: at,
            measuring: true,
            since: at,
            before: 0,
            share: 1.0,
            spread: EvenSpread::default(),
            measured: Nanos(0),
        }
    }

    /// Begins anew at a later moment.
    pub fn restart(&mut self, at: Nanos) {
        *self = LatencyTurns::new(self.allowed, at);
    }

    /// When it began.
    pub fn start(&self) -> Nanos {
        self.start
    }

    /// Whether this stretch is measured.
    pub fn measuring(&self) -> bool {
        self.measuring
    }

    /// The share of the time that is measured, now that the rate of operations is known.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The time measured until a moment.
    pub fn measured(&self, at: Nanos) -> Nanos {
        if self.measuring { self.measured + (at - self.since) } else { self.measured }
    }

    /// A window ended, with so many operations in all, each of which costs the target so much. Returns whether to measure
    /// from now on.
    pub fn next(&mut self, at: Nanos, operations: u64, cost_ns: f64) -> bool {
        let Some(allowed) = self.allowed.filter(|_| at >= self.since + STRETCH) else { return self.measuring };
        let elapsed = at - self.since;
        if self.measuring {
            let load = (operations - self.before) as f64 * cost_ns / elapsed.as_f64();
            self.share = if load > allowed { allowed / load } else { 1.0 };
        }
        let next = self.spread.draw() < self.share;
        self.measured = self.measured(at);
        (self.since, self.before, self.measuring) = (at, operations, next);
        next
    }

    /// Measuring could not be taken up again.
    pub fn rest(&mut self) {
        self.measuring = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a thousand seconds that is measured, at so many operations of 2 us per second.
    fn measured(allowed: Option<f64>, rate: u64) -> f64 {
        let mut turns = LatencyTurns::new(allowed, Nanos(0));
        let mut operations = 0;
        for second in 1..=1000 {
            operations += if turns.measuring() { rate } else { 0 };
            turns.next(Nanos(second * STRETCH.0), operations, 2_000.0);
        }
        turns.measured(Nanos(1000 * STRETCH.0)).seconds() / 1000.0
    }

    #[test]
    fn what_is_cheap_is_always_measured_and_what_is_dear_in_as_much_of_the_time_as_is_allowed() {
        assert_eq!(measured(Some(0.02), 10_000), 1.0);
        assert_eq!(measured(None, 1_000_000), 1.0);
        for (rate, share) in [(20_000, 0.5), (100_000, 0.1), (1_000_000, 0.01)] {
            let found = measured(Some(0.02), rate);
            assert!((found - share).abs() < 0.02, "{rate}/s: {found}");
        }
    }

    #[test]
    fn a_stretch_is_not_cut_short() {
        let mut turns = LatencyTurns::new(Some(0.02), Nanos(0));
        assert!(turns.next(Nanos(STRETCH.0 / 2), 1 << 40, 2_000.0), "half of it is over");
        assert!(!turns.next(STRETCH, 1 << 40, 2_000.0));
        assert_eq!(turns.measured(Nanos(9 * STRETCH.0)), STRETCH);
    }
}
