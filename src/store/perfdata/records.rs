//! The kernel's records of a file in the order of their times, each with its event.
//! It never holds more than two rounds of them, and counts what it leaves out.

use super::header::PerfData;
use super::order::Rounds;
use super::record::{self, Stamp, What, kind};
use super::stream::{Raw, Stream, is_own, own};
use std::borrow::Cow;
use std::collections::VecDeque;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// Index of its event.
    pub event: usize,
    /// Who, when and where.
    pub stamp: Stamp,
    kind: u32,
    misc: u16,
    body: Cow<'a, [u8]>,
}

/// What was in the file and is not in the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Records of events the file does not describe.
    pub unknown_event: u64,
    /// Traces of the processor's own making, which only its decoder understands.
    pub traces: u64,
    /// Counters of `perf stat record`.
    pub counts: u64,
    /// Switches from one task to another.
    pub switches: u64,
}

/// Walks through a file's records.
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
    pub(super) fn new(file: &'f PerfData<'a>, stream: Stream<'a>) -> Self {
        let (rounds, ready) = (Rounds::default(), VecDeque::new());
        Records { file, stream, rounds, ready, over: false, left_out: LeftOut::default() }
    }

    /// What was left out so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Why reading ended before the data did, if so.
    #[must_use]
    pub fn gap(&self) -> Option<&str> {
        self.stream.gap()
    }

    /// Takes a record in; one without a time is handed back at once, as perf does it: it was made before the others.
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
            // Of anything but a sample, the layout of its end is all that its event is needed for.
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

impl PerfData<'_> {
    /// What a record says; `None` when it is shorter than it must be.
    #[must_use]
    pub fn read_record<'r>(&self, record: &'r Record<'_>) -> Option<What<'r>> {
        let attr = &self.events.get(record.event)?.attr;
        record::parse(record.kind, record.misc, &record.body, attr, self.big)
    }
}
