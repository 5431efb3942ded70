//! Threads that hardly ran: a pool that nobody uses, a main thread that waits for the end. They are no workers, so shares,
//! balance and utilisation leave them out.

use super::threads::ThreadRow;
use rustc_hash::FxHashSet;

/// Part of the busiest thread's CPU time up to which a thread hardly ran: starting it may take as much. [P]
const PARTS: [f64; 2] = [0.01, 0.001];
/// Part of all CPU time up to which threads that hardly ran may have run together: many that work a little are workers. [P]
const TOGETHER: f64 = 0.05;
/// Times that a thread wakes per second up to which it looks at a timer, and serves nobody. [P]
const WAKES: f64 = 20.0;

/// The ids of the threads that hardly ran and hardly woke. Threads whose CPU time is unknown are none of them.
#[must_use]
pub(super) fn parked(threads: &[ThreadRow]) -> FxHashSet<u32> {
    let known = || threads.iter().filter_map(|row| Some((row, *row.cpu_time.value()?)));
    let most = known().map(|(_, cpu)| cpu).fold(0.0, f64::max);
    let all: f64 = known().map(|(_, cpu)| cpu).sum();
    let hardly = |part: f64| {
        let few = known().filter(move |(row, cpu)| *cpu <= most * part && hardly_woke(row));
        few.collect::<Vec<_>>()
    };
    let together = |rows: &Vec<(&ThreadRow, f64)>| rows.iter().map(|(_, cpu)| cpu).sum::<f64>() <= all * TOGETHER;
    let rows = PARTS.into_iter().map(hardly).find(together).unwrap_or_default();
    rows.into_iter().filter(|_| most > 0.0).map(|(row, _)| row.task.tid).collect()
}

fn hardly_woke(row: &ThreadRow) -> bool {
    row.voluntary.value().is_none_or(|wakes| *wakes <= WAKES * row.lifetime.seconds().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::{Counters, Selection, StackCounts, Tasks, Window, threads};
    use crate::model::Scope;

    /// The threads among these that hardly ran, given their CPU time in ms and their wake-ups in ten seconds.
    fn of(rows: &[(u32, u64, u64)]) -> Vec<u32> {
        let mut synthetic = Synthetic::new();
        for (tid, cpu, wakes) in rows {
            synthetic.alive(*tid, "thread");
            synthetic.reading("task-clock", Scope::Thread(*tid), 10_000, ms(*cpu).0);
            synthetic.reading("voluntary-switches", Scope::Thread(*tid), 10_000, *wakes);
        }
        let profile = synthetic.finish();
        let tasks = Tasks::of(&profile);
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let window = Window { from: ms(0), to: ms(10_000) };
        let mut found: Vec<u32> =
            parked(&threads(&tasks, &Counters::of(&profile), &counts, window)).into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn threads_that_sleep_throughout_are_parked_and_those_that_serve_are_not() {
        assert_eq!(of(&[(41, 9_000, 10), (42, 20, 3), (43, 0, 1), (44, 500, 3)]), [42, 43]);
        assert_eq!(
            of(&[(41, 9_000, 10), (42, 20, 40_000)]),
            Vec::<u32>::new(),
            "woken all the time, with little to do"
        );
        assert_eq!(of(&[(41, 0, 10), (42, 0, 3)]), Vec::<u32>::new(), "nobody ran");
    }

    #[test]
    fn many_threads_that_work_a_little_are_workers() {
        let mut rows = vec![(41, 9_000, 10)];
        rows.extend((100..150).map(|tid| (tid, 80, 100)));
        assert!(of(&rows).is_empty());
        rows.push((42, 1, 1));
        assert_eq!(of(&rows), [42]);
    }
}
