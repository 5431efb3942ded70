//! Facts about the machine of a recording, so that a comparison can detect different machines. Filled by `collect`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The position of a logical CPU in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTopology {
    /// Its number.
    pub cpu: u32,
    /// Physical core within the package.
    pub core: u32,
    /// Package (socket).
    pub package: u32,
    /// NUMA node; 0 if the machine reports none.
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
    /// Vendor, family, model and stepping of an x86 CPU as perf writes them: `GenuineIntel,6,85,4`. `None` elsewhere, and in
    /// older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpuid: Option<String>,
    /// Online CPUs with their position.
    pub cpus: Vec<CpuTopology>,
    /// Physical memory.
    pub memory_bytes: u64,
    /// Whether a hypervisor is present.
    pub virtual_machine: bool,
    /// Frequency governor of the first CPU, if there is one.
    pub governor: Option<String>,
    /// When anonymous memory gets huge pages: `always`, `madvise` or `never`; `None` if unknown, and in older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
    /// Defects of the CPU with what the kernel does about each; empty if unknown, and in older recordings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mitigations: BTreeMap<String, String>,
    /// Whether a task's CPU time includes time that the hypervisor stole while it ran; `None` if unknown or not a VM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_in_cpu_time: Option<bool>,
}
