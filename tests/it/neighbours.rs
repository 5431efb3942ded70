//! Neighbours and canaries from the outside: who is named, who is not, and what a recording without them says.

use crate::program::{Dir, WORKLOADS};
use crate::schema::keeps_to;
use serde_json::Value;
use std::path::{Path, PathBuf};

const WORKLOAD: [&str; 4] = [WORKLOADS, "workload", "spin", "--threads=1"];

fn rows(report: &Value) -> Vec<&Value> {
    report["neighbours"]["rows"].as_array().map_or(Vec::new(), |rows| rows.iter().collect())
}

#[test]
fn others_are_named_with_what_they_used_and_the_target_is_not_among_them() {
    require!("perf");
    let dir = Dir::new();
    let other = dir.start(&["workload", "spin", "--threads=1", "--seconds=30"]);
    let record = ["record", "--neighbours", "-F", "97", "-o", "run", "--"];
    dir.ironlaw(&[&record[..], &WORKLOAD, &["--seconds=2"]].concat()).succeeds();
    let report = dir.report("run.ironlaw", "");
    keeps_to("report", &report);
    let found = |pid: &Value| rows(&report).into_iter().find(|row| row["pid"] == *pid).cloned();
    let row = found(&Value::from(other.pid())).unwrap_or_else(|| panic!("{}", report["neighbours"]));
    assert_eq!((row["kind"].as_str(), row["name"].as_str()), (Some("process"), Some("ironlaw")));
    assert!(row["cpu_s"].as_f64().is_some_and(|cpu| cpu > 0.0), "{row}");
    for process in report["processes"].as_array().into_iter().flatten() {
        assert_eq!(found(&process["pid"]), None, "the target is its own neighbour");
    }
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert!(text.contains("Neighbours"), "{text}");
    let markdown = dir.line("report --format markdown run.ironlaw").succeeds().out;
    assert!(markdown.contains("### Neighbours"), "{markdown}");
}

#[test]
fn canaries_tell_of_memory_and_of_what_they_cost() {
    require!("perf");
    let dir = Dir::new();
    // Long enough for a round on a machine where others take most of the CPU.
    let record = ["record", "--probe", "-F", "97", "-o", "run", "--"];
    dir.ironlaw(&[&record[..], &["sleep", "6"]].concat()).succeeds();
    let report = dir.report("run.ironlaw", "");
    keeps_to("report", &report);
    assert!(
        report["metrics"]["probe_cpu_share"]["value"].as_f64().is_some_and(|share| share > 0.0),
        "{}",
        report["metrics"]
    );
    assert_eq!(report["metrics"]["probe_dram_latency"]["unit"], "ns");
    assert_eq!(report["neighbours"], Value::Null, "they were not asked for");
}

#[test]
fn a_recording_without_them_says_nothing_about_them() {
    require!("perf");
    let dir = Dir::new();
    dir.ironlaw(&[&["record", "-o", "run", "--"], &WORKLOAD[..], &["--seconds=0.5"]].concat()).succeeds();
    let report = dir.report("run.ironlaw", "");
    assert_eq!((&report["neighbours"], &report["metrics"]["probe_dram_latency"]), (&Value::Null, &Value::Null));
    assert!(!dir.line("report run.ironlaw").succeeds().out.contains("Neighbours"));
}

#[test]
fn a_machine_that_is_the_target_has_no_neighbours_and_says_so() {
    require!("perf");
    let dir = Dir::new();
    let ran = dir.line("record --neighbours -a -d 0.3 -o run").succeeds();
    assert!(ran.err.contains("no neighbours to record"), "{}", ran.err);
}

/// A control group whose members get sixteen times the CPU time of others.
struct Heavy(PathBuf);

impl Heavy {
    fn new() -> Option<Heavy> {
        let name = format!("ironlaw-heavy-{}", std::process::id());
        for mount in ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"] {
            let group = Heavy(Path::new(mount).join(&name));
            let written = |file: &str, text: &str| std::fs::write(group.0.join(file), text).is_ok();
            if std::fs::create_dir(&group.0).is_ok()
                && (written("cpu.weight", "1600") || written("cpu.shares", "16384"))
            {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The finding that threads wait for CPUs, and the sum of what its culprits had of these.
fn waiting_for_cpus(report: &Value) -> Option<(&Value, f64)> {
    let found = report["findings"]["found"].as_array()?.iter().find(|found| found["rule"] == "cpu-queue")?;
    let shares = found["culprits"].as_array()?.iter().map(|culprit| culprit["share"].as_f64().unwrap());
    Some((found, shares.sum()))
}

#[test]
fn waiting_for_cpus_names_who_had_them_without_being_asked_for_neighbours() {
    require!("perf", "root");
    // Whatever else runs on the machine, most of the CPU is the burner's.
    let Some(heavy) = Heavy::new() else {
        return crate::support::skip("cpu-weight", "no control group with a weight can be made here");
    };
    let dir = Dir::new();
    std::fs::copy(WORKLOADS, dir.join("burner")).unwrap();
    let pinned = |name: &str| {
        let record = ["-q", "record", "--off-cpu", "-I", "200ms", "-o", name, "--", "taskset", "-c", "0"];
        let paced = [WORKLOADS, "workload", "paced-long", "--threads=1", "--seconds=3"];
        dir.ironlaw(&[&record[..], &paced].concat()).succeeds();
        let report = dir.report(&format!("{name}.ironlaw"), "");
        keeps_to("report", &report);
        report
    };
    let burn = ["-c", "0", "./burner", "workload", "spin", "--threads=8", "--seconds=120"];
    let burning = crate::program::Running::of(&mut dir.command("taskset", &burn));
    std::fs::write(heavy.0.join("cgroup.procs"), burning.pid().to_string()).unwrap();
    let report = pinned("beside");
    let (found, sum) = waiting_for_cpus(&report).unwrap_or_else(|| panic!("{}", report["findings"]));
    let first = &found["culprits"][0];
    assert_eq!((&first["name"], &first["kind"]), (&Value::from("burner"), &Value::from("process")), "{found}");
    assert_eq!(first["pid"], burning.pid(), "{found}");
    assert!(first["share"].as_f64() > Some(0.5) && sum <= 1.0 + 1e-9, "{found}");
    let said = |key: &str| found[key].as_str().unwrap().to_string();
    assert!(said("claim").contains("burner") && !said("next_step").contains("no more busy threads"), "{found}");
    let text = dir.line("report beside.ironlaw").succeeds().out;
    assert!(text.contains("burner"), "{text}");
    assert_eq!(report["neighbours"], Value::Null, "they were not asked for");
    drop(burning);
    let report = pinned("alone");
    let named = waiting_for_cpus(&report).map(|(found, _)| found["culprits"].to_string());
    assert!(!named.as_ref().is_some_and(|culprits| culprits.contains("burner")), "{named:?}");
}
