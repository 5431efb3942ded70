//! Who else uses the machine: the processes and control groups beside the target, and what they took of it.
//! It never says that one of them did harm.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A neighbour's number in this recording; none stands for two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NeighbourId(pub u32);

/// What a neighbour is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeighbourKind {
    /// A process outside the target.
    Process,
    /// A control group outside the target, with all below it.
    Cgroup,
    /// A resctrl monitoring group.
    Resctrl,
    /// All that had a process id too short a time to be seen, and what could not be read.
    Rest,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourDef {
    /// Its number.
    pub id: NeighbourId,
    /// What it is.
    pub kind: NeighbourKind,
    /// The process's comm, or the group's path below its hierarchy's root.
    pub name: String,
    /// Of a process, its id.
    pub pid: Option<u32>,
    /// Of a process, the control group it is in, if it could be read.
    pub cgroup: Option<String>,
}

/// What a neighbour has used since the capture began. A use that has not changed since the last one may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourUse {
    /// Whose.
    pub neighbour: NeighbourId,
    /// When it was read, since the recording's start.
    pub at: Nanos,
    /// CPU time. Of resctrl groups nothing counts it: theirs stays at zero and says nothing.
    pub cpu: Nanos,
    /// The CPU it was last seen on; of processes only.
    pub on_cpu: Option<u32>,
    /// Bytes it had storage read and write; `None` where that may not be read.
    pub io_bytes: Option<u64>,
    /// Bytes of last-level cache it held at that moment; of resctrl groups only.
    pub llc_bytes: Option<u64>,
    /// Bytes it moved to and from memory; of resctrl groups only.
    pub memory_bytes: Option<u64>,
}
