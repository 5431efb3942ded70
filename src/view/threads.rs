//! View model: the threads, how each spent its time, and the target's share of every CPU.

use super::cgroup_tree::CgroupTree;
use super::context::ViewContext;
use super::cpu_shares::CpuShares;
use super::line_counters;
use super::overview::past::past;
use super::query::LineKey;
pub(crate) use super::thread_groups::group_and_inside;
use super::thread_groups::{Groups, SampledTimes};
pub use super::thread_lines::{CpuLine, ThreadLine, WaitLine};
use crate::analysis::{Cause, Cgroups, ThreadRow, Window, blocked_paths, threads, waits_by_thread};
use crate::model::Scope;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Points of a thread's history.
const POINTS: usize = 24;
/// Call paths listed for one thread.
const PATHS: usize = 12;

/// The threads view.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ThreadsView {
    /// What a line stands for.
    pub by: LineKey,
    /// The lines: threads, most CPU time first, or what they are put together by.
    pub threads: Vec<ThreadLine>,
    /// The known CPUs of the machine, by number.
    pub cpus: Vec<CpuLine>,
    /// What [`CpuLine::share`] is a share of.
    pub cpu_share_of: &'static str,
    /// Whether waits were recorded, so that blocked time has causes.
    pub has_waits: bool,
    /// Where the threads of the requested line waited longest.
    pub paths: Vec<PathLine>,
}

/// A call path that waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathLine {
    /// The cause in words.
    pub cause: &'static str,
    /// Functions of the program, innermost first.
    pub frames: Vec<String>,
    /// Number of waits.
    pub count: u64,
    /// Total time, seconds.
    pub total_s: f64,
}

impl ThreadsView {
    /// The lines of a view context, with the waits of the requested one.
    #[must_use]
    pub fn of(context: &ViewContext<'_>, by: LineKey, detail: Option<u32>) -> ThreadsView {
        let ViewContext { profile, selection, window, tasks, names, counters, .. } = context;
        let rows = threads(tasks, counters, context.counts(), *window);
        let before = context.reference.as_deref().map(|past| {
            let rows = threads(&past.tasks, &past.counters, past.counts(), past.window);
            rows.into_iter().map(|row| (row.task.tid, row.utilisation())).collect::<FxHashMap<_, _>>()
        });
        let waits = waits_by_thread(profile, names, tasks, selection);
        let shares_of_cpus = CpuShares::of(context);
        let windows = windows(context);
        let line = |row: &ThreadRow| {
            let tid = row.task.tid;
            let cpu = shares_of_cpus.last.get(&tid).copied();
            let change =
                before.as_ref().and_then(|before| Some(row.utilisation().value()? - before.get(&tid)?.value()?));
            ThreadLine {
                waits: shares(waits.get(&tid).map_or(&[][..], Vec::as_slice), row.lifetime),
                process: tasks.process_name(row.task.pid).to_string(),
                node: cpu
                    .and_then(|cpu| profile.meta.host.cpus.iter().find(|place| place.cpu == cpu))
                    .map(|place| place.node),
                cpu,
                history: history(context, tid, &windows),
                change,
                ..ThreadLine::plain(row, window.to)
            }
        };
        let sampled = SampledTimes::of(context, &shares_of_cpus);
        let lines = rows.iter().map(|row| (row.lifetime, sampled.complete(line(row), row.lifetime))).collect();
        let cgroups = if by == LineKey::Cgroup { Cgroups::of(profile) } else { Cgroups::default() };
        let groups = Groups { context, tree: CgroupTree::of(&cgroups), cgroups, by };
        let wanted = detail.and_then(|number| groups.selection(number));
        let paths = wanted.map(|one| blocked_paths(profile, names, tasks, &one)).unwrap_or_default();
        let mut threads = match by {
            LineKey::Cpu => shares_of_cpus.lines(context),
            _ => groups.lines(lines),
        };
        line_counters::complete(&mut threads, &groups);
        ThreadsView {
            by,
            threads,
            cpus: shares_of_cpus.cpus(context),
            cpu_share_of: if shares_of_cpus.timed { "of its time" } else { "of the samples" },
            has_waits: profile.meta.plan.off_cpu || !profile.off_cpu.is_empty(),
            paths: paths
                .into_iter()
                .take(PATHS)
                .map(|path| PathLine {
                    cause: path.cause.label(),
                    frames: path.frames,
                    count: path.count,
                    total_s: path.total.seconds(),
                })
                .collect(),
        }
    }
}

fn shares(waits: &[(Cause, Nanos)], life: Nanos) -> Vec<WaitLine> {
    let share = |(cause, total): &(Cause, Nanos)| WaitLine {
        cause: cause.label(),
        share: (total.as_f64() / life.as_f64().max(1.0)).min(1.0),
    };
    waits.iter().map(share).collect()
}

/// The last windows of the selected time.
fn windows(context: &ViewContext<'_>) -> Vec<Window> {
    let all = past(context);
    all.iter().skip(all.len().saturating_sub(POINTS)).map(|context| context.window).collect()
}

fn history(context: &ViewContext<'_>, tid: u32, windows: &[Window]) -> Vec<Option<f64>> {
    let share = |window: &Window| {
        let cpu = context.counters.delta("task-clock", Scope::Thread(tid), *window);
        cpu.value().map(|ns| ns / window.span().as_f64().max(1.0))
    };
    windows.iter().map(share).collect()
}
