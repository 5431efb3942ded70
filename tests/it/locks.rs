//! Contended locks of several kinds are found in a sweep by the code of the lock, not by its name; what only looks like one is
//! not. Widths at which this machine gave the threads no CPUs of their own at the same time show nothing, and are left out.

use crate::program::{Dir, Ran};
use serde_json::Value;
use std::path::Path;

/// Kinds of `tests/support/locks.c`, with the function that takes the lock.
const LOCKS: [(&str, &str); 6] = [
    ("mutex", "with_mutex"),
    ("spin", "with_spin"),
    ("rwlock", "with_rwlock"),
    ("cas", "with_cas"),
    ("own", "with_own"),
    ("ticket", "with_ticket"),
];

/// Rules that find what others do to the machine, and what that does to the threads.
const MACHINE: [&str; 4] = ["cpu-queue", "steal", "cgroup-throttling", "load-imbalance"];

/// How much more CPU time an operation must cost than alone to show that threads ran at the same time and were in each
/// other's way.
const CONTENDED: f64 = 4.0;

fn build(dir: &Dir, words: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/locks.c").display().to_string();
    Ran::of(&mut dir.command(
        "cc",
        &[&["-O2", "-g", "-pthread", "-fno-optimize-sibling-calls", "-o", "app", &source], words].concat(),
    ))
    .succeeds();
}

/// A sweep over one and `n` threads, and how much more CPU time an operation takes with `n`.
fn sweep(dir: &Dir, kind: &str, n: u32) -> (Value, f64) {
    let line = format!(
        "-q sweep -L threads 1,{n} -r 1 -f -o s --headless --format json --ops regex:total\\s(\\d+) -- ./app {kind} {{threads}} 0.4"
    );
    let swept: Value = serde_json::from_str(&dir.line(&line).succeeds().out).unwrap();
    let cost = |at: usize| swept["points"][at]["cpu_ns_per_op"].as_f64().unwrap_or(f64::NAN);
    let grown = cost(1) / cost(0);
    (swept, grown)
}

fn lock(swept: &Value) -> Option<&Value> {
    swept["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "lock-wait")
}

/// The names of the rules that found something, most important first.
fn rules(swept: &Value) -> Vec<&str> {
    swept["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_contended_lock_is_found_at_every_width_whatever_its_kind() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, &[]);
    let mut contended = 0;
    for (kind, function) in LOCKS {
        for n in [2, 4, 8] {
            let (swept, grown) = sweep(&dir, kind, n);
            if grown < CONTENDED {
                eprintln!("{kind} at {n}: an operation costs {grown:.1} times as much, too little for contention");
                continue;
            }
            contended += 1;
            let findings = &swept["findings"];
            let found = lock(&swept).unwrap_or_else(|| panic!("{kind} at {n}, {grown:.1} times: {findings}"));
            let frames = found["place"]["frames"].as_array().unwrap();
            assert!(frames.iter().any(|frame| frame == function), "{kind} at {n}: {found}");
            let first = rules(&swept).into_iter().find(|rule| !MACHINE.contains(rule));
            assert_eq!(first, Some("lock-wait"), "{kind} at {n}: {findings}");
            for other in ["contended-line", "spin-wait", "hand-over"] {
                assert!(!rules(&swept).contains(&other), "{kind} at {n} is found twice: {findings}");
            }
        }
    }
    if contended == 0 {
        crate::support::skip("perf", "no two threads ran at the same time for long");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn one_worker_a_lock_of_ones_own_and_a_counter_are_no_lock() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, &[]);
    for kind in ["oneworker", "uncontended", "counter"] {
        for n in [2, 4] {
            let (swept, grown) = sweep(&dir, kind, n);
            assert!(lock(&swept).is_none(), "{kind} at {n}, {grown:.1} times: {}", swept["findings"]);
        }
    }
}

/// With the C library in the program and without any names, the code is the same.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_lock_without_a_name_is_found_as_well() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, &["-static", "-s"]);
    for kind in ["mutex", "own", "ticket"] {
        let (swept, grown) = sweep(&dir, kind, 2);
        if grown >= CONTENDED {
            assert!(lock(&swept).is_some(), "{kind}, {grown:.1} times: {}", swept["findings"]);
        }
    }
}
