//! Spaces out expensive readings, so that they run less often than every window. Callers pass the cost of each reading.

use crate::units::Nanos;

/// A reading is repeated only after this many times its cost, so it takes at most 2%.
const COST_SPACING: u64 = 50;

/// When something may be read again.
#[derive(Debug, Default)]
pub(super) struct ReadingSchedule {
    not_before: Nanos,
}

impl ReadingSchedule {
    /// Whether the next reading is due.
    pub(super) fn is_due(&self, at: Nanos) -> bool {
        at >= self.not_before
    }

    /// Records a reading and its cost.
    pub(super) fn was_read(&mut self, at: Nanos, cost: Nanos) {
        self.not_before = Nanos(at.0.saturating_add(cost.0.saturating_mul(COST_SPACING)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_a_millisecond_is_read_every_fifty() {
        let mut due = ReadingSchedule::default();
        assert!(due.is_due(Nanos(0)));
        due.was_read(Nanos(7), Nanos(1_000_000));
        assert!(!due.is_due(Nanos(50_000_006)) && due.is_due(Nanos(50_000_007)));
    }
}
