//! Planted bottlenecks, each in an otherwise healthy program: its own rule comes first, and no rule reports a program
//! that scales.
#![expect(clippy::unwrap_used, reason = "tests")]

mod classes;
mod counters;
mod evaluation;
mod locks;
mod synthetic;
mod tail;
mod whole;

use super::*;
use crate::analysis::Axis;
use crate::analysis::finding::RuleResults;
use crate::model::{Region, Why};
use synthetic::{OperationCost, SyntheticProgram, SyntheticSweep, even};

const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];
const FUTEX: &str = "[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";

fn lock(caller: &str) -> String {
    format!("worker;{caller};libc.so.6!pthread_mutex_lock;libc.so.6!__lll_lock_wait;{FUTEX}")
}

fn signal(caller: &str) -> String {
    format!("worker;{caller};libc.so.6!pthread_cond_wait;{FUTEX}")
}

/// The finding of the given rule.
fn finding(results: &RuleResults, rule: &str) -> Finding {
    let found = results.found.iter().find(|finding| finding.rule == rule);
    found.cloned().unwrap_or_else(|| panic!("{rule} is not among {:#?}", results.found))
}

fn locked() -> SyntheticProgram {
    SyntheticProgram::of(&WIDTHS, |n| {
        even()
            .off_cpu(&lock("take"), 150.0 * f64::from(n - 1))
            .each("voluntary_switches", 0.01 + 0.2 * f64::from(n - 1))
    })
}
