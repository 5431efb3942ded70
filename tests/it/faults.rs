//! Faults around a recording that a test can cause: targets that stop, are recorded twice or lose their group, kernels and limits
//! that refuse. The table of all is `assets/guide/faults.md`; those that take long or change the machine stand in `tests/faults.py`.

use crate::program::{Dir, IRONLAW, Ran, Running, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

fn spinning(dir: &Dir) -> Running {
    dir.start(&["workload", "spin", "--threads", "1", "--seconds", "120"])
}

fn recorder(dir: &Dir, name: &str, target: &[&str]) -> Running {
    let recorder = dir.start(&[&["record", "-o", name, "-I", "100"], target].concat());
    until("it has written its first samples", || dir.join(&format!("{name}.ironlaw/samples-000000.parquet")).exists());
    recorder
}

fn count(report: &Value) -> u64 {
    report["samples"]["count"].as_u64().unwrap()
}

#[test]
fn a_target_that_is_stopped_is_recorded_to_the_end_and_on_when_it_goes_on() {
    require!("perf");
    let dir = Dir::new();
    let target = spinning(&dir);
    let pid = target.pid().to_string();
    let mut recorder = recorder(&dir, "run", &["-p", &pid, "-d", "3"]);
    send(Signal::STOP, target.pid());
    std::thread::sleep(Duration::from_millis(700));
    send(Signal::CONT, target.pid());
    assert_eq!(recorder.ends().code, Some(0));
    let report = dir.report("run.ironlaw", "");
    assert!(count(&report) > 0 && report["duration_s"].as_f64() >= Some(2.9), "{}", report["samples"]);
    send(Signal::STOP, target.pid());
    dir.line(&format!("-q record -o stopped -p {pid} -d 0.5")).succeeds();
    let report = dir.report("stopped.ironlaw", "");
    assert!(count(&report) == 0 && report["duration_s"].as_f64() < Some(20.0), "{}", report["samples"]);
    send(Signal::CONT, target.pid());
}

#[test]
fn two_recorders_of_one_target_have_a_whole_recording_each() {
    require!("perf");
    let dir = Dir::new();
    let target = spinning(&dir);
    let pid = target.pid().to_string();
    let mut both = ["one", "two"].map(|name| recorder(&dir, name, &["-p", &pid, "-d", "2"]));
    for (name, recorder) in ["one", "two"].into_iter().zip(&mut both) {
        let ran = recorder.ends();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let report = dir.report(&format!("{name}.ironlaw"), "");
        let coverage = report["samples"]["coverage"]["value"].as_f64();
        assert!(count(&report) > 20 && coverage > Some(0.8), "{name}: {}", report["samples"]);
    }
}

/// A control group below the v2 mount; removed when the test ends.
pub struct Group(pub PathBuf);

impl Group {
    pub fn create(name: &str) -> Option<Group> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let root = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?.split(' ').nth(1)?;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(root).join(format!("ironlaw-{name}-{}-{next}", std::process::id()));
        fs::create_dir(&path).ok()?;
        Some(Group(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_control_group_that_is_removed_ends_the_recording_with_all_it_has() {
    require!("perf", "root");
    let Some(group) = Group::create("faults") else {
        crate::support::skip("cgroup2", "no writable cgroup v2 mount");
        return;
    };
    let dir = Dir::new();
    let mut target = spinning(&dir);
    fs::write(group.0.join("cgroup.procs"), target.pid().to_string()).unwrap();
    let mut recorder = recorder(&dir, "run", &["-G", group.0.to_str().unwrap(), "-d", "100"]);
    target.0.kill().unwrap();
    target.0.wait().unwrap();
    until("the group can be removed", || fs::remove_dir(&group.0).is_ok());
    let ran = recorder.ends();
    assert!(ran.code == Some(0) && !ran.err.contains("panicked"), "{ran:?}");
    let report = dir.report("run.ironlaw", "");
    assert!(count(&report) > 0 && report["duration_s"].as_f64() < Some(60.0), "{}", report["samples"]);
    assert!(!report["notes"].to_string().contains("stopped before"), "{}", report["notes"]);
}

/// Refuses `perf_event_open` and `bpf` with the error of its first argument, as containers do, and becomes the rest.
const FILTERED: &str = "import ctypes, os, struct, sys\n\
    numbers = {'x86_64': (298, 321), 'aarch64': (241, 280)}[os.uname().machine]\n\
    step = lambda code, yes, no, value: struct.pack('HBBI', code, yes, no, value)\n\
    code = step(0x20, 0, 0, 0) + step(0x15, 2, 0, numbers[0]) + step(0x15, 1, 0, numbers[1])\n\
    code += step(0x06, 0, 0, 0x7fff0000) + step(0x06, 0, 0, 0x00050000 | int(sys.argv[1]))\n\
    kept = ctypes.create_string_buffer(code)\n\
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(code) // 8, ctypes.addressof(kept)))\n\
    prctl = ctypes.CDLL(None).prctl\n\
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4\n\
    assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.addressof(program), 0, 0) == 0\n\
    os.execv(sys.argv[2], sys.argv[2:])";

#[test]
fn a_seccomp_filter_is_named_with_how_to_run_without_and_no_command_is_started() {
    require!("perf", "python3");
    let dir = Dir::new();
    for (number, said) in [("1", "and the seccomp filter in force"), ("38", "the seccomp filter in force takes")] {
        let words = ["-c", FILTERED, number, IRONLAW, "record", "-o", "run", "--", "touch", "ran"];
        let ran = Ran::of(&mut dir.command("python3", &words));
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains(said) && ran.err.contains("seccomp=unconfined"), "{}", ran.err);
        assert!(!dir.join("ran").exists() && !dir.join("run.ironlaw").exists());
    }
}

#[test]
fn a_limit_of_locked_memory_makes_smaller_buffers_and_is_named_with_its_remedy() {
    require!("perf", "root");
    let dir = Dir::new();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = dir.join("ironlaw");
    fs::copy(IRONLAW, &program).unwrap();
    let program = program.to_str().unwrap();
    let line =
        format!("ulimit -l 0; exec {program} record -o run -- {program} workload spin --threads 1 --seconds 0.5");
    // A user of its own: locked memory is counted by user.
    let user = ["--reuid", "65533", "--regid", "65533", "--clear-groups", "sh", "-c", &line];
    let ran = Ran::of(dir.command("setpriv", &user).env("HOME", dir.path()));
    if fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").is_ok_and(|level| level.trim() != "2") {
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        return;
    }
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("could be locked instead of") && ran.err.contains("ulimit -l"), "{}", ran.err);
    assert!(count(&dir.report("run.ironlaw", "")) > 20);
}
