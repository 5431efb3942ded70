//! Whose turn it is: tests that run programs share the machine, and one that needs quiet has it alone.
//! A second guard of the same test joins the first, so that a test may ask as often as it likes.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// The turn of the test that runs on this thread.
    static TURN: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// Until it is dropped, nobody who asked for the machine alone runs, or nobody else at all.
#[expect(dead_code, reason = "a guard is held, not read")]
pub enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Turn {
    /// Runs together with others.
    pub fn shared() -> Rc<Turn> {
        // A failed test leaves the lock poisoned and the machine free.
        Turn::current()
            .unwrap_or_else(|| Turn::begin(Turn::Shared(MACHINE.read().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Runs alone. A test must ask for this before anything else.
    #[track_caller]
    pub fn alone() -> Rc<Turn> {
        let current = Turn::current();
        assert!(!matches!(current.as_deref(), Some(Turn::Shared(_))), "the test shares the machine already");
        current.unwrap_or_else(|| Turn::begin(Turn::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner))))
    }

    fn current() -> Option<Rc<Turn>> {
        TURN.with_borrow(Weak::upgrade)
    }

    fn begin(turn: Turn) -> Rc<Turn> {
        let turn = Rc::new(turn);
        TURN.set(Rc::downgrade(&turn));
        turn
    }
}
