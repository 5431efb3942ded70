//! Why the slowest operations took longer than the others: the mean time of both, split into time on a CPU, time runnable
//! without one, and time blocked by cause. What a part has grown by is its share of the difference.
//!
//! The time blocked and queued is exact for each operation. Its causes are those of the waits that were recorded with their
//! stacks: of long waits all, of short ones a part. What no such wait accounts for stays unseen.
//!
//! A sample stands for the CPU time since the last one, many short operations. It also takes a while itself, so that a short
//! operation in which it falls is often among the slow ones for this reason alone. So the code of slow operations is found
//! by the time that each took on a CPU, split by the samples in it, and not by what the samples stand for.

use super::joined::{JoinedOperation, has_every_wait, joined};
use super::place::{CostKind, Costs, place};
use crate::analysis::causes::Cause;
use crate::analysis::names::Names;
use crate::analysis::operation_latency::Latencies;
use crate::analysis::tasks::Tasks;
use crate::analysis::time::Window;
use crate::model::profile::Profile;
use crate::model::{Measure, Why};
use rustc_hash::FxHashMap;

/// The share of the operations that is not slow: reports explain the slowest one in a hundred.
const SHARES: [f64; 2] = [0.99, 0.9];
/// Operations on either side that it takes to explain the difference.
const FEWEST: usize = 10;
/// Samples in slow operations that it takes to name the code.
const FEWEST_SAMPLES: usize = 5;

/// A part of the time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimePart {
    /// On a CPU, stolen time included.
    OnCpu,
    /// Taken by interrupts of the CPU.
    Interrupted,
    /// Runnable without a CPU.
    Queued,
    /// Runnable, while the control group had used up its CPU quota.
    Throttled,
    /// Blocked.
    Blocked(Cause),
    /// Blocked, in waits too short to be recorded one by one.
    Unseen,
}

/// A part of the time that grew.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowCause {
    /// The part.
    pub part: TimePart,
    /// Its share of what slow operations take longer; the shares add up to 1.
    pub share: f64,
    /// Its mean in slow operations, nanoseconds.
    pub slow: f64,
    /// Its mean in the others.
    pub others: f64,
    /// The functions of the program in which it grew most, innermost first, for time in the kernel led by the kernel's
    /// function; empty if they are not known.
    pub place: Vec<String>,
}

/// The slowest operations compared with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowOperations {
    /// The share of the operations that is faster, 0 to 1.
    pub quantile: f64,
    /// Slow ones take at least as long, nanoseconds.
    pub threshold: f64,
    /// Slow ones that were recorded one by one.
    pub recorded: usize,
    /// Their share of all slow ones.
    pub coverage: f64,
    /// The mean latency of the slow ones, nanoseconds.
    pub slow: f64,
    /// The mean latency of the others.
    pub others: f64,
    /// Mean page faults of slow operations and of the others, without and with a read from storage.
    pub faults: Option<[(f64, f64); 2]>,
    /// What grew, largest share first.
    pub causes: Vec<SlowCause>,
}

/// Explains the slowest operations of the window. `throttled` is the share of the target's time in the run queue in which
/// its control group had used up its quota.
///
/// # Errors
/// Why they cannot be explained.
pub fn slow_operations(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    latencies: &Latencies,
    throttled: f64,
    window: Window,
) -> Result<SlowOperations, Why> {
    if profile.operations.is_empty() {
        return Err(Why::NotRecorded);
    }
    let enough = |share: &f64| latencies.counts.count() as f64 * (1.0 - share) >= FEWEST as f64;
    let quantile = SHARES.into_iter().find(enough).ok_or(Why::TooFewSamples)?;
    let threshold = latencies.counts.quantile(quantile).ok_or(Why::TooFewSamples)?.low;
    let found = joined(profile, names, tasks, window);
    let (slow, others): (Vec<_>, Vec<_>) = found.iter().partition(|it| it.operation.latency >= threshold);
    if slow.len().min(others.len()) < FEWEST {
        return Err(Why::TooFewSamples);
    }
    let every_wait = has_every_wait(profile);
    let slow_times = MeanTimes::of(&slow, every_wait)?;
    let other_times = MeanTimes::of(&others, every_wait)?;
    let all: u64 = latencies.counts.bins().filter(|(bin, _)| bin.low >= threshold).map(|(_, count)| count).sum();
    Ok(SlowOperations {
        quantile,
        threshold: threshold.as_f64(),
        recorded: slow.len(),
        coverage: (slow_times.weight / all.max(1) as f64).min(1.0),
        slow: slow_times.latency,
        others: other_times.latency,
        faults: slow_times.faults.zip(other_times.faults).map(|(slow, others)| [0, 1].map(|at| (slow[at], others[at]))),
        causes: causes(&slow_times, &other_times, throttled.clamp(0.0, 1.0), &|costs, kind| {
            place(profile, names, costs, kind)
        }),
    })
}

/// The mean times of operations, nanoseconds.
#[derive(Debug, Default)]
struct MeanTimes {
    /// How many operations they stand for.
    weight: f64,
    latency: f64,
    blocked: f64,
    queued: f64,
    /// 0 where it is not known: it is part of the time on a CPU then.
    interrupted: f64,
    /// Blocked, by cause: the time, and by stack.
    waits: FxHashMap<Cause, (f64, Costs)>,
    /// What samples stand for, by stack.
    sampled: Costs,
    /// The time on a CPU of operations with samples, by the stacks of these.
    split: Costs,
    samples: usize,
    faults: Option<[f64; 2]>,
}

impl MeanTimes {
    fn of(operations: &[&JoinedOperation], every_wait: bool) -> Result<MeanTimes, Why> {
        let mut sum = MeanTimes { faults: Some([0.0; 2]), ..MeanTimes::default() };
        for it in operations {
            let (blocked, queued) = it.waited(every_wait).ok_or(Why::NotRecorded)?;
            let weight = it.operation.weight as f64;
            sum.weight += weight;
            sum.latency += weight * it.operation.latency.as_f64();
            sum.blocked += weight * blocked as f64;
            sum.queued += weight * queued as f64;
            sum.interrupted += weight * it.operation.interrupted.unwrap_or_default().as_f64();
            for (cause, stack, time) in &it.waits {
                let (all, stacks) = sum.waits.entry(*cause).or_default();
                *all += weight * *time as f64;
                *stacks.entry(*stack).or_default() += weight * *time as f64;
            }
            let interrupted = it.operation.interrupted.unwrap_or_default();
            let waited = blocked.saturating_add(queued).saturating_add(interrupted.0);
            let on_cpu = it.operation.latency.0.saturating_sub(waited) as f64;
            let all = it.samples.iter().map(|(_, count)| *count as f64).sum::<f64>().max(1.0);
            for (stack, count) in &it.samples {
                sum.samples += 1;
                *sum.sampled.entry(*stack).or_default() += weight * *count as f64;
                *sum.split.entry(*stack).or_default() += weight * on_cpu * *count as f64 / all;
            }
            let faults = it.operation.minor_faults.zip(it.operation.major_faults);
            sum.faults = sum
                .faults
                .zip(faults)
                .map(|([minor, major], (more, read))| [minor + weight * more as f64, major + weight * read as f64]);
        }
        sum.divide();
        Ok(sum)
    }

    fn divide(&mut self) {
        let n = self.weight.max(1.0);
        for sum in [&mut self.latency, &mut self.blocked, &mut self.queued, &mut self.interrupted] {
            *sum /= n;
        }
        let waits = self.waits.values_mut().flat_map(|(all, stacks)| std::iter::once(all).chain(stacks.values_mut()));
        waits.chain(self.split.values_mut()).chain(self.faults.iter_mut().flatten()).for_each(|sum| *sum /= n);
    }

    fn on_cpu(&self) -> f64 {
        (self.latency - self.blocked - self.queued - self.interrupted).max(0.0)
    }

    /// The mean time on a CPU by stack, as the samples of all operations have it.
    fn code(&self) -> Costs {
        let all: f64 = self.sampled.values().sum();
        self.sampled.iter().map(|(stack, weight)| (*stack, self.on_cpu() * weight / all.max(1.0))).collect()
    }

    fn wait(&self, cause: Cause) -> f64 {
        self.waits.get(&cause).map_or(0.0, |(time, _)| *time)
    }

    /// Blocked, in waits that were not recorded one by one.
    fn unseen(&self) -> f64 {
        (self.blocked - self.waits.values().map(|(time, _)| time).sum::<f64>()).max(0.0)
    }
}

/// The parts that grew, largest first.
fn causes(
    slow: &MeanTimes,
    others: &MeanTimes,
    throttled: f64,
    place: &dyn Fn(&Costs, CostKind) -> Vec<String>,
) -> Vec<SlowCause> {
    let part = |part, slow: f64, others: f64| SlowCause { part, share: 0.0, slow, others, place: Vec::new() };
    let mut parts = vec![
        part(TimePart::OnCpu, slow.on_cpu(), others.on_cpu()),
        part(TimePart::Interrupted, slow.interrupted, others.interrupted),
        part(TimePart::Queued, slow.queued * (1.0 - throttled), others.queued * (1.0 - throttled)),
        part(TimePart::Throttled, slow.queued * throttled, others.queued * throttled),
        part(TimePart::Unseen, slow.unseen(), others.unseen()),
    ];
    parts.extend(
        slow.waits.iter().map(|(cause, (time, _))| part(TimePart::Blocked(*cause), *time, others.wait(*cause))),
    );
    // A part that shrank does not explain the latency; the other parts grew by that much more.
    parts.retain(|part| part.slow > part.others);
    let all: f64 = parts.iter().map(|part| part.slow - part.others).sum();
    for part in &mut parts {
        part.share = (part.slow - part.others) / all;
        part.place = match part.part {
            TimePart::OnCpu if slow.samples >= FEWEST_SAMPLES => {
                place(&grown(&slow.split, Some(&others.code())), CostKind::Samples)
            }
            TimePart::Blocked(cause) => {
                let before = others.waits.get(&cause).map(|(_, stacks)| stacks);
                place(&grown(&slow.waits[&cause].1, before), CostKind::Waits)
            }
            _ => Vec::new(),
        };
    }
    parts.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.part.cmp(&b.part)));
    parts
}

/// What each stack costs more in slow operations; stacks that cost less are left out.
fn grown(slow: &Costs, others: Option<&Costs>) -> Costs {
    let before = |stack| others.and_then(|others| others.get(stack)).copied().unwrap_or(0.0);
    slow.iter().map(|(stack, cost)| (*stack, cost - before(stack))).filter(|(_, cost)| *cost > 0.0).collect()
}

/// The share of the target's time in the run queue in which its control group had used up its quota: no more than the
/// time it was throttled, 0 if that is not known.
#[must_use]
pub fn throttled_share(throttled_s: Measure<f64>, queued_s: Measure<f64>) -> f64 {
    match (throttled_s.value(), queued_s.value()) {
        (Some(throttled), Some(queued)) if *queued > 0.0 => (throttled / queued).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::operation_latency::latencies;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{LatencyCount, TaskState, TimedOperation};
    use crate::units::Nanos;

    const FUTEX: &str = "app!main;app!serve;libc.so.6!pthread_mutex_lock;[kernel]!futex_wait;[kernel]!schedule";
    const WINDOW: Window = Window { from: Nanos(0), to: Nanos(10_000_000_000) };

    /// Operations of thread 41: `count` of `latency` ms from `at` ms on, one every 40 ms, each blocked and queued for so long.
    fn operations(profile: &mut Profile, at: u64, count: u64, latency: u64, waited: Option<[u64; 2]>) {
        let waited = waited.map(|waited| waited.map(ms));
        profile.operations.extend((0..count).map(|number| TimedOperation {
            at: ms(at + 40 * number),
            pid: 41,
            tid: 41,
            latency: ms(latency),
            blocked: waited.map(|[blocked, _]| blocked),
            queued: waited.map(|[_, queued]| queued),
            interrupted: waited.map(|_| ms(latency / 30)),
            minor_faults: Some(latency),
            major_faults: None,
            weight: if latency > 5 { 1 } else { 10 },
        }));
        let (low, high) = (ms(latency), Some(Nanos(ms(latency).0 + 1)));
        let weight = if latency > 5 { 1 } else { 98 };
        profile.latencies.push(LatencyCount { at: ms(9000), low, high, count: weight * count });
    }

    fn explain(profile: &Profile, throttled: f64) -> Result<SlowOperations, Why> {
        let latencies = latencies(profile, WINDOW).unwrap();
        slow_operations(profile, &Names::of(profile), &Tasks::of(profile), &latencies, throttled, WINDOW)
    }

    /// 20 slow operations of 30 ms, blocked for 20 ms at a lock and queued for 4, among others of 2 ms.
    fn locked(waited: Option<[u64; 2]>) -> Profile {
        let mut synthetic = Synthetic::new();
        for number in 0..20 {
            let at = 2000 + 40 * number;
            synthetic.off_cpu(at + 1, 41, TaskState::Sleeping, 18, Some(4), FUTEX);
            synthetic.samples(at + 24, 41, "app!main;app!serve;app!copy", 1);
            // Outside of all operations.
            synthetic.off_cpu(at + 31, 41, TaskState::Sleeping, 5, Some(0), "app!main;[kernel]!do_nanosleep");
        }
        let mut profile = synthetic.finish();
        operations(&mut profile, 1000, 20, 2, waited.map(|_| [0, 0]));
        operations(&mut profile, 2000, 20, 30, waited);
        profile
    }

    #[test]
    fn what_slow_operations_take_longer_is_split_by_cause_with_its_place() {
        let found = explain(&locked(Some([20, 4])), 0.25).unwrap();
        assert_eq!((found.quantile, found.threshold, found.recorded, found.coverage), (0.99, 30e6, 20, 1.0));
        assert_eq!((found.slow, found.others), (30e6, 2e6));
        assert_eq!(found.faults, None, "those with a read from storage are not known");
        let rows: Vec<_> = found.causes.iter().map(|it| (it.part, (it.slow - it.others) / 1e6)).collect();
        use TimePart::{Blocked, Interrupted, OnCpu, Queued, Throttled, Unseen};
        // Of 28 ms more: 6 on a CPU, 2 before, and 1 of them interrupted; 4 queued, a quarter of it throttled; 2 of the blocked unseen.
        let expected = [
            (Blocked(Cause::Lock), 18.0),
            (OnCpu, 3.0),
            (Queued, 3.0),
            (Unseen, 2.0),
            (Interrupted, 1.0),
            (Throttled, 1.0),
        ];
        assert_eq!(rows, expected);
        assert!((found.causes.iter().map(|it| it.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(found.causes[0].place, ["serve", "main"]);
        assert_eq!(found.causes[1].place, ["copy", "serve", "main"]);
    }

    /// Samples that stand for more than the short operations in which they fell, and two operations that fork.
    #[test]
    fn the_code_of_slow_operations_is_what_their_time_went_to_not_what_made_short_ones_be_sampled() {
        const STORE: &str = "app!main;app!set;app!store;[kernel]!exc_page_fault";
        let fork = "app!main;app!set;app!begin_snapshot;libc.so.6!fork;libc.so.6!_Fork;[kernel]!kernel_clone;\
                    [kernel]!copy_page_range";
        let mut synthetic = Synthetic::new();
        for number in 0..18 {
            synthetic.samples(2001 + 40 * number, 41, STORE, 1);
        }
        for at in [4010, 4410] {
            for sample in 0..3 {
                synthetic.samples(at + 60 * sample, 41, fork, 1);
            }
        }
        let mut profile = synthetic.finish();
        operations(&mut profile, 1000, 20, 2, Some([0, 0]));
        operations(&mut profile, 2000, 18, 6, Some([0, 0]));
        operations(&mut profile, 4000, 1, 300, Some([0, 0]));
        operations(&mut profile, 4400, 1, 300, Some([0, 0]));
        let found = explain(&profile, 0.0).unwrap();
        assert_eq!((found.threshold, found.recorded), (6e6, 20));
        assert_eq!(found.causes[0].part, TimePart::OnCpu);
        assert_eq!(found.causes[0].place, ["copy_page_range", "fork", "begin_snapshot", "set"]);
    }

    #[test]
    fn the_sums_of_waits_that_were_all_recorded_stand_in_for_unknown_ones() {
        let mut profile = locked(None);
        assert_eq!(explain(&profile, 0.0), Err(Why::NotRecorded));
        profile.meta.plan.off_cpu = true;
        profile.meta.waits = Some(crate::model::WaitSource::Tracepoints);
        let found = explain(&profile, 0.0).unwrap();
        let rows: Vec<_> = found.causes.iter().map(|it| (it.part, (it.slow - it.others) / 1e6)).collect();
        let expected = [(TimePart::Blocked(Cause::Lock), 18.0), (TimePart::OnCpu, 6.0), (TimePart::Queued, 4.0)];
        assert_eq!(rows, expected);
    }

    #[test]
    fn few_operations_explain_nothing_and_missing_slow_ones_are_counted() {
        let mut profile = locked(Some([20, 4]));
        profile.operations.truncate(29);
        assert_eq!(explain(&profile, 0.0), Err(Why::TooFewSamples), "nine slow ones");
        let mut profile = locked(Some([20, 4]));
        profile.operations.truncate(35);
        assert_eq!(explain(&profile, 0.0).unwrap().coverage, 0.75);
        profile.operations.clear();
        assert_eq!(explain(&profile, 0.0), Err(Why::NotRecorded));
    }

    #[test]
    fn throttling_is_no_more_than_the_time_in_the_run_queue() {
        let known = Measure::exact;
        assert_eq!(throttled_share(known(1.0), known(4.0)), 0.25);
        assert_eq!(throttled_share(known(9.0), known(4.0)), 1.0);
        assert_eq!(throttled_share(known(9.0), known(0.0)), 0.0);
        assert_eq!(throttled_share(Measure::Missing(Why::NotSupported), known(4.0)), 0.0);
    }
}
