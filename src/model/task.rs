//! The life of processes and threads as the capture saw it.
//! It never says more than the kernel reported.

use crate::units::Nanos;

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskChange {
    /// It was alive when the capture began.
    Alive {
        /// Its name then.
        comm: String,
    },
    /// It was born during the capture.
    Born {
        /// The thread that created it.
        parent: u32,
        /// Its name at birth, inherited from the parent.
        comm: String,
    },
    /// It took another name.
    Renamed {
        /// The new name.
        comm: String,
        /// Whether by executing another program.
        exec: bool,
    },
    /// It ended.
    Ended,
}

/// One change in a task's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// When, since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// What happened.
    pub change: TaskChange,
}
