//! What is known of a control group as a whole, and the instructions per cycle of lines whose threads are not read one by
//! one: from the group's counters, else from samples.

use super::context::ViewContext;
use super::query::LineKey;
use super::thread_groups::UNKNOWN;
use super::thread_lines::{ThreadLine, WaitLine};
use crate::analysis::{Axis, Cgroups, CodeIpc, Selection};
use crate::model::{Measure, Scope};
use std::path::Path;

/// Fills in what is missing.
pub(super) fn complete(lines: &mut [ThreadLine], context: &ViewContext<'_>, cgroups: &Cgroups<'_>, by: LineKey) {
    let ViewContext { profile, tasks, .. } = context;
    if by == LineKey::Cgroup {
        let groups = profile.meta.plan.target.cgroups();
        for line in lines.iter_mut() {
            let Some(number) = cgroups.path(line.tid).and_then(|path| position(&groups, path)) else { continue };
            let scope = if groups.len() == 1 { Scope::Target } else { Scope::Cgroup(number) };
            line.held_up = held_up(context, scope);
            // Threads that ended unread count in the group's own clock.
            let clock = context.counters.delta("task-clock", scope, context.window);
            if clock.value().is_some() {
                line.running = clock.map(|ns| ns / context.window.span().as_f64().max(1.0));
            }
            if line.ipc.value().is_none() {
                line.ipc = counted(context, scope);
            }
        }
    }
    // Waits have no IPC, but who waits is shown with that of its code.
    let axis = if context.selection.axis == Axis::OffCpu { Axis::Event(0) } else { context.selection.axis };
    let selection = Selection { axis, ..context.selection.clone() };
    let Some(ipc) = CodeIpc::of(profile, tasks, &selection) else { return };
    if lines.iter().all(|line| line.ipc.value().is_some()) {
        return;
    }
    let all = &profile.samples;
    let found = ipc.by(|at| match by {
        LineKey::Thread => all.tid[at],
        LineKey::Process => all.pid[at],
        LineKey::Cpu => all.cpu[at],
        LineKey::Cgroup => cgroups.at(all.pid[at], all.tid[at], all.at[at]).unwrap_or(UNKNOWN),
    });
    for line in lines.iter_mut().filter(|line| line.ipc.value().is_none()) {
        if let Some(rates) = found.get(&line.tid) {
            line.ipc = rates.ipc;
        }
    }
}

/// The position of a control group among those of the target. A path may be the end of another's, which is longer.
fn position(groups: &[(&str, &Path)], path: &str) -> Option<u32> {
    let path = path.trim_start_matches('/');
    let same = groups.iter().enumerate().filter(|(_, (_, group))| !path.is_empty() && group.ends_with(path));
    let (at, _) = same.min_by_key(|(_, (_, group))| group.as_os_str().len())?;
    u32::try_from(at).ok()
}

/// What held a group up: shares of the window.
fn held_up(context: &ViewContext<'_>, scope: Scope) -> Vec<WaitLine> {
    let whole = context.window.span().as_f64().max(1.0);
    let share = |(cause, counter)| {
        let time = *context.counters.delta(counter, scope, context.window).value()?;
        Some(WaitLine { cause, share: time / whole })
    };
    let known = [
        ("CPU pressure", "psi-cpu-some"),
        ("memory pressure", "psi-memory-some"),
        ("I/O pressure", "psi-io-some"),
        ("throttled", "cgroup-throttled-time"),
    ];
    known.into_iter().filter_map(share).collect()
}

fn counted(context: &ViewContext<'_>, scope: Scope) -> Measure<f64> {
    let delta = |counter| context.counters.delta(counter, scope, context.window);
    delta("instructions").ratio(delta("cycles"), |work, cycles| (cycles > 0.0).then(|| work / cycles))
}
