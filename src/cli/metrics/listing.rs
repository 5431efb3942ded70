//! A core's metrics, events and groups as plain rows, for both output formats.

use crate::model::{Formula, HardwarePlan, MetricDef, Unit};
use crate::pmu::{CoreType, Wanted, perf_event, perf_group, planner};
use serde::Serialize;

/// One core type.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    /// The microarchitecture's stable name.
    pub(super) uarch: String,
    /// Its display name.
    pub(super) name: String,
    /// The PMU; `null` if the kernel exposes none.
    pub(super) pmu: Option<String>,
    /// Its CPUs; empty means all.
    pub(super) cpus: Vec<u32>,
    /// Free general counters.
    pub(super) counters: u8,
    /// Limits and unknowns, in sentences.
    pub(super) remarks: Vec<String>,
    /// The available metrics in order of priority.
    pub(super) metrics: Vec<Row>,
    /// The unavailable metrics.
    pub(super) missing: Vec<Missing>,
    /// Events that are counted together.
    pub(super) groups: Vec<Group>,
    /// Known events that are in no group.
    pub(super) other_events: Vec<Event>,
}

/// An available metric.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) unit: Unit,
    pub(super) formula: String,
    pub(super) events: Vec<Event>,
    /// Number of the group, from 1.
    pub(super) group: usize,
    pub(super) bounds: (f64, f64),
    pub(super) threshold: Option<f64>,
    pub(super) about: &'static str,
    pub(super) note: Option<String>,
}

/// An unavailable metric.
#[derive(Debug, Serialize)]
pub(super) struct Missing {
    pub(super) name: String,
    pub(super) why: String,
}

/// Events that are counted together.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    pub(super) events: Vec<Event>,
    /// For `perf stat -e`.
    pub(super) perf: String,
}

/// An event and its role.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Event {
    pub(super) role: String,
    /// The vendor's name.
    pub(super) name: String,
    /// For `perf stat -e`.
    pub(super) perf: String,
    pub(super) note: Option<String>,
}

/// The rows of a core. `here` if it is this machine's; `all` lists every event.
pub(super) fn of(core: &CoreType, wanted: &Wanted, here: bool, all: bool) -> Listing {
    let plan = planner::plan(&core.uarch, &core.capacity, wanted);
    let is_absent = |metric: &MetricDef| plan.absent.iter().any(|absent| absent.metric == metric.name);
    let rows = wanted.metrics.iter().filter(|metric| !is_absent(metric)).filter_map(|metric| row(core, &plan, metric));
    let missing = plan.absent.iter().map(|absent| Missing { name: absent.metric.clone(), why: absent.why.clone() });
    let groups = plan.groups.iter().map(|group| Group {
        events: group.events.iter().filter_map(|held| event(core, &held.role)).collect(),
        perf: perf_group(core, group),
    });
    let counted = |role: &str| plan.groups.iter().flat_map(|group| &group.events).any(|held| held.role == role);
    let others = core.uarch.events.iter().filter(|known| all && !counted(&known.role));
    Listing {
        uarch: core.uarch.id.clone(),
        name: core.uarch.name.clone(),
        pmu: core.capacity.present.then(|| core.pmu.clone()),
        cpus: core.cpus.clone(),
        counters: core.capacity.general,
        remarks: remarks(core, here),
        metrics: rows.collect(),
        missing: missing.collect(),
        groups: groups.collect(),
        other_events: others.filter_map(|known| event(core, &known.role)).collect(),
    }
}

fn row(core: &CoreType, plan: &HardwarePlan, metric: &'static MetricDef) -> Option<Row> {
    let (formula, group) = planner::formed(plan, metric)?;
    let parsed = Formula::parse(formula)?;
    Some(Row {
        name: metric.name,
        label: metric.label,
        unit: metric.unit,
        formula: formula.to_string(),
        events: parsed.names().iter().filter_map(|role| event(core, role)).collect(),
        group: group + 1,
        bounds: metric.bounds,
        threshold: metric.threshold,
        about: metric.about,
        note: core.uarch.note(metric.name).map(String::from),
    })
}

fn event(core: &CoreType, role: &str) -> Option<Event> {
    let known = core.uarch.event(role)?;
    let perf = perf_event(core, role)?;
    Some(Event { role: role.to_string(), name: known.name.clone(), perf, note: known.note.clone() })
}

fn remarks(core: &CoreType, here: bool) -> Vec<String> {
    let capacity = &core.capacity;
    let mut remarks = Vec::new();
    if !here {
        remarks.push("this is not the machine's own CPU: its counters are assumed".to_string());
    } else if !capacity.present {
        let why = if capacity.is_virtual { "this virtual machine was given none" } else { "the kernel shows none" };
        remarks.push(format!("no core PMU ({why}): none of these metrics can be counted here"));
    } else if capacity.is_virtual {
        remarks.push(
            "in a virtual machine events may be missing or stay at 0: each is tried when it is opened".to_string(),
        );
    }
    if capacity.present && capacity.watchdog > 0 {
        remarks.push("the NMI watchdog holds one counter (sysctl kernel.nmi_watchdog=0 frees it)".to_string());
    }
    if core.uarch.id.starts_with("generic") {
        remarks.push(
            "no event table for this CPU: only the kernel's generic events, as the vendor defines them".to_string(),
        );
    }
    remarks
}
