//! Builds one total, which only grows, from raw readings that may restart, come and go, or be fractions. Operations
//! before the first reading, or lost in a restart, are not included.

use crate::units::Ops;
use rustc_hash::FxHashMap;

/// Sums of fractions may end just below a whole number; this is far above that error and far below one operation.
const ROUNDING: f64 = 1e-6;

/// One raw counter: its name among the source's counters, and its value.
pub(super) type Raw = (String, f64);

/// The total so far.
#[derive(Debug, Default)]
pub(super) struct Total {
    /// The raw counters as last read; `None` before the first reading.
    last: Option<FxHashMap<String, f64>>,
    whole: u64,
    /// Below one, so that adding to it stays exact however large the total is.
    fraction: f64,
}

impl Total {
    /// A total whose counters are known to have been at zero when it began.
    pub(super) fn from_nothing() -> Total {
        Total { last: Some(FxHashMap::default()), ..Total::default() }
    }

    /// Whether it has a base to count from.
    pub(super) fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Takes a reading of all counters. The first one is the base. Afterwards a counter that fell has restarted from
    /// zero, and one that is new has just been created, as Prometheus clients do on first use.
    pub(super) fn read(&mut self, counters: impl IntoIterator<Item = Raw>) {
        let base = self.last.is_none();
        let mut last = self.last.take().unwrap_or_default();
        for (name, value) in counters {
            let before = last.insert(name, value).unwrap_or(if base { value } else { 0.0 });
            self.add(if value >= before { value - before } else { value });
        }
        self.last = Some(last);
    }

    /// Counts operations; values that are not a count are ignored.
    pub(super) fn add(&mut self, operations: f64) {
        if operations.is_finite() && operations > 0.0 {
            let whole = operations.floor();
            // A float beyond the integers saturates.
            self.whole = self.whole.saturating_add(whole as u64);
            self.fraction += operations - whole;
            if self.fraction >= 1.0 {
                self.fraction -= 1.0;
                self.whole = self.whole.saturating_add(1);
            }
        }
    }

    /// Whole operations so far.
    pub(super) fn ops(&self) -> Ops {
        Ops(self.whole.saturating_add(u64::from(self.fraction + ROUNDING >= 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(value: f64) -> Vec<Raw> {
        vec![(String::new(), value)]
    }

    fn check(mut total: Total, readings: &[f64], expected: u64) {
        for value in readings {
            let before = total.ops();
            total.read(one(*value));
            assert!(total.ops() >= before);
        }
        assert_eq!(total.ops(), Ops(expected), "{readings:?}");
    }

    #[test]
    fn the_total_begins_at_the_first_reading_and_survives_restarts() {
        check(Total::default(), &[1000.0], 0);
        check(Total::default(), &[1000.0, 1500.0, 1500.0, 1700.0], 700);
        check(Total::default(), &[1000.0, 1500.0, 20.0, 50.0], 550);
        check(Total::default(), &[1000.0, 0.0, 10.0, 0.0, 5.0], 15);
        check(Total::from_nothing(), &[1000.0, 1500.0], 1500);
        check(Total::default(), &[9e15, 9e15 + 1.0], 1);
    }

    #[test]
    fn fractions_add_up_without_drift() {
        let mut total = Total::default();
        for tenths in 1..=1_000_000_u64 {
            total.add(0.1);
            assert_eq!(total.ops().0, tenths / 10);
        }
        check(Total::default(), &[0.5, 1.25, 2.0, 2.5], 2);
    }

    #[test]
    fn counters_begin_anew_and_appear_one_by_one() {
        let read = |counters: &[(&str, f64)]| counters.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        let mut total = Total::default();
        let steps: [(Vec<Raw>, u64); 5] = [
            (read(&[("a", 100.0), ("b", 7.0)]), 0),
            (read(&[("a", 3.0), ("b", 9.0)]), 5),
            (read(&[("a", 4.0), ("b", 9.0), ("c", 40.0)]), 46),
            (read(&[("b", 10.0)]), 47),
            (read(&[("a", 5.0), ("b", 10.0), ("c", 41.0)]), 49),
        ];
        for (counters, expected) in steps {
            total.read(counters);
            assert_eq!(total.ops(), Ops(expected));
        }
    }

    #[test]
    fn what_is_no_count_changes_nothing_and_the_largest_stays_the_largest() {
        let mut total = Total::default();
        for value in [f64::NAN, f64::INFINITY, -5.0, 0.0] {
            total.add(value);
        }
        assert_eq!(total.ops(), Ops(0));
        total.add(1e300);
        total.add(1e300);
        assert_eq!(total.ops(), Ops(u64::MAX));
    }
}
