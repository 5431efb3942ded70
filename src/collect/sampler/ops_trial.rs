//! Tries for a short time how often sources of operations count on a running target, and what that costs it.

use super::operations::{Operations, Place};
use super::probe::each;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{CallGraph, Note, OpsSpec, Plan, Rate, Target};
use crate::sys::clock::Clock;
use crate::sys::limits;
use crate::sys::perf::tracepoint_cost;
use crate::sys::sysfs::SysFs;
use crate::units::Nanos;
use std::path::Path;
use std::time::Duration;

/// After this time, sources that cost too much are stopped.
const FIRST_LOOK: Nanos = Nanos(50_000_000);

/// How long a probe is tried before a session, nanoseconds.
const TRIAL: u64 = 100_000_000;
/// The share of CPU time that a probe may cost without `--max-overhead`, percent.
pub const MOST_PERCENT: f64 = 2.0;

/// What a source counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpsTrial {
    /// Its hits.
    pub hits: u64,
    /// The time in which they were counted.
    pub time: Nanos,
    /// What each costs the target, if that could be measured.
    pub cost_ns: Option<f64>,
}

/// What all sources counted.
#[derive(Debug)]
pub struct OpsTrials {
    /// From the first to the last count.
    pub time: Nanos,
    /// The CPU time that the target used meanwhile, with what the counting cost it.
    pub cpu: Nanos,
    /// In the order of the sources.
    pub trials: Vec<Result<OpsTrial>>,
}

impl OpsTrial {
    /// Hits per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.time.0 == 0 { 0.0 } else { self.hits as f64 / self.time.seconds() }
    }

    /// CPU seconds per second that the hits cost.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.cost_ns.map(|cost| self.rate() * cost * 1e-9)
    }
}

/// A source that is counted.
struct Counted {
    operations: Operations,
    begun: Nanos,
    cost_ns: Option<f64>,
}

impl Counted {
    fn trial(&mut self, clock: &Clock) -> OpsTrial {
        let hits = self.operations.count();
        OpsTrial { hits, time: clock.now() - self.begun, cost_ns: self.cost_ns }
    }
}

/// Counts at all sources for this time; each must be one that the kernel counts. A source that costs more than
/// `most_percent` of a CPU is stopped after a twentieth of a second. What the kernel refuses is that source's error.
///
/// # Errors
/// As `perf_event_open(2)` of the target's CPU time.
pub fn try_operations(specs: &[OpsSpec], target: &Target, duration: Nanos, most_percent: f64) -> Result<OpsTrials> {
    let root = Path::new("/");
    limits::raise_open_files();
    let cpus = SysFs::new(root.join("sys")).online_cpus().unwrap_or_default();
    let clock = Clock::start();
    let mut cpu = Operations::cpu_time(target, &cpus, root)?;
    let mut counted: Vec<Result<Counted>> = specs.iter().map(|spec| open(spec, target, &cpus, root)).collect();
    let begun = clock.now();
    cpu.enable();
    for source in counted.iter_mut().flatten() {
        source.operations.enable();
        source.begun = clock.now();
    }
    wait(FIRST_LOOK.0.min(duration.0));
    let mut trials: Vec<Option<Result<OpsTrial>>> = Vec::new();
    for source in &mut counted {
        let trial = source.as_mut().ok().map(|source| source.trial(&clock));
        let costly = |trial: &OpsTrial| trial.load().is_some_and(|load| load > most_percent / 100.0);
        let trial = trial.filter(costly).map(Ok);
        if let (Some(_), Ok(source)) = (&trial, &source) {
            source.operations.disable();
        }
        trials.push(trial);
    }
    wait((begun + duration).0.saturating_sub(clock.now().0));
    let trials = trials.into_iter().zip(&mut counted).map(|(trial, source)| match (trial, source) {
        (Some(trial), _) => trial,
        (None, Ok(source)) => Ok(source.trial(&clock)),
        (None, Err(error)) => Err(std::mem::replace(error, Error::new(error.kind(), ""))),
    });
    let trials = trials.collect();
    Ok(OpsTrials { time: clock.now() - begun, cpu: Nanos(cpu.count()), trials })
}

fn open(spec: &OpsSpec, target: &Target, cpus: &[u32], root: &Path) -> Result<Counted> {
    let plan = Plan { ops: Some(spec.clone()), ..Plan::new(target.clone(), Rate::Frequency(1), CallGraph::None) };
    let operations = Operations::open(&plan, &Place { command: None, cpus, on_exec: false, root }, &mut Vec::new())?;
    let operations = operations.ok_or_else(|| Error::new(ErrorKind::Unsupported, "the kernel does not count it"))?;
    let cost_ns = match spec {
        OpsSpec::Tracepoint { category, .. } if category == "syscalls" => tracepoint_cost::measure(root).ok(),
        _ => operations.cost_ns(),
    };
    Ok(Counted { operations, begun: Nanos(0), cost_ns })
}

/// Tries a probe for a tenth of a second before the session begins, and notes it if counting will take more of the
/// target's CPU time than the user allows. What was counted meanwhile is not part of the count.
pub(super) fn expected_cost(operations: &mut Operations, plan: &Plan, cpus: &[u32], root: &Path) -> Option<Note> {
    let cost_ns = operations.cost_ns()?;
    let mut cpu = Operations::cpu_time(&plan.target, cpus, root).ok()?;
    let clock = Clock::start();
    cpu.enable();
    operations.enable();
    wait(TRIAL);
    let time = clock.now();
    let (hits, used) = (operations.count(), Nanos(cpu.count()));
    operations.disable();
    operations.begin_anew();
    let most_percent = plan.max_overhead.or(plan.max_sampling).unwrap_or(MOST_PERCENT);
    too_costly(&OpsTrial { hits, time, cost_ns: Some(cost_ns) }, used, most_percent)
}

/// The note on a probe that takes more than that of the CPU time used, or of one CPU if that is more.
fn too_costly(trial: &OpsTrial, used: Nanos, most_percent: f64) -> Option<Note> {
    let spent = trial.load()? * trial.time.seconds();
    (spent * 100.0 > most_percent * used.max(trial.time).seconds()).then(|| Note {
        topic: "ops-probe-expected".to_string(),
        text: format!(
            "In a trial of {:.0} ms, {:.0} hits/s at {} each took {:.0}% of the target's CPU time; allowed are \
             {most_percent}% of it, or of one CPU if it uses less (--max-overhead).",
            trial.time.seconds() * 1e3,
            trial.rate(),
            each(trial.cost_ns.unwrap_or_default()),
            100.0 * (spent / used.seconds()).min(1.0)
        ),
        fix: Some("Count something rarer: `ironlaw ops -p PID` tries what could be counted.".to_string()),
    })
}

fn wait(nanos: u64) {
    std::thread::sleep(Duration::from_nanos(nanos));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_more_than_is_allowed_is_noted_before_it_does() {
        let second = Nanos(1_000_000_000);
        let trial = |hits, cost_ns| OpsTrial { hits, time: second, cost_ns };
        let note = |trial: OpsTrial, used, most| too_costly(&trial, used, most).map(|note| note.text);
        let said = note(trial(100_000, Some(840.0)), second, 2.0).unwrap_or_default();
        let expected = "In a trial of 1000 ms, 100000 hits/s at 840 ns each took 8% of the target's CPU time; allowed are 2% \
                        of it, or of one CPU if it uses less (--max-overhead).";
        assert_eq!(said, expected);
        assert_eq!(note(trial(100_000, Some(840.0)), second, 10.0), None, "that much is allowed");
        assert_eq!(note(trial(100_000, Some(840.0)), Nanos(8_000_000_000), 2.0), None, "it uses eight CPUs");
        assert!(note(trial(100_000, Some(840.0)), Nanos(1), 2.0).is_some(), "of one CPU, if it uses less");
        assert_eq!(note(trial(100_000, None), second, 2.0), None, "the cost is not known");
        assert_eq!(note(OpsTrial { time: Nanos(0), ..trial(9, Some(1e9)) }, second, 2.0), None);
    }
}
