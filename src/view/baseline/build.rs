//! Builds the view of a baseline from its windows.

use super::{BaselineView, ExpectedView, KeyView, LevelView, SCHEMA_VERSION, SourceView};
use crate::analysis::baseline::{Expected, Level, Levels, Stale, outliers};
use crate::analysis::diff::{PRIMARY, RATE, WITHOUT_OPERATIONS};
use crate::model::{Baseline, BaselineKey, MetricId};

/// The quantities listed first: the cost, the factors of the law, and where a thread's time goes.
const LEADING: [MetricId; 11] = [
    PRIMARY,
    MetricId::PathLength,
    MetricId::Cpi,
    MetricId::Frequency,
    RATE,
    WITHOUT_OPERATIONS,
    MetricId::Utilisation,
    MetricId::RunQueueDelay,
    MetricId::BlockedShare,
    MetricId::ThrottledShare,
    MetricId::StealShare,
];

impl BaselineView {
    /// The view of a baseline called `name`; `stale` lists what has changed since it was built.
    #[must_use]
    pub fn of(baseline: &Baseline, name: &str, stale: Vec<Stale>) -> BaselineView {
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
