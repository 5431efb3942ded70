//! Waits: which cause each has, what is clipped to the selected time, and how sure the causes are.

use crate::analysis::testing::{Synthetic, ms};
use crate::analysis::{
    Axis, Cause, Names, Selection, Tasks, TimeRange, blocked_paths, off_cpu_totals, waits_by_thread,
};
use crate::model::profile::Profile;
use crate::model::{StackEnd, TaskState};
use crate::units::Nanos;
use TaskState::{DiskSleep, Other, Runnable, Sleeping};

const FUTEX: &str = "app!main;[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";

fn selected(from: u64, to: u64) -> Selection {
    let time = TimeRange { from: ms(from), to: Some(ms(to)) };
    Selection { time, axis: Axis::OffCpu, ..Selection::default() }
}

fn totals(profile: &Profile, selection: &Selection) -> crate::analysis::OffCpuTotals {
    off_cpu_totals(profile, &Names::of(profile), &Tasks::of(profile), selection)
}

/// The cause of one wait.
fn cause(state: TaskState, stack: &str) -> Cause {
    let mut s = Synthetic::new();
    s.off_cpu(0, 41, state, 5, Some(1), stack);
    let found = totals(&s.finish(), &Selection::default()).causes;
    assert_eq!(found.len(), 1, "{stack}");
    found[0].cause
}

#[test]
fn a_wait_has_the_cause_that_the_innermost_known_function_of_the_kernel_implies() {
    for (case, state, stack, expected) in [
        ("a futex", Sleeping, FUTEX, Cause::Lock),
        ("a lock of the kernel below a read", Sleeping, "a!read;[kernel]!ksys_read;[kernel]!mutex_lock", Cause::Lock),
        ("storage below a lock", DiskSleep, "a!f;[kernel]!down_read;[kernel]!io_schedule", Cause::BlockIo),
        ("a socket", Sleeping, "a!recv;[kernel]!tcp_recvmsg;[kernel]!sk_wait_data", Cause::Network),
        ("a sleep", Sleeping, "a!nap;[kernel]!do_nanosleep;[kernel]!schedule", Cause::Sleep),
        ("events", Sleeping, "a!loop;[kernel]!do_epoll_wait;[kernel]!ep_poll", Cause::Events),
        ("a pipe", Sleeping, "a!read;[kernel]!vfs_read;[kernel]!pipe_read", Cause::Pipe),
        ("a child", Sleeping, "a!wait4;[kernel]!kernel_wait4;[kernel]!do_wait", Cause::Other),
        ("preempted, whatever ran", Runnable, FUTEX, Cause::RunQueue),
        ("preempted without a stack", Runnable, "", Cause::RunQueue),
        ("no stack", Sleeping, "", Cause::Unknown),
        ("a kernel without names", Sleeping, "a!main;[kernel]!+0xffffffff81000000", Cause::Unknown),
        ("the C library's wait, where the kernel is hidden", Sleeping, "a!main;libc!__pthread_cond_wait", Cause::Lock),
        ("functions of a program alone", Sleeping, "a!main;a!wait_for_it", Cause::Unknown),
        ("an unknown function of the kernel", Other, "a!main;[kernel]!no_such_function", Cause::Other),
        ("a sleep on a disk without a stack", DiskSleep, "", Cause::BlockIo),
        ("a stop without a stack", Other, "", Cause::Other),
    ] {
        assert_eq!(cause(state, stack), expected, "{case}: {stack}");
    }
}

#[test]
fn a_wait_is_clipped_to_the_selected_time_at_both_ends() {
    let mut s = Synthetic::new();
    // Blocked from 100 to 200, then queued until 230.
    s.off_cpu(100, 41, Sleeping, 100, Some(30), FUTEX);
    let profile = s.finish();
    for (case, from, to, blocked, queued) in [
        ("all of it", 0, 1000, 100, 30),
        ("its beginning", 0, 150, 50, 0),
        ("its middle", 120, 180, 60, 0),
        ("its end and the queue", 150, 210, 50, 10),
        ("the queue alone", 210, 220, 0, 10),
    ] {
        let found = totals(&profile, &selected(from, to));
        assert_eq!(found.causes.iter().fold(Nanos(0), |sum, row| sum + row.total), ms(blocked), "{case}");
        assert_eq!((found.queued_after_wake, found.longest_queue), (ms(queued), ms(queued)), "{case}");
        assert_eq!(found.wakes, u64::from(queued > 0), "{case}");
    }
    for (from, to) in [(0, 100), (230, 1000)] {
        assert_eq!(totals(&profile, &selected(from, to)), Default::default(), "{from} to {to} does not touch it");
    }
}

#[test]
fn causes_come_by_their_time_and_equal_ones_in_the_order_of_the_report() {
    let mut s = Synthetic::new();
    for (at, stack, length) in [
        (0, "a!x;[kernel]!pipe_read", 10),
        (100, "a!x;[kernel]!do_nanosleep", 30),
        (200, FUTEX, 10),
        (300, "a!x;[kernel]!pipe_read", 5),
    ] {
        s.off_cpu(at, 41, Sleeping, length, Some(0), stack);
    }
    s.off_cpu(400, 41, Runnable, 3, Some(7), "a!x");
    let found = totals(&s.finish(), &Selection::default());
    let rows: Vec<_> = found.causes.iter().map(|row| (row.cause, row.count, row.total, row.max, row.mean())).collect();
    assert_eq!(
        rows,
        [
            (Cause::Sleep, 1, ms(30), ms(30), ms(30)),
            (Cause::Pipe, 2, ms(15), ms(10), Nanos(7_500_000)),
            (Cause::Lock, 1, ms(10), ms(10), ms(10)),
            (Cause::RunQueue, 1, ms(10), ms(10), ms(10)),
        ],
        "all of a preemption is time in the queue"
    );
    assert_eq!((found.wakes, found.without_wakeup), (0, 0), "a wake-up without a queue is none that waited");
}

#[test]
fn call_paths_of_waits_are_told_apart_by_the_programs_functions_and_the_cause() {
    let mut s = Synthetic::new();
    for (at, tid, stack, length) in [
        (0, 41, "a!main;a!get;[kernel]!do_futex", 10),
        (100, 42, "a!main;a!get;[kernel]!futex_wait_queue", 10),
        (200, 41, "a!main;a!get;[kernel]!do_nanosleep", 15),
        (300, 41, "a!main;a!put;[kernel]!do_futex", 15),
        (400, 41, "[kernel]!do_futex", 1),
    ] {
        s.off_cpu(at, tid, Sleeping, length, None, stack);
    }
    s.off_cpu(500, 41, Runnable, 500, Some(500), "a!main;a!get");
    let profile = s.finish();
    let paths = blocked_paths(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
    let shown: Vec<_> =
        paths.iter().map(|path| (path.cause, path.frames.join(" < "), path.count, path.total)).collect();
    assert_eq!(
        shown,
        [
            (Cause::Lock, "get < main".to_string(), 2, ms(20)),
            (Cause::Lock, "put < main".to_string(), 1, ms(15)),
            (Cause::Sleep, "get < main".to_string(), 1, ms(15)),
            (Cause::Lock, String::new(), 1, ms(1)),
        ],
        "preemption has no path, and the kernel's functions are not part of one"
    );
    let waits = waits_by_thread(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
    assert_eq!(waits[&41], [(Cause::Lock, ms(26)), (Cause::Sleep, ms(15))]);
    assert_eq!(waits[&42], [(Cause::Lock, ms(10))]);
    let one = Selection { tids: vec![42], ..Selection::default() };
    let waits = waits_by_thread(&profile, &Names::of(&profile), &Tasks::of(&profile), &one);
    assert_eq!(waits.keys().copied().collect::<Vec<_>>(), [42]);
}

#[test]
fn a_cause_is_doubtful_where_much_was_blocked_without_a_stack_of_its_own() {
    let mut s = Synthetic::new();
    s.off_cpu(0, 41, Sleeping, 60, Some(1), FUTEX).off_cpu(100, 41, Sleeping, 40, None, "");
    s.off_cpu(200, 41, Sleeping, 50, Some(1), FUTEX).off_cpu(300, 41, Runnable, 900, None, "");
    let mut profile = s.finish();
    profile.off_cpu.update(|span| span.estimated = span.at == ms(200));
    let found = totals(&profile, &Selection::default());
    assert_eq!((found.coverage.unseen(), found.coverage.estimated()), (ms(40), ms(50)), "a preemption needs no cause");
    assert_eq!(found.without_wakeup, 1, "the wait without a wake-up");
}

#[test]
fn waits_beyond_any_capture_add_up_to_the_largest_number_and_not_past_it() {
    let mut s = Synthetic::new();
    for at in [0, 1, 2] {
        s.off_cpu(at, 41, Sleeping, 1, Some(1), FUTEX);
    }
    let mut profile = s.finish();
    profile.off_cpu.update(|span| {
        (span.at, span.blocked, span.queued) = (Nanos(0), Nanos(u64::MAX / 2 + 1), Some(Nanos(u64::MAX)));
        (span.estimated, span.end) = (true, StackEnd::Whole);
    });
    let found = totals(&profile, &Selection::default());
    assert_eq!(found.causes[0].total, Nanos(u64::MAX));
    assert_eq!((found.queued_after_wake, found.coverage.estimated()), (Nanos(u64::MAX), Nanos(u64::MAX)));
    let paths = blocked_paths(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
    assert_eq!((paths.len(), paths[0].total), (1, Nanos(u64::MAX)));
    let waits = waits_by_thread(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
    assert_eq!(waits[&41], [(Cause::Lock, Nanos(u64::MAX))]);
}
