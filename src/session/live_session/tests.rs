#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
//! A session's thread: the order of its jobs, jobs that panic, a thread that has ended, and the end.

use super::worker::{HistoryWorker, Order, ending};
use super::*;
use crate::collect::sampler::EndReason;
use crate::model::Event;
use crate::session::tests::support::{capture_end, lost, meta, sample, second, tick};
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, Sender, sync_channel};
use std::sync::{Arc, Mutex};

fn replayed() -> Profile {
    let mut builder = ProfileBuilder::new(meta());
    for event in [sample(Nanos(5)), tick(1), tick(2)] {
        builder.apply(event);
    }
    builder.profile_mut().meta.duration_ns = Some(second(2).0);
    builder.profile().clone()
}

/// A session over a recording, and its news.
fn session() -> (LiveSession, Receiver<SessionEvent>) {
    let (notify, news) = channel();
    let session = LiveSession::replay(replayed(), move |fresh| _ = notify.send(fresh)).unwrap();
    (session, news)
}

fn failures(news: &Receiver<SessionEvent>) -> Vec<String> {
    let failure = |news| if let SessionEvent::Failed(error) = news { Some(error.to_string()) } else { None };
    news.try_iter().filter_map(failure).collect()
}

/// Waits for a thread that is about to end.
fn ended(session: &LiveSession) {
    while session.is_running() {
        std::thread::yield_now();
    }
}

#[test]
fn jobs_run_in_their_order_and_all_before_the_end() {
    let (session, news) = session();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for number in 0..50 {
        let seen = Arc::clone(&seen);
        session.submit(move |_| seen.lock().unwrap().push(number));
    }
    assert!(session.finish().unwrap().is_none(), "nothing was recorded");
    assert_eq!(*seen.lock().unwrap(), (0..50).collect::<Vec<_>>());
    assert_eq!(news.iter().count(), 0, "a recording has no news");
}

#[test]
fn a_recording_is_whole_from_its_beginning_and_not_live() {
    let (session, _news) = session();
    let (notify, failure_reported) = channel();
    session.submit(move |history| {
        let profile = history.profile();
        notify
            .send((history.is_live(), history.since(), history.now(), profile.samples.len(), history.lost()))
            .unwrap();
    });
    assert_eq!(failure_reported.recv().unwrap(), (false, Nanos(0), second(2), 1, 0));
    session.finish().unwrap();
}

#[test]
fn a_job_that_panics_is_reported_and_the_next_one_runs() {
    let (session, news) = session();
    session.submit(|_| panic!("a view with a bug"));
    session.submit(|_| panic!("another one"));
    let (notify, failure_reported) = channel();
    session.submit(move |history| notify.send(history.profile().samples.len()).unwrap());
    assert_eq!(failure_reported.recv().unwrap(), 1);
    assert!(session.is_running());
    session.finish().unwrap();
    let failures = failures(&news);
    assert_eq!(failures.len(), 2);
    assert!(failures.iter().all(|text| text.contains("defect of ironlaw")), "{failures:?}");
}

#[test]
fn a_mark_in_a_recording_stands_at_its_end() {
    let (session, _news) = session();
    session.mark("deployed".to_string());
    let (notify, failure_reported) = channel();
    session.submit(move |history| notify.send(history.profile().marks.clone()).unwrap());
    let marks = failure_reported.recv().unwrap();
    assert_eq!((marks.len(), marks[0].at, marks[0].label.as_str()), (1, second(2), "deployed"));
    session.finish().unwrap();
}

#[test]
fn a_session_that_is_dropped_lets_its_thread_end() {
    let (notify, news) = channel();
    drop(LiveSession::replay(replayed(), move |fresh| _ = notify.send(fresh)).unwrap());
    assert!(news.recv().is_err(), "the thread has ended and dropped its sender");
}

#[test]
fn a_thread_that_panics_fails_the_session_and_holds_up_nobody() {
    let (wake, _batches) = sync_channel(1);
    wake.try_send(Vec::new()).unwrap();
    let session = LiveSession::start(Some(wake), |_| panic!("a worker with a bug")).unwrap();
    ended(&session);
    // Neither a mailbox without a reader nor a full channel of events stops the caller.
    let ran = Arc::new(Mutex::new(false));
    let job = Arc::clone(&ran);
    session.submit(move |_| *job.lock().unwrap() = true);
    session.mark("too late".to_string());
    let error = session.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(!*ran.lock().unwrap(), "a request to a dead thread stays pending");
    assert_eq!(Arc::strong_count(&ran), 1, "and is dropped with the session");
}

#[test]
fn news_whose_reader_panics_end_the_thread_and_not_the_program() {
    let session = LiveSession::replay(replayed(), |_| panic!("a reader with a bug")).unwrap();
    session.submit(|_| panic!("makes news"));
    ended(&session);
    assert_eq!(session.finish().unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn the_error_of_a_thread_is_the_sessions() {
    let failed = |_| Err(Error::new(ErrorKind::NotPermitted, "the kernel refused"));
    let session = LiveSession::start(None, failed).unwrap();
    assert_eq!(session.finish().unwrap_err().to_string(), "the kernel refused");
}

/// A worker over a live history, its requests and its news.
fn worker() -> (HistoryWorker, Sender<Order>, Receiver<SessionEvent>) {
    let (orders, mailbox) = channel();
    let (notify, news) = channel();
    let history = History::live(ProfileBuilder::new(meta()), Limit::default(), crate::sys::clock::Clock::start(), None);
    let notify = Box::new(move |fresh| _ = notify.send(fresh));
    (
        HistoryWorker { history, recorder: None, notify, orders: mailbox, added: None, failure_reported: false },
        orders,
        news,
    )
}

#[test]
fn requests_after_the_last_one_are_not_carried_out() {
    let (mut worker, orders, news) = worker();
    orders.send(Order::Mark("first".to_string())).unwrap();
    orders.send(Order::Finish).unwrap();
    orders.send(Order::Mark("second".to_string())).unwrap();
    worker.answer();
    let marks: Vec<_> = worker.history.profile().marks.iter().map(|mark| mark.label.clone()).collect();
    assert_eq!(marks, ["first"]);
    assert!(news.try_iter().next().is_none(), "a mark ends no window");
}

#[test]
fn a_capture_that_has_ended_is_kept_with_its_totals_and_its_late_names() {
    let (mut worker, _, _) = worker();
    assert!(worker.history.is_live());
    let events: Vec<Event> = vec![sample(Nanos(1)), lost(crate::model::LossKind::Samples, 3), tick(1)];
    assert!(worker.history.take(events), "a window ended");
    assert!(!worker.history.take(vec![sample(second(1))]), "and none since");
    let mut last = capture_end(EndReason::TargetGone, Some(0), 2);
    last.late = vec![lost(crate::model::LossKind::Samples, 2)];
    worker.history.end(Some(last));
    assert!(!worker.history.is_live());
    assert_eq!((worker.history.now(), worker.history.lost()), (second(2), 5));
    assert_eq!(worker.history.profile().meta.duration_ns, Some(second(2).0));
    let mark = worker.history.mark("after the end".to_string());
    assert!(matches!(mark, Event::Mark(mark) if mark.at == second(2)), "the clock has stopped");
}

#[test]
fn a_capture_that_failed_keeps_what_came_before() {
    let (mut worker, _, _) = worker();
    worker.history.take(vec![sample(Nanos(1)), tick(1)]);
    worker.history.end(None);
    assert_eq!((worker.history.is_live(), worker.history.now()), (false, second(1)));
    assert_eq!(worker.history.profile().samples.len(), 1);
    assert_eq!(worker.history.profile().meta.duration_ns, None);
}

#[test]
fn a_copy_is_a_history_that_stands_still() {
    let (mut worker, _, _) = worker();
    worker.history.take(vec![sample(Nanos(1)), lost(crate::model::LossKind::Ring, 9), tick(1)]);
    let copy = worker.history.copy();
    worker.history.take(vec![sample(second(1)), tick(2)]);
    assert_eq!((copy.is_live(), copy.now(), copy.lost(), copy.profile().samples.len()), (false, second(1), 9, 1));
    assert_eq!((worker.history.now(), worker.history.profile().samples.len()), (second(2), 2));
    assert!(copy.assessment().is_none());
}

#[test]
fn a_window_that_comes_twice_or_late_does_not_move_the_end_back() {
    let (mut worker, _, _) = worker();
    for at in [1, 3, 2, 3] {
        worker.history.take(vec![tick(at)]);
    }
    assert_eq!(worker.history.now(), second(3));
}

#[test]
fn the_end_of_a_capture_is_told_in_words() {
    for (reason, status, words) in [
        (EndReason::TargetGone, None, "the target has ended"),
        (EndReason::TargetGone, Some(0), "the command ended with status 0"),
        (EndReason::TargetGone, Some(127), "the command ended with status 127"),
        (EndReason::TargetGone, Some(128), "the command ended with status 128"),
        (EndReason::TargetGone, Some(137), "the command was ended by signal 9"),
        (EndReason::Duration, None, "the planned time is over"),
        (EndReason::Duration, Some(143), "the planned time is over"),
        (EndReason::Stopped, Some(143), "the capture was stopped"),
        (EndReason::ReaderGone, None, "the capture was stopped"),
        (EndReason::ConnectionLost, Some(0), "the connection was lost"),
    ] {
        assert_eq!(ending(&capture_end(reason, status, 1)), words, "{reason:?} {status:?}");
    }
}
