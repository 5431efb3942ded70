//! What was planted into a simulated fleet, as `truth.json` has it.

use serde::{Deserialize, Serialize};

/// What was planted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedTruth {
    /// The seed.
    pub seed: u64,
    /// Hosts.
    pub hosts: u32,
    /// Days.
    pub days: u32,
    /// Jobs.
    pub jobs: u32,
    /// Start, seconds since the Unix epoch.
    pub from_s: i64,
    /// End.
    pub to_s: i64,
    /// The causes.
    pub causes: Vec<PlantedCause>,
}

/// The kind of a cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlantedKind {
    /// CPI is higher on a host.
    BadHost,
    /// A new version has a longer path.
    Version,
    /// A new version that changes nothing.
    SameVersion,
    /// A neighbour that from time to time runs heavily raises CPI and misses.
    NoisyNeighbour,
    /// Fewer cycles a CPU second.
    LoweredClock,
    /// The load of a job rises and falls by this share of its mean each day.
    #[default]
    Season,
    /// Operations per CPU second that a configuration gains over `a`.
    Config,
}

/// A cause. Its size is a share: 0.4 is 40% more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlantedCause {
    /// The kind.
    pub kind: PlantedKind,
    /// Its size.
    pub size: f64,
    /// The jobs concerned; empty for all.
    pub jobs: Vec<String>,
    /// The hosts concerned; empty for all.
    pub hosts: Vec<String>,
    /// The neighbour that causes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<String>,
    /// The new version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The hour of the highest load, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_hour: Option<f64>,
    /// Start, seconds since the Unix epoch.
    pub from_s: i64,
    /// End.
    pub to_s: i64,
}
