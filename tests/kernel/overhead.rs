//! Hardware events within a budget: a program that switches all the time is counted only if that may cost anything.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const IRONLAW: &str = env!("CARGO_BIN_EXE_ironlaw");
const WORKLOAD: [&str; 5] = [IRONLAW, "workload", "mutex", "--threads=4", "--seconds=3s"];

/// A recording's metadata and its report.
fn recorded(folder: &Path, percent: &str, target: &[&str]) -> (Value, Value) {
    let path = folder.join("a.ironlaw");
    let path = path.to_str().unwrap();
    let options = ["record", "--force", "--off-cpu", "-I", "500ms", "--max-overhead", percent, "-o", path];
    let done = Command::new(IRONLAW).args(options).args(target).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let about = std::fs::read_to_string(Path::new(path).join("meta.json")).unwrap();
    let report = Command::new(IRONLAW).args(["report", "--format", "json", path]).output().unwrap();
    (serde_json::from_str(&about).unwrap(), serde_json::from_slice(&report.stdout).unwrap())
}

/// Whether the report tells waits, which cost next to nothing.
fn waits(report: &Value) -> bool {
    report["off_cpu"]["paths"].as_array().is_some_and(|paths| !paths.is_empty())
}

#[test]
fn hardware_events_that_cost_more_than_allowed_are_missing_with_that_reason_and_waits_are_there() {
    require!("perf");
    let folder = tempfile::tempdir().unwrap();
    let started = [&["--"], &WORKLOAD[..]].concat();
    let (about, report) = recorded(folder.path(), "100", &started);
    assert!(waits(&report), "{}", report["off_cpu"]);
    if about["hardware"]["switch_cost_ns"].is_null() {
        super::support::skip("pmu", "no hardware event counts here, or counting costs nothing");
        return;
    }
    assert!(report["metrics"]["ipc"]["value"].as_f64().is_some(), "{}", report["metrics"]["ipc"]);
    let too_costly = |report: &Value, when: &str| {
        for metric in ["cycles", "instructions", "ipc"] {
            assert_eq!(report["metrics"][metric]["missing"], "too_costly", "{metric}, {when}");
        }
        let notes = report["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note["topic"] == "counters-too-costly"), "{when}: {notes:?}");
        assert!(waits(report), "{when}: {}", report["off_cpu"]);
    };
    let (about, report) = recorded(folder.path(), "0.001", &started);
    too_costly(&report, "given up");
    assert_eq!(about["hardware"]["too_costly"], Value::Null, "they counted until then");
    let mut running = Command::new(IRONLAW).args(&WORKLOAD[1..]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let (about, report) = recorded(folder.path(), "0.001", &["-d", "1", "-p", &running.id().to_string()]);
    let _ = (running.kill(), running.wait());
    too_costly(&report, "left out");
    assert_eq!(about["hardware"]["too_costly"], true);
}

/// The notes on a slowed recording of a busy program, its metrics, and the cost of a sample.
fn sampled(folder: &Path, options: &[&str]) -> (Vec<String>, Value, Option<u64>) {
    let path = folder.join("s.ironlaw");
    let path = path.to_str().unwrap();
    let target = ["--", IRONLAW, "workload", "spin", "--threads=1", "--seconds=1s"];
    let done =
        Command::new(IRONLAW).args(["record", "--force", "-o", path]).args(options).args(target).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let report = Command::new(IRONLAW).args(["report", "--format", "json", path]).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let about = std::fs::read_to_string(Path::new(path).join("meta.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    let notes = report["notes"].as_array().unwrap().iter().filter(|note| note["topic"] == "sampling-slowed");
    let notes = notes.map(|note| note["text"].as_str().unwrap().to_string()).collect();
    (notes, report["metrics"].clone(), about["sample_cost_ns"].as_u64())
}

#[test]
fn sampling_is_slowed_to_what_it_may_cost_and_samples_stand_for_the_same_cpu_time() {
    require!("perf");
    let folder = tempfile::tempdir().unwrap();
    for (options, slowed) in [
        (&["-F", "997"][..], false),
        (&["-F", "997", "--max-overhead", "0.1"], true),
        (&["--max-overhead", "0.1"], true),
        (&["--max-overhead", "100"], false),
    ] {
        let (notes, metrics, cost) = sampled(folder.path(), options);
        let share = metrics["sampling_share"]["value"].as_f64();
        let Some(cost) = cost else {
            super::support::skip("cost", "samples of an own thread did not come");
            return;
        };
        assert!((200..1_000_000).contains(&cost), "a sample takes {cost} ns");
        assert_eq!(!notes.is_empty(), slowed, "{options:?}: {notes:?}");
        let (share, cpu_s) = (share.unwrap(), metrics["cpu_time"]["value"].as_f64().unwrap());
        if cpu_s < 0.2 {
            super::support::skip("quiet", format!("beside other programs, the target had {cpu_s} s of CPU time"));
            return;
        }
        // As many samples as the target's CPU time allows. Beside other programs that is little, and the five samples that have one
        // period can keep step with the scheduler's turns: all fall on the target, or none.
        let together = if cpu_s < 0.9 { 5.0 } else { 1.0 };
        let samples = share * cpu_s * 1e9 / cost as f64;
        let error = 3.0 * (together * (samples + 1.0)).sqrt() / samples;
        // 49 samples a second are taken whatever they cost.
        let most = if slowed { (49e-9 * cost as f64).max(0.001) } else { 997e-9 * cost as f64 };
        assert!(share > 0.0 && share < most * (1.05 + error), "{options:?}: {share}, not {most}, {samples} samples");
        let seen = metrics["samples_coverage"]["value"].as_f64();
        assert!(seen.is_none_or(|seen| (seen - 1.0).abs() < 0.05 + error), "{options:?}: {seen:?}, {samples} samples");
    }
}

/// Threads that wake each other and do nothing else.
const SWITCHES: [&str; 5] = [IRONLAW, "workload", "futex", "--threads=2", "--seconds=3s"];

fn note<'a>(report: &'a Value, topic: &str) -> Option<&'a Value> {
    report["notes"].as_array().unwrap().iter().find(|note| note["topic"] == topic)
}

#[test]
fn what_seeing_waits_costs_is_measured_at_the_switches_and_part_of_the_sum() {
    require!("perf");
    let folder = tempfile::tempdir().unwrap();
    let started = [&["--"], &SWITCHES[..]].concat();
    let (about, report) = recorded(folder.path(), "100", &started);
    if about["waits"] != "kernel_sums" {
        super::support::skip("bpf", "the kernel does not sum waits here");
        return;
    }
    let metric = |name: &str| report["metrics"][name]["value"].as_f64().unwrap_or_else(|| panic!("{name} is missing"));
    let switches =
        (metric("voluntary_switches") + metric("involuntary_switches")) * report["duration_s"].as_f64().unwrap();
    let cost = |part: &str| report["own_cost"][part].as_f64().unwrap_or(0.0);
    let each = cost("target_waits") * metric("cpu_time") * 1e9 / switches;
    assert!((60.0..50_000.0).contains(&each), "{each} ns for each of {switches} switches");
    assert!(cost("target_total") >= cost("target_waits") + cost("target_samples"), "{}", report["own_cost"]);
    assert!(note(&report, "overhead-exceeded").is_none(), "there was no limit");
}

#[test]
fn waits_that_cost_more_than_allowed_are_kept_and_named_with_the_option_without_them() {
    require!("perf");
    let folder = tempfile::tempdir().unwrap();
    let started = [&["-F", "997", "--"], &SWITCHES[..]].concat();
    let (about, report) = recorded(folder.path(), "0.01", &started);
    if about["waits"] != "kernel_sums" {
        super::support::skip("bpf", "the kernel does not sum waits here");
        return;
    }
    assert!(waits(&report), "{}", report["off_cpu"]);
    let note = note(&report, "overhead-exceeded").unwrap_or_else(|| panic!("no note: {}", report["notes"]));
    assert!(note["text"].as_str().unwrap().contains("seeing waits"), "{note}");
    assert!(note["fix"].as_str().unwrap().contains("--max-overhead 100"), "{note}");
}

#[test]
fn a_process_that_switches_too_often_for_events_on_its_threads_is_recorded_by_events_on_cpus() {
    require!("perf");
    let folder = tempfile::tempdir().unwrap();
    let mut running = Command::new(IRONLAW).args(&SWITCHES[1..]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = running.id();
    let (about, report) = recorded(folder.path(), "0.01", &["-F", "997", "-d", "2", "-p", &pid.to_string()]);
    let _ = (running.kill(), running.wait());
    if about["waits"] != "kernel_sums" || !about["hardware"]["groups"].as_array().is_none_or(Vec::is_empty) {
        super::support::skip("bpf", "the kernel does not sum waits here, or hardware counts");
        return;
    }
    let note = note(&report, "whole-cpus-switches").unwrap_or_else(|| panic!("no note: {}", report["notes"]));
    assert!(note["text"].as_str().unwrap().contains("switches a second"), "{note}");
    let samples = report["samples"]["count"].as_u64().unwrap();
    // At 49 Hz, of a program that has a part of the CPUs.
    assert!(samples > 0 && waits(&report), "{samples} samples, {}", report["off_cpu"]);
    assert_eq!(about["sampling_switch_cost_ns"], Value::Null, "no event is on a thread");
}
