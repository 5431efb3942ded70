//! The data set from the outside: what a watch and a recording write, what a kill leaves, and the simulated fleet.

use crate::parquet::Columns;
use crate::program::{Dir, IRONLAW, Running, until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Every file of a table as other tools read it; half a file fails.
fn tables(set: &Path, table: &str) -> Vec<Columns> {
    let files = files_below(&set.join(table)).into_iter();
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    files.map(|path| Columns::read(&std::fs::read(path).unwrap())).collect()
}

/// The numbers of a column in all files of a table; those that are missing are left out.
fn numbers(set: &Path, table: &str, column: &str) -> Vec<f64> {
    tables(set, table).iter().flat_map(|columns| columns.numbers(column)).flatten().collect()
}

#[test]
fn a_watch_collects_and_a_kill_leaves_whole_files_in_which_no_window_stands_twice() {
    require!("perf");
    let dir = Dir::new();
    let target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "600"]);
    let (pid, set) = (target.pid().to_string(), dir.join("set"));
    let flags = ["watch", "-p", &pid, "-I", "100", "--listen", "off", "--dataset", "set", "--dataset-window", "1"];
    let labels = ["--job", "web/api", "--version-label", "v7", "--config", "a"];
    let mut command = dir.command(IRONLAW, &[&flags[..], &labels].concat());
    let mut watch = Running::of(command.stdout(Stdio::piped()));
    let written = |table| !numbers(&set, table, "cpu_s").is_empty();
    let several = || numbers(&set, "windows", "start_s").len() >= 3;
    until("several windows", || several() && written("functions") && written("neighbours"));
    watch.0.kill().unwrap();
    let ran = watch.ends();
    let start: serde_json::Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!((&start["baseline"], &start["dataset"]), (&serde_json::Value::Null, &"set".into()), "{start}");
    let starts = numbers(&set, "windows", "start_s");
    let mut once = starts.clone();
    once.dedup();
    assert_eq!(starts, once);
    assert_eq!(files_below(&set.join("windows")).len(), 1);
    let path = files_below(&set.join("windows"))[0].display().to_string();
    assert!(path.contains("/job=web%2Fapi/day=") && path.contains("/host="), "{path}");
    let (cpu, length) = (numbers(&set, "windows", "cpu_s"), numbers(&set, "windows", "length_s"));
    assert_eq!((cpu.len(), length.len()), (starts.len(), starts.len()));
    assert!(cpu.iter().sum::<f64>() > 0.0 && length.iter().all(|length| (0.05..2.5).contains(length)), "{length:?}");
    let functions: f64 = numbers(&set, "functions", "cpu_s").iter().sum();
    assert!(functions > 0.0 && !numbers(&set, "neighbours", "cpu_s").is_empty(), "{functions}");
}

#[test]
fn a_stopped_watch_writes_its_last_window() {
    require!("perf");
    let dir = Dir::new();
    let target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "600"]);
    dir.line(&format!("watch -d 1200ms -I 100 --listen off --dataset set -p {}", target.pid())).succeeds();
    let length: f64 = numbers(&dir.join("set"), "windows", "length_s").iter().sum();
    assert!((0.8..2.5).contains(&length), "less than a minute, and all of it: {length}");
    let refused = dir.line("watch --dataset set --exit-on-alarm -p 1");
    assert!(refused.code == Some(2) && refused.err.contains("--baseline"), "{}", refused.err);
    let refused = dir.line("record --job x -- true");
    assert!(refused.code == Some(2) && refused.err.contains("Add --dataset DIR"), "{}", refused.err);
}

#[test]
fn rows_of_a_recording_add_up_to_its_report_and_stay_the_same_when_it_is_added_again() {
    require!("perf");
    let dir = Dir::new();
    dir.record("r.ironlaw", "-I 100 --dataset set --dataset-window 1", "hotspot --threads 1 --seconds 1.5");
    let report = dir.report("r.ironlaw", "");
    let sum = |column: &str| numbers(&dir.join("set"), "windows", column).iter().sum::<f64>();
    let cpu = report["metrics"]["cpu_time"]["value"].as_f64().unwrap();
    assert!((sum("cpu_s") / cpu - 1.0).abs() < 0.01, "{} {cpu}", sum("cpu_s"));
    assert!(numbers(&dir.join("set"), "windows", "cpu_s").len() >= 2);
    let functions: f64 = numbers(&dir.join("set"), "functions", "cpu_s").iter().sum();
    assert!((functions / cpu - 1.0).abs() < 0.02, "{functions} {cpu}");
    for line in ["fleet add again r.ironlaw", "fleet add again r.ironlaw", "convert r.ironlaw --dataset again"] {
        dir.line(line).succeeds();
        assert!(numbers(&dir.join("again"), "windows", "cpu_s").len() <= 2, "{line}");
    }
    let missing = dir.line("fleet add r.ironlaw r.ironlaw");
    assert!(missing.code == Some(2) && missing.err.contains("is not a data set"), "{}", missing.err);
}

#[test]
fn the_simulated_fleet_is_the_same_for_a_seed() {
    let dir = Dir::new();
    let written = |name: &str| -> BTreeMap<PathBuf, Vec<u8>> {
        dir.line(&format!("fleet simulate {name} --hosts 3 --days 1 --jobs 5 --seed 9")).succeeds();
        let root = dir.join(name);
        let files = files_below(&root).into_iter();
        files.map(|path| (path.strip_prefix(&root).unwrap().to_path_buf(), std::fs::read(&path).unwrap())).collect()
    };
    assert!(written("a") == written("b"));
    let refused = dir.line("fleet simulate a --hosts 3");
    assert!(refused.code == Some(2) && refused.err.contains("is a data set already"), "{}", refused.err);
}
