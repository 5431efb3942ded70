//! One total that only grows, out of readings that may begin anew, have gaps or be fractions.
//! It never invents: between two readings nothing is known.

use crate::units::Ops;

/// The total.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Total {
    sum: f64,
    last: Option<f64>,
}

impl Total {
    /// A counter now shows this. One that shows less than before has begun anew at nothing, as Prometheus takes it.
    pub fn reach(&mut self, value: f64) {
        let before = self.last.filter(|last| value >= *last).unwrap_or(0.0);
        self.sum += value - before;
        self.last = Some(value);
    }

    /// A counter shows this at the beginning: what was counted before is not the session's.
    pub fn begin(&mut self, value: f64) {
        self.last = Some(value);
    }

    /// So many more.
    pub fn grow(&mut self, more: f64) {
        self.sum += more;
    }

    /// The total in whole operations.
    #[must_use]
    pub fn ops(&self) -> Ops {
        Ops(self.sum as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_before_is_left_out_and_a_reset_loses_nothing_that_was_seen() {
        let mut total = Total::default();
        total.begin(1000.0);
        total.reach(1010.0);
        total.reach(4.0);
        total.reach(6.0);
        assert_eq!(total.ops(), Ops(16));
    }

    #[test]
    fn fractions_add_up() {
        let mut total = Total::default();
        (0..10).for_each(|_| total.grow(0.25));
        assert_eq!(total.ops(), Ops(2));
    }
}
