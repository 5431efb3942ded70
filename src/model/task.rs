//! Births, renames and ends of processes and threads, as the kernel reported them.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskChange {
    /// It was alive when the capture began.
    Alive {
        /// Its name at that time.
        comm: String,
    },
    /// It was born during the capture.
    Born {
        /// The thread that created it.
        parent: u32,
        /// Its name at birth, inherited from the parent.
        comm: String,
    },
    /// It was renamed.
    Renamed {
        /// The new name.
        comm: String,
        /// Whether the reason was an exec.
        exec: bool,
    },
    /// It ended.
    Ended,
}

impl TaskChange {
    /// The name that the task has from then on, where it says one.
    #[must_use]
    pub fn comm(&self) -> Option<&str> {
        match self {
            TaskChange::Alive { comm } | TaskChange::Born { comm, .. } | TaskChange::Renamed { comm, .. } => Some(comm),
            TaskChange::Ended => None,
        }
    }
}

/// One change of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEvent {
    /// Time since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// What happened.
    pub change: TaskChange,
}
