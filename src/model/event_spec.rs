//! Events as the kernel counts or samples them.

use super::Unit;
use serde::{Deserialize, Serialize};

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

/// How an event samples memory accesses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessSampling {
    /// An event that the CPU needs as leader of its group (`mem-loads-aux`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<EventKind>,
    /// The CPUs whose core type has it; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
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
    /// Whether the samples of its group's leader carry its count, instead of samples of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_by_leader: bool,
    /// Its samples tell which address was accessed, and where the data was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessSampling>,
    /// The unit of one count.
    #[serde(serialize_with = "super::unit::recorded")]
    pub unit: Unit,
}

impl EventSpec {
    /// An event without modifiers and without a group.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: EventKind, unit: Unit) -> EventSpec {
        EventSpec {
            name: name.into(),
            kind,
            exclude_user: false,
            exclude_kernel: false,
            exclude_hv: false,
            exclude_guest: false,
            exclude_host: false,
            precise: 0,
            group: None,
            read_by_leader: false,
            access: None,
            unit,
        }
    }
}
