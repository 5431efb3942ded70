//! Sorts the records of all rings by time, in place: no record is copied or kept. It reads only up to the given time,
//! so that it does not run ahead of a ring that lags behind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A source of records in (almost) time order.
pub trait Source {
    /// Time of its next record; `None` if it has no more.
    fn next_time(&mut self) -> Option<u64>;
}

/// Merges many sources; reuses its memory between rounds.
#[derive(Debug, Default)]
pub struct EventSorter {
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

impl EventSorter {
    /// Calls `each` with the source whose next record is the oldest, until only records younger than `until` are left.
    /// `each` must step over that record.
    pub fn round<S: Source>(&mut self, sources: &mut [S], until: u64, mut each: impl FnMut(&mut S)) {
        self.heads.clear();
        for (at, source) in sources.iter_mut().enumerate() {
            self.heads.extend(source.next_time().map(|time| Reverse((time, at))));
        }
        while let Some(Reverse((time, at))) = self.heads.pop() {
            if time > until {
                break;
            }
            each(&mut sources[at]);
            // Nested interrupts can write two records out of order by microseconds: they keep their ring's order.
            self.heads.extend(sources[at].next_time().map(|next| Reverse((next.max(time), at))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rings, the time to read up to, the order read, how many records stay.
    type Row = (&'static [&'static [u64]], u64, &'static [u64], usize);

    struct List(Vec<u64>, usize);

    impl Source for List {
        fn next_time(&mut self) -> Option<u64> {
            self.0.get(self.1).copied()
        }
    }

    fn merged(lists: &[&[u64]], until: u64) -> (Vec<u64>, usize) {
        let mut sources: Vec<_> = lists.iter().map(|times| List(times.to_vec(), 0)).collect();
        let mut order = Vec::new();
        EventSorter::default().round(&mut sources, until, |source| {
            order.extend(source.next_time());
            source.1 += 1;
        });
        (order, sources.iter().map(|source| source.0.len() - source.1).sum())
    }

    #[test]
    fn records_come_in_the_order_of_time_and_younger_ones_stay() {
        let table: [Row; 4] = [
            (&[&[1, 4, 9], &[2, 3, 10]], u64::MAX, &[1, 2, 3, 4, 9, 10], 0),
            (&[&[1, 4, 9], &[2, 3, 10]], 4, &[1, 2, 3, 4], 2),
            (&[&[5, 4, 6], &[5, 7]], u64::MAX, &[5, 4, 5, 6, 7], 0),
            (&[&[], &[8]], 7, &[], 1),
        ];
        for (lists, until, order, left) in table {
            assert_eq!(merged(lists, until), (order.to_vec(), left), "{lists:?} until {until}");
        }
    }
}
