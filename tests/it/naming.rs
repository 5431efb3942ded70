//! The process that makes names: what it may do, and what its death costs.

use crate::program::{Dir, until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The process that makes names for the process `parent`.
fn of(parent: u32) -> Option<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten();
    let children: String = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
    let named = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "ironlaw-names\n");
    children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).find(named)
}

fn status(pid: u32, field: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_start_matches(':').trim().to_string()
}

#[test]
fn names_are_made_without_privileges_in_bounded_memory() {
    require!("perf");
    let dir = Dir::new();
    let target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "60"]);
    let recorder = dir.start(&["record", "-o", "run", "-p", &target.pid().to_string(), "-d", "60"]);
    until("names are made", || of(recorder.pid()).is_some());
    let process = of(recorder.pid()).unwrap();
    // It is named before it is confined.
    until("it is confined", || status(process, "Seccomp") == "2");
    assert_eq!(u64::from_str_radix(&status(process, "CapEff"), 16), Ok(0));
    assert_eq!(u64::from_str_radix(&status(process, "CapPrm"), 16), Ok(0));
    assert_eq!(status(process, "NoNewPrivs"), "1");
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let memory = limits.lines().find(|line| line.starts_with("Max address space")).unwrap();
    assert_eq!(memory.split_ascii_whitespace().nth(3), Some("2147483648"), "{memory}");
}

#[test]
fn its_death_ends_no_recording_and_another_one_makes_the_rest_of_the_names() {
    require!("perf");
    let dir = Dir::new();
    let target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "60"]);
    let mut recorder = dir.start(&["record", "-o", "run", "-p", &target.pid().to_string(), "-d", "4"]);
    until("names are made", || of(recorder.pid()).is_some());
    let _ = kill_process(Pid::from_raw(of(recorder.pid()).unwrap() as i32).unwrap(), Signal::KILL);
    let ran = recorder.ends();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = dir.report("run.ironlaw", "");
    assert!(report["samples"]["count"].as_u64().unwrap() > 100, "{}", ran.err);
    let functions = report["functions"].to_string();
    assert!(functions.contains("spin"), "killed once, it is asked again: {functions}");
}
