//! Decides which events to count together, so that each metric is formed from counters of the same time span.
//! The tables say which events can be scheduled together; the kernel may still refuse them.
//!
//! The first group contains cycles and instructions, which the iron law needs. Each metric's events are in one group. A
//! group contains no more events than the core can count at once. Groups are in order of their metrics' priority.

mod choice;

use choice::choose;
pub use choice::fits;

use super::known;
use super::machine::Capacity;
use super::sets::{Wanted, name_of_set};
use super::table::Uarch;
use crate::model::{
    AbsentMetric, EventSpec, HardwareEvent, HardwareGroup, HardwarePlan, MetricDef, MetricId, unit_of_role,
};

/// Roles of the first group, if the core has them.
const BASE: &[&str] = &["cycles", "instructions", "ref-cycles"];
/// The one metric besides IPC that is formed from the first group.
const BASE_METRIC: MetricId = MetricId::BranchMpki;

/// The events for `wanted`, in groups: only the first group if no metric is wanted, none if the machine has no PMU.
#[must_use]
pub fn plan(uarch: &Uarch, capacity: &Capacity, wanted: &Wanted) -> HardwarePlan {
    let mut plan = HardwarePlan { uarch: uarch.id.clone(), ..HardwarePlan::default() };
    let mut groups = if capacity.present { vec![base(uarch, capacity)] } else { Vec::new() };
    let most = wanted.most_groups.unwrap_or(usize::MAX);
    for metric in &wanted.metrics {
        match choose(uarch, capacity, metric) {
            Err(why) => plan.absent.push(AbsentMetric { metric: metric.name.to_string(), why }),
            Ok(choice) => {
                let into_first = metric.name == BASE_METRIC.name();
                if !place(uarch, capacity, &choice.roles, into_first, most, &mut groups) {
                    let set = metric.set.map_or("all", |(set, _)| name_of_set(set));
                    let why = format!("left out, so that the others are counted often enough; ask for it: -M {set}");
                    plan.absent.push(AbsentMetric { metric: metric.name.to_string(), why });
                    continue;
                }
                if !metric.formulas().contains(&choice.formula.as_str()) {
                    plan.formulas.push((metric.name.to_string(), choice.formula));
                }
            }
        }
    }
    let numbered = groups.into_iter().zip(0_u16..);
    plan.groups = numbered.map(|(roles, number)| group(uarch, capacity, roles, number)).collect();
    plan
}

/// The formula by which a plan forms a metric, and the number of the group that contains its events.
#[must_use]
pub fn formed<'a>(plan: &'a HardwarePlan, metric: &'a MetricDef) -> Option<(&'a str, usize)> {
    plan.formulas_of(metric).find_map(|text| {
        let roles = choice::roles_of(text)?;
        let has = |group: &HardwareGroup| roles.iter().all(|role| group.events.iter().any(|event| event.role == *role));
        Some((text, plan.groups.iter().position(has)?))
    })
}

fn base(uarch: &Uarch, capacity: &Capacity) -> Vec<String> {
    let mut roles = Vec::new();
    for role in BASE.iter().filter(|role| uarch.event(role).is_some()) {
        roles.push((*role).to_string());
        // The law requires cycles and instructions; `ref-cycles` is optional.
        if *role == "ref-cycles" && !fits(uarch, capacity, &roles) {
            roles.pop();
        }
    }
    roles
}

/// Adds the roles to the group that needs the fewest new events for them, or to a new group. The first group stays
/// small, so that it is counted most. Returns `false` if a new group would exceed the limit.
fn place(
    uarch: &Uarch,
    capacity: &Capacity,
    roles: &[String],
    into_first: bool,
    most: usize,
    groups: &mut Vec<Vec<String>>,
) -> bool {
    let joined = |group: &Vec<String>| {
        let mut all = group.clone();
        all.extend(roles.iter().filter(|role| !group.contains(role)).cloned());
        all
    };
    let open = |number: usize, group: &Vec<String>| number > 0 || into_first || joined(group).len() == group.len();
    let possible = groups.iter().enumerate().filter(|(number, group)| open(*number, group));
    let possible = possible.filter(|(_, group)| fits(uarch, capacity, &joined(group)));
    match possible.min_by_key(|(_, group)| joined(group).len() - group.len()).map(|(number, _)| number) {
        Some(number) => groups[number] = joined(&groups[number]),
        None if groups.len() >= most => return false,
        None => groups.push(roles.to_vec()),
    }
    true
}

/// The events of the roles: the group leader first, then those of the law, then the rest in their order.
fn group(uarch: &Uarch, capacity: &Capacity, mut roles: Vec<String>, number: u16) -> HardwareGroup {
    const FIRST: &[&str] = &["slots", "cycles", "instructions"];
    roles.sort_by_key(|role| FIRST.iter().position(|first| first == role).unwrap_or(FIRST.len()));
    let events = roles.into_iter().filter_map(|role| {
        let event = uarch.event(&role)?;
        let kind = known::kind(&event.code, capacity.kind, capacity.hybrid);
        let event = EventSpec {
            // A guest's events do not belong to this program's code.
            exclude_guest: true,
            group: Some(number),
            ..EventSpec::new(&event.name, kind, unit_of_role(&role))
        };
        Some(HardwareEvent { role, event })
    });
    HardwareGroup { events: events.collect(), ..HardwareGroup::default() }
}

#[cfg(test)]
mod tests;
