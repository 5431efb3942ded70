//! A sweep made by hand: a server that contends for a lock, with names that would act if they could.
#![allow(clippy::unwrap_used, dead_code, reason = "tests; each uses a part")]

use crate::analysis::finding::{Confidence, Evidence, Finding, Place, RuleResults};
use crate::analysis::sweep::{
    Coefficient, Cost, Estimate, FunctionId, Loss, LossRow, NoFit, PathCost, Peak, Point, PointMetrics, RegionFit, Run,
    RunLatency, Slice, SliceKind, Split, Stack, SweepAnalysis, Usl,
};
use crate::analysis::{Axis, Bin, Cause, CodeKind, LatencyCounts, Quantile, SourceOwner, Totals};
use crate::model::{
    CpuTopology, HostFacts, Measure, Note, NumberKind, OpsSpec, Placement, Region, RunMeta, RunState, SweepMeta, Unit,
    Why, Width,
};
use crate::units::Nanos;

/// Names that a page, a terminal or a spreadsheet must not obey.
pub const HOSTILE: [&str; 3] =
    ["</script><script>alert(\"1\")</script>", "\u{1b}[31mred\u{202e}der|`x`", "=HYPERLINK(\"x\")"];

pub const WIDTHS: [u32; 7] = [1, 2, 4, 6, 8, 12, 16];

/// What the machine could count.
#[derive(Clone, Copy, PartialEq)]
pub enum Machine {
    Clock,
    Counters,
}

pub fn meta(machine: Machine) -> SweepMeta {
    let cpu = |cpu| CpuTopology { cpu, core: cpu / 2, package: 0, node: 0 };
    let runs = WIDTHS.iter().flat_map(|n| (1..=3).map(move |repeat| (*n, repeat)));
    SweepMeta {
        format: (1, 0),
        tool: "0.1.0".to_string(),
        host: HostFacts {
            hostname: "bell".to_string(),
            kernel: "6.1.0-18-amd64".to_string(),
            arch: "x86_64".to_string(),
            cpu_model: "Example <CPU> & Co".to_string(),
            cpuid: None,
            cpus: (0..16).map(cpu).collect(),
            memory_bytes: 1 << 34,
            virtual_machine: machine == Machine::Clock,
            governor: None,
            stolen_in_cpu_time: None,
            ..HostFacts::default()
        },
        command: ["./server", "--threads", "{threads}", "--name", "<b>&\"'`|"].map(str::to_string).to_vec(),
        target: None,
        width: Width::Threads,
        widths: WIDTHS.to_vec(),
        repeats: 3,
        seed: 42,
        placement: Placement::Cores,
        ops: Some(OpsSpec::Output { pattern: "ops: ([0-9]+)".to_string(), reads: NumberKind::Total }),
        duration: None,
        leave_out: Default::default(),
        started_unix_ns: 1_700_000_000_000_000_000,
        runs: runs.map(|(n, repeat)| run_meta(n, repeat)).collect(),
        notes: vec![Note {
            topic: "no-cgroup".to_string(),
            text: "Throttling was not read: no <cgroup> for the runs.".to_string(),
            fix: None,
        }],
        stopped: false,
    }
}

fn run_meta(n: u32, repeat: u32) -> RunMeta {
    let failed = RunState::Failed { reason: "it ended with exit status 1: \u{1b}[31mno <memory>".to_string() };
    RunMeta {
        n,
        repeat,
        cpus: (0..n).collect(),
        region: region(n),
        recording: format!("n{n}-r{repeat}.ironlaw"),
        state: if (n, repeat) == (4, 2) { failed } else { RunState::Done { wall_ns: 10_000_000_000 } },
    }
}

fn region(n: u32) -> Region {
    if n <= 8 { Region::Cores } else { Region::Smt }
}

/// The law the runs follow, and less with siblings.
fn throughput(n: u32) -> f64 {
    let x = f64::from(n);
    let law = 1.25e6 * x / (1.0 + 0.05 * (x - 1.0) + 0.006 * x * (x - 1.0));
    if n > 8 { law * 0.93 } else { law }
}

pub fn analysis(machine: Machine) -> SweepAnalysis {
    let points: Vec<Point> = WIDTHS.iter().map(|n| point(*n, machine)).collect();
    let fit = RegionFit { region: Region::Cores, widths: vec![1, 2, 4, 6, 8], law: Ok(law()) };
    SweepAnalysis {
        base: 0,
        fits: vec![fit],
        stacks: WIDTHS.iter().map(|n| stack(*n, machine)).collect(),
        losses: WIDTHS[1..].iter().map(|n| loss(*n)).collect(),
        findings: judged(),
        points,
    }
}

/// The same with latencies: 2% of the operations take as many milliseconds as there are threads.
pub fn with_latency() -> (SweepMeta, SweepAnalysis) {
    let mut analysis = analysis(Machine::Counters);
    for point in &mut analysis.points {
        for (at, run) in point.runs.iter_mut().enumerate() {
            run.latency = Some(latency(u64::from(point.n) * (1_000_000 + 50_000 * at as u64)));
        }
        let own = Point::of(point.n, point.region, point.runs.clone()).numbers;
        (point.numbers.latency_p50, point.numbers.latency_p99) = (own.latency_p50, own.latency_p99);
    }
    (meta(Machine::Counters), analysis)
}

/// Latencies of a run: 2% of ten thousand operations are slow.
fn latency(slow_ns: u64) -> RunLatency {
    let mut counts = LatencyCounts::default();
    let bin = |ns: u64| Bin { low: Nanos(ns), high: Some(Nanos(ns + 1)) };
    counts.add(bin(100_000), 9_800);
    counts.add(bin(slow_ns), 200);
    let quantile = |share: f64| Quantile {
        share,
        value: Measure::exact(counts.quantile(share).map_or(0.0, Bin::middle)),
        interval: counts.quantile(share).map(|bin| (bin.low.as_f64(), bin.high.map(|high| high.as_f64()))),
    };
    let quantiles = [0.5, 0.9, 0.99, 0.999, 0.9999].map(quantile).to_vec();
    RunLatency { quantiles, counts }
}

/// Too little for a law: two widths, one run each, nothing counts operations.
pub fn thin() -> (SweepMeta, SweepAnalysis) {
    let mut meta = meta(Machine::Clock);
    (meta.repeats, meta.ops, meta.command) = (1, None, Vec::new());
    meta.target = Some(crate::model::Target::Processes { pids: vec![41], children: false });
    meta.widths = vec![1, 2];
    meta.runs.retain(|run| run.n <= 2 && run.repeat == 1);
    meta.runs[1].state = RunState::Planned;
    let mut one = point(1, Machine::Clock);
    one.runs.truncate(1);
    one.numbers = missing(Why::NoOpsSource);
    one.numbers.seconds = known(10.0, None);
    one.numbers.busy_cores = known(0.97, None);
    one.runs[0].totals.ops = Measure::Missing(Why::NoOpsSource);
    let fits = vec![RegionFit { region: Region::Cores, widths: vec![1], law: Err(NoFit::TooFewWidths) }];
    (
        meta,
        SweepAnalysis {
            points: vec![one],
            base: 0,
            fits,
            stacks: vec![],
            losses: vec![],
            findings: RuleResults::default(),
        },
    )
}

fn law() -> Usl {
    let bound = |value, error: f64| Coefficient { value, error: Some(error), half: Some(4.303 * error) };
    Usl {
        gamma: bound(1.25e6, 9.0e3),
        alpha: bound(0.05, 0.004),
        beta: bound(0.006, 0.0006),
        residual: 1.1e4,
        freedom: 2,
        peak: Peak::At { n: 12.583, ops_per_s: 6.23e6, low: 10.6, high: 16.7 },
    }
}

fn known(mean: f64, relative: Option<f64>) -> Measure<Estimate> {
    let runs = if relative.is_some() { 3 } else { 1 };
    Measure::exact(Estimate { mean, half: relative.map(|part| mean.abs() * part), runs })
}

fn missing(why: Why) -> PointMetrics {
    let no = Measure::Missing(why);
    PointMetrics {
        ops: no,
        seconds: no,
        ops_per_s: no,
        instructions: no,
        cycles: no,
        path_length: no,
        cpi: no,
        core_cpi: no,
        frequency: no,
        kernel_share: no,
        cpu_ns_per_op: no,
        us_per_op: no,
        utilisation: no,
        busy_cores: no,
        speedup: no,
        efficiency: no,
        karp_flatt: no,
        latency_p50: Measure::Missing(Why::NotRecorded),
        latency_p99: Measure::Missing(Why::NotRecorded),
    }
}

fn point(n: u32, machine: Machine) -> Point {
    let runs = if n == 16 { 1 } else { 3 };
    let part = |part| (runs > 1).then_some(part);
    let (x, wide) = (throughput(n), f64::from(n));
    let speedup = x / throughput(1);
    let counted = |value: f64| match machine {
        Machine::Counters => known(value, part(0.004)),
        Machine::Clock => Measure::Missing(Why::NotSupported),
    };
    let cpu_ns = cpu_per_op(n);
    let cpi = 0.4 * cpu_ns / cpu_per_op(1);
    let karp = Measure::exact(());
    let karp_flatt = match n {
        1 => Measure::Missing(Why::Idle),
        _ => karp.ratio(known((wide / speedup - 1.0) / (wide - 1.0), part(0.05)), |(), value| Some(value)),
    };
    let numbers = PointMetrics {
        ops: known(x * 10.0, part(0.012)),
        seconds: known(10.0, part(0.001)),
        ops_per_s: known(x, part(0.012)),
        instructions: counted(x * 10.0 * 6_000.0),
        cycles: counted(x * 10.0 * 6_000.0 * cpi),
        path_length: counted(6_000.0),
        cpi: counted(cpi),
        core_cpi: counted(cpi),
        frequency: counted(3.4e9 - 2e7 * wide),
        kernel_share: known(0.03 * wide.sqrt(), part(0.02)),
        cpu_ns_per_op: known(cpu_ns, part(0.01)),
        us_per_op: known(wide / x * 1e6, part(0.012)),
        utilisation: known(cpu_ns * x * 1e-9 / wide, part(0.01)),
        busy_cores: known(cpu_ns * x * 1e-9, part(0.01)),
        speedup: known(speedup, part(0.015)),
        efficiency: known(speedup / wide, part(0.015)),
        karp_flatt,
        latency_p50: Measure::Missing(Why::NotRecorded),
        latency_p99: Measure::Missing(Why::NotRecorded),
    };
    Point { n, region: region(n), runs: (0..runs).map(|_| run(n)).collect(), numbers }
}

/// Nanoseconds of CPU time per operation, by what they go to.
fn parts(n: u32) -> Vec<(Vec<FunctionId>, f64)> {
    let spin = f64::from(n - 1) * 14.0;
    let main = [user("_start"), user("main")];
    let path = |rest: &[FunctionId]| main.iter().chain(rest).cloned().collect::<Vec<_>>();
    let mut parts = vec![
        (path(&[user("serve"), user("parse_request")]), 310.0),
        (path(&[user("serve"), user("lookup"), FunctionId { inlined: true, ..user("hash") }]), 240.0),
        (path(&[user("serve"), user(HOSTILE[0])]), 45.0 + spin * 0.1),
        (path(&[user("serve"), user(HOSTILE[1])]), 20.0),
        (path(&[user(HOSTILE[2])]), 15.0 + f64::from(n)),
        (path(&[user("serve"), user("pthread_mutex_lock"), kernel("futex_wait")]), 12.0 + spin),
        (path(&[]), 8.0),
    ];
    if n == 1 {
        parts.push((path(&[user("fast_path_alone")]), 60.0));
    } else {
        parts.push((path(&[user("serve"), kernel("queued_spin_lock_slowpath")]), spin * 0.6));
    }
    parts
}

fn cpu_per_op(n: u32) -> f64 {
    parts(n).iter().map(|(_, ns)| ns).sum()
}

pub fn user(name: &str) -> FunctionId {
    FunctionId {
        name: name.to_string(),
        module: "server".to_string(),
        kind: CodeKind::User,
        inlined: false,
        source: SourceOwner::Unknown,
    }
}

pub fn kernel(name: &str) -> FunctionId {
    FunctionId {
        name: name.to_string(),
        module: "[kernel]".to_string(),
        kind: CodeKind::Kernel,
        inlined: false,
        source: SourceOwner::Unknown,
    }
}

/// A cost of these paths, nanoseconds for `ops` operations, sampled each millisecond of CPU time or so.
pub fn cost(parts: Vec<(Vec<FunctionId>, f64)>, ops: f64) -> Cost {
    let samples = |ns: f64| ((ns * ops / 1e7) as u64).max(1);
    let path =
        |(frames, ns): (Vec<FunctionId>, f64)| PathCost { frames, weight: ns * ops, samples: samples(ns), lock: None };
    let paths: Vec<PathCost> = parts.into_iter().map(path).collect();
    Cost {
        samples: paths.iter().map(|path| path.samples).sum(),
        unit: Unit::Nanos,
        weight: paths.iter().map(|path| path.weight).sum(),
        paths,
    }
}

fn run(n: u32) -> Run {
    let ops = throughput(n) * 10.0;
    let no = Measure::Missing(Why::NotSupported);
    let lock = vec![user("_start"), user("main"), user("serve"), user("pthread_mutex_lock"), kernel("futex_wait")];
    let idle = vec![user("_start"), user("main"), user("poll_events")];
    Run {
        n,
        totals: Totals {
            wall: 10.0,
            ops: Measure::exact(ops),
            cpu: Measure::exact(cpu_per_op(n) * ops * 1e-9),
            threads: Measure::exact(f64::from(n) * 10.0),
            instructions: no,
            cpi: no,
            frequency: no,
        },
        metrics: Vec::new(),
        split: Split { running: no, queued: no, throttled: no, blocked: Vec::new(), unseen: no },
        balance: Measure::exact(0.97),
        parked: 0,
        workers: Vec::new(),
        virtual_machine: false,
        stolen_in_cpu_time: None,
        cpu: cost(parts(n), ops),
        blocked: Some(cost(vec![(lock, 3.0 + 25.0 * f64::from(n - 1)), (idle, 30.0)], ops)),
        latency: None,
        cpu_users: Vec::new(),
    }
}

fn stack(n: u32, machine: Machine) -> Stack {
    let (x, wide) = (throughput(n), f64::from(n));
    let useful = x / throughput(1);
    let lost = wide - useful;
    let slice = |kind, part: f64| Slice { kind, cores: lost * part, ns_per_op: lost * part / x * 1e9 };
    let slices = match (n, machine) {
        (1, _) => Vec::new(),
        (_, Machine::Clock) => vec![
            slice(SliceKind::CpuTime, 0.55),
            slice(SliceKind::RunQueue, 0.04),
            slice(SliceKind::Blocked(Cause::Lock), 0.43),
            slice(SliceKind::Unseen, -0.02),
        ],
        (_, Machine::Counters) => vec![
            slice(SliceKind::MoreWork, -0.03),
            slice(SliceKind::Smt, if n > 8 { 0.2 } else { 0.0 }),
            slice(SliceKind::Cpi, if n > 8 { 0.35 } else { 0.55 }),
            slice(SliceKind::Frequency, 0.05),
            slice(SliceKind::Blocked(Cause::Lock), 0.43),
        ],
    };
    Stack { n, useful, slices }
}

fn loss(n: u32) -> Loss {
    let (base, here) = (parts(1), parts(n));
    let grown = cpu_per_op(n) - cpu_per_op(1);
    let cost = |parts: &[(Vec<FunctionId>, f64)], leaf: &FunctionId| {
        parts.iter().filter(|(path, _)| path.last() == Some(leaf)).map(|(_, ns)| ns).sum::<f64>()
    };
    let mut leaves: Vec<FunctionId> = base.iter().chain(&here).filter_map(|(path, _)| path.last().cloned()).collect();
    leaves.sort();
    leaves.dedup();
    let row = |function: FunctionId| {
        let (base, here) = (cost(&base, &function), cost(&here, &function));
        LossRow { function, base, here, error: 1.5, freedom: f64::INFINITY, share: Some((here - base) / grown) }
    };
    let mut functions: Vec<LossRow> = leaves.into_iter().map(row).collect();
    functions.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
    let wait = 25.0 * f64::from(n - 1);
    let waits = vec![
        LossRow {
            function: user("serve"),
            base: 3.0,
            here: 3.0 + wait,
            error: 4.0,
            freedom: f64::INFINITY,
            share: Some(1.0),
        },
        LossRow {
            function: user("poll_events"),
            base: 30.0,
            here: 30.0,
            error: 4.0,
            freedom: f64::INFINITY,
            share: Some(0.0),
        },
    ];
    Loss {
        n,
        base: cpu_per_op(1),
        here: cpu_per_op(n),
        blocked: Some((33.0, 33.0 + wait)),
        coverage: None,
        functions,
        waits,
    }
}

fn judged() -> RuleResults {
    let finding = Finding {
        rule: "scaling-lock",
        title: "waiting for a lock",
        share: Some(0.43),
        claim: format!("At 16 threads 43% of what is lost is time blocked on a lock below `{}`.", HOSTILE[0]),
        evidence: vec![
            Evidence { label: "lost to locks", value: 0.43, unit: Unit::Share, threshold: Some(0.1), metric: None },
            Evidence { label: "speed-up", value: 4.6, unit: Unit::Ratio, threshold: None, metric: None },
        ],
        confidence: Confidence::High,
        place: Some(Place {
            frames: ["_start", "main", "serve", HOSTILE[0]].map(str::to_string).to_vec(),
            axis: Axis::OffCpu,
            threads: Vec::new(),
        }),
        culprits: Vec::new(),
        refuted_by: "a sweep in which the blocked slice does not grow",
        next_step: "Hold the lock for less time, or split it.".to_string(),
    };
    RuleResults {
        found: vec![finding],
        undecided: vec![("scaling-frequency", "clock frequency falls", Why::NotSupported)],
        clear: vec!["scaling-queue", "scaling-throttled"],
    }
}
