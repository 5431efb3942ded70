//! The threads and processes of a selection with their activity. A thread that was born and exited between two readings
//! still appears, by its samples alone.

use super::counters::Counters;
use super::stack_counts::StackCounts;
use super::tasks::{Task, Tasks};
use super::time::Window;
use crate::model::{Measure, Scope};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// A thread in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadRow {
    /// The thread.
    pub task: Task,
    /// Its lifetime within the window.
    pub lifetime: Nanos,
    /// Samples on the selection's axis.
    pub samples: u64,
    /// Their weight.
    pub weight: u64,
    /// CPU time, seconds.
    pub cpu_time: Measure<f64>,
    /// Time runnable but waiting for a CPU, seconds.
    pub run_delay: Measure<f64>,
    /// Context switches because it blocked.
    pub voluntary: Measure<f64>,
    /// Context switches because it was preempted.
    pub involuntary: Measure<f64>,
    /// Migrations to another CPU.
    pub migrations: Measure<f64>,
    /// Instructions per cycle, where counted per thread.
    pub ipc: Measure<f64>,
}

/// A process: its threads together.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRow {
    /// Process id.
    pub pid: u32,
    /// Its first thread's name.
    pub comm: String,
    /// Threads seen in the selection.
    pub threads: u64,
    /// Samples.
    pub samples: u64,
    /// Their weight.
    pub weight: u64,
    /// CPU time of the threads that were read, seconds.
    pub cpu_time: Measure<f64>,
}

/// The selected threads that were alive in the window, most CPU time first (most samples where it is unknown).
#[must_use]
pub fn threads(tasks: &Tasks, counters: &Counters, counts: &StackCounts, window: Window) -> Vec<ThreadRow> {
    let sums = counts.by_thread();
    let mut rows: Vec<_> = tasks
        .iter()
        .filter(|task| counts.who.has(task.tid))
        .filter_map(|task| {
            let lifetime = lifetime(task, counters, window);
            let sum = sums.get(&task.tid).copied();
            (sum.is_some() || lifetime.0 > 0).then(|| row(task, lifetime, sum.unwrap_or_default(), counters, window))
        })
        .collect();
    let key = |row: &ThreadRow| (row.cpu_time.value().copied().unwrap_or(-1.0), row.samples);
    rows.sort_by(|a, b| {
        let (cpu_a, samples_a) = key(a);
        let (cpu_b, samples_b) = key(b);
        cpu_b.total_cmp(&cpu_a).then(samples_b.cmp(&samples_a)).then(a.task.tid.cmp(&b.task.tid))
    });
    rows
}

/// A thread that no record mentions counts as alive throughout.
fn lifetime(task: &Task, counters: &Counters, window: Window) -> Nanos {
    let born = task.born.unwrap_or_default();
    let told = window.range().overlap(born, task.ended.unwrap_or(Nanos(u64::MAX)) - born);
    counters.delta("thread-time", Scope::Thread(task.tid), window).value().map_or(told, |time| Nanos(*time as u64))
}

fn row(task: &Task, lifetime: Nanos, (samples, weight): (u64, u64), counters: &Counters, window: Window) -> ThreadRow {
    let delta = |name| counters.delta(name, Scope::Thread(task.tid), window);
    let seconds = |name| delta(name).map(|ns| ns * 1e-9);
    ThreadRow {
        task: task.clone(),
        lifetime,
        samples,
        weight,
        cpu_time: seconds("task-clock"),
        run_delay: seconds("run-delay"),
        voluntary: delta("voluntary-switches"),
        involuntary: delta("involuntary-switches"),
        migrations: delta("migrations"),
        // Both are counted in one group, or neither.
        ipc: delta("instructions").ratio(delta("cycles"), |work, cycles| (cycles > 0.0).then(|| work / cycles)),
    }
}

impl ThreadRow {
    /// CPU time over its lifetime in the window, 0 to 1: the life of a short thread is known to a clock tick only.
    #[must_use]
    pub fn utilisation(&self) -> Measure<f64> {
        let lifetime = Measure::exact(self.lifetime.seconds());
        self.cpu_time.ratio(lifetime, |cpu, life| (life > 0.0).then(|| (cpu / life).min(1.0)))
    }

    /// Time waiting for a CPU over its lifetime in the window, 0 to 1.
    #[must_use]
    pub fn queued(&self) -> Measure<f64> {
        let lifetime = Measure::exact(self.lifetime.seconds());
        self.run_delay.ratio(lifetime, |delay, life| (life > 0.0).then(|| delay / life))
    }
}

/// Sums threads up by process, most CPU time first.
#[must_use]
pub fn processes(tasks: &Tasks, threads: &[ThreadRow]) -> Vec<ProcessRow> {
    let mut by_pid: BTreeMap<u32, ProcessRow> = BTreeMap::new();
    for thread in threads {
        let pid = thread.task.pid;
        let row = by_pid.entry(pid).or_insert_with(|| ProcessRow {
            pid,
            comm: tasks.process_name(pid).to_string(),
            threads: 0,
            samples: 0,
            weight: 0,
            cpu_time: thread.cpu_time.map(|_| 0.0),
        });
        row.threads += 1;
        row.samples += thread.samples;
        row.weight = row.weight.saturating_add(thread.weight);
        row.cpu_time = match (row.cpu_time, thread.cpu_time) {
            (sum, Measure::Missing(_)) => sum,
            (Measure::Missing(_), known) => known,
            (sum, known) => sum.ratio(known, |a, b| Some(a + b)),
        };
    }
    let mut rows: Vec<_> = by_pid.into_values().collect();
    let cpu = |row: &ProcessRow| row.cpu_time.value().copied().unwrap_or(-1.0);
    rows.sort_by(|a, b| cpu(b).total_cmp(&cpu(a)).then(b.samples.cmp(&a.samples)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Selection;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{TaskChange, Why};

    #[test]
    fn a_thread_too_short_to_be_read_still_shows_by_its_samples() {
        let mut synthetic = Synthetic::new();
        let born = TaskChange::Born { parent: 41, comm: "brief".to_string() };
        synthetic.alive(41, "main").task(100, 41, 42, born).task(110, 41, 42, TaskChange::Ended);
        synthetic.samples(0, 41, "a!b", 3).samples(105, 42, "a!b", 2);
        synthetic.reading("task-clock", Scope::Thread(41), 1000, ms(500).0);
        let profile = synthetic.finish();
        let (tasks, counters) = (Tasks::of(&profile), Counters::of(&profile));
        let window = Window { from: ms(0), to: ms(1000) };
        let rows = threads(&tasks, &counters, &StackCounts::of(&profile, &tasks, &Selection::default()), window);
        let seen: Vec<_> =
            rows.iter().map(|row| (row.task.tid, row.samples, row.lifetime, row.utilisation())).collect();
        let expected = [(41, 3, ms(1000), Measure::exact(0.5)), (42, 2, ms(10), Measure::Missing(Why::TargetGone))];
        assert_eq!(seen, expected);
        let processes = processes(&tasks, &rows);
        assert_eq!((processes.len(), processes[0].threads, processes[0].cpu_time), (1, 2, Measure::exact(0.5)));
    }

    #[test]
    fn a_thread_that_was_not_alive_in_the_window_is_left_out() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "early").task(100, 41, 42, TaskChange::Ended);
        let profile = synthetic.finish();
        let window = Window { from: ms(500), to: ms(1000) };
        let tasks = Tasks::of(&profile);
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let rows = threads(&tasks, &Counters::of(&profile), &counts, window);
        assert_eq!(rows.iter().map(|row| row.task.tid).collect::<Vec<_>>(), [41]);
    }
}
