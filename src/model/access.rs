//! Memory accesses that the hardware sampled: which address, where the data was, and how long it took.

use super::StackId;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What an instruction did to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// It read.
    Load,
    /// It wrote.
    Store,
    /// It prefetched.
    Prefetch,
    /// It was fetched itself.
    Fetch,
}

/// Where the data was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryLevel {
    /// First-level cache.
    L1,
    /// A line fill buffer: the line was on its way already.
    FillBuffer,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Fourth-level cache.
    L4,
    /// The cache of another core or core complex of the same NUMA node.
    PeerCache,
    /// Memory of the own NUMA node.
    LocalDram,
    /// A cache of another NUMA node.
    RemoteCache,
    /// Memory of another NUMA node.
    RemoteDram,
    /// Persistent memory.
    Pmem,
    /// Memory behind CXL.
    Cxl,
    /// A device.
    Io,
    /// Memory that is not cached.
    Uncached,
    /// The hardware did not tell.
    #[default]
    Unknown,
}

impl MemoryLevel {
    /// Its name in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            MemoryLevel::L1 => "L1",
            MemoryLevel::FillBuffer => "line fill buffer",
            MemoryLevel::L2 => "L2",
            MemoryLevel::L3 => "L3",
            MemoryLevel::L4 => "L4",
            MemoryLevel::PeerCache => "cache of another core",
            MemoryLevel::LocalDram => "local DRAM",
            MemoryLevel::RemoteCache => "remote cache",
            MemoryLevel::RemoteDram => "remote DRAM",
            MemoryLevel::Pmem => "persistent memory",
            MemoryLevel::Cxl => "CXL memory",
            MemoryLevel::Io => "device",
            MemoryLevel::Uncached => "uncached",
            MemoryLevel::Unknown => "unknown",
        }
    }

    /// Whether another NUMA node had the data; `None` where that is unknown.
    #[must_use]
    pub fn is_remote(self) -> Option<bool> {
        match self {
            MemoryLevel::RemoteCache | MemoryLevel::RemoteDram => Some(true),
            MemoryLevel::L1
            | MemoryLevel::L2
            | MemoryLevel::L3
            | MemoryLevel::L4
            | MemoryLevel::PeerCache
            | MemoryLevel::LocalDram => Some(false),
            // A line that was on its way may have come from anywhere.
            _ => None,
        }
    }
}

/// What the caches of other cores had of the line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Snoop {
    /// None was asked.
    None,
    /// One was asked and did not have it.
    Miss,
    /// One had it, unmodified.
    Hit,
    /// One had it modified (HITM): another core wrote to the line last.
    Modified,
    /// One forwarded it.
    Forwarded,
    /// The hardware did not tell.
    #[default]
    Unknown,
}

/// How the address was translated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlbResult {
    /// A TLB of any level had it.
    Hit,
    /// No TLB had it: the page tables were walked.
    Miss,
    /// The hardware did not tell.
    #[default]
    Unknown,
}

/// What an access did, and where its data was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct AccessPlace {
    /// What it did.
    pub kind: AccessKind,
    /// Where the data was; if `missed`, where it was not.
    pub level: MemoryLevel,
    /// Whether it was not found there.
    pub missed: bool,
    /// Whether another core had modified the line (HITM).
    pub modified: bool,
}

impl AccessPlace {
    /// The place in words: `load from L3`, `store, not in L1`.
    #[must_use]
    pub fn label(self) -> String {
        let level = self.level.label();
        let kind = match self.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Prefetch => "prefetch",
            AccessKind::Fetch => "instruction fetch",
        };
        let place = match (self.missed, self.level, self.kind) {
            (_, MemoryLevel::Unknown, _) => format!("{kind}, place unknown"),
            (true, ..) => format!("{kind}, not in {level}"),
            (false, _, AccessKind::Store) => format!("{kind} to {level}"),
            (false, ..) => format!("{kind} from {level}"),
        };
        if self.modified { format!("{place}, modified by another core (HITM)") } else { place }
    }
}

/// A sampled access to memory. Its sample is recorded too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAccess {
    /// Time since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The CPU it ran on.
    pub cpu: u32,
    /// Index into `Meta::events`.
    pub event: u16,
    /// The stack of its sample.
    pub stack: Option<StackId>,
    /// The virtual address of the data, if the hardware told it.
    pub address: Option<u64>,
    /// What it did.
    pub kind: AccessKind,
    /// Where the data was found; if `missed`, where it was not.
    pub level: MemoryLevel,
    /// Whether the data was not found at `level`.
    pub missed: bool,
    /// What other caches had.
    pub snoop: Snoop,
    /// How the address was translated.
    pub tlb: TlbResult,
    /// Whether it was a locked (atomic) operation.
    pub locked: bool,
    /// CPU cycles it took, if they were measured.
    pub latency: Option<u64>,
}

impl MemoryAccess {
    /// What it did, and where its data was.
    #[must_use]
    pub fn place(&self) -> AccessPlace {
        let MemoryAccess { kind, level, missed, snoop, .. } = *self;
        AccessPlace { kind, level, missed, modified: snoop == Snoop::Modified }
    }

    /// Whether it read a line that another core had modified.
    #[must_use]
    pub fn is_hitm(&self) -> bool {
        self.kind == AccessKind::Load && self.snoop == Snoop::Modified
    }

    /// Whether a core of its own node had modified the line. Of a line from an unknown node, neither is known.
    #[must_use]
    pub fn is_local_hitm(&self) -> bool {
        self.is_hitm() && self.level.is_remote() == Some(false)
    }

    /// Whether a core of another node had modified the line.
    #[must_use]
    pub fn is_remote_hitm(&self) -> bool {
        self.is_hitm() && self.level.is_remote() == Some(true)
    }
}
