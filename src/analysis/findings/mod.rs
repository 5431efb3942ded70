//! Finds what limits the selected threads, rule by rule, from one window: the verdict, its evidence and its place. A
//! rule that cannot decide reports why instead of guessing.
//!
//! A new rule is one file with its `RULE`, its thresholds and their source (`[V]` published, `[S]` measured in a
//! published study, `[P]` chosen for ironlaw), registered here: its module, and its place in [`RULES`].

mod allocator;
mod baseline_finding;
mod block_io;
mod blocked_throughout;
mod code_path;
mod contention;
mod context;
mod cpu_queue;
mod families;
mod fault_kinds;
mod hardware;
mod hot_function;
mod imbalance;
mod kernel_spin;
mod kernel_time;
mod limits;
mod lock_wait;
mod locked_instructions;
mod memory_pressure;
mod migrations;
mod mmap_lock;
mod others_wait;
mod page_faults;
mod paths;
mod process_starts;
mod rule;
mod serial;
mod sleepers;
mod stacks;
mod steal;
mod sweep;
mod throttling;
mod tlb_flush;
mod useless_wake_ups;
mod user_spin;
pub(super) mod wait_targets;
mod waits;
mod wide_vectors;

pub use baseline_finding::{SLOWER_THAN_BASELINE, baseline_finding};
pub use context::RuleContext;
pub use rule::evaluate;
use rule::{FindingKind, RemainderRule, Rule, Whole};
pub use sweep::evaluate_sweep;

use super::finding::{Confidence, Evidence, Finding, Place};

/// In decision order: cheap and certain rules come before those that need interpretation.
const RULES: &[Rule] = &[
    blocked_throughout::RULE,
    throttling::RULE,
    steal::RULE,
    cpu_queue::RULE,
    lock_wait::RULE,
    useless_wake_ups::RULE,
    block_io::RULE,
    memory_pressure::RULE,
    imbalance::RULE,
    serial::RULE,
    tlb_flush::RULE,
    mmap_lock::RULE,
    kernel_spin::RULE,
    user_spin::RULE,
    process_starts::RULE,
    page_faults::RULE,
    allocator::RULE,
    migrations::RULE,
    others_wait::RULE,
    hardware::FREQUENCY,
    hardware::SMT,
    hardware::BANDWIDTH,
    hardware::SHARING,
    hardware::REMOTE,
    hardware::CAPACITY,
    hardware::WALKS,
];

/// Rules that need the code of the program, where it was read.
const CODE_RULES: &[Rule] = &[locked_instructions::RULE, wide_vectors::RULE];

/// In decision order.
const REMAINDERS: &[RemainderRule] = &[kernel_time::RULE, hot_function::RULE];

#[cfg(test)]
mod tests;
