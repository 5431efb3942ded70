//! View model: what a baseline knows, how far it can be relied on, and whether it still holds here.
//! It never judges a session.

mod build;
pub mod words;

use serde::Serialize;

pub use crate::analysis::baseline::{LoadAxis, Stale, Strength};
pub use crate::analysis::compare::{QuantityUnit, Role};

/// Raised when a field of the JSON form changes its meaning; fields may be added without.
pub const SCHEMA_VERSION: u32 = 1;

/// A baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineView {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What the user called it; as typed, not yet fit for a terminal.
    pub name: String,
    /// The format of its file.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// Whose behaviour it is, and where.
    pub key: KeyView,
    /// The recordings it was made of.
    pub sources: Vec<SourceView>,
    /// What tells how much there was to do.
    pub axis: LoadAxis,
    /// The levels of load, from low to high.
    pub levels: Vec<LevelView>,
    /// How far it can be relied on.
    pub strength: Strength,
    /// Windows that are unusual by its own measure.
    pub outliers: usize,
    /// Distinct call paths.
    pub stacks: usize,
    /// CPU time of its recordings, seconds.
    pub cpu_seconds: f64,
    /// Their operations; `None` where they were not counted.
    pub operations: Option<f64>,
    /// What has changed since, on the machine that asks.
    pub stale: Vec<Stale>,
}

/// What must be alike for a baseline to speak of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyView {
    /// What was profiled.
    pub target: String,
    /// The program most samples were taken in, by the name it was started by.
    pub program: Option<String>,
    /// Its build-id.
    pub build_id: Option<String>,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Architecture.
    pub arch: String,
    /// CPU model.
    pub cpu_model: String,
    /// Number of CPUs.
    pub cpus: usize,
    /// The CPUs it was confined to; empty: not confined.
    pub cpu_set: Vec<u32>,
    /// The CPUs that its own affinity and its control group left it; empty: all of them. `None`: not known.
    pub allowed_cpus: Option<Vec<u32>>,
    /// What counted operations, in words.
    pub operations: Option<String>,
}

/// A recording that it was made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceView {
    /// What the user called it.
    pub name: String,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Its length, seconds.
    pub seconds: f64,
    /// How many of the windows are its.
    pub windows: usize,
}

/// One level of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelView {
    /// Lowest load of it.
    pub from: f64,
    /// Highest.
    pub to: f64,
    /// Windows it was learnt from.
    pub windows: usize,
    /// Whether those are enough to judge by.
    pub known: bool,
    /// What each quantity usually is.
    pub expected: Vec<ExpectedView>,
}

/// What a quantity usually is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedView {
    /// Its name, as in comparisons.
    pub name: &'static str,
    /// A few words for people.
    pub label: &'static str,
    /// Its unit.
    pub unit: QuantityUnit,
    /// What it is to a comparison.
    pub role: Role,
    /// Windows it was measured in.
    pub windows: usize,
    /// The median.
    pub centre: f64,
    /// The usual distance from it, as a standard deviation.
    pub spread: f64,
    /// The band that it is usual within: three times that.
    pub band: (f64, f64),
    /// Lowest value seen.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// Whether it is the cost itself or a factor of the law, rather than one of the rest.
    pub leading: bool,
}
