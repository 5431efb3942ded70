//! Control groups of a whole machine, on real groups: shares agree with the kernel's own accounts, and with perf's.

use crate::analysis::GroupKey;
use crate::faults::Group;
use crate::program::{Dir, Running};
use crate::synthetic::Synthetic;
use ironlaw::view::report::{Report, ReportOptions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Two groups with a spinning program in each.
struct Spun {
    dir: Dir,
    groups: [Group; 2],
    inside: Vec<Running>,
}

impl Spun {
    fn start() -> Option<Spun> {
        let (dir, groups) = (Dir::new(), [Group::create("a")?, Group::create("b")?]);
        let inside = groups.iter().map(|group| {
            let spinning = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "120"]);
            fs::write(group.0.join("cgroup.procs"), spinning.pid().to_string()).unwrap();
            spinning
        });
        let inside = inside.collect();
        Some(Spun { dir, groups, inside })
    }

    /// The path of a group as reports name it.
    fn name(&self, at: usize) -> String {
        format!("/{}", self.groups[at].0.file_name().unwrap().to_str().unwrap())
    }

    /// A shell command that prints the CPU time of both groups, in microseconds, before and after some seconds.
    fn clock(&self, seconds: f64) -> String {
        let usage = self.groups.each_ref().map(|group| format!("grep usage_usec {}/cpu.stat", group.0.display()));
        format!("{0}; {1}; sleep {seconds}; {0}; {1}", usage[0], usage[1])
    }
}

impl Drop for Spun {
    /// A group can be removed once nothing is in it.
    fn drop(&mut self) {
        for running in &mut self.inside {
            let _ = (running.0.kill(), running.0.wait());
        }
    }
}

macro_rules! spun {
    () => {
        match Spun::start() {
            Some(spun) => spun,
            None => return crate::support::skip("cgroup2", "no writable cgroup v2 mount"),
        }
    };
}

/// Seconds of CPU time that each group used, as its account says.
fn accounts(printed: &str) -> [f64; 2] {
    let read: Vec<f64> = printed.lines().filter_map(|line| line.strip_prefix("usage_usec ")?.parse().ok()).collect();
    let [a, b, later_a, later_b] = read[..] else { panic!("not four accounts: {printed}") };
    [(later_a - a) * 1e-6, (later_b - b) * 1e-6]
}

/// The seconds of each row's own code.
fn seconds(report: &Value) -> BTreeMap<String, f64> {
    let rows = report["groups"]["rows"].as_array().unwrap_or_else(|| panic!("no rows: {report}"));
    let seconds = |row: &Value| row["self_weight"].as_f64().unwrap() * 1e-9;
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_string(), seconds(row))).collect()
}

#[test]
fn the_groups_of_a_machine_have_the_cpu_time_that_the_kernel_accounts_to_them() {
    require!("perf", "root");
    let spun = spun!();
    let clock = spun.clock(2.0);
    let args = ["record", "-a", "-g", "no", "-o", "run", "--max-overhead", "100", "--", "sh", "-c", &clock];
    let accounts = accounts(&spun.dir.ironlaw(&args).succeeds().out);
    let report = spun.dir.report("run.ironlaw", "--by cgroup");
    let rows = seconds(&report);
    for (at, account) in accounts.into_iter().enumerate() {
        let sampled = rows.get(&spun.name(at)).copied().unwrap_or_default();
        assert!((sampled - account).abs() < 0.1 + account * 0.1, "{at}: {sampled} of {account} s; {rows:?}");
    }
    let whole = report["samples"]["weight"].as_f64().unwrap() * 1e-9;
    assert!((rows.values().sum::<f64>() - whole).abs() < 1e-6, "the groups are the whole machine");
    let named = spun.dir.report("run.ironlaw", "--by cgroup,comm");
    let spins = format!("{}\tspin", spun.name(0));
    assert!(seconds(&named).keys().any(|row| row.starts_with(&spins)), "{named}");
}

#[test]
fn several_groups_are_counted_one_by_one_and_sampled_together() {
    require!("perf", "root");
    let spun = spun!();
    let (names, clock) = (format!("{},{}", spun.name(0), spun.name(1)), spun.clock(1.5));
    let counting = ["stat", "-x,", "-e", "task-clock,cs", "-a", "--for-each-cgroup", &names, "--", "sh", "-c", &clock];
    let ran = spun.dir.ironlaw(&counting).succeeds();
    let lines: Vec<Vec<&str>> = ran.err.lines().map(|line| line.split(',').collect()).collect();
    let keys: Vec<_> = lines.iter().map(|line| (line[2].to_string(), line[3].to_string())).collect();
    let expected = [("task-clock", 0), ("cs", 0), ("task-clock", 1), ("cs", 1)];
    assert_eq!(keys, expected.map(|(event, at)| (event.to_string(), spun.name(at))), "{}", ran.err);
    for (at, account) in accounts(&ran.out).into_iter().enumerate() {
        let counted = lines[2 * at][0].parse::<f64>().unwrap() * 1e-3;
        assert!((counted - account).abs() < 0.1 + account * 0.1, "{at}: counted {counted} of {account} s");
    }
    let args = ["record", "-G", &names, "-g", "no", "-o", "run", "--max-overhead", "100", "--", "sh", "-c", &clock];
    let accounts = accounts(&spun.dir.ironlaw(&args).succeeds().out);
    let rows = seconds(&spun.dir.report("run.ironlaw", "--by cgroup"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (at, account) in accounts.into_iter().enumerate() {
        assert!((rows[&spun.name(at)] - account).abs() < 0.1 + account * 0.1, "{at}: {rows:?} of {account} s");
    }
}

#[test]
fn a_process_that_moves_counts_for_both_groups() {
    require!("perf", "root");
    let spun = spun!();
    let (pid, next) = (spun.inside[0].pid().to_string(), spun.groups[1].0.join("cgroup.procs"));
    let moves = format!("sleep 0.7; echo {pid} > {}; sleep 0.7", next.display());
    spun.dir.ironlaw(&["record", "-p", &pid, "-o", "run", "--", "sh", "-c", &moves]).succeeds();
    let rows = seconds(&spun.dir.report("run.ironlaw", "--by cgroup"));
    assert!([0, 1].iter().all(|at| rows.get(&spun.name(*at)).is_some_and(|s| *s > 0.05)), "{rows:?}");
}

#[test]
fn perfs_groups_are_imported() {
    require!("perf", "root");
    let spun = spun!();
    let file = spun.dir.join("perf.data");
    let perf = Command::new("perf")
        .args(["record", "-q", "-a", "--all-cgroups", "-F", "99", "-o"])
        .arg(&file)
        .args(["sleep", "1"])
        .output();
    if !perf.is_ok_and(|done| done.status.success()) {
        return crate::support::skip("perf", "perf record --all-cgroups is not here");
    }
    let rows = seconds(&spun.dir.report("perf.data", "--by cgroup"));
    assert!([0, 1].iter().all(|at| rows.get(&spun.name(*at)).is_some_and(|s| *s > 0.05)), "{rows:?}");
}

#[test]
fn a_recording_without_groups_says_why() {
    let dir = Dir::new();
    let fixture = format!("{}/tests/fixtures/perfdata/perf.data.hybrid_topology", env!("CARGO_MANIFEST_DIR"));
    let refused = dir.ironlaw(&["report", &fixture, "--by", "cgroup"]);
    assert!(refused.code == Some(1) && refused.err.contains("holds no control groups"), "{refused:?}");
    assert!(refused.err.contains("perf record --all-cgroups"), "{refused:?}");
}

#[test]
fn a_report_groups_what_a_thread_did_by_where_it_was() {
    let mut synthetic = Synthetic::new();
    synthetic.alive(41, "main").joins(0, 41, "/web").joins(500, 41, "/batch");
    synthetic.samples(5, 41, "app!main", 3).samples(600, 41, "app!main", 1);
    let by = vec![GroupKey::Cgroup, GroupKey::Comm];
    let report = Report::build(&synthetic.finish(), &ReportOptions { by, ..ReportOptions::default() }).unwrap();
    let rows = report.groups.unwrap().rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.self_samples)).collect();
    assert_eq!(rows, [("/web\tmain", 3), ("/batch\tmain", 1)]);
}
