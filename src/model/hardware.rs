//! What hardware is to count: events by role, in groups that count together, and the metrics that are formed from them.
//! It never opens an event and never divides.

use super::{CounterDef, CounterId, EventSpec, HardwareMetric, Unit};
use serde::{Deserialize, Serialize};

/// An event of this CPU in its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareEvent {
    /// Its role and the name of its counter, the same on every CPU: `cycles`, `llc-miss`, `dtlb-load-walk-active`.
    pub role: String,
    /// What the kernel is asked for; its name is the vendor's, e.g. `LONGEST_LAT_CACHE.MISS`.
    pub event: EventSpec,
}

/// Events that are scheduled together, so that ratios of them speak of the same moments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareGroup {
    /// The leader, then the members. An event may be in several groups: each group that forms a ratio has its own.
    pub events: Vec<HardwareEvent>,
    /// The CPUs it can count on; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}

/// Stands between a role and the kind of core it is counted on apart, as in `cycles@cpu_atom`.
pub const KIND_MARK: char = '@';

/// A metric that cannot be formed here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentMetric {
    /// Its name.
    pub metric: String,
    /// Why, for people: which event is missing.
    pub why: String,
}

/// What to count on one kind of core.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwarePlan {
    /// The microarchitecture, e.g. `intel-spr`; `generic-intel`, `generic-amd`, `generic-arm` or `generic` where none is known.
    pub uarch: String,
    /// The kind of core as the kernel names its PMU: `cpu`, `cpu_core`; empty in recordings that do not say.
    #[serde(default)]
    pub pmu: String,
    /// The CPUs whose cores are of this kind; empty: all.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// Groups, most wanted first; the first holds cycles and instructions.
    pub groups: Vec<HardwareGroup>,
    /// What is not counted, and why.
    pub absent: Vec<AbsentMetric>,
    /// Formulas of metrics that hold for this plan in place of the common ones: metric and formula, without names that only
    /// the machine could resolve. Where its roles were not counted after all, the common formulas are tried.
    #[serde(default)]
    pub formulas: Vec<(String, String)>,
    /// How much longer a context switch of the target takes while the groups count its threads, nanoseconds, as measured before
    /// the recording; `None` where that was too little to see, or not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_cost_ns: Option<u64>,
}

impl HardwarePlan {
    /// The formulas of a metric, in the order in which they are tried: the plan's own, then the common ones.
    pub fn formulas_of<'a>(&'a self, metric: &'a HardwareMetric) -> impl Iterator<Item = &'a str> + 'a {
        let own = self.formulas.iter().filter(|(name, _)| name == metric.name).map(|(_, formula)| formula.as_str());
        own.chain(metric.formulas.iter().copied())
    }

    /// The counters of the plan, numbered from `first` on: one for each event of each group. The same role in a later
    /// group has `.2`, `.3` ... behind its name.
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
                definitions.push(CounterDef { id, name, unit: unit(&event.role), group: Some(number) });
            }
        }
        definitions
    }
}

fn unit(role: &str) -> Unit {
    match role.split(KIND_MARK).next().unwrap_or(role) {
        "cycles" => Unit::Cycles,
        "instructions" => Unit::Instructions,
        _ => Unit::Count,
    }
}
