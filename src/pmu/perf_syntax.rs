//! Writes events in perf's syntax, so that a planned group can be pasted into `perf stat -e`.

use super::CoreType;
use super::table::EventEncoding;
use crate::model::HardwareGroup;

/// The event of a role, e.g. `cpu/config=0x412e/`; `None` if the core has none.
#[must_use]
pub fn perf_event(core: &CoreType, role: &str) -> Option<String> {
    let pmu = &core.pmu;
    Some(match &core.uarch.event(role)?.code {
        EventEncoding::Raw { config, config1: 0 } => format!("{pmu}/config={config:#x}/"),
        EventEncoding::Raw { config, config1 } => format!("{pmu}/config={config:#x},config1={config1:#x}/"),
        EventEncoding::Generic { name, .. } if core.capacity.hybrid => format!("{pmu}/{name}/"),
        EventEncoding::Generic { name, .. } => name.clone(),
    })
}

/// A group, e.g. `{cpu/config=0x3c/,cpu/config=0xc0/}`.
#[must_use]
pub fn perf_group(core: &CoreType, group: &HardwareGroup) -> String {
    let events: Vec<String> = group.events.iter().filter_map(|event| perf_event(core, &event.role)).collect();
    format!("{{{}}}", events.join(","))
}
