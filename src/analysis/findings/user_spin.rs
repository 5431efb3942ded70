//! CPUs that wait actively in the program: known spin loops, and sched_yield in a loop. A tight loop alone is not
//! called a wait: a fast computation kernel has the same shape.

use super::code_path::{CodeClass, Families};
use super::stacks::{CodeShare, StackKind, Stacks};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::names::CodeKind;
use crate::analysis::text::{name, percent, threads};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "spin-wait",
    title: "spinning in the program",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::UserSpin],
    evaluate,
};

/// Share of samples in functions that wait actively, or yield the CPU to wait. [P]
const USER_SPIN: f64 = 0.05;

/// Share of samples in one function from which it may be a wait loop. [P]
const TIGHT_SHARE: f64 = 0.5;

/// Bytes of code that a wait loop fits into. [P]
const TIGHT_BYTES: u64 = 64;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    let stacks = context.samples()?;
    let spinning = |kind: &StackKind| kind.class == CodeClass::UserSpin;
    let spins = stacks.part(|kind| (spinning(kind) && kind.runs(Families::USER_SPIN)).then_some(0));
    let yields = stacks.part(|kind| kind.yields.filter(|_| spinning(kind)));
    if spins.share >= USER_SPIN && spins.threads() >= 2 {
        return Ok(Some(found(&spins, Confidence::Medium)));
    }
    if yields.share >= USER_SPIN {
        return Ok(Some(found(&yields, Confidence::Low)));
    }
    if in_a_tight_loop(context, stacks) { Err(context.no_counter()) } else { Ok(None) }
}

fn found(part: &CodeShare<'_, '_>, confidence: Confidence) -> Finding {
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(part.share),
        claim: format!(
            "Spin waits take {} of the CPU time, most of it in {}, in {}.",
            percent(part.share),
            name(part.function()),
            threads(part.threads())
        ),
        evidence: vec![Evidence::of("in spin waits", part.share, U::Share, USER_SPIN)],
        confidence,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "a single thread has the same share",
        next_step:
            "Find out what these threads wait for and who holds it; block after a short spin, or hold it for less \
             time."
                .to_string(),
    }
}

/// Whether at least two threads spend their time in the same few bytes of code, as a wait does. Only a counter of pause
/// instructions or of the loop's loads could decide.
fn in_a_tight_loop(context: &RuleContext<'_>, stacks: &Stacks<'_>) -> bool {
    let hottest = context.functions.rows.first();
    let Some(hottest) = hottest.filter(|row| row.kind == CodeKind::User) else { return false };
    if context.functions.share(hottest.self_weight) < TIGHT_SHARE {
        return false;
    }
    let leaf = stacks.part_at_leaf(|function| function.name == hottest.name && function.module == hottest.module);
    let mut addresses: Vec<(u64, u64)> = Vec::new();
    for (row, _) in stacks.rows().filter(|(_, kind)| stacks.leaf(kind).name == hottest.name) {
        let frame = context.profile.walk(row.stack).next().and_then(|id| context.profile.frame(id));
        addresses.extend(frame.map(|frame| (frame.address, row.weight)));
    }
    leaf.threads() >= 2 && narrow(addresses)
}

/// Whether nine tenths of the weight lie within [`TIGHT_BYTES`] around its middle.
fn narrow(mut addresses: Vec<(u64, u64)>) -> bool {
    addresses.sort_unstable();
    let all: u64 = addresses.iter().map(|(_, weight)| weight).sum();
    let mut below = 0;
    let inner = addresses.iter().filter(|(_, weight)| {
        let before = below;
        below += weight;
        below.saturating_mul(20) >= all && before.saturating_mul(20) <= all.saturating_mul(19)
    });
    let inner: Vec<u64> = inner.map(|(address, _)| *address).collect();
    match (inner.first(), inner.last()) {
        (Some(first), Some(last)) => last - first < TIGHT_BYTES,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_addresses_do_not_widen_a_loop() {
        assert!(narrow(vec![(0x100, 500), (0x120, 500), (0x900, 20)]));
        assert!(!narrow(vec![(0x100, 500), (0x180, 500)]));
        assert!(!narrow(vec![]));
    }
}
