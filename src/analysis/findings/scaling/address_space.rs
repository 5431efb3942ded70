//! Page faults and changes of the address space that cost more per operation, with the lock that all threads share there.
//! It never blames faults that every width has: they must cost more, or become more.

use super::growth::Lead;
use super::paths::{Code, Wait};
use super::places::{below, blocked_place, cpu_place, kernel_seen};
use super::step::Step;
use super::words::{digits, name, percent};
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::MetricUnit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "page-faults", title: "page faults and the address space", kind: Kind::Cpu, judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let faults = step.per_op("minor_faults").ok();
    let more = faults.is_some_and(|change| change.grew() && change.by(limits::FAULTS));
    let (on, off) = (step.code_share(Code::AddressSpace), step.wait_share(Wait::AddressSpace));
    if on + off < limits::FACTOR {
        // More faults whose cost nobody can see are no verdict.
        return if more && step.cpu_grew() { kernel_seen(step).map(|()| None) } else { Ok(None) };
    }
    let share = (on + off).min(1.0);
    let waits = off > on;
    let lead = if waits {
        step.waits().ok().and_then(|waits| waits.lead(Wait::AddressSpace))
    } else {
        step.cpu().ok().and_then(|cpu| cpu.lead(Code::AddressSpace))
    };
    let mut evidence = vec![
        Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
        Evidence::plain("by CPU time", on, U::Share),
        Evidence::plain("blocked by the address space's lock", off, U::Share),
    ];
    evidence.extend(faults.map(|change| Evidence::plain("minor faults per operation", change.here.value, U::Count)));
    if let Some(ratio) = faults.and_then(|change| change.ratio()) {
        evidence.push(Evidence::of("growth of these", ratio, U::Ratio, limits::FAULTS));
    }
    let count = faults.map_or(String::new(), |change| {
        format!(
            "; {} faults per operation, {} at n={}",
            digits(change.here.value),
            digits(change.base.value),
            step.base.n
        )
    });
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores serve page faults and changes of the address space{}{count}.",
            percent(share),
            lead.map_or(String::new(), mostly)
        ),
        evidence,
        confidence: Confidence::High,
        place: lead.map(if waits { blocked_place } else { cpu_place }),
        refuted_by: "with memory touched and kept before the measurement the loss stays",
        next_step:
            "Keep memory instead of returning it (malloc's trim threshold, pools), use huge pages, or processes \
                    instead of threads."
                .to_string(),
    }))
}

fn mostly(lead: &Lead) -> String {
    format!(", most of it in {}{}", name(&lead.function), below(lead))
}
