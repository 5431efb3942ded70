//! One cause, one finding: it covers everything its cause costs, wherever that shows, and no other finding repeats it.

use super::*;
use crate::analysis::coverage::Coverage;
use synthetic::OperationCost;

const TAKE: &str = "worker;take;libc.so.6!pthread_mutex_lock";
const GIVE: &str = "worker;take;libc.so.6!__pthread_mutex_unlock_usercnt;libc.so.6!__lll_lock_wake";

fn rules(results: &RuleResults) -> Vec<&'static str> {
    results.found.iter().map(|finding| finding.rule).collect()
}

/// The cost of a contended lock on a CPU: spinning, both system calls, and the kernel's own lock and switch below them.
fn traded(load: OperationCost, ns: f64) -> OperationCost {
    load.on_cpu(TAKE, ns)
        .on_cpu(&format!("{TAKE};libc.so.6!__lll_lock_wait;{FUTEX};[kernel]!finish_task_switch.isra.0"), ns)
        .on_cpu(
            &format!("{TAKE};libc.so.6!__lll_lock_wait;[kernel]!do_futex;[kernel]!native_queued_spin_lock_slowpath"),
            ns,
        )
        .on_cpu(
            &format!("{GIVE};[kernel]!__x64_sys_futex;[kernel]!do_futex;[kernel]!futex_wake;[kernel]!try_to_wake_up"),
            ns,
        )
}

#[test]
fn a_lock_holds_its_waits_its_system_calls_and_its_spinning() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = f64::from(n - 1);
        traded(even(), 10.0 * more).off_cpu(&lock("take"), 60.0 * more).each("voluntary_switches", 0.01 + 0.2 * more)
    });
    let results = program.results();
    assert_eq!(rules(&results), ["lock-wait"], "{:#?}", results.found);
    let found = &results.found[0];
    assert!(found.share.unwrap() > 0.99 && found.confidence == Confidence::High, "{found:?}");
    let words = "go to lock contention, 60.0% blocked and 40.0% on a CPU (spinning, system calls, wake-ups), most of \
                it in `take`";
    assert!(found.claim.contains(words), "{}", found.claim);
}

#[test]
fn a_lock_that_hardly_anybody_sleeps_for_is_named_with_who_takes_it() {
    for off_cpu in [true, false] {
        let mut program = SyntheticProgram::of(&WIDTHS, |n| traded(even(), 20.0 * f64::from(n - 1)));
        program.off_cpu = off_cpu;
        let results = program.results();
        assert_eq!(rules(&results), ["lock-wait"], "{:#?}", results.found);
        let found = &results.found[0];
        assert!(
            found.claim.contains("contend for locks on a CPU") && found.claim.contains("`take`"),
            "{}",
            found.claim
        );
        assert_eq!(found.place.as_ref().unwrap().frames.last().unwrap(), "take");
        assert_eq!(found.claim.contains("was not recorded"), !off_cpu);
        assert!(off_cpu || found.confidence <= Confidence::Medium);
    }
}

#[test]
fn who_takes_a_lock_is_named_though_it_works_itself_as_well() {
    let program =
        SyntheticProgram::of(&WIDTHS, |n| traded(even().on_cpu("worker;take", 50.0), 20.0 * f64::from(n - 1)));
    let found = &program.results().found[0];
    assert_eq!((found.rule, found.place.as_ref().unwrap().frames.last().unwrap().as_str()), ("lock-wait", "take"));
}

#[test]
fn who_takes_the_lock_is_named_though_most_stacks_end_in_the_library() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = f64::from(n - 1);
        traded(even(), 10.0 * more).on_cpu("libc.so.6!__lll_lock_wake;[kernel]!do_futex", 40.0 * more)
    });
    let results = program.results();
    assert_eq!(rules(&results), ["lock-wait"]);
    assert!(results.found[0].claim.contains("most of it in `take`"), "{}", results.found[0].claim);
}

#[test]
fn locks_that_are_slowed_down_with_all_other_code_are_not_accused() {
    let program =
        SyntheticProgram::of(&WIDTHS, |n| even().on_cpu(TAKE, 200.0).stretched(1.0 + 0.05 * f64::from(n - 1)));
    assert_eq!(rules(&program.results()), ["cpu-time-growth"]);
}

#[test]
fn what_remains_comes_last_and_does_not_tell_again_what_has_a_reason() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = f64::from(n - 1);
        let read = "worker;read;[kernel]!__x64_sys_read;[kernel]!copy";
        traded(even().stretched(1.0 + 0.05 * more), 10.0 * more).on_cpu(read, 60.0 * more)
    });
    let results = program.results();
    assert_eq!(rules(&results), ["lock-wait", "kernel-time", "cpu-time-growth"], "{:#?}", results.found);
    let shares: Vec<f64> = results.found.iter().filter_map(|finding| finding.share).collect();
    for (share, expected) in shares.iter().zip([40.0 / 150.0, 60.0 / 150.0, 50.0 / 150.0]) {
        assert!((share - expected).abs() < 0.01, "{shares:?}");
    }
    let rest = &results.found[2].claim;
    assert!(rest.contains("`part_0`") && !rest.contains("try_to_wake_up") && !rest.contains("`copy`"), "{rest}");
}

#[test]
fn what_the_lock_of_the_address_space_protects_belongs_to_it_unless_there_are_more_faults() {
    let down = "[kernel]!down_read;[kernel]!rwsem_down_read_slowpath";
    let program = |faults: f64| {
        SyntheticProgram::of(&WIDTHS, move |n| {
            let more = f64::from(n - 1);
            even()
                .off_cpu(&format!("worker;touch;[kernel]!asm_exc_page_fault;{down};[kernel]!schedule"), 30.0 * more)
                .on_cpu(&format!("worker;touch;[kernel]!asm_exc_page_fault;{down}"), 20.0 * more)
                .on_cpu("worker;touch;[kernel]!asm_exc_page_fault;[kernel]!clear_page_erms", 20.0 + 50.0 * more)
                .each("minor_faults", 0.05 + faults * more)
        })
    };
    let results = program(0.0).results();
    assert_eq!(rules(&results), ["mmap-lock"], "{:#?}", results.found);
    assert!(results.found[0].share.unwrap() > 0.99, "{:?}", results.found[0]);
    let results = program(0.1).results();
    assert_eq!(rules(&results), ["mmap-lock", "page-faults"], "{:#?}", results.found);
    assert!(results.found.iter().all(|finding| (finding.share.unwrap() - 0.5).abs() < 0.01), "{:#?}", results.found);
}

#[test]
fn a_few_threads_that_do_all_the_work_are_counted_with_and_without_waits() {
    for (busy, words) in [(1, "one thread does the work"), (4, "4 threads do the work")] {
        for off_cpu in [true, false] {
            let mut program = SyntheticProgram::of(&[busy, 8, 16], move |n| {
                let idle = f64::from(n) / f64::from(busy) - 1.0;
                OperationCost { busy: Some(busy), ..even().off_cpu(&signal("wait_for_request"), 1000.0 * idle) }
            });
            program.off_cpu = off_cpu;
            let results = program.results();
            assert_eq!(rules(&results), ["one-worker"], "{:#?}", results.found);
            assert!(results.found[0].claim.contains(words), "{}", results.found[0].claim);
            assert!(results.found[0].share.unwrap() > 0.99);
        }
    }
}

#[test]
fn threads_that_come_and_go_or_share_work_unevenly_are_not_too_few() {
    let mut sweep =
        SyntheticProgram::of(&[1, 8], |n| even().off_cpu(&signal("join"), 500.0 * f64::from(n - 1))).sweep();
    for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
        let all = *run.totals.cpu.value().unwrap();
        // The dispatcher, and the longest-lived of thousands of short-lived threads.
        run.workers = vec![all * 0.2, all * 0.001, all * 0.001];
    }
    let evaluate = |sweep: &SyntheticSweep| evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
    assert_eq!(rules(&evaluate(&sweep)), ["hand-over"]);
    for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
        let all = *run.totals.cpu.value().unwrap();
        run.workers = vec![all * 0.6, all * 0.2, all * 0.2];
    }
    assert!(evaluate(&sweep).clear.contains(&"one-worker"));
}

/// Kernels that know of stolen time leave it out of their threads' CPU time.
#[test]
fn stolen_time_that_is_no_cpu_time_is_not_taken_from_code_that_became_dearer() {
    let program = SyntheticProgram::of(&WIDTHS, |n| {
        let more = f64::from(n - 1);
        let mut load = even().stretched(1.0 + 0.02 * more);
        load.unseen = 60.0 * more;
        let slower = 1.0 + 0.08 * more;
        load.metric("steal_share", 0.5 * (1.0 - (1.0 + 0.02 * more) / slower))
    });
    let mut sweep = program.sweep();
    for known in [None, Some(false)] {
        for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
            run.stolen_in_cpu_time = known;
        }
        let results = evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
        assert_eq!(rules(&results), ["steal", "cpu-time-growth"], "{:#?}", results.found);
        let dearer = results.found[1].share.unwrap();
        assert!((dearer - 0.25).abs() < 0.01, "{dearer}");
    }
    for run in sweep.points.iter_mut().flat_map(|point| &mut point.runs) {
        run.stolen_in_cpu_time = Some(true);
    }
    let results = evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
    assert!(results.found.iter().any(|finding| finding.rule == "unseen-wait"), "{:#?}", results.found);
}

#[test]
fn what_too_few_samples_say_is_less_certain() {
    let mut sweep = SyntheticProgram::of(&WIDTHS, |n| traded(even(), 20.0 * f64::from(n - 1))).sweep();
    let evaluate = |sweep: &SyntheticSweep| evaluate_sweep(&sweep.points, 0, &sweep.stacks, &sweep.losses, &[]);
    let sure = finding(&evaluate(&sweep), "lock-wait").confidence;
    for loss in &mut sweep.losses {
        loss.coverage = Some(Coverage { share: 0.5, error: 0.01, counter: "" });
    }
    let found = finding(&evaluate(&sweep), "lock-wait");
    assert!(found.confidence < sure && found.claim.ends_with("Samples cover only 50.0% of the CPU time."), "{found:?}");
}

/// A pool whose size is swept, and of which one thread works: what it costs the one is the reason, not that others sleep.
#[test]
fn threads_that_hardly_run_are_left_out_where_what_the_others_do_costs_more() {
    let call = "worker;trace_span;[kernel]!thread_group_cputime";
    let program = |per_thread: f64| {
        SyntheticProgram::of(&[1, 100, 400], move |n| {
            let load = even().on_cpu(call, 50.0 + per_thread * f64::from(n - 1));
            let cpu: f64 = load.cpu.iter().map(|(_, ns)| ns).sum();
            let load = load.metric("system_share", (50.0 + per_thread * f64::from(n - 1)) / cpu);
            OperationCost { unseen: cpu * f64::from(n - 1), parked: n - 1, busy: Some(1), ..load }
        })
    };
    let results = program(10.0).results();
    assert_eq!(rules(&results), ["kernel-time"], "{:#?}", results.found);
    let first = &results.found[0];
    assert!(first.claim.starts_with("At n=400, and from n=100 on (399 threads without work):"), "{}", first.claim);
    assert!(first.claim.contains("`thread_group_cputime` below `trace_span`"), "{}", first.claim);
    assert!(first.share.is_some_and(|share| share > 0.9), "{first:?}");
    // Where they cost nothing, all work is done by one.
    assert_eq!(rules(&program(0.0).results()), ["one-worker"]);
}

/// What grows with the width is the size of the input, not a number of threads.
#[test]
fn one_thread_that_needs_more_time_contends_with_nobody() {
    for hardly_run in [true, false] {
        let program = SyntheticProgram::of(&[1, 100, 400], move |n| {
            let load = even().on_cpu("worker;end_of_page", 50.0 + 10.0 * f64::from(n - 1));
            let cpu: f64 = load.cpu.iter().map(|(_, ns)| ns).sum();
            let (parked, absent) = if hardly_run { (n - 1, 0) } else { (0, n - 1) };
            OperationCost { unseen: cpu * f64::from(n - 1), parked, absent, busy: Some(1), ..load }
        });
        assert_eq!(rules(&program.results()), ["cpu-time-growth"]);
    }
}

/// Workers that are all woken for what one of them takes.
#[test]
fn useless_wake_ups_come_first_and_idle_workers_are_no_finding_then() {
    let wait = "worker;wait_and_serve;libc.so.6!epoll_wait;[kernel]!do_epoll_wait;[kernel]!schedule";
    let program = |wakes: f64| {
        SyntheticProgram::of(&[1, 8, 32], move |n| {
            let others = f64::from(n - 1);
            let load = even().on_cpu(wait, 200.0 + 150.0 * wakes * others);
            let cpu: f64 = load.cpu.iter().map(|(_, ns)| ns).sum();
            let load = load.metric("system_share", (200.0 + 150.0 * wakes * others) / cpu);
            load.off_cpu(wait, 100.0 + cpu * others).each("voluntary_switches", 1.0 + wakes * others)
        })
    };
    let results = program(1.0).results();
    assert_eq!(results.found[0].rule, "useless-wake-ups", "{:#?}", results.found);
    assert!(!rules(&results).contains(&"waits-outside") && results.clear.contains(&"waits-outside"), "{results:#?}");
    let claim = &results.found[0].claim;
    assert!(
        claim.starts_with(
            "At n=32: threads wake 32.0 times for each operation, 1.00 at n=1, most of them in `wait_and_serve`"
        ),
        "{claim}"
    );
    let results = program(0.0).results();
    assert!(results.clear.contains(&"useless-wake-ups"), "{results:#?}");
}
