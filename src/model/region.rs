//! Classifies the CPUs of a run. Capacity changes where siblings or another node join: no law is fitted across that.

use serde::{Deserialize, Serialize};

/// What a run's CPUs add to those of the next smaller run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// One thread per physical core of one node.
    Cores,
    /// Additional nodes have joined: this many are in use.
    Nodes(u32),
    /// SMT siblings share cores.
    Smt,
    /// More threads than CPUs.
    Oversubscribed,
    /// Nothing was pinned, or the machine's topology is unknown.
    Unplaced,
}

impl Region {
    /// A word for charts.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Region::Cores => "cores".to_string(),
            Region::Nodes(nodes) => format!("{nodes} nodes"),
            Region::Smt => "SMT".to_string(),
            Region::Oversubscribed => "oversubscribed".to_string(),
            Region::Unplaced => "unplaced".to_string(),
        }
    }
}
