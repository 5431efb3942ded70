#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
//! Readings of a process tree that is not there: files in a folder, written by hand between two windows.

use super::*;
use crate::collect::catalog::{
    CGROUP_THROTTLED_TIME, HOST_BUSY, HOST_STEAL, INVOLUNTARY_SWITCHES, MAJOR_FAULTS, MIGRATIONS, MINOR_FAULTS,
    PSI_CPU_SOME, RUN_DELAY, SYSTEM_TIME, TASK_CLOCK, THREAD_TIME, TIMESLICES, USER_TIME, VOLUNTARY_SWITCHES,
};
use crate::error::{ErrorKind, Result};
use crate::model::{CounterId, CounterReading, Event, Scope, Target};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::procfs;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

const MS: u64 = 1_000_000;

fn tick() -> u64 {
    procfs::clock_tick().0
}

fn at(milliseconds: u64) -> Nanos {
    Nanos(milliseconds * MS)
}

/// What /proc says of one thread; its process says the same where it has no other.
#[derive(Debug, Clone, Copy)]
struct Task {
    cpu_ns: u64,
    delay_ns: u64,
    slices: u64,
    switches: [u64; 2],
    faults: [u64; 2],
    /// Clock ticks in user mode and in the kernel.
    ticks: [u64; 2],
    born: u64,
}

/// Born long before every capture.
const IDLE: Task =
    Task { cpu_ns: 0, delay_ns: 0, slices: 0, switches: [0; 2], faults: [0; 2], ticks: [0; 2], born: 100 };

/// A folder that looks like /proc.
struct Fake {
    dir: TempDir,
}

impl Fake {
    fn new() -> Fake {
        let fake = Fake { dir: tempfile::tempdir().unwrap() };
        fake.file("self/mountinfo", "").file("uptime", "1000.00 1.00\n").file("stat", "cpu  0 0 0 0 0 0 0 0\n");
        fake
    }

    fn file(&self, path: &str, text: &str) -> &Fake {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A thread's files, and what its process's own file says of all its threads.
    fn thread(&self, pid: u32, tid: u32, task: Task) -> &Fake {
        let Task { cpu_ns, delay_ns, slices, switches, .. } = task;
        let place = format!("{pid}/task/{tid}");
        self.file(&format!("{place}/stat"), &stat(tid, 1, 1, task));
        self.file(&format!("{place}/schedstat"), &format!("{cpu_ns} {delay_ns} {slices}\n"));
        let [voluntary, involuntary] = switches;
        let counts = format!("voluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n");
        self.file(&format!("{place}/status"), &format!("Name:\tx\nTgid:\t{pid}\n{counts}"))
    }

    fn process(&self, pid: u32, parent: u32, threads: u32, task: Task) -> &Fake {
        self.file(&format!("{pid}/stat"), &stat(pid, parent, threads, task))
    }

    /// A process with one thread.
    fn single(&self, pid: u32, task: Task) -> &Fake {
        self.process(pid, 1, 1, task).thread(pid, pid, task)
    }

    /// As the kernel does it: an open file of a thread that has ended reads as empty.
    fn end_thread(&self, pid: u32, tid: u32) {
        for name in ["stat", "schedstat", "status"] {
            self.file(&format!("{pid}/task/{tid}/{name}"), "");
        }
        fs::remove_dir_all(self.dir.path().join(format!("{pid}/task/{tid}"))).unwrap();
    }

    fn end(&self, pid: u32) {
        self.file(&format!("{pid}/stat"), "");
        fs::remove_dir_all(self.dir.path().join(pid.to_string())).unwrap();
    }

    fn sources(&self, open_files: usize) -> Sources {
        let proc = ProcFs::new(self.dir.path());
        Sources { cgroups: CgroupFs::open(&proc).unwrap(), proc, cpu_clock: |_| None, open_files, several_nodes: false }
    }

    fn open(&self, target: &Target) -> Result<Readings> {
        Readings::open(self.sources(16), target, None, Nanos(0))
    }

    /// Readings of process 7 that have begun.
    fn begun(&self) -> Readings {
        let mut readings = self.open(&processes(&[7], false)).unwrap();
        readings.begin(Nanos(0), &mut Vec::new());
        readings
    }
}

/// `stat` of a thread or of a process.
fn stat(id: u32, parent: u32, threads: u32, task: Task) -> String {
    let Task { faults: [minor, major], ticks: [user, system], born, .. } = task;
    format!("{id} (a) b) S {parent} 1 1 0 -1 0 {minor} 0 {major} 0 {user} {system} 0 0 20 0 {threads} 0 {born} 0\n")
}

fn processes(pids: &[u32], children: bool) -> Target {
    Target::Processes { pids: pids.to_vec(), children }
}

fn readings_of(out: &[Event]) -> impl Iterator<Item = &CounterReading> {
    out.iter().filter_map(|event| if let Event::Reading(reading) = event { Some(reading) } else { None })
}

/// The last reading of a counter in this window.
fn value(out: &[Event], scope: Scope, counter: CounterId) -> Option<u64> {
    readings_of(out)
        .filter(|reading| (reading.scope, reading.counter) == (scope, counter))
        .last()
        .map(|last| last.value)
}

fn of_target(out: &[Event], counter: CounterId) -> Option<u64> {
    value(out, Scope::Target, counter)
}

/// One window, and what it reported. The end reads everything, however long ago the last reading was.
fn window(readings: &mut Readings, milliseconds: u64) -> Vec<Event> {
    let mut out = Vec::new();
    readings.end(at(milliseconds), &mut out);
    out
}

#[test]
fn every_counter_of_a_process_counts_from_the_beginning_of_the_capture() {
    let fake = Fake::new();
    let before = Task {
        cpu_ns: 500 * MS,
        delay_ns: 40 * MS,
        slices: 900,
        switches: [300, 30],
        faults: [1_000, 10],
        ticks: [30, 20],
        born: 100,
    };
    fake.single(7, before);
    let mut readings = fake.begun();
    let after = Task {
        cpu_ns: 700 * MS,
        delay_ns: 55 * MS,
        slices: 950,
        switches: [330, 31],
        faults: [1_007, 12],
        ticks: [44, 26],
        born: 100,
    };
    fake.single(7, after);
    let out = window(&mut readings, 1000);
    for (counter, expected) in [
        (TASK_CLOCK, 20 * tick()),
        (USER_TIME, 14 * tick()),
        (SYSTEM_TIME, 6 * tick()),
        (MINOR_FAULTS, 7),
        (MAJOR_FAULTS, 2),
        (RUN_DELAY, 15 * MS),
        (TIMESLICES, 50),
        (VOLUNTARY_SWITCHES, 30),
        (INVOLUNTARY_SWITCHES, 1),
        (THREAD_TIME, 1000 * MS),
    ] {
        assert_eq!(of_target(&out, counter), Some(expected), "{counter:?}");
    }
    assert_eq!(of_target(&out, MIGRATIONS), None, "a kernel without `sched` counts none");
    assert_eq!(value(&out, Scope::Thread(7), TASK_CLOCK), Some(200 * MS));
    assert!(matches!(out.last(), Some(Event::Tick(tick)) if (tick.at, tick.span) == (at(1000), at(1000))));
}

#[test]
fn a_thread_that_ends_between_two_readings_keeps_its_last_one() {
    let fake = Fake::new();
    fake.process(7, 1, 2, IDLE).thread(7, 7, IDLE).thread(7, 8, IDLE);
    let mut readings = fake.begun();
    fake.thread(7, 8, Task { cpu_ns: 80 * MS, slices: 4, ..IDLE });
    assert_eq!(of_target(&window(&mut readings, 1000), TIMESLICES), Some(4));
    // Its last four slices are seen by nobody.
    fake.process(7, 1, 1, IDLE).end_thread(7, 8);
    let out = window(&mut readings, 2000);
    assert_eq!(of_target(&out, TIMESLICES), Some(4));
    assert_eq!(value(&out, Scope::Thread(8), TASK_CLOCK), None, "nothing is reported of a thread that is gone");
    assert_eq!(of_target(&out, THREAD_TIME), Some(2000 * MS + 1500 * MS), "two for a second, then one and a half");
}

#[test]
fn a_thread_with_a_number_used_before_is_another_thread() {
    // An open file tells of a thread's end by itself; without one only the time of birth differs.
    for open_files in [0, 16] {
        let fake = Fake::new();
        fake.process(7, 1, 2, IDLE).thread(7, 7, IDLE).thread(7, 8, Task { cpu_ns: 5 * MS, slices: 5, ..IDLE });
        let mut readings = Readings::open(fake.sources(open_files), &processes(&[7], false), None, Nanos(0)).unwrap();
        readings.begin(Nanos(0), &mut Vec::new());
        fake.thread(7, 8, Task { cpu_ns: 9 * MS, slices: 9, ..IDLE });
        assert_eq!(of_target(&window(&mut readings, 1000), TIMESLICES), Some(4), "{open_files} open files");
        fake.end_thread(7, 8);
        // Born after the capture began at 1000 s: it counts from zero.
        fake.thread(7, 8, Task { cpu_ns: 2 * MS, slices: 2, born: 2_000_000, ..IDLE });
        let mut out = window(&mut readings, 2000);
        out.extend(window(&mut readings, 3000));
        assert_eq!(of_target(&out, TIMESLICES), Some(6), "4 of the first, 2 of the second; {open_files} open files");
    }
}

#[test]
fn a_counter_that_falls_is_not_taken_for_one_that_wrapped() {
    let fake = Fake::new();
    fake.single(7, Task { slices: 100, cpu_ns: 50 * MS, delay_ns: 7 * MS, ..IDLE });
    let mut readings = fake.begun();
    let mut told = Vec::new();
    for (second, slices) in [(1, 110), (2, 105), (3, 90), (4, 120)] {
        fake.single(7, Task { slices, cpu_ns: (50 + second) * MS, delay_ns: 7 * MS, ..IDLE });
        told.push(of_target(&window(&mut readings, second * 1000), TIMESLICES).unwrap());
    }
    assert!(told.windows(2).all(|pair| pair[0] <= pair[1]), "{told:?}");
    assert!(told.iter().all(|&value| value < 1_000), "{told:?}");
}

#[test]
fn counters_at_the_end_of_their_range_neither_wrap_nor_panic() {
    let fake = Fake::new();
    fake.single(7, IDLE);
    let mut readings = fake.begun();
    let most = u64::MAX;
    fake.single(
        7,
        Task {
            cpu_ns: most,
            delay_ns: most,
            slices: most,
            switches: [most; 2],
            faults: [most; 2],
            ticks: [most; 2],
            born: 100,
        },
    );
    let out = window(&mut readings, 1000);
    for counter in [TASK_CLOCK, RUN_DELAY, TIMESLICES, VOLUNTARY_SWITCHES, MINOR_FAULTS] {
        assert_eq!(of_target(&out, counter), Some(most), "{counter:?}");
    }
    assert_eq!(of_target(&window(&mut readings, 2000), TIMESLICES), Some(most));
}

#[test]
fn files_that_cannot_be_read_or_make_no_sense_stop_nothing() {
    for (name, stat_text, schedstat, known) in [
        ("no schedstat on this kernel", None, None, true),
        ("a file held open that says nothing any more", None, Some("12\n"), false),
        ("a file held open that says letters", None, Some("a b c\n"), false),
        ("an empty stat", Some(""), None, false),
        ("a stat that is cut short", Some("7 (x) S 1 1 1 0 -1"), None, false),
        ("a stat without a name", Some("7 x S 1 1\n"), None, false),
        ("a stat of something else", Some("\u{0}\u{1}\u{2}garbage ))((\n"), None, false),
    ] {
        let fake = Fake::new();
        fake.process(7, 1, 2, IDLE).thread(7, 7, IDLE).thread(7, 8, IDLE);
        let place = "7/task/8";
        if let Some(text) = stat_text {
            fake.file(&format!("{place}/stat"), text);
        }
        match schedstat {
            Some(text) => drop(fake.file(&format!("{place}/schedstat"), text)),
            None => fs::remove_file(fake.dir.path().join(format!("{place}/schedstat"))).unwrap(),
        }
        let mut readings = fake.begun();
        fake.process(7, 1, 2, Task { ticks: [9, 1], ..IDLE }).thread(7, 7, Task { slices: 3, cpu_ns: MS, ..IDLE });
        let out = window(&mut readings, 1000);
        assert_eq!(of_target(&out, TASK_CLOCK), Some(10 * tick()), "{name}: the process is read nevertheless");
        assert_eq!(of_target(&out, TIMESLICES), Some(3), "{name}: and so are its other threads");
        assert_eq!(readings.threads.alive(), 1 + usize::from(known), "{name}");
    }
}

#[test]
fn a_target_of_which_nothing_is_alive_is_refused_and_one_with_a_survivor_is_not() {
    let fake = Fake::new();
    fake.single(7, IDLE);
    for (target, opens) in [
        (processes(&[7], false), true),
        (processes(&[8], false), false),
        (processes(&[8, 9], true), false),
        (processes(&[8, 7], false), true),
        (Target::Threads { tids: vec![7] }, true),
        (Target::Threads { tids: vec![12, 13] }, false),
        (Target::Cpus { cpus: vec![] }, true),
    ] {
        match fake.open(&target) {
            Ok(_) => assert!(opens, "{target:?}"),
            Err(error) => {
                assert!(!opens && error.kind() == ErrorKind::NotFound, "{target:?}: {error}");
                assert!(error.to_string().ends_with("has ended"), "{error}");
            }
        }
    }
}

#[test]
fn children_are_found_through_their_parents_and_what_they_used_stays() {
    let fake = Fake::new();
    fake.single(7, IDLE).file("7/task/7/children", "8 ");
    fake.process(8, 7, 1, IDLE).thread(8, 8, IDLE);
    let mut readings = fake.open(&processes(&[7], true)).unwrap();
    readings.begin(Nanos(0), &mut Vec::new());
    assert_eq!(readings.threads.alive(), 2, "a child that was there before");
    // A grandchild appears: its parent ran, so the parent's children are read.
    fake.thread(8, 8, Task { slices: 1, cpu_ns: MS, ..IDLE }).file("8/task/8/children", "9\n");
    let young = Task { born: 1_000_000, ticks: [3, 0], slices: 2, cpu_ns: 30 * MS, ..IDLE };
    fake.process(9, 8, 1, young).thread(9, 9, young);
    window(&mut readings, 1000);
    let out = window(&mut readings, 2000);
    assert_eq!(readings.threads.alive(), 3);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(3 * tick()), "of its own, from its birth");
    fake.end(9);
    let out = window(&mut readings, 3000);
    assert_eq!(readings.threads.alive(), 2);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(3 * tick()), "nobody waited for it, so it keeps what it used");
    assert_eq!(of_target(&out, TIMESLICES), Some(3), "its slices stay as well");
}

#[test]
fn children_are_not_followed_unless_asked_for() {
    let fake = Fake::new();
    fake.single(7, IDLE).file("7/task/7/children", "8 ");
    fake.single(8, IDLE);
    let mut readings = fake.begun();
    readings.follow(8);
    window(&mut readings, 1000);
    assert_eq!(readings.threads.alive(), 1);
    let mut following = fake.open(&processes(&[7], true)).unwrap();
    assert_eq!(following.threads.alive(), 2);
    following.follow(8);
    following.follow(4_000_000);
    window(&mut following, 1000);
    assert_eq!(following.threads.alive(), 2, "neither twice nor somebody who is not there");
}

#[test]
fn single_threads_are_read_wherever_they_belong() {
    let fake = Fake::new();
    fake.thread(7, 7, IDLE).thread(7, 8, IDLE);
    // Of the whole machine a thread is found as its own process would be.
    fake.thread(8, 8, IDLE);
    let mut readings = fake.open(&Target::Threads { tids: vec![8] }).unwrap();
    readings.begin(Nanos(0), &mut Vec::new());
    fake.thread(8, 8, Task { cpu_ns: 40 * MS, slices: 2, ..IDLE });
    fake.thread(7, 7, Task { cpu_ns: 900 * MS, slices: 99, ..IDLE });
    let out = window(&mut readings, 1000);
    assert_eq!((of_target(&out, TASK_CLOCK), of_target(&out, TIMESLICES)), (Some(40 * MS), Some(2)));
    fake.end_thread(8, 8);
    let out = window(&mut readings, 2000);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(40 * MS));
    assert_eq!(readings.threads.alive(), 0);
}

#[test]
fn the_machine_is_read_with_every_target_and_by_cpu_where_cpus_are_the_target() {
    let fake = Fake::new();
    fake.file("stat", "cpu  10 0 10 80 0 0 0 5\ncpu0 6 0 6 40 0 0 0 5\ncpu1 4 0 4 40 0 0 0 0\nctxt 1\n");
    let mut readings = fake.open(&Target::Cpus { cpus: vec![1] }).unwrap();
    readings.begin(Nanos(0), &mut Vec::new());
    fake.file("stat", "cpu  30 0 20 100 0 0 0 9\ncpu0 16 0 11 50 0 0 0 9\ncpu1 14 0 9 50 0 0 0 0\nctxt 1\n");
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, TASK_CLOCK), Some((10 + 5) * tick()));
    assert_eq!(of_target(&out, USER_TIME), Some(10 * tick()));
    assert_eq!(value(&out, Scope::Host, HOST_STEAL), Some(4 * tick()));
    assert!(value(&out, Scope::Host, HOST_BUSY).unwrap() >= 30 * tick());
    assert_eq!(of_target(&out, THREAD_TIME), None, "CPUs are no threads");
    assert!(readings.take_notes().is_empty());
}

#[test]
fn a_machine_that_shows_nothing_of_itself_stops_nothing() {
    let fake = Fake::new();
    fake.single(7, IDLE);
    for missing in ["stat", "uptime"] {
        fs::remove_file(fake.dir.path().join(missing)).unwrap();
    }
    let mut readings = fake.begun();
    fake.single(7, Task { ticks: [2, 0], ..IDLE });
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(2 * tick()));
    assert_eq!(value(&out, Scope::Host, HOST_BUSY), None);
}

/// A control group with these counts of throttling and these members.
fn group(fake: &Fake, usage_us: u64, throttled_us: u64, members: &str) -> PathBuf {
    let root = fake.dir.path().join("cgroup");
    fake.file(
        "cgroup/web/cpu.stat",
        &format!(
            "usage_usec {usage_us}\nuser_usec {usage_us}\nsystem_usec 0\nnr_periods 9\nnr_throttled 3\n\
             throttled_usec {throttled_us}\n"
        ),
    );
    fake.file("cgroup/web/cgroup.threads", members).file("cgroup/web/cgroup.procs", members);
    fake.file("self/mountinfo", &format!("30 20 0:26 / {} rw - cgroup2 cgroup2 rw\n", root.display()));
    root.join("web")
}

#[test]
fn a_control_group_counts_for_its_members_and_outlives_them() {
    let fake = Fake::new();
    let path = group(&fake, 1_000, 10, "8\n");
    fake.thread(8, 8, IDLE);
    let target = Target::Cgroup { name: "web".to_string(), path, others: vec![] };
    let mut readings = fake.open(&target).unwrap();
    readings.begin(Nanos(0), &mut Vec::new());
    group(&fake, 51_000, 7_010, "8\n9\n");
    fake.thread(8, 8, Task { slices: 5, cpu_ns: 20 * MS, ..IDLE });
    fake.thread(9, 9, Task { slices: 3, cpu_ns: 30 * MS, born: 2_000_000, ..IDLE });
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(50 * MS), "the group's own clock");
    assert_eq!(of_target(&out, CGROUP_THROTTLED_TIME), Some(7 * MS));
    assert_eq!(of_target(&out, TIMESLICES), Some(8), "the sum of its members");
    fs::remove_dir_all(fake.dir.path().join("cgroup/web")).unwrap();
    let out = window(&mut readings, 2000);
    assert_eq!(readings.threads.alive(), 0, "a removed group has no members");
    assert!(of_target(&out, TIMESLICES).is_none_or(|slices| slices == 8), "{out:?}");
}

/// A group of processes below this with these counts, microseconds throttled and pressed for CPUs.
fn limiting(fake: &Fake, path: &str, throttled_us: u64, pressed_us: u64) {
    let counts = format!("usage_usec 1\nnr_periods 9\nnr_throttled {throttled_us}\nthrottled_usec {throttled_us}\n");
    fake.file(&format!("cgroup/{path}/cpu.stat"), &counts);
    fake.file(&format!("cgroup/{path}/cpu.pressure"), &format!("some avg10=0.00 total={pressed_us}\n"));
    let root = fake.dir.path().join("cgroup");
    fake.file("self/mountinfo", &format!("30 20 0:26 / {} rw - cgroup2 cgroup2 rw\n", root.display()));
}

#[test]
fn the_groups_of_a_process_count_while_it_is_in_them_and_those_around_them() {
    let fake = Fake::new();
    fake.single(7, IDLE).file("7/task/7/cgroup", "0::/first\n");
    limiting(&fake, "first", 1_000, 100);
    limiting(&fake, "outer", 50_000, 0);
    limiting(&fake, "outer/inner", 70_000, 900);
    let mut readings = fake.begun();
    let read = |readings: &mut Readings, at: u64| {
        let out = window(readings, at);
        [CGROUP_THROTTLED_TIME, PSI_CPU_SOME].map(|counter| of_target(&out, counter).map(|ns| ns / 1000))
    };
    limiting(&fake, "first", 1_300, 130);
    assert_eq!(read(&mut readings, 1000), [Some(300), Some(30)]);
    // Its last moments in the first group count, what the others counted before does not.
    limiting(&fake, "first", 1_310, 131);
    fake.file("7/task/7/cgroup", "0::/outer/inner\n");
    assert_eq!(read(&mut readings, 2000), [Some(310), Some(31)]);
    limiting(&fake, "first", 9_999, 9_999);
    limiting(&fake, "outer", 50_002, 0);
    limiting(&fake, "outer/inner", 70_040, 904);
    assert_eq!(read(&mut readings, 3000), [Some(352), Some(35)], "the inner group's pressure alone");
    fs::remove_dir_all(fake.dir.path().join("cgroup/outer/inner")).unwrap();
    fake.file("7/task/7/cgroup", "0::/outer/inner (deleted)\n");
    let out = window(&mut readings, 4000);
    assert!(of_target(&out, CGROUP_THROTTLED_TIME).is_none_or(|ns| ns == 352_000), "a removed group counts no more");
}

#[test]
fn threads_in_different_groups_have_the_sum_of_these_and_each_group_counts_once() {
    let fake = Fake::new();
    fake.process(7, 1, 3, IDLE);
    for (tid, group) in [(7, "a"), (8, "b"), (9, "b")] {
        fake.thread(7, tid, IDLE).file(&format!("7/task/{tid}/cgroup"), &format!("0::/{group}\n"));
    }
    limiting(&fake, "a", 10, 10);
    limiting(&fake, "b", 10, 10);
    let mut readings = fake.begun();
    limiting(&fake, "a", 110, 60);
    limiting(&fake, "b", 1_010, 60);
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, CGROUP_THROTTLED_TIME), Some(1_100_000));
    assert_eq!(of_target(&out, PSI_CPU_SOME), None, "two groups may have waited at the same time");
}

#[test]
fn each_of_several_groups_counts_for_itself_and_has_its_own_pressure() {
    let fake = Fake::new();
    let web = group(&fake, 1_000, 10, "");
    let usage = |us: u64| format!("usage_usec {us}\nuser_usec {us}\nsystem_usec 0\n");
    let pressure = |us: u64| format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={us}\n");
    fake.file("cgroup/batch/cpu.stat", &usage(5_000)).file("cgroup/batch/cpu.pressure", &pressure(100));
    let batch = fake.dir.path().join("cgroup/batch");
    let target = Target::Cgroup { name: "web,batch".to_string(), path: web, others: vec![batch] };
    let mut readings = fake.open(&target).unwrap();
    readings.begin(Nanos(0), &mut Vec::new());
    group(&fake, 51_000, 7_010, "");
    fake.file("cgroup/batch/cpu.stat", &usage(25_000)).file("cgroup/batch/cpu.pressure", &pressure(4_100));
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, TASK_CLOCK), Some(70 * MS));
    let of = |number, counter| value(&out, Scope::Cgroup(number), counter);
    assert_eq!((of(0, TASK_CLOCK), of(1, TASK_CLOCK)), (Some(50 * MS), Some(20 * MS)));
    assert_eq!((of(0, CGROUP_THROTTLED_TIME), of(1, CGROUP_THROTTLED_TIME)), (Some(7 * MS), None));
    assert_eq!((of(0, PSI_CPU_SOME), of(1, PSI_CPU_SOME)), (None, Some(4 * MS)));
}

#[test]
fn a_group_that_is_not_there_is_no_error_as_it_may_come_back() {
    let fake = Fake::new();
    let path = fake.dir.path().join("nowhere");
    let mut readings = fake.open(&Target::Cgroup { name: "gone".to_string(), path, others: vec![] }).unwrap();
    let out = window(&mut readings, 1000);
    assert_eq!(of_target(&out, TASK_CLOCK), None);
    assert!(matches!(out.last(), Some(Event::Tick(_))));
}

#[test]
fn windows_follow_each_other_without_a_gap_however_long_they_are() {
    let fake = Fake::new();
    fake.single(7, IDLE);
    let mut readings = fake.open(&processes(&[7], false)).unwrap();
    let mut out = Vec::new();
    readings.begin(at(50), &mut out);
    for end in [60, 61, 400, 400, 5_000] {
        readings.tick(at(end), &mut out);
    }
    let ticks = out.iter().filter_map(|event| if let Event::Tick(tick) = event { Some(*tick) } else { None });
    let spans: Vec<_> = ticks.map(|tick| (tick.at.0 / MS, tick.span.0 / MS)).collect();
    assert_eq!(spans, [(60, 10), (61, 1), (400, 339), (400, 0), (5_000, 4_600)]);
}

#[test]
fn readings_of_threads_alone_end_no_window() {
    let fake = Fake::new();
    fake.single(7, IDLE);
    let mut readings = fake.begun();
    fake.single(7, Task { slices: 2, cpu_ns: MS, ..IDLE });
    let mut out = Vec::new();
    readings.read_threads_only(at(10), at(10), &mut out);
    assert_eq!(value(&out, Scope::Thread(7), TIMESLICES), Some(2));
    assert!(readings_of(&out).all(|reading| matches!(reading.scope, Scope::Thread(_))), "{out:?}");
    assert!(!out.iter().any(|event| matches!(event, Event::Tick(_))));
    let out = window(&mut readings, 1000);
    assert!(matches!(out.last(), Some(Event::Tick(tick)) if tick.span == at(1000)));
}

#[test]
fn with_no_file_held_open_the_same_is_read() {
    let mut told = Vec::new();
    for open_files in [0, 1, 1024] {
        let fake = Fake::new();
        fake.process(7, 1, 3, IDLE).thread(7, 7, IDLE).thread(7, 8, IDLE).thread(7, 9, IDLE);
        let mut readings = Readings::open(fake.sources(open_files), &processes(&[7], false), None, Nanos(0)).unwrap();
        readings.begin(Nanos(0), &mut Vec::new());
        for (tid, slices) in [(7, 1), (8, 20), (9, 300)] {
            fake.thread(7, tid, Task { slices, cpu_ns: slices * MS, ..IDLE });
        }
        let out = window(&mut readings, 1000);
        told.push([TIMESLICES, RUN_DELAY, VOLUNTARY_SWITCHES].map(|counter| of_target(&out, counter)));
        assert_eq!(told[0][0], Some(321), "{open_files}");
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");
}

#[test]
fn the_conditions_are_those_of_the_process_that_works_most_and_are_read_again_after_it_executes() {
    let fake = Fake::new();
    let set = |pid: u32, name: &str, seccomp: u8, environment: &str| {
        fake.file(&format!("{pid}/status"), &format!("Name:\t{name}\nVmSize:\t 9 kB\nSeccomp:\t{seccomp}\n"));
        fake.file(&format!("{pid}/environ"), environment);
    };
    fake.single(7, IDLE).single(8, IDLE);
    set(7, "sh", 0, "GOGC=1\0");
    set(8, "app", 2, "GOGC=2\0");
    let mut readings = fake.open(&processes(&[7, 8], false)).unwrap();
    readings.begin(at(0), &mut Vec::new());
    let found = |readings: &Readings| readings.conditions().map(|found| (found.name.clone(), found.seccomp));
    assert_eq!(found(&readings), Some(("sh".into(), Some(0))), "the older one, as long as none has run");
    fake.single(8, Task { cpu_ns: 50 * MS, slices: 1, ..IDLE });
    window(&mut readings, 1000);
    assert_eq!(found(&readings), Some(("app".into(), Some(2))));
    let switches = readings.conditions().unwrap().switches.clone();

    // It writes its title over its environment, and ends; the other has used less.
    set(8, "app", 2, "app: idle\0");
    readings.executed(at(100_000));
    assert_eq!(readings.conditions().unwrap().switches, switches, "what it was started with is known");
    set(8, "app", 1, "GOGC=3\0");
    readings.executed(at(200_000));
    assert_eq!(found(&readings), Some(("app".into(), Some(1))), "as after each exec");
    assert_ne!(readings.conditions().unwrap().switches, switches);
    fake.end_thread(8, 8);
    fake.end(8);
    window(&mut readings, 300_000);
    assert_eq!(found(&readings), Some(("app".into(), Some(1))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Threads come, run, pause and go; the target's count is what they did while somebody could see it.
    #[test]
    fn whatever_threads_do_the_sum_never_falls_and_misses_nothing_that_was_read(
        steps in prop::collection::vec(prop::collection::vec((8u32..12, 0u64..50, prop::bool::weighted(0.2)), 0..5), 1..8)
    ) {
        let fake = Fake::new();
        fake.process(7, 1, 1, IDLE).thread(7, 7, IDLE);
        let mut readings = fake.begun();
        let mut alive = std::collections::BTreeMap::<u32, u64>::new();
        let (mut last, mut at) = (0, 0);
        // A thread that took another's place is met one window later: the number of threads is the same.
        for step in steps.iter().chain([&Vec::new(), &Vec::new()]) {
            for &(tid, more, ends) in step {
                if !ends {
                    *alive.entry(tid).or_insert(0) += more;
                } else if alive.remove(&tid).is_some() {
                    fake.end_thread(7, tid);
                }
            }
            for (&tid, &slices) in &alive {
                fake.thread(7, tid, Task { slices, cpu_ns: slices * MS, born: 2_000_000, ..IDLE });
            }
            fake.process(7, 1, 1 + alive.len() as u32, IDLE);
            at += 1000;
            let sum = of_target(&window(&mut readings, at), TIMESLICES).unwrap_or(last);
            prop_assert!(sum >= last, "{} after {}", sum, last);
            last = sum;
        }
        let seen: u64 = alive.values().sum();
        prop_assert!(last >= seen, "{} of {} slices", last, seen);
    }

    #[test]
    fn no_text_in_any_file_makes_it_panic(garbage in "[0-9a-zA-Z ():\\-\n\u{0}]{0,80}", which in 0usize..6) {
        let fake = Fake::new();
        fake.single(7, IDLE);
        let mut readings = fake.begun();
        let file = ["7/stat", "7/task/7/stat", "7/task/7/schedstat", "7/task/7/status", "stat", "uptime"][which];
        fake.file(file, &garbage);
        let out = window(&mut readings, 1000);
        prop_assert!(matches!(out.last(), Some(Event::Tick(_))));
        for reading in readings_of(&out).filter(|reading| reading.scope != Scope::Tool) {
            prop_assert!(reading.running <= reading.enabled, "{:?}", reading);
        }
    }
}
