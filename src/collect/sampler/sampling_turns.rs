//! Lets events sample for a part of the time only. Copies that threads have inherited keep their frequency, and can only be
//! stopped and started, together with the events they were copied from.

use super::even_spread::EvenSpread;
use crate::units::Nanos;

/// The length of a turn: short beside the time in which programs change what they do.
pub const TURN: Nanos = Nanos(100_000_000);

/// The turns.
#[derive(Debug, Default)]
pub struct SamplingTurns {
    since: Nanos,
    spread: EvenSpread,
    resting: bool,
}

impl SamplingTurns {
    /// Whether to sample from now on, if this share of the turns is to be sampled; `None` if nothing changes.
    pub fn next(&mut self, at: Nanos, share: f64) -> Option<bool> {
        if at < self.since + TURN || (share >= 1.0 && !self.resting) {
            return None;
        }
        self.since = at;
        let resting = self.spread.draw() >= share;
        (resting != std::mem::replace(&mut self.resting, resting)).then_some(!resting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a thousand turns that is sampled, and how often that changes.
    fn sampled(share: f64) -> (f64, usize) {
        let (mut turns, mut on, mut sampled, mut changes) = (SamplingTurns::default(), true, 0, 0);
        for turn in 1..=1000 {
            if let Some(next) = turns.next(Nanos(turn * TURN.0), share) {
                assert_ne!(next, std::mem::replace(&mut on, next), "it was that before");
                changes += 1;
            }
            sampled += u32::from(on);
        }
        (f64::from(sampled) / 1000.0, changes)
    }

    #[test]
    fn as_many_turns_are_sampled_as_wanted_and_all_without_a_limit() {
        assert_eq!(sampled(1.0), (1.0, 0));
        for share in [0.05, 0.5, 0.9] {
            let (found, changes) = sampled(share);
            assert!((found - share).abs() < 0.01 && changes > 90, "{share}: {found}, {changes} changes");
        }
    }

    #[test]
    fn a_turn_is_not_cut_short_and_sampling_goes_on_once_it_may() {
        let mut turns = SamplingTurns::default();
        assert_eq!(turns.next(Nanos(TURN.0 - 1), 0.0), None);
        assert_eq!(turns.next(TURN, 0.0), Some(false));
        assert_eq!(turns.next(Nanos(2 * TURN.0 - 1), 1.0), None);
        assert_eq!(turns.next(Nanos(2 * TURN.0), 1.0), Some(true));
        assert_eq!(turns.next(Nanos(9 * TURN.0), 1.0), None);
    }
}
