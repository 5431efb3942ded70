//! Sorts records of several CPUs by time, round by round, so that only two rounds are in memory at once.
//! No record is dropped: one that arrives too late for its place comes out late.

/// Records waiting for those that may precede them.
#[derive(Debug)]
pub(super) struct Rounds<T> {
    /// Time and record, in order of arrival.
    held: Vec<(u64, T)>,
    /// The latest time of the last finished round: no earlier record is still to come.
    settled: u64,
    latest: u64,
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Rounds { held: Vec::new(), settled: 0, latest: 0 }
    }
}

impl<T> Rounds<T> {
    pub(super) fn add(&mut self, time: u64, record: T) {
        self.latest = self.latest.max(time);
        self.held.push((time, record));
    }

    /// perf has read all CPUs once more: all records from before the end of the previous round have arrived.
    pub(super) fn finish_round(&mut self) -> impl Iterator<Item = T> + use<T> {
        let ready = self.settled;
        self.settled = self.latest;
        self.release(ready)
    }

    /// Number of records held.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The earlier half, without waiting for what may precede it: there are too many.
    pub(super) fn finish_half(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.held.sort_by_key(|(time, _)| *time);
        let middle = self.held.get(self.held.len() / 2).map_or(u64::MAX, |(time, _)| *time);
        self.release(middle)
    }

    /// Everything that is left.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.release(u64::MAX)
    }

    fn release(&mut self, until: u64) -> impl Iterator<Item = T> + use<T> {
        // Each CPU's records come in order, so this merges a few runs; equal times stay in order of arrival.
        self.held.sort_by_key(|(time, _)| *time);
        let count = self.held.partition_point(|(time, _)| *time <= until);
        let later = self.held.split_off(count);
        std::mem::replace(&mut self.held, later).into_iter().map(|(_, record)| record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_still_be_preceded_waits_for_the_next_round() {
        let mut rounds = Rounds::default();
        [(1, "a"), (5, "d"), (3, "c")].into_iter().for_each(|(time, record)| rounds.add(time, record));
        assert_eq!(rounds.finish_round().count(), 0);
        [(2, "b"), (9, "f"), (5, "e")].into_iter().for_each(|(time, record)| rounds.add(time, record));
        assert_eq!(rounds.finish_round().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
        assert_eq!(rounds.finish().collect::<Vec<_>>(), ["f"]);
        assert_eq!(rounds.finish().count(), 0);
    }

    #[test]
    fn records_in_order_stay_so_when_half_of_them_comes_out_early() {
        let (mut rounds, mut out) = (Rounds::default(), Vec::new());
        for time in 0..1000u64 {
            rounds.add(time / 3, time);
            if rounds.len() > 10 {
                out.extend(rounds.finish_half());
                assert!(rounds.len() <= 5, "{}", rounds.len());
            }
        }
        out.extend(rounds.finish());
        assert!(out.iter().copied().eq(0..1000), "{out:?}");
    }
}
