//! The neighbours: processes and cgroups outside the target, and the resources they used.
//! Usage alone does not show that a neighbour did harm.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A neighbour's number, unique in this recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NeighbourId(pub u32);

/// The kind of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeighbourKind {
    /// A process outside the target.
    Process,
    /// A cgroup outside the target, including its descendants.
    Cgroup,
    /// A resctrl monitoring group.
    Resctrl,
    /// Processes too short-lived to be observed, and usage that could not be read.
    Rest,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourDef {
    /// Its number.
    pub id: NeighbourId,
    /// Its kind.
    pub kind: NeighbourKind,
    /// The process's comm, or the cgroup's path below its hierarchy's root.
    pub name: String,
    /// The process id, for processes.
    pub pid: Option<u32>,
    /// The cgroup of a process, if it could be read.
    pub cgroup: Option<String>,
}

/// Resources used by a neighbour since the capture began. A reading equal to the previous one may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourUse {
    /// The neighbour.
    pub neighbour: NeighbourId,
    /// When it was read, since the recording's start.
    pub at: Nanos,
    /// CPU time. It is not counted for resctrl groups: theirs is always zero and carries no information.
    pub cpu: Nanos,
    /// The CPU it last ran on; for processes only.
    pub on_cpu: Option<u32>,
    /// Bytes it read from and wrote to storage; `None` without permission to read the counter.
    pub io_bytes: Option<u64>,
    /// Bytes of last-level cache it occupied at that moment; for resctrl groups only.
    pub llc_bytes: Option<u64>,
    /// Bytes it transferred to and from memory; for resctrl groups only.
    pub memory_bytes: Option<u64>,
}
