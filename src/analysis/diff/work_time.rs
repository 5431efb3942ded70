//! The time of an operation of a program that sleeps: its CPU time and its waits. Time in which threads have no work is
//! no part of an operation, and the less work there is, the more of it there is.

use super::digest::Side;
use crate::analysis::Cause;
use crate::analysis::law::log_mean;
use crate::analysis::sweep::{Run, Split};
use crate::analysis::{LawFactor, Slowdown};

/// Share of the threads' time without work from which on utilisation says more about load than about operations.
const SLEEPS: f64 = 0.5;

/// A part of the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePart {
    /// CPU time, or one of its factors.
    Running(LawFactor),
    /// Runnable without a CPU.
    RunQueue,
    /// Stopped by the quota of its control group.
    Throttled,
    /// Waiting for storage.
    Storage,
    /// Waiting for a lock.
    Lock,
}

/// One part on both sides, seconds per operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartTime {
    /// Which.
    pub part: TimePart,
    /// On both sides; `None` for a factor of the CPU time.
    pub seconds: Option<[f64; 2]>,
    /// Its part of the difference; all parts add up to the difference of the whole.
    pub difference: f64,
}

/// The time of an operation without sleep.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkTime {
    /// Seconds per operation on both sides.
    pub seconds: [f64; 2],
    /// Share of the threads' time without work on both sides.
    pub asleep: [f64; 2],
    /// What it consists of.
    pub parts: Vec<PartTime>,
}

/// The waits that are known where off-CPU time was recorded, besides those that the scheduler counts.
const BLOCKED: [(TimePart, Cause); 2] = [(TimePart::Storage, Cause::BlockIo), (TimePart::Lock, Cause::Lock)];

impl WorkTime {
    /// The time per operation if the program sleeps on a side; `None` if it does not, or if its waits were not counted.
    #[must_use]
    pub fn of(base: &Side, new: &Side, slowdown: &Slowdown) -> Option<WorkTime> {
        let sides = [base, new];
        let cpu = pair(sides.map(|side| per_op(side, |run| run.totals.cpu.value().copied())))?;
        let mut waits = vec![(TimePart::RunQueue, pair(sides.map(|side| of_split(side, |split| &split.queued)))?)];
        let throttled = pair(sides.map(|side| of_split(side, |split| &split.throttled)));
        waits.extend(throttled.map(|times| (TimePart::Throttled, times)));
        if sides.iter().all(|side| side.runs.iter().all(|run| run.run.blocked.is_some())) {
            waits.extend(BLOCKED.into_iter().filter_map(|(part, cause)| {
                Some((part, pair(sides.map(|side| per_op(side, |run| Some(blocked(&run.split, cause)))))?))
            }));
        }
        let whole = |at: usize| cpu[at] + waits.iter().map(|(_, times)| times[at]).sum::<f64>();
        let seconds = [whole(0), whole(1)];
        let threads = pair(sides.map(|side| per_op(side, |run| run.totals.threads.value().copied())))?;
        let asleep = [0, 1].map(|at: usize| (1.0 - seconds[at] / threads[at]).clamp(0.0, 1.0));
        let sleeps = asleep.iter().any(|share| *share > SLEEPS);
        let unit = log_mean(cpu[1], cpu[0]).filter(|_| sleeps)?;
        let running = slowdown.parts.iter().filter(|part| part.factor != LawFactor::Utilisation).map(|part| PartTime {
            part: TimePart::Running(part.factor),
            seconds: None,
            difference: unit * part.ratio.ln(),
        });
        let waiting = waits.into_iter().filter(|(_, times)| *times != [0.0; 2]).map(|(part, times)| PartTime {
            part,
            seconds: Some(times),
            difference: times[1] - times[0],
        });
        Some(WorkTime { seconds, asleep, parts: running.chain(waiting).collect() })
    }
}

fn pair([base, new]: [Option<f64>; 2]) -> Option<[f64; 2]> {
    Some([base?, new?])
}

/// A time of all runs together over their operations; `None` if a run lacks either.
fn per_op(side: &Side, of: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    let sum = |of: &dyn Fn(&Run) -> Option<f64>| side.runs.iter().map(|run| of(&run.run)).sum::<Option<f64>>();
    let value = sum(&of)? / sum(&|run| run.totals.ops.value().copied())?;
    Some(value).filter(|value| value.is_finite() && *value >= 0.0)
}

fn of_split(side: &Side, of: fn(&Split) -> &crate::model::Measure<f64>) -> Option<f64> {
    per_op(side, |run| of(&run.split).value().copied())
}

fn blocked(split: &Split, cause: Cause) -> f64 {
    split.blocked.iter().filter(|(known, _)| *known == cause).map(|(_, seconds)| seconds).sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::side;
    use super::super::{Comparison, Settings};
    use super::*;
    use crate::model::Measure;

    /// A side whose threads run and wait for this many seconds in all, of 160 s that four of them have.
    fn working(cpu: f64, queued: f64, lock: Option<f64>) -> Side {
        let mut side = side(&[5000.0]);
        let run = &mut side.runs[0].run;
        (run.totals.ops, run.totals.cpu) = (Measure::exact(1e6), Measure::exact(cpu));
        (run.split.queued, run.split.throttled) = (Measure::exact(queued), Measure::exact(0.0));
        run.split.blocked = lock.map(|seconds| (Cause::Lock, seconds)).into_iter().collect();
        run.blocked = lock.map(|_| Default::default());
        side
    }

    fn work(base: &Side, new: &Side) -> Option<WorkTime> {
        Comparison::of(base, new, &Settings::default()).factors.work
    }

    #[test]
    fn a_program_that_sleeps_is_compared_by_its_cpu_time_and_its_waits() {
        let found = work(&working(16.0, 2.0, None), &working(16.0, 8.0, None)).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(found.seconds[0], 18e-6) && close(found.seconds[1], 24e-6), "{found:?}");
        assert!(close(found.asleep[0], 1.0 - 18.0 / 160.0), "{found:?}");
        let queue = found.parts.iter().find(|part| part.part == TimePart::RunQueue).unwrap();
        assert!(close(queue.difference, 6e-6) && queue.seconds.is_some_and(|times| close(times[0], 2e-6)), "{queue:?}");
        let sum: f64 = found.parts.iter().map(|part| part.difference).sum();
        assert!(close(sum, 6e-6), "{found:?}");
        // Waits for locks are known by their stacks.
        let found = work(&working(16.0, 2.0, Some(1.0)), &working(20.0, 2.0, Some(9.0))).unwrap();
        let parts: Vec<TimePart> = found.parts.iter().map(|part| part.part).collect();
        assert_eq!(parts, [TimePart::Running(LawFactor::CpuTime), TimePart::RunQueue, TimePart::Lock]);
        assert!(close(found.parts[2].difference, 8e-6) && close(found.parts[0].difference, 4e-6), "{found:?}");
    }

    #[test]
    fn where_threads_work_most_of_the_time_utilisation_says_what_they_lost() {
        assert_eq!(work(&working(120.0, 2.0, None), &working(100.0, 30.0, None)), None);
        let mut unknown = working(16.0, 2.0, None);
        unknown.runs[0].run.split.queued = Measure::Missing(crate::model::Why::NotRecorded);
        assert_eq!(work(&unknown, &working(16.0, 8.0, None)), None);
    }
}
