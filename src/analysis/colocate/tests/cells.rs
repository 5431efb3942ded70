//! Cells of runs whose slowdown is known.

use super::testing::{Operation, any, meta, result};
use super::*;
use crate::analysis::attribution::Cause;
use crate::analysis::diff::testing::digest;
use crate::analysis::stats::Random;
use crate::model::{ColocatedProgram, Measure, RunPurpose, RunState, SlowdownMeasure};

const ALONE: Operation = Operation { running: 0.8e-3, queued: 0.0, blocked: 0.2e-3 };

/// Runs of blocks whose machine is slower by a factor each time, beside neighbours that add this.
fn measured(beside: &[Operation], drift: &[f64]) -> Vec<Cell> {
    let meta = meta(beside.len(), u32::try_from(drift.len()).unwrap());
    let like = any();
    let scaled = |operation: Operation, by: f64| Operation {
        running: operation.running * by,
        queued: operation.queued * by,
        blocked: operation.blocked * by,
    };
    let block = |by: &f64| {
        let by = *by;
        std::iter::once(&ALONE)
            .chain(beside)
            .map(|operation| Some(result(&like, scaled(*operation, by))))
            .collect::<Vec<_>>()
    };
    cells(&meta, &drift.iter().flat_map(block).collect::<Vec<_>>())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn a_known_slowdown_is_found_whatever_the_machine_drifts() {
    let queued = Operation { running: 1.0e-3, queued: 0.5e-3, blocked: 0.2e-3 };
    let found = measured(&[queued, ALONE], &[1.0, 1.5, 0.7]);
    let (cell, quiet) = (&found[0], &found[1]);
    assert_eq!((cell.verdict, cell.primary), (CellVerdict::Slower, SlowdownMeasure::Throughput));
    assert!(near(cell.slowdown().unwrap(), 1.7), "{cell:?}");
    let by = |measure| cell.measures.iter().find(|change| change.measure == measure).unwrap().slowdown.unwrap();
    assert!(near(by(SlowdownMeasure::Cost), 1.25) && near(by(SlowdownMeasure::Throughput), 1.7));
    let causes: Vec<(Cause, f64)> = cell.causes.iter().map(|cause| (cause.cause, cause.growth)).collect();
    assert_eq!((causes[0].0, causes[1].0, causes.len()), (Cause::RunQueue, Cause::CpuTimeOther, 2));
    assert!(near(causes[0].1, 0.5) && near(causes[1].1, 0.2), "{causes:?}");
    let product: f64 = cell.factors.iter().map(|part| part.ratio).product();
    assert!(near(product, 1.7), "{:?}", cell.factors);
    assert_eq!((quiet.verdict, quiet.causes.len()), (CellVerdict::WithinNoise, 0));
    assert!(near(quiet.slowdown().unwrap(), 1.0));
    assert_eq!(slow_cells(&found), [(0, 0, 1.0)]);
}

#[test]
fn one_repeat_decides_nothing() {
    let slow = Operation { running: 2e-3, ..ALONE };
    let cell = &measured(&[slow], &[1.0])[0];
    assert_eq!((cell.verdict, cell.lead().unwrap().interval), (CellVerdict::Undecided, None));
    assert!(near(cell.slowdown().unwrap(), 2.2) && cell.causes.is_empty());
}

#[test]
fn a_run_that_failed_leaves_its_reason_and_the_others_count() {
    let (mut meta, like) = (meta(2, 3), any());
    let mut results: Vec<_> = meta.runs.iter().map(|_| Some(result(&like, ALONE))).collect();
    for (at, run) in meta.runs.iter_mut().enumerate() {
        if run.neighbour == Some(1) || at == 1 {
            (run.state, results[at]) = (RunState::Failed { reason: format!("exit code {at}") }, None);
        }
    }
    let found = cells(&meta, &results);
    assert_eq!((found[0].lead().unwrap().pairs, found[0].failures.as_slice()), (2, &["exit code 1".to_string()][..]));
    assert_eq!((found[1].verdict, found[1].slowdown()), (CellVerdict::Missing, None));
    assert_eq!(found[1].lead().unwrap().missing.as_deref(), Some("exit code 2"));
    // Without the run alone there is nothing to compare with.
    (meta.runs[0].state, results[0]) = (RunState::Failed { reason: "gone".to_string() }, None);
    let found = cells(&meta, &results);
    assert!(found[0].lead().unwrap().pairs == 2, "{:?}", found[0]);
    assert_eq!(found[0].failures, ["exit code 1"]);
}

#[test]
fn without_operations_work_that_ends_is_one() {
    let profile = digest(None);
    let run = |complete| RunResult { digest: profile.clone(), has_ops: false, complete, ..any() };
    let whole = run(true);
    assert!(whole.value(SlowdownMeasure::Wall).is_ok() && whole.value(SlowdownMeasure::Throughput).is_err());
    for measure in SlowdownMeasure::ALL {
        assert!(run(false).value(measure).is_err(), "{measure:?}");
    }
    let mut meta = meta(1, 2);
    meta.measure = None;
    let results: Vec<_> = meta.runs.iter().map(|_| Some(run(true))).collect();
    let cell = &cells(&meta, &results)[0];
    assert_eq!((cell.primary, cell.verdict), (SlowdownMeasure::Wall, CellVerdict::WithinNoise));
}

#[test]
fn a_victim_at_a_set_rate_leads_with_what_its_users_wait_for() {
    let mut meta = meta(1, 2);
    meta.measure = None;
    meta.victims[0].command.push("{rate}".to_string());
    let like = any();
    let run = |p99: Option<f64>| {
        let mut run = result(&like, ALONE);
        run.latency[1] = p99.map_or(run.latency[1], Measure::exact);
        Some(run)
    };
    let found = |p99: [Option<f64>; 2]| {
        let results: Vec<_> = meta.runs.iter().map(|own| run(p99[usize::from(own.neighbour.is_some())])).collect();
        cells(&meta, &results).remove(0)
    };
    let cell = found([Some(2e6), Some(6e6)]);
    assert_eq!((cell.primary, cell.verdict), (SlowdownMeasure::P99, CellVerdict::Slower));
    assert!(near(cell.slowdown().unwrap(), 3.0));
    assert_eq!(found([None, None]).primary, SlowdownMeasure::Cost);
}

/// The claim: of identical programs, one in twenty has an interval that leaves out 1.
#[test]
fn identical_programs_are_called_different_as_often_as_claimed() {
    let (mut random, like) = (Random::new(11), any());
    // Sums of uniform numbers are nearly normal.
    let mut noise = move || (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0;
    let (neighbours, matrices) = (8, 120);
    let mut wrong = 0_u32;
    for _ in 0..matrices {
        let meta = meta(neighbours, 4);
        let mut drift = 0.0;
        let runs = meta.runs.iter().map(|run| {
            // A block drifts as a whole, by far more than its runs scatter.
            drift = if run.neighbour.is_none() { 0.3 * noise() } else { drift };
            let by = (drift + 0.05 * noise()).exp();
            Some(result(&like, Operation { running: ALONE.running * by, queued: 0.0, blocked: ALONE.blocked * by }))
        });
        let found = cells(&meta, &runs.collect::<Vec<_>>());
        wrong += found.iter().filter(|cell| matches!(cell.verdict, CellVerdict::Slower | CellVerdict::Faster)).count()
            as u32;
    }
    let share = f64::from(wrong) / (f64::from(matrices) * neighbours as f64);
    // Cells of one matrix share their runs alone, so the count scatters more than 960 tosses would.
    assert!((0.02..0.085).contains(&share), "{wrong} of {} cells", matrices as usize * neighbours);
}

#[test]
fn a_profile_has_what_a_program_does_to_others_and_what_they_do_to_it() {
    let (mut meta, like) = (meta(2, 2), any());
    // The second neighbour is the victim's own program.
    meta.neighbours[1] = ColocatedProgram { ..meta.victims[0].clone() };
    let slow = Operation { running: 1.8e-3, ..ALONE };
    let results: Vec<_> =
        meta.runs.iter().map(|run| Some(result(&like, if run.neighbour == Some(1) { slow } else { ALONE }))).collect();
    let found = cells(&meta, &results);
    let profiles = profiles(&meta, &results, &found);
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, ["victim", "neighbour-0"]);
    assert!(near(profiles[0].pressure.unwrap(), 2.0) && near(profiles[0].sensitivity.unwrap(), 1.5));
    assert!(near(profiles[1].pressure.unwrap(), 1.0) && profiles[1].sensitivity.is_none());
    assert_eq!((profiles[0].runs, profiles[1].runs), (2, 0));
    let value = |name: &str| profiles[0].values.iter().find(|value| value.name == name).unwrap().value;
    assert!(value("busy_cpus").value().is_some() && value("ipc").value().is_none());
    assert!(meta.runs.iter().all(|run| run.purpose == RunPurpose::Cell));
}
