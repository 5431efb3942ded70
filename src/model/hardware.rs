//! The hardware counters to open: events by role, in groups that count together, and the metrics formed from them.

use super::{CounterDef, CounterId, EventSpec, MetricDef, Unit};
use serde::{Deserialize, Serialize};

/// An event of this CPU in its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareEvent {
    /// Its role, which is also the name of its counter on every CPU: `cycles`, `llc-miss`, `dtlb-load-walk-active`.
    pub role: String,
    /// The kernel encoding. Its name is the vendor's, e.g. `LONGEST_LAT_CACHE.MISS`.
    pub event: EventSpec,
}

/// Events that are scheduled together, so that their ratios cover the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareGroup {
    /// The leader, then the members. An event may be in several groups: each group that forms a ratio has its own copy.
    pub events: Vec<HardwareEvent>,
    /// The CPUs it can count on; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}

/// Separates a role from its core type, as in `cycles@cpu_atom`.
pub const KIND_MARK: char = '@';

/// A metric that cannot be formed on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentMetric {
    /// Its name.
    pub metric: String,
    /// The reason as text for users: which event is missing.
    pub why: String,
}

/// The events to count on one core type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwarePlan {
    /// The microarchitecture, e.g. `intel-spr`; `generic-intel`, `generic-amd`, `generic-arm` or `generic` if unknown.
    pub uarch: String,
    /// The core type as the kernel names its PMU: `cpu`, `cpu_core`; empty in recordings that do not store it.
    #[serde(default)]
    pub pmu: String,
    /// The CPUs of this core type; empty means all.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// Groups in order of priority; the first contains cycles and instructions.
    pub groups: Vec<HardwareGroup>,
    /// The metrics that are not counted, and why.
    pub absent: Vec<AbsentMetric>,
    /// Formulas that override the common ones in this plan: metric and formula, with machine constants substituted. If
    /// the roles of an override were not counted after all, the common formulas are tried.
    #[serde(default)]
    pub formulas: Vec<(String, String)>,
    /// Additional time per context switch of the target while the groups count its threads, nanoseconds, measured
    /// before the recording; `None` if it was too small to measure or not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_cost_ns: Option<u64>,
    /// Whether nothing is counted because it would have cost the target more than allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_costly: bool,
}

impl HardwarePlan {
    /// The formulas of a metric in the order they are tried: the plan's own, then the common ones.
    pub fn formulas_of<'a>(&'a self, metric: &'a MetricDef) -> impl Iterator<Item = &'a str> + 'a {
        let own = self.formulas.iter().filter(|(name, _)| name == metric.name).map(|(_, formula)| formula.as_str());
        own.chain(metric.formulas().iter().copied())
    }

    /// The counters of the plan, numbered from `first`: one for each event of each group. If a role occurs again in a
    /// later group, its name gets the suffix `.2`, `.3` and so on.
    #[must_use]
    pub fn definitions(&self, first: u16) -> Vec<CounterDef> {
        let mut seen: Vec<&str> = Vec::new();
        let mut definitions = Vec::new();
        for (group, number) in self.groups.iter().zip(0_u16..) {
            for event in &group.events {
                seen.push(&event.role);
                let times = seen.iter().filter(|role| **role == event.role).count();
                let name = if times == 1 { event.role.clone() } else { format!("{}.{times}", event.role) };
                let id = CounterId(first.saturating_add(definitions.len() as u16));
                definitions.push(CounterDef { id, name, unit: unit_of_role(&event.role), group: Some(number) });
            }
        }
        definitions
    }
}

/// The unit of an event in this role.
#[must_use]
pub fn unit_of_role(role: &str) -> Unit {
    match role.split(KIND_MARK).next().unwrap_or(role) {
        "cycles" => Unit::Cycles,
        "instructions" => Unit::Instructions,
        _ => Unit::Count,
    }
}
