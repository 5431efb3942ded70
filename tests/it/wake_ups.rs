//! Threads that are all woken for what one of them takes are found, and a pool that wakes one thread for each job is not.

use crate::program::{Dir, Ran};
use serde_json::Value;
use std::path::Path;

/// What is found in a program of eight workers, and how often they woke for each operation.
fn found(dir: &Dir, wake: &str) -> (Vec<Value>, f64) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("native/situations/broadcast.c").display().to_string();
    let wake = format!("-Dpthread_cond_broadcast={wake}");
    Ran::of(&mut dir.command("cc", &["-O2", "-g", "-pthread", &wake, "-o", "app", &source])).succeeds();
    dir.line("-q record --force --off-cpu -o run --ops regex:total\\s(\\d+) -- ./app 8 3").succeeds();
    let report = dir.report("run.ironlaw", "");
    let each = report["metrics"]["voluntary_switches_per_op"]["value"].as_f64();
    let each = each.unwrap_or_else(|| panic!("wake-ups were not counted: {}", report["notes"]));
    (report["findings"]["found"].as_array().cloned().unwrap_or_default(), each)
}

#[test]
fn threads_that_are_all_woken_for_one_job_are_found_and_a_pool_that_wakes_one_is_not() {
    require!("perf", "cc", "root");
    let dir = Dir::new();
    let is_it = |finding: &&Value| finding["rule"] == "useless-wake-ups";
    let (findings, _) = found(&dir, "pthread_cond_signal");
    assert!(!findings.iter().any(|finding| is_it(&finding)), "{findings:#?}");
    let (findings, each) = found(&dir, "pthread_cond_broadcast");
    // On a busy machine workers may not have slept again before the next job.
    if each > 6.0 {
        let finding = findings.iter().find(is_it).unwrap_or_else(|| panic!("{each} wake-ups: {findings:#?}"));
        assert!(finding["claim"].as_str().is_some_and(|claim| claim.contains("take_job")), "{finding:#}");
    }
}
