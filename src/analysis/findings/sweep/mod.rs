//! Finds why a program does not scale, rule by rule, from a sweep: compares each width that lost with the base, down to
//! the code. A sweep that scales has no findings, and time is split only where it was measured separately. A new rule
//! is registered as one of a recording is: its module here, and its place in [`RULES`].

mod address_space;
mod allocator;
mod bandwidth;
mod block_io;
mod cache_capacity;
mod contended_line;
mod context;
mod cpi_growth;
mod cpu_time_growth;
mod evaluate;
mod frequency;
mod growth;
mod hand_over;
mod hot_function;
mod imbalance;
mod kernel_spin;
mod kernel_time;
mod limits;
mod lock_costs;
mod locks;
mod mmap_lock;
mod more_work;
mod one_worker;
mod outside;
mod page_walks;
mod places;
mod remote_memory;
mod rule;
mod run_queue;
mod serial;
mod sharing;
mod slower;
mod smt;
mod spin;
mod steal;
mod tail_latency;
mod throttling;
mod tlb_flush;
mod unseen;
mod useless_wake_ups;
mod values;

pub use evaluate::evaluate_sweep;

use super::{Confidence, Evidence, Finding, Place};
use context::WidthContext;
use rule::{CostKind, Rule, lost_cores};

/// In decision order: cheap and certain rules, then those that need interpretation, then the remainders.
const RULES: &[Rule] = &[
    throttling::RULE,
    steal::RULE,
    run_queue::RULE,
    locks::RULE,
    block_io::RULE,
    one_worker::RULE,
    serial::RULE,
    imbalance::RULE,
    hand_over::RULE,
    outside::RULE,
    unseen::RULE,
    frequency::RULE,
    spin::RULE,
    contended_line::RULE,
    tlb_flush::RULE,
    mmap_lock::RULE,
    address_space::RULE,
    allocator::RULE,
    kernel_spin::RULE,
    kernel_time::RULE,
    smt::RULE,
    bandwidth::RULE,
    sharing::RULE,
    remote_memory::RULE,
    cache_capacity::RULE,
    page_walks::RULE,
    more_work::RULE,
    cpi_growth::RULE,
    cpu_time_growth::RULE,
];

#[cfg(test)]
mod tests;
