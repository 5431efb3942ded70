//! The profile of each program: what it uses alone, what it does to others, what others do to it.

use super::result::RunResult;
use super::types::{Cell, ProfileValue, ProgramProfile};
use crate::analysis::value_of;
use crate::model::{ColocateMeta, ColocateRun, ColocatedProgram, Measure, MetricId, RunPurpose, Unit, Why};

/// Names of the numbers, and the metrics that each is the sum of.
const VALUES: [(&str, &str, Unit, &[MetricId]); 8] = [
    ("busy_cpus", "busy CPUs", Unit::Cores, &[MetricId::CpuUtilisation]),
    ("kernel_share", "kernel mode", Unit::Share, &[MetricId::SystemShare]),
    ("run_queue_share", "waiting for a CPU", Unit::Share, &[MetricId::RunQueueDelay]),
    ("switches_per_s", "switches", Unit::PerSecond, &[MetricId::VoluntarySwitches, MetricId::InvoluntarySwitches]),
    ("faults_per_s", "page faults", Unit::PerSecond, &[MetricId::MinorFaults, MetricId::MajorFaults]),
    ("ipc", "IPC", Unit::Ratio, &[MetricId::Ipc]),
    ("llc_mpki", "LLC misses per 1000 instr", Unit::PerKiloInstructions, &[MetricId::LlcMpki]),
    ("memory_bandwidth", "memory bandwidth", Unit::BytesPerSecond, &[MetricId::MemoryBandwidth]),
];

/// One profile for each program; a program that is victim and neighbour by the same command has one.
#[must_use]
pub fn profiles(meta: &ColocateMeta, results: &[Option<RunResult>], cells: &[Cell]) -> Vec<ProgramProfile> {
    let mut programs: Vec<&ColocatedProgram> = Vec::new();
    for program in meta.victims.iter().chain(&meta.neighbours) {
        if !programs.iter().any(|known| is_same(known, program)) {
            programs.push(program);
        }
    }
    programs.into_iter().map(|program| profile(meta, results, cells, program)).collect()
}

fn profile(
    meta: &ColocateMeta,
    results: &[Option<RunResult>],
    cells: &[Cell],
    program: &ColocatedProgram,
) -> ProgramProfile {
    let victim = meta.victims.iter().position(|known| is_same(known, program));
    let neighbour = meta.neighbours.iter().position(|known| is_same(known, program));
    let most = meta.loads.iter().copied().fold(0.0, f64::max);
    let is_alone = |run: &ColocateRun| match run.purpose {
        RunPurpose::Profile => neighbour.is_some() && run.neighbour == neighbour,
        RunPurpose::Cell => {
            let is_full = !program.takes_load() || run.load == most;
            victim.is_some() && run.victim == victim && run.neighbour.is_none() && is_full
        }
        RunPurpose::FullRate | RunPurpose::WhatIf => false,
    };
    let runs = meta.runs.iter().zip(results).filter(|(run, _)| is_alone(run));
    let runs: Vec<&RunResult> = runs.filter_map(|(_, result)| result.as_ref()).collect();
    let value = |(name, label, unit, ids): &(&'static str, &'static str, Unit, &[MetricId])| {
        let sum = |run: &&RunResult| {
            let values = ids.iter().map(|id| value_of(&run.digest.run.metrics, *id));
            values.reduce(|a, b| a.ratio(b, |a, b| Some(a + b))).unwrap_or(Measure::Missing(Why::NotRecorded))
        };
        let sum = runs.iter().map(sum).reduce(|a, b| a.ratio(b, |a, b| Some(a + b)));
        let count = runs.len() as f64;
        let mean = sum.map_or(Measure::Missing(Why::NotRecorded), |sum| sum.map(|sum| sum / count));
        ProfileValue { name, label, unit: *unit, value: mean }
    };
    let mean = |is_own: &dyn Fn(&Cell) -> bool| {
        let own = cells.iter().filter(|cell| !cell.what_if && is_own(cell));
        let slowdowns: Vec<f64> = own.filter_map(Cell::slowdown).collect();
        (!slowdowns.is_empty()).then(|| slowdowns.iter().sum::<f64>() / slowdowns.len() as f64)
    };
    ProgramProfile {
        name: program.name.clone(),
        command: program.command.clone(),
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        values: VALUES.iter().map(value).collect(),
        pressure: neighbour.and_then(|at| mean(&|cell| cell.neighbour == at)),
        sensitivity: victim.and_then(|at| mean(&|cell| cell.victim == at)),
    }
}

fn is_same(a: &ColocatedProgram, b: &ColocatedProgram) -> bool {
    (&a.name, &a.command) == (&b.name, &b.command)
}
