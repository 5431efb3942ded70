//! What is known of the machine a recording was made on, so that unlike machines are never compared unnoticed.
//! It never probes; `collect` fills it.

use serde::{Deserialize, Serialize};

/// One logical CPU's place in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTopology {
    /// Its number.
    pub cpu: u32,
    /// Physical core within the package.
    pub core: u32,
    /// Package (socket).
    pub package: u32,
    /// NUMA node; 0 on a machine that reports none.
    pub node: u32,
}

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub hostname: String,
    /// Kernel release, e.g. `6.1.0-18-amd64`.
    pub kernel: String,
    /// `x86_64` or `aarch64`.
    pub arch: String,
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Online CPUs with their place.
    pub cpus: Vec<CpuTopology>,
    /// Physical memory.
    pub memory_bytes: u64,
    /// Whether a hypervisor is present.
    pub virtual_machine: bool,
    /// Frequency governor of the first CPU, where there is one.
    pub governor: Option<String>,
    /// Whether the CPU time of a task holds what the hypervisor took while it ran; `None`: not known, or no virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_in_cpu_time: Option<bool>,
}
