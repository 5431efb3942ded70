//! A capture on another machine: a script stands for ssh and runs the command here, and either side is killed.

use crate::program::{Dir, IRONLAW, Ran, Running, WORKLOADS, until};
use crate::pty::{End, Pty};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs what ssh would give to the shell of the host, after these lines.
fn as_ssh(dir: &Dir, command: &mut Command, lines: &str) {
    let script = dir.join("ssh");
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\nfor last; do :; done\n{lines}\nexec sh -c \"exec $last\"\n",
        dir.join("arguments").display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    command.env("IRONLAW_SSH", script);
}

fn remote(dir: &Dir, args: &[&str], lines: &str) -> Command {
    let mut command = dir.command(IRONLAW, args);
    as_ssh(dir, &mut command, lines);
    command
}

/// Processes whose command line contains `mark`.
fn processes(mark: &str) -> Vec<i32> {
    let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&line).replace('\0', " ").contains(mark).then_some(pid)
    });
    found.collect()
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// The host's side of the session with this mark in its command line.
fn host_side(mark: &str) -> i32 {
    let mut found = None;
    let is_host = |pid: &i32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == "ironlaw")
            && processes(" stream -- ").contains(pid)
    };
    until("the host's side runs", || {
        found = processes(mark).into_iter().find(is_host);
        found.is_some()
    });
    found.unwrap()
}

fn target(dir: &Dir, mark: &str) -> Running {
    dir.start(&["workload", "hotspot", "--threads", "1", "--seconds", mark])
}

#[test]
fn a_program_of_another_machine_is_shown_here_and_nothing_is_left_there() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86301");
    let pid = target.pid().to_string();
    let args = ["top", "--host", "me@web1", "--remote-path", IRONLAW, "-I", "86", "-p", &pid];
    let mut pty = Pty::start(&mut remote(&dir, &args, "echo Welcome to web1"), (100, 30));
    pty.wait_for("LIVE");
    pty.press("2");
    pty.wait_for("checksum_block");
    let mark = format!("-I 86 -p {pid}");
    host_side(&mark);
    pty.write(":ops rate:5");
    pty.press("Enter");
    pty.wait_for("counted from the start");
    pty.press("3 Enter");
    pty.wait_for("checksum_block");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    until("nothing is left", || processes(&mark).is_empty());
    let arguments = fs::read_to_string(dir.join("arguments")).unwrap();
    assert!(arguments.contains("\n--\nme@web1\n") && arguments.contains("'stream' '--' 'top' '--host'"), "{arguments}");
}

#[test]
fn a_recording_of_another_machine_is_like_one_of_this() {
    require!("perf");
    let dir = Dir::new();
    let args = [
        "record",
        "--host",
        "web1",
        "--remote-path",
        IRONLAW,
        "-o",
        "run",
        "--",
        "sh",
        "-c",
        "echo 'on  the host'; \"$@\"; exit 7",
        "sh",
        WORKLOADS,
        "workload",
        "hotspot",
        "--threads",
        "1",
        "--seconds",
        "2",
    ];
    let ran = Ran::of(&mut remote(&dir, &args, ""));
    assert_eq!(ran.code, Some(7), "{}", ran.err);
    assert!(ran.err.contains("on  the host\n") && ran.out.is_empty(), "{ran:?}");
    let report = dir.report("run.ironlaw", "");
    // Of the CPU time that it had, however little.
    let coverage = report["samples"]["coverage"]["value"].as_f64().expect("it was counted");
    assert!(report["samples"]["count"].as_u64() > Some(100) && (0.9..1.1).contains(&coverage), "{}", report["samples"]);
    assert!(report["functions"].to_string().contains("checksum_block"), "{}", report["functions"]);
    assert!(!report["notes"].to_string().contains("connection"), "{}", report["notes"]);
}

#[test]
fn ctrl_c_ends_the_recording_with_all_that_the_host_has() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86302");
    let pid = target.pid().to_string();
    let args = ["record", "--host", "web1", "--remote-path", IRONLAW, "-I", "100", "-o", "run", "-p", &pid];
    let mut recorder = Running::of(&mut remote(&dir, &args, ""));
    until("it has written its first samples", || dir.join("run.ironlaw/samples-000000.parquet").exists());
    kill_process(Pid::from_raw(recorder.pid() as i32).unwrap(), Signal::INT).unwrap();
    let ran = recorder.ends();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = dir.report("run.ironlaw", "");
    assert!(report["functions"].to_string().contains("checksum_block"), "{}", report["functions"]);
    assert!(processes(&format!("-o run -p {pid}")).is_empty());
}

#[test]
fn whichever_side_is_killed_the_other_ends_and_what_came_is_kept() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86303");
    let pid = target.pid().to_string();
    for kills_host in [true, false] {
        let args = ["record", "--host", "web1", "--remote-path", IRONLAW, "-I", "100", "-f", "-o", "run", "-p", &pid];
        let mut recorder = Running::of(&mut remote(&dir, &args, ""));
        until("it has written its first samples", || dir.join("run.ironlaw/samples-000000.parquet").exists());
        let mark = format!("-f -o run -p {pid}");
        let host = host_side(&mark);
        if kills_host {
            kill(host);
            let ran = recorder.ends();
            assert_eq!(ran.code, Some(1), "{}", ran.err);
            assert!(ran.err.contains("the connection to web1 was lost"), "{}", ran.err);
            let report: Value = dir.report("run.ironlaw", "");
            assert!(report["notes"].to_string().contains("the connection to web1 was lost"), "{}", report["notes"]);
        } else {
            recorder.0.kill().unwrap();
            recorder.0.wait().unwrap();
        }
        until("nothing is left", || processes(&mark).is_empty());
        assert!(dir.report("run.ironlaw", "")["samples"]["count"].as_u64() > Some(0));
        fs::remove_dir_all(dir.join("run.ironlaw")).unwrap();
    }
}

#[test]
fn a_host_that_is_killed_leaves_the_session_with_its_history() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86304");
    let pid = target.pid().to_string();
    let args = ["top", "--host", "web1", "--remote-path", IRONLAW, "-I", "87", "-p", &pid];
    let mut pty = Pty::start(&mut remote(&dir, &args, ""), (100, 30));
    pty.wait_for("LIVE");
    pty.press("2");
    pty.wait_for("checksum_block");
    kill(host_side(&format!("-I 87 -p {pid}")));
    assert!(pty.wait_for("ENDED").contains("checksum_block"), "{}", pty.text());
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn what_is_wrong_on_the_way_is_said() {
    let dir = Dir::new();
    let run = |path: &str, lines: &str| {
        Ran::of(&mut remote(&dir, &["record", "--host", "web1", "--remote-path", path, "-p", "999999999"], lines))
    };
    for (path, lines, code, words) in [
        (IRONLAW, "", 1, "web1: process 999999999 does not exist"),
        ("/nowhere/ironlaw", "", 1, "web1 has no program '/nowhere/ironlaw'"),
        (IRONLAW, "echo Permission denied >&2; exit 255", 1, "could not connect to web1"),
        (IRONLAW, "echo 'ironlaw-stream 3 0.0.1'; exit 0", 1, "web1 has ironlaw 0.0.1, and this is "),
        (IRONLAW, "yes", 1, "ended before its capture began"),
        (IRONLAW, "echo error: unrecognized subcommand >&2; exit 2", 1, "does not know remote sessions"),
        ("false", "", 1, "ended before its capture began"),
    ] {
        let ran = run(path, lines);
        assert_eq!(ran.code, Some(code), "{words}: {}", ran.err);
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert!(run(IRONLAW, "echo Permission denied >&2; exit 255").err.contains("Permission denied"));
    for args in [&["record", "--host", "web1"][..], &["record", "--host", "-oProxyCommand=x", "-p", "1"]] {
        assert_eq!(Ran::of(&mut remote(&dir, args, "")).code, Some(2), "{args:?}");
    }
}

/// What a hostile host sends costs an error and nothing else.
#[test]
fn a_hostile_host_is_refused() {
    let dir = Dir::new();
    let version = env!("CARGO_PKG_VERSION");
    for (bytes, words) in [
        (r"\377\377\377\377\002", "malformed: a message of 4294967295 bytes"),
        (r"\001\000\000\000\011x", "unknown kind 9"),
        (r"\002\000\000\000\001{}", "malformed"),
        (r"\002\000\000\000\002\377\377", "malformed"),
        (r"\002\000\000\000", "ends within a message"),
    ] {
        let lines = format!("printf 'ironlaw-stream 3 {version}\\n{bytes}'; exec cat >/dev/null");
        let ran = Ran::of(&mut remote(
            &dir,
            &["record", "--host", "web1", "-p", "1"],
            &lines.replace("exec cat >/dev/null", "exit 0"),
        ));
        assert!(ran.code == Some(1) && ran.err.contains(words), "{bytes}: {}", ran.err);
    }
}
