//! What is known of a control group as a whole, and the instructions per cycle of lines whose threads are not read one by
//! one: from the group's counters, else from samples.

use super::context::ViewContext;
use super::query::LineKey;
use super::thread_groups::{Groups, UNKNOWN};
use super::thread_lines::{ThreadLine, WaitLine};
use crate::analysis::{Axis, CodeIpc, Selection};
use crate::model::Scope;
use std::path::Path;

/// Fills in what is missing.
pub(super) fn complete(lines: &mut [ThreadLine], groups: &Groups<'_, '_>) {
    let Groups { context, tree, by, .. } = groups;
    if *by == LineKey::Cgroup {
        let named = context.profile.meta.plan.target.cgroups();
        for line in lines.iter_mut() {
            let Some(number) = tree.path(line.tid).and_then(|path| position(&named, path)) else { continue };
            let scope = if named.len() == 1 { Scope::Target } else { Scope::Cgroup(number) };
            of_group(line, context, scope);
        }
    }
    from_samples(lines, groups);
}

/// What is known of a control group as a whole. Threads that ended unread count in the group's own clock.
fn of_group(line: &mut ThreadLine, context: &ViewContext<'_>, scope: Scope) {
    let delta = |counter| context.counters.delta(counter, scope, context.window);
    let whole = context.window.span().as_f64().max(1.0);
    let share = |(cause, counter)| Some(WaitLine { cause, share: *delta(counter).value()? / whole });
    let known = [
        ("CPU pressure", "psi-cpu-some"),
        ("memory pressure", "psi-memory-some"),
        ("I/O pressure", "psi-io-some"),
        ("throttled", "cgroup-throttled-time"),
    ];
    line.held_up = known.into_iter().filter_map(share).collect();
    let clock = delta("task-clock");
    if clock.value().is_some() {
        line.running = clock.map(|ns| ns / whole);
    }
    if line.ipc.value().is_none() {
        line.ipc = delta("instructions").ratio(delta("cycles"), |work, cycles| (cycles > 0.0).then(|| work / cycles));
    }
}

/// The instructions per cycle of the lines that have none.
fn from_samples(lines: &mut [ThreadLine], groups: &Groups<'_, '_>) {
    let Groups { context, cgroups, tree, by } = groups;
    let all = &context.profile.samples;
    // Waits have no IPC, but who waits is shown with that of its code.
    let axis = if context.selection.axis == Axis::OffCpu { Axis::Event(0) } else { context.selection.axis };
    let selection = Selection { axis, ..context.selection.clone() };
    let Some(ipc) = CodeIpc::of(context.profile, &context.tasks, &selection) else { return };
    let number = |at: usize| match by {
        LineKey::Thread => all.tid[at],
        LineKey::Process => all.pid[at],
        LineKey::Cpu => all.cpu[at],
        LineKey::Cgroup => cgroups.at(all.pid[at], all.tid[at], all.at[at]).unwrap_or(UNKNOWN),
    };
    // A sample counts for its control group, and for each around that: level by level.
    for level in 0.. {
        if lines.iter().all(|line| line.ipc.value().is_some()) {
            return;
        }
        let found = ipc.by(|at| match by {
            LineKey::Cgroup => tree.on_level(number(at), level),
            _ => Some(number(at)).filter(|_| level == 0),
        });
        if found.keys().all(Option::is_none) {
            return;
        }
        for line in lines.iter_mut().filter(|line| line.ipc.value().is_none()) {
            if let Some(rates) = found.get(&Some(line.tid)) {
                line.ipc = rates.ipc;
            }
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
