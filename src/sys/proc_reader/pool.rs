//! The threads that carry out look-ups. One that waits for another process waits alone: each user gets few of them.

use super::perform::{perform, user_of};
use super::wire::{Answer, Found, Question};
use crate::sys::files::is_believed;
use crate::sys::helper::Channel;
use crate::sys::limits::{URGENT, set_nice};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads in all, and those that may work for one ordinary user, and for root and our own user.
const THREADS: usize = 32;
const OF_USER: usize = 2;
const OF_OURS: usize = 8;
/// Look-ups that wait for a thread, of one ordinary user and of ours.
const QUEUED: usize = 4;
const QUEUED_OF_OURS: usize = 64;

/// Where answers go. Several threads send them.
pub(super) type Asker = Mutex<Arc<Channel>>;

struct Job {
    user: Option<u32>,
    question: Question,
    asker: Arc<Asker>,
}

/// Look-ups that wait, and the threads that work.
pub(super) struct Pool {
    root: PathBuf,
    /// Whether its threads have a higher priority than others.
    is_preferred: bool,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Threads that work, by user.
    busy: FxHashMap<Option<u32>, usize>,
    threads: usize,
    idle: usize,
    is_over: bool,
}

impl Pool {
    /// Looks up below `root`, normally `/proc`.
    pub fn new(root: PathBuf, is_preferred: bool) -> Arc<Pool> {
        Arc::new(Pool { root, is_preferred, state: Mutex::default(), wake: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a look-up to the threads.
    pub fn add(self: &Arc<Pool>, question: Question, asker: &Arc<Asker>) {
        let user = user_of(&self.root, question.task);
        let mut state = self.state();
        let most = if is_ours(user) { QUEUED_OF_OURS } else { QUEUED };
        if state.queue.iter().filter(|job| job.user == user).count() >= most {
            drop(state);
            return send(asker, &Answer { number: question.number, found: Found::Busy }, None);
        }
        state.queue.push_back(Job { user, question, asker: asker.clone() });
        if state.queue.len() > state.idle && state.threads < THREADS {
            let pool = self.clone();
            state.threads += usize::from(std::thread::Builder::new().spawn(move || pool.work()).is_ok());
        }
        self.wake.notify_one();
    }

    /// Ends threads that have nothing to do.
    pub fn end(&self) {
        self.state().is_over = true;
        self.wake.notify_all();
    }

    fn work(&self) {
        while let Some(Job { user, question, asker }) = self.next() {
            let Question { number, task, look_up } = question;
            // What an ordinary user has us read shall take no CPU from others.
            let is_preferred = self.is_preferred && !is_ours(user);
            if is_preferred {
                set_nice(0);
            }
            let (found, file) = perform(&self.root, task, &look_up);
            if is_preferred {
                set_nice(URGENT);
            }
            // Before it is sent: a reader that does not read now shall not keep others from this user's look-ups.
            if let Some(busy) = self.state().busy.get_mut(&user) {
                *busy -= 1;
            }
            self.wake.notify_one();
            send(&asker, &Answer { number, found }, file.as_ref());
        }
    }

    /// The first look-up of a user who has room.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            let State { queue, busy, .. } = &mut *state;
            if let Some(at) = queue.iter().position(|job| has_room(busy, job.user)) {
                let job = queue.remove(at)?;
                *busy.entry(job.user).or_default() += 1;
                return Some(job);
            }
            state.idle += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

/// Some threads are left to root and our own user, however many others there are.
fn has_room(busy: &FxHashMap<Option<u32>, usize>, user: Option<u32>) -> bool {
    let own = busy.get(&user).copied().unwrap_or(0);
    if is_ours(user) {
        return own < OF_OURS;
    }
    let others: usize = busy.iter().filter(|(user, _)| !is_ours(**user)).map(|(_, count)| count).sum();
    own < OF_USER && others < THREADS - 2 * OF_OURS
}

/// Whether a look-up is about root or our own user, or a task that does not exist.
fn is_ours(user: Option<u32>) -> bool {
    user.is_none_or(is_believed)
}

fn send(asker: &Asker, answer: &Answer, file: Option<&std::os::fd::OwnedFd>) {
    use std::os::fd::AsFd;
    let channel = asker.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(bytes) = postcard::to_stdvec(answer) {
        // Who asked may be gone.
        let _ = channel.send(&bytes, file.map(AsFd::as_fd));
    }
}
