//! What to capture and how: the validated request that `collect` carries out.

use super::{HardwarePlan, OpsSpec, Target, Unit};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// How call stacks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallGraph {
    /// Whole stacks without a choice of method by the user. Currently the same as `Dwarf` with the default size.
    Auto,
    /// The kernel walks frame pointers.
    FramePointer,
    /// Registers and stack bytes are copied per sample and unwound in this process.
    Dwarf {
        /// Stack bytes copied per sample; a multiple of 8, at most 65,528.
        stack_bytes: u32,
    },
    /// The CPU's last-branch records.
    Lbr,
    /// No stacks: only the sampled address.
    None,
}

/// How often samples are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// Samples per second of running time and CPU.
    Frequency(u64),
    /// One sample every N events.
    Period(u64),
}

/// The kernel encoding of an event to count or sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// `PERF_TYPE_HARDWARE`, config as in `perf_event_open(2)`.
    Hardware(u64),
    /// `PERF_TYPE_SOFTWARE`.
    Software(u64),
    /// `PERF_TYPE_HW_CACHE`.
    Cache(u64),
    /// A kernel tracepoint by category and name; its id is read from tracefs when opened.
    Tracepoint {
        /// Category, e.g. `sched`.
        category: String,
        /// Name, e.g. `sched_switch`.
        name: String,
    },
    /// A raw or dynamic PMU event.
    Raw {
        /// `perf_event_attr.type`.
        pmu: u32,
        /// `config`.
        config: u64,
        /// `config1`.
        config1: u64,
        /// `config2`.
        config2: u64,
    },
}

impl EventKind {
    /// Whether it uses a PMU counter. A dynamic PMU's event may be counted elsewhere but is treated as hardware.
    #[must_use]
    pub fn is_hardware(&self) -> bool {
        matches!(self, EventKind::Hardware(_) | EventKind::Cache(_) | EventKind::Raw { .. })
    }
}

/// One event as requested with `-e`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSpec {
    /// As the user wrote it, e.g. `cycles:u`.
    pub name: String,
    /// The kernel encoding.
    pub kind: EventKind,
    /// Exclude user mode.
    pub exclude_user: bool,
    /// Exclude the kernel.
    pub exclude_kernel: bool,
    /// Exclude the hypervisor.
    pub exclude_hv: bool,
    /// Exclude guests (`:H`).
    pub exclude_guest: bool,
    /// Exclude the host (`:G`).
    pub exclude_host: bool,
    /// `precise_ip`, 0 to 3 (`:p`, `:pp`, `:ppp`).
    pub precise: u8,
    /// Events with the same number are scheduled as one group; `None` means no group.
    pub group: Option<u16>,
    /// The unit of one count.
    #[serde(serialize_with = "super::unit::recorded")]
    pub unit: Unit,
}

/// A capture, ready to be carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What to profile.
    pub target: Target,
    /// Events to sample; empty means `cycles` if there is a PMU, else `cpu-clock`.
    pub events: Vec<EventSpec>,
    /// How often.
    pub rate: Rate,
    /// How stacks are taken.
    pub call_graph: CallGraph,
    /// Whether off-CPU time is recorded as well.
    pub off_cpu: bool,
    /// The length of one counter window.
    pub interval: Nanos,
    /// Stop after this time; `None` means when the target ends or the user stops.
    pub duration: Option<Nanos>,
    /// Wait this long before the first sample.
    pub delay: Nanos,
    /// How operations are counted, if at all.
    #[serde(default)]
    pub ops: Option<OpsSpec>,
    /// Whether the usage of neighbours is recorded.
    #[serde(default)]
    pub neighbours: bool,
    /// Whether memory is probed periodically, which costs at most 0.5% of one CPU.
    #[serde(default)]
    pub probe: bool,
    /// The hardware counters, one plan per core type; empty means cycles and instructions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardware: Vec<HardwarePlan>,
}
