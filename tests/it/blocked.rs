//! Threads that were blocked before the capture and still are at its end: what one attaches to when a program hangs.

use crate::program::{Dir, IRONLAW, Ran, Running, until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Four threads that wait for ever: for a lock, for events, for a pipe, and the first in a sleep.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void wait_for_lock(void) { pthread_mutex_lock(&held); }
__attribute__((noinline)) void wait_for_events(void) { struct epoll_event it; epoll_wait(epoll_create1(0), &it, 1, -1); }
__attribute__((noinline)) void wait_for_pipe(void) { int ends[2]; char byte; pipe(ends); read(ends[0], &byte, 1); }
static void *lock(void *none) { wait_for_lock(); return 0; }
static void *events(void *none) { wait_for_events(); return 0; }
static void *bytes(void *none) { wait_for_pipe(); return 0; }
int main(int count, char **words) {
    pthread_t thread;
    pthread_mutex_lock(&held);
    pthread_create(&thread, 0, lock, 0);
    pthread_create(&thread, 0, events, 0);
    pthread_create(&thread, 0, bytes, 0);
    sleep(600);
    _exit(0);
}
"#;

/// Builds the program and starts it through `command`; all its threads wait when this returns.
fn hanging(dir: &Dir, command: impl Fn(&str) -> Command) -> Running {
    let (source, program) = (dir.join("hangs.c"), dir.join("hangs"));
    fs::write(&source, PROGRAM).unwrap();
    let flags = ["-O1", "-g", "-fno-optimize-sibling-calls", "-pthread", "-w", "-o", "hangs", "hangs.c"];
    Ran::of(&mut dir.command("cc", &flags)).succeeds();
    let running = Running::of(&mut command(program.to_str().unwrap()));
    let pid = running.pid();
    until("four threads wait", || {
        let tasks: Vec<_> = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().collect();
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "hangs" && tasks.len() == 4 && tasks.iter().all(|task| waits(&task.path()))
    });
    running
}

fn waits(task: &std::path::Path) -> bool {
    fs::read_to_string(task.join("status")).is_ok_and(|text| text.contains("State:\tS"))
}

/// Waits in a function that keeps a frame pointer, called by one that uses its register for a number.
const FRAMED: &str = r#"
#include <alloca.h>
#include <unistd.h>
__attribute__((noinline)) int wait_with_frame(int fd, int n) { char *room = alloca(n); int got = read(fd, room, n); return got + room[0]; }
__attribute__((noinline)) int keep_six(int fd, int a, int b, int c, int d, int e) {
    int got = wait_with_frame(fd, 64 + a);
    return got * fd + a * 3 + b * 5 + c * 7 + d * 11 + e * 13;
}
int main(void) { int ends[2]; if (pipe(ends)) return 1; return keep_six(ends[0], 1, 2, 3, 4, 5) + 1; }
"#;

#[test]
fn a_blocked_stack_goes_on_where_a_frame_pointer_is_kept_whose_caller_keeps_none() {
    require!("perf", "cc");
    let dir = Dir::new();
    fs::write(dir.join("framed.c"), FRAMED).unwrap();
    let flags = ["-O2", "-fomit-frame-pointer", "-o", "framed", "framed.c"];
    Ran::of(&mut dir.command("cc", &flags)).succeeds();
    let running = Running::of(&mut Command::new(dir.join("framed")));
    let pid = running.pid();
    until("the program waits", || {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "framed" && waits(std::path::Path::new(&format!("/proc/{pid}/task/{pid}")))
    });
    dir.line(&format!("-q record --force --off-cpu -o framed -d 1 -p {pid}")).succeeds();
    let report = dir.report("framed.ironlaw", "");
    let path = path(&report, "pipe", "wait_with_frame");
    let frames = path["frames"].as_array().unwrap();
    assert!(["keep_six", "main"].iter().all(|name| frames.iter().any(|frame| frame == name)), "{frames:?}");
}

/// The paths of a report, each as cause and whether one of its functions has this name.
fn path<'a>(report: &'a Value, cause: &str, function: &str) -> &'a Value {
    let paths = report["off_cpu"]["paths"].as_array().unwrap();
    let has = |path: &Value| path["frames"].as_array().unwrap().iter().any(|frame| frame == function);
    let found = paths.iter().find(|path| path["cause"] == cause && has(path));
    found.unwrap_or_else(|| panic!("no {cause} below {function}: {paths:#?}"))
}

fn check(report: &Value) {
    for (cause, function) in
        [("lock", "wait_for_lock"), ("events", "wait_for_events"), ("pipe", "wait_for_pipe"), ("sleep", "main")]
    {
        let path = path(report, cause, function);
        assert_eq!((&path["count"], &path["began_before"]), (&Value::from(1), &Value::from(true)), "{path}");
        let (blocked, age) = (path["total_s"].as_f64().unwrap(), path["age_s"].as_f64());
        assert!(age.is_none_or(|age| age >= blocked), "it is as old as what was seen of it: {path}");
        assert!(age.is_some() || path["age_at_least_s"].as_f64().unwrap() >= blocked, "{path}");
        assert!(blocked > 0.5, "it was blocked in every interval: {path}");
    }
    let first = &report["findings"]["found"][0];
    assert_eq!((&first["rule"], &first["share"]), (&Value::from("blocked-throughout"), &Value::from(1.0)), "{first}");
    assert!(first["claim"].as_str().unwrap().contains("`wait_for_lock`"), "{first}");
    for thread in report["threads"].as_array().unwrap() {
        assert_eq!(thread["cpu_time"]["value"], 0.0, "a thread that did not run used no CPU time: {thread}");
    }
}

#[test]
fn threads_that_hang_have_their_waits_in_every_view() {
    require!("perf", "cc");
    let dir = Dir::new();
    let program = hanging(&dir, |path| Command::new(path));
    let pid = program.pid().to_string();
    let seen = |tid: &str| fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).unwrap();
    let switches =
        |text: &str| text.lines().filter(|line| line.contains("ctxt_switches")).map(str::to_string).collect::<Vec<_>>();
    let before = switches(&seen(&pid));
    dir.line(&format!("record --off-cpu -p {pid} -d 2.5 -o run")).succeeds();
    assert_eq!(switches(&seen(&pid)), before, "it was neither stopped nor woken");
    check(&dir.report("run.ironlaw", ""));
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert!(text.contains("blocked all the time") && text.contains("blocked throughout"), "{text}");
    assert!(!text.contains("started and ended between two readings"), "{text}");
    let markdown = dir.line("report run.ironlaw --format md").succeeds().out;
    assert!(markdown.contains("wait_for_pipe"), "{markdown}");
    let folded = dir.line("export run.ironlaw --off-cpu --format folded -o -").succeeds().out;
    let pictured = dir.line("flamegraph run.ironlaw --off-cpu -o graph.svg").succeeds();
    let graph = fs::read_to_string(dir.join("graph.svg")).unwrap_or_else(|_| panic!("{}", pictured.err));
    for function in ["wait_for_lock", "wait_for_events", "wait_for_pipe"] {
        assert!(folded.contains(function) && graph.contains(function), "{function}: {folded}");
    }
}

#[test]
fn an_ordinary_user_sees_the_same_of_a_program_of_the_same_user() {
    require!("root", "perf", "cc", "setpriv");
    let dir = Dir::new();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let own = dir.join("ironlaw");
    fs::copy(IRONLAW, &own).unwrap();
    let as_user = |args: &[&str]| dir.command("setpriv", &[&user[..], args].concat());
    let program = hanging(&dir, |path| as_user(&[path]));
    let pid = program.pid().to_string();
    let line = [own.to_str().unwrap(), "record", "--off-cpu", "-p", &pid, "-d", "2.5", "-o", "run"];
    let ran = Ran::of(as_user(&line).env("HOME", dir.path()));
    if ran.code != Some(0) && ran.err.contains("perf_event_paranoid") {
        return crate::support::skip("paranoid-2", "ordinary users may not sample here");
    }
    ran.succeeds();
    let report = dir.report("run.ironlaw", "");
    let hidden = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.trim() != "0");
    if hidden {
        let paths = report["off_cpu"]["paths"].as_array().unwrap();
        assert!(paths.iter().any(|path| path["cause"] == "unknown" && path["began_before"] == true), "{paths:?}");
        return;
    }
    check(&report);
}

#[test]
fn beside_a_thread_that_works_an_idle_one_is_no_finding() {
    require!("perf");
    let dir = Dir::new();
    let program = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "60"]);
    dir.line(&format!("record --off-cpu -p {} -d 1.5 -o run", program.pid())).succeeds();
    let report = dir.report("run.ironlaw", "");
    let found = report["findings"]["found"].as_array().unwrap();
    assert!(found.iter().all(|finding| finding["rule"] != "blocked-throughout"), "{found:?}");
}

#[test]
fn a_master_that_sleeps_names_its_children_that_work() {
    require!("perf", "python3");
    let dir = Dir::new();
    let code =
        "import os, time\nfor _ in range(2):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(600)\n";
    fs::write(dir.join("prefork.py"), code).unwrap();
    let program = Running::of(&mut dir.command("python3", &["prefork.py"]));
    let pid = program.pid();
    let children = || {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        text.split_whitespace().map(str::to_string).collect::<Vec<_>>()
    };
    until("both children run", || children().len() == 2);
    until("the master sleeps", || waits(std::path::Path::new(&format!("/proc/{pid}/task/{pid}"))));
    let alone = dir.line(&format!("record -p {pid} -d 1.5 -o alone")).succeeds();
    let text = dir.line("report alone.ironlaw").succeeds().out;
    dir.line(&format!("record -p {pid} --children -d 1.5 -o all")).succeeds();
    let all = dir.line("report all.ironlaw").succeeds().out;
    for child in children() {
        Ran::of(&mut dir.command("kill", &[&child]));
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("its 2 children use the CPU") && words.contains("--children"), "{}{text}", alone.err);
    assert!(!text.contains("Widen --time-range"), "{text}");
    assert!(!all.contains("children use the CPU"), "{all}");
}
