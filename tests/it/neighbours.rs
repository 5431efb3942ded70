//! Neighbours and canaries from the outside: who is named, who is not, and what a recording without them says.

use crate::program::{Dir, WORKLOADS};
use crate::schema::keeps_to;
use serde_json::Value;

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
