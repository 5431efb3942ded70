//! What a recording holds at each moment, and what becomes of it when the disk fails.

use super::support::{capture_end, lost, meta, note, sample, second, tick};
use crate::collect::sampler::EndReason;
use crate::error::ErrorKind;
use crate::model::{Coverage, LossKind, Note, RecordCount};
use crate::session;
use crate::session::recorder::{Recorder, add_capture_end};
use crate::store::{Recording, Writer};
use crate::sys::clock::{Clock, monotonic_ns};
use crate::units::Nanos;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A clock that started an hour ago, so that a flush is due at once.
fn old_clock() -> Clock {
    Clock::starting_at(monotonic_ns().saturating_sub(3_600 * 1_000_000_000))
}

fn recorder(clock: Clock) -> (TempDir, PathBuf, Recorder) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ironlaw");
    let meta = meta();
    let writer = Writer::create(&path, &meta, false).unwrap();
    (dir, path, Recorder::new(meta, writer, clock))
}

fn samples_on_disk(path: &Path) -> usize {
    session::open(path).unwrap().samples.len()
}

#[test]
fn a_finished_recording_holds_its_events_its_late_names_and_how_it_ended() {
    let (_dir, path, mut recorder) = recorder(Clock::start());
    recorder.keep(&[sample(Nanos(1)), sample(Nanos(2)), tick(1), lost(LossKind::Samples, 4)]);
    let mut last = capture_end(EndReason::TargetGone, Some(3), 2);
    last.late = vec![sample(Nanos(3))];
    last.notes = vec![note("late")];
    last.ended.coverage = vec![Coverage { event: "cycles".to_string(), share: 0.5 }];
    last.ended.records = vec![RecordCount { kind: LossKind::Samples, read: 3, lost: 4 }];
    let outcome = recorder.finish(&last);
    assert!(outcome.bytes > 0 && outcome.write_failure.is_none(), "{outcome:?}");
    assert_eq!((outcome.reason, outcome.capture_stats.samples), (EndReason::TargetGone, 3), "late events count too");
    assert_eq!(outcome.capture_stats.lost, 4);
    let read = Recording::open(&path).unwrap();
    assert!(read.finished() && read.damage().is_empty());
    let (meta, profile) = (read.meta(), read.profile());
    assert_eq!((meta.duration_ns, meta.exit_status), (Some(second(2).0), Some(3)));
    assert_eq!((meta.coverage[0].share, meta.records[0].lost), (0.5, 4));
    assert_eq!(meta.notes.iter().map(|note| note.topic.as_str()).collect::<Vec<_>>(), ["late"]);
    assert_eq!((profile.samples.len(), profile.ticks.len()), (3, 1));
    assert_eq!(outcome.meta.duration_ns, meta.duration_ns, "the caller gets what is on the disk");
}

#[test]
fn notes_of_the_end_come_after_those_of_the_beginning() {
    let mut meta = meta();
    meta.notes = vec![note("no-pmu")];
    let mut last = capture_end(EndReason::Stopped, None, 1);
    last.notes = vec![note("ops-gap"), note("no-pmu")];
    add_capture_end(&mut meta, &last);
    let topics: Vec<_> = meta.notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!(topics, ["no-pmu", "ops-gap", "no-pmu"]);
    assert_eq!((meta.duration_ns, meta.exit_status), (Some(second(1).0), None));
    // Of the sampling frequency, the last one counts.
    for slowed in [1, 2] {
        last.notes = vec![note(Note::SAMPLING_SLOWED); slowed];
        add_capture_end(&mut meta, &last);
        let of_the_rate = meta.notes.iter().filter(|note| note.topic == Note::SAMPLING_SLOWED);
        assert_eq!(of_the_rate.count(), slowed);
    }
}

#[test]
fn a_flush_makes_what_was_kept_readable_before_the_end() {
    let (_dir, path, mut recorder) = recorder(old_clock());
    recorder.keep(&[sample(Nanos(1))]);
    assert_eq!(samples_on_disk(&path), 0, "nothing is written before a flush");
    assert!(recorder.flush_when_due());
    assert_eq!(samples_on_disk(&path), 1);
    assert!(!Recording::open(&path).unwrap().finished(), "it still runs");
    recorder.keep(&[sample(Nanos(2))]);
    assert!(recorder.flush_when_due());
    assert_eq!(samples_on_disk(&path), 1, "the next flush is due a second after the last");
}

#[test]
fn a_recorder_that_is_dropped_leaves_what_it_flushed() {
    let (_dir, path, mut recorder) = recorder(old_clock());
    recorder.keep(&[sample(Nanos(1))]);
    assert!(recorder.flush_when_due());
    recorder.keep(&[sample(Nanos(2))]);
    drop(recorder);
    let read = Recording::open(&path).unwrap();
    assert_eq!((read.finished(), read.profile().samples.len()), (false, 1));
}

#[test]
fn a_disk_that_fails_is_reported_once_and_the_counts_go_on() {
    let (_dir, path, mut recorder) = recorder(old_clock());
    std::fs::remove_dir_all(&path).unwrap();
    recorder.keep(&[sample(Nanos(1)), tick(1)]);
    assert!(recorder.failure().is_none(), "keeping alone does not touch the disk");
    assert!(!recorder.flush_when_due());
    let first = recorder.failure().unwrap().to_string();
    assert!(first.contains("a.ironlaw"), "the message names the recording: {first}");
    // The place is back, but the recording has a gap now: it stays failed.
    std::fs::create_dir(&path).unwrap();
    recorder.keep(&[sample(Nanos(2)), lost(LossKind::Samples, 7)]);
    assert!(!recorder.flush_when_due());
    std::fs::remove_dir_all(&path).unwrap();
    let outcome = recorder.finish(&capture_end(EndReason::Stopped, None, 1));
    assert_eq!((outcome.bytes, outcome.reason), (0, EndReason::Stopped));
    assert_eq!((outcome.capture_stats.samples, outcome.capture_stats.lost), (2, 7));
    assert_eq!(outcome.meta.duration_ns, Some(second(1).0));
    let failure = outcome.write_failure.unwrap();
    assert_eq!((failure.kind(), failure.to_string()), (ErrorKind::NotFound, first), "the first failure is the cause");
}

#[test]
fn a_failure_at_the_very_end_is_the_failure() {
    let (_dir, path, mut recorder) = recorder(Clock::start());
    recorder.keep(&[sample(Nanos(1))]);
    std::fs::remove_dir_all(&path).unwrap();
    let outcome = recorder.finish(&capture_end(EndReason::Duration, None, 1));
    assert_eq!((outcome.bytes, outcome.write_failure.map(|error| error.kind())), (0, Some(ErrorKind::NotFound)));
}
