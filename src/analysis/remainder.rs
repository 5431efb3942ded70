//! What remains of a time span after the measured shares are subtracted. Each share has its own clock, so the rest may
//! fall slightly below zero. If it falls further, one of them is wrong, and the rest is `Suspect` instead of 0.

use crate::model::{Measure, Why};
use crate::units::Nanos;

/// Share by which clocks that are read one after the other may exceed the whole.
const CLOCK_ERROR: f64 = 0.01;
/// A running thread's own clock is up to one scheduler tick old.
const TICK: Nanos = Nanos(10_000_000);
/// Run-queue waits vary: the longest may be this many times the mean.
const LONGEST_WAIT: f64 = 4.0;

/// The share of a span that `used` leaves. `wait` is the mean wait in the run queue, which counts only when it ends.
/// The rest is 0 if the shares exceed the span by no more than their clocks' error. Beyond that one of them is wrong,
/// and it is unknown which.
pub(crate) fn remainder(used: Measure<f64>, span: Nanos, wait: Nanos) -> Measure<f64> {
    let late = TICK.as_f64() + LONGEST_WAIT * wait.as_f64();
    let clocks = CLOCK_ERROR + late / span.as_f64().max(1.0);
    match used {
        Measure::Known { value, quality } if value > 1.0 + clocks + (1.0 - quality.coverage) => {
            Measure::Missing(Why::Suspect)
        }
        used => used.map(|used| if used > 1.0 { 0.0 } else { 1.0 - used }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::ms;

    #[test]
    fn shares_that_exceed_their_whole_beyond_the_clocks_error_are_no_zero() {
        for (used, span, wait, expected) in [
            (0.4, 2000, 0, Measure::exact(0.6)),
            (1.014, 2000, 0, Measure::exact(0.0)),
            (1.016, 2000, 0, Measure::Missing(Why::Suspect)),
            (1.05, 200, 0, Measure::exact(0.0)),
            (1.07, 200, 0, Measure::Missing(Why::Suspect)),
            (1.07, 200, 1, Measure::exact(0.0)),
        ] {
            assert_eq!(remainder(Measure::exact(used), ms(span), ms(wait)), expected, "{used} of {span} ms, {wait}");
        }
    }
}
