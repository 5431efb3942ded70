//! Chooses how off-CPU time is recorded: by the source that sees most of what this machine and user allow. Sums in
//! the kernel cost least; every other source needs the switch records, which determine each span's length.

use super::event_requests::{EventGroup, layout, records};
use super::origin::Role;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{CallGraph, LatencySpec, Note, Plan, Rate, Target, WaitSource};
use crate::sys::bpf::{self, OpenCalls, ProcessFilter, WaitSums};
use crate::sys::perf::event::{self, Place, Request};
use crate::sys::perf::record::Layout;
use crate::sys::perf::tracefs::Format;
use std::io;
use std::path::Path;

/// Stack bytes per context switch: switches are ten times as frequent as samples, and blocking calls use less stack.
const STACK_BYTES: u32 = 8 << 10;

/// The chosen source.
#[derive(Debug)]
pub struct Switches {
    /// The source.
    pub source: WaitSource,
    /// Events it needs besides the switch records.
    pub sets: Vec<EventGroup>,
    /// The kernel's sums, if they are the source.
    pub sums: Option<WaitSums>,
    /// Its limits, and what a better source needs.
    pub note: Option<Note>,
}

/// Chooses the source that sees most. Files are read below `root`.
pub fn choose(plan: &Plan, exclude_kernel: bool, root: &Path) -> Switches {
    let method = plan.call_graph;
    // A switch happens in the kernel: with the kernel excluded, the events do not sample.
    if exclude_kernel {
        let source = WaitSource::SwitchRecords;
        let fix = "sudo sysctl kernel.perf_event_paranoid=1".to_string();
        let sets = vec![records("context switches", Role::Switches, true)];
        return Switches { source, sets, sums: None, note: Some(note(source, "", fix)) };
    }
    if let Ok((set, sums)) = kernel_sums(plan, root) {
        return Switches { source: WaitSource::KernelSums, sets: vec![set], sums: Some(sums), note: None };
    }
    let records = records("context switches", Role::Switches, false);
    match tracepoints(method, root) {
        Ok(mut sets) => {
            sets.push(records);
            Switches { source: WaitSource::Tracepoints, sets, sums: None, note: None }
        }
        Err(error) => {
            let source = WaitSource::SwitchEvents;
            let why = format!(" ({error})");
            let fix = error.remedy().unwrap_or("Run as root.").to_string();
            let sets = vec![switch_event(method), records];
            Switches { source, sets, sums: None, note: Some(note(source, &why, fix)) }
        }
    }
}

fn note(source: WaitSource, why: &str, fix: String) -> Note {
    Note {
        topic: "wait-source".to_string(),
        text: format!("Waits come from {}; {}{why}.", source.text(), source.blind_spot()),
        fix: Some(fix),
    }
}

/// The programs that sum waits in the kernel, and the event that they write to on each CPU. They tell processes apart,
/// but neither single threads nor control groups.
fn kernel_sums(plan: &Plan, root: &Path) -> io::Result<(EventGroup, WaitSums)> {
    let filter = match &plan.target {
        Target::Command { .. } => Some(ProcessFilter::open(true, root)?),
        Target::Processes { children, .. } => Some(ProcessFilter::open(*children, root)?),
        Target::Cpus { cpus } if cpus.is_empty() => None,
        Target::Threads { .. } | Target::Cgroup { .. } | Target::Cpus { .. } => {
            return Err(io::ErrorKind::Unsupported.into());
        }
    };
    let layout = Layout { raw: true, ..leaving(plan.call_graph) };
    let event = (event::SOFTWARE, bpf::OUTPUT);
    let set = every(event, layout, Role::Waits, "waits", true);
    let allowed = set.requests.iter().try_for_each(|request| event::open(request, &[], Place::Cpu(0)).map(drop));
    allowed?;
    let in_kernel = plan.latency.as_ref().is_some_and(LatencySpec::is_in_kernel);
    let calls = if in_kernel { Some(OpenCalls::create()?) } else { None };
    Ok((set, WaitSums::open(filter, calls, root)?))
}

/// Events for leaving the CPU (with the stack) and for being woken.
fn tracepoints(method: CallGraph, root: &Path) -> Result<Vec<EventGroup>> {
    let switch = Format::open(root, "sched", "sched_switch")?;
    let waking = Format::open(root, "sched", "sched_waking")?;
    let mut leaving = leaving(method);
    leaving.raw = true;
    let woken = Layout { raw: true, ..Layout::default() };
    let set = |name: &str, format: &Format, role, layout, everywhere| {
        every((event::TRACEPOINT, format.id), layout, role, name, everywhere)
    };
    let sets = vec![
        set("sched:sched_switch", &switch, Role::Leaves(Some(switch.field("prev_state")?)), leaving, false),
        set("sched:sched_waking", &waking, Role::Wakes(waking.field("pid")?), woken, true),
    ];
    for set in &sets {
        let place = if set.everywhere { Place::Cpu(0) } else { Place::Task { tid: 0, cpu: None } };
        let opened = set.requests.first().map(|request| event::open(request, &[], place));
        if let Some(Err(error)) = opened
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let text = format!("the kernel refused {} to this user", set.name);
            return Err(Error::new(ErrorKind::NotPermitted, text).hint("Run as root."));
        }
    }
    Ok(sets)
}

/// The event for leaving the CPU, with the stack; only the switch records contain the state.
fn switch_event(method: CallGraph) -> EventGroup {
    let event = (event::SOFTWARE, event::CONTEXT_SWITCHES);
    every(event, leaving(method), Role::Leaves(None), "context-switches", false)
}

fn every((pmu, config): (u32, u64), layout: Layout, role: Role, name: &str, everywhere: bool) -> EventGroup {
    let mut request = Request::counting(pmu, [config, 0, 0]);
    request.rate = Some(Rate::Period(1));
    request.layout = layout;
    EventGroup { requests: vec![request], roles: vec![role], name: name.to_string(), everywhere, cpus: vec![] }
}

/// Sample layout for a thread that leaves the CPU.
fn leaving(method: CallGraph) -> Layout {
    let mut leaving = layout(method, false);
    // A switch is not a sampled branch.
    leaving.branches = false;
    leaving.chain |= method == CallGraph::Lbr;
    leaving.stack_bytes = leaving.stack_bytes.min(STACK_BYTES);
    leaving
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tracefs_switches_are_sampled_and_without_the_kernel_recorded() {
        let Ok(root) = tempfile::tempdir() else { panic!("no temporary directory") };
        for (exclude_kernel, source, sets, word) in [
            (false, WaitSource::SwitchEvents, 2, "mount -t tracefs"),
            (true, WaitSource::SwitchRecords, 1, "perf_event_paranoid=1"),
        ] {
            let target = Target::Processes { pids: vec![1], children: false };
            let plan = Plan::new(target, Rate::Frequency(997), CallGraph::Auto);
            let chosen = choose(&plan, exclude_kernel, root.path());
            assert_eq!((chosen.source, chosen.sets.len()), (source, sets));
            let note = chosen.note.unwrap_or_else(|| panic!("{source:?} says nothing"));
            assert!(note.fix.is_some_and(|fix| fix.contains(word)) && note.text.contains("wake-ups"), "{}", note.text);
        }
    }
}
