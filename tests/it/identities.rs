//! What must add up in every recording, whatever ran: times of threads, shares of them, readings and their moments.

use crate::program::Dir;
use crate::skips::is_required;
use ironlaw::analysis::{Counters, Metric, ThreadSet, Window, metrics};
use ironlaw::model::profile::Profile;
use ironlaw::model::{CounterReading, Measure, Scope, Why};
use ironlaw::units::Nanos;
use std::collections::BTreeSet;

/// Windows short enough that a command of half a second has several.
const INTERVAL: &str = "200ms";
/// What a running thread's clock may lag behind at each end of a window: a scheduler tick.
const TICK: f64 = 0.01;
/// Clocks that are read one after the other, as a share.
const CLOCKS: f64 = 0.01;

/// A recording, and what the command printed.
struct Recorded {
    profile: Profile,
    counters: Counters,
    out: String,
}

/// The numbers of one window, seconds.
struct Times {
    span: f64,
    threads: f64,
    running: f64,
    queued: Option<f64>,
}

fn record(command: &[&str]) -> Recorded {
    let dir = Dir::new();
    let own = ["-q", "record", "-o", "run", "--interval", INTERVAL, "-e", "cpu-clock", "--"];
    let ran = dir.ironlaw(&[&own, command].concat()).succeeds();
    let profile = ironlaw::session::open(&dir.join("run.ironlaw")).unwrap();
    let counters = Counters::of(&profile);
    Recorded { profile, counters, out: ran.out }
}

/// The interpreter itself: one thread, where what PATH finds first may be a script that looks for it.
fn python() -> &'static str {
    let own = "/usr/bin/python3";
    if std::path::Path::new(own).exists() { own } else { "python3" }
}

/// One thread that computes for so long.
fn busy(seconds: f64) -> String {
    format!("import time\nend=time.monotonic()+{seconds}\nwhile time.monotonic()<end: pass")
}

impl Recorded {
    fn windows(&self) -> Vec<Window> {
        self.profile.ticks.iter().map(|tick| Window { from: tick.at - tick.span, to: tick.at }).collect()
    }

    fn whole(&self) -> Window {
        let windows = self.windows();
        Window { from: windows[0].from, to: windows[windows.len() - 1].to }
    }

    fn metrics(&self, window: Window) -> Vec<Metric> {
        metrics(&self.counters, &ThreadSet::All, window, None)
    }

    fn value(&self, name: &str, window: Window) -> Measure<f64> {
        self.metrics(window).into_iter().find(|metric| metric.id.name() == name).unwrap().value
    }

    fn seconds(&self, counter: &str, window: Window) -> Option<f64> {
        self.counters.delta(counter, Scope::Target, window).value().map(|ns| ns * 1e-9)
    }

    fn times(&self, window: Window) -> Times {
        Times {
            span: window.span().seconds(),
            threads: self.seconds("thread-time", window).unwrap(),
            running: self.seconds("task-clock", window).unwrap(),
            queued: self.seconds("run-delay", window),
        }
    }

    /// What holds of every program.
    fn check(&self, name: &str) {
        let windows = self.windows();
        for window in windows.iter().copied().chain([self.whole()]) {
            let Times { span, threads, running, queued } = self.times(window);
            let used = running + queued.unwrap_or(0.0);
            // A wait in the run queue counts when it ends, at the window's end a thread may be in the midst of one.
            let waits = self.counters.delta("timeslices", Scope::Target, window).value().copied();
            let wait = queued.unwrap_or(0.0) / waits.unwrap_or(1.0).max(1.0);
            // The last time of a thread that ended counts in the window after it, which may have no thread.
            let error = CLOCKS * threads + (2.0 * TICK + 4.0 * wait) * (threads / span).max(1.0);
            assert!(running >= 0.0 && used <= threads + error, "{name}: {used} s used of {threads} s in {window:?}");
            let share = |metric: &str| self.value(metric, window);
            let parts = ["run_share", "run_queue_delay", "blocked_share"].map(share);
            // A single wait may be longer than the window that it is counted in, and is called suspect there.
            let short = (span < 0.05 || queued > Some(span)) && window != self.whole();
            assert!(short || parts[2].why() != Some(Why::Suspect), "{name}: {parts:?} in {window:?}");
            if let [Some(run), Some(queue), Some(blocked)] = parts.each_ref().map(Measure::value) {
                let sum = run + queue + blocked;
                assert!((sum - 1.0).abs() <= error / threads + 1e-9, "{name}: shares of {sum} in {window:?}");
            }
        }
        for counter in ["task-clock", "thread-time"] {
            let parts: f64 = windows.iter().filter_map(|window| self.seconds(counter, *window)).sum();
            let whole = self.seconds(counter, self.whole()).unwrap();
            assert!((parts - whole).abs() < 1e-6, "{name}: {counter} is {parts} by window and {whole} in all");
        }
        self.check_moments(name);
    }

    /// Every reading is of the end of a window, or of the beginning of the first one; threads are also read within that one.
    fn check_moments(&self, name: &str) {
        let ends = self.profile.ticks.iter().map(|tick| tick.at);
        let moments: BTreeSet<Nanos> = ends.chain([self.whole().from]).collect();
        let first = self.profile.ticks.first().map_or(Nanos(0), |tick| tick.at);
        let looked = |reading: &CounterReading| matches!(reading.scope, Scope::Thread(_)) && reading.at < first;
        let stray = self.profile.readings.iter().find(|reading| !moments.contains(&reading.at) && !looked(reading));
        assert!(stray.is_none(), "{name}: {stray:?} is of no window's end {moments:?}");
        let read: BTreeSet<_> = self.profile.readings.iter().map(|reading| (reading.counter, reading.scope)).collect();
        let cycles = self.profile.counter("cycles").filter(|def| read.contains(&(def.id, Scope::Target)));
        assert!(cycles.is_some() || !is_required("pmu"), "{name}: cycles were not counted");
        eprintln!("{name}: {} windows, cycles counted: {}", moments.len() - 1, cycles.is_some());
    }
}

#[test]
fn one_busy_thread_is_one_thread_however_long_it_runs() {
    require!("perf", "python3");
    // The first start of a program waits for the disk.
    std::process::Command::new(python()).args(["-c", &busy(0.0)]).status().unwrap();
    for seconds in [0.05, 0.2, 0.4, 2.1] {
        let name = format!("busy for {seconds} s");
        let recorded = record(&[python(), "-c", &busy(seconds)]);
        recorded.check(&name);
        let whole = recorded.whole();
        let Times { span, threads, running, queued } = recorded.times(whole);
        let alive = threads / span;
        eprintln!("{name}: {alive:.3} threads, {running:.3} s running, {queued:?} s waiting, {span:.3} s in all");
        assert!((0.8..=1.001).contains(&alive), "{name}: {alive} threads");
        assert!(running + queued.unwrap() > 0.85 * threads, "{name}: {running} + {queued:?} of {threads} s");
        let sampled: f64 = recorded.profile.samples.weight.iter().map(|ns| *ns as f64 * 1e-9).sum();
        assert!((sampled - running).abs() < 0.05 * running + 0.01, "{name}: {sampled} s sampled of {running} s");
    }
}

#[test]
fn a_thread_that_ends_between_two_readings_was_busy_until_its_end() {
    require!("perf", "python3");
    // The first start of a program waits for the disk.
    std::process::Command::new(python()).args(["-c", &busy(0.0)]).status().unwrap();
    let both = format!("{python} -c '{}' & {python} -c '{}'; wait", busy(0.95), busy(0.5), python = python());
    let recorded = record(&["sh", "-c", &both]);
    let whole = recorded.whole();
    let of = |name: &str, tid: u32| recorded.counters.delta(name, Scope::Thread(tid), whole);
    let mut busy = 0;
    for tid in recorded.counters.tids().iter().copied() {
        let life = *of("thread-time", tid).value().unwrap() * 1e-9;
        let (running, queued) = (of("task-clock", tid), of("run-delay", tid));
        eprintln!("{tid}: {life:.3} s, running {running:?}, waiting {queued:?}");
        let (Measure::Known { value: running, quality }, Some(queued)) = (running, queued.value()) else { continue };
        if running > 0.02e9 {
            busy += 1;
            let used = (running + queued) * 1e-9;
            // A wait for a CPU that goes on at the last reading is not in it yet.
            let error = 0.12 * life + 3.0 * TICK;
            assert!((used - life).abs() < error, "{tid}: {used} s of {life} s, {quality:?}");
        }
    }
    assert_eq!(busy, 2, "both were read");
}

#[test]
fn threads_and_programs_that_come_and_go_count_for_as_long_as_they_live() {
    require!("perf", "python3");
    let threads = "import threading,time\nts=[threading.Thread(target=time.sleep,args=(0.3,)) for _ in range(4)]\n\
                   for t in ts: t.start()\nfor t in ts: t.join()";
    let exec = format!("exec {} -c '{}'", python(), busy(0.2));
    let forks = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i+1)); done";
    for (name, command, alive) in [
        ("four threads that sleep", vec![python(), "-c", threads], 3.0..5.0),
        ("a shell that becomes another program", vec!["sh", "-c", &exec], 0.8..1.001),
        ("a shell that runs others", vec!["sh", "-c", forks], 1.1..2.05),
    ] {
        let recorded = record(&command);
        recorded.check(name);
        let Times { span, threads, .. } = recorded.times(recorded.whole());
        let counted = threads / span;
        eprintln!("{name}: {counted:.3} threads in {span:.3} s");
        assert!(alive.contains(&counted), "{name}: {counted} threads");
    }
}

/// Most of its CPU time and switches are those of processes that nobody had the time to read.
#[test]
fn a_commands_switches_and_cpu_time_are_those_that_the_kernel_charged_it_with() {
    require!("perf", "python3");
    let program = "import os,resource,subprocess\nfor _ in range(30): subprocess.run(['sleep','0.001'])\n\
                   of=[resource.getrusage(w) for w in (resource.RUSAGE_SELF,resource.RUSAGE_CHILDREN)]\n\
                   print(sum(u.ru_nvcsw for u in of),sum(u.ru_nivcsw for u in of),sum(u.ru_utime+u.ru_stime for u in of),flush=True)\n\
                   os._exit(0)";
    let recorded = record(&[python(), "-c", program]);
    recorded.check("a program that runs others");
    let whole = recorded.whole();
    let said: Vec<f64> = recorded.out.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let count = |name: &str| *recorded.counters.delta(name, Scope::Target, whole).value().unwrap();
    let (voluntary, involuntary) = (count("voluntary-switches"), count("involuntary-switches"));
    let cpu = recorded.seconds("task-clock", whole).unwrap();
    eprintln!("{voluntary} voluntary, {involuntary} involuntary, {cpu} s; the program says {said:?}");
    assert!((said[0] - 5.0..=said[0] + 10.0).contains(&voluntary), "{voluntary} of {said:?}");
    // The kernel also charges what happens between fork and exec, before anything counts: some milliseconds, in which it is
    // preempted as often as it is later.
    assert!((said[1] * 0.9 - 2.0..=said[1] * 1.2 + 10.0).contains(&involuntary), "{involuntary} of {said:?}");
    assert!((cpu - said[2]).abs() < 0.05 * said[2] + 0.005, "{cpu} of {said:?}");
    // What exists by thread only is a guess where most threads were not read: then it is none.
    let delay = recorded.counters.delta("run-delay", Scope::Target, whole);
    assert!(delay.why().is_none_or(|why| why == Why::ThreadsUnread), "{delay:?}");
}
