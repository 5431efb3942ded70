//! How a recording ends when things go wrong around it: signals in any number, targets and folders that vanish, nothing to see.

use crate::program::{Dir, IRONLAW, Ran, Running, WORKLOADS, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::time::Duration;

fn send(signal: Signal, process: &Running) {
    let pid = Pid::from_raw(process.pid() as i32).unwrap();
    kill_process(pid, signal).unwrap();
}

/// A busy target, and a recorder of it that has begun to write.
fn recorder(dir: &Dir, flags: &[&str]) -> (Running, Running) {
    let target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "120"]);
    let pid = target.pid().to_string();
    let recorder = dir.start(&[&["record", "-o", "run", "-p", &pid, "-I", "100"], flags].concat());
    until("it has written its first samples", || dir.join("run.ironlaw/samples-000000.parquet").exists());
    (target, recorder)
}

fn count(report: &Value) -> u64 {
    report["samples"]["count"].as_u64().unwrap()
}

#[track_caller]
fn is_whole(dir: &Dir, ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = dir.report("run.ironlaw", "");
    assert!(!report["notes"].to_string().contains("stopped before"), "{}", report["notes"]);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    report
}

#[test]
fn asked_to_end_any_number_of_times_it_ends_once_with_all_it_has() {
    require!("perf");
    for signals in [
        &[Signal::INT, Signal::INT][..],
        &[Signal::TERM, Signal::INT, Signal::TERM, Signal::INT, Signal::TERM],
        &[Signal::HUP],
    ] {
        let dir = Dir::new();
        let (_target, mut recorder) = recorder(&dir, &[]);
        for signal in signals {
            // The last ones may find it gone.
            let pid = Pid::from_raw(recorder.pid() as i32).unwrap();
            let _ = kill_process(pid, *signal);
        }
        let ran = recorder.ends();
        let report = is_whole(&dir, &ran);
        assert!(count(&report) > 0, "{signals:?}: {}", ran.err);
    }
}

#[test]
fn a_target_that_is_killed_ends_the_recording_like_one_that_exits() {
    require!("perf");
    let dir = Dir::new();
    let (target, mut recorder) = recorder(&dir, &[]);
    send(Signal::KILL, &target);
    let mut target = target;
    target.0.wait().unwrap();
    let report = is_whole(&dir, &recorder.ends());
    assert!(count(&report) > 0 && report["duration_s"].as_f64() < Some(60.0), "{}", report["samples"]);
}

#[test]
fn a_target_that_never_runs_leaves_a_recording_without_samples_that_every_reader_understands() {
    require!("perf");
    let dir = Dir::new();
    let sleeper = Running::of(&mut dir.command("sleep", &["120"]));
    dir.line(&format!("-q record -o run -p {} -d 0.4", sleeper.pid())).succeeds();
    let report = dir.report("run.ironlaw", "");
    assert_eq!((count(&report), report["functions"].as_array().map(Vec::len)), (0, Some(0)), "{}", report["samples"]);
    for format in ["text", "markdown", "csv"] {
        dir.line(&format!("report run.ironlaw --format {format}")).succeeds();
    }
    for format in ["svg", "folded"] {
        let ran = dir.line(&format!("flamegraph run.ironlaw --format {format} -o out.{format}"));
        assert!(ran.code == Some(0) || ran.code == Some(1) && !ran.err.is_empty(), "{format}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    for format in ["pprof", "speedscope", "firefox", "parquet"] {
        let ran = dir.line(&format!("export run.ironlaw --format {format} -o out.{format}"));
        assert!(matches!(ran.code, Some(0 | 1)) && !ran.err.contains("panicked"), "{format}: {ran:?}");
    }
}

#[test]
fn a_command_that_ends_at_once_is_a_whole_recording() {
    require!("perf");
    let dir = Dir::new();
    for command in ["true", "false"] {
        let ran = dir.line(&format!("record --force -o run -- {command}"));
        assert_eq!(ran.code, Some(i32::from(command == "false")), "{}", ran.err);
        let report = dir.report("run.ironlaw", "");
        assert!(report["duration_s"].as_f64() < Some(20.0), "{}", report["samples"]);
        assert!(!report["notes"].to_string().contains("stopped before"), "{}", report["notes"]);
    }
}

#[test]
fn a_command_that_outlives_the_planned_time_is_ended_and_that_is_no_failure() {
    require!("perf");
    let dir = Dir::new();
    for script in ["exec sleep 30", "trap 'exit 9' TERM; sleep 30 & wait"] {
        let ran = dir.ironlaw(&["record", "--force", "-d", "0.5", "-o", "run", "--", "sh", "-c", script]);
        assert!(ran.code == Some(0) && ran.err.contains("went on longer and was ended"), "{script}: {ran:?}");
    }
}

#[test]
fn a_folder_that_is_taken_away_ends_the_recording_with_its_name_and_leaves_the_command_alone() {
    require!("perf");
    let dir = Dir::new();
    let script = format!("'{WORKLOADS}' workload spin --threads 1 --seconds 3 && touch done; exit 3");
    let mut recorder = dir.start(&["record", "-o", "run", "-I", "100", "--", "sh", "-c", &script]);
    let folder = dir.join("run.ironlaw");
    until("it has written its first samples", || folder.join("samples-000000.parquet").exists());
    fs::rename(&folder, dir.join("elsewhere.ironlaw")).unwrap();
    let ran = recorder.ends();
    assert!(dir.join("done").exists(), "the command was not left to its end: {}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    // What was written before is where somebody put it, and is read as one that was cut short.
    let report = dir.report("elsewhere.ironlaw", "");
    assert!(count(&report) > 0, "{}", ran.err);
    assert!(ran.code == Some(1) && ran.err.contains("run.ironlaw") || ran.code == Some(3), "{ran:?}");
}

#[test]
fn stopped_and_continued_it_goes_on_where_it_was() {
    require!("perf");
    let dir = Dir::new();
    let (_target, mut recorder) = recorder(&dir, &[]);
    for _ in 0..2 {
        send(Signal::STOP, &recorder);
        std::thread::sleep(Duration::from_millis(250));
        send(Signal::CONT, &recorder);
        std::thread::sleep(Duration::from_millis(150));
    }
    send(Signal::INT, &recorder);
    let report = is_whole(&dir, &recorder.ends());
    assert!(count(&report) > 0 && report["duration_s"].as_f64() > Some(0.5), "{}", report["samples"]);
}

#[test]
fn a_recorder_that_may_not_use_memory_or_files_says_so() {
    require!("perf");
    let dir = Dir::new();
    // Sixteen files are fewer than it needs for two CPUs' events.
    let line =
        format!("ulimit -n 16; exec '{IRONLAW}' record -o run -d 0.3 -- '{WORKLOADS}' workload spin --seconds 0.2");
    let ran = Ran::of(&mut dir.command("sh", &["-c", &line]));
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert!(ran.code == Some(0) || ran.code == Some(1) && !ran.err.is_empty(), "{ran:?}");
}
