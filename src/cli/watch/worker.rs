//! A thread for long tasks, so that the watch can continue. It accepts one task at a time: others are rejected instead
//! of queued, because they would be late.

use crate::error::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A thread that executes one task after the other.
#[derive(Debug)]
pub(super) struct Worker<T> {
    tasks: Sender<T>,
    busy: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl<T: Send + 'static> Worker<T> {
    /// # Errors
    /// No thread can be started.
    pub(super) fn start(name: &str, mut work: impl FnMut(T) + Send + 'static) -> Result<Worker<T>> {
        let (tasks, mailbox) = channel();
        let busy = Arc::new(AtomicBool::new(false));
        let working = busy.clone();
        let run = move || {
            while let Ok(task) = mailbox.recv() {
                work(task);
                working.store(false, Ordering::Release);
            }
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(run).context(|| "cannot start a thread")?;
        Ok(Worker { tasks, busy, thread })
    }

    /// Submits a task; false while another one runs.
    pub(super) fn submit(&self, task: T) -> bool {
        // If the worker panicked, it stays busy and accepts no further task.
        !self.busy.swap(true, Ordering::AcqRel) && self.tasks.send(task).is_ok()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) && !self.thread.is_finished()
    }

    /// Waits until the current task is done.
    pub(super) fn finish(self) {
        drop(self.tasks);
        // A panic in it has already been printed.
        let _ = self.thread.join();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn one_thing_at_a_time_and_what_was_begun_is_finished() {
        let (done, log) = channel();
        let (go, wait) = channel::<()>();
        let worker = Worker::start("test", move |task: u32| {
            wait.recv().unwrap();
            done.send(task).unwrap();
        })
        .unwrap();
        assert!(worker.submit(1) && !worker.submit(2) && worker.is_busy());
        go.send(()).unwrap();
        assert_eq!(log.recv(), Ok(1));
        while worker.is_busy() {
            std::thread::yield_now();
        }
        assert!(worker.submit(3));
        go.send(()).unwrap();
        worker.finish();
        assert_eq!(log.recv(), Ok(3));
    }
}
