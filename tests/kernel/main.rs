//! The sampler against the real kernel, on workloads whose truth is known.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests, which say why they skip and what they measured")]

#[path = "../support/skips.rs"]
mod skips;
#[macro_use]
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/turn.rs"]
mod turn;

mod operations;
mod overhead;
mod sessions;
mod waits;

use ironlaw::collect::sampler::{EndReason, Ended, KernelCounters, LastReading, Reader, Sampler};
use ironlaw::error::ErrorKind;
use ironlaw::model::{
    CallGraph, Definition, Event, EventKind, EventSpec, LossKind, ModuleKind, OffCpu, Plan, Rate, Sample, StackEnd,
    Target, TaskChange, TaskState, Unit,
};
use ironlaw::sys::clock::{Clock, process_cpu, thread_cpu};
use ironlaw::sys::signals::StopToken;
use ironlaw::units::Nanos;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

/// Everything a capture handed over.
struct Captured {
    events: Vec<Event>,
    ended: Ended,
    /// CPU time the sampler's thread took.
    cost: Nanos,
    sampler_cpus: usize,
}

fn spec(name: &str, kind: EventKind, group: Option<u16>) -> EventSpec {
    EventSpec { group, ..EventSpec::new(name, kind, Unit::Count) }
}

/// Samples of the CPU clock, so that weights are nanoseconds on machines with a PMU too.
fn plan(target: Target, seconds: f64) -> Plan {
    Plan {
        events: vec![spec("cpu-clock", EventKind::Software(0), None)],
        duration: Some(Nanos::from_seconds(seconds)),
        ..Plan::new(target, Rate::Frequency(997), CallGraph::FramePointer)
    }
}

fn capture(plan: &Plan) -> Captured {
    let sampler = Sampler::open(plan, &Clock::start()).unwrap();
    run(sampler)
}

fn run(sampler: Sampler) -> Captured {
    run_beside(sampler, || ()).0
}

/// What `look` sees when the capture begins and when it ends: on a busy machine, opening and draining it take long.
fn run_beside<T: Send + 'static>(mut sampler: Sampler, look: impl FnMut() -> T + Send + 'static) -> (Captured, Vec<T>) {
    let (sender, receiver) = sync_channel(64);
    let sampler_cpus = sampler.cpus().len();
    let stop = StopToken::new().unwrap();
    let mut counters = Beside { counters: sampler.take_counters().unwrap(), look, seen: Vec::new() };
    let worker = thread::spawn(move || {
        let before = thread_cpu();
        let ended = sampler.run(sender, stop, &mut counters).unwrap();
        (ended, thread_cpu() - before, counters.seen)
    });
    let events = receiver.iter().flatten().collect();
    let (ended, cost, seen) = worker.join().unwrap();
    (Captured { events, ended, cost, sampler_cpus }, seen)
}

/// Looks at something else when the counters are read first and last.
struct Beside<L, T> {
    counters: KernelCounters,
    look: L,
    seen: Vec<T>,
}

impl<T, L: FnMut() -> T> Reader for Beside<L, T> {
    fn begin(&mut self) -> Vec<Event> {
        self.seen.push((self.look)());
        self.counters.begin()
    }

    fn end(&mut self) -> LastReading {
        self.seen.push((self.look)());
        self.counters.end()
    }
}

impl Captured {
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.events.iter().filter_map(|event| if let Event::Sample(sample) = event { Some(sample) } else { None })
    }

    fn off_cpu(&self) -> impl Iterator<Item = &OffCpu> {
        self.events.iter().filter_map(|event| if let Event::OffCpu(span) = event { Some(span) } else { None })
    }

    fn changes(&self) -> impl Iterator<Item = (u32, u32, &TaskChange)> {
        self.events.iter().filter_map(|event| {
            if let Event::Task(task) = event { Some((task.pid, task.tid, &task.change)) } else { None }
        })
    }

    fn lost(&self, wanted: LossKind) -> u64 {
        self.events
            .iter()
            .filter_map(|event| if let Event::Lost(lost) = event { Some(lost) } else { None })
            .filter(|lost| lost.kind == wanted)
            .map(|lost| lost.count)
            .sum()
    }

    /// The CPU time the samples stand for (with the CPU clock, a sample weighs nanoseconds).
    fn sampled_seconds(&self, mut of: impl FnMut(&Sample) -> bool) -> f64 {
        self.samples().filter(|sample| of(sample)).map(|sample| sample.weight as f64 / 1e9).sum()
    }

    fn module_paths(&self) -> Vec<(ModuleKind, String)> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Define(Definition::Module(def)) => Some((def.kind, def.path.clone())),
                _ => None,
            })
            .collect()
    }
}

/// A child that is killed and reaped when the test ends, however it ends.
struct Workload(Child);

impl Workload {
    /// Runs a Python program, and returns once the interpreter has begun with it.
    fn python(code: &str) -> Workload {
        let code = format!("print(flush=True)\n{code}");
        let mut command = Command::new("python3");
        let mut child = command.args(["-c", &code]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        thread::sleep(Duration::from_millis(100));
        Workload(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn target(&self) -> Target {
        Target::Processes { pids: vec![self.pid()], children: false }
    }
}

/// Whether more than two threads for each CPU wanted to run in the last minute.
fn is_crowded() -> bool {
    let load: f64 = std::fs::read_to_string("/proc/loadavg").unwrap().split(' ').next().unwrap().parse().unwrap();
    load > 2.0 * thread::available_parallelism().unwrap().get() as f64
}

/// The CPU time that a process has used.
fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

impl Drop for Workload {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn own_rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_spinning_process_is_sampled_for_as_long_as_it_ran() {
    require!("perf", "python3");
    let workload = Workload::python("while True: pass");
    let (sampler, pid) = (Sampler::open(&plan(workload.target(), 2.0), &Clock::start()).unwrap(), workload.pid());
    let (captured, ran) = run_beside(sampler, move || cpu_seconds(pid));
    let ran = ran[1] - ran[0];
    let sampled = captured.sampled_seconds(|_| true);
    assert!((sampled / ran - 1.0).abs() < 0.1, "sampled {sampled:.3} s of {ran:.3} s");
    assert_eq!(captured.ended.reason, EndReason::Duration);
    assert!(captured.module_paths().iter().any(|(kind, path)| *kind == ModuleKind::File && path.contains("python")));
    assert!(captured.samples().all(|sample| sample.pid == workload.pid() && sample.stack.is_some()));
    eprintln!("{} samples, {:?} of CPU", captured.ended.samples, captured.cost);
}

#[test]
fn threads_born_later_are_sampled_and_named() {
    require!("perf", "python3");
    let workload = Workload::python(
        "import threading,time\n\
         def spin():\n  end=time.time()+0.4\n  while time.time()<end: pass\n\
         time.sleep(0.5)\n\
         for _ in range(4): threading.Thread(target=spin).start()\n\
         time.sleep(5)",
    );
    let captured = capture(&plan(workload.target(), 2.0));
    let born: Vec<u32> = captured
        .changes()
        .filter(|(_, _, change)| matches!(change, TaskChange::Born { .. }))
        .map(|(_, tid, _)| tid)
        .collect();
    assert_eq!(born.len(), 4, "{born:?}");
    for tid in &born {
        assert!(captured.samples().any(|sample| sample.tid == *tid), "thread {tid} was not sampled");
    }
    assert_eq!(captured.changes().filter(|(_, _, change)| **change == TaskChange::Ended).count(), 4);
}

#[test]
fn a_command_is_seen_from_its_exec_with_its_children_and_its_exit_status() {
    require!("perf");
    let script = "awk 'BEGIN { for (i = 0; i < 5000000; i++) x += i }'; exit 3";
    let argv = ["sh", "-c", script].map(str::to_string).to_vec();
    let captured = capture(&plan(Target::Command { argv }, 20.0));
    assert_eq!((captured.ended.reason, captured.ended.exit_status), (EndReason::TargetGone, Some(3)));
    let execs: Vec<&str> = captured
        .changes()
        .filter_map(|(_, _, change)| match change {
            TaskChange::Renamed { comm, exec: true } => Some(comm.as_str()),
            _ => None,
        })
        .collect();
    assert!(execs.len() == 2 && execs[0] == "sh" && execs[1].contains("awk"), "{execs:?}");
    let child = captured
        .changes()
        .find(|(_, _, change)| matches!(change, TaskChange::Renamed { comm, exec: true } if comm.contains("awk")));
    let (pid, ..) = child.unwrap();
    assert!(captured.sampled_seconds(|sample| sample.pid == pid) > 0.05);
}

#[test]
fn a_command_that_cannot_be_executed_is_named() {
    require!("perf");
    let argv = vec!["no-such-program-anywhere".to_string()];
    let mut sampler = Sampler::open(&plan(Target::Command { argv }, 1.0), &Clock::start()).unwrap();
    let (sender, _receiver) = sync_channel(1);
    let mut counters = sampler.take_counters().unwrap();
    let error = sampler.run(sender, StopToken::new().unwrap(), &mut counters).unwrap_err();
    assert!(error.to_string().contains("no-such-program-anywhere"), "{error}");
}

#[test]
fn a_target_that_exits_ends_the_capture() {
    require!("perf", "python3");
    let mut workload = Workload::python("import time\nwhile time.process_time() < 0.5: pass");
    let target = workload.target();
    let reaper = thread::spawn(move || {
        workload.0.wait().unwrap();
        Instant::now()
    });
    let captured = capture(&plan(target, 60.0));
    assert_eq!(captured.ended.reason, EndReason::TargetGone);
    assert!(captured.ended.samples > 100, "{:?}", captured.ended);
    assert!(reaper.join().unwrap().elapsed() < Duration::from_secs(5));
}

#[test]
fn time_asleep_adds_up_and_says_how_it_slept() {
    require!("perf", "root", "python3");
    let workload = Workload::python("import time\nwhile True: time.sleep(0.05)");
    let captured = capture(&Plan { off_cpu: true, ..plan(workload.target(), 2.0) });
    let asleep: Vec<_> = captured.off_cpu().filter(|span| span.state == TaskState::Sleeping).collect();
    let off: f64 = asleep.iter().map(|span| (span.blocked + span.queued.unwrap_or_default()).seconds()).sum();
    assert!((off / captured.ended.sampled.seconds() - 1.0).abs() < 0.05, "off the CPU {off:.3} s");
    assert!((30..=42).contains(&asleep.len()), "{} spans", asleep.len());
    assert!(asleep.iter().all(|span| span.stack.is_some() && span.pid == workload.pid()));
}

/// The waker is another process, as wake-ups from an idle CPU's timer are not traced on every virtual machine.
#[test]
fn being_woken_ends_the_blocking_and_begins_the_queueing() {
    require!("perf", "tracefs", "root", "python3");
    let workload = Workload::python(
        "import os,time\nr,w=os.pipe()\nreader=os.getpid()\n\
         if os.fork()==0:\n  while os.getppid()==reader: time.sleep(0.05); os.write(w,b'x')\n  os._exit(0)\n\
         os.close(w)\nwhile True: os.read(r,1)",
    );
    let captured = capture(&Plan { off_cpu: true, ..plan(workload.target(), 1.0) });
    let blocked: Vec<_> = captured.off_cpu().filter(|span| span.state == TaskState::Sleeping).collect();
    let woken: Vec<_> = blocked.iter().filter(|span| span.queued.is_some()).collect();
    assert!(blocked.len() >= 15 && woken.len() + 1 >= blocked.len(), "{} of {} woken", woken.len(), blocked.len());
    let typical = woken.iter().filter(|span| (0.03..0.07).contains(&span.blocked.seconds())).count();
    assert!(typical * 2 > woken.len(), "{woken:?}");
}

/// A control group below the v2 mount, wherever it is; removed when the test ends.
struct Group(std::path::PathBuf);

impl Group {
    fn create(name: &str) -> Option<Group> {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        let root = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?.split(' ').nth(1)?;
        let path = std::path::Path::new(root).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_control_group_is_sampled_with_what_joins_it_and_nothing_else() {
    require!("perf", "root", "python3");
    let Some(group) = Group::create("ironlaw-test") else {
        support::skip("cgroup2", "no writable cgroup v2 mount");
        return;
    };
    let (inside, outside) = (Workload::python("while True: pass"), Workload::python("while True: pass"));
    let target = Target::Cgroup { name: "test".to_string(), path: group.0.clone(), others: vec![] };
    let sampler = Sampler::open(&plan(target, 1.5), &Clock::start()).unwrap();
    let procs = group.0.join("cgroup.procs");
    let pid = inside.pid();
    let joins = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        std::fs::write(procs, pid.to_string()).unwrap();
        cpu_seconds(pid)
    });
    let (captured, ran) = run_beside(sampler, move || cpu_seconds(pid));
    let ran = ran[1] - joins.join().unwrap();
    let sampled = captured.sampled_seconds(|sample| sample.pid == pid);
    assert!(sampled > 0.8 * ran - 0.01, "sampled {sampled:.3} s of {ran:.3}");
    assert!(captured.samples().all(|sample| sample.pid != outside.pid()));
    assert!(captured.module_paths().iter().any(|(_, path)| path.contains("python")), "mapped before it joined");
    drop((inside, outside));
}

#[test]
fn one_thread_of_several_is_sampled_alone() {
    require!("perf", "python3");
    let workload =
        Workload::python("import threading\ndef f():\n  while True: pass\nthreading.Thread(target=f).start()\nf()");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", workload.pid())).unwrap();
    let tids: Vec<u32> = tasks.map(|task| task.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
    let tid = *tids.iter().find(|tid| **tid != workload.pid()).unwrap();
    let captured = capture(&plan(Target::Threads { tids: vec![tid] }, 0.8));
    assert!(captured.ended.samples > 50 && captured.samples().all(|sample| sample.tid == tid));
}

#[test]
fn several_events_tracepoints_and_groups_keep_their_numbers() {
    require!("perf", "tracefs", "root", "python3");
    let workload = Workload::python("import os\nwhile True: os.getppid(); bytearray(1<<26)");
    let tracepoint =
        |category: &str, name: &str| EventKind::Tracepoint { category: category.into(), name: name.into() };
    let events = vec![
        spec("cpu-clock", EventKind::Software(0), Some(1)),
        spec("page-faults", EventKind::Software(2), Some(1)),
        spec("raw_syscalls:sys_enter", tracepoint("raw_syscalls", "sys_enter"), None),
    ];
    let captured = capture(&Plan { events, rate: Rate::Frequency(499), ..plan(workload.target(), 1.0) });
    for event in 0..3 {
        assert!(captured.samples().any(|sample| sample.event == event), "event {event} was not sampled");
    }
    assert!(captured.samples().filter(|sample| sample.event == 2).all(|sample| sample.weight == 1));
}

#[test]
fn what_the_machine_cannot_do_is_refused_with_the_event_and_a_remedy() {
    require!("perf", "tracefs");
    let myself = Target::Processes { pids: vec![std::process::id()], children: false };
    let gone = Target::Processes { pids: vec![4_194_303], children: false };
    let nameless = EventKind::Tracepoint { category: "no".to_string(), name: "where".to_string() };
    let mut unknown = Sampler::open(&plan(myself.clone(), 1.0), &Clock::start()).unwrap().events()[0].clone();
    unknown.kind = nameless;
    let table = [
        (plan(gone, 1.0), ErrorKind::NotFound, "4194303"),
        (Plan { events: vec![unknown], ..plan(myself, 1.0) }, ErrorKind::NotFound, "no:where"),
    ];
    for (plan, kind, named) in table {
        let error = Sampler::open(&plan, &Clock::start()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert!(error.kind() == kind || named == "no:where", "{error:?}");
    }
}

#[test]
fn nothing_is_sampled_during_the_delay() {
    require!("perf", "python3");
    let workload = Workload::python("while True: pass");
    let captured = capture(&Plan { delay: Nanos(500_000_000), ..plan(workload.target(), 0.5) });
    let first = captured.samples().map(|sample| sample.at).min().unwrap();
    assert!(first >= Nanos(500_000_000) && captured.ended.sampled.seconds() < 0.7, "{first:?} {:?}", captured.ended);
}

#[test]
fn whole_cpus_account_for_whole_seconds_or_idle() {
    require!("perf", "root", "python3");
    let workload = Workload::python("while True: pass");
    let pid = workload.pid();
    let sampler = Sampler::open(&plan(Target::Cpus { cpus: vec![] }, 1.0), &Clock::start()).unwrap();
    let (captured, ran) = run_beside(sampler, move || cpu_seconds(pid));
    let (sampled, ran) = (captured.sampled_seconds(|sample| sample.pid == pid), ran[1] - ran[0]);
    assert!(sampled > 0.8 * ran - 0.01, "sampled {sampled:.3} s of {ran:.3} of a spinning process");
    let all = captured.sampled_seconds(|_| true);
    assert!(all <= captured.sampler_cpus as f64 * captured.ended.sampled.seconds() * 1.1, "{all:.3} s");
}

#[test]
fn five_thousand_threads_are_attached_at_once_and_sampled() {
    require!("perf", "root", "python3");
    let workload = Workload::python(
        "import threading,time\nthreading.stack_size(65536)\n\
         for _ in range(4999): threading.Thread(target=time.sleep,args=(60,),daemon=True).start()\n\
         while True: pass",
    );
    let tasks = format!("/proc/{}/task", workload.pid());
    let waited = Instant::now();
    while std::fs::read_dir(&tasks).unwrap().count() < 5000 {
        assert!(waited.elapsed() < Duration::from_secs(60), "the workload did not start its threads");
        thread::sleep(Duration::from_millis(100));
    }
    let started = Instant::now();
    let sampler = Sampler::open(&plan(workload.target(), 1.0), &Clock::start()).unwrap();
    let opened = started.elapsed();
    assert!(sampler.notes().iter().any(|note| note.topic == "whole-cpus"), "{:?}", sampler.notes());
    let captured = run(sampler);
    eprintln!("opened in {opened:?}, all in {:?}", started.elapsed());
    assert!(captured.samples().all(|sample| sample.pid == workload.pid()) && captured.ended.samples > 100);
    let alive = captured.changes().filter(|(_, _, change)| matches!(change, TaskChange::Alive { .. })).count();
    assert_eq!(alive, 5000);
}

/// Runs an ignored test in a process of its own.
fn run_alone(name: &str) {
    let program = std::env::current_exe().unwrap();
    let alone = Command::new(program).args(["--exact", name, "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&alone.stdout) + String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

/// What other tests allocate meanwhile would be counted here.
#[test]
fn a_thousand_threads_a_second_leave_no_memory_behind() {
    require!("perf", "python3");
    run_alone("measured_alone::a_thousand_threads_a_second");
}

mod measured_alone {
    use super::*;

    #[test]
    #[ignore = "run by the test above"]
    fn a_thousand_threads_a_second() {
        let workload = Workload::python(
            "import _thread,time\nwhile True:\n  for _ in range(10): _thread.start_new_thread(lambda:None,())\n  time.sleep(0.01)",
        );
        let mut sampler = Sampler::open(&plan(workload.target(), 6.0), &Clock::start()).unwrap();
        let mut counters = sampler.take_counters().unwrap();
        let (sender, receiver) = sync_channel(64);
        let worker = thread::spawn(move || sampler.run(sender, StopToken::new().unwrap(), &mut counters).unwrap());
        let (mut born, mut early, started) = (0u64, None, Instant::now());
        for batch in receiver.iter() {
            let births = batch
                .iter()
                .filter(|event| matches!(event, Event::Task(t) if matches!(t.change, TaskChange::Born { .. })));
            born += births.count() as u64;
            if early.is_none() && started.elapsed() > Duration::from_secs(2) {
                early = Some(own_rss_kib());
            }
        }
        worker.join().unwrap();
        let grown = own_rss_kib().saturating_sub(early.unwrap());
        eprintln!("{born} threads born, {grown} KiB grown");
        assert!(born > 2_000 && grown < 680, "{born} born, {grown} KiB grown");
    }
}

#[test]
fn a_reader_that_never_reads_does_not_hold_up_the_end() {
    require!("perf", "python3");
    let workload = Workload::python("while True: pass");
    let mut sampler = Sampler::open(&plan(workload.target(), 1.0), &Clock::start()).unwrap();
    let mut counters = sampler.take_counters().unwrap();
    let (sender, receiver) = sync_channel(1);
    let worker = thread::spawn(move || sampler.run(sender, StopToken::new().unwrap(), &mut counters).unwrap());
    let before = cpu_seconds(workload.pid());
    thread::sleep(Duration::from_millis(1_300));
    let ran = cpu_seconds(workload.pid()) - before;
    let samples = receiver.iter().flatten().filter(|event| matches!(event, Event::Sample(_))).count() as u64;
    let ended = worker.join().unwrap();
    // A thousand a second of its CPU time, for most of which it was sampled.
    let least = (500.0 * ran) as u64;
    assert!(ended.samples == samples && samples > least && ended.sampled.seconds() < 1.5, "{ended:?} {samples} {ran}");
}

#[test]
fn stopping_is_prompt_and_nothing_taken_is_lost() {
    require!("perf", "python3");
    let workload = Workload::python("while True: pass");
    let unlimited = Plan { duration: None, ..plan(workload.target(), 0.0) };
    let mut sampler = Sampler::open(&unlimited, &Clock::start()).unwrap();
    let mut counters = sampler.take_counters().unwrap();
    let (sender, receiver) = sync_channel(64);
    let stop = StopToken::new().unwrap();
    let token = stop.clone();
    let worker = thread::spawn(move || sampler.run(sender, stop, &mut counters).unwrap());
    thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    token.stop();
    let ended = worker.join().unwrap();
    assert!(ended.reason == EndReason::Stopped && asked.elapsed() < Duration::from_millis(150));
    let last = receiver
        .iter()
        .flatten()
        .filter_map(|event| if let Event::Sample(s) = event { Some(s.at) } else { None })
        .last();
    assert!(ended.at - last.unwrap() < Nanos(50_000_000), "{:?} {:?}", ended.at, last);
    assert!(process_cpu() > Nanos(0));
}

#[test]
fn samples_of_all_cpus_come_in_the_order_of_time() {
    require!("perf", "root", "python3");
    let _workloads = [Workload::python("while True: pass"), Workload::python("while True: pass")];
    let captured = capture(&plan(Target::Cpus { cpus: vec![] }, 1.0));
    let mut last = Nanos(0);
    let disordered = captured.samples().filter(|sample| std::mem::replace(&mut last, sample.at) > sample.at).count();
    assert!(disordered == 0 && captured.ended.samples > 500, "{disordered} of {}", captured.ended.samples);
}

#[test]
fn five_thousand_stacks_a_second_pass_without_a_loss() {
    require!("perf", "root", "python3");
    let workload = Workload::python("while True: pass");
    let dumped = Plan { call_graph: CallGraph::Auto, rate: Rate::Frequency(4_999), ..plan(workload.target(), 1.5) };
    let captured = capture(&dumped);
    eprintln!("{} samples cost {:?}", captured.ended.samples, captured.cost);
    assert_eq!(captured.lost(LossKind::Ring), 0);
}

/// Debian's own programs have no frame pointers: only unwinding the copied stack reaches their start.
#[test]
fn stacks_of_a_program_without_frame_pointers_are_whole() {
    require!("perf", "python3");
    let workload = Workload::python("while True: sorted(range(200), key=lambda n: -n)");
    let captured = capture(&Plan { call_graph: CallGraph::Auto, ..plan(workload.target(), 1.0) });
    let whole = captured.samples().filter(|sample| sample.end == StackEnd::Whole).count();
    let share = whole as f64 / captured.ended.samples as f64;
    eprintln!("{:.1}% of {} stacks whole, {:?} of CPU", share * 100.0, captured.ended.samples, captured.cost);
    assert!(share > 0.9, "{:.1}% whole", share * 100.0);
}
