//! Builds runs from a few numbers, for tests of the scaling analysis.

use super::types::{Cost, Estimate, FunctionId, PathCost, Run, RunLatency, Split};
use crate::analysis::testing::Synthetic;
use crate::analysis::{Cause, CodeKind, SourceOwner, Totals, Window};
use crate::model::{LatencyCount, Measure, Unit, Why};
use crate::units::Nanos;

/// Ten seconds in which three quarters of the workers' time went into running, the rest into a lock and the queue.
pub fn run(n: u32, ops_per_s: f64) -> Run {
    let (wall, workers) = (10.0, f64::from(n) * 10.0);
    Run {
        n,
        totals: Totals {
            wall,
            ops: Measure::exact(ops_per_s * wall),
            cpu: Measure::exact(0.75 * workers),
            threads: Measure::exact(workers),
            instructions: Measure::exact(1.5e9 * workers),
            cpi: Measure::exact(1.5),
            frequency: Measure::exact(3e9),
        },
        metrics: vec![],
        split: Split {
            running: Measure::exact(0.75 * workers),
            queued: Measure::exact(0.05 * workers),
            throttled: Measure::exact(0.0),
            blocked: vec![(Cause::Lock, 0.125 * workers)],
            unseen: Measure::exact(0.075 * workers),
        },
        balance: Measure::exact(1.0),
        parked: 0,
        // Some tests use widths that no machine has.
        workers: vec![0.75 * 10.0; n.min(4096) as usize],
        virtual_machine: false,
        stolen_in_cpu_time: None,
        cpu: Cost::default(),
        blocked: Some(Cost::default()),
        latency: None,
        cpu_users: Vec::new(),
    }
}

/// A base's throughput from one run.
pub fn base(ops_per_s: f64) -> Measure<Estimate> {
    Measure::exact(Estimate { mean: ops_per_s, half: None, runs: 1 })
}

/// A function of the program `app`, or `module!function`.
pub fn function(name: &str) -> FunctionId {
    let (module, name) = name.split_once('!').unwrap_or(("app", name));
    let kind = if module == "[kernel]" { CodeKind::Kernel } else { CodeKind::User };
    FunctionId {
        name: name.to_string(),
        module: module.to_string(),
        kind,
        inlined: false,
        source: SourceOwner::Unknown,
    }
}

/// Paths such as `main;work;libc.so.6!lock` with their weights and samples.
pub fn cost(paths: &[(&str, f64, u64)]) -> Cost {
    let path = |(frames, weight, samples): &(&str, f64, u64)| PathCost {
        frames: frames.split(';').map(function).collect(),
        weight: *weight,
        samples: *samples,
        lock: None,
    };
    let paths: Vec<_> = paths.iter().map(path).collect();
    Cost {
        samples: paths.iter().map(|path| path.samples).sum(),
        unit: Unit::Nanos,
        weight: paths.iter().map(|path| path.weight).sum(),
        paths,
    }
}

/// The published runs of RocksDB: threads, instructions, operations, cycles, seconds, CPU share.
pub fn rocksdb(threads: u32, instructions: f64, ops: f64, cycles: f64, wall: f64, share: f64) -> Run {
    let workers = f64::from(threads) * wall;
    let cpu = share * workers;
    let mut run = run(threads, ops / wall);
    run.totals = Totals {
        wall,
        ops: Measure::exact(ops),
        cpu: Measure::exact(cpu),
        threads: Measure::exact(workers),
        instructions: Measure::exact(instructions),
        cpi: Measure::exact(cycles / instructions),
        frequency: Measure::exact(cycles / cpu),
    };
    run.split = Split {
        running: Measure::exact(cpu),
        queued: Measure::Missing(Why::NotRecorded),
        throttled: Measure::Missing(Why::NotRecorded),
        blocked: vec![],
        unseen: Measure::exact(workers - cpu),
    };
    run.blocked = None;
    run
}

pub fn before(threads: u32) -> Run {
    match threads {
        1 => rocksdb(1, 3_129_398_329_928.0, 1_510_002_999.0, 1_136_230_674_488.0, 300.0, 0.9971),
        _ => rocksdb(160, 22_625_805_888_251.0, 11_125_908_840.0, 171_717_420_118_090.0, 300.024, 0.994_620_63),
    }
}

/// The latencies of a run: nanoseconds and how many operations took as long, in one window.
pub fn latency(latencies: &[(u64, u64)]) -> RunLatency {
    let mut profile = Synthetic::new().finish();
    let row = |(ns, count): &(u64, u64)| LatencyCount {
        at: Nanos(1),
        low: Nanos(*ns),
        high: Some(Nanos(ns + 1)),
        count: *count,
    };
    profile.latencies = latencies.iter().filter(|(_, count)| *count > 0).map(row).collect();
    RunLatency::of(&profile, Window { from: Nanos(0), to: Nanos(1) }).unwrap_or_default()
}
