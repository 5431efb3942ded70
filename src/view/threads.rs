//! View model: the threads, how each spent its time, and the target's share of every CPU.

use super::context::ViewContext;
use super::overview::past::past;
use super::query::LineKey;
use super::thread_groups::{Groups, SampledTimes, seconds_of_weight};
use crate::analysis::{Axis, Cause, Cgroups, ThreadRow, Window, blocked_paths, remainder, threads, waits_by_thread};
use crate::model::{Measure, Scope, Unit, Why};
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

/// A thread, or several of one process or control group, or a CPU. A thread's shares are of its lifetime within the
/// window; others' are sums over their threads, in units of one CPU's time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadLine {
    /// Thread id; of other lines, the process's id, the group's number or the CPU's.
    pub tid: u32,
    /// Process id.
    pub pid: u32,
    /// Number of threads.
    pub threads: u64,
    /// Its name.
    pub name: String,
    /// Its process's name.
    pub process: String,
    /// Whether it was alive at the window's end.
    pub alive: bool,
    /// Share of its time on a CPU.
    pub running: Measure<f64>,
    /// Share of its time waiting for a CPU.
    pub queued: Measure<f64>,
    /// Share of its time blocked: the remainder.
    pub blocked: Measure<f64>,
    /// Instructions per cycle.
    pub ipc: Measure<f64>,
    /// Share of its time blocked on each cause, largest first.
    pub waits: Vec<WaitLine>,
    /// Context switches because it blocked, per second.
    pub voluntary: Measure<f64>,
    /// Context switches because it was preempted, per second.
    pub involuntary: Measure<f64>,
    /// Migrations to another CPU, per second.
    pub migrations: Measure<f64>,
    /// The CPU of its last sample.
    pub cpu: Option<u32>,
    /// That CPU's NUMA node.
    pub node: Option<u32>,
    /// Samples.
    pub samples: u64,
    /// Share of a CPU over time, oldest first.
    pub history: Vec<Option<f64>>,
    /// Change of the running share; `None` without a comparison.
    pub change: Option<f64>,
}

/// A cause of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaitLine {
    /// The cause in words.
    pub cause: &'static str,
    /// Share of the thread's time.
    pub share: f64,
}

/// A CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuLine {
    /// Its number.
    pub cpu: u32,
    /// Its core within the package.
    pub core: u32,
    /// Its package.
    pub package: u32,
    /// Its NUMA node.
    pub node: u32,
    /// The target's share of it, sampled; see [`ThreadsView::cpu_share_of`].
    pub share: f64,
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
        let groups = Groups { context, cgroups: Cgroups::of(profile), by };
        let wanted = detail.and_then(|number| groups.selection(number));
        let paths = wanted.map(|one| blocked_paths(profile, names, tasks, &one)).unwrap_or_default();
        ThreadsView {
            by,
            threads: match by {
                LineKey::Cpu => shares_of_cpus.lines(context),
                _ => groups.lines(lines),
            },
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

/// Assumed length of a wait for a CPU. A row does not count the waits; this is a long one on a busy machine.
const LONG_WAIT: Nanos = Nanos(20_000_000);

impl ThreadLine {
    /// A line that nothing is known of yet.
    pub(super) fn empty(number: u32, name: String) -> ThreadLine {
        let missing = Measure::Missing(Why::NotRecorded);
        ThreadLine {
            tid: number,
            pid: number,
            threads: 0,
            process: name.clone(),
            name,
            alive: true,
            running: missing,
            queued: missing,
            blocked: missing,
            ipc: missing,
            waits: Vec::new(),
            voluntary: missing,
            involuntary: missing,
            migrations: missing,
            cpu: None,
            node: None,
            samples: 0,
            history: Vec::new(),
            change: None,
        }
    }

    fn plain(row: &ThreadRow, end: Nanos) -> ThreadLine {
        let life = row.lifetime.seconds();
        let per_second =
            |count: Measure<f64>| count.ratio(Measure::exact(life), |count, life| (life > 0.0).then(|| count / life));
        let (running, queued) = (row.utilisation(), row.queued());
        ThreadLine {
            tid: row.task.tid,
            pid: row.task.pid,
            threads: 1,
            name: row.task.comm.clone(),
            process: String::new(),
            alive: row.task.ended.is_none_or(|at| at >= end),
            running,
            queued,
            blocked: remainder(
                running.ratio(queued, |running, queued| Some(running + queued)),
                row.lifetime,
                LONG_WAIT,
            ),
            ipc: row.ipc,
            waits: Vec::new(),
            voluntary: per_second(row.voluntary),
            involuntary: per_second(row.involuntary),
            migrations: per_second(row.migrations),
            cpu: None,
            node: None,
            samples: row.samples,
            history: Vec::new(),
            change: None,
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

/// The CPUs on which samples were taken.
pub(super) struct CpuShares {
    /// Weight and number of the samples on each CPU.
    by_cpu: FxHashMap<u32, (u64, u64)>,
    /// The weight of each thread's samples.
    pub(super) by_thread: FxHashMap<u32, u64>,
    last: FxHashMap<u32, u32>,
    pub(super) total: u64,
    /// Whether weights are time, so that they are comparable with a CPU's time.
    pub(super) timed: bool,
}

impl CpuShares {
    fn of(context: &ViewContext<'_>) -> CpuShares {
        let (profile, selection) = (context.profile, &context.selection);
        // Waits have no CPU, so the first event shows where threads ran.
        let event = if let Axis::Event(event) = selection.axis { event } else { 0 };
        let unit = profile.meta.events.get(usize::from(event)).map(|event| event.unit);
        let mut shares_of_cpus = CpuShares {
            by_cpu: FxHashMap::default(),
            by_thread: FxHashMap::default(),
            last: FxHashMap::default(),
            total: 0,
            timed: unit == Some(Unit::Nanos),
        };
        let who = selection.who(&context.tasks);
        let all = &profile.samples;
        let on = |cpu: u32| selection.cpus.is_empty() || selection.cpus.contains(&cpu);
        let chosen = |at: &usize| {
            all.event[*at] == event && selection.time.contains(all.at[*at]) && who.has(all.tid[*at]) && on(all.cpu[*at])
        };
        for at in (0..all.len()).filter(chosen) {
            let (weight, samples) = shares_of_cpus.by_cpu.entry(all.cpu[at]).or_default();
            (*weight, *samples) = (weight.saturating_add(all.weight[at]), *samples + 1);
            let weight = shares_of_cpus.by_thread.entry(all.tid[at]).or_default();
            *weight = weight.saturating_add(all.weight[at]);
            shares_of_cpus.last.insert(all.tid[at], all.cpu[at]);
            shares_of_cpus.total = shares_of_cpus.total.saturating_add(all.weight[at]);
        }
        shares_of_cpus
    }

    /// A line for each CPU, most time first. Waits have no CPU, and counters are read for all of them together.
    fn lines(&self, context: &ViewContext<'_>) -> Vec<ThreadLine> {
        let span = context.selection.time.to.unwrap_or(context.bounds.now) - context.selection.time.from;
        let seconds = seconds_of_weight(context, self);
        let line = |cpu: CpuLine| {
            let (weight, samples) = self.by_cpu.get(&cpu.cpu).copied().unwrap_or_default();
            let running = seconds.map(|each| weight as f64 * each / span.seconds().max(1e-9));
            let (cpu, node) = (cpu.cpu, Some(cpu.node));
            ThreadLine { running, samples, node, ..ThreadLine::empty(cpu, format!("CPU {cpu}")) }
        };
        let mut lines: Vec<ThreadLine> = self.cpus(context).into_iter().map(line).collect();
        lines.sort_by(|a, b| b.samples.cmp(&a.samples).then(a.tid.cmp(&b.tid)));
        lines
    }

    fn cpus(&self, context: &ViewContext<'_>) -> Vec<CpuLine> {
        let time = &context.selection.time;
        let span = time.to.unwrap_or(context.bounds.now) - time.from;
        let whole = if self.timed { span.as_f64() } else { self.total as f64 };
        let places = context.profile.meta.host.cpus.iter();
        places
            .map(|place| CpuLine {
                cpu: place.cpu,
                core: place.core,
                package: place.package,
                node: place.node,
                share: self.by_cpu.get(&place.cpu).map_or(0.0, |(weight, _)| *weight as f64 / whole.max(1.0)),
            })
            .collect()
    }
}
