//! A program defined by the cost of one operation at each width, and the points, stacks and losses that a sweep of it produces.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::analysis::finding::RuleResults;
use crate::analysis::findings::evaluate_sweep;
use crate::analysis::findings::families::tests::function;
use crate::analysis::sweep::{
    Cost, Estimate, FunctionId, Loss, LossRow, PathCost, Point, PointMetrics, RegionFit, Run, Slice, SliceKind, Split,
    Stack,
};
use crate::analysis::{Cause, CodeKind, LockCalls, Metric, SourceOwner, Totals};
use crate::model::{Measure, MetricId, Region, TaskState, Unit, Why};
use std::collections::BTreeMap;

/// Seconds per run.
const WALL: f64 = 10.0;

/// The cost of one operation to one worker, nanoseconds.
#[derive(Debug, Clone)]
pub struct OperationCost {
    pub cpu: Vec<(String, f64)>,
    /// Its cause follows from the path.
    pub blocked: Vec<(String, f64)>,
    pub queued: f64,
    pub throttled: f64,
    pub unseen: f64,
    pub balance: f64,
    /// How many workers do any of the work; all by default.
    pub busy: Option<u32>,
    /// How many workers hardly ran.
    pub parked: u32,
    /// How many workers there were not.
    pub absent: u32,
    /// Instructions per operation and GHz.
    pub counted: Option<(f64, f64)>,
    /// Factor by which siblings slow down each other's instructions.
    pub siblings: f64,
    /// Metrics of each run, unchanged.
    pub metrics: Vec<(&'static str, f64)>,
    /// Rate metrics, given per operation.
    pub per_op: Vec<(&'static str, f64)>,
}

/// A program to sweep.
pub struct SyntheticProgram {
    pub widths: Vec<(u32, Region)>,
    pub repeats: u32,
    /// How much runs scatter.
    pub scatter: f64,
    pub off_cpu: bool,
    /// Whether it runs in a virtual machine.
    pub guest: bool,
    pub load: Box<dyn Fn(u32) -> OperationCost>,
}

/// The inputs of the rules.
pub struct SyntheticSweep {
    pub points: Vec<Point>,
    pub stacks: Vec<Stack>,
    pub losses: Vec<Loss>,
    pub fits: Vec<RegionFit>,
}

/// A microsecond in five functions, at every width.
pub fn even() -> OperationCost {
    OperationCost {
        cpu: (0..5).map(|part| (format!("worker;part_{part}"), 200.0)).collect(),
        blocked: Vec::new(),
        queued: 0.0,
        throttled: 0.0,
        unseen: 0.0,
        balance: 0.98,
        busy: None,
        parked: 0,
        absent: 0,
        counted: None,
        siblings: 1.0,
        metrics: vec![("steal_share", 0.0), ("host_busy", 0.5), ("system_share", 0.02)],
        per_op: vec![("voluntary_switches", 0.01), ("minor_faults", 0.01)],
    }
}

impl OperationCost {
    pub fn on_cpu(mut self, path: &str, ns: f64) -> OperationCost {
        self.cpu.push((path.to_string(), ns));
        self
    }

    pub fn off_cpu(mut self, path: &str, ns: f64) -> OperationCost {
        self.blocked.push((path.to_string(), ns));
        self
    }

    pub fn metric(mut self, name: &'static str, value: f64) -> OperationCost {
        self.metrics.retain(|(known, _)| *known != name);
        self.metrics.push((name, value));
        self
    }

    pub fn each(mut self, name: &'static str, value: f64) -> OperationCost {
        self.per_op.retain(|(known, _)| *known != name);
        self.per_op.push((name, value));
        self
    }

    /// Multiplies the time of every function.
    pub fn stretched(mut self, times: f64) -> OperationCost {
        self.cpu.iter_mut().for_each(|(_, ns)| *ns *= times);
        self
    }

    fn cpu_ns(&self) -> f64 {
        self.cpu.iter().map(|(_, ns)| ns).sum()
    }

    fn blocked_ns(&self) -> BTreeMap<Cause, f64> {
        let mut causes = BTreeMap::new();
        for (path, ns) in &self.blocked {
            *causes.entry(cause(path)).or_default() += ns;
        }
        causes
    }

    /// One worker's total time per operation.
    fn ns(&self) -> f64 {
        self.cpu_ns() + self.blocked_ns().values().sum::<f64>() + self.queued + self.throttled + self.unseen
    }

    fn cpi(&self) -> Option<f64> {
        self.counted.map(|(path, ghz)| self.cpu_ns() * ghz / path)
    }
}

fn cause(path: &str) -> Cause {
    let frames = frames(path);
    let names = |kernel: bool| {
        let chosen = frames.iter().rev().filter(move |id| (id.kind == CodeKind::Kernel) == kernel);
        chosen.map(|id| id.name.as_str())
    };
    crate::analysis::causes::cause(TaskState::Sleeping, names(true), names(false))
}

/// A path without its `@N`, and the part that a lock has of it: its innermost N calls.
fn lock_calls(path: &str) -> (&str, Option<LockCalls>) {
    match path.split_once('@') {
        Some((path, calls)) => (path, calls.parse().ok().map(|calls| LockCalls { calls, spins: false })),
        None => (path, None),
    }
}

fn frames(path: &str) -> Vec<FunctionId> {
    let id = |text: &str| {
        let known = function(text);
        FunctionId {
            name: known.name,
            module: known.module,
            kind: known.kind,
            inlined: false,
            source: SourceOwner::Unknown,
        }
    };
    lock_calls(path).0.split(';').map(id).collect()
}

impl SyntheticProgram {
    /// Cores of one node, three runs each.
    pub fn of(widths: &[u32], load: impl Fn(u32) -> OperationCost + 'static) -> SyntheticProgram {
        let widths = widths.iter().map(|n| (*n, Region::Cores)).collect();
        SyntheticProgram { widths, repeats: 3, scatter: 0.003, off_cpu: true, guest: false, load: Box::new(load) }
    }

    /// The same with each width's load changed; `more` is the number of threads beyond the first.
    pub fn with(self, change: impl Fn(OperationCost, f64) -> OperationCost + 'static) -> SyntheticProgram {
        let load = self.load;
        SyntheticProgram { load: Box::new(move |n| change(load(n), f64::from(n - 1))), ..self }
    }

    pub fn results(&self) -> RuleResults {
        let sweep = self.sweep();
        evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &sweep.fits)
    }

    pub fn sweep(&self) -> SyntheticSweep {
        let points: Vec<Point> = self.widths.iter().map(|(n, region)| self.point(*n, *region)).collect();
        let others = || self.widths.iter().skip(1).map(|(n, _)| *n);
        SyntheticSweep {
            points,
            stacks: others().map(|n| self.stack(n)).collect(),
            losses: others().map(|n| self.loss(n)).collect(),
            fits: Vec::new(),
        }
    }

    fn base(&self) -> OperationCost {
        (self.load)(self.widths.first().unwrap().0)
    }

    /// Runs differ in the number of operations they complete.
    fn factors(&self) -> Vec<f64> {
        let spread = |repeat: u32| match repeat % 3 {
            0 => 1.0,
            1 => 1.0 + self.scatter,
            _ => 1.0 - self.scatter,
        };
        (0..self.repeats).map(spread).collect()
    }

    fn point(&self, n: u32, region: Region) -> Point {
        let (load, base) = ((self.load)(n), self.base());
        let runs = self.factors().iter().map(|factor| self.run(&load, n, *factor)).collect();
        let first = f64::from(self.widths.first().unwrap().0);
        let speedup = f64::from(n) * base.ns() / load.ns();
        let estimate = |mean: f64| Measure::exact(self.estimate(mean));
        let missing = Measure::Missing(Why::NotSupported);
        let counted = |value: Option<f64>| value.map_or(missing, estimate);
        let relative = f64::from(n) / first;
        let numbers = PointMetrics {
            ops: estimate(f64::from(n) * WALL * 1e9 / load.ns()),
            seconds: estimate(WALL),
            ops_per_s: estimate(f64::from(n) * 1e9 / load.ns()),
            instructions: missing,
            cycles: missing,
            path_length: counted(load.counted.map(|(path, _)| path)),
            cpi: counted(load.cpi()),
            core_cpi: missing,
            frequency: counted(load.counted.map(|(_, ghz)| ghz * 1e9)),
            kernel_share: missing,
            cpu_ns_per_op: estimate(load.cpu_ns()),
            us_per_op: estimate(load.ns() * 1e-3),
            utilisation: estimate(load.cpu_ns() / load.ns()),
            busy_cores: estimate(f64::from(n) * load.cpu_ns() / load.ns()),
            speedup: estimate(speedup),
            efficiency: estimate(speedup / f64::from(n)),
            karp_flatt: if relative > 1.0 {
                estimate((f64::from(n) / speedup - 1.0) / (relative - 1.0))
            } else {
                Measure::Missing(Why::Idle)
            },
            latency_p50: Measure::Missing(Why::NotRecorded),
            latency_p99: Measure::Missing(Why::NotRecorded),
        };
        Point { n, region, runs, numbers }
    }

    fn run(&self, load: &OperationCost, n: u32, factor: f64) -> Run {
        let run = run(load, n, factor, self.off_cpu);
        let busy = load.busy.unwrap_or(n).min(n);
        let each = run.totals.cpu.value().unwrap() / f64::from(busy);
        let workers = (0..n - load.parked - load.absent).map(|worker| if worker < busy { each } else { 0.0 }).collect();
        Run { workers, virtual_machine: self.guest, ..run }
    }

    fn estimate(&self, mean: f64) -> Estimate {
        // Student's t for three runs, 4.303, times their standard error.
        let half = (self.repeats > 1).then_some(mean.abs() * self.scatter * 4.303 / 3_f64.sqrt());
        Estimate { mean, half, runs: self.repeats }
    }

    fn stack(&self, n: u32) -> Stack {
        let (base, load) = (self.base(), (self.load)(n));
        let mut slices = Vec::new();
        let mut slice = |kind, ns_per_op: f64| {
            slices.push(Slice { kind, cores: f64::from(n) * ns_per_op / load.ns(), ns_per_op });
        };
        let (before, after) = (base.cpu_ns(), load.cpu_ns());
        match (base.counted, load.counted) {
            (Some((path, ghz)), Some((path_here, ghz_here))) => {
                let ratio = after / before;
                let mean = if (ratio - 1.0).abs() < 1e-12 { after } else { (after - before) / ratio.ln() };
                let cpi = load.cpi().unwrap() / base.cpi().unwrap();
                slice(SliceKind::MoreWork, mean * (path_here / path).ln());
                slice(SliceKind::Smt, mean * load.siblings.ln());
                slice(SliceKind::Cpi, mean * (cpi / load.siblings).ln());
                slice(SliceKind::Frequency, mean * (ghz / ghz_here).ln());
            }
            _ => slice(SliceKind::CpuTime, after - before),
        }
        slice(SliceKind::RunQueue, load.queued - base.queued);
        slice(SliceKind::Throttled, load.throttled - base.throttled);
        let (was, is) = (base.blocked_ns(), load.blocked_ns());
        let sum = |causes: &BTreeMap<Cause, f64>| causes.values().sum::<f64>();
        if self.off_cpu {
            for cause in Cause::ALL {
                let of = |causes: &BTreeMap<Cause, f64>| causes.get(&cause).copied().unwrap_or(0.0);
                slice(SliceKind::Blocked(cause), of(&is) - of(&was));
            }
            slice(SliceKind::Unseen, load.unseen - base.unseen);
        } else {
            slice(SliceKind::Unseen, load.unseen - base.unseen + sum(&is) - sum(&was));
        }
        Stack { n, useful: f64::from(n) * base.ns() / load.ns(), slices }
    }

    fn loss(&self, n: u32) -> Loss {
        let (base, load) = (self.base(), (self.load)(n));
        let mut leaves: BTreeMap<FunctionId, [f64; 2]> = BTreeMap::new();
        for (side, load) in [&base, &load].into_iter().enumerate() {
            for (path, ns) in &load.cpu {
                leaves.entry(frames(path).pop().unwrap()).or_default()[side] += ns;
            }
        }
        let all = load.cpu_ns() - base.cpu_ns();
        let row = |(function, [base, here]): (FunctionId, [f64; 2])| LossRow {
            function,
            base,
            here,
            error: self.scatter * base.hypot(here),
            freedom: f64::INFINITY,
            share: (all > 0.0).then(|| (here - base) / all),
        };
        let mut functions: Vec<LossRow> = leaves.into_iter().map(row).collect();
        functions.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
        let blocked = |load: &OperationCost| load.blocked_ns().values().sum::<f64>();
        Loss {
            n,
            base: base.cpu_ns(),
            here: load.cpu_ns(),
            blocked: self.off_cpu.then(|| (blocked(&base), blocked(&load))),
            coverage: None,
            functions,
            waits: Vec::new(),
        }
    }
}

fn run(load: &OperationCost, n: u32, factor: f64, off_cpu: bool) -> Run {
    let ops = f64::from(n) * WALL * 1e9 / load.ns() * factor;
    let seconds = |ns: f64| ns * 1e-9 * ops / factor;
    let missing = Measure::Missing(Why::NotSupported);
    let running = seconds(load.cpu_ns());
    let blocked: f64 = load.blocked_ns().values().sum();
    let metric = |name: &str, value: Measure<f64>| Metric {
        id: MetricId::named(name).unwrap(),
        value,
        formula: String::new(),
        events: Vec::new(),
        detail: None,
    };
    let plain = load.metrics.iter().map(|(name, value)| metric(name, Measure::exact(*value)));
    let rates = load.per_op.iter().map(|(name, each)| metric(name, Measure::exact(each * ops / WALL)));
    let mut metrics: Vec<Metric> = plain.chain(rates).collect();
    metrics.push(metric("cycles", missing));
    Run {
        n,
        totals: Totals {
            wall: WALL,
            ops: Measure::exact(ops),
            cpu: Measure::exact(running),
            threads: Measure::exact(f64::from(n) * WALL),
            instructions: missing,
            cpi: missing,
            frequency: missing,
        },
        metrics,
        split: Split {
            running: Measure::exact(running),
            queued: Measure::exact(seconds(load.queued)),
            throttled: if load.throttled > 0.0 { Measure::exact(seconds(load.throttled)) } else { Measure::exact(0.0) },
            blocked: if off_cpu {
                load.blocked_ns().into_iter().map(|(cause, ns)| (cause, seconds(ns))).collect()
            } else {
                Vec::new()
            },
            unseen: Measure::exact(seconds(load.unseen + if off_cpu { 0.0 } else { blocked })),
        },
        balance: Measure::exact(load.balance),
        parked: load.parked,
        workers: Vec::new(),
        virtual_machine: false,
        stolen_in_cpu_time: None,
        cpu: cost(&load.cpu, 1e6, &seconds),
        blocked: off_cpu.then(|| cost(&load.blocked, 1e5, &seconds)),
        latency: None,
        cpu_users: Vec::new(),
    }
}

/// One sample per `every` nanoseconds.
fn cost(paths: &[(String, f64)], every: f64, seconds: &impl Fn(f64) -> f64) -> Cost {
    let path = |(path, ns): &(String, f64)| {
        let weight = seconds(*ns) * 1e9;
        let (path, lock) = lock_calls(path);
        PathCost { frames: frames(path), weight, samples: (weight / every) as u64, lock }
    };
    let paths: Vec<PathCost> = paths.iter().map(path).collect();
    Cost {
        samples: paths.iter().map(|path| path.samples).sum(),
        unit: Unit::Nanos,
        weight: paths.iter().map(|path| path.weight).sum(),
        paths,
    }
}
