//! Ranks the neighbours that moved with the target's slowdown, and collects other evidence for each. The ranking is no
//! proof: a bursty innocent scores as high as a culprit, and a steady culprit low.

use super::cpu_placement::{CpuPlacement, evidence};
use super::score::{Fit, fit};
use super::series::Past;
use super::settings::Settings;
use super::types::{Cause, NeighbourWindow, Suspect};
use crate::model::{HostFacts, NeighbourDef, NeighbourId, NeighbourKind};
use rustc_hash::FxHashMap;

/// Suspects reported.
const MOST: usize = 10;
/// The share of a group's use that one of its members must have to represent it.
const STANDS_FOR: f64 = 0.9;
/// Fit from which on a neighbour is named as the place to look.
pub(super) const CONVINCING: f64 = 0.6;
/// A neighbour with a lower fit did not move with the slowdown.
const LEAST_FIT: f64 = 0.2;
/// Minimum storage traffic of a suspect of slow storage, bytes per second.
const LEAST_IO: f64 = 64.0 * 1024.0;

/// A suspect with how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    pub suspect: Suspect,
    pub fit: f64,
}

/// The slowdown to find suspects for.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub cause: Cause,
    /// The windows, oldest first, without those that were not judged.
    pub past: &'a [&'a Past],
    /// For each window, whether it belongs to the slowdown.
    pub slow: &'a [bool],
    pub neighbours: &'a [NeighbourDef],
    pub facts: &'a HostFacts,
    pub settings: &'a Settings,
}

/// A neighbour's use in all windows.
struct Track<'a> {
    def: &'a NeighbourDef,
    uses: Vec<f64>,
    cores: Fit,
    fit: Fit,
}

/// The suspects, the likeliest first.
pub(super) fn suspects(question: &Question<'_>) -> Vec<Ranked> {
    let tracks = tracks(question);
    // Bytes of monitoring groups are not compared with the CPU time of others.
    let most = [false, true].map(|group| {
        let alike = tracks.iter().filter(|track| by_group(track.def.kind) == group);
        alike.map(|track| growth(&track.fit)).fold(0.0, f64::max)
    });
    let kept = once(&tracks, question);
    let beside = CpuPlacement::of(question);
    let mut ranked: Vec<(f64, Ranked)> = kept
        .into_iter()
        .map(|track| {
            // Of neighbours that fit equally well, the one that grew more is likelier.
            let most = most[usize::from(by_group(track.def.kind))];
            let size = if most > 0.0 { (growth(&track.fit) / most).clamp(0.0, 1.0) } else { 0.0 };
            let place = beside.weight(track.def.id, question.cause);
            (track.fit.fit * (0.4 + 0.6 * size.sqrt()) * place, rank(track, question, &beside))
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().map(|(_, ranked)| ranked).take(MOST).collect()
}

fn growth(fit: &Fit) -> f64 {
    (fit.slow - fit.before).max(0.0) + 0.1 * fit.slow
}

fn rank(track: &Track<'_>, question: &Question<'_>, beside: &CpuPlacement) -> Ranked {
    Ranked {
        fit: track.fit.fit,
        suspect: Suspect {
            who: track.def.clone(),
            score: track.fit.score,
            above_threshold: track.fit.score >= question.settings.threshold,
            cores: track.cores.slow,
            cores_before: track.cores.before,
            evidence: evidence(track.def, &track.fit, question, beside),
        },
    }
}

fn tracks<'a>(question: &Question<'a>) -> Vec<Track<'a>> {
    let mut columns: FxHashMap<NeighbourId, (Vec<f64>, Vec<f64>)> = FxHashMap::default();
    let windows = question.past.len();
    for (at, past) in question.past.iter().enumerate() {
        for used in &past.neighbours {
            let (uses, cores) =
                columns.entry(used.neighbour).or_insert_with(|| (vec![0.0; windows], vec![0.0; windows]));
            if let (Some(u), Some(c)) = (uses.get_mut(at), cores.get_mut(at)) {
                (*u, *c) = (amount(question.cause, used), used.cores);
            }
        }
    }
    let excess: Vec<f64> = question.past.iter().map(|past| past.excess(question.cause).unwrap_or(f64::NAN)).collect();
    let of = |def: &'a NeighbourDef| {
        let (uses, cores) = columns.remove(&def.id)?;
        let (fit, cores) = (fit(&excess, &uses, question.slow), fit(&excess, &cores, question.slow));
        let least = if question.cause == Cause::Io { LEAST_IO } else { question.settings.least_neighbour };
        let enough = if by_group(def.kind) { fit.slow > 0.0 } else { fit.slow >= least };
        (enough && fit.fit >= LEAST_FIT).then_some(Track { def, uses, cores, fit })
    };
    question.neighbours.iter().filter_map(of).collect()
}

/// How much a neighbour used of the contended resource.
fn amount(cause: Cause, used: &NeighbourWindow) -> f64 {
    match cause {
        Cause::Io => used.io_rate.unwrap_or(0.0),
        // A monitoring group reports only its cache and its traffic.
        Cause::Llc if used.cores == 0.0 => used.llc_bytes.map_or(0.0, |bytes| bytes as f64),
        Cause::MemoryBandwidth if used.cores == 0.0 => used.memory_rate.unwrap_or(0.0),
        _ => used.cores,
    }
}

fn by_group(kind: NeighbourKind) -> bool {
    kind == NeighbourKind::Resctrl
}

/// Drops control groups that one of their members represents: a process, or a group below.
fn once<'t, 'a>(tracks: &'t [Track<'a>], question: &Question<'_>) -> Vec<&'t Track<'a>> {
    let used = |track: &Track<'_>| {
        let slow = track.uses.iter().zip(question.slow).filter(|(_, slow)| **slow);
        slow.map(|(used, _)| *used).sum::<f64>()
    };
    let stands = |group: &Track<'_>| {
        let members = tracks.iter().filter(|track| is_within(track.def, group.def));
        members.map(used).fold(0.0, f64::max) >= STANDS_FOR * used(group)
    };
    tracks.iter().filter(|track| track.def.kind != NeighbourKind::Cgroup || !stands(track)).collect()
}

/// Whether a process or a group is inside that group.
fn is_within(def: &NeighbourDef, group: &NeighbourDef) -> bool {
    let below = |path: &str| {
        let rest = path.strip_prefix(group.name.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match def.kind {
        NeighbourKind::Process => def.cgroup.as_deref().is_some_and(below),
        NeighbourKind::Cgroup => def.id != group.id && def.name != group.name && below(&def.name),
        NeighbourKind::Resctrl | NeighbourKind::Rest => false,
    }
}
