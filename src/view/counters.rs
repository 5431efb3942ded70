//! View model: every metric and every counter, with its formula, coverage and history.

use super::context::ViewContext;
use super::overview::past::{WindowMetrics, past};
use crate::analysis::{Metric, Window, summary};
use crate::model::{CounterDef, Measure, MetricId, Scope, Section, Unit, Why};
use crate::units::Nanos;
use serde::Serialize;

/// The counters view.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CountersView {
    /// The metrics, by section.
    pub metrics: Vec<MetricLine>,
    /// The counters, by number; one line per scope, threads excluded.
    pub counters: Vec<CounterLine>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricLine {
    /// Its stable name.
    pub name: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// The section it belongs to.
    pub section: Section,
    /// Its unit.
    pub unit: Unit,
    /// Its value, or why it is missing.
    pub value: Measure<f64>,
    /// Its value on the other side of the comparison; `None` without a comparison.
    pub before: Option<Measure<f64>>,
    /// How it is computed from its counters.
    pub formula: String,
    /// The counters it is computed from.
    pub events: Vec<String>,
    /// Details on why the value is missing.
    pub detail: Option<String>,
    /// Values above this are worth investigating.
    pub threshold: Option<f64>,
    /// Its history: the end of each window, with the value in it.
    pub history: Vec<(Nanos, Option<f64>)>,
}

/// A counter in one scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterLine {
    /// Its name.
    pub name: String,
    /// Whose events: `target`, `host` or `ironlaw`.
    pub scope: &'static str,
    /// Counters of one group count at the same time.
    pub group: Option<u16>,
    /// Unit of one count.
    pub unit: &'static str,
    /// Count in the window, scaled for multiplexing, or why it is missing. For a gauge, its highest value.
    pub total: Measure<f64>,
    /// Count per second of the window. For a gauge, the same as `total`.
    pub rate: Measure<f64>,
    /// Its history, per second.
    pub history: Vec<(Nanos, Option<f64>)>,
}

impl CountersView {
    /// The counters of a view context.
    #[must_use]
    pub fn of(context: &ViewContext<'_>) -> CountersView {
        let summary = summary(context.profile, &context.counters, context.counts(), context.window);
        let now = WindowMetrics::of(context, context.window, Some(&summary));
        let before = context.reference.as_deref().map(|past| WindowMetrics::of(past, past.window, None));
        let history = past(context);
        // Without hardware counters, the cycles metric reports the reason once for all hardware metrics.
        let counted = !context.profile.meta.hardware.groups.is_empty();
        let (probed, timed) = (is_probed(&now.metrics), is_timed(&now.metrics));
        let shown = now.metrics.iter().enumerate().filter(|(_, metric)| match metric.id.def().section {
            Section::Hardware => counted,
            Section::Probe => probed,
            Section::Latency => timed,
            _ => true,
        });
        let metrics = shown.map(|(at, metric)| MetricLine {
            name: metric.id.name(),
            label: metric.id.def().label,
            section: metric.id.def().section,
            unit: metric.id.def().unit,
            value: metric.value,
            before: before.as_ref().map(|before| before.metrics[at].value),
            formula: metric.formula.clone(),
            events: metric.events.clone(),
            detail: metric.detail.clone(),
            threshold: metric.id.def().threshold,
            history: history
                .iter()
                .map(|context| (context.window.to, context.metrics[at].value.value().copied()))
                .collect(),
        });
        let windows: Vec<Window> = history.iter().map(|context| context.window).collect();
        CountersView {
            metrics: metrics.collect(),
            counters: context.profile.counters.iter().flat_map(|def| lines(context, def, &windows)).collect(),
        }
    }
}

/// Removes the metrics of the canaries and of latency if neither was measured: nobody asked for them, so their absence needs
/// no line.
pub(super) fn drop_unasked(metrics: &mut Vec<Metric>) {
    let (probed, timed) = (is_probed(metrics), is_timed(metrics));
    metrics.retain(|metric| match metric.id.def().section {
        Section::Probe => probed,
        Section::Latency => timed,
        _ => timed || metric.id != MetricId::LatencyProbesShare || metric.value.value().is_some(),
    });
}

/// Whether the latency of operations was to be measured.
fn is_timed(metrics: &[Metric]) -> bool {
    let p50 = metrics.iter().find(|metric| metric.id == MetricId::LatencyP50);
    p50.is_some_and(|metric| metric.value.why() != Some(Why::NotRecorded))
}

fn is_probed(metrics: &[Metric]) -> bool {
    metrics.iter().any(|metric| metric.id.def().section == Section::Probe && metric.value.value().is_some())
}

/// A gauge's readings are levels, not sums.
fn is_gauge(def: &CounterDef) -> bool {
    def.unit == crate::model::Unit::Bytes
}

/// One line for each scope in which the counter was read; if there is none, one line with the reason.
fn lines(context: &ViewContext<'_>, def: &CounterDef, windows: &[Window]) -> Vec<CounterLine> {
    const SCOPES: [(Scope, &str); 3] = [(Scope::Target, "target"), (Scope::Host, "host"), (Scope::Tool, "ironlaw")];
    let read =
        SCOPES.iter().filter(|(scope, _)| context.counters.delta(&def.name, *scope, context.window).value().is_some());
    let mut lines: Vec<_> = read.map(|(scope, name)| line(context, def, *scope, name, windows)).collect();
    if lines.is_empty() {
        lines.push(line(context, def, Scope::Target, "target", windows));
    }
    lines
}

fn line(
    context: &ViewContext<'_>,
    def: &CounterDef,
    scope: Scope,
    name: &'static str,
    windows: &[Window],
) -> CounterLine {
    let gauge = is_gauge(def);
    let total = |window: Window| match gauge {
        true => context.counters.peak(&def.name, scope, window),
        false => context.counters.delta(&def.name, scope, window),
    };
    let rate = |window: Window| {
        let seconds = window.span().seconds();
        if gauge {
            total(window)
        } else {
            total(window).ratio(Measure::exact(seconds), |sum, s| (s > 0.0).then(|| sum / s))
        }
    };
    CounterLine {
        name: def.name.clone(),
        scope: name,
        group: def.group,
        unit: def.unit.symbol(),
        total: total(context.window),
        rate: rate(context.window),
        history: windows.iter().map(|window| (window.to, rate(*window).value().copied())).collect(),
    }
}
