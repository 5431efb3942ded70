//! Pushes the metrics to an OpenTelemetry collector, on a thread of its own: the watch never waits for it.

use crate::cli::args::Collector;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::export::otlp::{self, Origin};
use crate::ops::{Posted, post};
use crate::sys::clock;
use crate::sys::procfs::ProcFs;
use crate::view::watch::{Gauges, Message};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two requests.
const EVERY: Duration = Duration::from_secs(10);

/// Requests that wait for a collector that does not answer; the oldest are dropped. Ten minutes, about a megabyte.
const BACKLOG: usize = 60;

/// Time for one request.
const PATIENCE: Duration = Duration::from_secs(5);

/// The same at the end of the watch, for the last one.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// The longest pause before a request is repeated, however long the collector asks for: it is back for that long at most
/// before it gets the values.
const LONGEST_PAUSE: u32 = 30;

/// Pushes until the watch ends.
#[derive(Debug)]
pub(super) struct MetricsPusher {
    /// Dropped at the end.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl MetricsPusher {
    /// Pushes the gauges every ten seconds, read anew each time. `tell` gets the first failure of a row of them.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        to: Collector,
        mut gauges: impl FnMut() -> Gauges + Send + 'static,
        tell: impl FnMut(Message) + Send + 'static,
    ) -> Result<MetricsPusher> {
        let (stop, stopped) = channel();
        let send = move |body: &[u8], patience| post(&to.authority, &to.path, otlp::CONTENT_TYPE, body, patience);
        let host = ProcFs::new("/proc").read("sys/kernel/hostname").unwrap_or_default();
        let host = String::from_utf8_lossy(&host).trim().to_string();
        let started_ns = clock::unix_ns();
        let run = move || {
            let read = || {
                let origin = Origin { host: host.clone(), started_ns, now_ns: clock::unix_ns() };
                otlp::request(&gauges(), &origin)
            };
            let mut queue = Queue { requests: VecDeque::new(), failures: 0, attempts: 0, send, tell };
            run(&mut queue, read, &stopped);
        };
        let thread = std::thread::Builder::new().name("otlp".into()).spawn(run).context(|| "cannot start a thread")?;
        Ok(MetricsPusher { stop, thread })
    }

    /// Pushes the last values; waits for that only a short time.
    pub(super) fn finish(self) {
        drop(self.stop);
        // Its panic has been printed, and the watch goes on to its end.
        let _ = self.thread.join();
    }
}

fn run<S, T>(queue: &mut Queue<S, T>, mut read: impl FnMut() -> Vec<u8>, stopped: &Receiver<()>)
where
    S: FnMut(&[u8], Duration) -> Result<Posted>,
    T: FnMut(Message),
{
    let (mut due, mut pause) = (EVERY, None);
    loop {
        let wait = pause.map_or(due, |pause: Duration| due.min(pause));
        let ends = matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Disconnected) | Ok(()));
        due -= wait;
        pause = pause.map(|pause| pause - wait).filter(|left| !left.is_zero());
        if ends || due.is_zero() {
            due = EVERY;
            queue.add(read());
        }
        if ends {
            queue.requests.drain(..queue.requests.len() - 1);
            queue.send_all(LAST_PATIENCE);
            return;
        }
        if pause.is_none() {
            pause = queue.send_all(PATIENCE);
        }
    }
}

/// Requests that have not been accepted yet, oldest first.
struct Queue<S, T> {
    requests: VecDeque<Vec<u8>>,
    /// Failures in a row.
    failures: u32,
    /// Failed attempts to send the first request: those of others say nothing about when to repeat it.
    attempts: u32,
    send: S,
    tell: T,
}

impl<S: FnMut(&[u8], Duration) -> Result<Posted>, T: FnMut(Message)> Queue<S, T> {
    fn add(&mut self, request: Vec<u8>) {
        self.requests.push_back(request);
        while self.requests.len() > BACKLOG {
            self.requests.pop_front();
        }
    }

    /// Sends what waits. Returns the pause before the next attempt, if the collector wants or needs one.
    fn send_all(&mut self, patience: Duration) -> Option<Duration> {
        while let Some(request) = self.requests.front() {
            let answer = (self.send)(request, patience);
            let (error, again) = match &answer {
                Ok(Posted { status: 200..=299, .. }) => {
                    self.failures = 0;
                    self.next_request();
                    continue;
                }
                // The only ones that the protocol lets a client repeat.
                Ok(Posted { status: status @ (429 | 502 | 503 | 504), .. }) => (refused(*status), true),
                Ok(Posted { status, .. }) => (refused(*status), false),
                Err(error) => (Error::new(error.kind(), error.to_string()), true),
            };
            self.failures = self.failures.saturating_add(1);
            if self.failures == 1 {
                (self.tell)(Message::of(&error.context("metrics are not pushed")));
            }
            if !again {
                self.next_request();
                continue;
            }
            let grown = 1 << self.attempts.min(6);
            self.attempts += 1;
            let asked = answer.ok().and_then(|answer| answer.retry_after);
            return Some(Duration::from_secs(asked.unwrap_or(grown).clamp(1, LONGEST_PAUSE).into()));
        }
        None
    }

    fn next_request(&mut self) {
        self.requests.pop_front();
        self.attempts = 0;
    }
}

fn refused(status: u16) -> Error {
    Error::new(ErrorKind::Io, format!("the collector answers with status {status}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_fails_is_sent_again_later_in_order_and_told_once() {
        let answers = RefCell::new(VecDeque::from([
            Err(Error::new(ErrorKind::Io, "connection refused")),
            Ok(503),
            Ok(200),
            Ok(400),
            Ok(200),
            Ok(429),
        ]));
        let (sent, told) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let mut queue = Queue {
            requests: VecDeque::new(),
            failures: 0,
            attempts: 0,
            send: |body: &[u8], _| {
                sent.borrow_mut().push(body[0]);
                let status = answers.borrow_mut().pop_front().unwrap()?;
                Ok(Posted { status, retry_after: (status == 429).then_some(9) })
            },
            tell: |message: Message| told.borrow_mut().push(message.text),
        };
        let seconds = |pause: Option<Duration>| pause.map(|pause| pause.as_secs());
        queue.add(vec![1]);
        assert_eq!(seconds(queue.send_all(PATIENCE)), Some(1));
        queue.add(vec![2]);
        queue.add(vec![3]);
        assert_eq!(seconds(queue.send_all(PATIENCE)), Some(2), "it grows");
        assert_eq!(seconds(queue.send_all(PATIENCE)), None);
        queue.add(vec![4]);
        assert_eq!(seconds(queue.send_all(PATIENCE)), Some(9), "as the collector asks");
        assert_eq!(*sent.borrow(), [1, 1, 1, 2, 3, 4], "what is refused for good is not sent again");
        let told = told.borrow();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[0], "metrics are not pushed: connection refused");
        assert_eq!(told[1], "metrics are not pushed: the collector answers with status 400");
    }

    #[test]
    fn what_was_refused_for_good_does_not_delay_what_can_be_sent_again() {
        let answers = RefCell::new(VecDeque::from([500, 500, 500, 500, 503, 503, 200]));
        let send = |_: &[u8], _| Ok(Posted { status: answers.borrow_mut().pop_front().unwrap(), retry_after: None });
        let mut queue = Queue { requests: VecDeque::new(), failures: 0, attempts: 0, send, tell: |_| {} };
        for at in 0..5 {
            queue.add(vec![at]);
        }
        assert_eq!(queue.send_all(PATIENCE), Some(Duration::from_secs(1)));
        assert_eq!(queue.send_all(PATIENCE), Some(Duration::from_secs(2)));
        assert_eq!((queue.send_all(PATIENCE), queue.requests.len()), (None, 0));
    }

    #[test]
    fn a_collector_that_is_gone_for_long_costs_bounded_memory_and_the_oldest_values() {
        let fails = |_: &[u8], _| Err(Error::new(ErrorKind::Io, "gone"));
        let mut queue = Queue { requests: VecDeque::new(), failures: 0, attempts: 0, send: fails, tell: |_| {} };
        for at in 0..200 {
            queue.add(vec![at]);
            assert!(queue.send_all(PATIENCE).unwrap() <= Duration::from_secs(LONGEST_PAUSE.into()));
        }
        assert_eq!((queue.requests.len(), queue.requests[0][0]), (BACKLOG, 140));
    }

    #[test]
    fn the_end_of_the_watch_sends_the_last_values_only() {
        let (stop, stopped) = channel();
        let sent = RefCell::new(Vec::new());
        let accepts = |body: &[u8], _| {
            sent.borrow_mut().push(body[0]);
            Ok(Posted { status: 200, retry_after: None })
        };
        let mut queue = Queue {
            requests: VecDeque::from([vec![1], vec![2]]),
            failures: 0,
            attempts: 0,
            send: accepts,
            tell: |_| {},
        };
        drop(stop);
        run(&mut queue, || vec![3], &stopped);
        assert_eq!(*sent.borrow(), [3]);
    }
}
