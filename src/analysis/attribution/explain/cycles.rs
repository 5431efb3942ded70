//! Causes of more cycles per instruction, or of slower cycles, where hardware counts both. A quantity that only moved
//! along gets no share of its own.

use super::super::pooled::PooledWindows;
use super::super::types::{Cause, Evidence, QuantityDeviation};
use super::super::words::comparison;
use super::shares::SlowdownShares;
use crate::analysis::finding::Confidence;
use crate::model::MetricId;

/// Factor by which misses must grow to be a cause.
const MISSES: f64 = 1.3;
/// Amount by which a share of cycles must grow to be a cause.
const CYCLES: f64 = 0.02;
/// Share from which on the unexplained growth of cycles per instruction is reported.
const REST: f64 = 0.1;

/// The causes of more cycles per instruction and of slower cycles. `stolen` is the share of the slowdown that is CPU
/// time taken by the hypervisor.
pub(super) fn evidence(pool: &PooledWindows, shares: &SlowdownShares, stolen: f64, guest: bool) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = frequency(pool, shares, stolen, guest).into_iter().collect();
    let Some(cpi) = pool.grown(MetricId::Cpi) else { return all };
    let whole = shares.cpi.filter(|share| *share > 0.0);
    let mut measured: Vec<Evidence> =
        [smt(pool, cpi, whole), page_walks(pool, cpi, whole)].into_iter().flatten().collect();
    let covered: f64 = measured.iter().filter_map(|evidence| evidence.share).sum();
    // Cycles of a page walk may also be cycles of the sibling thread: together they explain no more than there is.
    if let Some(whole) = whole.filter(|whole| covered > *whole) {
        measured.iter_mut().for_each(|evidence| evidence.share = evidence.share.map(|share| share * whole / covered));
    }
    let rest = whole.map(|whole| (whole - covered).max(0.0));
    let memory: Vec<Evidence> = [remote(pool), llc(pool), bandwidth(pool)].into_iter().flatten().collect();
    if memory.is_empty() && rest.is_none_or(|rest| rest >= REST) {
        all.push(other(cpi, rest));
    }
    // The first of them leads with the rest; the others are listed as they are.
    all.extend(memory.into_iter().enumerate().map(|(at, evidence)| match at {
        0 => Evidence { share: rest, ..evidence },
        _ => evidence,
    }));
    all.extend(measured);
    all
}

/// Time that the hypervisor took counts as CPU time without cycles, so only the part it does not explain is a slower
/// clock. In a guest the virtual CPU may stop without notice, so the clock is not named there.
fn frequency(pool: &PooledWindows, shares: &SlowdownShares, stolen: f64, guest: bool) -> Option<Evidence> {
    let moved = pool.get(MetricId::Frequency).filter(|moved| moved.moved && moved.deviations < 0.0)?;
    let share = shares.frequency.map(|share| share - stolen);
    if stolen > 0.0 && share.is_none_or(|share| share < REST) {
        return None;
    }
    let (cause, confidence, caution) = match (guest, stolen > 0.0) {
        (true, _) => (
            Cause::CpuTimeOther,
            Confidence::Low,
            ": the clock was slower, or the virtual CPU did not run; cycles cannot tell these apart in a virtual machine",
        ),
        (false, true) => (Cause::Frequency, Confidence::Low, ". Stolen time looks the same"),
        (false, false) => (Cause::Frequency, Confidence::High, ""),
    };
    Some(Evidence { cause, share, confidence, text: format!("{}{caution}.", comparison(moved)) })
}

/// The part of the growth of cycles per instruction that one share of all cycles accounts for.
fn of_cycles(moved: &QuantityDeviation, cpi: &QuantityDeviation, whole: Option<f64>) -> Option<f64> {
    let grown = moved.now * cpi.now - moved.expected * cpi.expected;
    whole.map(|whole| whole * (grown / (cpi.now - cpi.expected)).clamp(0.0, 1.0))
}

fn more_cycles(pool: &PooledWindows, id: MetricId) -> Option<&QuantityDeviation> {
    pool.grown(id).filter(|moved| moved.now - moved.expected >= CYCLES)
}

fn smt(pool: &PooledWindows, cpi: &QuantityDeviation, whole: Option<f64>) -> Option<Evidence> {
    let moved = more_cycles(pool, MetricId::TmaSmtContention)?;
    Some(Evidence {
        cause: Cause::Smt,
        share: of_cycles(moved, cpi, whole),
        confidence: Confidence::High,
        text: format!("{}: the other thread of its core was busy.", comparison(moved)),
    })
}

fn page_walks(pool: &PooledWindows, cpi: &QuantityDeviation, whole: Option<f64>) -> Option<Evidence> {
    let moved = more_cycles(pool, MetricId::PageWalkShare).or_else(|| more_cycles(pool, MetricId::TmaDtlbLoad))?;
    Some(Evidence {
        cause: Cause::PageWalk,
        share: of_cycles(moved, cpi, whole),
        confidence: Confidence::High,
        text: format!("{}: translations were missing, or walks took longer.", comparison(moved)),
    })
}

fn more_misses(pool: &PooledWindows, id: MetricId) -> Option<&QuantityDeviation> {
    pool.grown(id).filter(|moved| moved.now >= MISSES * moved.expected)
}

/// More misses in the last level but not in the level before it: another program occupies the cache.
fn llc(pool: &PooledWindows) -> Option<Evidence> {
    let moved = more_misses(pool, MetricId::LlcMpki)?;
    let (confidence, more) = match pool.get(MetricId::L2Mpki) {
        Some(l2) if l2.now < MISSES * l2.expected => {
            (Confidence::High, format!(" The cache before it misses as usual: {}.", comparison(l2)))
        }
        Some(l2) => (Confidence::Low, format!(" The cache before it misses more as well: {}.", comparison(l2))),
        None => (Confidence::Medium, String::new()),
    };
    let text = format!("{}: less of the last-level cache was left for it.{more}", comparison(moved));
    Some(Evidence { cause: Cause::Llc, share: None, confidence, text })
}

fn bandwidth(pool: &PooledWindows) -> Option<Evidence> {
    let slower = pool.grown(MetricId::L3MissLatency).or_else(|| more_cycles(pool, MetricId::TmaMemoryBandwidth));
    let stalled = || pool.grown(MetricId::MemoryStallShare).filter(|_| more_misses(pool, MetricId::LlcMpki).is_none());
    let moved = slower.or_else(stalled)?;
    Some(Evidence {
        cause: Cause::MemoryBandwidth,
        share: None,
        confidence: if slower.is_some() { Confidence::High } else { Confidence::Low },
        text: format!("{}: memory answered later.", comparison(moved)),
    })
}

fn remote(pool: &PooledWindows) -> Option<Evidence> {
    let moved = pool.grown(MetricId::RemoteDramShare).filter(|moved| moved.now - moved.expected >= 0.1)?;
    Some(Evidence {
        cause: Cause::RemoteMemory,
        share: None,
        confidence: Confidence::Medium,
        text: format!("{}: its memory lies on another node, or it was moved to another.", comparison(moved)),
    })
}

fn other(cpi: &QuantityDeviation, share: Option<f64>) -> Evidence {
    Evidence {
        cause: Cause::CpiOther,
        share,
        confidence: Confidence::Low,
        text: format!("{}: no counted event explains it.", comparison(cpi)),
    }
}
