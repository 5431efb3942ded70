//! Reads a sweep back from its folder and digests each run from its recording again.

use super::runner::digest;
use super::{Folder, per_core};
use crate::analysis::findings::evaluate_sweep;
use crate::analysis::sweep::{Run, SweepAnalysis};
use crate::error::Result;
use crate::model::{Note, Progress, ProgressUnit, Region, RunMeta, RunState, SweepMeta};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads a sweep. A run whose recording cannot be read does not count, and a note states the reason.
///
/// # Errors
/// The sweep does not exist or cannot be read.
pub fn load(path: &Path) -> Result<(SweepMeta, Vec<Option<Run>>)> {
    load_with(path, &Progress::default())
}

/// As [`load`], telling how many runs are read.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: &Path, progress: &Progress) -> Result<(SweepMeta, Vec<Option<Run>>)> {
    let (folder, mut meta) = Folder::open(path)?;
    progress.begin(format!("reading {}", path.display()), ProgressUnit::Runs, meta.runs.len() as u64);
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(meta.runs.len().max(1));
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = meta.runs.get(at) else { return done };
            done.push((at, read(&folder, &meta, run)));
            progress.add(1);
        }
    };
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let mut results = vec![None; meta.runs.len()];
    for (at, result) in parts {
        match result {
            Ok(run) => results[at] = run,
            Err(error) => meta.notes.push(Note {
                topic: "run-unreadable".to_string(),
                text: format!("{} does not count: {error}", meta.runs[at].recording),
                fix: None,
            }),
        }
    }
    Ok((meta, results))
}

fn read(folder: &Folder, meta: &SweepMeta, run: &RunMeta) -> Result<Option<Run>> {
    match (&run.state, folder.recording(&run.recording)) {
        (RunState::Done { .. }, Ok(path)) => digest(meta, run, &path).map(Some),
        _ => Ok(None),
    }
}

/// Analyses the sweep with the results so far.
#[must_use]
pub fn analyse(meta: &SweepMeta, results: &[Option<Run>]) -> SweepAnalysis {
    let mut widths: BTreeMap<u32, (Region, Vec<Run>)> = BTreeMap::new();
    for (run, result) in meta.runs.iter().zip(results) {
        if let Some(result) = result {
            widths.entry(run.n).or_insert_with(|| (run.region, Vec::new())).1.push(result.clone());
        }
    }
    let threads_per_core = |n: u32| {
        let run = meta.runs.iter().find(|run| run.n == n && !run.cpus.is_empty())?;
        Some(per_core(&meta.host.cpus, &run.cpus))
    };
    let runs = widths.into_iter().map(|(n, (region, runs))| (n, region, runs)).collect();
    let mut analysis = SweepAnalysis::of(runs, threads_per_core);
    let SweepAnalysis { points, base, fits, stacks, losses, .. } = &analysis;
    analysis.findings = evaluate_sweep(points, *base, stacks, losses, fits);
    analysis
}
