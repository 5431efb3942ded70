//! What the CPUs of a run were: capacity changes where siblings or another node join, so no law is fitted across.
//! It never says which CPUs; the sweep's plan does.

use serde::{Deserialize, Serialize};

/// What the CPUs of a run add to those of the next smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// One thread per physical core of one node.
    Cores,
    /// Further nodes have joined: this many are in use.
    Nodes(u32),
    /// Siblings share cores.
    Smt,
    /// More threads than CPUs.
    Oversubscribed,
    /// Nothing was pinned, or the machine does not tell.
    Unplaced,
}

impl Region {
    /// A word for a chart.
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
