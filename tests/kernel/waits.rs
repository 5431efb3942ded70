//! Waits by every source that this machine and user allow, on a program whose threads share one lock.

use super::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const IRONLAW: &str = env!("CARGO_BIN_EXE_ironlaw");
const NOBODY: &str = "65534";

/// Who runs ironlaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    /// Whoever runs the test.
    Itself,
    /// Root, whom the kernel refuses programs.
    WithoutBpf,
    /// A user without privileges, in place of root.
    Nobody,
}

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

    /// Runs ironlaw in the folder, without the privileges that it is to give up.
    #[track_caller]
    fn run(&self, as_whom: User, arguments: &[&str]) -> String {
        let nobody = ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
        let no_bpf = ["--inh-caps=-bpf,-sys_admin", "--bounding-set=-bpf,-sys_admin"];
        let mut command = if as_whom == User::Itself { Command::new(self.program()) } else { Command::new("setpriv") };
        match as_whom {
            User::Itself => {}
            User::WithoutBpf => drop(command.args(no_bpf).arg(self.program())),
            User::Nobody => drop(command.args(nobody).arg(self.program())),
        }
        let done = command.args(arguments).env("TMPDIR", self.0.path()).current_dir(&self.0).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Records the workload and checks that its waits are those for its lock.
    #[track_caller]
    fn names_the_lock(&self, as_whom: User, source: &str) {
        let program = self.program();
        let program = program.to_str().unwrap();
        let workload = [program, "workload", "mutex", "--threads=4", "--seconds=2s"];
        self.run(as_whom, &[&["record", "--force", "--off-cpu", "-o", source, "--"], &workload[..]].concat());
        let about = fs::read_to_string(self.0.path().join(format!("{source}.ironlaw/meta.json"))).unwrap();
        let about: Value = serde_json::from_str(&about).unwrap();
        assert_eq!(about["waits"], source);
        let report = self.run(as_whom, &["report", "--format", "json", &format!("{source}.ironlaw")]);
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
        // Where wake-ups are not seen, time blocked includes the wait for a CPU after it.
        let queued = waits["queued_after_wake"]["total_s"].as_f64().unwrap_or_default();
        let to_running = locked + queued;
        // Sampled waits are known within an error.
        let error = waits["coverage"]["error_s"].as_f64().unwrap_or_default();
        assert!(
            to_running > 0.5 && unknown < locked / 2.0 + 2.0 * error,
            "locked {locked} s, unknown {unknown} s: {waits}"
        );
    }
}

fn paranoid() -> i32 {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap().trim().parse().unwrap()
}

#[test]
fn root_has_waits_summed_in_the_kernel() {
    require!("perf", "root");
    if !sums_waits() {
        support::skip("bpf", "this kernel sums no waits");
        return;
    }
    Place::new().names_the_lock(User::Itself, "kernel_sums");
}

/// Whether the kernel has the tracepoint where a wait ends.
fn sums_waits() -> bool {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    symbols.lines().any(|line| line.ends_with("__traceiter_sched_exit_tp"))
}

/// Switches of a thread of its own will, and the seconds it waited for a CPU.
fn kernels_own_counts(pid: u32) -> (f64, f64) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    let waited = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    let waited: f64 = waited.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    (switches.trim().parse().unwrap(), waited * 1e-9)
}

#[test]
fn sums_of_short_waits_agree_with_what_the_scheduler_itself_counts() {
    require!("perf", "root", "python3");
    if !sums_waits() {
        support::skip("bpf", "this kernel sums no waits");
        return;
    }
    // On one CPU that is never idle: there the scheduler counts from the wake-up on, and not from when the CPU has woken.
    let pinned = "import os,time\nos.sched_setaffinity(0,{min(os.sched_getaffinity(0))})\n";
    let _busy = Workload::python(&format!("{pinned}while True: pass"));
    let workload = Workload::python(&format!("{pinned}while True: time.sleep(0.0002)"));
    // Without hardware counters: a virtual machine takes tens of microseconds to switch them in before a thread runs.
    let plan = Plan { off_cpu: true, max_overhead: Some(0.0), ..plan(workload.target(), 2.0) };
    let (sampler, pid) = (Sampler::open(&plan, &Clock::start()).unwrap(), workload.pid());
    let (captured, counts) = run_beside(sampler, move || kernels_own_counts(pid));
    let (switches, waited) = (counts[1].0 - counts[0].0, counts[1].1 - counts[0].1);
    let spans: Vec<_> = captured.off_cpu().collect();
    let blocked = || spans.iter().filter(|span| span.state != TaskState::Runnable);
    let count: u64 = blocked().map(|span| span.count).sum();
    let queued: f64 = spans.iter().map(|span| span.queued.unwrap_or_default().seconds()).sum();
    let off: f64 = spans.iter().map(|span| span.whole().seconds()).sum();
    let on = captured.sampled_seconds(|sample| sample.tid == workload.pid());
    let whole = captured.ended.sampled.seconds();
    assert!(count > 500 && (spans.len() as u64) < count / 2, "{count} waits in {} rows", spans.len());
    // The scheduler's own counts also cover the moments before and after the capture.
    assert!((0.8..=1.001).contains(&(count as f64 / switches)), "{count} waits, {switches} switches");
    // The scheduler counts from when the thread is in a queue to when it is chosen, the sums from its wake-up to its return.
    let range = 0.7 * waited - 0.02..waited + 0.02 + 20e-6 * count as f64;
    assert!(range.contains(&queued), "{queued:.3} s queued of {waited:.3} s, {count} waits");
    assert!(((off + on) / whole - 1.0).abs() < 0.1, "off {off:.3} s, on {on:.3} s of {whole:.3} s");
    let estimated = blocked().filter(|span| span.stack.is_none()).map(|span| span.whole().seconds()).sum::<f64>();
    assert!(estimated < 0.05 * off, "{estimated:.3} s without a stack of {off:.3} s");
}

#[test]
fn root_without_tracefs_sees_every_wait_with_its_stack() {
    require!("perf", "root");
    if Path::new("/sys/kernel/tracing/events").exists() {
        support::skip("no-tracefs", "tracefs is mounted");
        return;
    }
    Place::new().names_the_lock(User::WithoutBpf, "switch_events");
}

#[test]
fn an_ordinary_user_sees_every_duration_and_samples_what_for() {
    require!("perf");
    let is_root = support::missing("root").is_none();
    if paranoid() != 2 || (is_root && Command::new("setpriv").arg("--version").output().is_err()) {
        support::skip("paranoid-2", format!("perf_event_paranoid is {}, or there is no setpriv", paranoid()));
        return;
    }
    Place::new().names_the_lock(if is_root { User::Nobody } else { User::Itself }, "switch_records");
}

#[test]
fn the_demo_works_for_an_ordinary_user_after_root_ran_it() {
    require!("perf", "root");
    let place = Place::new();
    let demo = ["demo", "--headless", "--seconds", "1", "--threads", "2"];
    for as_whom in [User::Itself, User::Nobody, User::Nobody] {
        let report = place.run(as_whom, &demo);
        assert!(report.contains("Off the CPU") && report.contains("rotate_logs"), "{report}");
    }
}

#[test]
fn spans_add_up_to_the_time_of_a_thread_that_sleeps_and_each_sleep_has_its_own_stack() {
    require!("perf", "root", "python3");
    let workload = Workload::python("import time\nwhile True: time.sleep(0.02)");
    let captured = capture(&Plan { off_cpu: true, ..plan(workload.target(), 1.5) });
    let spans: Vec<_> = captured.off_cpu().collect();
    let off: f64 = spans.iter().map(|span| (span.blocked + span.queued.unwrap_or_default()).seconds()).sum();
    let on = captured.sampled_seconds(|sample| sample.tid == workload.pid());
    let whole = captured.ended.sampled.seconds();
    assert!(((off + on) / whole - 1.0).abs() < 0.1, "off {off:.3} s, on {on:.3} s of {whole:.3} s");
    // A preemption may be too short to come with its stack.
    let sleeps = spans.iter().filter(|span| span.state != TaskState::Runnable && span.blocked > Nanos(15_000_000));
    // The capture ends within the last: a thread that wakes before it is looked at shows no stack.
    let last = sleeps.clone().map(|span| span.at).max();
    for span in sleeps.filter(|span| Some(span.at) != last) {
        assert!(span.stack.is_some() && !span.estimated && span.count == 1, "{span:?}, the last begins at {last:?}");
    }
}
