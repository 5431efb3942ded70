//! Samples and waits as rows, and the stacks of a flame graph: what is clipped, what is headed, what the title says.

use crate::analysis::testing::{Synthetic, event, ms};
use crate::analysis::{Axis, Cause, CodeKind, QUEUED, Selection, TRUNCATED, TimeRange, UNKNOWN};
use crate::model::profile::Profile;
use crate::model::{LossKind, Note, Rate, StackEnd, Target, TaskState, Unit};
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::sampled::Sampled;

fn off_cpu(from: u64, to: u64) -> Selection {
    let time = TimeRange { from: ms(from), to: Some(ms(to)) };
    Selection { time, axis: Axis::OffCpu, ..Selection::default() }
}

fn sampled(profile: &Profile, selection: Selection) -> Sampled<'_> {
    Sampled::of(profile, selection, false).unwrap_or_else(|error| panic!("{error}"))
}

fn flame(profile: &Profile, selection: Selection) -> FlameGraph {
    FlameGraph::build(profile, &FlameOptions { selection, ..FlameOptions::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Blocked from 100 to 200 ms, then in the queue until 230 ms.
fn wait() -> Profile {
    let mut s = Synthetic::new();
    s.off_cpu(100, 41, TaskState::Sleeping, 100, Some(30), "app!main;[kernel]!do_futex");
    s.finish()
}

#[test]
fn a_wait_has_a_share_for_blocked_and_one_for_queued_time_each_where_it_lies() {
    let profile = wait();
    for (case, from, to, expected) in [
        ("all of it", 0, 1000, &[(100, 100, 1, false), (200, 30, 0, true)][..]),
        ("its beginning", 0, 150, &[(100, 50, 1, false)]),
        ("its end and the queue", 150, 210, &[(150, 50, 1, false), (200, 10, 0, true)]),
        ("the queue alone", 210, 220, &[(210, 10, 1, true)]),
        ("the time before it", 0, 100, &[]),
    ] {
        let sampled = sampled(&profile, off_cpu(from, to));
        let shares: Vec<_> = sampled.rows().flat_map(|row| row.shares().collect::<Vec<_>>()).collect();
        let shown: Vec<_> = shares
            .iter()
            .map(|share| {
                let queued = sampled.cells(share.path).iter().any(|cell| cell.name == QUEUED);
                (share.at, share.weight, share.count, queued)
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(at, weight, count, queued)| (ms(*at), ms(*weight).0, *count, *queued)).collect();
        assert_eq!(shown, expected, "{case}");
    }
    let sampled = sampled(&profile, off_cpu(0, 1000));
    let row = sampled.rows().next().unwrap_or_else(|| panic!("no wait"));
    assert_eq!((row.cpu, row.event, row.kernel), (None, None, None), "a wait is nowhere");
    assert_eq!((sampled.cause(&row), sampled.event_name(row.event)), (Some(Cause::Lock), "off-cpu"));
}

#[test]
fn cells_run_from_the_root_with_a_heading_for_what_is_missing() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!main;app!inner < outer", 1);
    s.ended(10, 41, "app!work", 1, StackEnd::Broken).ended(20, 41, "", 1, StackEnd::NotTaken);
    s.ended(30, 41, "", 1, StackEnd::Truncated).samples(40, 41, "app!+0x40;?", 1);
    let profile = s.finish();
    let sampled = sampled(&profile, Selection::default());
    let names: Vec<Vec<String>> = sampled
        .rows()
        .map(|row| sampled.cells(row.path()).iter().map(|cell| cell.name.to_string()).collect())
        .collect();
    assert_eq!(names[0], ["main", "outer", "inner"]);
    assert_eq!(names[1], [TRUNCATED, "work"]);
    assert_eq!(names[2], [UNKNOWN]);
    assert_eq!(names[3], [TRUNCATED, UNKNOWN]);
    assert_eq!(names[4][0], "app+0x40", "code without a name has its file and offset");
    let first: Vec<_> = sampled.rows().take(1).flat_map(|row| sampled.cells(row.path())).collect();
    let facts: Vec<_> = first.iter().map(|cell| (cell.inlined, cell.depth, cell.kind)).collect();
    assert_eq!(facts, [(false, 0, CodeKind::User), (false, 1, CodeKind::User), (true, 0, CodeKind::User)]);
    assert!(sampled.module(&first[0]).is_some_and(|module| module.path == "app"));
}

#[test]
fn a_tail_call_has_its_callers_file_and_neither_an_address_nor_a_line() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!main => work;libc!memset", 1);
    let profile = s.finish();
    let sampled = sampled(&profile, Selection::default());
    let cells: Vec<_> = sampled.rows().flat_map(|row| sampled.cells(row.path())).collect();
    let names: Vec<_> = cells.iter().map(|cell| (cell.name, cell.tail_called_by.is_some())).collect();
    assert_eq!(names, [("main", false), ("work", true), ("memset", false)]);
    let work = &cells[1];
    assert!(sampled.module(work).is_some_and(|module| module.path == "app"));
    assert_eq!((sampled.address(work), sampled.symbol(work), work.kind), (None, None, CodeKind::User));
}

#[test]
fn a_flame_graph_counts_samples_where_all_weigh_alike_and_weights_where_they_do_not() {
    let mut s = Synthetic::new();
    s.meta.events = vec![event("cycles", Unit::Cycles)];
    s.weight = 1000;
    s.samples(0, 41, "app!main;app!a", 3).samples(0, 42, "app!main;app!b", 1);
    let alike = flame(&s.finish(), Selection::default());
    assert_eq!((alike.unit, alike.total), ("samples", 4));
    let mut s = Synthetic::new();
    s.meta.events = vec![event("cycles", Unit::Cycles)];
    for (tid, weight) in [(41, 1000), (42, 1)] {
        s.weight = weight;
        s.samples(0, tid, "app!main;app!a", 3);
    }
    let profile = s.finish();
    let differ = flame(&profile, Selection::default());
    assert_eq!((differ.unit, differ.total), ("cycles", 3003));
    let one = flame(&profile, Selection { tids: vec![42], ..Selection::default() });
    assert_eq!((one.unit, one.total), ("samples", 3), "the selected ones weigh alike");
    assert_eq!(flame(&wait(), off_cpu(0, 1000)).unit, "ns", "waits never do");
}

#[test]
fn zooming_in_keeps_what_lies_below_and_its_sum() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!main;app!a;app!x", 3).samples(0, 41, "app!main;app!b;app!x", 2).samples(
        0,
        41,
        "app!a;app!x",
        1,
    );
    let whole = flame(&s.finish(), Selection::default());
    for (root, total, first) in [
        (&[][..], 6, "a"),
        (&["main"], 5, "main"),
        (&["main", "a"], 3, "a"),
        (&["main", "a", "x"], 3, "x"),
        (&["a"], 1, "a"),
        (&["x"], 0, ""),
        (&["main", "a", "x", "y"], 0, ""),
    ] {
        let mut zoomed = whole.clone();
        zoomed.keep_below(&root.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(zoomed.total, total, "{root:?}");
        assert_eq!(zoomed.stacks.iter().map(|stack| stack.value).sum::<u64>(), total, "{root:?}");
        assert!(
            zoomed.stacks.first().map_or("", |stack| &stack.frames[0].text) == first,
            "{root:?}: {:?}",
            zoomed.stacks
        );
    }
}

#[test]
fn the_title_names_the_target_what_is_counted_and_the_threads() {
    let titled = |target: Target, selection: Selection| {
        let mut s = Synthetic::new();
        s.meta.plan.off_cpu = true;
        s.alive(41, "redis").alive(42, "io").samples(0, 41, "app!main", 1);
        s.meta.plan.target = target;
        flame(&s.finish(), selection).title
    };
    let process = |pids: &[u32]| Target::Processes { pids: pids.to_vec(), children: false };
    let threads = Selection { tids: vec![42], comms: vec!["r*".into()], ..Selection::default() };
    for (target, selection, expected) in [
        (process(&[41]), Selection::default(), "redis (pid 41)"),
        (process(&[41, 42]), Selection::default(), "pid 41,42"),
        (process(&[99]), Selection::default(), "pid 99"),
        (Target::Command { argv: vec!["make".into(), "-j8".into()] }, Selection::default(), "make -j8"),
        (process(&[41]), off_cpu(0, 1000), "redis (pid 41): time off the CPU"),
        (process(&[41]), threads, "redis (pid 41), thread 42, r*"),
    ] {
        assert_eq!(titled(target, selection), expected);
    }
}

#[test]
fn the_subtitle_counts_samples_and_what_they_lack() {
    let mut s = Synthetic::new();
    s.meta.plan.rate = Rate::Period(1000);
    s.samples(0, 41, "app!main", 3).ended(10, 41, "app!main", 1, StackEnd::Truncated).lost(5, LossKind::Ring, 7);
    let subtitle = flame(&s.finish(), Selection::default()).subtitle;
    for part in
        ["4 samples of cpu-clock at every 1000 over 10.0 s", "25.0% of stacks cut short", "7 records lost", "web-1"]
    {
        assert!(subtitle.contains(part), "{part} is not in {subtitle}");
    }
    let mut s = Synthetic::new();
    s.ended(0, 41, "", 2, StackEnd::NotTaken);
    assert!(flame(&s.finish(), Selection::default()).subtitle.contains("no stacks"), "none was asked for");
    assert!(flame(&wait(), off_cpu(0, 500)).subtitle.starts_with("1 spans off the CPU over 0.5 s"));
}

#[test]
fn remarks_say_what_was_profiled_where_and_what_to_know() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!main", 1).lost(1, LossKind::Throttled, u64::MAX).lost(2, LossKind::Ring, 5);
    s.meta.notes = vec![Note { topic: "t".into(), text: "as the capture saw it".into(), fix: None }];
    let profile = s.finish();
    let remarks = sampled(&profile, Selection::default()).remarks();
    assert_eq!(remarks.len(), 5, "{remarks:?}");
    assert!(
        remarks[0].ends_with("profiled pid 41") && remarks[1].contains("Linux 6.1.0-18-amd64 on x86_64"),
        "{remarks:?}"
    );
    assert_eq!(remarks[2], "cpu-clock in ns, 997 Hz");
    assert_eq!(
        remarks[3],
        format!("{} records were lost or throttled", u64::MAX),
        "a sum beyond 64 bits stays at its end"
    );
    assert_eq!(remarks[4], "as the capture saw it");
}
