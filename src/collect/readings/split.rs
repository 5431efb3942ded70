//! Splits CPU time into user and kernel time. The total is known to the nanosecond, each share only from clock ticks:
//! either part is accurate to about one tick (10 ms), however long the program ran, and both add up to the total.

/// The two parts as last computed; neither ever shrinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// User time, nanoseconds.
    pub user: u64,
    /// Kernel time, nanoseconds.
    pub system: u64,
}

impl Split {
    /// Splits `total` nanoseconds by the ticks; until the first tick all of it counts as user time, as in the kernel.
    pub(super) fn update(&mut self, total: u64, user_ticks: u64, system_ticks: u64) {
        let ticks = u128::from(user_ticks) + u128::from(system_ticks);
        let share = (u128::from(total) * u128::from(system_ticks)).checked_div(ticks).unwrap_or(0);
        let most = total.saturating_sub(self.user).max(self.system);
        self.system = u64::try_from(share).unwrap_or(u64::MAX).clamp(self.system, most);
        self.user = total.saturating_sub(self.system).max(self.user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ticks_decide_the_shares() {
        let mut split = Split::default();
        split.update(1_000, 3, 1);
        assert_eq!((split.user, split.system), (750, 250));
        let mut fresh = Split::default();
        fresh.update(4_000, 0, 0);
        assert_eq!((fresh.user, fresh.system), (4_000, 0));
    }

    proptest! {
        #[test]
        fn neither_part_shrinks_and_both_add_up(steps in proptest::collection::vec((0u64..1_000_000, 0u64..9, 0u64..9), 1..20)) {
            let (mut split, mut total, mut user, mut system) = (Split::default(), 0, 0, 0);
            for (more, more_user, more_system) in steps {
                (total, user, system) = (total + more, user + more_user, system + more_system);
                let before = split;
                split.update(total, user, system);
                prop_assert!(split.user >= before.user && split.system >= before.system);
                prop_assert_eq!(split.user + split.system, total);
            }
        }
    }
}
