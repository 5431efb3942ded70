//! The hardware counters to open: events by role, in groups that count together, and the metrics formed from them.

use super::{CounterDef, CounterId, EventKind, EventSpec, MetricDef, Unit};
use serde::{Deserialize, Serialize};

/// An event of this CPU in its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareEvent {
    /// Its role, which is also the name of its counter on every CPU: `cycles`, `llc-miss`, `dtlb-load-walk-active`.
    pub role: String,
    /// The kernel encoding. Its name is the vendor's, e.g. `LONGEST_LAT_CACHE.MISS`.
    pub event: EventSpec,
}

impl HardwareEvent {
    /// The role of an event that the user named. Cycles and instructions of all modes have those of the formulas; other
    /// names are marked, as ironlaw reads counters of the same names elsewhere.
    #[must_use]
    pub fn named_role(event: &EventSpec) -> String {
        let part = event.exclude_user || event.exclude_kernel || event.exclude_hv || event.exclude_host;
        match event.kind {
            EventKind::Hardware(0) if !part => "cycles".to_string(),
            EventKind::Hardware(1) if !part => "instructions".to_string(),
            EventKind::Hardware(4) if !part => "branches".to_string(),
            _ => format!("event:{}", event.name.replace(KIND_MARK, "_")),
        }
    }
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

/// The microarchitecture of a plan of events that the user named.
const NAMED: &str = "named";

impl HardwarePlan {
    /// Counts exactly these events, in their groups, whatever they are.
    #[must_use]
    pub fn of_named(events: &[EventSpec]) -> HardwarePlan {
        let mut groups: Vec<HardwareGroup> = Vec::new();
        let mut last = None;
        for event in events {
            let named = HardwareEvent { role: HardwareEvent::named_role(event), event: event.clone() };
            if groups.iter().flat_map(|group| &group.events).any(|known| known.role == named.role) {
                continue;
            }
            match groups.last_mut().filter(|_| event.group.is_some() && event.group == last) {
                Some(group) => group.events.push(named),
                None => groups.push(HardwareGroup { events: vec![named], cpus: vec![] }),
            }
            last = event.group;
        }
        HardwarePlan { uarch: NAMED.to_string(), groups, ..HardwarePlan::default() }
    }

    /// Whether its events were named by the user: they need not be those of a PMU.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.uarch == NAMED
    }

    /// Whether an event of this role is counted.
    #[must_use]
    pub fn counts(&self, role: &str) -> bool {
        self.groups.iter().flat_map(|group| &group.events).any(|event| event.role == role)
    }

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
