//! Waits by every source that this machine and user allow, on a program whose threads share one lock.

use super::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const IRONLAW: &str = env!("CARGO_BIN_EXE_ironlaw");
const NOBODY: &str = "65534";

/// A folder that any user may write to, with the program in it; removed when the test ends.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        fs::copy(IRONLAW, folder.path().join("ironlaw")).unwrap();
        Place(folder)
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("ironlaw")
    }

    /// Runs ironlaw in the folder, as an ordinary user if root is to give up its privileges.
    #[track_caller]
    fn run(&self, ordinary: bool, arguments: &[&str]) -> String {
        let drop = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
        let mut command = if ordinary { Command::new("setpriv") } else { Command::new(self.program()) };
        if ordinary {
            command.args(drop).arg(self.program());
        }
        let done = command.args(arguments).env("TMPDIR", self.0.path()).current_dir(&self.0).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Records the workload and checks that its waits are those for its lock.
    #[track_caller]
    fn names_the_lock(&self, ordinary: bool, source: &str) {
        let program = self.program();
        let program = program.to_str().unwrap();
        let workload = [program, "workload", "mutex", "--threads=4", "--seconds=2s"];
        self.run(ordinary, &[&["record", "--force", "--off-cpu", "-o", source, "--"], &workload[..]].concat());
        let about = fs::read_to_string(self.0.path().join(format!("{source}.ironlaw/meta.json"))).unwrap();
        let about: Value = serde_json::from_str(&about).unwrap();
        assert_eq!(about["waits"], source);
        let report = self.run(ordinary, &["report", "--format", "json", &format!("{source}.ironlaw")]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let waits = &report["off_cpu"];
        let seconds = |row: &Value| row["total_s"].as_f64().unwrap();
        let is_lock = |path: &&Value| {
            let frames = path["frames"].as_array().unwrap();
            path["cause"] == "lock" && frames.iter().any(|frame| frame == "update_shared_index")
        };
        let locked: f64 = waits["paths"].as_array().unwrap().iter().filter(is_lock).map(seconds).sum();
        let unknown = waits["causes"].as_array().unwrap().iter().filter(|row| row["cause"] == "unknown");
        let unknown: f64 = unknown.map(seconds).sum();
        assert!(locked > 0.5 && unknown < locked / 2.0, "locked {locked} s, unknown {unknown} s: {waits}");
    }
}

fn paranoid() -> i32 {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap().trim().parse().unwrap()
}

#[test]
fn root_without_tracefs_sees_every_wait_with_its_stack() {
    require!("perf", "root");
    if Path::new("/sys/kernel/tracing/events").exists() {
        support::skip("no-tracefs", "tracefs is mounted");
        return;
    }
    Place::new().names_the_lock(false, "switch_events");
}

#[test]
fn an_ordinary_user_sees_every_duration_and_samples_what_for() {
    require!("perf");
    let is_root = support::missing("root").is_none();
    if paranoid() != 2 || (is_root && Command::new("setpriv").arg("--version").output().is_err()) {
        support::skip("paranoid-2", format!("perf_event_paranoid is {}, or there is no setpriv", paranoid()));
        return;
    }
    Place::new().names_the_lock(is_root, "switch_records");
}

#[test]
fn the_demo_works_for_an_ordinary_user_after_root_ran_it() {
    require!("perf", "root");
    let place = Place::new();
    let demo = ["demo", "--headless", "--seconds", "1", "--threads", "2"];
    for ordinary in [false, true, true] {
        let report = place.run(ordinary, &demo);
        assert!(report.contains("Off the CPU") && report.contains("rotate_logs"), "{report}");
    }
}

#[test]
fn a_switch_events_spans_add_up_to_the_time_of_a_thread_that_sleeps() {
    require!("perf", "root");
    let workload = Workload::python("import time\nwhile True: time.sleep(0.02)");
    let captured = capture(&Plan { off_cpu: true, ..plan(workload.target(), 1.5) });
    let spans: Vec<_> = captured.off_cpu().collect();
    let off: f64 = spans.iter().map(|span| (span.blocked + span.queued.unwrap_or_default()).seconds()).sum();
    let on = captured.sampled_seconds(|sample| sample.tid == workload.pid());
    let whole = captured.ended.sampled.seconds();
    assert!(((off + on) / whole - 1.0).abs() < 0.1, "off {off:.3} s, on {on:.3} s of {whole:.3} s");
    assert!(spans.iter().all(|span| span.stack.is_some() && !span.estimated));
}
