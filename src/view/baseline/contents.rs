//! What a baseline contains, how reliable it is, and whether it still applies to this machine.

use crate::analysis::baseline::{Expected, KeyChange, Level, Levels, LoadAxis, Strength, outliers};
use crate::analysis::diff::{PRIMARY, RATE, WITHOUT_OPERATIONS};
use crate::model::{Baseline, BaselineKey, MetricId, Role, Unit};
use serde::Serialize;

/// Version of the JSON form. It changes only if a field changes its meaning, not if fields are added.
pub const SCHEMA_VERSION: u32 = 1;

/// A baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineView {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name given by the user, as typed: escape it before showing it on a terminal.
    pub name: String,
    /// Format version of its file.
    pub format: (u16, u16),
    /// Version of ironlaw that wrote it.
    pub tool: String,
    /// The target, program and machine that it describes.
    pub key: KeyView,
    /// The recordings it was built from.
    pub sources: Vec<SourceView>,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The levels of load, ascending.
    pub levels: Vec<LevelView>,
    /// How reliable it is.
    pub strength: Strength,
    /// Number of its own windows that it would call unusual.
    pub outliers: usize,
    /// Number of distinct call paths.
    pub stacks: usize,
    /// CPU time of its recordings, seconds.
    pub cpu_seconds: f64,
    /// Operations in its recordings; `None` if they were not counted.
    pub operations: Option<f64>,
    /// What has changed since it was built, on the machine that reads it.
    pub stale: Vec<KeyChange>,
}

/// What a session must have in common with a baseline to be compared with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyView {
    /// What was profiled.
    pub target: String,
    /// The program with the most samples, by the name it was started with.
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
    /// CPUs it was confined to; empty if it was not confined.
    pub cpu_set: Vec<u32>,
    /// CPUs that its affinity and its cgroup allow; empty means all, `None` means unknown.
    pub allowed_cpus: Option<Vec<u32>>,
    /// How operations were counted, in words.
    pub operations: Option<String>,
}

/// A recording that the baseline was built from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceView {
    /// Name given by the user.
    pub name: String,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Length, seconds.
    pub seconds: f64,
    /// Number of the baseline's windows that it contributed.
    pub windows: usize,
}

/// One level of load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelView {
    /// Lowest load in it.
    pub from: f64,
    /// Highest load in it.
    pub to: f64,
    /// Number of windows it was learnt from.
    pub windows: usize,
    /// Whether there are enough windows to judge by.
    pub known: bool,
    /// The usual value of each quantity.
    pub expected: Vec<ExpectedView>,
}

/// The usual value of one quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExpectedView {
    /// Its name, as in comparisons.
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its role in a comparison.
    pub role: Role,
    /// Number of windows in which it was measured.
    pub windows: usize,
    /// The median.
    pub centre: f64,
    /// Usual distance from the median, as a standard deviation.
    pub spread: f64,
    /// The band in which its values usually stay.
    pub band: (f64, f64),
    /// Lowest value seen.
    pub low: f64,
    /// Highest value seen.
    pub high: f64,
    /// Whether it is listed first: the cost itself, the factors of the law, and where a thread's time goes.
    pub leading: bool,
}

/// The quantities listed first: the cost, the factors of the law, and where a thread's time goes.
const LEADING: [MetricId; 13] = [
    PRIMARY,
    MetricId::PathLength,
    MetricId::Cpi,
    MetricId::Frequency,
    RATE,
    WITHOUT_OPERATIONS,
    MetricId::LatencyP50,
    MetricId::LatencyP99,
    MetricId::Utilisation,
    MetricId::RunQueueDelay,
    MetricId::BlockedShare,
    MetricId::ThrottledShare,
    MetricId::StealShare,
];

impl BaselineView {
    /// The view of a baseline called `name`; `stale` lists what has changed since it was built.
    #[must_use]
    pub fn of(baseline: &Baseline, name: &str, stale: Vec<KeyChange>) -> BaselineView {
        let levels = Levels::of(baseline);
        let outliers = outliers(baseline, &levels);
        let source = |source: &crate::model::BaselineSource| SourceView {
            name: source.name.clone(),
            started_unix_ns: source.started_unix_ns,
            seconds: source.seconds,
            windows: source.windows,
        };
        BaselineView {
            schema_version: SCHEMA_VERSION,
            name: name.to_string(),
            format: baseline.format,
            tool: baseline.tool.clone(),
            key: key(&baseline.key),
            sources: baseline.sources.iter().map(source).collect(),
            axis: levels.axis,
            levels: levels.levels.iter().map(level).collect(),
            strength: levels.strength,
            outliers,
            stacks: baseline.stacks.len(),
            cpu_seconds: baseline.cpu_ns * 1e-9,
            operations: baseline.ops,
            stale,
        }
    }
}

fn key(key: &BaselineKey) -> KeyView {
    let host = &key.host;
    KeyView {
        target: key.target.clone(),
        program: key.called.clone().or_else(|| key.program.clone()),
        build_id: key.build_id.clone(),
        host: host.hostname.clone(),
        kernel: host.kernel.clone(),
        arch: host.arch.clone(),
        cpu_model: host.cpu_model.clone(),
        cpus: host.cpus.len(),
        cpu_set: key.cpus.clone(),
        allowed_cpus: key.allowed.clone(),
        operations: key.ops.as_ref().map(crate::model::OpsSpec::label),
    }
}

fn level(level: &Level) -> LevelView {
    let mut expected: Vec<ExpectedView> = level.expected.iter().map(view).collect();
    expected.sort_by_key(|expected| rank(expected.name));
    LevelView { from: level.from, to: level.to, windows: level.windows, known: level.is_known(), expected }
}

/// Leading quantities sort first; the others keep their order.
fn rank(name: &str) -> usize {
    LEADING.iter().position(|leading| leading.name() == name).unwrap_or(LEADING.len())
}

fn view(expected: &Expected) -> ExpectedView {
    let quantity = expected.quantity;
    ExpectedView {
        name: quantity.name,
        label: quantity.label,
        unit: quantity.unit,
        role: quantity.role,
        windows: expected.windows,
        centre: expected.centre,
        spread: expected.spread,
        band: expected.band(),
        low: expected.low,
        high: expected.high,
        leading: rank(quantity.name) < LEADING.len(),
    }
}
