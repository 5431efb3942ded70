//! Causes of more CPU time per operation where instructions are not counted, from the memory probes if they ran. The
//! program's own work and slower cycles are indistinguishable here, so the program stays a candidate.

use super::super::pooled::PooledWindows;
use super::super::types::{Cause, Evidence, QuantityDeviation};
use super::super::words::comparison;
use crate::analysis::diff::PRIMARY;
use crate::analysis::finding::Confidence;
use crate::analysis::text::percent;
use crate::model::MetricId;

/// Latencies that memory probes measure, ordered by the cost of the access.
pub(in super::super) const PROBES: [MetricId; 5] = [
    MetricId::ProbeL2Latency,
    MetricId::ProbeLlcLatency,
    MetricId::ProbeDramLatency,
    MetricId::ProbeTlbLatency,
    MetricId::ProbeRemoteLatency,
];

/// Minimum slowdown of a probe. How well probes tell interference from noise depends on the machine, so evidence from
/// probes alone has low confidence.
const SLOWER: f64 = 0.05;
/// Probes whose slowdowns differ by no more than this have one common reason.
const ALIKE: f64 = 0.15;

/// The causes; `share` is the part of the slowdown left for CPU time.
pub(super) fn evidence(pool: &PooledWindows, share: f64) -> Vec<Evidence> {
    let Some(cost) = pool.grown(PRIMARY) else { return Vec::new() };
    let share = Some(share).filter(|share| *share > 0.0);
    let probes = probes(pool, share);
    if probes.is_empty() { vec![other(pool, cost, share)] } else { probes }
}

fn slower(pool: &PooledWindows, id: MetricId) -> Option<&QuantityDeviation> {
    pool.grown(id).filter(|moved| moved.now >= (1.0 + SLOWER) * moved.expected)
}

fn probes(pool: &PooledWindows, share: Option<f64>) -> Vec<Evidence> {
    let ratio =
        |id: MetricId| pool.get(id).filter(|moved| moved.expected > 0.0).map(|moved| moved.now / moved.expected);
    let near: Vec<f64> = PROBES[..3].iter().filter_map(|id| ratio(*id)).collect();
    if let (Some(l2), true) = (slower(pool, PROBES[0]), near.len() >= 2 && alike(&near)) {
        return vec![clock(l2, share)];
    }
    let of = |id: MetricId, cause: Cause, what: &str| {
        let moved = slower(pool, id)?;
        let text = format!("{}: {what}", comparison(moved));
        Some(Evidence { cause, share: None, confidence: Confidence::Low, text })
    };
    // Traffic that makes memory slower also crowds the caches on its way, and page walks read through both. A crowded
    // cache alone leaves memory latency unchanged.
    let found = [
        of(PROBES[2], Cause::MemoryBandwidth, "memory was busier."),
        of(PROBES[4], Cause::RemoteMemory, "the way to other nodes was busy."),
        of(PROBES[1], Cause::Llc, "the last-level cache was fuller or busier."),
        of(PROBES[3], Cause::PageWalk, "page walks took longer."),
    ];
    let mut all: Vec<Evidence> = found.into_iter().flatten().collect();
    if let Some(first) = all.first_mut() {
        first.share = share;
    }
    all
}

fn alike(ratios: &[f64]) -> bool {
    let (low, high) = ratios.iter().fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(*at), high.max(*at)));
    high <= low * (1.0 + ALIKE) && low >= 1.0 + SLOWER
}

fn clock(l2: &QuantityDeviation, share: Option<f64>) -> Evidence {
    Evidence {
        cause: Cause::Frequency,
        share,
        confidence: Confidence::Medium,
        text: format!(
            "{}, and the other probes as much: cycles themselves take longer (a slower clock, the core's other thread, or \
             time that the hypervisor took).",
            comparison(l2)
        ),
    }
}

fn other(pool: &PooledWindows, cost: &QuantityDeviation, share: Option<f64>) -> Evidence {
    let mut text = format!("{}.", comparison(cost));
    if let Some(system) = pool.get(MetricId::SystemShare).filter(|moved| moved.moved) {
        let (now, then) = (percent(system.now), percent(system.expected));
        text.push_str(&format!(" Of its CPU time {now} is the kernel's, usually {then}."));
    }
    for id in [MetricId::MinorFaultsPerOp, MetricId::VoluntarySwitchesPerOp, MetricId::InvoluntarySwitchesPerOp] {
        if let Some(moved) = pool.grown(id) {
            text.push_str(&format!(" {} per operation: {}.", capital(moved.quantity.label), moved.change()));
        }
    }
    let probed = PROBES.iter().filter(|id| pool.get(**id).is_some()).count();
    if probed > 0 {
        text.push_str(" Memory answers the probes as usual.");
    }
    Evidence { cause: Cause::CpuTimeOther, share, confidence: Confidence::Low, text }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
