//! Ranks the neighbours that moved with the target's slowdown, and collects other evidence for each. The ranking is no
//! proof: a bursty innocent scores as high as a culprit, and a steady culprit low.

use super::cpu_placement::{CpuPlacement, evidence};
use super::score::{UsageCorrelation, fit};
use super::types::{Cause, NeighbourActivity, Suspect};
use super::window_summary::SuspectQuery;
use crate::model::{NeighbourDef, NeighbourId, NeighbourKind};
use rustc_hash::FxHashMap;

/// Suspects reported.
const MOST: usize = 10;
/// The share of a group's use that one of its members must have to represent it.
const REPRESENTS: f64 = 0.9;
/// Fit from which on a neighbour is named as the place to look.
pub(super) const CONVINCING: f64 = 0.6;
/// A neighbour with a lower fit did not move with the slowdown.
const LEAST_FIT: f64 = 0.2;
/// Minimum storage traffic of a suspect of slow storage, bytes per second.
const LEAST_IO: f64 = 64.0 * 1024.0;

/// A suspect with how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankedSuspect {
    pub suspect: Suspect,
    pub fit: f64,
}

/// A neighbour's use in all windows.
struct Track<'a> {
    def: &'a NeighbourDef,
    uses: Vec<f64>,
    cores: UsageCorrelation,
    fit: UsageCorrelation,
}

/// The suspects, the likeliest first.
pub(super) fn suspects(query: &SuspectQuery<'_>) -> Vec<RankedSuspect> {
    let tracks = tracks(query);
    // Bytes of monitoring groups are not compared with the CPU time of others.
    let most = [false, true].map(|group| {
        let alike = tracks.iter().filter(|track| is_resctrl(track.def.kind) == group);
        alike.map(|track| growth(&track.fit)).fold(0.0, f64::max)
    });
    let kept = without_represented_groups(&tracks, query);
    let placement = CpuPlacement::of(query);
    let mut ranked: Vec<(f64, RankedSuspect)> = kept
        .into_iter()
        .map(|track| {
            // Of neighbours that fit equally well, the one that grew more is likelier.
            let most = most[usize::from(is_resctrl(track.def.kind))];
            let size = if most > 0.0 { (growth(&track.fit) / most).clamp(0.0, 1.0) } else { 0.0 };
            let place = placement.weight(track.def.id, query.cause);
            (track.fit.fit * (0.4 + 0.6 * size.sqrt()) * place, rank(track, query, &placement))
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().map(|(_, ranked)| ranked).take(MOST).collect()
}

fn growth(fit: &UsageCorrelation) -> f64 {
    (fit.slow - fit.before).max(0.0) + 0.1 * fit.slow
}

fn rank(track: &Track<'_>, query: &SuspectQuery<'_>, placement: &CpuPlacement) -> RankedSuspect {
    RankedSuspect {
        fit: track.fit.fit,
        suspect: Suspect {
            kind: track.def.kind,
            name: track.def.name.clone(),
            pid: track.def.pid,
            cgroup: track.def.cgroup.clone(),
            score: track.fit.score,
            above_threshold: track.fit.score >= query.settings.threshold,
            cores: track.cores.slow,
            cores_before: track.cores.before,
            evidence: evidence(track.def, &track.fit, query, placement),
        },
    }
}

fn tracks<'a>(query: &SuspectQuery<'a>) -> Vec<Track<'a>> {
    let mut columns: FxHashMap<NeighbourId, (Vec<f64>, Vec<f64>)> = FxHashMap::default();
    let windows = query.summaries.len();
    for (at, summary) in query.summaries.iter().enumerate() {
        for used in &summary.neighbours {
            let (uses, cores) =
                columns.entry(used.neighbour).or_insert_with(|| (vec![0.0; windows], vec![0.0; windows]));
            if let (Some(u), Some(c)) = (uses.get_mut(at), cores.get_mut(at)) {
                (*u, *c) = (amount(query.cause, used), used.cores);
            }
        }
    }
    let excess: Vec<f64> =
        query.summaries.iter().map(|summary| summary.excess(query.cause).unwrap_or(f64::NAN)).collect();
    let of = |def: &'a NeighbourDef| {
        let (uses, cores) = columns.remove(&def.id)?;
        let (fit, cores) = (fit(&excess, &uses, query.slow), fit(&excess, &cores, query.slow));
        let least = if query.cause == Cause::Io { LEAST_IO } else { query.settings.least_neighbour };
        let enough = if is_resctrl(def.kind) { fit.slow > 0.0 } else { fit.slow >= least };
        (enough && fit.fit >= LEAST_FIT).then_some(Track { def, uses, cores, fit })
    };
    query.neighbours.iter().filter_map(of).collect()
}

/// How much a neighbour used of the contended resource.
fn amount(cause: Cause, used: &NeighbourActivity) -> f64 {
    match cause {
        Cause::Io => used.io_rate.unwrap_or(0.0),
        // A monitoring group reports only its cache and its traffic.
        Cause::Llc if used.cores == 0.0 => used.llc_bytes.map_or(0.0, |bytes| bytes as f64),
        Cause::MemoryBandwidth if used.cores == 0.0 => used.memory_rate.unwrap_or(0.0),
        _ => used.cores,
    }
}

fn is_resctrl(kind: NeighbourKind) -> bool {
    kind == NeighbourKind::Resctrl
}

/// Drops control groups that one of their members represents: a process, or a group below.
fn without_represented_groups<'t, 'a>(tracks: &'t [Track<'a>], query: &SuspectQuery<'_>) -> Vec<&'t Track<'a>> {
    let used = |track: &Track<'_>| {
        let slow = track.uses.iter().zip(query.slow).filter(|(_, slow)| **slow);
        slow.map(|(used, _)| *used).sum::<f64>()
    };
    let is_represented = |group: &Track<'_>| {
        let members = tracks.iter().filter(|track| is_within(track.def, group.def));
        members.map(used).fold(0.0, f64::max) >= REPRESENTS * used(group)
    };
    tracks.iter().filter(|track| track.def.kind != NeighbourKind::Cgroup || !is_represented(track)).collect()
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
