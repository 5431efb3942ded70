//! Makes the view from the runs and the cells.

use super::types::{
    CauseView, CellView, ColocateView, FactorView, MeasureView, ProfileValueView, ProfileView, ProgramView, RunCounts,
};
use super::words::ops;
use crate::analysis::LawFactor;
use crate::analysis::colocate::{Cell, MeasureChange, ProgramProfile, RunResult, cells, profiles};
use crate::model::{ColocateMeta, ColocatedProgram, LatencySpec, RunState};
use crate::view::sweep::machine;

/// The version of the JSON form.
const SCHEMA_VERSION: u32 = 1;

impl ColocateView {
    /// The view of the runs so far.
    #[must_use]
    pub fn of(meta: &ColocateMeta, results: &[Option<RunResult>]) -> ColocateView {
        let all = cells(meta, results);
        let profiles = profiles(meta, results, &all);
        let count = |wanted: fn(&RunState) -> bool| meta.runs.iter().filter(|run| wanted(&run.state)).count();
        let view = |what_if: bool| {
            let own = all.iter().filter(|cell| cell.what_if == what_if);
            own.map(|cell| cell_view(meta, cell)).collect()
        };
        ColocateView {
            schema_version: SCHEMA_VERSION,
            tool: meta.tool.clone(),
            hostname: meta.host.hostname.clone(),
            machine: machine(&meta.host),
            started_unix_ns: meta.started_unix_ns,
            loads: meta.loads.clone(),
            repeats: meta.repeats,
            seed: meta.seed,
            duration_s: meta.duration.seconds(),
            settle_s: meta.settle.seconds(),
            runs: RunCounts {
                planned: meta.runs.len(),
                done: count(|state| matches!(state, RunState::Done { .. })),
                failed: count(|state| matches!(state, RunState::Failed { .. })),
            },
            stopped: meta.stopped,
            victims: meta.victims.iter().map(program).collect(),
            neighbours: meta.neighbours.iter().map(program).collect(),
            cells: view(false),
            controls: view(true),
            profiles: profiles.into_iter().map(profile).collect(),
            notes: meta.notes.clone(),
        }
    }

    /// The cell of the matrix.
    #[must_use]
    pub fn cell(&self, victim: &str, neighbour: &str, load: f64) -> Option<&CellView> {
        self.cells
            .iter()
            .find(|cell| (cell.victim.as_str(), cell.neighbour.as_str()) == (victim, neighbour) && cell.load == load)
    }
}

fn program(program: &ColocatedProgram) -> ProgramView {
    ProgramView {
        name: program.name.clone(),
        command: program.command.clone(),
        ops: program.ops.as_ref().map(ops),
        latency: program.latency.as_ref().map(LatencySpec::label),
        full_rate: program.full_rate,
    }
}

fn cell_view(meta: &ColocateMeta, cell: &Cell) -> CellView {
    let name =
        |programs: &[ColocatedProgram], at: usize| programs.get(at).map_or(String::new(), |known| known.name.clone());
    let lead = cell.lead();
    CellView {
        victim: name(&meta.victims, cell.victim),
        neighbour: name(&meta.neighbours, cell.neighbour),
        load: cell.load,
        control: cell.control,
        measure: cell.primary,
        slowdown: cell.slowdown(),
        interval: lead.and_then(|lead| lead.interval),
        verdict: cell.verdict,
        pairs: lead.map_or(0, |lead| lead.pairs),
        missing: lead.and_then(|lead| lead.missing.clone()),
        measures: cell.measures.iter().map(measure).collect(),
        factors: cell
            .factors
            .iter()
            .map(|part| FactorView { factor: factor(part.factor), ratio: part.ratio, share: part.share })
            .collect(),
        causes: cell
            .causes
            .iter()
            .map(|cause| CauseView {
                cause: cause.cause,
                label: cause.cause.label(),
                growth: cause.growth,
                share: cause.share,
            })
            .collect(),
        imposed: cell.imposed,
        restarts: cell.restarts,
        failures: cell.failures.clone(),
    }
}

fn measure(change: &MeasureChange) -> MeasureView {
    let MeasureChange { measure, slowdown, interval, pairs, missing } = change.clone();
    MeasureView { measure, slowdown, interval, pairs, missing }
}

fn factor(factor: LawFactor) -> &'static str {
    match factor {
        LawFactor::PathLength => "path_length",
        LawFactor::Cpi => "cpi",
        LawFactor::Frequency => "frequency",
        LawFactor::CpuTime => "cpu_time",
        LawFactor::Utilisation => "utilisation",
    }
}

fn profile(profile: ProgramProfile) -> ProfileView {
    let value = |value: &crate::analysis::colocate::ProfileValue| ProfileValueView {
        name: value.name,
        label: value.label,
        unit: value.unit,
        value: value.value.into(),
    };
    ProfileView {
        values: profile.values.iter().map(value).collect(),
        name: profile.name,
        command: profile.command,
        runs: profile.runs,
        pressure: profile.pressure,
        sensitivity: profile.sensitivity,
    }
}
