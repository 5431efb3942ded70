//! Tells totals from rates by the numbers themselves: a total grows from nothing, and a rate goes up and down.

use crate::units::Nanos;

/// A total grows as fast from its first number on as it did up to its last; one that grows slower by this factor does
/// not count from nothing.
const GROWS: f64 = 0.25;
/// Numbers after which single steps say something.
const STEPS: f64 = 3.0;
/// Share of steps without growth that a total may have while it stalls.
const STALLS: f64 = 1.0 / 3.0;
/// Share of steps down that a total may have. Falls to less than half are restarts.
const FALLS: f64 = 0.2;
/// Lines printed faster than this are one report, in which a smaller number is a restart.
const LEAST_STEP_S: f64 = 0.05;

/// How numbers have developed so far.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// Time in seconds and value of the first number and of the last.
    ends: Option<[(f64, f64); 2]>,
    steps: f64,
    without_growth: f64,
    slight_falls: f64,
}

impl Growth {
    /// Takes the next number, printed at this time since the command's start.
    pub(super) fn take(&mut self, at: Nanos, value: f64) {
        let next = (at.seconds(), value);
        let Some([_, last]) = &mut self.ends else {
            self.ends = Some([next; 2]);
            return;
        };
        self.steps += 1.0;
        self.without_growth += f64::from(u8::from(value <= last.1));
        self.slight_falls += f64::from(u8::from(value < last.1 && value > last.1 / 2.0));
        *last = next;
    }

    /// Whether there was one number only, which may be either.
    pub(super) fn is_single(&self) -> bool {
        self.ends.is_some() && self.steps == 0.0
    }

    /// Whether the numbers are rates.
    pub(super) fn is_rate(&self) -> bool {
        let Some([first, last]) = self.ends else { return false };
        let seconds = last.0 - first.0;
        if self.steps == 0.0 || seconds < LEAST_STEP_S * self.steps {
            return false;
        }
        let from_nothing = last.1 / last.0;
        let grows = (last.1 - first.1) / seconds >= GROWS * from_nothing && last.1 > first.1;
        let known = self.steps >= STEPS;
        !grows && (!known || self.without_growth > STALLS * self.steps)
            || known && self.slight_falls > FALLS * self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_rate(from_s: f64, every_s: f64, values: &[f64]) -> bool {
        let mut growth = Growth::default();
        for (at, value) in values.iter().enumerate() {
            growth.take(Nanos(((from_s + at as f64 * every_s) * 1e9) as u64), *value);
        }
        growth.is_rate()
    }

    #[test]
    fn numbers_that_do_not_grow_are_rates() {
        for (what, from_s, every_s, values, expected) in [
            ("one number", 1.0, 1.0, &[1000.0][..], false),
            ("the same one again", 1.0, 1.0, &[1000.0, 1000.0], true),
            ("a rate that rose a little", 1.0, 1.0, &[1000.0, 1010.0], true),
            ("rates", 1.0, 1.0, &[1000.0, 1100.0, 950.0, 1020.0, 990.0], true),
            ("rates after a long beginning", 11.0, 1.0, &[1000.0, 1100.0, 1050.0, 1080.0], true),
            ("a rate that rises for long", 1.0, 1.0, &[100.0, 200.0, 180.0, 300.0, 280.0, 400.0, 390.0, 500.0], true),
            ("a rate that collapses", 1.0, 1.0, &[1000.0, 900.0, 1000.0, 100.0, 90.0], true),
            ("a total", 1.0, 1.0, &[1000.0, 2000.0, 3000.0], false),
            ("a total after a long beginning", 11.0, 1.0, &[1000.0, 2000.0], false),
            ("a total that was large already", 100.0, 1.0, &[1e6, 1.01e6, 1.02e6], false),
            ("a total that slows down", 1.0, 1.0, &[1000.0, 1500.0, 1800.0, 2000.0, 2100.0], false),
            ("a total that restarts", 1.0, 1.0, &[10.0, 20.0, 30.0, 4.0, 14.0, 24.0, 34.0], false),
            ("a total that stalls", 1.0, 1.0, &[10.0, 20.0, 30.0, 40.0, 40.0, 40.0, 40.0], false),
            ("a report of several lines", 1.0, 0.001, &[90.0, 10.0], false),
            (
                "nothing done yet",
                1.0,
                1.0,
                &[0.0, 0.0, 0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0, 3500.0],
                false,
            ),
        ] {
            assert_eq!(is_rate(from_s, every_s, values), expected, "{what}: {values:?}");
        }
    }
}
