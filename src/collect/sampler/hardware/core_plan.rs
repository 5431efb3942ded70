//! Chooses what to count on a machine with one or several kinds of core.

use crate::model::{EventKind, EventSpec, HardwareEvent, HardwareGroup, HardwarePlan, KIND_MARK, Note, Unit};

/// Chooses what to count: the plan for the kind of core that most CPUs have, and after its first group cycles and
/// instructions of each other kind, so that path length and IPC cover the whole program. If no plan has a group
/// although cycles count, for example because sysfs is hidden, the result is cycles and instructions.
pub fn hardware_plan(plans: &[HardwarePlan]) -> (HardwarePlan, Option<Note>) {
    let mut known: Vec<&HardwarePlan> = plans.iter().filter(|plan| !plan.groups.is_empty()).collect();
    known.sort_by_key(|plan| (std::cmp::Reverse(plan.cpus.len()), &plan.pmu));
    let Some((most, others)) = known.split_first() else {
        let absent = plans.first().map(|plan| plan.absent.clone()).unwrap_or_default();
        return (HardwarePlan { absent, ..base() }, None);
    };
    let mut plan = (*most).clone();
    if others.is_empty() {
        return (plan, None);
    }
    plan.groups.iter_mut().for_each(|group| group.cpus.clone_from(&most.cpus));
    let law = others.iter().map(|other| law_apart(other));
    plan.groups.splice(1..1, law);
    let note = Note {
        topic: "several-kinds-of-core".to_string(),
        text: format!(
            "The machine has cores of several kinds: cycles and instructions are counted on all of them, all else on the {} \
             CPUs of {} only and scaled up to the whole time.",
            most.cpus.len(),
            most.pmu
        ),
        fix: Some(
            "For exact cache and memory metrics keep the target on CPUs of one kind, e.g. with taskset.".to_string(),
        ),
    };
    (plan, Some(note))
}

/// Cycles and instructions of another kind of core, named after it.
fn law_apart(plan: &HardwarePlan) -> HardwareGroup {
    let events = plan.groups.first().map_or(&[][..], |group| &group.events);
    let events = events.iter().filter(|event| matches!(event.role.as_str(), "cycles" | "instructions"));
    let apart = |event: &HardwareEvent| HardwareEvent {
        role: format!("{}{KIND_MARK}{}", event.role, plan.pmu),
        event: event.event.clone(),
    };
    HardwareGroup { events: events.map(apart).collect(), cpus: plan.cpus.clone() }
}

/// A plan of cycles and instructions only.
pub(super) fn base() -> HardwarePlan {
    let event = |role: &str, config, unit| HardwareEvent {
        role: role.to_string(),
        event: EventSpec { exclude_guest: true, ..EventSpec::new(role, EventKind::Hardware(config), unit) },
    };
    let events = vec![event("cycles", 0, Unit::Cycles), event("instructions", 1, Unit::Instructions)];
    HardwarePlan {
        uarch: "generic".to_string(),
        groups: vec![HardwareGroup { events, cpus: vec![] }],
        ..HardwarePlan::default()
    }
}
