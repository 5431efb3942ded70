//! A job in a window.

use super::{DatasetLabels, Span};
use crate::analysis::operations::counted_within;
use crate::analysis::{Counters, Metric, Summary, ThreadSet, metrics, operations, per_operation};
use crate::model::profile::Profile;
use crate::model::{Measure, MetricId, NeighbourRow, Scope, WindowRow};

/// The row of a span; `neighbours` of it are `None` if they were not recorded.
pub(super) fn row(
    profile: &Profile,
    counters: &Counters,
    seen: &Summary,
    span: &Span,
    neighbours: &Option<Vec<NeighbourRow>>,
    labels: &DatasetLabels,
) -> WindowRow {
    let window = span.window;
    let measured = metrics(counters, &ThreadSet::All, window, Some(seen));
    // What one operation costs, if there was one in all, is what was counted.
    let counted = per_operation(counters, &ThreadSet::All, window, Measure::exact(1.0));
    let metric = |all: &[Metric], id: MetricId| all.iter().find(|metric| metric.id == id)?.value.value().copied();
    let count = |name: &str, scope: Scope| counters.delta(name, scope, window).value().copied();
    let seconds = |name: &str, scope: Scope| Some(count(name, scope)? * 1e-9);
    let host = &profile.meta.host;
    let cpu_s = metric(&measured, MetricId::CpuTime);
    let busy = || Some(seconds("host-busy", Scope::Host)? - seconds("host-steal", Scope::Host).unwrap_or(0.0) - cpu_s?);
    WindowRow {
        start_s: span.start_s,
        length_s: window.span().seconds(),
        platform: platform(&host.cpu_model, &host.arch),
        version: labels.version.clone(),
        config: labels.config.clone(),
        host_cpus: host.cpus.len() as i64,
        operations: operations(profile, window).value().copied().filter(|_| counted_within(profile, window)),
        cpu_s,
        kernel_cpu_s: seconds("system-time", Scope::Target),
        instructions: metric(&measured, MetricId::Instructions),
        cycles: metric(&measured, MetricId::Cycles),
        llc_misses: metric(&counted, MetricId::LlcMissesPerOp),
        page_walk_cycles: metric(&counted, MetricId::PageWalkCyclesPerOp),
        memory_bytes: count("memory-traffic", Scope::Host),
        run_queue_s: seconds("run-delay", Scope::Target),
        throttled_s: metric(&measured, MetricId::ThrottledTime),
        stolen_s: seconds("host-steal", Scope::Host),
        page_faults: count("minor-faults", Scope::Target)
            .zip(count("major-faults", Scope::Target))
            .map(|(minor, major)| minor + major),
        neighbour_cpu_s: match neighbours {
            Some(rows) => Some(rows.iter().map(|row| row.cpu_s).sum()),
            None => busy().map(|cpu| cpu.max(0.0)),
        },
    }
}

fn platform(cpu_model: &str, arch: &str) -> String {
    [cpu_model, arch].into_iter().find(|name| !name.is_empty()).unwrap_or("unknown").to_string()
}
