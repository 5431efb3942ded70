//! Operations counted by the kernel, on programs that know how many there were.

use super::*;
use ironlaw::model::{LatencySpec, OpsSpec};
use std::path::Path;

const IRONLAW: &str = env!("CARGO_BIN_EXE_ironlaw");

impl Captured {
    /// The totals in the order they were read.
    fn totals(&self) -> Vec<u64> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Ops { total, .. } = event { Some(total.0) } else { None })
            .collect()
    }

    /// The last total; all of them begin at zero and grow.
    #[track_caller]
    fn operations(&self) -> u64 {
        let totals = self.totals();
        assert!(totals.first() == Some(&0) && totals.is_sorted(), "{totals:?}");
        *totals.last().unwrap()
    }
}

fn uprobe(binary: impl AsRef<Path>, symbol: &str) -> Option<OpsSpec> {
    Some(OpsSpec::Uprobe { binary: binary.as_ref().to_path_buf(), symbol: symbol.to_string() })
}

fn tracepoint(category: &str, name: &str) -> Option<OpsSpec> {
    Some(OpsSpec::Tracepoint { category: category.to_string(), name: name.to_string() })
}

fn command(argv: &[&str], ops: Option<OpsSpec>) -> Plan {
    let argv = argv.iter().map(ToString::to_string).collect();
    Plan { ops, interval: Nanos(100_000_000), ..plan(Target::Command { argv }, 60.0) }
}

/// A Python program that waits for a line, does its work, says how much it did, and waits to be killed.
struct Waiting {
    workload: Workload,
    said: std::io::BufReader<std::process::ChildStdout>,
}

impl Waiting {
    fn python(work: &str) -> Waiting {
        Waiting::prepared("", work)
    }

    /// The same, with something that is done before it waits.
    fn prepared(before: &str, work: &str) -> Waiting {
        let code = format!(
            "import os,sys,threading,time\n{before}\nprint(flush=True)\nsys.stdin.readline()\n{work}\ntime.sleep(60)"
        );
        let mut child = Command::new("python3")
            .args(["-c", &code])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut String::new()).unwrap();
        Waiting { workload: Workload(child), said }
    }

    /// Captures while it works, from before its first operation until after its last.
    fn counted(mut self, plan: &Plan) -> Captured {
        let mut sampler = Sampler::open(&Plan { duration: None, ..plan.clone() }, &Clock::start()).unwrap();
        let mut counters = sampler.take_counters().unwrap();
        let (sender, receiver) = sync_channel(64);
        let (stop, sampler_cpus) = (StopToken::new().unwrap(), sampler.cpus().len());
        let token = stop.clone();
        let worker = thread::spawn(move || sampler.run(sender, stop, &mut counters).unwrap());
        let mut events: Vec<Event> = receiver.recv().unwrap();
        while !events.iter().any(|event| matches!(event, Event::Ops { .. })) {
            events.extend(receiver.recv().unwrap());
        }
        // The first total is handed over once everything counts.
        std::io::Write::write_all(&mut self.workload.0.stdin.take().unwrap(), b"go\n").unwrap();
        std::io::BufRead::read_line(&mut self.said, &mut String::new()).unwrap();
        token.stop();
        events.extend(receiver.iter().flatten());
        Captured { events, ended: worker.join().unwrap(), cost: Nanos(0), sampler_cpus }
    }
}

/// `getppid` by system call: some C libraries remember what `getpid` says.
const GETPPID: &str = "syscalls:sys_enter_getppid";

fn getppid() -> Option<OpsSpec> {
    GETPPID.split_once(':').and_then(|(category, name)| tracepoint(category, name))
}

#[test]
fn calls_of_a_commands_function_are_counted_to_the_last_one() {
    require!("perf", "tracefs", "root");
    // The function runs once per operation that the workload then says it completed.
    let sh = format!("exec {IRONLAW} workload hotspot --threads 3 --seconds 0.5 > \"$0\"");
    let dir = tempfile::tempdir().unwrap();
    let said = dir.path().join("ops");
    let captured = capture(&command(&["sh", "-c", &sh, said.to_str().unwrap()], uprobe(IRONLAW, "handle_request")));
    let text = std::fs::read_to_string(said).unwrap();
    let last: u64 = text.split_whitespace().rev().find_map(|word| word.parse().ok()).unwrap();
    eprintln!("{last} operations, {:?}, {:?}", captured.totals(), captured.ended.notes);
    assert!(last > 0 && captured.operations() == last, "{last} operations, {:?}", captured.totals());
}

/// The calls by their length: the shortest of each step in nanoseconds, and their number.
fn lengths(captured: &Captured) -> Vec<(u64, u64)> {
    let count = |event: &Event| match event {
        Event::Latency(count) => Some((count.low.0, count.count)),
        _ => None,
    };
    let mut lengths: Vec<_> = captured.events.iter().filter_map(count).collect();
    lengths.sort_unstable();
    lengths
}

fn timed(argv: &[&str], binary: &str, symbol: &str) -> Plan {
    let latency = Some(LatencySpec::Calls { binary: binary.into(), symbol: symbol.to_string() });
    Plan { latency, ..command(argv, None) }
}

#[test]
fn calls_of_all_threads_are_timed_and_those_that_the_kernel_left_out_are_noted() {
    require!("perf", "tracefs", "root");
    let sh = format!("exec {IRONLAW} workload hotspot --threads 3 --seconds 0.5 > \"$0\"");
    let dir = tempfile::tempdir().unwrap();
    let said = dir.path().join("ops");
    let captured = capture(&timed(&["sh", "-c", &sh, said.to_str().unwrap()], IRONLAW, "handle_request"));
    let text = std::fs::read_to_string(said).unwrap();
    let last: u64 = text.split_whitespace().rev().find_map(|word| word.parse().ok()).unwrap();
    let timed: u64 = lengths(&captured).iter().map(|(_, count)| count).sum();
    let missed = captured.ended.notes.iter().find(|note| note.topic == "latency-missed");
    let missed = missed.map_or(0, |note| note.text.split(' ').next().unwrap().parse().unwrap());
    // The kernel leaves out more the busier the machine is: none or one of these, and 13 of 842 beside six busy threads.
    let of_a_hundred = if is_crowded() { 10 } else { 1 };
    assert!(last > 0 && timed + missed == last && missed * 100 < of_a_hundred * last, "{timed} and {missed} of {last}");
}

#[test]
fn a_call_is_as_long_as_it_sleeps_and_those_within_it_and_before_the_capture_do_not_count() {
    require!("perf", "tracefs", "root", "python3", "cc");
    let sleeps = "for _ in range(50): libc.usleep(4000)\nfor _ in range(10): libc.usleep(40000)";
    let sleeper = Waiting::prepared("import ctypes\nlibc = ctypes.CDLL(None)", &format!("{sleeps}\nprint(flush=True)"));
    let target = Target::Processes { pids: vec![sleeper.workload.pid()], children: false };
    // Operations are counted beside it: their first total says that everything counts.
    let plan = Plan { target, ops: uprobe("libc.so.6", "usleep"), ..timed(&[], "libc.so.6", "usleep") };
    let captured = sleeper.counted(&plan);
    let lengths = lengths(&captured);
    let at_least = |ns: u64| lengths.iter().filter(|(low, _)| *low >= ns).map(|(_, count)| count).sum::<u64>();
    // A step is a thousandth wide.
    assert_eq!((at_least(0), at_least(3_996_000)), (60, 60), "{lengths:?}");
    // On a busy machine, some of the short ones wait long for a CPU.
    let most = if is_crowded() { 25 } else { 10 };
    assert!((10..=most).contains(&at_least(39_960_000)), "{lengths:?}");
    assert_eq!(captured.operations(), 60);

    // A function that calls itself: only the outermost calls count, and all of them end.
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("a.c"), dir.path().join("nested"));
    let code = "#include <unistd.h>\n__attribute__((noipa)) int down(int n) { usleep(100); return n ? down(n - 1) + 1 : 0; }\n\
                int main(void) { int sum = 0; for (int i = 0; i < 20; i++) sum += down(9); return sum != 180; }\n";
    std::fs::write(&source, code).unwrap();
    let options = ["-O1", "-fno-optimize-sibling-calls", "-o"];
    let built = Command::new("cc").args(options).arg(&program).arg(&source).status();
    assert!(built.unwrap().success());
    let program = program.to_str().unwrap();
    let lengths = self::lengths(&capture(&timed(&[program], program, "down")));
    assert!(lengths.iter().all(|(low, _)| *low >= 999_000), "ten sleeps of 0.1 ms each: {lengths:?}");
    assert_eq!(lengths.iter().map(|(_, count)| count).sum::<u64>(), 20, "{lengths:?}");
}

#[test]
fn a_frequent_probe_says_what_it_costs_and_a_rare_one_only_what_a_call_costs() {
    require!("perf", "tracefs", "root", "python3");
    let loops = |times: &str| format!("import os\nfor _ in range({times}): os.getppid()");
    for (code, distorts) in [(loops("300000"), true), (loops("1") + "\nsum(range(30000000))", false)] {
        let sampler =
            Sampler::open(&command(&["python3", "-c", &code], uprobe("libc.so.6", "getppid")), &Clock::start());
        let sampler = sampler.unwrap();
        let said = sampler.notes().iter().find(|note| note.topic == "ops-probe").unwrap().text.clone();
        assert!(
            said.starts_with("Calls of libc.so.6:getppid are counted at ") && said.ends_with("(measured)."),
            "{said}"
        );
        let ended = run(sampler).ended;
        eprintln!("{said} {:?}", ended.notes);
        assert_eq!(ended.notes.iter().any(|note| note.topic == "ops-probe-cost"), distorts, "{:?}", ended.notes);
    }
}

#[test]
fn children_count_where_they_are_followed_and_live_on_when_they_fork() {
    require!("perf", "tracefs", "root", "python3");
    // Its forks must succeed with the probe inherited: a probe may cost time, never the target's correctness.
    let work = "for _ in range(3):\n  pid=os.fork()\n  if pid==0:\n    for _ in range(100): os.getppid()\n    os._exit(0)\n  \
                os.waitpid(pid,0)\nfor _ in range(7): os.getppid()\nprint(flush=True)";
    for ops in [getppid(), uprobe("libc.so.6", "getppid")] {
        for (children, expected) in [(true, 307), (false, 7)] {
            let waiting = Waiting::python(work);
            let target = Target::Processes { pids: vec![waiting.workload.pid()], children };
            let counted = waiting.counted(&Plan { ops: ops.clone(), ..plan(target, 0.0) }).operations();
            assert_eq!(counted, expected, "children: {children}, {ops:?}");
        }
    }
}

/// Children that run side by side exchange their events at context switches.
#[test]
fn children_side_by_side_lose_no_call() {
    require!("perf", "tracefs", "root", "python3");
    let work = "for _ in range(6):\n  if os.fork()==0:\n    for _ in range(1000): os.getppid()\n    os._exit(0)\n\
                for _ in range(6): os.wait()\nprint(flush=True)";
    for ops in [getppid(), uprobe("libc.so.6", "getppid")] {
        for _ in 0..3 {
            let waiting = Waiting::python(work);
            let target = Target::Processes { pids: vec![waiting.workload.pid()], children: true };
            let counted = waiting.counted(&Plan { ops: ops.clone(), ..plan(target, 0.0) }).operations();
            assert_eq!(counted, 6000, "{ops:?}");
        }
    }
}

#[test]
fn threads_born_later_count_and_keep_their_count_when_they_end() {
    require!("perf", "tracefs", "root", "python3");
    let work = "def f():\n  for _ in range(50): os.getppid()\n\
                ts=[threading.Thread(target=f) for _ in range(8)]\nfor t in ts: t.start()\nfor t in ts: t.join()\n\
                print(flush=True)";
    for ops in [getppid(), uprobe("libc.so.6", "getppid")] {
        let waiting = Waiting::python(work);
        let target = waiting.workload.target();
        assert_eq!(waiting.counted(&Plan { ops, ..plan(target, 0.0) }).operations(), 400);
    }
}

#[test]
fn threads_that_were_there_count_together_and_one_alone_if_asked_for() {
    require!("perf", "tracefs", "root", "python3");
    let before = "go=threading.Event()\ndef f():\n  go.wait()\n  for _ in range(9): os.getppid()\n\
                  ts=[threading.Thread(target=f) for _ in range(3)]\nfor t in ts: t.start()";
    let work = "go.set()\nfor t in ts: t.join()\nfor _ in range(30): os.getppid()\nprint(flush=True)";
    for (alone, expected) in [(false, 57), (true, 30)] {
        let waiting = Waiting::prepared(before, work);
        let pid = waiting.workload.pid();
        let target = if alone { Target::Threads { tids: vec![pid] } } else { waiting.workload.target() };
        assert_eq!(waiting.counted(&Plan { ops: getppid(), ..plan(target, 0.0) }).operations(), expected);
    }
}

#[test]
fn a_control_groups_members_count_and_nobody_else() {
    require!("perf", "tracefs", "root", "python3");
    let Some(group) = Group::create("ironlaw-ops") else {
        support::skip("cgroup2", "no writable cgroup v2 mount");
        return;
    };
    let outside = Workload::python("import os\nwhile True: os.getppid()");
    for ops in [getppid(), uprobe("libc.so.6", "getppid")] {
        let waiting = Waiting::python("for _ in range(123): os.getppid()\nprint(flush=True)");
        std::fs::write(group.0.join("cgroup.procs"), waiting.workload.pid().to_string()).unwrap();
        let target = Target::Cgroup { name: "ops".to_string(), path: group.0.clone(), others: vec![] };
        assert_eq!(waiting.counted(&Plan { ops, ..plan(target, 0.0) }).operations(), 123);
    }
    drop(outside);
}

#[test]
fn whole_cpus_count_everybody() {
    require!("perf", "tracefs", "root", "python3");
    let waiting = Waiting::python("for _ in range(500): os.getppid()\nprint(flush=True)");
    let ops = uprobe("libc.so.6", "getppid");
    let counted = waiting.counted(&Plan { ops, ..plan(Target::Cpus { cpus: vec![] }, 0.0) });
    assert!(counted.operations() >= 500, "{:?}", counted.totals());
}

/// A child that another test has forked holds our descriptors until its `exec`, and with them a definition.
#[test]
fn no_definition_is_left_behind_and_what_cannot_be_counted_says_why() {
    require!("perf", "tracefs", "root");
    run_alone("operations::definitions_of_this_process_alone");
}

#[test]
#[ignore = "run by the test above"]
fn definitions_of_this_process_alone() {
    let own = format!("ironlaw/p{}_", std::process::id());
    let myself = Target::Processes { pids: vec![std::process::id()], children: false };
    let open = |ops| Sampler::open(&Plan { ops, ..plan(myself.clone(), 0.1) }, &Clock::start());
    for (ops, kind, said) in [
        (uprobe(IRONLAW, "handle_requests"), ErrorKind::NotFound, "handle_request"),
        (uprobe("no-such-program", "main"), ErrorKind::NotFound, "path"),
        (tracepoint("syscalls", "sys_enter_nothing"), ErrorKind::NotFound, "ironlaw list tracepoint"),
    ] {
        let error = open(ops).unwrap_err();
        assert!(error.kind() == kind && error.remedy().is_some_and(|hint| hint.contains(said)), "{error:?}");
    }
    let sampler = open(uprobe(IRONLAW, "handle_request")).unwrap();
    let defined = || std::fs::read_to_string("/sys/kernel/tracing/uprobe_events").unwrap().matches(&own).count();
    assert!(defined() > 0);
    drop(sampler);
    assert_eq!(defined(), 0, "a definition was left");
}

#[test]
fn slow_operations_are_explained_by_their_planted_cause() {
    require!("perf", "tracefs", "root");
    let dir = tempfile::tempdir().unwrap();
    for (workload, planted, function) in
        [("tail-lock", "lock", "look_up_table"), ("tail-code", "on_cpu", "rebuild_table")]
    {
        let recording = dir.path().join(workload);
        let ironlaw = |args: &[&str]| {
            let output = Command::new(IRONLAW).args(args).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let (path, latency) = (recording.to_str().unwrap(), format!("uprobe:{IRONLAW}:answer_query"));
        let command = [IRONLAW, "workload", workload, "--seconds", "3"];
        let record = ["record", "-q", "-I", "200ms", "-o", path, "--latency", &latency, "--"];
        ironlaw(&[&record[..], &command].concat());
        let json = ironlaw(&["report", "--format", "json", &format!("{path}.ironlaw")]);
        let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let slow = &report["latency"]["slow"];
        // Other tests run beside this one, so that operations wait for a CPU as well.
        let mut causes = slow["causes"].as_array().unwrap().iter().filter(|it| it["cause"] != "run_queue");
        let first = causes.next().unwrap();
        assert_eq!(first["cause"], planted, "{slow:#}");
        let places = first["where"].as_array().unwrap();
        assert!(places.iter().any(|place| place == function), "{slow:#}");
        assert!(slow["coverage"].as_f64().unwrap() > 0.9, "{slow:#}");
    }
}
