//! The sweep from the outside: real programs at several widths, programs that run already, what is put back, what is said.

use crate::program::{Dir, IRONLAW, Ran, Running, WORKLOADS, until};
use serde_json::Value;

fn json(ran: Ran) -> Value {
    serde_json::from_str(&ran.succeeds().out).unwrap()
}

/// Sweeps a workload of this program over threads.
fn sweep(dir: &Dir, flags: &str, workload: &str) -> Ran {
    let line = format!("-q sweep --seed 3 --ops regex:ops\\s(\\d+) {flags} -- {WORKLOADS} workload {workload}");
    dir.line(&line)
}

/// The CPUs that every thread of a process may run on.
fn cpus(pid: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of = |task: std::fs::DirEntry| {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(|list| list.trim().to_string())
    };
    threads.filter_map(|task| of(task.unwrap())).collect()
}

fn several_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1)
}

#[test]
fn a_program_is_run_at_every_width_and_what_it_printed_is_what_was_counted() {
    require!("perf");
    let dir = Dir::new();
    let flags = "-L threads 1,2 -r 2 -o s --format json";
    let swept = json(sweep(&dir, flags, "scaling --threads {threads} --seconds 1"));
    let points = swept["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| point["threads"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    for point in points {
        let n = point["threads"].as_u64().unwrap();
        let printed = |repeat: u32| {
            let text = std::fs::read_to_string(dir.join(&format!("s.sweep/runs/n{n:04}-r{repeat:02}.out"))).unwrap();
            text.trim().strip_prefix("ops ").unwrap().parse::<f64>().unwrap()
        };
        let mean = (printed(1) + printed(2)) / 2.0;
        let counted = point["ops"].as_f64().unwrap();
        assert!((counted / mean - 1.0).abs() < 1e-9, "n = {n}: {counted} counted, {mean} printed");
        assert!(point["ops_per_s"].as_f64().unwrap() > 0.0);
        assert!(point["path_length"].is_number() || point["missing"]["path_length"].is_object(), "{point}");
    }
    let again = json(dir.line("report s.sweep --format json"));
    assert_eq!(again["points"], swept["points"], "what is read back is what was measured");
}

#[test]
fn the_result_comes_in_every_form() {
    require!("perf");
    let dir = Dir::new();
    let shown = sweep(&dir, "-L threads 1,2 -r 1 -o s", "scaling --threads {threads} --seconds 0.5").succeeds().out;
    assert!(shown.contains("Throughput") && shown.contains("Where the cores went"), "{shown}");
    for (format, begins) in [("csv", ""), ("md", "#"), ("html", "<!DOCTYPE html>")] {
        let page = dir.line(&format!("report s.sweep --format {format}")).succeeds().out;
        assert!(page.trim_start().starts_with(begins) && page.contains("fficiency"), "{format}: {page:.200}");
    }
}

#[test]
fn a_run_that_fails_does_not_count_and_says_why() {
    require!("perf");
    let dir = Dir::new();
    let ran = dir.ironlaw(&[
        "sweep",
        "-L",
        "threads",
        "1,2",
        "-r",
        "1",
        "-o",
        "s",
        "--",
        "sh",
        "-c",
        "exit $(({threads} + 2))",
    ]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("exit code 3") && ran.err.contains("exit code 4"), "{}", ran.err);
}

#[test]
fn what_takes_too_long_is_ended() {
    require!("perf");
    let dir = Dir::new();
    let line = "sweep -L threads 1 -r 1 -o s --timeout 300ms -- sleep 3{threads}";
    let ran = dir.line(line);
    assert!(ran.code == Some(1) && ran.err.contains("--timeout"), "{}", ran.err);
}

#[test]
fn prepare_and_environment_are_filled_in_for_each_run() {
    require!("perf");
    let dir = Dir::new();
    let line = [
        "sweep",
        "-L",
        "threads",
        "1,2",
        "-r",
        "1",
        "-o",
        "s",
        "--env",
        "WIDTH={threads}",
        "--prepare",
        "echo p{threads} {cpus} >> log",
        "--cleanup",
        "echo c{threads} >> log",
        "--",
        "sh",
        "-c",
        "echo run$WIDTH >> log",
    ];
    dir.ironlaw(&line);
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    for part in ["p1 0\nrun1\nc1\n", "run2\nc2\n"] {
        assert!(log.contains(part), "{log}");
    }
}

#[test]
fn an_interrupted_sweep_reports_what_it_has() {
    require!("perf");
    let dir = Dir::new();
    let ops = "regex:ops (\\d+)";
    let mut running = dir.start(&[
        "sweep",
        "-L",
        "threads",
        "1",
        "-r",
        "9",
        "-o",
        "s",
        "--ops",
        ops,
        "--",
        IRONLAW,
        "workload",
        "scaling",
        "--threads",
        "{threads}",
        "--seconds",
        "1",
    ]);
    let done = || std::fs::read_to_string(dir.join("s.sweep/sweep.json")).is_ok_and(|meta| meta.contains("wall_ns"));
    until("the first run is over", done);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(running.pid() as i32).unwrap(),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let ran = running.ends();
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ops/s"), "{}", ran.out);
}

/// A busy program with more threads than one.
fn victim(dir: &Dir) -> Running {
    dir.start(&["workload", "scaling", "--threads", "3", "--seconds", "600"])
}

#[test]
fn something_that_runs_is_confined_and_gets_its_cpus_back() {
    require!("perf");
    if !several_cpus() {
        return;
    }
    let dir = Dir::new();
    let victim = victim(&dir);
    until("all threads run", || cpus(victim.pid()).len() == 4);
    let before = cpus(victim.pid());
    let line = format!("sweep -p {} --cpus 1 -r 1 --dwell 2s -o s --format json", victim.pid());
    let mut sweeping = dir.start(&line.split(' ').collect::<Vec<_>>());
    until("every thread is confined", || cpus(victim.pid()).iter().all(|list| list.parse::<u32>().is_ok()));
    let swept = json(sweeping.ends());
    assert_eq!(cpus(victim.pid()), before);
    assert_eq!(swept["sweep"]["width"], "cpus", "{swept}");
    assert_eq!(swept["points"].as_array().unwrap().len(), 1, "{swept}");
}

#[test]
fn after_a_kill_the_journal_is_enough_to_give_the_cpus_back() {
    require!("perf");
    if !several_cpus() {
        return;
    }
    let dir = Dir::new();
    let victim = victim(&dir);
    until("all threads run", || cpus(victim.pid()).len() == 4);
    let before = cpus(victim.pid());
    let line = format!("sweep -p {} --cpus 1 -r 1 --dwell 60s -o s", victim.pid());
    let mut sweeping = dir.start(&line.split(' ').collect::<Vec<_>>());
    until("every thread is confined", || cpus(victim.pid()).iter().all(|list| list.parse::<u32>().is_ok()));
    sweeping.0.kill().unwrap();
    sweeping.0.wait().unwrap();
    assert_ne!(cpus(victim.pid()), before);
    dir.line("sweep --restore").succeeds();
    assert_eq!(cpus(victim.pid()), before);
}
