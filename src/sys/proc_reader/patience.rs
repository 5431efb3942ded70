//! How long one who asks waits for answers: a share of its time, in all and for each user. A user whose processes answer
//! late costs others a bounded time.

use crate::sys::files::is_believed;
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// Time that may be waited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// For all answers, at once and as a share of the time that passes.
    pub total: (Nanos, f64),
    /// The same for those of one user other than root and ours.
    pub user: (Nanos, f64),
}

impl Patience {
    /// Before a capture begins: nothing is lost meanwhile.
    pub const BEFORE: Patience = Patience { total: (Nanos(5_000_000_000), 0.5), user: (Nanos(250_000_000), 0.1) };
    /// For readings of counters and lists of processes, of which one may be late.
    pub const READINGS: Patience = Patience { total: (Nanos(1_000_000_000), 0.2), user: (Nanos(200_000_000), 0.05) };
    /// For names, which come when they come.
    pub const NAMES: Patience = Patience { total: (Nanos(2_000_000_000), 0.5), user: (Nanos(500_000_000), 0.2) };
    /// While rings fill, which hold a second of samples and more.
    pub const WITHIN: Patience = Patience { total: (Nanos(500_000_000), 0.1), user: (Nanos(100_000_000), 0.02) };
}

/// Waits that are shorter are not counted: helpers answer within some tens of microseconds where nothing holds them up.
const FREE: Nanos = Nanos(1_000_000);

/// What is left.
#[derive(Debug)]
pub(super) struct Budget {
    patience: Patience,
    total: Left,
    users: FxHashMap<u32, Left>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    time: Nanos,
    at: Nanos,
}

impl Left {
    fn grown(self, (most, share): (Nanos, f64), now: Nanos) -> Left {
        let grown = Nanos(((now - self.at).0 as f64 * share) as u64);
        Left { time: (self.time + grown).min(most), at: now }
    }
}

impl Budget {
    pub fn new(patience: Patience, now: Nanos) -> Budget {
        Budget { patience, total: Left { time: patience.total.0, at: now }, users: FxHashMap::default() }
    }

    /// How long to wait for an answer about a task of this user, if it is known.
    pub fn of(&mut self, user: Option<u32>, now: Nanos) -> Nanos {
        self.total = self.total.grown(self.patience.total, now);
        let of_user = match user {
            Some(user) if is_believed(user) => self.patience.total.0,
            Some(user) => self.left_of(user, now).time,
            None => self.patience.user.0,
        };
        self.total.time.min(of_user).max(FREE)
    }

    /// So long was waited.
    pub fn waited(&mut self, user: Option<u32>, time: Nanos, now: Nanos) {
        let counted = time - time.min(FREE);
        if counted == Nanos(0) {
            return;
        }
        let spent = |left: &mut Left| left.time = left.time - left.time.min(counted);
        spent(&mut self.total);
        if let Some(user) = user {
            spent(self.left_of(user, now));
        }
    }

    fn left_of(&mut self, user: u32, now: Nanos) -> &mut Left {
        let patience = self.patience.user;
        let left = self.users.entry(user).or_insert(Left { time: patience.0, at: now });
        *left = left.grown(patience, now);
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_user_who_is_late_uses_up_the_own_share_and_no_others() {
        let mut budget = Budget::new(Patience::WITHIN, Nanos(0));
        let now = Nanos(1);
        assert_eq!(budget.of(Some(7), now), Nanos(100 * MS));
        budget.waited(Some(7), Nanos(101 * MS), now);
        assert_eq!(budget.of(Some(7), now), FREE, "its answers are waited for no longer than any");
        assert_eq!((budget.of(Some(8), now), budget.of(None, now)), (Nanos(100 * MS), Nanos(100 * MS)));
        assert_eq!(budget.of(Some(0), now), Nanos(400 * MS), "root's are waited for while there is time");
        assert_eq!(budget.of(Some(7), Nanos(1_000 * MS)), Nanos(19_999_999), "two hundredths of the time since");
        for user in 10..20 {
            budget.waited(Some(user), Nanos(101 * MS), Nanos(1_000 * MS));
        }
        assert_eq!(budget.of(Some(8), Nanos(1_000 * MS)), FREE, "all of them are late together");
    }

    #[test]
    fn prompt_answers_cost_nothing() {
        let mut budget = Budget::new(Patience::WITHIN, Nanos(0));
        for _ in 0..10_000 {
            budget.waited(Some(7), FREE, Nanos(1));
        }
        assert_eq!(budget.of(Some(7), Nanos(1)), Nanos(100 * MS));
    }
}
