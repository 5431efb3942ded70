//! Sessions and recordings of real commands, and their ends: by themselves, by request, by a failure of disk or thread.

use super::{Workload, plan, spec};
use ironlaw::collect::sampler::{EndReason, LastReading, Reader, Sampler};
use ironlaw::error::ErrorKind;
use ironlaw::model::{CallGraph, Event, EventKind, Plan, Target};
use ironlaw::session::{self, Limit, LiveCapture, LiveSession, SessionEvent};
use ironlaw::store::{Recording, Writer};
use ironlaw::sys::clock::Clock;
use ironlaw::sys::signals::StopToken;
use ironlaw::units::Nanos;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// A command sampled without its kernel part, in windows of 50 ms.
fn command(script: &str) -> Plan {
    let argv = ["sh", "-c", script].map(ToString::to_string).to_vec();
    let events = vec![spec("cpu-clock", EventKind::Software(0), None)];
    let interval = Nanos(50_000_000);
    Plan { duration: None, interval, events, call_graph: CallGraph::None, ..plan(Target::Command { argv }, 1.0) }
}

fn opened(plan: Plan) -> LiveCapture {
    LiveCapture::open(plan, vec![], false).unwrap()
}

fn writer(dir: &tempfile::TempDir, capture: &LiveCapture) -> (PathBuf, Writer) {
    let path = dir.path().join("a.ironlaw");
    let writer = Writer::create(&path, capture.meta(), false).unwrap();
    (path, writer)
}

/// Waits for something that is about to happen.
fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not happen");
        thread::sleep(Duration::from_millis(5));
    }
}

fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_session_reports_its_windows_and_its_end_and_keeps_a_recording_of_both() {
    require!("perf");
    let capture = opened(command("sleep 0.3; exit 3"));
    let dir = tempfile::tempdir().unwrap();
    let (path, output) = writer(&dir, &capture);
    let (notify, events) = channel();
    let session =
        LiveSession::live(capture, Some(output), Limit::default(), None, move |event| _ = notify.send(event)).unwrap();
    let (answer, answered) = channel();
    let first = answer.clone();
    session.submit(move |history| first.send(history.is_live()).unwrap());
    session.mark("here".to_string());
    let mut windows = 0;
    let end = loop {
        match events.recv().unwrap() {
            SessionEvent::Fresh => windows += 1,
            SessionEvent::Ended(why) => break why,
            SessionEvent::Failed(error) => panic!("{error}"),
        }
    };
    assert_eq!(end, "the command ended with status 3");
    assert!(windows > 0);
    session.submit(move |history| answer.send(history.is_live()).unwrap());
    assert_eq!([answered.recv().unwrap(), answered.recv().unwrap()], [true, false], "it stays after its end");
    let outcome = session.finish().unwrap().unwrap();
    assert!(outcome.bytes > 0 && outcome.write_failure.is_none() && outcome.reason == EndReason::TargetGone);
    let recording = Recording::open(&path).unwrap();
    assert!(recording.finished() && recording.damage().is_empty());
    let profile = recording.profile();
    assert_eq!(profile.meta.exit_status, Some(3));
    assert_eq!(profile.marks.iter().map(|mark| mark.label.as_str()).collect::<Vec<_>>(), ["here"]);
    assert!(profile.ticks.len() >= windows, "{} windows were reported, {} kept", windows, profile.ticks.len());
}

#[test]
fn finishing_a_session_ends_its_command() {
    require!("perf");
    let capture = opened(command("exec sleep 60 >&- 2>&-"));
    let pid = capture.command_pid().unwrap();
    let session = LiveSession::live(capture, None, Limit::default(), None, |_| ()).unwrap();
    assert!(exists(pid) && session.is_running());
    assert!(session.finish().unwrap().is_none(), "nothing was recorded");
    assert!(!exists(pid), "it is ended and reaped");
}

#[test]
fn a_session_whose_thread_panics_leaves_no_command_behind() {
    require!("perf");
    let capture = opened(command("exec sleep 60 >&- 2>&-"));
    let pid = capture.command_pid().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (path, output) = writer(&dir, &capture);
    let session =
        LiveSession::live(capture, Some(output), Limit::default(), None, |_| panic!("a reader with a bug")).unwrap();
    eventually("the end of the thread", || !session.is_running());
    eventually("the end of the command", || !exists(pid));
    assert_eq!(session.finish().unwrap_err().kind(), ErrorKind::Io);
    let recording = Recording::open(&path).unwrap();
    assert!(!recording.finished(), "what is on the disk can be read, but says that it is not whole");
}

#[test]
fn a_session_whose_disk_fails_says_so_once_and_goes_on() {
    require!("perf");
    let capture = opened(command("exec sleep 60 >&- 2>&-"));
    let dir = tempfile::tempdir().unwrap();
    let (path, output) = writer(&dir, &capture);
    let (notify, events) = channel();
    let session =
        LiveSession::live(capture, Some(output), Limit::default(), None, move |event| _ = notify.send(event)).unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    let failure = loop {
        if let SessionEvent::Failed(error) = events.recv().unwrap() {
            break error.to_string();
        }
    };
    assert!(failure.contains("no longer complete") && failure.contains("a.ironlaw"), "{failure}");
    for _ in 0..3 {
        assert!(
            matches!(events.recv().unwrap(), SessionEvent::Fresh),
            "windows go on, and the failure is not repeated"
        );
    }
    let (answer, answered) = channel();
    session.submit(move |history| answer.send((history.is_live(), history.profile().ticks.len())).unwrap());
    let (live, windows) = answered.recv().unwrap();
    assert!(live && windows > 3);
    let outcome = session.finish().unwrap().unwrap();
    assert_eq!((outcome.bytes, outcome.write_failure.map(|error| error.kind())), (0, Some(ErrorKind::NotFound)));
}

#[test]
fn a_recording_that_is_asked_to_stop_ends_its_command_and_is_whole() {
    require!("perf");
    let capture = opened(command("exec sleep 60 >&- 2>&-"));
    let pid = capture.command_pid().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (path, output) = writer(&dir, &capture);
    let outcome = capture.run_unless(output, &AtomicBool::new(true)).unwrap();
    assert_eq!((outcome.reason, outcome.meta.exit_status), (EndReason::Stopped, Some(128 + 15)), "by SIGTERM");
    assert!(!exists(pid) && outcome.write_failure.is_none());
    let profile = session::open(&path).unwrap();
    assert_eq!(profile.meta.duration_ns, outcome.meta.duration_ns);
    assert!(profile.meta.duration_ns > Some(0) && !profile.ticks.is_empty());
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_command() {
    require!("perf");
    let dir = tempfile::tempdir().unwrap();
    let done = dir.path().join("done");
    let capture = opened(command(&format!("sleep 1.5; touch {}; exit 7", done.display())));
    let (path, output) = writer(&dir, &capture);
    std::fs::remove_dir_all(&path).unwrap();
    let outcome = capture.run(output).unwrap();
    assert!(done.exists(), "the command ran to its end");
    assert_eq!((outcome.bytes, outcome.meta.exit_status, outcome.reason), (0, Some(7), EndReason::Stopped));
    let failure = outcome.write_failure.unwrap();
    assert!(failure.kind() == ErrorKind::NotFound && failure.to_string().contains("a.ironlaw"), "{failure}");
}

/// Counters whose thread has failed: no events, no time.
struct Failed;

impl Reader for Failed {
    fn begin(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn end(&mut self) -> LastReading {
        LastReading::default()
    }
}

#[test]
fn a_capture_keeps_its_length_when_its_counters_fail() {
    require!("perf", "python3");
    let workload = Workload::python("while True: pass");
    let sampler = Sampler::open(&plan(workload.target(), 0.3), &Clock::start()).unwrap();
    let (out, batches) = sync_channel(64);
    let worker = thread::spawn(move || sampler.run(out, StopToken::new().unwrap(), &mut Failed).unwrap());
    let samples = batches.iter().flatten().filter(|event| matches!(event, Event::Sample(_))).count();
    let ended = worker.join().unwrap();
    assert!(samples > 0 && ended.reason == EndReason::Duration);
    assert!(ended.at >= Nanos(300_000_000) && ended.sampled >= Nanos(300_000_000), "{ended:?}");
}
