//! Operations that are counted on a target that runs, apart from its samples.

use super::open::cpus_of;
use super::operations::{Operations, Place};
use crate::error::Result;
use crate::model::{Note, Plan};
use crate::sys::clock::Clock;
use crate::units::{Nanos, Ops};
use std::path::Path;

/// Operations of a running target, counted apart from its samples.
#[derive(Debug)]
pub struct RunningOperations {
    counted: Operations,
    /// Time since the start.
    clock: Clock,
}

impl RunningOperations {
    /// Opens the plan's counting events on a running target and starts them; `None` for what the kernel does not count.
    ///
    /// # Errors
    /// As [`Operations::open`].
    pub fn open(plan: &Plan, notes: &mut Vec<Note>) -> Result<Option<RunningOperations>> {
        let root = Path::new("/");
        let cpus = cpus_of(&plan.target, root)?;
        let counted = Operations::open(plan, &Place { command: None, cpus: &cpus, on_exec: false, root }, notes)?;
        Ok(counted.map(|counted| {
            counted.enable();
            RunningOperations { counted, clock: Clock::start() }
        }))
    }

    /// The total so far, dated `at`.
    pub fn read(&mut self, at: Nanos) -> (Nanos, Ops) {
        (at, self.counted.read())
    }

    /// Notes on the count, once it has been read for the last time.
    #[must_use]
    pub fn verdict(&self) -> Vec<Note> {
        self.counted.verdict(self.clock.now())
    }
}
