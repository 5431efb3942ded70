//! The kernel's records of a file, ordered by time, each with its event.
//! At most two rounds of records are in memory, and records left out are counted.

use super::header::PerfData;
use super::order::Rounds;
use super::record::{self, RecordBody, SampleId};
use super::stream::{Raw, Stream, is_own, own};
use crate::abi::perf::kind;
use crate::model::limits::PERF_HELD_BYTES;
use std::borrow::Cow;
use std::collections::VecDeque;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// Index of its event.
    pub event: usize,
    /// Time and CPU.
    pub stamp: SampleId,
    kind: u32,
    misc: u16,
    body: Cow<'a, [u8]>,
}

impl Record<'_> {
    /// Memory for what was unpacked, bytes.
    fn owned_bytes(&self) -> usize {
        match &self.body {
            Cow::Borrowed(_) => 0,
            Cow::Owned(body) => body.len().max(LEAST_ALLOCATED),
        }
    }
}

/// Bytes that the smallest allocation takes.
const LEAST_ALLOCATED: usize = 32;

/// Records of the file that the stream leaves out, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Records of events the file does not describe.
    pub unknown_event: u64,
    /// Hardware traces, which only their decoder understands.
    pub traces: u64,
    /// Counters of `perf stat record`.
    pub counts: u64,
    /// Context switches.
    pub switches: u64,
}

/// Iterates over a file's records.
#[derive(Debug)]
pub struct Records<'f, 'a> {
    file: &'f PerfData<'a>,
    stream: Stream<'a>,
    rounds: Rounds<Record<'a>>,
    ready: VecDeque<Record<'a>>,
    /// Memory of the records in `rounds`, about.
    held_bytes: usize,
    held_limit: usize,
    over: bool,
    left_out: LeftOut,
    /// Records of the stream so far.
    seen: usize,
}

impl<'f, 'a> Records<'f, 'a> {
    fn new(file: &'f PerfData<'a>, stream: Stream<'a>) -> Self {
        let (rounds, ready) = (Rounds::default(), VecDeque::new());
        let (held_bytes, left_out) = (0, LeftOut::default());
        Records { file, stream, rounds, ready, held_bytes, held_limit: PERF_HELD_BYTES, over: false, left_out, seen: 0 }
    }

    /// Records left out so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Bytes of the file read so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.stream.position()
    }

    /// About the bytes of the file whose records have come out: those that wait to be sorted count by their mean length.
    #[must_use]
    pub fn handed_out(&self) -> usize {
        let waiting = self.ready.len() + self.rounds.len();
        let share = waiting as f64 / self.seen.max(waiting).max(1) as f64;
        (self.position() as f64 * (1.0 - share)) as usize
    }

    /// Why reading ended before the data did, if it did.
    #[must_use]
    pub fn gap(&self) -> Option<&str> {
        self.stream.gap()
    }

    /// Queues a record. One without a time is returned at once, as in perf: it was made before the others.
    fn sort(&mut self, raw: Raw<'a>) -> Option<Record<'a>> {
        match raw.kind {
            own::FINISHED_ROUND if self.file.is_of_threads() => {}
            own::FINISHED_ROUND => {
                let held = self.rounds.len();
                let ready = self.rounds.finish_round();
                self.release(ready, held);
            }
            own::AUXTRACE => self.left_out.traces += 1,
            own::STAT => self.left_out.counts += 1,
            own if is_own(own) => {}
            kind::SWITCH | kind::SWITCH_CPU_WIDE => self.left_out.switches += 1,
            _ => {
                let Some(record) = self.record(raw) else {
                    self.left_out.unknown_event += 1;
                    return None;
                };
                match record.stamp.time.filter(|time| *time != 0 && *time != u64::MAX) {
                    Some(time) => {
                        self.held_bytes += size_of::<(u64, Record<'_>)>() + record.owned_bytes();
                        self.rounds.add(time, record);
                        if self.held_bytes > self.held_limit {
                            self.release_half();
                        }
                    }
                    None => return Some(record),
                }
            }
        }
        None
    }

    /// Without the end of a round, records wait for ever: perf, too, lets half of them go then.
    fn release_half(&mut self) {
        let held = self.rounds.len();
        let ready = self.rounds.finish_half();
        self.release(ready, held);
    }

    /// Takes what came out of the `held` records. The rest keeps its share of their memory.
    fn release(&mut self, ready: impl Iterator<Item = Record<'a>>, held: usize) {
        self.ready.extend(ready);
        self.held_bytes = self.held_bytes / held.max(1) * self.rounds.len();
    }

    fn record(&self, raw: Raw<'a>) -> Option<Record<'a>> {
        let Raw { kind, misc, body } = raw;
        let event = self.file.event_of(kind, &body).or_else(|| {
            // For anything but a sample, the event only determines the layout of the record's end.
            (kind != kind::SAMPLE).then_some(0)
        })?;
        let stamp = record::stamp(kind, &body, &self.file.events.get(event)?.attr, self.file.big);
        Some(Record { event, stamp, kind, misc, body })
    }
}

impl<'a> Iterator for Records<'_, 'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(record);
            }
            match self.stream.next() {
                Some(raw) => {
                    self.seen += 1;
                    if let Some(record) = self.sort(raw) {
                        return Some(record);
                    }
                }
                None if self.over => return None,
                None => {
                    self.over = true;
                    let held = self.rounds.len();
                    let ready = self.rounds.finish();
                    self.release(ready, held);
                }
            }
        }
    }
}

impl<'a> PerfData<'a> {
    /// The records, ordered by time.
    #[must_use]
    pub fn records(&self) -> Records<'_, 'a> {
        Records::new(self, self.stream())
    }

    /// Parses a record's content; `None` when it is too short.
    #[must_use]
    pub fn read_record<'r>(&self, record: &'r Record<'_>) -> Option<RecordBody<'r>> {
        let attr = &self.events.get(record.event)?.attr;
        record::parse(record.kind, record.misc, &record.body, attr, self.big)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::super::stream::fake::record;
    use super::*;

    /// A file of samples at these times, without the end of a round.
    fn file(times: impl Iterator<Item = u64>) -> Vec<u8> {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let samples: Vec<u8> = times.flat_map(|time| record(kind::SAMPLE, 2, &words(&[time]))).collect();
        // One event, whose samples have a time only.
        let attr = words(&[64 << 32 | 1, 0, 1000, 4, 0, 1 << 18, 0, 0, 0, 0]);
        let head = [words(&[104, 80, 104, 80, 184, samples.len() as u64, 0, 0]), vec![0; 32]].concat();
        [b"PERFILE2".to_vec(), head, attr, samples].concat()
    }

    #[test]
    fn records_that_wait_too_long_come_out_by_halves_and_in_order() {
        let bytes = file(1..=1000);
        let perf = PerfData::parse(&bytes).unwrap();
        for limit in [0, 1000, 10_000, usize::MAX] {
            let mut records = perf.records();
            records.held_limit = limit;
            let (mut times, mut most) = (Vec::new(), 0);
            while let Some(record) = records.next() {
                most = most.max(records.rounds.len());
                times.extend(record.stamp.time);
            }
            assert!(times.iter().copied().eq(1..=1000), "{limit}: {times:?}");
            let size = size_of::<(u64, Record<'_>)>();
            assert!(
                most * size <= limit.saturating_add(size) && records.held_bytes == 0,
                "{most} held of {limit} bytes"
            );
        }
    }
}
