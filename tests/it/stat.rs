//! `ironlaw stat` on programs whose counts are known, and next to perf where that is installed.

use crate::program::{Dir, Ran, Running};
use serde_json::Value;
use std::fs;

/// Writes this many single bytes, each with a system call of its own, and nothing else.
const WRITES: &str = "dd if=/dev/zero of=/dev/null bs=1 count=321 status=none";
/// Sleeps this many times in children.
const SLEEPS: &str = "i=0; while [ $i -lt 20 ]; do sleep 0.002; i=$((i+1)); done";

fn stat(dir: &Dir, flags: &str, command: &[&str]) -> Ran {
    let words: Vec<&str> = ["stat"].into_iter().chain(flags.split_whitespace()).chain(["--"]).collect();
    dir.ironlaw(&[words.as_slice(), command].concat())
}

/// The lines of the JSON form; each is an object.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// The value of an event, read from the form for programs.
#[track_caller]
fn value(text: &str, event: &str) -> f64 {
    let line = text.lines().find(|line| line.split(',').nth(2) == Some(event));
    let value = line.and_then(|line| line.split(',').next()?.parse().ok());
    value.unwrap_or_else(|| panic!("{event} has no value in {text}"))
}

#[test]
fn the_text_is_perfs_and_the_streams_and_the_code_are_the_commands() {
    require!("perf");
    let dir = Dir::new();
    let ran = stat(&dir, "", &["sh", "-c", "echo out; exit 7"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(7), "out\n"), "{}", ran.err);
    assert!(ran.err.starts_with("\n Performance counter stats for 'sh -c echo out; exit 7':\n\n"), "{}", ran.err);
    for (event, beside) in [
        ("msec task-clock", "CPUs utilized"),
        ("context-switches", ""),
        ("cpu-migrations", ""),
        ("page-faults", "/sec"),
        ("cycles", ""),
        ("instructions", ""),
        ("branches", ""),
        ("branch-misses", ""),
        ("seconds time elapsed", ""),
        ("seconds user", ""),
        ("seconds sys", ""),
    ] {
        let line = ran.err.lines().find(|line| line.contains(&format!(" {event}")));
        assert!(line.is_some_and(|line| line.contains(beside)), "{event} {beside}: {}", ran.err);
    }
    for (script, code) in [("exit 0", 0), ("kill -KILL $$", 128 + 9)] {
        assert_eq!(stat(&dir, "-q", &["sh", "-c", script]).code, Some(code), "{script}");
    }
}

#[test]
fn what_the_machine_does_not_count_is_not_zero() {
    require!("perf");
    let dir = Dir::new();
    let ran = stat(&dir, "-j -e cycles,page-faults", &["true"]).succeeds();
    let rows = objects(&ran.err);
    let cycles = rows[0]["counter-value"].as_str().unwrap();
    assert_eq!(rows[0]["event"], "cycles");
    match cycles.parse::<f64>() {
        Ok(cycles) => assert!(cycles > 10_000.0, "{cycles}"),
        Err(_) => {
            assert_eq!(cycles, "<not supported>");
            let text = stat(&dir, "-e cycles,page-faults", &["true"]).succeeds().err;
            assert!(
                text.contains("   <not supported>      cycles\n") && text.contains("note: Not all events"),
                "{text}"
            );
            let text = stat(&dir, "--ops rate:1000", &["sleep", "0.05"]).succeeds().err;
            assert!(text.contains("<not counted>      instructions per operation"), "{text}");
            assert!(text.contains("# the path length cannot be known: "), "{text}");
        }
    }
    assert!(rows[1]["counter-value"].as_str().unwrap().parse::<f64>().unwrap() > 10.0, "{rows:?}");
}

#[test]
fn each_hit_of_a_tracepoint_counts() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    let writes = "syscalls:sys_enter_write";
    let ran = dir.line(&format!("stat -x, -e {writes},{{cs,faults}} -- {WRITES}")).succeeds();
    assert_eq!(value(&ran.err, writes), 321.0, "{}", ran.err);
    let ran = stat(&dir, "-x, -e sched:sched_process_fork", &["sh", "-c", SLEEPS]).succeeds();
    assert_eq!(value(&ran.err, "sched:sched_process_fork"), 20.0, "{}", ran.err);
}

/// Sleeps 200 times and touches 5000 pages, each for the first time.
const KNOWN: &str = r"
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
int main(void) {
    struct timespec millisecond = {0, 1000000};
    size_t bytes = 5000 * 4096;
    char *pages = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096) pages[at] = 1;
    for (int i = 0; i < 200; i++) nanosleep(&millisecond, 0);
    return 0;
}";

/// The program, or nothing where no compiler or another page size is.
fn known(dir: &Dir) -> Option<String> {
    let (source, program) = (dir.join("known.c"), dir.join("known").display().to_string());
    fs::write(&source, KNOWN).unwrap();
    let built = dir.command("cc", &["-O1", "-o", &program, &source.display().to_string()]).status();
    let pages = dir.command("getconf", &["PAGESIZE"]).output();
    match (built, pages) {
        (Ok(built), Ok(pages)) if built.success() && pages.stdout == b"4096\n" => Some(program),
        (built, pages) => {
            crate::support::skip("cc", format!("no C compiler or no pages of 4096 bytes: {built:?}, {pages:?}"));
            None
        }
    }
}

const SOFTWARE: [&str; 4] = ["context-switches", "page-faults", "minor-faults", "task-clock"];

/// Counts of a program by ironlaw or perf: the least of three, as other programs only add.
fn least(dir: &Dir, program: &str, command: &[&str]) -> [f64; 4] {
    let list = SOFTWARE.join(",");
    let words = [&["stat", "-x,", "-e", &list, "--"], command].concat();
    let runs: Vec<String> = (0..3).map(|_| Ran::of(&mut dir.command(program, &words)).succeeds().err).collect();
    SOFTWARE.map(|event| runs.iter().map(|text| value(text, event)).fold(f64::INFINITY, f64::min))
}

#[test]
fn software_counters_are_exact_and_agree_with_perfs() {
    require!("perf", "root");
    let dir = Dir::new();
    let Some(known) = known(&dir) else { return };
    let own = least(&dir, crate::program::IRONLAW, &[&known]);
    assert!((200.0..=210.0).contains(&own[0]), "{own:?}");
    assert!((5000.0..5150.0).contains(&own[1]), "{own:?}");
    if dir.command("perf", &["--version"]).output().is_err() {
        crate::support::skip("perf-tool", "perf is not installed");
        return;
    }
    let perfs = least(&dir, "perf", &[&known]);
    for (at, most) in [(0, 5.0), (1, 5.0), (2, 5.0)] {
        assert!((own[at] - perfs[at]).abs() <= most, "{own:?}, perf {perfs:?}");
    }
}

/// The time charged is the least that the clock may show: the clock runs on while interrupts or the host have the CPU.
#[test]
fn the_task_clock_lies_between_the_cpu_time_charged_and_the_time_elapsed() {
    require!("perf");
    let dir = Dir::new();
    let ran = dir.ironlaw(&["stat", "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]).succeeds();
    let number = |what: &str| -> f64 {
        let line = ran.err.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {}", ran.err));
        line.split_whitespace().next().unwrap().replace(',', "").parse().unwrap()
    };
    let (clock, charged) = (number("task-clock") / 1e3, number("seconds user") + number("seconds sys"));
    let elapsed = number("seconds time elapsed");
    assert!(clock > 0.05 && charged * 0.95 <= clock && clock <= elapsed * 1.01, "{clock} s:\n{}", ran.err);
}

#[test]
fn repeats_have_a_mean_and_an_error() {
    require!("perf");
    let dir = Dir::new();
    let script = "echo run; [ $(wc -l < runs) -lt 2 ] && sleep 0.01; echo >> runs";
    fs::write(dir.join("runs"), "").unwrap();
    let ran = stat(&dir, "-r 4 -e context-switches,page-faults", &["sh", "-c", script]).succeeds();
    assert_eq!(ran.out, "run\n".repeat(4));
    assert!(ran.err.contains("(4 runs):") && ran.err.contains(" seconds time elapsed  ( +- "), "{}", ran.err);
    let switches = ran.err.lines().find(|line| line.contains("context-switches"));
    assert!(switches.is_some_and(|line| line.contains("( +-") && line.ends_with("% )")), "{}", ran.err);
    let ran = stat(&dir, "-r 2 -x; -e page-faults", &["true"]).succeeds();
    let fields: Vec<&str> = ran.err.trim_end().split(';').collect();
    assert!(fields.len() == 8 && fields[2] == "page-faults" && fields[3].ends_with('%'), "{fields:?}");
}

#[test]
fn intervals_have_their_times_and_add_up() {
    require!("perf");
    let dir = Dir::new();
    let ran = stat(&dir, "-I 50 -j -e context-switches", &["sh", "-c", SLEEPS]).succeeds();
    let rows = objects(&ran.err);
    let times: Vec<f64> = rows.iter().map(|row| row["interval"].as_f64().unwrap()).collect();
    assert!(times.len() > 1 && times.is_sorted() && times[0] > 0.04, "{times:?}");
    let number = |row: &Value| row["counter-value"].as_str().and_then(|text| text.parse::<f64>().ok());
    assert!(rows.iter().filter_map(number).sum::<f64>() >= 40.0, "{}", ran.err);
    let ran = stat(&dir, "-I 50 -e task-clock", &["sleep", "0.12"]).succeeds();
    assert!(ran.err.starts_with("#           time             counts unit events\n"), "{}", ran.err);
    assert!(!ran.err.contains("seconds time elapsed"), "{}", ran.err);
}

#[test]
fn a_running_process_is_counted_for_a_while() {
    require!("perf");
    let dir = Dir::new();
    let target = Running::of(&mut dir.command("sh", &["-c", "while :; do sleep 0.005; done"]));
    let line = format!("stat -p {} -d 0.5 -x, -e context-switches,task-clock -o counts", target.pid());
    let ran = dir.line(&line).succeeds();
    let counts = fs::read_to_string(dir.join("counts")).unwrap();
    assert!(counts.starts_with("# started on ") && value(&counts, "context-switches") >= 20.0, "{counts}{}", ran.err);
    dir.line(&(line + " --append")).succeeds();
    let counts = fs::read_to_string(dir.join("counts")).unwrap();
    assert_eq!(counts.matches("context-switches").count(), 2, "{counts}");
}

#[test]
fn a_command_beside_a_target_ends_the_count() {
    require!("perf");
    let dir = Dir::new();
    let target = Running::of(&mut dir.command("sleep", &["60"]));
    let pid = target.pid().to_string();
    for (script, code) in [("sleep 0.3; echo out; exit 5", 5), ("sleep 0.3; kill -TERM $$", 128 + 15)] {
        let ran = dir.ironlaw(&["stat", "-p", &pid, "--", "sh", "-c", script]);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert_eq!(ran.out.is_empty(), code != 5, "the command beside has its own output");
        let line = ran.err.lines().find(|line| line.ends_with(" seconds time elapsed"));
        let elapsed = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        assert!(elapsed.is_some_and(|elapsed| (0.3..0.45).contains(&elapsed)), "{}", ran.err);
        assert!(ran.err.contains(&format!("for process id '{pid}':")), "{}", ran.err);
    }
    let ran = dir.ironlaw(&["stat", "-p", &pid, "-d", "0.2", "--", "sleep", "60"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let ran = dir.ironlaw(&["stat", "-p", &pid, "--", "no-such-program-anywhere"]);
    assert!(ran.code == Some(1) && ran.err.contains("no-such-program-anywhere"), "{}", ran.err);
}

#[test]
fn operations_have_their_costs() {
    require!("perf");
    let dir = Dir::new();
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo 'requests: 5000'";
    let flags = "-j -e page-faults --ops regex:requests:\\s([0-9]+)";
    let ran = stat(&dir, flags, &["sh", "-c", script]).succeeds();
    assert_eq!(ran.out, "requests: 5000\n");
    let rows = objects(&ran.err);
    let named: Vec<&str> = rows.iter().map(|row| row["event"].as_str().unwrap()).collect();
    let costs = ["operations", "instructions per operation", "CPU time per operation", "instructions per cycle"];
    assert_eq!(named, [&["page-faults"][..], &costs].concat());
    let number = |at: usize| rows[at]["counter-value"].as_str().unwrap().parse::<f64>();
    assert!(number(1).is_ok_and(|operations| (4990.0..=5100.0).contains(&operations)), "{}", ran.err);
    assert!(rows[1]["metric-unit"].as_str().is_some_and(|unit| unit.ends_with("/sec")), "{}", ran.err);
    assert!(number(3).is_ok_and(|usec| (0.2..2000.0).contains(&usec)), "{}", ran.err);
    let path_length = number(2).is_ok_and(|instructions| instructions > 100.0);
    assert!(
        path_length || rows[2]["reason"].as_str().is_some_and(|why| why.contains("cannot be known")),
        "{}",
        ran.err
    );
}

#[test]
fn wrong_usage_says_what_would_be_right() {
    let dir = Dir::new();
    for (line, code, said) in [
        ("stat", 2, "Name one: -p PID"),
        ("stat -e page-fault -- true", 2, "Did you mean 'page-faults'?"),
        ("stat -r 3 -p 1", 2, "CMD"),
        ("stat -r 3 -I 100 -- true", 2, "--interval"),
        ("stat -I 1 -- true", 2, "10ms or more"),
        ("stat --append -- true", 2, "--output"),
        ("stat -o no/such/folder/file -- touch ran", 1, "no/such/folder/file"),
    ] {
        let ran = dir.line(line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(said) && !ran.err.contains("panicked"), "{line}: {}", ran.err);
    }
    require!("perf");
    let ran = dir.line("stat -- no-such-program-anywhere");
    assert!(ran.code == Some(1) && ran.err.contains("no-such-program-anywhere"), "{}", ran.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
}
