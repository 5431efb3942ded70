//! The bounded history of a live session: its profile, the time span that it covers, and a way to save it.
//! It exceeds its limit by at most one window.

use super::live_assessor::LiveAssessor;
use super::numbers::Numbers;
use crate::analysis::attribution::Assessment;
use crate::collect::sampler::NEWEST;
use crate::error::Result;
use crate::model::profile::{Newest, Profile, ProfileBuilder};
use crate::model::{Event, Mark, Meta, Note};
use crate::session::code::RecordedCode;
use crate::session::flow::CaptureEnd;
use crate::session::operations::AddedOperations;
use crate::session::recorder::add_capture_end;
use crate::store::Writer;
use crate::sys::clock::Clock;
use crate::sys::heap;
use crate::units::Nanos;
use std::path::Path;

/// Events written at once when the history is saved.
const CHUNK: usize = 4096;

/// Free memory goes back to the system this often.
const TRIM_EVERY: Nanos = Nanos(30_000_000_000);

/// The limit of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Maximum size of events and definitions, bytes.
    pub bytes: u64,
    /// Maximum time span.
    pub span: Nanos,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { bytes: 48 << 20, span: Nanos(30 * 60 * 1_000_000_000) }
    }
}

/// A profile in memory with its limits.
#[derive(Debug)]
pub struct History {
    builder: ProfileBuilder,
    numbers: Numbers,
    newest: Newest,
    limit: Limit,
    /// `None` after the capture has ended.
    clock: Option<Clock>,
    since: Nanos,
    now: Nanos,
    trimmed: Nanos,
    /// `None` without a baseline.
    assessor: Option<LiveAssessor>,
    /// Records lost since the session's start, including those in dropped history.
    lost: u64,
    /// Totals of operations from before are another source's.
    ops_since: Nanos,
    /// `None` until code is needed.
    code: Option<RecordedCode>,
    /// Whether the capture runs on another machine.
    remote: bool,
}

impl History {
    pub(super) fn live(builder: ProfileBuilder, limit: Limit, clock: Clock, assessor: Option<LiveAssessor>) -> History {
        let (clock, since, now, numbers) = (Some(clock), Nanos(0), Nanos(0), Numbers::default());
        History {
            builder,
            numbers,
            newest: NEWEST,
            limit,
            clock,
            since,
            now,
            trimmed: now,
            assessor,
            lost: 0,
            ops_since: now,
            code: None,
            remote: false,
        }
    }

    /// Of a capture on another machine: its files are not here.
    pub(super) fn of_remote(mut self) -> History {
        self.remote = true;
        self
    }

    /// Whether the capture runs on another machine.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.remote
    }

    /// Keeps this many frames and stacks that nothing refers to.
    #[cfg(test)]
    pub(super) fn with_newest(mut self, newest: Newest) -> History {
        self.newest = newest;
        self
    }

    pub(super) fn replay(profile: Profile) -> History {
        let (limit, now) = (Limit::default(), profile.duration());
        let builder = ProfileBuilder::of(profile);
        let numbers = Numbers::default();
        History {
            builder,
            numbers,
            newest: NEWEST,
            limit,
            clock: None,
            since: Nanos(0),
            now,
            trimmed: now,
            assessor: None,
            lost: 0,
            ops_since: Nanos(0),
            code: None,
            remote: false,
        }
    }

    /// A snapshot for long operations while the session continues.
    #[must_use]
    pub fn copy(&self) -> History {
        let builder = ProfileBuilder::of(self.profile().clone());
        let History { limit, since, now, lost, ops_since, remote, .. } = *self;
        let (numbers, newest) = (Numbers::default(), self.newest);
        History {
            builder,
            numbers,
            newest,
            limit,
            clock: None,
            since,
            now,
            trimmed: now,
            assessor: None,
            lost,
            ops_since,
            code: None,
            remote,
        }
    }

    /// Moves the session's start on the wall clock, after the clock was set or the machine slept.
    #[must_use]
    pub fn started_at(mut self, unix_ns: u64) -> History {
        self.builder.profile_mut().meta.started_unix_ns = unix_ns;
        self
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        self.builder.profile()
    }

    /// The profile, and the reader of its code, which remembers what it has read; `None` for a program on another machine.
    pub fn with_code(&mut self) -> (&Profile, Option<&mut RecordedCode>) {
        let profile = self.builder.profile();
        if self.remote {
            return (profile, None);
        }
        (profile, Some(self.code.get_or_insert_with(|| RecordedCode::of(&profile.meta, None))))
    }

    /// Start of the history, since the session's start.
    #[must_use]
    pub fn since(&self) -> Nanos {
        self.since
    }

    /// End of the last complete window. All data up to there is present.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Whether the capture is running.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.clock.is_some()
    }

    /// The clock of a running capture.
    pub(super) fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// Takes another source's totals for the operations from now on.
    pub(super) fn count(&mut self, added: &AddedOperations) {
        let profile = self.builder.profile_mut();
        profile.ops.clear();
        profile.meta.plan.ops = Some(added.spec.clone());
        self.ops_since = self.clock.map_or(self.now, |clock| clock.now());
        self.note(added.notes.clone());
    }

    /// Adds notes, unless they are there.
    pub(super) fn note(&mut self, notes: Vec<Note>) {
        let known = &mut self.builder.profile_mut().meta.notes;
        for note in notes {
            if !known.contains(&note) {
                known.push(note);
            }
        }
    }

    /// Compares the windows that end from now on with a baseline.
    pub fn assess_with(&mut self, assessor: LiveAssessor) {
        self.assessor = Some(assessor);
    }

    /// The session compared with its baseline; `None` without one.
    #[must_use]
    pub fn assessment(&self) -> Option<Assessment> {
        self.assessor.as_ref().map(LiveAssessor::assessment)
    }

    /// Records lost since the session's start because a ring buffer was full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Its memory use, bytes, estimated from counts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.profile().approximate_bytes()
    }

    /// Saves the history as a complete recording whose time starts at the history's start. Returns the bytes on disk.
    ///
    /// # Errors
    /// The directory exists (without `force`) or cannot be written. A partially written recording is removed.
    pub fn save(&self, path: &Path, force: bool) -> Result<u64> {
        let meta = self.meta();
        let mut writer = Writer::create(path, &meta, force)?;
        let mut write = || -> Result<()> {
            let mut chunk = Vec::with_capacity(CHUNK);
            for event in self.profile().events(self.since) {
                chunk.push(event);
                if chunk.len() == CHUNK {
                    writer.write(&chunk)?;
                    chunk.clear();
                }
            }
            writer.write(&chunk)
        };
        let written = write();
        let result = written.and_then(|()| writer.finish(&meta));
        if result.is_err() {
            // Best effort: the returned error describes the problem with that place.
            let _ = std::fs::remove_dir_all(path);
        }
        result
    }

    /// The metadata of a recording of the history.
    fn meta(&self) -> Meta {
        let meta = &self.profile().meta;
        Meta {
            started_unix_ns: meta.started_unix_ns + self.since.0,
            started_mono_ns: meta.started_mono_ns + self.since.0,
            duration_ns: Some((self.now - self.since).0),
            ..meta.clone()
        }
    }

    pub(super) fn mark(&self, label: String) -> Event {
        Event::Mark(Mark { at: self.clock.map_or(self.now, |clock| clock.now()), label })
    }

    /// Adds events; true if a window ended.
    pub(super) fn take(&mut self, events: Vec<Event>) -> bool {
        let mut ended = None;
        for event in events {
            if let Event::Tick(tick) = &event {
                ended = Some(tick.at);
            }
            if let Event::Ops { at, .. } = &event
                && *at < self.ops_since
            {
                continue;
            }
            if let Event::Lost(lost) = &event
                && lost.kind.is_samples()
            {
                self.lost += lost.count;
            }
            let is_end = matches!(event, Event::Tick(_));
            if let Some(event) = self.numbers.own(event) {
                self.builder.apply(event);
            }
            if let Some(assessor) = self.assessor.as_mut().filter(|_| is_end) {
                assessor.judge(self.builder.profile());
            }
        }
        if let Some(at) = ended {
            self.now = self.now.max(at);
            self.trim();
        }
        ended.is_some()
    }

    /// Marks the end of the capture.
    pub(super) fn end(&mut self, last: Option<CaptureEnd>) {
        self.clock = None;
        let Some(last) = last else { return };
        add_capture_end(&mut self.builder.profile_mut().meta, &last);
        self.now = self.now.max(last.ended.at);
        self.take(last.late);
    }

    /// Drops the oldest quarter of the time until the rest fits. Views free much memory in small pieces, and so does this.
    fn trim(&mut self) {
        let too_long =
            |history: &History| history.now - history.since > history.limit.span + Nanos(history.limit.span.0 / 4);
        let mut due = self.now - self.trimmed >= TRIM_EVERY;
        while (self.bytes() > self.limit.bytes || too_long(self)) && self.forget_quarter() {
            due = true;
        }
        if due {
            self.trimmed = self.now;
            heap::trim();
        }
    }

    /// Returns false if nothing can be dropped: the last window always stays.
    fn forget_quarter(&mut self) -> bool {
        let ticks = &self.profile().ticks;
        let wanted = self.since + Nanos((self.now - self.since).0 / 4);
        let ends = ticks.iter().map(|tick| tick.at).filter(|at| *at > self.since && *at < self.now);
        let Some(cut) = ends.clone().find(|at| *at >= wanted).or_else(|| ends.max()) else { return false };
        let profile = self.builder.profile_mut();
        profile.forget_before(cut);
        if let Some(left) = profile.drop_unused(self.newest) {
            self.numbers.renumber(&left);
        }
        self.since = cut;
        true
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::model::{CounterId, CounterReading, Sample, Scope, StackEnd, Tick};
    use crate::session;

    fn second(at: u64) -> Nanos {
        Nanos(at * 1_000_000_000)
    }

    /// A window of 100 samples, 10 ms each, with the cumulative CPU time.
    fn window(at: u64) -> Vec<Event> {
        let sample = |nth: u64| {
            let at = second(at - 1) + Nanos(nth * 10_000_000);
            let (stack, end) = (None, StackEnd::NotTaken);
            Event::Sample(Sample { at, pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false })
        };
        let mut events: Vec<_> = (0..100).map(sample).collect();
        let (counter, scope, value) = (CounterId(0), Scope::Target, at * 700_000_000);
        events.push(Event::Reading(CounterReading {
            counter,
            scope,
            at: second(at),
            value,
            enabled: Nanos(0),
            running: Nanos(0),
        }));
        events.push(Event::Tick(Tick { at: second(at), span: second(1) }));
        events
    }

    fn history(limit: Limit) -> History {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
        let meta = session::open(&fixture).unwrap().meta;
        let counters = crate::session::live::counters(&meta);
        let mut builder = ProfileBuilder::new(meta);
        counters.into_iter().for_each(|event| builder.apply(event));
        History::live(builder, limit, Clock::start(), None)
    }

    #[test]
    fn a_session_without_end_stays_within_its_limit() {
        let limit = Limit { bytes: 100_000, span: second(100_000) };
        let mut history = history(limit);
        for at in 1..=500 {
            assert!(history.take(window(at)));
            assert!(history.bytes() <= limit.bytes, "{} bytes at {at} s", history.bytes());
        }
        assert_eq!(history.now(), second(500));
        assert!(history.since() > second(470) && history.since() < second(490), "{:?}", history.since());
        assert!(history.profile().samples.at.iter().all(|at| *at >= history.since()));
    }

    #[test]
    fn time_is_a_limit_too_and_the_last_window_always_stays() {
        let mut by_time = history(Limit { bytes: u64::MAX, span: second(20) });
        (1..=100).for_each(|at| _ = by_time.take(window(at)));
        let span = by_time.now() - by_time.since();
        assert!(span >= second(15) && span <= second(25), "{span:?}");
        let mut by_bytes = history(Limit { bytes: 1, span: second(20) });
        (1..=10).for_each(|at| _ = by_bytes.take(window(at)));
        assert_eq!((by_bytes.since(), by_bytes.profile().ticks.len()), (second(9), 1));
    }

    #[test]
    fn what_is_saved_is_a_recording_that_begins_where_the_history_does() {
        let mut history = history(Limit { bytes: u64::MAX, span: second(20) });
        (1..=100).for_each(|at| _ = history.take(window(at)));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("held.ironlaw");
        assert!(history.save(&path, false).unwrap() > 0);
        let again = session::open(&path).unwrap();
        let length = history.now() - history.since();
        assert_eq!((again.duration(), again.samples.at[0]), (length, Nanos(0)));
        assert_eq!(again.samples.len(), history.profile().samples.len());
        assert_eq!(again.meta.started_unix_ns, history.profile().meta.started_unix_ns + history.since().0);
        let values: Vec<_> = again.readings.iter().map(|reading| reading.value).collect();
        let growth = values[values.len() - 1] - values[0];
        assert_eq!(growth, 700_000_000 * (length.0 / 1_000_000_000), "the base before the first window is there");
        assert!(history.save(&path, false).unwrap_err().to_string().contains("exists"));
        assert!(session::open(&path).is_ok(), "what was there is untouched");
        let later = dir.path().join("later.ironlaw");
        history.copy().started_at(7).save(&later, false).unwrap();
        assert_eq!(session::open(&later).unwrap().meta.started_unix_ns, 7 + history.since().0, "the clock was set");
    }
}
