//! Whose turn it is: tests that run programs have the machine one at a time, since most of them measure.
//! A second guard of the same test joins the first, so that a test may ask as often as it likes.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{Mutex, MutexGuard, PoisonError};

static MACHINE: Mutex<()> = Mutex::new(());

thread_local! {
    /// The turn of the test that runs on this thread.
    static TURN: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// Until it is dropped, no other test of this program that takes turns runs.
#[expect(dead_code, reason = "a guard is held, not read")]
pub struct Turn(MutexGuard<'static, ()>);

impl Turn {
    /// Waits for the other tests.
    pub fn take() -> Rc<Turn> {
        if let Some(turn) = TURN.with_borrow(Weak::upgrade) {
            return turn;
        }
        // A failed test leaves the lock poisoned and the machine free.
        let turn = Rc::new(Turn(MACHINE.lock().unwrap_or_else(PoisonError::into_inner)));
        TURN.set(Rc::downgrade(&turn));
        turn
    }
}
