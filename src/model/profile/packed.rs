//! Rows packed as differences: rows of one kind differ little from the row before, so that one takes a fifth of its
//! plain size. Rows are added at the end and read in order.

use crate::model::{CounterId, CounterReading, OffCpu, Scope, StackEnd, StackId, TaskState, WaitBegan};
use crate::units::Nanos;
use std::marker::PhantomData;

/// Words of a row. A word that does not change takes no space, so a row may leave some at zero.
const WORDS: usize = 8;
/// Bytes after which a block is complete. Dropping rows packs only the blocks again that lose some, but not all.
const BLOCK: usize = 32 << 10;

/// A row that can be packed.
pub trait Row: Copy {
    /// The row as words, e.g. a time, a number or an index.
    fn words(&self) -> [u64; WORDS];
    /// The row of these words.
    fn of(words: &[u64; WORDS]) -> Self;
}

/// Packed rows in order.
#[derive(Debug, Clone)]
pub struct Packed<R> {
    blocks: Vec<Block>,
    rows: usize,
    row: PhantomData<R>,
}

/// Some thousand rows. The first one is packed as the difference from zeros.
#[derive(Debug, Clone, Default)]
struct Block {
    bytes: Vec<u8>,
    rows: usize,
    last: [u64; WORDS],
}

impl<R> Default for Packed<R> {
    fn default() -> Self {
        Packed { blocks: Vec::new(), rows: 0, row: PhantomData }
    }
}

impl<R: Row> Packed<R> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Memory of the rows, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.capacity() + size_of::<Block>()).sum()
    }

    /// Adds a row.
    pub fn push(&mut self, row: R) {
        match self.blocks.last_mut().filter(|block| block.bytes.len() < BLOCK) {
            Some(block) => block.push(&row),
            None => self.begin().push(&row),
        }
        self.rows += 1;
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        *self = Packed::default();
    }

    /// All rows in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = R> + Clone + '_ {
        self.blocks.iter().flat_map(Block::rows)
    }

    /// Keeps the rows for which `keep` returns true; called once for each, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&R) -> bool) {
        let mut kept = Packed::default();
        for block in std::mem::take(&mut self.blocks) {
            let keeps: Vec<bool> = block.rows().map(|row| keep(&row)).collect();
            if keeps.iter().all(|keep| *keep) {
                kept.rows += block.rows;
                kept.blocks.push(block);
            } else {
                let rows = block.rows::<R>().zip(keeps);
                rows.filter(|(_, keep)| *keep).for_each(|(row, _)| kept.push(row));
            }
        }
        *self = kept;
    }

    /// Changes rows in place.
    pub fn update(&mut self, mut change: impl FnMut(&mut R)) {
        let changed = |mut row: R| {
            change(&mut row);
            row
        };
        *self = self.iter().map(changed).collect();
    }

    fn begin(&mut self) -> &mut Block {
        if let Some(complete) = self.blocks.last_mut() {
            complete.bytes.shrink_to_fit();
        }
        self.blocks.push(Block::default());
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }
}

impl<R: Row> Extend<R> for Packed<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.push(row));
    }
}

impl<R: Row> FromIterator<R> for Packed<R> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut packed = Packed::default();
        packed.extend(rows);
        packed
    }
}

impl Block {
    /// A row is one byte that tells which words changed, and the difference of each of these.
    fn push(&mut self, row: &impl Row) {
        let words = row.words();
        let place = self.bytes.len();
        self.bytes.push(0);
        let mut changed = 0;
        for (at, (word, last)) in words.iter().zip(self.last).enumerate().filter(|(_, (word, last))| *word != last) {
            changed |= 1 << at;
            put(&mut self.bytes, word.wrapping_sub(last));
        }
        self.bytes[place] = changed;
        self.last = words;
        self.rows += 1;
    }

    fn rows<R: Row>(&self) -> std::vec::IntoIter<R> {
        let (mut bytes, mut words) = (self.bytes.iter(), [0_u64; WORDS]);
        let mut rows = Vec::with_capacity(self.rows);
        while let Some(changed) = bytes.next() {
            let mut changed = *changed;
            while changed != 0 {
                let word = &mut words[changed.trailing_zeros() as usize];
                *word = word.wrapping_add(take(&mut bytes));
                changed &= changed - 1;
            }
            rows.push(R::of(&words));
        }
        rows.into_iter()
    }
}

/// Writes a difference: small ones in either direction take few bytes, seven bits in each.
fn put(bytes: &mut Vec<u8>, difference: u64) {
    let mut left = (difference << 1) ^ (((difference as i64) >> 63) as u64);
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

fn take(bytes: &mut std::slice::Iter<'_, u8>) -> u64 {
    let (mut value, mut shift) = (0, 0);
    for byte in bytes {
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    (value >> 1) ^ (value & 1).wrapping_neg()
}

impl Row for OffCpu {
    fn words(&self) -> [u64; WORDS] {
        let state = match self.state {
            TaskState::Runnable => 0,
            TaskState::Sleeping => 1,
            TaskState::DiskSleep => 2,
            TaskState::Other => 3,
        };
        let end = match self.end {
            StackEnd::Whole => 0,
            StackEnd::Truncated => 1,
            StackEnd::Broken => 2,
            StackEnd::NotTaken => 3,
        };
        let began = match self.began {
            WaitBegan::Seen => 0,
            WaitBegan::Before => 1,
            WaitBegan::LongBefore => 2,
        };
        let flags = u64::from(self.estimated) << 4 | u64::from(self.queued.is_some()) << 5;
        let kinds = state | end << 2 | flags | began << 6;
        let queued = self.queued.unwrap_or_default().0;
        let stack = self.stack.map_or(0, |id| u64::from(id.0) + 1);
        // A single wait is its own longest.
        let longest = self.longest.0.wrapping_sub(self.whole().0);
        [self.at.0, kinds, self.blocked.0, queued, stack, pair(self.pid, self.tid), self.count, longest]
    }

    fn of(&[at, kinds, blocked, queued, stack, task, count, longest]: &[u64; WORDS]) -> OffCpu {
        let mut span = OffCpu {
            at: Nanos(at),
            pid: high(task),
            tid: low(task),
            state: match kinds & 3 {
                0 => TaskState::Runnable,
                1 => TaskState::Sleeping,
                2 => TaskState::DiskSleep,
                _ => TaskState::Other,
            },
            blocked: Nanos(blocked),
            queued: (kinds >> 5 & 1 == 1).then_some(Nanos(queued)),
            stack: stack.checked_sub(1).map(|id| StackId(low(id))),
            end: match kinds >> 2 & 3 {
                0 => StackEnd::Whole,
                1 => StackEnd::Truncated,
                2 => StackEnd::Broken,
                _ => StackEnd::NotTaken,
            },
            estimated: kinds >> 4 & 1 == 1,
            count,
            longest: Nanos(0),
            began: match kinds >> 6 & 3 {
                0 => WaitBegan::Seen,
                1 => WaitBegan::Before,
                _ => WaitBegan::LongBefore,
            },
        };
        span.longest = Nanos(longest.wrapping_add(span.whole().0));
        span
    }
}

impl Row for CounterReading {
    fn words(&self) -> [u64; WORDS] {
        let (kind, number) = match self.scope {
            Scope::Target => (0, 0),
            Scope::Thread(tid) => (1, tid),
            Scope::Cpu(cpu) => (2, cpu),
            Scope::Host => (3, 0),
            Scope::Tool => (4, 0),
            Scope::Cgroup(number) => (5, number),
        };
        let counter = pair(kind, self.counter.0.into());
        // Both times mostly grow as the clock does: their distance from it stays.
        let (enabled, running) = (self.at.0.wrapping_sub(self.enabled.0), self.enabled.0.wrapping_sub(self.running.0));
        [self.at.0, counter, u64::from(number), self.value, enabled, running, 0, 0]
    }

    fn of(&[at, counter, number, value, enabled, running, ..]: &[u64; WORDS]) -> CounterReading {
        let enabled = at.wrapping_sub(enabled);
        CounterReading {
            counter: CounterId(low(counter) as u16),
            scope: match high(counter) {
                0 => Scope::Target,
                1 => Scope::Thread(low(number)),
                2 => Scope::Cpu(low(number)),
                3 => Scope::Host,
                5 => Scope::Cgroup(low(number)),
                _ => Scope::Tool,
            },
            at: Nanos(at),
            value,
            enabled: Nanos(enabled),
            running: Nanos(enabled.wrapping_sub(running)),
        }
    }
}

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn high(pair: u64) -> u32 {
    (pair >> 32) as u32
}

fn low(pair: u64) -> u32 {
    pair as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wait() -> impl Strategy<Value = OffCpu> {
        use StackEnd::{Broken, NotTaken, Truncated, Whole};
        use TaskState::{DiskSleep, Other, Runnable, Sleeping};
        let time = || prop_oneof![any::<u64>(), 0..50_000_000u64, Just(u64::MAX)].prop_map(Nanos);
        let kinds = (
            prop::sample::select(vec![Runnable, Sleeping, DiskSleep, Other]),
            prop::sample::select(vec![Whole, Truncated, Broken, NotTaken]),
            any::<bool>(),
            prop_oneof![Just(1), any::<u64>()],
            prop::sample::select(vec![WaitBegan::Seen, WaitBegan::Before, WaitBegan::LongBefore]),
        );
        let (task, stack) = ((any::<u32>(), any::<u32>()), prop::option::of(any::<u32>().prop_map(StackId)));
        let times = (time(), time(), prop::option::of(time()), time());
        (times, task, kinds, stack).prop_map(
            |((at, blocked, queued, longest), (pid, tid), (state, end, estimated, count, began), stack)| OffCpu {
                at,
                pid,
                tid,
                state,
                blocked,
                queued,
                stack,
                end,
                estimated,
                count,
                longest,
                began,
            },
        )
    }

    fn reading() -> impl Strategy<Value = CounterReading> {
        let scope = prop_oneof![
            Just(Scope::Target),
            any::<u32>().prop_map(Scope::Thread),
            any::<u32>().prop_map(Scope::Cpu),
            any::<u32>().prop_map(Scope::Cgroup),
            Just(Scope::Host),
            Just(Scope::Tool)
        ];
        let time = || prop_oneof![any::<u64>(), 0..50_000_000u64].prop_map(Nanos);
        (any::<u16>(), scope, time(), any::<u64>(), time(), time()).prop_map(
            |(counter, scope, at, value, enabled, running)| {
                let counter = CounterId(counter);
                CounterReading { counter, scope, at, value, enabled, running }
            },
        )
    }

    /// What a plain vector does, the packed rows do: the same rows in both directions, and after dropping some.
    fn as_a_vector<R: Row + PartialEq + std::fmt::Debug>(rows: Vec<R>, dropped: &[usize]) {
        let times = (3 * BLOCK / (rows.len() * 20)).max(1);
        let plain: Vec<R> = std::iter::repeat_n(rows, times).flatten().collect();
        let mut packed: Packed<R> = plain.iter().copied().collect();
        assert_eq!((packed.len(), packed.iter().collect::<Vec<_>>()), (plain.len(), plain.clone()));
        assert!(packed.iter().rev().eq(plain.iter().rev().copied()));
        let drops = |at: usize| dropped.contains(&(at % 7)) || at < plain.len() / 3;
        let left: Vec<R> = plain.iter().enumerate().filter(|(at, _)| !drops(*at)).map(|(_, row)| *row).collect();
        let mut at = 0;
        packed.retain(|_| {
            at += 1;
            !drops(at - 1)
        });
        packed.extend(plain.first().copied());
        let left: Vec<R> = left.into_iter().chain(plain.first().copied()).collect();
        assert_eq!((packed.len(), packed.iter().collect::<Vec<_>>()), (left.len(), left));
    }

    proptest! {
        #[test]
        fn waits_come_back_as_they_were(
            rows in prop::collection::vec(wait(), 1..50), dropped in prop::collection::vec(0..9usize, 0..4)
        ) {
            as_a_vector(rows, &dropped);
        }

        #[test]
        fn readings_come_back_as_they_were(
            rows in prop::collection::vec(reading(), 1..50), dropped in prop::collection::vec(0..9usize, 0..4)
        ) {
            as_a_vector(rows, &dropped);
        }
    }

    #[test]
    fn rows_of_a_server_take_a_fourth_of_their_plain_size() {
        let waits: Packed<OffCpu> = (0..10_000u64)
            .map(|at| OffCpu {
                at: Nanos(3_600_000_000_000 + at * 77_000 + at * at % 9_000),
                pid: 4_100,
                tid: 4_100 + (at % 4) as u32,
                state: TaskState::Sleeping,
                blocked: Nanos(20_000 + at * 7_919 % 90_000),
                queued: Some(Nanos(1_000 + at * 104_729 % 9_000)),
                stack: Some(StackId((at * 31 % 700) as u32)),
                end: StackEnd::Whole,
                estimated: false,
                count: 1,
                longest: Nanos(21_000 + at * 7_919 % 90_000 + at * 104_729 % 9_000),
                began: WaitBegan::Seen,
            })
            .collect();
        assert!(waits.bytes() < 10_000 * size_of::<OffCpu>() / 4, "{}", waits.bytes());
    }
}
