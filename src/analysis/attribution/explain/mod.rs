//! Explains a slowdown from the program outwards: path length, then what keeps it from running, then what makes its
//! cycles or its CPU time more expensive. `suspects` names neighbours, and only as correlated.

mod cycles;
mod no_pmu;
mod shares;
mod stolen;
mod waits;

use super::pooled::PooledWindows;
use super::types::{Cause, Confidence, Evidence, Moved, Where};
use super::words::against;
use crate::analysis::diff::PRIMARY;
use crate::model::{HostFacts, MetricId};
use shares::Shares;
use stolen::{Stolen, stolen};

/// Every cause that fits, the largest first.
pub(super) fn explain(pool: &PooledWindows, facts: &HostFacts) -> Vec<Evidence> {
    let Stolen { evidence: stolen, in_cpu_time, shares } = stolen(pool, Shares::of(pool), facts.stolen_in_cpu_time);
    let mut all: Vec<Evidence> = path(pool, &shares).into_iter().collect();
    all.extend(waits::evidence(pool, &shares));
    all.extend(stolen);
    let left = (shares.cpu_side() - in_cpu_time).max(0.0);
    all.extend(match pool.get(MetricId::Cpi) {
        Some(_) => cycles::evidence(pool, &shares, in_cpu_time, facts.virtual_machine),
        None => no_pmu::evidence(pool, left),
    });
    if all.is_empty() {
        all.extend(together(pool, &shares));
    }
    // The sort is stable: equal shares keep the order of decision. A cause without a share is weighted by its
    // confidence.
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    all
}

/// The largest factor, if each grew too little to be reported on its own.
fn together(pool: &PooledWindows, shares: &Shares) -> Option<Evidence> {
    let cost = worse(pool, PRIMARY)?;
    let factors =
        [(Cause::PathLength, shares.path), (Cause::CpiOther, shares.cpi), (Cause::Frequency, shares.frequency)];
    let (cause, share) =
        factors.into_iter().filter_map(|(cause, share)| Some((cause, share?))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = format!("{}: several factors grew a little, this one most.", against(cost));
    Some(Evidence { cause, share: Some(share), confidence: Confidence::Low, text })
}

/// A cause without a share sorts after those that explain much and before those that explain little.
fn weight(evidence: &Evidence) -> f64 {
    evidence.share.unwrap_or(match evidence.confidence {
        Confidence::High => 0.3,
        Confidence::Medium => 0.2,
        Confidence::Low => 0.05,
    })
}

fn path(pool: &PooledWindows, shares: &Shares) -> Option<Evidence> {
    let moved = worse(pool, MetricId::PathLength)?;
    Some(Evidence {
        cause: Cause::PathLength,
        share: shares.path,
        confidence: Confidence::High,
        text: format!("{}: the program does more for each operation, whoever else runs.", against(moved)),
    })
}

/// A quantity that moved upwards.
fn worse<'a>(pool: &'a PooledWindows, id: MetricId) -> Option<&'a Moved> {
    pool.get(id).filter(|moved| moved.moved && moved.deviations > 0.0)
}

/// Where to look, given the leading cause and whether a neighbour moved with it.
///
/// `cleared`: everything else is ruled out: neighbours by their use and, where instructions cannot be told from cycles,
/// the program by its functions.
pub(super) fn place(cause: Cause, convincing: bool, cleared: bool, facts: &HostFacts) -> Where {
    match cause {
        Cause::PathLength => Where::Program,
        Cause::Throttling => Where::OwnLimits,
        Cause::Steal => Where::Outside,
        _ if convincing => Where::Neighbours,
        Cause::Waiting => Where::Unknown,
        // A queue forms on this machine, whoever filled it.
        Cause::RunQueue | Cause::Smt => Where::Unknown,
        _ if cleared && facts.virtual_machine => Where::Outside,
        _ => Where::Unknown,
    }
}

/// The kernel counts threads' waits for storage only with delay accounting on, and it is off by default.
fn storage(pool: &PooledWindows) -> &'static str {
    match pool.get(MetricId::PsiIoSome) {
        None => {
            "Waits for storage are not counted per thread, here or in the baseline, and cannot be seen: where the kernel's \
             delay accounting is off, `sudo sysctl kernel.task_delayacct=1` switches it on (record the baseline with it too)."
        }
        Some(_) => {
            "Waits for storage are not counted per thread, here or in the baseline, and are seen by the I/O pressure of its \
             group alone: where the kernel's delay accounting is off, `sudo sysctl kernel.task_delayacct=1` switches it on \
             (record the baseline with it too)."
        }
    }
}

/// What this machine or this recording cannot show about such a slowdown.
pub(super) fn unknown(
    pool: &PooledWindows,
    lead: Option<Cause>,
    neighbours_seen: bool,
    resctrl: bool,
    facts: &HostFacts,
) -> Vec<String> {
    let counted = pool.get(MetricId::Cpi).is_some();
    let probed = no_pmu::PROBES.iter().any(|id| pool.get(*id).is_some());
    let memory = matches!(
        lead,
        Some(Cause::Llc | Cause::MemoryBandwidth | Cause::PageWalk | Cause::CpiOther | Cause::CpuTimeOther)
    );
    let mut all = Vec::new();
    let mut say = |when: bool, text: &str| {
        if when {
            all.push(text.to_string());
        }
    };
    say(
        pool.windows > 0 && pool.get(PRIMARY).is_none(),
        "Operations are not counted, here or in the baseline: cost and load cannot be told apart (--ops).",
    );
    say(
        pool.windows > 0 && !counted,
        "No instructions are counted, here or in the baseline: more work in the program and slower cycles look alike.",
    );
    say(
        pool.windows > 0 && pool.get(MetricId::Utilisation).is_some() && pool.get(MetricId::BlockIoDelay).is_none(),
        storage(pool),
    );
    say(
        memory && !counted && !probed,
        "Memory is not probed, here or in the baseline: caches and memory cannot be told from the program (--probe).",
    );
    say(
        counted && memory && pool.get(MetricId::LlcMpki).is_none(),
        "Misses of the last-level cache are not counted, here or in the baseline (--hardware).",
    );
    say(
        lead.is_some() && !neighbours_seen,
        "Who else used the machine was not recorded (--neighbours): nobody can be suspected.",
    );
    say(
        memory && neighbours_seen && !resctrl,
        "Who holds the cache and who moves memory is not measured on this machine (no resctrl group): neighbours are held \
         against their CPU time alone.",
    );
    say(
        lead.is_some() && facts.virtual_machine,
        "This is a virtual machine: others on its host are seen by what they steal, and not by the caches and the memory \
         they share with it.",
    );
    all
}
