//! One program for each class of bottleneck, without hardware counters, and the confusion matrix over them.

use super::*;

/// The name of each class's rule, and the program.
pub(super) fn programs() -> Vec<(&'static str, SyntheticProgram)> {
    let program = |load: fn(f64, OperationCost) -> OperationCost| {
        SyntheticProgram::of(&WIDTHS, move |n| load(f64::from(n - 1), even()))
    };
    let mut siblings = SyntheticProgram::of(&WIDTHS, |n| even().stretched(if n == 16 { 1.7 } else { 1.0 }));
    siblings.widths[4].1 = Region::Smt;
    let mut unseen = locked();
    unseen.off_cpu = false;
    vec![
        (
            "cgroup-throttling",
            program(|more, load| OperationCost { throttled: 200.0 * more, ..load.metric("throttled_share", 0.4) }),
        ),
        ("steal", program(|more, load| load.stretched(1.0 + 0.05 * more).metric("steal_share", stolen(more)))),
        ("cpu-queue", program(|more, load| OperationCost { queued: 100.0 * more, ..load })),
        ("lock-wait", locked()),
        ("block-io", program(|more, load| load.off_cpu("worker;load;[kernel]!io_schedule", 90.0 * more))),
        ("hand-over", program(|more, load| load.off_cpu(&signal("next_item"), 90.0 * more))),
        ("waits-outside", program(|more, load| load.off_cpu("worker;serve;[kernel]!ep_poll", 90.0 * more))),
        ("unseen-wait", unseen),
        (
            "one-worker",
            program(|more, load| OperationCost {
                busy: Some(1),
                ..load.off_cpu(&signal("wait_for_request"), 1000.0 * more)
            }),
        ),
        ("spin-wait", program(|more, load| load.on_cpu("worker;take;pthread_spin_lock", 70.0 * more))),
        ("contended-line", program(|more, load| load.on_cpu("worker;count", 20.0 + 80.0 * more))),
        (
            "page-faults",
            program(|more, load| load.on_cpu(FAULT, 10.0 + 60.0 * more).each("minor_faults", 0.01 + 0.2 * more)),
        ),
        ("mmap-lock", program(|more, load| load.on_cpu(MAP, 20.0).on_cpu(MAP_LOCK, 60.0 * more))),
        ("tlb-shootdown", program(|more, load| load.on_cpu(FLUSH, 10.0 + 40.0 * more).on_cpu(FORGET, 30.0 * more))),
        ("allocator", program(|more, load| load.on_cpu("worker;build;malloc;_int_malloc", 30.0 + 50.0 * more))),
        ("kernel-lock-spin", program(|more, load| load.on_cpu(SPIN, 60.0 * more))),
        (
            "kernel-time",
            program(|more, load| load.on_cpu("worker;read;[kernel]!__x64_sys_read;[kernel]!copy", 60.0 + 40.0 * more)),
        ),
        ("smt-sharing", siblings),
        ("cpu-time-growth", program(|more, load| load.stretched(1.0 + 0.05 * more))),
    ]
}

use synthetic::OperationCost;

const FAULT: &str = "worker;touch;[kernel]!asm_exc_page_fault;[kernel]!handle_mm_fault;[kernel]!clear_page_erms";
const SPIN: &str = "worker;open;[kernel]!__x64_sys_openat;[kernel]!native_queued_spin_lock_slowpath";

const MAP: &str = "worker;map;[kernel]!vm_mmap_pgoff;[kernel]!do_mmap;[kernel]!mas_store";
const MAP_LOCK: &str = "worker;map;[kernel]!vm_mmap_pgoff;[kernel]!down_write_killable;[kernel]!rwsem_spin_on_owner";
const FLUSH: &str =
    "worker;give_back;[kernel]!do_madvise;[kernel]!flush_tlb_mm_range;[kernel]!smp_call_function_many_cond";
const FORGET: &str = "worker;part_0;[kernel]!asm_sysvec_call_function";

/// The steal share at which a half-busy machine runs 5% longer for each further thread.
fn stolen(more: f64) -> f64 {
    0.5 * (1.0 - 1.0 / (1.0 + 0.05 * more))
}

#[test]
fn each_program_is_found_by_its_own_rule_first() {
    for (rule, program) in programs() {
        let results = program.results();
        let found: Vec<&str> = results.found.iter().map(|finding| finding.rule).collect();
        assert_eq!(found.first(), Some(&rule), "{:#?}", results.found);
        let share = results.found[0].share.unwrap();
        assert!(share > 0.8 && share <= 1.0, "{rule}: {share}");
        assert_eq!(found.len(), 1, "{rule}: {:#?}", results.found);
    }
}

#[test]
fn each_finding_speaks_of_its_widths_and_says_what_to_do() {
    for (rule, program) in programs() {
        let found = finding(&program.results(), rule);
        let one_width = rule == "smt-sharing";
        assert!(
            found.claim.starts_with(if one_width { "At n=16: " } else { "At n=16, and from n=" }),
            "{}",
            found.claim
        );
        assert!(found.claim.ends_with('.') && found.next_step.ends_with('.'), "{}", found.claim);
        assert!(found.evidence.iter().any(|row| row.threshold.is_some()), "{rule}");
        assert!(found.evidence.iter().all(|row| row.value.is_finite()), "{rule}");
    }
}

#[test]
fn two_bottlenecks_are_both_found_and_share_the_lost_cores() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = f64::from(n - 1);
        even().off_cpu(&lock("take"), 60.0 * more).on_cpu("worker;count", 20.0 + 40.0 * more)
    });
    let results = program.results();
    let mut found: Vec<&str> = results.found.iter().map(|finding| finding.rule).collect();
    found.sort_unstable();
    assert_eq!(found, ["contended-line", "lock-wait"]);
    let shares = results.found.iter().filter_map(|finding| finding.share).sum::<f64>();
    assert!((shares - 1.0).abs() < 0.02, "{shares}");
}

#[test]
fn the_joint_finding_says_what_cannot_be_told_apart() {
    let count = |before: f64, more: f64| {
        SyntheticProgram::of(&WIDTHS, move |n| even().on_cpu("worker;count", before + more * f64::from(n - 1)))
    };
    let contended = finding(&count(20.0, 80.0).results(), "contended-line");
    let words = "spinning, retries and cache-line sharing look the same without hardware counters";
    assert!(contended.claim.contains(words), "{}", contended.claim);
    assert_eq!(contended.confidence, Confidence::Medium);
    assert_eq!(contended.place.unwrap().frames, ["worker", "count"]);
    // It had nearly all the time before, and a shortage of memory bandwidth would look the same.
    let all = finding(&count(20_000.0, 1_000.0).results(), "contended-line");
    assert!(all.claim.contains("memory bandwidth, cache or clock"), "{}", all.claim);
    assert_eq!(all.confidence, Confidence::Low);
    // But a shortage of bandwidth does not make throughput fall.
    assert_eq!(finding(&count(20_000.0, 30_000.0).results(), "contended-line").confidence, Confidence::Medium);
}

#[test]
fn rules_that_need_counters_say_so_where_cpu_time_grew_and_are_clear_where_it_did_not() {
    let needing = [
        "frequency",
        "memory-bandwidth",
        "false-sharing",
        "remote-memory",
        "cache-capacity",
        "page-walks",
        "more-work",
    ];
    let grown = SyntheticProgram::of(&WIDTHS, |n| even().stretched(1.0 + 0.05 * f64::from(n))).results();
    let blocked = locked().results();
    for rule in needing {
        let why = grown.undecided.iter().find(|(id, ..)| *id == rule).map(|(.., why)| *why);
        assert_eq!(why, Some(Why::NotSupported), "{rule}");
        assert!(blocked.clear.contains(&rule), "{rule}");
    }
}

#[test]
fn without_time_off_the_cpu_waits_are_undecided_not_guessed() {
    let (_, unseen) = programs().into_iter().find(|(rule, _)| *rule == "unseen-wait").unwrap();
    let results = unseen.results();
    for rule in ["lock-wait", "hand-over", "waits-outside"] {
        let why = results.undecided.iter().find(|(id, ..)| *id == rule).map(|(.., why)| *why);
        assert_eq!(why, Some(Why::NotRecorded), "{rule}");
    }
    assert!(results.found[0].claim.contains("block 301 times as often per operation"), "{}", results.found[0].claim);
}

#[test]
fn locks_of_the_allocator_and_of_the_address_space_are_no_ordinary_locks() {
    let down = "[kernel]!down_read;[kernel]!rwsem_down_read_slowpath;[kernel]!schedule";
    for (rule, path) in [
        ("allocator", format!("worker;build;malloc;libc.so.6!__lll_lock_wait_private;{FUTEX}")),
        ("mmap-lock", format!("worker;touch;[kernel]!asm_exc_page_fault;{down}")),
    ] {
        let results = SyntheticProgram::of(&WIDTHS, move |n| even().off_cpu(&path, 90.0 * f64::from(n - 1))).results();
        assert_eq!(results.found.iter().map(|found| found.rule).collect::<Vec<_>>(), [rule]);
        assert_eq!(results.found[0].place.as_ref().unwrap().axis, Axis::OffCpu);
    }
}

#[test]
fn storage_that_nobody_waited_for_is_no_finding() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let load = even().off_cpu("worker;load;[kernel]!io_schedule", 90.0 * f64::from(n - 1));
        load.metric("psi_io_some", 0.001)
    });
    assert!(!program.results().found.iter().any(|found| found.rule == "block-io"));
}

#[test]
fn without_time_off_the_cpu_the_kernels_accounting_tells_of_storage() {
    let mut program = SyntheticProgram::of(&WIDTHS, |n| {
        let wait = 90.0 * f64::from(n - 1);
        let load = even().off_cpu("worker;load;[kernel]!io_schedule", wait);
        load.metric("block_io_delay", wait / (1000.0 + wait))
    });
    program.off_cpu = false;
    let found = finding(&program.results(), "block-io");
    assert!(found.claim.contains("threads wait 57.4% of their time, 0% at n=1"), "{}", found.claim);
}

#[test]
fn a_kernel_whose_names_are_hidden_is_judged_by_its_time() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = 60.0 * f64::from(n - 1);
        even().on_cpu("worker;[kernel]![kernel]", 60.0 + more).metric("system_share", (60.0 + more) / (1060.0 + more))
    });
    let found = finding(&program.results(), "kernel-time");
    assert!(found.claim.contains("its functions are not visible"), "{}", found.claim);
    assert_eq!((found.confidence, found.place), (Confidence::Medium, None));
}
