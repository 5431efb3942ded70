//! Where the pages of a process are: how much memory of which kind on which NUMA node.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What memory is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// Mappings without a file: heap, stacks, private memory.
    Anonymous,
    /// Mappings of files and of shared memory.
    File,
    /// Pages of hugetlbfs.
    Huge,
}

impl PageKind {
    /// Its name in tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            PageKind::Anonymous => "anonymous",
            PageKind::File => "files and shared",
            PageKind::Huge => "huge pages",
        }
    }
}

/// The pages of one kind that a process had on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMemory {
    /// When they were read, since the recording's start.
    pub at: Nanos,
    /// The process.
    pub pid: u32,
    /// The node.
    pub node: u32,
    /// Their kind.
    pub kind: PageKind,
    /// Their bytes. A page that several processes map counts for each.
    pub bytes: u64,
}
