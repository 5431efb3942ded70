//! What the events on the target's threads cost each switch to one of them. Samples come from events on CPUs where that is
//! permitted; the records of tasks and mappings come from events on threads, which the kernel exchanges at each switch.

use super::attach::{AttachScope, may_open_cpus};
use super::event_requests::EventRequests;
use super::hardware::{SwitchActivity, time_added_to_switches};
use super::new_threads::threads_of;
use crate::model::{Note, Target};
use crate::sys::memory_walks::current_cpu;
use crate::sys::perf::event::{self, Inherit, PerfEvent, Place, Request};
use crate::units::Nanos;
use std::path::Path;

/// The time that events on threads add to a switch between threads of the target, measured on ironlaw's own threads; `None`
/// if that is not known, or nothing is opened on threads. Threads that a command starts have inherited their events, which
/// the kernel exchanges as a whole; those of a running process each have their own.
pub(super) fn switch_cost(target: &Target, event_requests: &EventRequests, cpus: &[u32]) -> Option<Nanos> {
    let inherited = match target {
        Target::Command { .. } => true,
        Target::Processes { .. } | Target::Threads { .. } => false,
        Target::Cpus { .. } | Target::Cgroup { .. } => return None,
    };
    let by_cpu = may_open_cpus(event_requests, cpus) && !matches!(target, Target::Threads { .. });
    let on_threads = || event_requests.sets.iter().filter(|set| !(set.everywhere || by_cpu && set.is_by_cpu()));
    on_threads().next()?;
    let open = || {
        let (cpu, _) = current_cpu()?;
        let place = Place::Task { tid: 0, cpu: Some(cpu) };
        let own = |request: &Request| {
            let inherit = if inherited { Inherit::All } else { Inherit::No };
            Request { inherit, enable_on_exec: false, ..request.clone() }
        };
        let mut opened: Vec<PerfEvent> = Vec::new();
        for set in on_threads().filter(|set| set.is_on(cpu)) {
            let requests: Vec<Request> = set.requests.iter().map(own).collect();
            let (leader, members) = requests.split_first()?;
            let events = event::open(leader, members, place).ok()?;
            events.iter().try_for_each(PerfEvent::enable).ok()?;
            opened.extend(events);
        }
        Some(opened)
    };
    time_added_to_switches(open, inherited)
}

/// Whole CPUs in place of a running process's threads, with a note, if its switches would cost more than these percent of its
/// time: events on CPUs cost a switch nothing. Counters of the threads would be lost, so not where the hardware counts.
pub(super) fn afford(
    scope: AttachScope,
    cost: Option<Nanos>,
    percent: Option<f64>,
    event_requests: &EventRequests,
    cpus: &[u32],
    root: &Path,
) -> (AttachScope, Option<Note>) {
    let AttachScope::Processes(pids, inherit) = &scope else { return (scope, None) };
    let (Some(cost), Some(percent), false) = (cost, percent, event_requests.hardware) else { return (scope, None) };
    if !may_open_cpus(event_requests, cpus) {
        return (scope, None);
    }
    let tids: Vec<u32> = pids.iter().flat_map(|pid| threads_of(root, *pid)).collect();
    let Some(activity) = SwitchActivity::of(root, &tids) else { return (scope, None) };
    let spent = activity.percent(cost);
    if spent <= percent {
        return (scope, None);
    }
    let note = Note {
        topic: "whole-cpus-switches".to_string(),
        text: format!(
            "Events on the target's threads would make each of its {:.0} switches a second {:.1} us longer: {spent:.1}% of \
             its time, where {percent}% are allowed (--max-overhead). Events on whole CPUs take their place, and only the \
             target's records are kept.",
            activity.rate(),
            cost.as_f64() / 1e3
        ),
        fix: None,
    };
    (AttachScope::Cpus(Some((pids.clone(), *inherit))), Some(note))
}
