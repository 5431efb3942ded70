//! What this machine or this recording cannot show about a slowdown, in sentences.

use super::super::pooled::PooledWindows;
use super::super::types::Cause;
use super::no_pmu;
use crate::analysis::diff::PRIMARY;
use crate::model::{HostFacts, MetricId};

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
pub(in super::super) fn unknown(
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
        "Other programs on the machine were not recorded (--neighbours): no neighbour can be suspected.",
    );
    say(
        memory && neighbours_seen && !resctrl,
        "Who holds the cache and who moves memory are not measured on this machine (no resctrl group): neighbours are \
         compared by their CPU time alone.",
    );
    say(
        lead.is_some() && facts.virtual_machine,
        "This is a virtual machine: others on its host are seen by what they steal, and not by the caches and the memory \
         they share with it.",
    );
    all
}
