//! The runs in order. A block holds every run of one victim once, and a run alone with which they are compared, all in
//! random order: drift of the machine affects them alike. The same seed results in the same order.

use super::folder::recording_name;
use crate::analysis::stats::Random;
use crate::model::{ColocateMeta, ColocateRun, ColocatedProgram, Control, RunPurpose, RunState};

/// A cell: victim, neighbour and load.
pub type CellKey = (usize, usize, f64);

/// The runs of all cells: what must be known first, then the blocks. One repeat comes after the other, and the victims
/// of each are shuffled.
#[must_use]
pub fn cell_runs(meta: &ColocateMeta) -> Vec<ColocateRun> {
    let mut random = Random::new(meta.seed);
    let mut runs = first_runs(meta);
    for repeat in 0..meta.repeats {
        let mut victims: Vec<usize> = (0..meta.victims.len()).collect();
        shuffle(&mut victims, &mut random);
        for (place, victim) in victims.into_iter().enumerate() {
            let block = 1 + repeat * count(meta.victims.len()) + count(place);
            let mut members = alone(meta, victim, block);
            for neighbour in 0..meta.neighbours.len() {
                let beside = |load: &f64| ColocateRun {
                    neighbour: Some(neighbour),
                    ..run(RunPurpose::Cell, Some(victim), *load, block)
                };
                members.extend(meta.loads.iter().map(beside));
            }
            shuffle(&mut members, &mut random);
            runs.extend(members);
        }
    }
    named(runs, 0)
}

/// The runs that try controls on slow cells: in each block a run alone, one beside the neighbour as it is, and one with
/// each control.
#[must_use]
pub fn what_if_runs(meta: &ColocateMeta, slow: &[CellKey], controls: &[Control]) -> Vec<ColocateRun> {
    let mut random = Random::new(meta.seed ^ 0x5EED);
    let mut runs = Vec::new();
    let mut block = meta.runs.iter().map(|run| run.block).max().unwrap_or(0);
    for _ in 0..meta.repeats {
        for (victim, neighbour, load) in slow {
            block += 1;
            let base = run(RunPurpose::WhatIf, Some(*victim), *load, block);
            let beside = ColocateRun { neighbour: Some(*neighbour), ..base.clone() };
            let held = |control: &Control| ColocateRun { control: Some(*control), ..beside.clone() };
            let mut members: Vec<ColocateRun> = controls.iter().map(held).collect();
            members.extend([base, beside]);
            shuffle(&mut members, &mut random);
            runs.extend(members);
        }
    }
    named(runs, meta.runs.len())
}

/// Each neighbour alone, and each victim whose full rate is to be found.
fn first_runs(meta: &ColocateMeta) -> Vec<ColocateRun> {
    let profile = |at| ColocateRun { neighbour: Some(at), ..run(RunPurpose::Profile, None, 1.0, 0) };
    let needs_rate =
        |at: &usize| meta.victims.get(*at).is_some_and(|victim| victim.takes_rate() && victim.full_rate.is_none());
    let rates = (0..meta.victims.len()).filter(needs_rate);
    let rates = rates.map(|at| run(RunPurpose::FullRate, Some(at), 1.0, 0));
    (0..meta.neighbours.len()).map(profile).chain(rates).collect()
}

/// The victim alone: once, or once for each load that its command takes.
fn alone(meta: &ColocateMeta, victim: usize, block: u32) -> Vec<ColocateRun> {
    let takes_load = meta.victims.get(victim).is_some_and(ColocatedProgram::takes_load);
    let loads = if takes_load { meta.loads.clone() } else { vec![1.0] };
    loads.into_iter().map(|load| run(RunPurpose::Cell, Some(victim), load, block)).collect()
}

fn run(purpose: RunPurpose, victim: Option<usize>, load: f64, block: u32) -> ColocateRun {
    ColocateRun {
        purpose,
        victim,
        neighbour: None,
        load,
        block,
        control: None,
        recording: String::new(),
        state: RunState::Planned,
        ended_itself: false,
        restarts: 0,
        imposed: None,
    }
}

fn named(runs: Vec<ColocateRun>, from: usize) -> Vec<ColocateRun> {
    let name = |(at, run): (usize, ColocateRun)| ColocateRun { recording: recording_name(from + at), ..run };
    runs.into_iter().enumerate().map(name).collect()
}

fn shuffle<T>(all: &mut [T], random: &mut Random) {
    for last in (1..all.len()).rev() {
        let other = random.below(last + 1);
        all.swap(last, other);
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::folder::testing::meta;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_has_each_cell_of_a_victim_once_and_a_run_alone() {
        let meta = meta(&["a", "b"], &["x", "y", "z"], &[0.5, 1.0], 3);
        let runs = cell_runs(&meta);
        assert_eq!(runs.len(), 3 + 3 * 2 * (1 + 3 * 2));
        assert!(runs[..3].iter().all(|run| run.purpose == RunPurpose::Profile && run.victim.is_none()));
        for block in runs[3..].chunks(7) {
            let first = &block[0];
            assert!(block.iter().all(|run| (run.block, run.victim) == (first.block, first.victim)));
            assert_eq!(block.iter().filter(|run| run.neighbour.is_none()).count(), 1);
            let cells: BTreeSet<_> = block.iter().map(|run| (run.neighbour, run.load.to_bits())).collect();
            assert_eq!(cells.len(), 7);
        }
        let blocks: BTreeSet<u32> = runs.iter().map(|run| run.block).collect();
        let recordings: BTreeSet<&str> = runs.iter().map(|run| run.recording.as_str()).collect();
        assert_eq!((blocks.len(), recordings.len()), (7, runs.len()));
    }

    #[test]
    fn a_victim_that_takes_a_load_runs_alone_at_each_of_them() {
        let mut meta = meta(&["a"], &["x"], &[0.2, 0.8], 1);
        meta.victims[0].command.push("{load}".to_string());
        let runs = cell_runs(&meta);
        let alone: Vec<&ColocateRun> =
            runs.iter().filter(|run| run.victim.is_some() && run.neighbour.is_none()).collect();
        let beside = |load: f64| runs.iter().find(|run| run.neighbour.is_some() && run.load == load && run.block == 1);
        assert_eq!(alone.len(), 2);
        for load in [0.2, 0.8] {
            let base: Vec<f64> = alone
                .iter()
                .filter(|alone| beside(load).is_some_and(|run| meta.is_base_of(alone, run)))
                .map(|run| run.load)
                .collect();
            assert_eq!(base, [load]);
        }
        meta.victims[0].command.push("{rate}".to_string());
        assert_eq!(cell_runs(&meta)[1].purpose, RunPurpose::FullRate);
        meta.victims[0].full_rate = Some(9.0);
        assert!(cell_runs(&meta).iter().all(|run| run.purpose != RunPurpose::FullRate));
    }

    #[test]
    fn a_seed_decides_the_order() {
        let meta = meta(&["a", "b", "c"], &["x", "y", "z"], &[1.0], 3);
        assert_eq!(cell_runs(&meta), cell_runs(&meta));
        assert_ne!(cell_runs(&meta), cell_runs(&ColocateMeta { seed: meta.seed + 1, ..meta.clone() }));
    }

    #[test]
    fn a_control_is_tried_between_runs_without_it() {
        let mut meta = meta(&["a"], &["x"], &[1.0], 2);
        meta.runs = cell_runs(&meta);
        let runs = what_if_runs(&meta, &[(0, 0, 1.0)], &[Control::Cpuset, Control::CpuMax]);
        assert_eq!(runs.len(), 2 * 4);
        for block in runs.chunks(4) {
            assert!(block[0].block > 2 && block.iter().all(|run| run.block == block[0].block));
            let controls: BTreeSet<_> = block.iter().map(|run| (run.neighbour, run.control)).collect();
            assert_eq!(controls.len(), 4);
            let base = block.iter().filter(|alone| block.iter().all(|run| meta.is_base_of(alone, run)));
            assert_eq!(base.count(), 1);
        }
        assert!(runs.iter().all(|run| meta.runs.iter().all(|known| known.recording != run.recording)));
    }
}
