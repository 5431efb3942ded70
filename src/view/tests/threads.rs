//! Threads and counters as a screen requests them: shares of lifetimes, waits by cause, changes, and where each ran.

use crate::analysis::Axis;
use crate::analysis::testing::{Synthetic, event, ms};
use crate::model::profile::Profile;
use crate::model::{
    CpuTopology, EventKind, EventSpec, Measure, Membership, MembershipSource, Scope, Target, TaskChange, TaskState,
    Unit, Why,
};
use crate::units::Nanos;
use crate::view::context::ViewContext;
use crate::view::counters::{CounterLine, CountersView};
use crate::view::query::{Bounds, CompareWith, LineKey, Query, TaskFilter, TimeSelector, ViewRequest};
use crate::view::threads::{ThreadLine, ThreadsView};

const FUTEX: &str = "app!main;app!get;[kernel]!do_futex";

fn query(time: TimeSelector, compare_with: CompareWith) -> Query {
    let (filter, request) = (TaskFilter::default(), ViewRequest::Threads { by: LineKey::Thread, detail: None });
    Query { time, end: None, filter, axis: Axis::Event(0), compare_with, point: None, per: None, request }
}

fn view(profile: &Profile, query: &Query, detail: Option<u32>) -> ThreadsView {
    let bounds = Bounds { since: Nanos(0), now: profile.duration() };
    ThreadsView::of(&ViewContext::of(profile, None, bounds, query), LineKey::Thread, detail)
}

fn all(profile: &Profile) -> ThreadsView {
    view(profile, &query(TimeSelector::All, CompareWith::Nothing), None)
}

fn line(view: &ThreadsView, tid: u32) -> &ThreadLine {
    view.threads.iter().find(|line| line.tid == tid).unwrap_or_else(|| panic!("no thread {tid}"))
}

/// Two windows of a second: thread 41 runs for half of the first and all of the second, thread 42 ends with the first.
fn profile() -> Profile {
    let mut s = Synthetic::new();
    s.meta.plan.off_cpu = true;
    s.alive(41, "main").alive(42, "worker");
    for (at, cpu_ms, queued_ms) in [(0, 0, 0), (1000, 500, 100), (2000, 1500, 100)] {
        s.reading("task-clock", Scope::Thread(41), at, ms(cpu_ms).0);
        s.reading("run-delay", Scope::Thread(41), at, ms(queued_ms).0);
        s.reading("voluntary-switches", Scope::Thread(41), at, at / 100);
    }
    s.tick(1000, 1000).tick(2000, 1000);
    s.task(1000, 41, 42, TaskChange::Ended);
    s.samples(0, 41, "app!main", 3).samples(50, 42, "app!main;app!work", 1);
    s.off_cpu(100, 41, TaskState::Sleeping, 300, Some(10), FUTEX);
    s.off_cpu(500, 41, TaskState::Sleeping, 100, None, "app!main;[kernel]!do_nanosleep");
    s.off_cpu(100, 42, TaskState::Sleeping, 5000, None, FUTEX);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(ms(2000).0);
    profile
}

#[test]
fn the_shares_of_a_threads_time_are_of_its_own_life_and_add_up() {
    let view = all(&profile());
    let main = line(&view, 41);
    assert_eq!((main.running, main.queued), (Measure::exact(0.75), Measure::exact(0.05)));
    let blocked = main.blocked.value().copied().unwrap_or(f64::NAN);
    assert!((blocked - 0.2).abs() < 1e-9, "{blocked}");
    assert_eq!((main.voluntary, main.migrations), (Measure::exact(10.0), Measure::Missing(Why::NotRecorded)));
    assert_eq!((main.name.as_str(), main.process.as_str(), main.samples, main.alive), ("main", "main", 3, true));
    let worker = line(&view, 42);
    assert!(!worker.alive && worker.running.value().is_none(), "it was never read: {worker:?}");
    assert!(worker.blocked.value().is_none(), "what is left of an unknown share is unknown");
    assert_eq!((worker.name.as_str(), worker.process.as_str()), ("worker", "main"));
}

#[test]
fn waits_come_by_their_share_and_none_is_longer_than_the_life_it_is_a_part_of() {
    let view = all(&profile());
    let shares = |tid| line(&view, tid).waits.iter().map(|wait| (wait.cause, wait.share)).collect::<Vec<_>>();
    assert_eq!(shares(41), [("lock (futex, mutex)", 0.15), ("sleep", 0.05)]);
    assert_eq!(shares(42), [("lock (futex, mutex)", 1.0)], "a wait that outlives its thread is clipped");
    assert!(view.has_waits);
}

#[test]
fn the_call_paths_of_waits_are_those_of_the_thread_that_was_asked_for() {
    let paths = |detail| {
        let view = view(&profile(), &query(TimeSelector::All, CompareWith::Nothing), detail);
        view.paths.iter().map(|path| (path.frames.join(" < "), path.count, path.total_s)).collect::<Vec<_>>()
    };
    assert_eq!(paths(None), []);
    assert_eq!(paths(Some(41)), [("get < main".to_string(), 1, 0.3), ("main".to_string(), 1, 0.1)]);
    assert_eq!(paths(Some(42)).len(), 1);
    assert_eq!(paths(Some(99)), []);
}

#[test]
fn a_change_needs_both_sides() {
    let profile = profile();
    let query = query(TimeSelector::Between(ms(1000), ms(2000)), CompareWith::Before(ms(1000)));
    let view = view(&profile, &query, None);
    let change = line(&view, 41).change.unwrap_or(f64::NAN);
    assert!((change - 0.5).abs() < 1e-9, "half of the time before, all of it now: {change}");
    let unchanged = all(&profile);
    assert!(unchanged.threads.iter().all(|line| line.change.is_none()), "nothing to compare with");
}

#[test]
fn the_history_of_a_thread_has_a_point_per_window_and_a_gap_where_it_was_not_read() {
    let view = all(&profile());
    assert_eq!(line(&view, 41).history, [Some(0.5), Some(1.0)]);
    assert_eq!(line(&view, 42).history, [None, None], "it was never read");
}

#[test]
fn a_cpu_is_shared_by_time_where_time_is_sampled_and_by_samples_where_it_is_not() {
    for (unit, expected, share_of) in
        [(Unit::Nanos, [0.25, 0.5], "of its time"), (Unit::Cycles, [1.0 / 3.0, 2.0 / 3.0], "of the samples")]
    {
        let mut s = Synthetic::new();
        s.meta.events = vec![event("e", unit)];
        s.meta.host.cpus =
            [(0, 0), (5, 1)].map(|(cpu, node)| CpuTopology { cpu, core: cpu, package: 0, node }).to_vec();
        s.weight = ms(250).0;
        s.samples(0, 41, "app!main", 3);
        let mut profile = s.finish();
        profile.meta.duration_ns = Some(ms(1000).0);
        profile.samples.cpu = vec![0, 5, 5];
        let view = all(&profile);
        let shares: Vec<f64> = view.cpus.iter().map(|cpu| cpu.share).collect();
        assert_eq!((shares, view.cpu_share_of), (expected.to_vec(), share_of), "{unit:?}");
        let main = line(&view, 41);
        assert_eq!((main.cpu, main.node), (Some(5), Some(1)), "the CPU of its last sample");
    }
}

#[test]
fn a_thread_on_a_cpu_that_the_machine_does_not_list_has_no_node() {
    let mut s = Synthetic::new();
    s.samples(0, 41, "app!main", 1);
    let mut profile = s.finish();
    profile.samples.cpu = vec![u32::MAX];
    let view = all(&profile);
    assert_eq!((line(&view, 41).cpu, line(&view, 41).node), (Some(u32::MAX), None));
    assert!(view.cpus.iter().all(|cpu| cpu.share == 0.0));
}

fn counters(profile: &Profile) -> CountersView {
    let bounds = Bounds { since: Nanos(0), now: profile.duration() };
    CountersView::of(&ViewContext::of(profile, None, bounds, &query(TimeSelector::All, CompareWith::Nothing)))
}

fn counter<'a>(view: &'a CountersView, name: &str) -> Vec<&'a CounterLine> {
    view.counters.iter().filter(|line| line.name == name).collect()
}

#[test]
fn a_counter_has_a_line_for_each_scope_it_was_read_in_and_one_with_the_reason_where_it_was_in_none() {
    let mut s = Synthetic::new();
    for (scope, value) in [(Scope::Target, 300), (Scope::Host, 900), (Scope::Tool, 30), (Scope::Thread(41), 5)] {
        s.reading("faults", scope, 0, 0).reading("faults", scope, 2000, value);
    }
    s.define("cycles");
    s.reading("of-a-thread", Scope::Thread(41), 2000, 5).tick(2000, 2000);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(ms(2000).0);
    let view = counters(&profile);
    let lines: Vec<_> = counter(&view, "faults").iter().map(|line| (line.scope, line.total, line.rate)).collect();
    let both = |total: f64| (Measure::exact(total), Measure::exact(total / 2.0));
    let expected = [("target", 300.0), ("host", 900.0), ("ironlaw", 30.0)];
    assert_eq!(
        lines,
        expected.map(|(scope, total)| (scope, both(total).0, both(total).1)),
        "threads have their own view"
    );
    for (name, why) in [("cycles", Why::NotSupported), ("of-a-thread", Why::NotRecorded)] {
        let lines = counter(&view, name);
        assert_eq!(lines.len(), 1, "{name}");
        assert_eq!(
            (lines[0].scope, lines[0].total, lines[0].rate),
            ("target", Measure::Missing(why), Measure::Missing(why))
        );
        assert!(lines[0].history.iter().all(|(_, value)| value.is_none()), "{name}: a gap, not zero");
    }
}

#[test]
fn a_gauge_shows_its_highest_level_and_no_rate_of_its_own() {
    let mut s = Synthetic::new();
    s.defined("resident", Unit::Bytes, None);
    for (at, value) in [(0, 10), (1000, 4096), (2000, 512)] {
        s.reading("resident", Scope::Target, at, value);
    }
    s.tick(1000, 1000).tick(2000, 1000);
    let mut profile = s.finish();
    profile.meta.duration_ns = Some(ms(2000).0);
    let view = counters(&profile);
    let line = counter(&view, "resident")[0];
    assert_eq!((line.total, line.rate), (Measure::exact(4096.0), Measure::exact(4096.0)));
    assert_eq!(
        line.history,
        [(ms(1000), Some(4096.0)), (ms(2000), Some(4096.0))],
        "a level holds until the next reading"
    );
}

#[test]
fn metrics_of_hardware_and_of_memory_walks_are_left_out_where_neither_was_there() {
    let view = counters(&profile());
    assert!(!view.metrics.is_empty());
    let sections: Vec<String> = view.metrics.iter().map(|line| format!("{:?}", line.section)).collect();
    assert!(!sections.iter().any(|section| section == "Hardware" || section == "Probe"), "{sections:?}");
    for line in &view.metrics {
        assert_eq!(line.history.len(), 2, "{}: a point per window", line.name);
        assert!(line.before.is_none(), "{}: nothing to compare with", line.name);
    }
}

/// Number, name, threads, seconds run of each second, the same queued.
type Grouped = (u32, String, u64, Option<f64>, Option<f64>);

/// The lines of the whole profile by `by`.
fn grouped(profile: &Profile, by: LineKey) -> Vec<Grouped> {
    let query = query(TimeSelector::All, CompareWith::Nothing);
    let bounds = Bounds { since: Nanos(0), now: profile.duration() };
    let view = ThreadsView::of(&ViewContext::of(profile, None, bounds, &query), by, Some(41));
    let rounded = |measure: Measure<f64>| measure.value().map(|value| (value * 1000.0).round() / 1000.0);
    let line = |line: ThreadLine| (line.tid, line.name, line.threads, rounded(line.running), rounded(line.queued));
    view.threads.into_iter().map(line).collect()
}

#[test]
fn threads_are_put_together_by_process_and_by_control_group() {
    let mut profile = profile();
    let join = |tid: u32, cgroup: &str| Membership {
        at: Nanos(0),
        pid: 41,
        tid,
        cgroup: cgroup.into(),
        source: MembershipSource::Sample,
    };
    profile.memberships = vec![join(41, "/web"), join(42, "/batch")];
    profile.meta.plan.target = Target::Processes { pids: vec![41], children: false };
    assert_eq!(grouped(&profile, LineKey::Process), [(41, "main".into(), 2, Some(0.75), Some(0.05))]);
    let expected = [(0, "/web".into(), 1, Some(0.75), Some(0.05)), (1, "/batch".into(), 1, None, None)];
    assert_eq!(grouped(&profile, LineKey::Cgroup), expected, "what was not read is missing, not zero");
    // Of a whole machine no thread is read: samples of a clock tell what ran, waits what was queued.
    profile.meta.plan.target = Target::Cpus { cpus: vec![] };
    profile.readings.clear();
    profile.meta.events = vec![event("cpu-clock", Unit::Nanos)];
    profile.samples.weight = vec![100_000_000; 4];
    let expected = [(0, "/web".into(), 1, Some(0.15), Some(0.005)), (1, "/batch".into(), 1, Some(0.05), Some(0.0))];
    assert_eq!(grouped(&profile, LineKey::Cgroup), expected);
    assert_eq!(grouped(&profile, LineKey::Process), [(41, "main".into(), 2, Some(0.2), Some(0.005))]);
    profile.meta.host.cpus = vec![CpuTopology { cpu: 0, core: 0, package: 0, node: 0 }];
    assert_eq!(grouped(&profile, LineKey::Cpu), [(0, "CPU 0".into(), 0, Some(0.2), None)]);
}

#[test]
fn a_control_group_counts_what_those_in_it_count_and_one_that_holds_several_is_a_line() {
    let mut synthetic = Synthetic::new();
    let counts = |name, config| EventSpec::new(name, EventKind::Hardware(config), Unit::Count);
    synthetic.meta.events = vec![counts("cycles", 0), counts("instructions", 1)];
    synthetic.meta.plan.target = Target::Cpus { cpus: vec![] };
    for (tid, path, instructions) in [(41, "/web/api", 20), (42, "/web/jobs", 80), (43, "/batch", 40)] {
        synthetic.alive(tid, "main").joins(0, tid, path);
        for (event, samples) in [(0, 40), (1, instructions)] {
            (synthetic.event, synthetic.weight) = (event, 1000);
            synthetic.samples(0, tid, "app!main", samples);
        }
    }
    let profile = synthetic.finish();
    let query = query(TimeSelector::All, CompareWith::Nothing);
    let context = ViewContext::of(&profile, None, Bounds { since: Nanos(0), now: ms(2000) }, &query);
    let lines = ThreadsView::of(&context, LineKey::Cgroup, None).threads;
    let name = |number: u32| lines.iter().find(|line| line.tid == number).map(|line| line.name.as_str());
    let mut found: Vec<_> = lines
        .iter()
        .map(|line| (line.name.as_str(), line.parent.and_then(name), line.threads, line.ipc.value().copied()))
        .collect();
    found.sort_by_key(|line| line.0);
    let expected = [
        ("/batch", None, 1, Some(1.0)),
        ("/web", None, 2, Some(1.25)),
        ("/web/api", Some("/web"), 1, Some(0.5)),
        ("/web/jobs", Some("/web"), 1, Some(2.0)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn lines_whose_threads_are_not_read_have_the_ipc_of_their_group_or_of_their_samples() {
    let mut synthetic = Synthetic::new();
    let counts = |name, config| EventSpec::new(name, EventKind::Hardware(config), Unit::Count);
    synthetic.meta.events = vec![counts("cycles", 0), counts("instructions", 1)];
    synthetic.meta.host.cpus = vec![CpuTopology { cpu: 0, core: 0, package: 0, node: 0 }];
    synthetic.meta.plan.target = Target::Cpus { cpus: vec![] };
    for (tid, instructions) in [(41, 20), (42, 80)] {
        synthetic.alive(tid, "main").joins(0, tid, if tid == 41 { "/web" } else { "/batch" });
        for (event, samples) in [(0, 40), (1, instructions)] {
            (synthetic.event, synthetic.weight) = (event, 1000);
            synthetic.samples(0, tid, "app!main", samples);
        }
    }
    let ipc = |profile: &Profile, by| {
        let query = query(TimeSelector::All, CompareWith::Nothing);
        let bounds = Bounds { since: Nanos(0), now: ms(2000) };
        let view = ThreadsView::of(&ViewContext::of(profile, None, bounds, &query), by, None);
        let mut found: Vec<_> = view.threads.into_iter().map(|line| (line.name, line.ipc.value().copied())).collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    };
    for (counter, value) in
        [("cycles", 4000), ("instructions", 1000), ("psi-cpu-some", ms(500).0), ("task-clock", ms(3000).0)]
    {
        synthetic.reading(counter, Scope::Cgroup(0), 0, 0).reading(counter, Scope::Cgroup(0), 1000, value);
    }
    synthetic.tick(1000, 1000);
    let mut profile = synthetic.finish();
    assert_eq!(ipc(&profile, LineKey::Thread), [("main".into(), Some(0.5)), ("main".into(), Some(2.0))]);
    assert_eq!(ipc(&profile, LineKey::Cgroup), [("/batch".into(), Some(2.0)), ("/web".into(), Some(0.5))]);
    assert_eq!(ipc(&profile, LineKey::Cpu), [("CPU 0".into(), Some(1.25))]);
    // A group's own counters are exact and come first.
    let (name, path) = ("web,other".to_string(), "/sys/fs/cgroup/web".into());
    profile.meta.plan.target = Target::Cgroup { name, path, others: vec!["/sys/fs/cgroup/other/web".into()] };
    assert_eq!(ipc(&profile, LineKey::Cgroup), [("/batch".into(), Some(2.0)), ("/web".into(), Some(0.25))]);
    let query = query(TimeSelector::All, CompareWith::Nothing);
    let context = ViewContext::of(&profile, None, Bounds { since: Nanos(0), now: ms(2000) }, &query);
    let lines = ThreadsView::of(&context, LineKey::Cgroup, None).threads;
    let line = |name: &str| lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(line("/web").running, Measure::exact(1.5), "of one CPU's time, by the group's own clock");
    let held_up = |name: &str| line(name).held_up.iter().map(|wait| (wait.cause, wait.share)).collect::<Vec<_>>();
    assert_eq!((held_up("/web"), held_up("/batch")), (vec![("CPU pressure", 0.25)], vec![]));
}
