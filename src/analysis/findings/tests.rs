//! Planted bottlenecks, each in an otherwise healthy program: the right rule finds it, and no other rule reports it.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::analysis::finding::RuleResults;
use crate::analysis::testing::{Synthetic, ms};
use crate::analysis::{Axis, Counters, Names, Selection, StackCounts, Tasks};
use crate::model::{LossKind, Scope, Target, TaskChange, TaskState, Why};
use TaskState::{DiskSleep, Sleeping};

/// Ten seconds.
const END: u64 = 10_000;
const MAIN: &str = "/usr/lib/libc.so.6!start_thread;app!worker_main";
const FUTEX: &str = "[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";

/// Two workers, each busy for nine seconds with a few functions, on a machine of two CPUs.
fn healthy() -> Synthetic {
    let mut s = Synthetic::new();
    s.weight = ms(10).0;
    s.meta.plan.off_cpu = true;
    s.alive(41, "worker-0").alive(42, "worker-1").tick(END, END);
    for tid in [41, 42] {
        for part in 0..5 {
            s.samples(part, tid, &format!("{MAIN};app!part_{part}"), 180);
        }
        read(&mut s, Scope::Thread(tid), &[("task-clock", ms(9_000).0), ("run-delay", ms(20).0)]);
    }
    let counted = [
        ("task-clock", ms(18_000).0),
        ("thread-time", ms(20_000).0),
        ("user-time", ms(17_000).0),
        ("system-time", ms(1_000).0),
        ("run-delay", ms(40).0),
        ("timeslices", 2_000),
        ("migrations", 100),
        ("minor-faults", 10_000),
        ("major-faults", 3),
        ("voluntary-switches", 3_000),
        ("involuntary-switches", 100),
        ("cgroup-periods", 100),
        ("cgroup-throttled-periods", 0),
        ("cgroup-throttled-time", 0),
    ];
    read(&mut s, Scope::Target, &counted);
    let host = [("host-time", ms(20_000).0), ("host-busy", ms(18_200).0), ("host-steal", 0), ("psi-memory-some", 0)];
    read(&mut s, Scope::Host, &host);
    s.define("cycles");
    s
}

fn read(s: &mut Synthetic, scope: Scope, counted: &[(&str, u64)]) {
    for (counter, value) in counted {
        s.reading(counter, scope, END, *value);
    }
}

/// A program that hardly runs, on an equally idle machine.
fn idle() -> Synthetic {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "server").alive(42, "pool-0").tick(END, END).samples(0, 41, "app!main", 3);
    let counted =
        [("task-clock", ms(30).0), ("thread-time", ms(20_000).0), ("run-delay", ms(20).0), ("timeslices", 90)];
    read(&mut s, Scope::Target, &counted);
    read(&mut s, Scope::Host, &[("host-time", ms(20_000).0), ("host-busy", ms(900).0), ("host-steal", 0)]);
    s
}

fn wait(s: &mut Synthetic, tid: u32, state: TaskState, count: u64, each_ms: u64, stack: &str) {
    for n in 0..count {
        s.off_cpu(n * each_ms % (END - each_ms), tid, state, each_ms, Some(0), stack);
    }
}

fn results(s: Synthetic) -> RuleResults {
    results_of(s, &Selection::default())
}

fn results_of(s: Synthetic, selection: &Selection) -> RuleResults {
    let profile = s.finish();
    let (names, tasks, counters) = (Names::of(&profile), Tasks::of(&profile), Counters::of(&profile));
    let window = selection.time.window(&profile.ticks, profile.duration());
    let counts = StackCounts::of(&profile, &tasks, selection);
    evaluate(&RuleContext::of(&profile, &names, &tasks, &counters, &counts, window))
}

#[track_caller]
fn check(name: &str, s: Synthetic, expected: &[(&str, Confidence)]) -> RuleResults {
    let results = results(s);
    let found: Vec<_> = results.found.iter().map(|finding| (finding.rule, finding.confidence)).collect();
    assert_eq!(found, expected, "{name}: {:#?}", results.found);
    for finding in &results.found {
        assert!(finding.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{finding:?}");
    }
    results
}

use Confidence::{High, Low, Medium};

#[test]
fn a_healthy_program_and_an_idle_one_have_no_findings() {
    let results = check("healthy", healthy(), &[]);
    let undecided: Vec<_> = results.undecided.iter().filter(|(.., why)| *why != Why::NotSupported).collect();
    assert!(undecided.is_empty(), "{undecided:?}");
    assert_eq!((results.undecided.len(), results.clear.len()), (7, 21));
    let mut pool = idle();
    wait(&mut pool, 42, Sleeping, 9, 1_000, &format!("{MAIN};/usr/lib/libc.so.6!pthread_cond_wait;{FUTEX}"));
    wait(&mut pool, 41, Sleeping, 90, 100, &format!("{MAIN};[kernel]!tcp_recvmsg;[kernel]!schedule"));
    let results = check("idle", pool, &[]);
    let lock = results.undecided.iter().find(|(rule, ..)| *rule == "lock-wait");
    assert_eq!(lock.map(|(.., why)| *why), Some(Why::Idle));
}

#[test]
fn counters_of_the_kernel_speak_for_themselves() {
    type Plant = (&'static str, Scope, &'static [(&'static str, u64)], &'static [(&'static str, Confidence)]);
    const S: u64 = 1_000_000_000;
    let rows: [Plant; 9] = [
        (
            "quota",
            Scope::Target,
            &[("cgroup-throttled-periods", 40), ("cgroup-throttled-time", 6 * S)],
            &[("cgroup-throttling", High)],
        ),
        (
            "a moment",
            Scope::Target,
            &[("cgroup-throttled-periods", 1), ("cgroup-throttled-time", S / 100)],
            &[("cgroup-throttling", Low)],
        ),
        ("steal", Scope::Host, &[("host-steal", 2 * S)], &[("steal", High)]),
        ("queue", Scope::Target, &[("run-delay", 9 * S)], &[("cpu-queue", High)]),
        ("wake-ups", Scope::Target, &[("run-delay", 2 * S), ("timeslices", 900_000)], &[("cpu-queue", Medium)]),
        ("memory", Scope::Host, &[("psi-memory-some", S)], &[("memory-pressure", Low)]),
        (
            "group's memory",
            Scope::Target,
            &[("psi-memory-some", S), ("psi-memory-full", S / 2)],
            &[("memory-pressure", High)],
        ),
        ("moves", Scope::Target, &[("migrations", 40_000)], &[("migrations", Low)]),
        ("paging", Scope::Target, &[("major-faults", 900)], &[("page-faults", Medium)]),
    ];
    for (name, scope, counted, expected) in rows {
        let mut s = healthy();
        read(&mut s, scope, counted);
        check(name, s, expected);
    }
}

#[test]
fn the_cost_of_a_wake_up_and_standing_under_a_quota_are_no_lack_of_cpus() {
    let mut brief = healthy();
    read(&mut brief, Scope::Target, &[("run-delay", ms(2_000).0), ("timeslices", 900_000)]);
    read(&mut brief, Scope::Host, &[("host-busy", ms(9_000).0)]);
    check("wake-ups on a machine with CPUs left", brief, &[]);
    let mut quota = healthy();
    read(&mut quota, Scope::Host, &[("host-busy", ms(9_000).0)]);
    let throttled =
        [("cgroup-throttled-periods", 90), ("cgroup-throttled-time", ms(9_000).0), ("run-delay", ms(9_000).0)];
    read(&mut quota, Scope::Target, &throttled);
    check("quota", quota, &[("cgroup-throttling", High)]);
}

/// The kernel counts the time under a quota as run delay: on a busy machine it must not be blamed on other programs.
#[test]
fn under_a_quota_only_the_rest_of_the_run_delay_is_a_wait_for_cpus_that_others_use() {
    let shares = |delay: u64, throttled: u64| {
        let mut s = healthy();
        read(
            &mut s,
            Scope::Target,
            &[
                ("task-clock", ms(4_000).0),
                ("run-delay", ms(delay).0),
                ("timeslices", 100),
                ("cgroup-throttled-periods", 90),
                ("cgroup-throttled-time", ms(throttled).0),
            ],
        );
        read(&mut s, Scope::Host, &[("host-busy", ms(20_000).0)]);
        let results = results(s);
        let found = results.found.iter().filter(|found| ["cgroup-throttling", "cpu-queue"].contains(&found.rule));
        found.map(|found| (found.rule, (found.share.unwrap() * 1e3).round())).collect::<Vec<_>>()
    };
    // Of 10 s of working time, it ran for 4 s, and the quota stopped it for 4.5 s.
    assert_eq!(shares(6_000, 4_500), [("cgroup-throttling", 450.0), ("cpu-queue", 150.0)]);
    assert_eq!(shares(6_000, 1_000), [("cpu-queue", 500.0), ("cgroup-throttling", 100.0)]);
    // The whole group was stopped for longer than this program waited.
    assert_eq!(shares(6_000, 9_000), [("cgroup-throttling", 600.0)]);
    // Each of two CPUs had 3.4 threads with work: where they stood still for 3 s in all, these waited for 10.2 s.
    assert_eq!(shares(64_000, 3_000), [("cpu-queue", 791.0), ("cgroup-throttling", 150.0)]);
}

/// The threads of a whole machine are not read one by one.
#[test]
fn a_whole_machine_is_judged_by_its_pressure() {
    for (pressure, expected) in [(3_000, &[("cpu-queue", Medium)][..]), (300, &[])] {
        let mut s = Synthetic::new();
        s.meta.plan.target = Target::Cpus { cpus: vec![] };
        s.tick(END, END);
        read(&mut s, Scope::Target, &[("task-clock", ms(15_000).0)]);
        read(&mut s, Scope::Host, &[("psi-cpu-some", ms(pressure).0)]);
        check("a machine", s, expected);
    }
}

/// Processes 100 and up, of which each lives for some milliseconds.
#[test]
fn processes_that_hardly_live_are_found_by_what_starts_and_ends_them_and_who_does() {
    const LOADER: &str = "/lib64/ld-linux-x86-64.so.2!_dl_start";
    let start =
        format!("{MAIN};app!run_hook;/usr/lib/libc.so.6!posix_spawn;[kernel]!__do_sys_clone3;[kernel]!kernel_clone");
    let exec = "[kernel]!__x64_sys_execve;[kernel]!bprm_execve;[kernel]!asm_exc_page_fault";
    let planted = |processes: u32, starting: u64| {
        let mut s = healthy();
        for child in 100..100 + processes {
            let at = u64::from(child - 100) * 90;
            let born = TaskChange::Born { parent: 41, comm: "sh".to_string() };
            s.task(at, child, child, born).task(at + 6, child, child, TaskChange::Ended);
        }
        s.samples(0, 41, &start, starting / 2).samples(0, 42, LOADER, starting / 4).samples(0, 42, exec, starting / 4);
        s
    };
    check("few of them", planted(20, 400), &[]);
    check("that cost little", planted(100, 40), &[]);
    let found = check("many", planted(100, 400), &[("process-starts", High)]).found;
    let place = found[0].place.as_ref().unwrap();
    assert_eq!(place.frames.last().map(String::as_str), Some("run_hook"), "{place:?}");
    assert!(
        found[0].claim.contains("lives 6.00 ms, most of it below `run_hook`, by `posix_spawn`"),
        "{}",
        found[0].claim
    );
}

#[test]
fn waits_are_told_apart_by_what_they_wait_for() {
    let mutex =
        format!("{MAIN};app!push;/usr/lib/libc.so.6!pthread_mutex_lock;/usr/lib/libc.so.6!__lll_lock_wait;{FUTEX}");
    let signal = format!("{MAIN};app!take;/usr/lib/libc.so.6!pthread_cond_wait;{FUTEX}");
    let join = format!("{MAIN};/usr/lib/libc.so.6!__pthread_clockjoin_ex;{FUTEX}");
    let file = format!("{MAIN};app!save;/usr/lib/libc.so.6!fsync;[kernel]!io_schedule;[kernel]!schedule");
    let socket = format!("{MAIN};app!ask;/usr/lib/libc.so.6!recv;[kernel]!tcp_recvmsg;[kernel]!schedule");
    type Plant<'a> = (&'a str, TaskState, u64, u64, &'a str, &'a [(&'a str, Confidence)]);
    let mapped = format!(
        "{MAIN};app!push;/usr/lib/libc.so.6!mmap;[kernel]!vm_mmap_pgoff;[kernel]!down_write;[kernel]!rwsem_down_write_slowpath"
    );
    let rows: [Plant<'_>; 9] = [
        ("the address space", Sleeping, 1_400, 10, &mapped, &[("mmap-lock", High)]),
        ("a mutex", Sleeping, 400, 10, &mutex, &[("lock-wait", Medium)]),
        ("a bad one", Sleeping, 1_400, 10, &mutex, &[("lock-wait", High)]),
        ("a mutex now and then", Sleeping, 10, 10, &mutex, &[]),
        ("work", Sleeping, 50, 190, &signal, &[]),
        ("short work", Sleeping, 9_000, 1, &signal, &[]),
        ("an end", Sleeping, 9, 1_000, &join, &[]),
        ("storage", DiskSleep, 500, 10, &file, &[("block-io", High)]),
        ("an answer", Sleeping, 9_500, 3, &socket, &[("waiting-for-others", Low)]),
    ];
    for (name, state, count, each, stack, expected) in rows {
        let mut s = healthy();
        wait(&mut s, 41, state, count, each, stack);
        let results = check(name, s, expected);
        for place in results.found.iter().filter_map(|finding| finding.place.as_ref()) {
            assert_eq!((place.axis, place.threads.as_slice()), (Axis::OffCpu, &[41][..]));
            let own = if stack == file {
                "save"
            } else if stack == socket {
                "ask"
            } else {
                "push"
            };
            assert_eq!(place.frames, ["start_thread", "worker_main", own], "{name}");
        }
    }
}

#[test]
fn waits_that_may_be_for_a_cpu_are_neither_found_nor_clear() {
    let libc = "/usr/lib/libc.so.6";
    let mutex = format!("{MAIN};app!push;{libc}!pthread_mutex_lock;{libc}!__lll_lock_wait;{FUTEX}");
    let mapped = format!(
        "{MAIN};app!push;{libc}!mmap;[kernel]!vm_mmap_pgoff;[kernel]!down_write;[kernel]!rwsem_down_write_slowpath"
    );
    let file = format!("{MAIN};app!save;{libc}!fsync;[kernel]!io_schedule;[kernel]!schedule");
    for (rule, state, stack) in
        [("lock-wait", Sleeping, &mutex), ("mmap-lock", Sleeping, &mapped), ("block-io", DiskSleep, &file)]
    {
        for (queued, count, undecided) in [(40, 400, false), (4_500, 400, true), (4_500, 10, false)] {
            let mut s = healthy();
            read(&mut s, Scope::Target, &[("run-delay", ms(queued).0)]);
            for n in 0..count {
                s.off_cpu(n * 10, 41, state, 10, None, stack);
            }
            let results = results(s);
            let found = results.found.iter().any(|finding| finding.rule == rule);
            let why = results.undecided.iter().find(|(undecided, ..)| *undecided == rule).map(|(_, _, why)| *why);
            let row = format!("{rule}, {queued} ms queued, {count} waits");
            assert_eq!(found, queued == 40, "{row}");
            assert_eq!(why, undecided.then_some(Why::QueueUnknown), "{row}");
        }
    }
}

#[test]
fn hand_overs_count_only_where_they_are_too_fine_to_be_work() {
    let signal = format!("{MAIN};app!wait_for_turn;/usr/lib/libc.so.6!pthread_cond_wait;{FUTEX}");
    let mut s = healthy();
    read(&mut s, Scope::Target, &[("task-clock", ms(2_100).0)]);
    for tid in [41, 42] {
        read(&mut s, Scope::Thread(tid), &[("task-clock", ms(1_050).0)]);
        wait(&mut s, tid, Sleeping, 6_000, 1, &signal);
    }
    let results = check("ping-pong", s, &[("lock-wait", Low)]);
    let frames = results.found[0].place.as_ref().map(|place| place.frames.join(";"));
    assert_eq!(frames.as_deref(), Some("start_thread;worker_main;wait_for_turn"));
    assert!(results.found[0].claim.contains("shortage of work"), "{}", results.found[0].claim);
}

#[test]
fn samples_speak_by_the_functions_they_are_in() {
    let call = format!("{MAIN};/usr/lib/libc.so.6!write;[kernel]!do_syscall_64;[kernel]!__x64_sys_write");
    type Plant<'a> = (&'a str, String, u64, &'a [(&'a str, Confidence)]);
    let libc = "/usr/lib/libc.so.6!";
    let rows: [Plant<'_>; 10] = [
        (
            "a lock that is traded",
            format!(
                "{MAIN};{libc}__pthread_mutex_unlock_usercnt;[kernel]!do_futex;[kernel]!native_queued_spin_lock_slowpath"
            ),
            250,
            &[("lock-wait", Medium)],
        ),
        (
            "mmap_lock",
            format!("{MAIN};{libc}munmap;[kernel]!__vm_munmap;[kernel]!down_write;[kernel]!osq_lock"),
            250,
            &[("mmap-lock", High)],
        ),
        (
            "translations",
            format!(
                "{MAIN};{libc}munmap;[kernel]!__vm_munmap;[kernel]!flush_tlb_mm_range;[kernel]!smp_call_function_many_cond"
            ),
            250,
            &[("tlb-shootdown", High)],
        ),
        (
            "a lock of the kernel",
            format!("{call};[kernel]!native_queued_spin_lock_slowpath"),
            100,
            &[("kernel-lock-spin", High)],
        ),
        ("unlocking", format!("{call};[kernel]!_raw_spin_unlock_irqrestore"), 100, &[]),
        ("a spin lock", format!("{MAIN};/usr/lib/libc.so.6!pthread_spin_lock"), 100, &[("spin-wait", Medium)]),
        ("yielding", format!("{MAIN};/usr/lib/libc.so.6!sched_yield;[kernel]!schedule"), 100, &[("spin-wait", Low)]),
        (
            "the allocator",
            format!("{MAIN};/usr/lib/libc.so.6!malloc;/usr/lib/libc.so.6!_int_malloc"),
            150,
            &[("allocator", Medium)],
        ),
        ("the kernel", format!("{call};[kernel]!copy_from_user"), 1_200, &[("kernel-time", High)]),
        ("a function", format!("{MAIN};app!hot"), 500, &[("hot-function", High)]),
    ];
    for (name, stack, count, expected) in rows {
        let mut s = healthy();
        for tid in [41, 42] {
            s.samples(7, tid, &stack, count);
        }
        let results = check(name, s, expected);
        let place = results.found.first().and_then(|finding| finding.place.as_ref());
        assert!(place.is_none_or(|place| place.frames[1] == "worker_main" && place.threads == [41, 42]), "{name}");
    }
}

#[test]
fn what_a_finding_holds_is_told_by_no_other() {
    let traded = format!("{MAIN};/usr/lib/libc.so.6!pthread_mutex_lock;[kernel]!do_futex;[kernel]!futex_wait");
    let spun = format!("{MAIN};/usr/lib/libc.so.6!pthread_mutex_lock");
    let mut s = healthy();
    for tid in [41, 42] {
        s.samples(7, tid, &traded, 1_500).samples(8, tid, &spun, 1_500);
    }
    let results = check("a lock", s, &[("lock-wait", High)]);
    assert!(results.clear.contains(&"kernel-time") && results.clear.contains(&"hot-function"), "{:?}", results.clear);
    let mut uncontended = healthy();
    uncontended.samples(8, 41, &spun, 300).samples(8, 42, &spun, 300);
    check("a lock that nobody waits for", uncontended, &[]);
}

#[test]
fn faults_on_fresh_memory_show_by_their_time() {
    let fault = format!("{MAIN};app!fill;[kernel]!asm_exc_page_fault;[kernel]!clear_page_erms");
    for (faults, expected) in [(900_000, &[("page-faults", High)][..]), (9_000, &[])] {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("minor-faults", faults)]);
        s.samples(7, 41, &fault, 300);
        check("fresh memory", s, expected);
    }
}

#[test]
fn page_faults_have_the_kind_that_takes_most_of_their_time_and_its_advice() {
    let in_fault = |rest: &str| format!("{MAIN};app!store_value;[kernel]!asm_exc_page_fault;[kernel]!{rest}");
    let claim = |stacks: &[(&str, u64)]| {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("minor-faults", 900_000)]);
        for (rest, count) in stacks {
            s.samples(7, 41, &in_fault(rest), *count);
        }
        let found = check("faults", s, &[("page-faults", High)]).found.remove(0);
        assert!(found.place.is_some());
        (found.claim, found.next_step)
    };
    let (text, advice) = claim(&[("do_wp_page;[kernel]!wp_page_copy", 200), ("do_anonymous_page", 20), ("x", 90)]);
    assert!(text.contains("most of them in `store_value`; ") && text.contains("as fork leaves them"), "{text}");
    assert!(advice.contains("Fork less often"), "{advice}");
    let (text, advice) = claim(&[("do_swap_page", 300)]);
    assert!(text.contains("from swap") && advice.contains("Memory is short"), "{text} {advice}");
    let (text, advice) = claim(&[("handle_mm_fault", 300)]);
    assert!(text.ends_with("the kernel's functions do not show of which kind."), "{text}");
    assert!(!advice.contains("Keep memory"), "{advice}");
}

#[test]
fn uneven_threads_and_one_that_carries_all() {
    let mut uneven = healthy();
    read(&mut uneven, Scope::Thread(41), &[("task-clock", ms(9_900).0)]);
    read(&mut uneven, Scope::Thread(42), &[("task-clock", ms(4_000).0)]);
    read(&mut uneven, Scope::Target, &[("task-clock", ms(13_900).0)]);
    let results = check("uneven", uneven, &[("load-imbalance", Medium)]);
    assert_eq!(results.found[0].place.as_ref().map(|place| place.threads.as_slice()), Some(&[41, 42][..]));
    let mut third = healthy();
    read(&mut third, Scope::Thread(41), &[("task-clock", ms(9_900).0)]);
    read(&mut third, Scope::Thread(42), &[("task-clock", ms(4_000).0)]);
    read(&mut third, Scope::Target, &[("task-clock", ms(13_900).0)]);
    third.alive(43, "worker-2");
    let results = check("uneven as far as was read", third, &[]);
    assert!(results.undecided.iter().any(|(rule, _, why)| (*rule, *why) == ("load-imbalance", Why::ThreadsUnread)));
    let mut queued = healthy();
    read(&mut queued, Scope::Thread(41), &[("task-clock", ms(9_900).0)]);
    read(&mut queued, Scope::Thread(42), &[("task-clock", ms(4_000).0), ("run-delay", ms(5_500).0)]);
    check("robbed of its CPU by others", queued, &[]);
    let mut held_up = healthy();
    read(&mut held_up, Scope::Thread(41), &[("task-clock", ms(5_000).0), ("run-delay", ms(4_900).0)]);
    read(&mut held_up, Scope::Thread(42), &[("task-clock", ms(4_800).0)]);
    check("waiting for one that others rob of its CPU", held_up, &[]);
    let mut short_of_cpus = healthy();
    read(&mut short_of_cpus, Scope::Thread(41), &[("task-clock", ms(5_000).0), ("run-delay", ms(4_900).0)]);
    read(&mut short_of_cpus, Scope::Thread(42), &[("task-clock", ms(2_500).0)]);
    let results = check("with more work and waiting for a CPU", short_of_cpus, &[]);
    assert!(results.undecided.iter().any(|(rule, _, why)| (*rule, *why) == ("load-imbalance", Why::QueueUnknown)));
    let alone = || {
        let mut s = healthy();
        read(&mut s, Scope::Thread(41), &[("task-clock", ms(9_900).0)]);
        read(&mut s, Scope::Thread(42), &[("task-clock", ms(100).0), ("run-delay", 0)]);
        s
    };
    let results = check("alone", alone(), &[("serial-thread", Medium)]);
    let place = results.found[0].place.as_ref().map(|place| (place.frames.join(";"), place.threads.as_slice()));
    assert_eq!(place, Some(("start_thread;worker_main;part_0".to_string(), &[41][..])));
    let mut unread = alone();
    unread.alive(43, "ended unread");
    let results = check("alone as far as was read", unread, &[]);
    assert!(results.undecided.iter().any(|(rule, _, why)| (*rule, *why) == ("serial-thread", Why::ThreadsUnread)));
}

#[test]
fn the_same_function_for_other_callers_is_no_similar_work() {
    const FOUND: &[(&str, Confidence)] = &[("load-imbalance", Medium), ("hot-function", High)];
    for (callers, expected) in [(["produce", "produce"], FOUND), (["produce", "consume"], &FOUND[1..])] {
        let mut s = healthy();
        for ((tid, run), caller) in [(41, 9_900), (42, 4_000)].into_iter().zip(callers) {
            s.samples(8, tid, &format!("{MAIN};app!{caller};app!compute"), 5_000);
            read(&mut s, Scope::Thread(tid), &[("task-clock", ms(run).0)]);
        }
        read(&mut s, Scope::Target, &[("task-clock", ms(13_900).0)]);
        check("uneven", s, expected);
    }
}

#[test]
fn waits_for_answers_come_before_the_code_that_runs_between_them() {
    let socket = format!("{MAIN};app!ask;/usr/lib/libc.so.6!recv;[kernel]!tcp_recvmsg;[kernel]!schedule");
    for (run, order) in [
        (1_000, [("waiting-for-others", Low), ("hot-function", High)]),
        (18_000, [("hot-function", High), ("waiting-for-others", Low)]),
    ] {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("task-clock", ms(run).0)]);
        for tid in 41..43 {
            s.samples(7, tid, &format!("{MAIN};app!hot"), 900);
            read(&mut s, Scope::Thread(tid), &[("task-clock", ms(run / 2).0)]);
            wait(&mut s, tid, Sleeping, 3_300, 3, &socket);
        }
        check("answers", s, &order);
    }
}

#[test]
fn threads_that_only_others_of_the_program_wake_wait_for_each_other() {
    let signal = format!("{MAIN};app!take;/usr/lib/libc.so.6!pthread_cond_wait;{FUTEX}");
    let (sleep, events) =
        (format!("{MAIN};app!query;[kernel]!do_nanosleep"), format!("{MAIN};app!accept;[kernel]!ep_poll"));
    let found = |run: u64, asleep: u64, others: Option<&str>| {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("task-clock", ms(2 * run).0)]);
        for tid in [41, 42] {
            read(&mut s, Scope::Thread(tid), &[("task-clock", ms(run).0)]);
            wait(&mut s, tid, Sleeping, 1_600, 3, &signal);
            wait(&mut s, tid, Sleeping, asleep, 4, &sleep);
        }
        if let Some(stack) = others {
            s.alive(43, "acceptor");
            read(&mut s, Scope::Thread(43), &[("task-clock", ms(300).0)]);
            wait(&mut s, 43, Sleeping, 3_000, 3, stack);
        }
        results(s).found
    };
    for (run, asleep) in [(5_000, 0), (1_000, 1_000)] {
        let found = found(run, asleep, None);
        assert_eq!(
            found.iter().map(|it| (it.rule, it.title)).collect::<Vec<_>>(),
            [("lock-wait", "waiting for each other")]
        );
        assert!(found[0].claim.contains("most of it below `take`. Nobody else wakes them"), "{}", found[0].claim);
        assert_eq!(found[0].place.as_ref().and_then(|place| place.frames.last().cloned()).as_deref(), Some("take"));
    }
    assert_eq!(found(5_000, 0, Some(&events)), [], "work from outside");
    assert_eq!(found(5_000, 0, Some(&sleep)), [], "work by the clock");
    assert_eq!(found(1_000, 100, None), [], "nobody runs for most of the time");
    let mut uneven = healthy();
    for (tid, run, waits) in [(41, 9_900, 30), (42, 4_000, 1_600)] {
        read(&mut uneven, Scope::Thread(tid), &[("task-clock", ms(run).0)]);
        wait(&mut uneven, tid, Sleeping, waits, 3, &signal);
    }
    read(&mut uneven, Scope::Target, &[("task-clock", ms(13_900).0)]);
    check("one that has more to do", uneven, &[("load-imbalance", Medium)]);
}

/// One of two threads works nearly all the time: it keeps what both take turns at, makes what the other takes, or is the last at
/// a barrier.
#[test]
fn one_thread_that_does_all_the_work_is_told_from_one_that_keeps_the_others_from_theirs() {
    let wait_in = |function: &str| format!("{MAIN};app!{function};/usr/lib/libc.so.6!pthread_cond_wait;{FUTEX}");
    for (own, other, ran, expected) in [
        ("take_turn", "take_turn", 150, ("lock-wait", Low)),
        ("take_turn", "take_turn", 900, ("lock-wait", Low)),
        ("put_item", "take_item", 150, ("serial-thread", Medium)),
        ("", "wait_at_barrier", 900, ("serial-thread", Medium)),
        ("", "wait_at_barrier", 3_000, ("load-imbalance", Medium)),
    ] {
        let mut s = Synthetic::new();
        s.weight = ms(10).0;
        s.meta.plan.off_cpu = true;
        s.alive(41, "worker").alive(42, "worker").tick(END, END);
        let runs = if own.is_empty() { 10_000 } else { 10_000 - ran };
        for (tid, run, place) in [(41, runs, own), (42, ran, other)] {
            s.samples(0, tid, &format!("{MAIN};app!compute"), run / 10);
            read(&mut s, Scope::Thread(tid), &[("task-clock", ms(run).0), ("run-delay", 0)]);
            wait(&mut s, tid, Sleeping, (10_000 - run) / 10, 10, &wait_in(place));
        }
        let counted = [("task-clock", ms(runs + ran).0), ("thread-time", ms(20_000).0), ("run-delay", 0)];
        read(&mut s, Scope::Target, &counted);
        read(&mut s, Scope::Host, &[("host-time", ms(20_000).0), ("host-busy", ms(10_000).0), ("host-steal", 0)]);
        let found = results(s).found;
        let first = found.first().map(|it| (it.rule, it.confidence));
        assert_eq!(first, Some(expected), "{own} {other} {ran}: {found:#?}");
        assert!(found.iter().filter(|it| it.rule != "hot-function").count() <= 2, "{found:#?}");
    }
}

#[test]
fn a_few_waits_for_a_cpu_are_chance() {
    for (waits, each, expected) in [(3, 3_000, &[][..]), (900, 10, &[("cpu-queue", High)])] {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("run-delay", ms(9_000).0)]);
        for at in 0..waits {
            s.off_cpu(at * each, 41, TaskState::Runnable, 0, Some(each), MAIN);
        }
        check("queued", s, expected);
    }
}

#[test]
fn moving_between_cpus_is_a_hint() {
    let mut s = healthy();
    read(&mut s, Scope::Target, &[("migrations", 40_000)]);
    s.samples(7, 41, &format!("{MAIN};app!hot"), 1_000);
    check("moves", s, &[("hot-function", High), ("migrations", Low)]);
    let lock = format!("{MAIN};app!update;/usr/lib/libc.so.6!pthread_mutex_lock;{FUTEX}");
    for (run, is_hint) in [(18_000, true), (1_000, false)] {
        let mut s = healthy();
        read(&mut s, Scope::Target, &[("migrations", 40_000), ("task-clock", ms(run).0)]);
        for tid in [41, 42] {
            wait(&mut s, tid, Sleeping, 1_000, 3, &lock);
        }
        let found = results(s).found;
        assert_eq!(found.iter().any(|finding| finding.rule == "migrations"), is_hint, "{run}: {found:#?}");
    }
}

#[test]
fn what_was_not_recorded_is_undecided_and_says_so() {
    let reasons = |results: &RuleResults, rules: &[&str]| -> Vec<Why> {
        let why = |rule: &&str| results.undecided.iter().find(|(id, ..)| id == rule).map(|(.., why)| *why);
        rules.iter().map(|rule| why(rule).unwrap()).collect()
    };
    let mut on_cpu = healthy();
    on_cpu.meta.plan.off_cpu = false;
    let waits = ["lock-wait", "block-io", "waiting-for-others"];
    assert_eq!(reasons(&results(on_cpu), &waits), [Why::NotRecorded; 3]);
    let mut no_kernel = healthy();
    no_kernel.meta.events[0].exclude_kernel = true;
    assert_eq!(reasons(&results(no_kernel), &["kernel-lock-spin"]), [Why::NotPermitted]);
    let mut lossy = healthy();
    lossy.lost(5, LossKind::Ring, 9_000).lost(5, LossKind::OffCpu, 9_000);
    read(&mut lossy, Scope::Target, &[("task-clock", ms(25_000).0)]);
    assert_eq!(reasons(&results(lossy), &["hot-function", "lock-wait"]), [Why::LostEvents; 2]);
    let time = crate::analysis::TimeRange::parse("9.9s-10s").unwrap();
    let brief = Selection { time, ..Selection::default() };
    assert_eq!(reasons(&results_of(healthy(), &brief), &["hot-function"]), [Why::TooFewSamples]);
}

#[test]
fn a_tight_loop_of_several_threads_is_left_to_counters() {
    let mut s = healthy();
    for tid in [41, 42] {
        s.samples(7, tid, &format!("{MAIN};app!loop"), 2_000);
    }
    let results = check("a loop", s, &[("hot-function", High)]);
    assert!(results.undecided.iter().any(|(rule, _, why)| (*rule, *why) == ("spin-wait", Why::NotSupported)));
}

#[test]
fn limits_come_before_hints_and_what_explains_more_before_what_explains_less() {
    let mut s = healthy();
    for tid in [41, 42] {
        s.samples(7, tid, &format!("{MAIN};/usr/lib/libc.so.6!malloc"), 200).samples(
            8,
            tid,
            &format!("{MAIN};app!hot"),
            900,
        );
    }
    read(&mut s, Scope::Target, &[("run-delay", ms(12_000).0), ("cgroup-throttled-periods", 1)]);
    check("many", s, &[("cpu-queue", High), ("allocator", Medium), ("cgroup-throttling", Low), ("hot-function", High)]);
}

#[test]
fn much_of_a_little_cpu_time_comes_after_what_most_of_the_working_time_is() {
    let mut s = healthy();
    for tid in [41, 42] {
        s.samples(7, tid, &format!("{MAIN};/usr/lib/libc.so.6!malloc"), 8_000);
    }
    read(&mut s, Scope::Target, &[("run-delay", ms(40_000).0)]);
    check("queued", s, &[("cpu-queue", High), ("allocator", Medium)]);
}

/// Nine billion instructions at 2 cycles each and 1 GHz, and as much of everything else as a healthy program has.
fn with_counters() -> Synthetic {
    const G: u64 = 1_000_000_000;
    let mut s = healthy();
    let group = crate::model::HardwareGroup {
        events: vec![crate::model::HardwareEvent {
            role: "cycles".to_string(),
            event: crate::analysis::testing::event("cycles", crate::model::Unit::Cycles),
        }],
        cpus: vec![],
    };
    s.meta.hardware.groups.push(group);
    s.meta.hardware.formulas.push(("tma_smt_contention".to_string(), "td-smt-slots / (6 * cycles)".to_string()));
    let counted = [
        ("cycles", 18 * G),
        ("ref-cycles", 17 * G),
        ("instructions", 9 * G),
        ("td-smt-slots", 0),
        ("llc-miss", G / 1000),
        ("stalls-l3-miss", G / 10),
        ("offcore-rd-ge4", G / 10),
        ("local-hitm", 900_000),
        ("remote-cache-hitm", 0),
        ("local-dram-load", 900_000),
        ("remote-dram-load", 0),
        ("dtlb-load-walk-active", G / 10),
        ("dtlb-store-walk-active", 0),
        ("itlb-walk-active", 0),
    ];
    read(&mut s, Scope::Target, &counted);
    s
}

#[test]
fn hardware_counters_decide_their_rules_and_without_them_nothing_is_decided() {
    const G: u64 = 1_000_000_000;
    let results = check("healthy", with_counters(), &[]);
    assert_eq!((results.undecided, results.clear.len()), (vec![], 28));
    type Plant = (&'static str, &'static [(&'static str, u64)], &'static [(&'static str, Confidence)]);
    let memory: &[(&str, u64)] = &[("stalls-l3-miss", 9 * G)];
    let rows: [Plant; 9] = [
        ("a throttled clock", &[("ref-cycles", 24 * G)], &[("frequency", Medium)]),
        ("a busy sibling", &[("td-smt-slots", 27 * G)], &[("smt-sharing", Medium)]),
        ("bandwidth", &[("offcore-rd-ge4", 9 * G), ("llc-miss", G / 5)], &[("memory-bandwidth", Medium)]),
        ("another node", &[("remote-dram-load", 300_000), ("llc-miss", G / 5)], &[("remote-memory", Medium)]),
        ("many misses", &[("llc-miss", G / 5)], &[("cache-capacity", Low)]),
        ("few misses", &[("llc-miss", G / 50)], &[]),
        // 10 lines per 1000 instructions at 44 cycles each, of 2000 cycles.
        ("a shared line", &[("local-hitm", G * 9 / 100)], &[("false-sharing", Medium)]),
        ("lines handed over now and then", &[("local-hitm", G * 9 / 1000)], &[]),
        ("page walks", &[("dtlb-load-walk-active", 3 * G)], &[("page-walks", Medium)]),
    ];
    for (name, counted, expected) in rows {
        let mut s = with_counters();
        read(&mut s, Scope::Target, counted);
        let about_memory = counted.iter().any(|(counter, _)| *counter == "llc-miss");
        read(&mut s, Scope::Target, if about_memory { memory } else { &[] });
        let results = check(name, s, expected);
        let passes = |row: &Evidence| {
            row.threshold.is_none_or(|threshold| (row.value >= threshold) != (row.label == "clock over base clock"))
        };
        assert!(results.found.iter().flat_map(|finding| &finding.evidence).all(passes), "{name}: {:?}", results.found);
    }
}

#[test]
fn reads_from_another_node_matter_only_where_memory_is_waited_for() {
    let mut s = with_counters();
    read(&mut s, Scope::Target, &[("remote-dram-load", 300_000)]);
    check("no stalls", s, &[]);
}

#[test]
fn a_place_is_written_as_the_flame_graph_writes_it() {
    let mut s = healthy();
    for tid in [41, 42] {
        s.ended(7, tid, "app!\u{1b}[31mhot", 2_000, crate::model::StackEnd::Truncated);
    }
    let results = results(s);
    let place = results.found.first().and_then(|finding| finding.place.as_ref()).unwrap();
    assert_eq!(place.frames, ["[truncated stack]", "\u{1b}[31mhot"]);
}
