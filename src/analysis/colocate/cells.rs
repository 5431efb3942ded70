//! Slowdowns from runs: each run beside a neighbour is paired with the run alone of its block, so that drift of the
//! machine cancels, and the interval is that of the mean logarithm of the ratios.

use super::causes::{causes, factors};
use super::result::{Pair, RunResult};
use super::types::{Cell, CellVerdict, MeasureChange};
use crate::analysis::diff::Effect;
use crate::model::{ColocateMeta, ColocateRun, Control, RunPurpose, RunState, SlowdownMeasure};

const CONFIDENCE: f64 = 0.95;

/// All cells: those of the matrix in the order of loads, victims and neighbours, then those of controls.
#[must_use]
pub fn cells(meta: &ColocateMeta, results: &[Option<RunResult>]) -> Vec<Cell> {
    let mut keys: Vec<(bool, usize, usize, usize, Option<Control>)> = Vec::new();
    for run in &meta.runs {
        let load = meta.loads.iter().position(|load| *load == run.load);
        let (Some(victim), Some(neighbour), Some(load)) = (run.victim, run.neighbour, load) else { continue };
        keys.push((run.purpose == RunPurpose::WhatIf, load, victim, neighbour, run.control));
    }
    keys.sort_unstable();
    keys.dedup();
    let of = |(what_if, load, victim, neighbour, control): (bool, usize, usize, usize, Option<Control>)| {
        let is_own = |run: &ColocateRun| {
            (run.purpose == RunPurpose::WhatIf) == what_if
                && (run.victim, run.neighbour, run.control) == (Some(victim), Some(neighbour), control)
                && run.load == meta.loads[load]
        };
        cell(meta, results, victim, &is_own)
    };
    keys.into_iter().filter_map(of).collect()
}

/// The cells of the matrix that are slower beyond chance: victim, neighbour, load.
#[must_use]
pub fn slow_cells(cells: &[Cell]) -> Vec<(usize, usize, f64)> {
    let slow = cells.iter().filter(|cell| !cell.what_if && cell.verdict == CellVerdict::Slower);
    slow.map(|cell| (cell.victim, cell.neighbour, cell.load)).collect()
}

fn cell(
    meta: &ColocateMeta,
    results: &[Option<RunResult>],
    victim: usize,
    is_own: &dyn Fn(&ColocateRun) -> bool,
) -> Option<Cell> {
    let own: Vec<usize> = (0..meta.runs.len()).filter(|at| is_own(&meta.runs[*at])).collect();
    let first = meta.runs.get(*own.first()?)?;
    let (mut pairs, mut failures) = (Vec::new(), Vec::new());
    for at in &own {
        let run = &meta.runs[*at];
        let base = meta.runs.iter().position(|alone| meta.is_base_of(alone, run));
        let result = |at: usize| results.get(at).and_then(Option::as_ref);
        match (base.and_then(result), result(*at)) {
            (Some(alone), Some(beside)) => pairs.push(Pair { alone, beside }),
            (_, None) => failures.extend(reason(run)),
            (None, _) => {
                failures.extend(base.and_then(|base| reason(&meta.runs[base])).map(|text| format!("alone: {text}")))
            }
        }
    }
    failures.dedup();
    let primary = primary(meta, results, victim);
    let mut measures: Vec<MeasureChange> =
        SlowdownMeasure::ALL.iter().map(|measure| change(*measure, &pairs)).collect();
    measures.retain(|change| change.slowdown.is_some() || change.measure == primary);
    if pairs.is_empty() {
        let text = failures.first().cloned().unwrap_or_else(|| "it was not run".to_string());
        measures = vec![MeasureChange { missing: Some(text), ..change(primary, &[]) }];
    }
    let lead = measures.iter().find(|change| change.measure == primary);
    let verdict = lead.map_or(CellVerdict::Missing, verdict);
    let slower = verdict == CellVerdict::Slower;
    Some(Cell {
        victim,
        neighbour: first.neighbour?,
        load: first.load,
        control: first.control,
        what_if: first.purpose == RunPurpose::WhatIf,
        primary,
        verdict,
        factors: factors(&pairs),
        causes: if slower { causes(&pairs) } else { vec![] },
        measures,
        imposed: own.iter().find_map(|at| meta.runs[*at].imposed),
        restarts: own.iter().map(|at| meta.runs[*at].restarts).fold(0, u32::saturating_add),
        failures,
    })
}

/// Why a run does not count; `None` if it was never started.
fn reason(run: &ColocateRun) -> Option<String> {
    match &run.state {
        RunState::Failed { reason } => Some(reason.clone()),
        RunState::Running => Some("ironlaw was killed during it".to_string()),
        RunState::Done { .. } => Some("its recording cannot be read".to_string()),
        RunState::Planned => None,
    }
}

/// What the cells of a victim lead with: what its user waits for. At a set rate that is the latency; else the time per
/// operation; else the time of its work.
fn primary(meta: &ColocateMeta, results: &[Option<RunResult>], victim: usize) -> SlowdownMeasure {
    let own = meta.runs.iter().zip(results).filter(|(run, _)| run.victim == Some(victim));
    let alone: Vec<&RunResult> =
        own.filter(|(run, _)| run.neighbour.is_none()).filter_map(|(_, result)| result.as_ref()).collect();
    let has = |measure| alone.iter().any(|run| run.value(measure).is_ok());
    let paced = meta.victims.get(victim).is_some_and(|victim| victim.takes_rate());
    match meta.measure {
        Some(measure) => measure,
        None if paced && has(SlowdownMeasure::P99) => SlowdownMeasure::P99,
        None if paced && has(SlowdownMeasure::Throughput) => SlowdownMeasure::Cost,
        None if has(SlowdownMeasure::Throughput) => SlowdownMeasure::Throughput,
        None => SlowdownMeasure::Wall,
    }
}

fn change(measure: SlowdownMeasure, pairs: &[Pair<'_>]) -> MeasureChange {
    let (mut values, mut missing) = (Vec::new(), None);
    for pair in pairs {
        match (pair.alone.value(measure), pair.beside.value(measure)) {
            (Ok(alone), Ok(beside)) => values.push((alone, beside)),
            (Err(why), _) | (_, Err(why)) => missing = Some(why),
        }
    }
    let effect = Effect::of_pairs(&values);
    let interval = effect.and_then(|effect| effect.interval(CONFIDENCE));
    MeasureChange {
        measure,
        slowdown: effect.map(|effect| 1.0 + effect.change(effect.estimate)),
        interval: interval.map(|(low, high)| (1.0 + low, 1.0 + high)),
        pairs: u32::try_from(values.len()).unwrap_or(u32::MAX),
        missing: missing.filter(|_| values.is_empty()),
    }
}

fn verdict(change: &MeasureChange) -> CellVerdict {
    match (change.slowdown, change.interval) {
        (None, _) => CellVerdict::Missing,
        (Some(_), None) => CellVerdict::Undecided,
        (Some(_), Some((low, _))) if low > 1.0 => CellVerdict::Slower,
        (Some(_), Some((_, high))) if high < 1.0 => CellVerdict::Faster,
        (Some(_), Some(_)) => CellVerdict::WithinNoise,
    }
}
