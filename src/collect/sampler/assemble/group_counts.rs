//! What the events of a group counted between two samples of its leader. Each sample carries the counts so far; their
//! increase since the sample before belongs to this one.

use crate::abi::Words;
use rustc_hash::FxHashMap;

/// The most members of a group that is read with its leader's samples: more than fit beside the counting groups.
pub const MOST_MEMBERS: usize = 7;
/// An interval in which the leader counted this many periods contains code whose samples are missing: those of others,
/// or lost ones.
const MOST_PERIODS: u64 = 2;

/// The counts of the leader and the members.
pub type Counts = [u64; 1 + MOST_MEMBERS];

/// The last counts of each thread and group. Known ones cost no allocation.
#[derive(Debug, Default)]
pub struct GroupCounts {
    last: FxHashMap<u32, FxHashMap<u64, Counts>>,
}

impl GroupCounts {
    /// The increase of each count, the leader's first, since the last sample of this event and thread (0 if the event
    /// counts everything where it is). `None` if it is not known what ran in between: the leader counted much more than
    /// the sample's period, or a count fell.
    pub fn grown(&mut self, event: u64, tid: u32, counts: Words<'_>, period: u64) -> Option<Counts> {
        let mut now = Counts::default();
        now.iter_mut().zip(counts.iter()).for_each(|(to, count)| *to = count);
        let last = std::mem::replace(self.last.entry(tid).or_default().entry(event).or_default(), now);
        for (now, last) in now.iter_mut().zip(&last) {
            *now = now.checked_sub(*last)?;
        }
        Some(now).filter(|grown| grown[0] <= period.saturating_mul(MOST_PERIODS))
    }

    /// Forgets a thread that has ended.
    pub fn forget(&mut self, tid: u32) {
        self.last.remove(&tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Cursor;

    fn grown(groups: &mut GroupCounts, event: u64, tid: u32, counts: &[u64], period: u64) -> Option<[u64; 2]> {
        let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
        let [_, first, second, ..] = groups.grown(event, tid, Cursor::native(&bytes).words(), period)?;
        Some([first, second])
    }

    #[test]
    fn each_sample_gets_what_was_counted_since_the_last_of_its_event_and_thread() {
        let mut groups = GroupCounts::default();
        // Event, thread, counts; then the increases of the two members.
        for (event, tid, counts, expected) in [
            (1, 5, [1000, 800, 3], Some([800, 3])),
            (1, 5, [2000, 1900, 3], Some([1100, 0])),
            (1, 6, [1000, 500, 1], Some([500, 1])),
            (2, 5, [1000, 10, 2], Some([10, 2])),
            (1, 5, [3000, 2000, 9], Some([100, 6])),
        ] {
            assert_eq!(grown(&mut groups, event, tid, &counts, 1000), expected, "{event} {tid} {counts:?}");
        }
    }

    #[test]
    fn an_interval_with_missing_samples_tells_nothing_and_the_next_one_does_again() {
        let mut groups = GroupCounts::default();
        for (counts, expected) in [
            ([1000, 800, 1], Some([800, 1])),
            // Two samples in between were lost, or were another's.
            ([4000, 9000, 9], None),
            ([5000, 9500, 9], Some([500, 0])),
            // Skid, and a frequency that was adapted.
            ([6900, 9900, 9], Some([400, 0])),
            // Set to zero: a count never falls.
            ([1000, 10, 0], None),
            ([2000, 20, 0], Some([10, 0])),
            ([3000, 5, 0], None),
        ] {
            assert_eq!(grown(&mut groups, 1, 0, &counts, 1000), expected, "{counts:?}");
        }
    }

    #[test]
    fn a_thread_that_ended_is_forgotten_so_that_its_number_may_come_again() {
        let mut groups = GroupCounts::default();
        assert_eq!(grown(&mut groups, 1, 5, &[1000, 800, 1], 1000), Some([800, 1]));
        assert_eq!(grown(&mut groups, 1, 6, &[1000, 800, 1], 1000), Some([800, 1]));
        groups.forget(5);
        assert_eq!(grown(&mut groups, 1, 5, &[1000, 700, 2], 1000), Some([700, 2]));
        assert_eq!(grown(&mut groups, 1, 6, &[2000, 900, 1], 1000), Some([100, 0]));
    }

    #[test]
    fn more_members_than_are_known_are_left_out() {
        let mut groups = GroupCounts::default();
        let counts: Vec<u64> = (0..40).map(|at| at + 1).collect();
        assert_eq!(grown(&mut groups, 1, 0, &counts, 1000), Some([2, 3]));
    }
}
