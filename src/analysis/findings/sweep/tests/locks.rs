//! Locks that are known by their code: who takes them, what they cost, and what looks like them.

use super::finding;
use super::synthetic::{OperationCost, SyntheticProgram, even};
use crate::analysis::finding::RuleResults;
use crate::model::Region;

/// The rules that found something, in their order.
fn rules(results: &RuleResults) -> Vec<&'static str> {
    results.found.iter().map(|finding| finding.rule).collect()
}

/// Nothing but a lock, whose function has no telling name, around a short section: 15 ns for one thread.
fn only_a_lock(n: u32) -> OperationCost {
    let contended = n > 1;
    let bare = OperationCost { cpu: Vec::new(), ..even() };
    let (lock, section) = if contended { (120.0, 20.0) } else { (10.0, 5.0) };
    bare.on_cpu("worker;update;app+0x1234@1", lock).on_cpu("worker;update", section)
}

#[test]
fn a_contended_lock_is_one_finding_at_the_function_that_takes_it() {
    let results = SyntheticProgram::of(&[1, 2], only_a_lock).results();
    assert_eq!(rules(&results), ["lock-wait"], "{:#?}", results.found);
    let found = finding(&results, "lock-wait");
    assert!((found.share.unwrap_or(0.0) - 1.0).abs() < 0.01, "{found:?}");
    assert!(found.claim.contains("most of it in `update`, by `app+0x1234`"), "{}", found.claim);
    assert_eq!(found.place.map(|place| place.frames), Some(vec!["worker".to_string(), "update".to_string()]));
}

#[test]
fn a_finding_at_stacks_that_are_cut_off_says_so() {
    let deep = |n| {
        let bare = OperationCost { cpu: Vec::new(), ..even() };
        bare.on_cpu("[truncated stack];down;update;app+0x1234@1", if n == 1 { 10.0 } else { 120.0 })
    };
    let cut = finding(&SyntheticProgram::of(&[1, 2], deep).results(), "lock-wait").claim;
    let whole = finding(&SyntheticProgram::of(&[1, 2], only_a_lock).results(), "lock-wait").claim;
    assert!(cut.contains("cut off") && !whole.contains("cut off"), "{cut} {whole}");
}

#[test]
fn code_that_all_becomes_slower_shows_no_contention() {
    let doubled = |n| if n == 1 { only_a_lock(1) } else { only_a_lock(1).stretched(2.0) };
    assert!(!rules(&SyntheticProgram::of(&[1, 2], doubled).results()).contains(&"lock-wait"));
    // Three times as slow as all other code is more than that.
    let beside = |n| even().on_cpu("worker;update;app+0x1@1", if n == 1 { 100.0 } else { 300.0 });
    assert!(rules(&SyntheticProgram::of(&[1, 2], beside).results()).contains(&"lock-wait"));
    let all = |n| {
        let cost = even().on_cpu("worker;update;app+0x1@1", 100.0);
        if n == 1 { cost } else { cost.stretched(3.0) }
    };
    assert!(!rules(&SyntheticProgram::of(&[1, 2], all).results()).contains(&"lock-wait"));
}

#[test]
fn the_queue_for_cpus_that_would_only_spin_belongs_to_the_lock() {
    let load = |n| OperationCost { queued: if n > 2 { 140.0 } else { 0.0 }, ..only_a_lock(n) };
    let mut program = SyntheticProgram::of(&[1, 2, 4], load);
    program.widths[2].1 = Region::Oversubscribed;
    let results = program.results();
    assert_eq!(rules(&results), ["lock-wait"], "a second CPU gave nothing: {:#?}", results.found);
    let claim = finding(&results, "lock-wait").claim;
    assert!(claim.contains("where another CPU would not help"), "{claim}");
    // Without the width that shows what a CPU gives: 60 ns of 280 are not spent on the lock, and as much of the queue.
    program.widths.remove(1);
    let alone = program.results();
    assert!(finding(&alone, "lock-wait").share.unwrap_or(0.0) > 0.9, "{:#?}", alone.found);
    // Work without a lock waits for CPUs.
    let work = |n| OperationCost { queued: if n > 2 { 1000.0 } else { 0.0 }, ..even() };
    let mut program = SyntheticProgram::of(&[1, 2, 4], work);
    program.widths[2].1 = Region::Oversubscribed;
    assert_eq!(rules(&program.results()), ["cpu-queue"]);
}

#[test]
fn unseen_waits_beside_a_contended_lock_are_for_it_where_threads_block_more_often() {
    let load = |often: f64| {
        move |n: u32| {
            let lock = if n == 1 { 10.0 } else { 60.0 };
            let cost = even()
                .on_cpu("worker;update;app+0x1@1", lock)
                .each("voluntary_switches", if n == 1 { 0.01 } else { often });
            OperationCost { unseen: if n == 1 { 0.0 } else { 800.0 }, ..cost }
        }
    };
    let results = |often: f64| {
        let mut program = SyntheticProgram::of(&[1, 2], load(often));
        program.off_cpu = false;
        program.results()
    };
    assert_eq!(rules(&results(0.5)), ["lock-wait"], "{:#?}", results(0.5).found);
    assert!(rules(&results(0.01)).contains(&"unseen-wait"), "{:#?}", results(0.01).found);
}

#[test]
fn what_waits_for_a_signal_by_name_is_no_lock_by_its_code() {
    let waits = |n| {
        let bare = OperationCost { cpu: Vec::new(), ..even() };
        bare.on_cpu("worker;next;libc.so.6!sem_wait@1", if n == 1 { 10.0 } else { 120.0 })
    };
    let results = SyntheticProgram::of(&[1, 2], waits).results();
    assert!(!rules(&results).contains(&"lock-wait"), "{:#?}", results.found);
}
