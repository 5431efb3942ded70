//! Rules that only a hardware counter can decide. Until its counter is recorded, each says why it cannot.
//! It never guesses at hardware from time alone.

use super::{Finding, Kind, Rule, Sight};
use crate::model::Why;

const fn rule(id: &'static str, title: &'static str) -> Rule {
    Rule { id, title, kind: Kind::Limit, judge }
}

/// In the order of decision.
pub(super) const RULES: [Rule; 7] = [
    rule("frequency", "lower clock frequency"),
    rule("smt-sharing", "core shared with a sibling thread"),
    rule("memory-bandwidth", "memory bandwidth used up"),
    rule("false-sharing", "cache lines shared between threads"),
    rule("remote-memory", "memory of another NUMA node"),
    rule("cache-capacity", "last-level cache too small"),
    rule("page-walks", "TLB misses and page walks"),
];

fn judge(sight: &Sight<'_>) -> Result<Option<Finding>, Why> {
    Err(sight.no_counter())
}
