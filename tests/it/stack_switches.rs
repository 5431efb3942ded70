//! Programs that switch stacks, make code by themselves or have their return addresses replaced: each sample has the whole path
//! from where its thread began.

use crate::program::{Dir, IRONLAW, Ran};
use std::path::{Path, PathBuf};

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support").join(name)
}

/// Builds a program in the folder.
pub(crate) fn build(dir: &Dir, compiler: &str, words: &[&str], source: &Path) {
    let source = source.display().to_string();
    let words = [words, &["-o", "app", &source]].concat();
    Ran::of(dir.command(compiler, &words).env("GOCACHE", dir.join("cache")).env("GOFLAGS", "-mod=mod")).succeeds();
}

/// Records the program and returns its folded stacks with their samples, and the share of stacks that are whole.
fn recorded(dir: &Dir) -> (Vec<(String, f64)>, f64) {
    recorded_with(dir, "")
}

fn recorded_with(dir: &Dir, words: &str) -> (Vec<(String, f64)>, f64) {
    dir.line(&format!("-q record --force -o run -- ./app 1 {words}")).succeeds();
    let whole = dir.report("run.ironlaw", "")["samples"]["complete_share"].as_f64().unwrap_or(0.0);
    (folded(dir, ""), whole)
}

/// The folded stacks of the recording with their samples, or their time.
pub(crate) fn folded(dir: &Dir, words: &str) -> Vec<(String, f64)> {
    let text = dir.line(&format!("flamegraph run.ironlaw --format folded -o - {words}")).succeeds().out;
    let split = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no count: {line}"));
        (stack.to_string(), count.parse().unwrap_or_else(|_| panic!("no number: {line}")))
    };
    text.lines().map(split).collect()
}

/// The share of the samples in stacks with `inner` that have `outer`, too.
fn share_below(stacks: &[(String, f64)], inner: &str, outer: &[&str]) -> f64 {
    let of_inner = stacks.iter().filter(|(stack, _)| stack.contains(inner));
    let total: f64 = of_inner.clone().map(|(_, count)| count).sum();
    let whole: f64 =
        of_inner.filter(|(stack, _)| outer.iter().all(|name| stack.contains(name))).map(|(_, count)| count).sum();
    assert!(total >= 50.0, "{total} samples have {inner}: {stacks:?}");
    whole / total
}

#[test]
fn a_stack_that_a_program_switches_to_leads_back_to_main() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2", "-fno-omit-frame-pointer"], &source("stack_switch.c"));
    let (stacks, _) = recorded(&dir);
    let share = share_below(&stacks, "leaf_work", &["other_stack", "serve_request", "main"]);
    assert!(share > 0.95, "{share} of the samples lead to main: {stacks:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn programs_that_do_little_more_than_start_have_whole_stacks_in_their_loader_and_in_exec() {
    require!("perf");
    let dir = Dir::new();
    let script = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done";
    Ran::of(&mut dir.command(IRONLAW, &["-q", "record", "-o", "run", "--", "sh", "-c", script])).succeeds();
    let samples = &dir.report("run.ironlaw", "")["samples"];
    let stacks = folded(&dir, "");
    let in_loader = stacks.iter().filter(|(stack, _)| stack.contains("ld-linux") || stack.contains("_dl_start"));
    let in_loader: f64 = in_loader.map(|(_, count)| count).sum();
    assert!(in_loader > 0.0, "{stacks:?}");
    // While a program takes the place of another one, some stacks are gone, and their code still mapped.
    assert!(samples["complete_share"].as_f64().unwrap() > 0.95, "{samples}");
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[test]
fn a_signals_handler_leads_to_what_it_interrupted_with_a_stack_of_its_own_as_well() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2", "-fomit-frame-pointer"], &source("signal_handler.c"));
    let (stacks, _) = recorded(&dir);
    let share = share_below(&stacks, "shared_stack_handler", &["interrupted_work", "serve_request", "main"]);
    assert!(share > 0.95, "{share} of the samples lead to main: {stacks:?}");
    // Of the interrupted stack, nothing is copied.
    let share = share_below(&stacks, "own_stack_handler", &["interrupted_work"]);
    assert!(share > 0.95, "{share} of the samples lead to the interrupted function: {stacks:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_made_later_is_unwound_by_the_tables_that_its_runtime_writes() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2"], &source("jit_tables.c"));
    let (stacks, whole) = recorded(&dir);
    let share = share_below(&stacks, "leaf_work", &["serve_request", "main"]);
    assert!(share > 0.95, "{share} of the samples lead to main: {stacks:?}");
    assert!(whole > 0.9, "{whole} of the stacks are whole: {stacks:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_made_later_that_only_calls_is_unwound_without_any_table() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2"], &source("trampoline.c"));
    let (stacks, whole) = recorded_with(&dir, "call");
    let share = share_below(&stacks, "leaf_work", &["[jit]", "serve_request", "main"]);
    assert!(share > 0.95, "{share} of the samples lead to main: {stacks:?}");
    assert!(whole > 0.9, "{whole} of the stacks are whole: {stacks:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_stack_that_ends_in_code_made_later_is_not_whole_though_its_frame_pointer_is_zero() {
    require!("perf", "cc");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2"], &source("trampoline.c"));
    let (stacks, whole) = recorded_with(&dir, "loop");
    let cut = share_below(&stacks, "[jit]", &["[truncated stack]"]);
    assert!(cut > 0.95, "{cut} of the samples in the loop are cut: {stacks:?}");
    assert!(whole < 0.1, "{whole} of the stacks are whole: {stacks:?}");
}

/// To see a function return, the kernel replaces its return address.
#[test]
fn measuring_a_function_loses_no_callers_of_it() {
    require!("perf", "cc", "root", "probes");
    let dir = Dir::new();
    build(&dir, "cc", &["-O2", "-fomit-frame-pointer"], &source("measured_call.c"));
    let record = format!(
        "{} -q record --force --off-cpu --max-overhead 100 --latency uprobe:./app:lookup_key -o run -- ./app 2",
        crate::program::IRONLAW
    );
    // Waits are seen by other means with and without a tracefs that everybody sees.
    for mount in ["true", "umount -l /sys/kernel/tracing || true", "mount -t tracefs tracefs /sys/kernel/tracing"] {
        let script = format!("{mount}; exec {record}");
        let words = ["--mount", "--propagation", "private", "sh", "-c", &script];
        Ran::of(&mut dir.command("unshare", &words)).succeeds();
        let stacks = folded(&dir, "");
        let main = share_below(&stacks, "compute_hash", &["main", "serve_request", "lookup_key"]);
        let set = share_below(&stacks, "compute_hash", &["handle_set"]);
        let get = share_below(&stacks, "compute_hash", &["handle_get"]);
        eprintln!("{mount}: {main} to main, {set} by handle_set, {get} by handle_get");
        assert!(main > 0.95 && set + get > 0.95, "{main} of the samples lead to main: {stacks:?}");
        assert!((0.5..0.8).contains(&set), "it computes two thirds: {stacks:?}");
        let waits = folded(&dir, "--off-cpu");
        let main = share_below(&waits, "wait_for_disk", &["main", "serve_request", "lookup_key"]);
        let set = share_below(&waits, "wait_for_disk", &["handle_set"]);
        eprintln!("{mount}: {main} of the waits to main, {set} by handle_set");
        assert!(main > 0.95, "{main} of the waits lead to main: {waits:?}");
        assert!((0.2..0.8).contains(&set), "it waits as often as the other: {waits:?}");
    }
}

#[test]
fn gos_system_stack_leads_to_its_goroutine_and_that_to_its_start() {
    require!("perf", "go");
    let dir = Dir::new();
    // Stripped, the runtime's own table has the names, without `runtime.Callers`, which is inlined.
    for words in [&["build"][..], &["build", "-ldflags=-s"]] {
        build(&dir, "go", words, &source("systemstack.go"));
        let (stacks, whole) = recorded(&dir);
        let share = share_below(&stacks, "runtime.callers", &["main.captureStack", "main.serveRequest", "main.main"]);
        assert!(share > 0.95, "{words:?}: {share} of the samples lead to main.main: {stacks:?}");
        assert!(whole > 0.9, "{words:?}: {whole} of the stacks are whole: {stacks:?}");
    }
}

#[test]
fn the_caller_of_a_go_function_without_a_frame_is_on_the_stack() {
    require!("perf", "go");
    let dir = Dir::new();
    build(&dir, "go", &["build"], &source("goleaf.go"));
    let (stacks, whole) = recorded(&dir);
    let share = share_below(&stacks, "main.leafWork", &["main.serveRequest", "main.main"]);
    assert!(share > 0.95, "{share} of the samples lead to main.main by way of the caller: {stacks:?}");
    assert!(whole > 0.9, "{whole} of the stacks are whole: {stacks:?}");
}
