//! View model: every metric and every counter, with its formula, its coverage and its course.
//! It never draws.

use super::look::Scene;
use super::overview::past::{Sight, past};
use crate::analysis::{Metric, MetricUnit, Section, Window, summary};
use crate::model::{CounterDef, Measure, Scope};
use crate::units::Nanos;
use serde::Serialize;

/// The view.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CountersView {
    /// The metrics, by section.
    pub metrics: Vec<MetricLine>,
    /// The counters, by number; one line for each scope but threads.
    pub counters: Vec<CounterLine>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricLine {
    /// Its stable name.
    pub name: &'static str,
    /// A few words.
    pub label: &'static str,
    /// Where it belongs.
    pub section: Section,
    /// Its unit.
    pub unit: MetricUnit,
    /// Its value, or why there is none.
    pub value: Measure<f64>,
    /// What it was in what it is compared with.
    pub before: Option<Measure<f64>>,
    /// How it comes from its counters.
    pub formula: String,
    /// The counters it comes from.
    pub events: Vec<String>,
    /// What more there is to say of a value that is missing.
    pub detail: Option<String>,
    /// Above this it is worth a look.
    pub threshold: Option<f64>,
    /// Its course: the ends of windows, each with its value.
    pub history: Vec<(Nanos, Option<f64>)>,
}

/// A counter in one scope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterLine {
    /// Its name.
    pub name: String,
    /// Whose events: `target`, `host` or `ironlaw`.
    pub scope: &'static str,
    /// Counters of one group count in the same moments.
    pub group: Option<u16>,
    /// What one count is.
    pub unit: &'static str,
    /// What it counted in the window, scaled for multiplexing, or why nothing is known. A gauge's highest value.
    pub total: Measure<f64>,
    /// Per second of the window.
    pub rate: Measure<f64>,
    /// Its course, per second.
    pub history: Vec<(Nanos, Option<f64>)>,
}

impl CountersView {
    /// The counters of a scene.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> CountersView {
        let summary = summary(scene.profile, &scene.tasks, &scene.counters, &scene.selection, scene.window);
        let now = Sight::of(scene, scene.window, Some(&summary));
        let before = scene.against.as_deref().map(|past| Sight::of(past, past.window, None));
        let history = past(scene);
        // Where no hardware counts, cycles say so once for all that comes from hardware.
        let counted = !scene.profile.meta.hardware.groups.is_empty();
        let probed = is_probed(&now.metrics);
        let shown = now.metrics.iter().enumerate().filter(|(_, metric)| match metric.section {
            Section::Hardware => counted,
            Section::Probe => probed,
            _ => true,
        });
        let metrics = shown.map(|(at, metric)| MetricLine {
            name: metric.name,
            label: metric.label,
            section: metric.section,
            unit: metric.unit,
            value: metric.value,
            before: before.as_ref().map(|before| before.metrics[at].value),
            formula: metric.formula.clone(),
            events: metric.events.clone(),
            detail: metric.detail.clone(),
            threshold: metric.threshold,
            history: history.iter().map(|sight| (sight.window.to, sight.metrics[at].value.value().copied())).collect(),
        });
        let windows: Vec<Window> = history.iter().map(|sight| sight.window).collect();
        CountersView {
            metrics: metrics.collect(),
            counters: scene.profile.counters.iter().flat_map(|def| lines(scene, def, &windows)).collect(),
        }
    }
}

/// Leaves the canaries' metrics out where there were none: that they were not asked for is no news.
pub(super) fn drop_probe_unless_probed(metrics: &mut Vec<Metric>) {
    if !is_probed(metrics) {
        metrics.retain(|metric| metric.section != Section::Probe);
    }
}

fn is_probed(metrics: &[Metric]) -> bool {
    metrics.iter().any(|metric| metric.section == Section::Probe && metric.value.value().is_some())
}

/// A gauge's readings are levels, not sums.
fn is_gauge(def: &CounterDef) -> bool {
    def.unit == crate::model::Unit::Bytes
}

/// One line for each scope the counter was read in; one that says why if there is none.
fn lines(scene: &Scene<'_>, def: &CounterDef, windows: &[Window]) -> Vec<CounterLine> {
    const SCOPES: [(Scope, &str); 3] = [(Scope::Target, "target"), (Scope::Host, "host"), (Scope::Tool, "ironlaw")];
    let read =
        SCOPES.iter().filter(|(scope, _)| scene.counters.delta(&def.name, *scope, scene.window).value().is_some());
    let mut lines: Vec<_> = read.map(|(scope, name)| line(scene, def, *scope, name, windows)).collect();
    if lines.is_empty() {
        lines.push(line(scene, def, Scope::Target, "target", windows));
    }
    lines
}

fn line(scene: &Scene<'_>, def: &CounterDef, scope: Scope, name: &'static str, windows: &[Window]) -> CounterLine {
    let gauge = is_gauge(def);
    let total = |window: Window| match gauge {
        true => scene.counters.peak(&def.name, scope, window),
        false => scene.counters.delta(&def.name, scope, window),
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
        unit: super::report::unit_of(def.unit),
        total: total(scene.window),
        rate: rate(scene.window),
        history: windows.iter().map(|window| (window.to, rate(*window).value().copied())).collect(),
    }
}
