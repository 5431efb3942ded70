//! Lets what is dear to read be read less often than every window.
//! It never reads a clock: its callers say what the reading cost.

use crate::units::Nanos;

/// What it spaces out is read again only after this many times what reading it cost: it takes 2% at most.
const COST_SPACING: u64 = 50;

/// When something may be read again.
#[derive(Debug, Default)]
pub(super) struct Due {
    not_before: Nanos,
}

impl Due {
    /// Whether its time has come.
    pub(super) fn is_due(&self, at: Nanos) -> bool {
        at >= self.not_before
    }

    /// Says what reading it has cost.
    pub(super) fn was_read(&mut self, at: Nanos, cost: Nanos) {
        self.not_before = Nanos(at.0.saturating_add(cost.0.saturating_mul(COST_SPACING)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_a_millisecond_is_read_every_fifty() {
        let mut due = Due::default();
        assert!(due.is_due(Nanos(0)));
        due.was_read(Nanos(7), Nanos(1_000_000));
        assert!(!due.is_due(Nanos(50_000_006)) && due.is_due(Nanos(50_000_007)));
    }
}
