//! The kernel's records of a file, ordered by time, each with its event.
//! At most two rounds of records are in memory, and records left out are counted.

use super::header::PerfData;
use super::order::Rounds;
use super::record::{self, RecordBody, SampleId};
use super::stream::{Raw, Stream, is_own, own};
use crate::abi::perf::kind;
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
    over: bool,
    left_out: LeftOut,
}

impl<'f, 'a> Records<'f, 'a> {
    fn new(file: &'f PerfData<'a>, stream: Stream<'a>) -> Self {
        let (rounds, ready) = (Rounds::default(), VecDeque::new());
        Records { file, stream, rounds, ready, over: false, left_out: LeftOut::default() }
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

    /// Why reading ended before the data did, if it did.
    #[must_use]
    pub fn gap(&self) -> Option<&str> {
        self.stream.gap()
    }

    /// Queues a record. One without a time is returned at once, as in perf: it was made before the others.
    fn sort(&mut self, raw: Raw<'a>) -> Option<Record<'a>> {
        match raw.kind {
            own::FINISHED_ROUND => self.ready.extend(self.rounds.finish_round()),
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
                    Some(time) => self.rounds.add(time, record),
                    None => return Some(record),
                }
            }
        }
        None
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
                    if let Some(record) = self.sort(raw) {
                        return Some(record);
                    }
                }
                None if self.over => return None,
                None => {
                    self.over = true;
                    self.ready.extend(self.rounds.finish());
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
