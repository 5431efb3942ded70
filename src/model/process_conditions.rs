//! Conditions of a process that change how fast the same code runs. Filled by `collect`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The conditions that the kernel reports for one process; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessConditions {
    /// The process's name as the kernel has it.
    pub name: String,
    /// Whether loads may pass earlier stores speculatively, in the kernel's words: `thread vulnerable`.
    pub store_bypass: Option<String>,
    /// Whether indirect branches are predicted, in the kernel's words: `conditional enabled`.
    pub indirect_branches: Option<String>,
    /// Seccomp: 0 off, 1 strict, 2 filtered.
    pub seccomp: Option<u8>,
    /// Seccomp filters that each system call passes.
    pub seccomp_filters: Option<u32>,
    /// Whether a tracer is attached.
    pub traced: Option<bool>,
    /// Whether the process may have transparent huge pages.
    pub huge_pages: Option<bool>,
    /// CPUs that its affinity and its control group allow, as a list such as `0-3,8`.
    pub allowed_cpus: Option<String>,
    /// Memory nodes that its control group allows, as a list.
    pub allowed_nodes: Option<String>,
    /// Execution domain and its flags (`personality(2)`).
    pub personality: Option<u32>,
    /// Scheduling of its main thread.
    pub scheduling: Option<Scheduling>,
    /// Soft limits of resources by the kernel's names: `stack size`.
    pub limits: Option<BTreeMap<String, Bound>>,
    /// The limits of the control groups around it, as far as they are visible.
    pub group: Option<GroupLimits>,
    /// Variables of its environment that are known to change how runtimes and libraries work, each with a short checksum of
    /// its value.
    pub switches: Option<BTreeMap<String, u16>>,
    /// Who reads the pipes that it writes to, as far as that is visible; these do not change how fast its code runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pipe_readers: Vec<PipeReader>,
}

/// A process that reads from a pipe that the target's process writes to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PipeReader {
    /// The descriptor that is written to.
    pub fd: u32,
    /// The reading process.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

/// How the kernel schedules a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduling {
    /// The policy's number (`sched(7)`).
    pub policy: u32,
    /// Nice value of a thread without real-time priority.
    pub nice: i32,
    /// Real-time priority; 0 for others.
    pub priority: u32,
}

/// The limits of control groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupLimits {
    /// CPU time per second, in thousandths of a CPU.
    pub cpu_quota: Option<Bound>,
    /// Its own group's weight against its siblings, in the units of its hierarchy.
    pub cpu_weight: Option<u64>,
    /// Bytes beyond which memory is reclaimed.
    pub memory_high: Option<Bound>,
    /// Bytes beyond which memory is refused.
    pub memory_max: Option<Bound>,
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A value, in the unit of what is limited.
    At(u64),
    /// No limit.
    Unlimited,
}
