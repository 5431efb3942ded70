//! The whole program on workloads whose diagnosis is known: what it reports must be what was planted.
//! Shares are held against their sampling error, never times against a clock, as other programs run on the machine too.

use crate::program::{Dir, IRONLAW, Ran, WORKLOADS, until};
use object::Object;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn list<'a>(report: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    report[key].as_array().expect("it is a list").iter()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Samples whose innermost function is `name`.
fn samples_in(report: &Value, name: &str) -> f64 {
    list(report, "functions").filter(|row| row["name"] == name).map(|row| number(&row["self_samples"])).sum()
}

/// Total time off the CPU by cause.
fn waited(report: &Value, cause: &str) -> f64 {
    let causes = report["off_cpu"]["causes"].as_array().expect("waits were recorded");
    causes.iter().filter(|row| row["cause"] == cause).map(|row| number(&row["total_s"])).sum()
}

/// CPU time the samples stand for, in seconds, whether they weigh nanoseconds or cycles.
fn sampled(report: &Value) -> f64 {
    report["samples"]["coverage"]["value"].as_f64().unwrap_or(0.0) * cpu_time(report)
}

fn cpu_time(report: &Value) -> f64 {
    number(&report["metrics"]["cpu_time"]["value"])
}

#[track_caller]
fn assert_close(what: &str, measured: f64, truth: f64, relative: f64) {
    assert!((measured / truth - 1.0).abs() <= relative, "{what}: {measured} where the truth is {truth}");
}

/// Stacks with their samples, outermost function first.
fn folded(dir: &Dir, name: &str) -> Vec<(Vec<String>, f64)> {
    let text = dir.line(&format!("flamegraph {name} --no-inline --format folded -o -")).succeeds().out;
    let line = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').expect("a line ends with a count");
        (stack.split(';').map(str::to_string).collect(), count.parse().expect("the count is a number"))
    };
    text.lines().map(line).collect()
}

/// Stacks with the time they were blocked: how long they waited for a CPU is other programs' doing.
fn blocked(dir: &Dir, name: &str) -> Vec<(Vec<String>, f64)> {
    let mut stacks = folded(dir, &format!("{name} --off-cpu"));
    stacks.retain(|(stack, _)| stack.last().is_some_and(|frame| frame != "[waiting for a CPU]"));
    stacks
}

#[test]
fn the_report_of_a_python_program_has_the_switch_that_names_its_functions() {
    require!("perf", "python3");
    let dir = Dir::new();
    // By CPU time, so that starting Python is little of it on any machine.
    let code = "import time\nwhile time.process_time() < 3: sum(range(1000))";
    Ran::of(&mut dir.command(IRONLAW, &["-q", "record", "-o", "run", "--", "python3", "-c", code])).succeeds();
    let report = dir.report("run.ironlaw", "");
    let note = list(&report, "notes").find(|note| note["topic"] == "interpreted-without-names");
    let fix = note.unwrap_or_else(|| panic!("no such note: {}", report["notes"]))["fix"].as_str().unwrap_or_default();
    // Whatever the version: it has the switch, or a later one has.
    assert!(fix.contains("`python -X perf`") && fix.contains("PYTHONPERFSUPPORT=1"), "{fix}");
}

/// The share of samples in stacks with `inner` for which `holds`.
fn share_of(stacks: &[(Vec<String>, f64)], inner: &str, holds: impl Fn(&[String]) -> bool) -> f64 {
    let with = || stacks.iter().filter(|(stack, _)| stack.iter().any(|name| name == inner));
    let all: f64 = with().map(|(_, count)| count).sum();
    assert!(all > 50.0, "only {all} counted with {inner}");
    with().filter(|(stack, _)| holds(stack)).map(|(_, count)| count).sum::<f64>() / all
}

fn has(stack: &[String], name: &str) -> bool {
    stack.iter().any(|frame| frame == name)
}

/// What a machine does to any program on it.
const MACHINE: [&str; 4] = ["cpu-queue", "steal", "memory-pressure", "cgroup-throttling"];

/// The finding of that rule, if it has one.
fn finding<'a>(report: &'a Value, rule: &str) -> Option<&'a Value> {
    report["findings"]["found"].as_array().expect("there are findings").iter().find(|found| found["rule"] == rule)
}

/// The part of its working time the target had no CPU: its own doing or that of whatever else runs here.
fn queued(report: &Value) -> f64 {
    finding(report, "cpu-queue").map_or(0.0, |found| number(&found["share"]))
}

/// Rules that found something, without what the machine alone is to blame for; where CPUs are short, whoever holds a lock
/// waits for one too.
fn own_findings(report: &Value) -> BTreeSet<String> {
    let mut rules: BTreeSet<String> = report["findings"]["found"]
        .as_array()
        .expect("there are findings")
        .iter()
        .filter_map(|found| Some(found["rule"].as_str()?.to_string()))
        .collect();
    if MACHINE.iter().any(|rule| rules.contains(*rule)) {
        rules.remove("lock-wait");
    }
    rules.retain(|rule| !MACHINE.contains(&rule.as_str()));
    rules
}

fn place(found: &Value) -> BTreeSet<&str> {
    let frames = found["place"]["frames"].as_array().expect("it has a place").iter();
    frames.filter_map(Value::as_str).collect()
}

#[test]
fn hotspot_shows_the_shares_that_were_planted() {
    require!("perf");
    let dir = Dir::new();
    dir.record("hot", "", "hotspot --threads 2 --seconds 2");
    let report = dir.report("hot.ironlaw", "");
    let planted = [("checksum_block", 0.60), ("compress_block", 0.25), ("encode_reply", 0.10), ("parse_request", 0.05)];
    let all: f64 = planted.iter().map(|(name, _)| samples_in(&report, name)).sum();
    assert!(all > 100.0, "only {all} samples in the planted functions");
    for (name, truth) in planted {
        let share = samples_in(&report, name) / all;
        let error = (truth * (1.0 - truth) / all).sqrt();
        assert!((share - truth).abs() < 4.0 * error + 0.02, "{name}: {share:.4} of {all} samples, planted {truth}");
    }
    let threads: BTreeSet<_> = list(&report, "threads").filter_map(|row| row["name"].as_str()).collect();
    assert!(["dispatcher", "housekeeper", "worker-0", "worker-1"].iter().all(|name| threads.contains(name)));
    let (own, hot) = (own_findings(&report), BTreeSet::from(["hot-function".to_string()]));
    // Threads that hardly come to run are held back by that: what they run may be left out.
    assert!(own == hot || (own.is_empty() && queued(&report) > 0.8), "{}", report["findings"]);
    let below = share_of(&folded(&dir, "hot.ironlaw"), "checksum_block", |stack| has(stack, "handle_request"));
    assert!(below > 0.98, "{below} of checksum_block is below its caller");
}

/// The CPU of the tests is another one: only what the recording says of it is changed.
#[test]
fn wide_vectors_among_scalar_code_are_found_on_a_cpu_whose_clock_they_lower() {
    require!("perf");
    if !std::fs::read_to_string("/proc/cpuinfo").unwrap().contains(" avx512f ") {
        crate::support::skip("avx512f", "the CPU has no AVX-512");
        return;
    }
    let dir = Dir::new();
    let rule = "wide-vectors";
    for (workload, found_there) in [("wide-vectors", true), ("narrow-vectors", false)] {
        dir.record(workload, "", &format!("{workload} --threads 2 --seconds 2"));
        let name = format!("{workload}.ironlaw");
        let path = dir.join(&name).join("meta.json");
        let mut meta: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let own = meta["host"]["cpuid"].as_str().expect("an x86 CPU has an identity").to_string();
        for (cpuid, expected) in [
            (own.as_str(), own.contains("Intel,6,85,")),
            ("GenuineIntel,6,85,7", true),
            ("AuthenticAMD,25,17,1", false),
        ] {
            meta["host"]["cpuid"] = cpuid.into();
            std::fs::write(&path, meta.to_string()).unwrap();
            let report = dir.report(&name, "");
            let found = finding(&report, rule);
            assert_eq!(found.is_some(), expected && found_there, "{workload} on {cpuid}: {}", report["findings"]);
            match found {
                Some(found) => assert!(place(found).contains("scale_wide_block"), "{found}"),
                None => assert!(list(&report["findings"], "clear").any(|clear| clear == rule), "{workload} on {cpuid}"),
            }
        }
        let mix: Value =
            serde_json::from_str(&dir.line(&format!("annotate --mix --format json {name}")).succeeds().out).unwrap();
        let avx =
            list(&mix, "classes").filter(|row| row["class"] == "avx512").map(|row| number(&row["share"])).sum::<f64>();
        assert!(if found_there { (0.01..0.2).contains(&avx) } else { avx < 0.01 }, "{workload}: {avx}");
    }
}

#[test]
fn locked_instructions_are_found_where_threads_contend_and_nowhere_else() {
    require!("perf");
    let dir = Dir::new();
    for (workload, function) in [
        ("false-sharing", Some("bump_counter")),
        ("atomic", Some("bump_shared_counter")),
        ("hotspot", None),
        ("mutex", None),
        ("spin", None),
    ] {
        dir.record(workload, "", &format!("{workload} --threads 2 --seconds 1.5"));
        let report = dir.report(&format!("{workload}.ironlaw"), "");
        let found = finding(&report, "locked-instructions");
        // Threads that hardly ever run at once do not contend.
        let busy = number(&report["metrics"]["cpu_utilisation"]["value"]);
        if busy < 1.0 && function.is_some() && found.is_none() {
            crate::support::skip("quiet", format!("beside other programs, two threads had {busy:.2} CPUs"));
            continue;
        }
        assert_eq!(found.is_some(), function.is_some(), "{workload}: {}", report["findings"]);
        match (found, function) {
            (Some(found), Some(function)) => assert!(place(found).contains(function), "{workload}: {found}"),
            _ => assert!(list(&report["findings"], "clear").any(|rule| rule == "locked-instructions"), "{workload}"),
        }
    }
    // One thread does not contend with itself.
    dir.record("alone", "", "false-sharing --threads 1 --seconds 1");
    assert!(finding(&dir.report("alone.ironlaw", ""), "locked-instructions").is_none());
}

/// The shell tells what the kernel counted for its child; the run does not end with a window, so the last part counts.
#[test]
fn spin_has_the_cpu_time_the_kernel_counted() {
    require!("perf");
    let dir = Dir::new();
    for (name, seconds) in [("long", "1.7"), ("short", "0.5")] {
        let script = format!("'{WORKLOADS}' workload spin --threads 2 --seconds {seconds} > /dev/null; times");
        let times = dir.ironlaw(&["-q", "record", "-o", name, "--", "sh", "-c", &script]).succeeds().out;
        // `0m1.980000s 0m0.000000s`: user and kernel time, of the shell and, on the second line, of its children.
        let field = |field: &str| {
            let (minutes, seconds) = field.trim_end_matches('s').split_once('m').expect("minutes and seconds");
            minutes.parse::<f64>().expect("minutes") * 60.0 + seconds.parse::<f64>().expect("seconds")
        };
        let truth: f64 = times.split_whitespace().map(field).sum();
        let report = dir.report(&format!("{name}.ironlaw"), "");
        // The shell's times are in ticks of 10 ms.
        assert_close("CPU time", cpu_time(&report), truth, 0.03 + 0.02 / truth);
        assert_close("CPU time sampled", sampled(&report), truth, 0.05 + 0.02 / truth);
        let wall = number(&report["selection"]["metrics_to_s"]) - number(&report["selection"]["metrics_from_s"]);
        assert_close("busy cores", number(&report["metrics"]["cpu_utilisation"]["value"]), truth / wall, 0.1);
        let spinning = dir.report(&format!("{name}.ironlaw"), "--thread spin-0 --thread spin-1");
        let share = samples_in(&spinning, "spin_burn") / number(&spinning["samples"]["count"]);
        assert!(share > 0.9, "{share} of the spinning threads is in spin_burn");
        assert_eq!(own_findings(&report), BTreeSet::from(["hot-function".to_string()]), "{}", report["findings"]);
    }
}

#[test]
fn sleep_loop_sleeps_fifty_milliseconds_at_a_time_and_runs_hardly_at_all() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    dir.record("nap", "--off-cpu", "sleep-loop --threads 2 --seconds 2");
    let report = dir.report("nap.ironlaw", "--thread sleeper-0 --thread sleeper-1");
    let causes = report["off_cpu"]["causes"].as_array().expect("waits were recorded");
    let sleep = causes.iter().find(|row| row["cause"] == "sleep").expect("there is sleep");
    let mean = number(&sleep["mean_s"]);
    // Where a wake-up was not seen, the span holds the time in the queue as well, which on a busy machine is long.
    assert!((0.049..0.2).contains(&mean), "{sleep}");
    assert!(waited(&report, "sleep") > 0.5 * 2.0 * 2.0 && waited(&report, "lock") == 0.0, "{causes:?}");
    assert!(sampled(&report) < 0.1, "it ran for {} s", sampled(&report));
    assert_eq!(own_findings(&report), BTreeSet::new(), "{}", report["findings"]);
    let paths = report["off_cpu"]["paths"].as_array().expect("there are paths");
    let frames = paths[0]["frames"].as_array().expect("a path has frames");
    assert!(frames.contains(&"nap".into()) && frames.contains(&"sleeper_main".into()), "{frames:?}");
}

#[test]
fn futex_waits_for_locks() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    dir.record("lock", "--off-cpu", "futex --threads 2 --seconds 1");
    let report = dir.report("lock.ironlaw", "--thread player-0 --thread player-1");
    let others: f64 =
        ["sleep", "block_io", "network", "pipe", "other"].iter().map(|cause| waited(&report, cause)).sum();
    let locked = waited(&report, "lock");
    assert!(locked > 0.1 && locked > 20.0 * others, "{locked} s for locks, {others} s for all else");
    // With hardly any CPU left the players wait for that.
    match finding(&report, "lock-wait") {
        Some(found) => {
            assert!(place(found).contains("player_main") && number(&found["share"]) > 0.1, "{found}");
            // The place is of the larger part. On one CPU the other player may go on so soon that handing over takes longer.
            let on_a_cpu = list(found, "evidence").find(|row| row["label"] == "contending on a CPU");
            let contending = on_a_cpu.map_or(0.0, |row| number(&row["value"])) * number(&report["duration_s"]);
            if (locked / contending - 1.0).abs() > 0.2 {
                assert_eq!(found["place"]["off_cpu"], locked > contending, "{locked} s, {contending} s: {found}");
            }
        }
        None => assert!(queued(&report) > 0.6, "{}", report["findings"]),
    }
    let stacks = blocked(&dir, "lock.ironlaw --thread player-0");
    assert!(share_of(&stacks, "player_main", |stack| has(stack, "wait_for_turn")) > 0.8);
}

#[test]
fn io_waits_for_storage() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    // The workload writes where TMPDIR says; a memory file system there would give nothing to wait for.
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let command = ["-q", "record", "--off-cpu", "-o", "io", "--", WORKLOADS, "workload", "io", "--seconds", "1.5"];
    Ran::of(dir.command(IRONLAW, &command).env("TMPDIR", build)).succeeds();
    let report = dir.report("io.ironlaw", "--thread writer-0 --thread writer-1");
    if waited(&report, "block_io") == 0.0 {
        crate::support::skip("disk", format!("fsync in {} does not wait for a device", build.display()));
        return;
    }
    let stacks = blocked(&dir, "io.ironlaw --thread writer-0 --thread writer-1");
    let flushing = share_of(&stacks, "writer_main", |stack| has(stack, "flush_block") || has(stack, "write_block"));
    assert!(flushing > 0.95, "{flushing} of the waits are in the file's calls");
    match finding(&report, "block-io") {
        Some(found) => assert!(place(found).contains("writer_main") && found["confidence"] == "high", "{found}"),
        None => assert!(queued(&report) > 0.6, "{}", report["findings"]),
    }
    let (storage, sleep) = (waited(&report, "block_io"), waited(&report, "sleep"));
    assert!(storage > 0.3 && storage > 20.0 * sleep, "{}", report["off_cpu"]["causes"]);
}

#[test]
fn more_busy_threads_than_cpus_wait_for_them() {
    require!("perf");
    let dir = Dir::new();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    dir.record("crowd", "", &format!("oversubscribed --threads {cpus} --seconds 1.5"));
    let report = dir.report("crowd.ironlaw", "");
    if finding(&report, "cgroup-throttling").is_none() {
        assert!(queued(&report) > 0.6, "four threads for each of {cpus} CPUs: {}", report["findings"]);
    }
    assert_eq!(own_findings(&report), BTreeSet::from(["hot-function".to_string()]), "{}", report["findings"]);
}

/// A control group that may use a twentieth of a CPU, so that it does on a busy machine too; it goes away with the test.
struct Quota(std::path::PathBuf);

impl Quota {
    fn new(of: &str) -> Option<Quota> {
        let name = format!("ironlaw-test-{of}-{}", std::process::id());
        let written = |group: &Path, file: &str, text: &str| std::fs::write(group.join(file), text).is_ok();
        for mount in ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"] {
            let quota = Quota(Path::new(mount).join(&name));
            if std::fs::create_dir(&quota.0).is_ok()
                && (written(&quota.0, "cpu.max", "5000 100000") || written(&quota.0, "cpu.cfs_quota_us", "5000"))
            {
                return Some(quota);
            }
        }
        None
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_quota_that_is_used_up_is_found() {
    require!("perf", "root");
    let Some(quota) = Quota::new("used") else {
        crate::support::skip("cpu-quota", "no control group with a CPU quota can be made here");
        return;
    };
    let dir = Dir::new();
    let spin = dir.start(&["workload", "spin", "--threads", "2", "--seconds", "60"]);
    std::fs::write(quota.0.join("cgroup.procs"), spin.pid().to_string()).expect("it joins the group");
    dir.line(&format!("-q record -o quota -d 2 -p {}", spin.pid())).succeeds();
    drop(spin);
    let report = dir.report("quota.ironlaw", "");
    let found = finding(&report, "cgroup-throttling").unwrap_or_else(|| panic!("{}", report["findings"]));
    assert!(found["confidence"] == "high" && number(&found["share"]) > 0.3, "{found}");
}

#[test]
fn a_quota_is_found_that_the_command_came_under_by_itself() {
    require!("perf", "root");
    let Some(quota) = Quota::new("joined") else {
        crate::support::skip("cpu-quota", "no control group with a CPU quota can be made here");
        return;
    };
    let dir = Dir::new();
    let join =
        format!("echo $$ > {}/cgroup.procs; exec {WORKLOADS} workload spin --threads 2 --seconds 3", quota.0.display());
    dir.ironlaw(&["-q", "record", "-o", "joined", "--", "sh", "-c", &join]).succeeds();
    let report = dir.report("joined.ironlaw", "");
    let found = finding(&report, "cgroup-throttling").unwrap_or_else(|| panic!("{}", report["findings"]));
    assert!(found["confidence"] == "high" && number(&found["share"]) > 0.3, "{found}");
}

#[test]
fn deep_stacks_are_whole() {
    require!("perf", "cc");
    let dir = Dir::new();
    // The C library starts each thread in `start_thread`. A static program contains that name, a shared C library has it
    // in its debug symbols only, and without them its address.
    if let Some(program) = static_workloads(&dir) {
        assert_whole_stacks(&dir, &program, |frame| frame == "start_thread");
    }
    if c_library_is_named() {
        assert_whole_stacks(&dir, WORKLOADS, |frame| frame == "start_thread");
    } else {
        assert_whole_stacks(&dir, WORKLOADS, |frame| frame.starts_with("libc.so.6+0x"));
        crate::support::skip("libc6-dbg", "the name of the function that starts threads: libc6-dbg is not installed");
    }
}

/// The samples of the deepest function have all 200 callers, the thread's function, and the one that calls it.
#[track_caller]
fn assert_whole_stacks(dir: &Dir, program: &str, starts_threads: impl Fn(&str) -> bool) {
    let line = format!("-q record --force -o deep -- {program} workload deep --threads 2 --seconds 1.5");
    dir.line(&line).succeeds();
    let stacks = folded(dir, "deep.ironlaw");
    let whole = share_of(&stacks, "deep_leaf", |stack| {
        let depth = stack.iter().filter(|name| *name == "descend").count();
        let main = stack.iter().position(|name| name == "deep_main");
        depth == 200 && main.is_some_and(|at| at > 0 && starts_threads(&stack[at - 1]))
    });
    assert!(whole > 0.98, "{whole} of the samples show all 200 callers: {:?}", stacks.first());
    let report = dir.report("deep.ironlaw", "");
    assert!(number(&report["samples"]["complete_share"]) > 0.95, "{}", report["samples"]);
    assert!(samples_in(&report, "deep_leaf") / number(&report["samples"]["count"]) > 0.8);
}

/// The workloads with a C library of their own; `None` where that cannot be linked, and of a program that was named.
fn static_workloads(dir: &Dir) -> Option<String> {
    let built = Path::new(option_env!("IRONLAW_WORKLOADS")?).parent()?.display().to_string();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("native/workload_program.c").display().to_string();
    let program = dir.join("static").display().to_string();
    let words = ["-static", "-O2", "-o", &program, &source, "-L", &built, "-lironlaw_workloads", "-lpthread", "-lm"];
    let linked = Ran::of(&mut dir.command("cc", &words));
    if linked.code != Some(0) {
        crate::support::skip("static-libc", format!("cannot link a static program: {}", linked.err));
        return None;
    }
    Some(program)
}

/// Whether the names of the shared C library's own functions are here: its debug symbols lie below its build-id.
fn c_library_is_named() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let library =
        maps.lines().find_map(|line| line.split_whitespace().nth(5).filter(|path| path.contains("/libc.so.6")));
    let bytes = std::fs::read(library.expect("the test uses the C library")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let id: String = file.build_id().unwrap().unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = id.split_at(id.len().min(2));
    Path::new("/usr/lib/debug/.build-id").join(first).join(format!("{rest}.debug")).exists()
        || file.symbol_by_name("start_thread").is_some()
}

#[test]
fn churn_misses_no_thread_and_leaks_nothing() {
    require!("perf");
    let dir = Dir::new();
    let line = format!("-q record -o churn -- {WORKLOADS} workload churn --threads 2 --seconds 3");
    let mut recorder = dir.start(&line.split_whitespace().collect::<Vec<_>>());
    let files = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    let threads = |pid: u32| std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    let part = dir.join("churn.ironlaw/samples-000000.parquet");
    until("the first part is written", || part.exists());
    let before = (files(recorder.pid()), threads(recorder.pid()));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let after = (files(recorder.pid()), threads(recorder.pid()));
    let ran = recorder.ends().succeeds();
    // Hundreds were born in between. Files of the few threads alive may be open at any moment.
    assert!(after.0 <= before.0 + 16 && after.1 <= before.1, "open files and threads: {before:?}, then {after:?}");
    let report = dir.report("churn.ironlaw", "--by thread");
    let lived = number(&report["processes"][0]["threads"]);
    let churned: f64 = ran.out.trim().trim_start_matches("ops ").parse().expect("the workload counts its births");
    assert!(churned > 500.0 && lived >= churned && lived <= churned + 3.0, "{lived} seen of {churned} born");
    let rows = report["groups"]["rows"].as_array().expect("there are groups");
    assert!(rows.iter().all(|row| row["name"].as_str().is_some_and(|name| name.starts_with(char::is_alphabetic))));
    let counted: f64 = rows.iter().map(|row| number(&row["self_samples"])).sum();
    assert_eq!(counted, number(&report["samples"]["count"]), "every sample belongs to a thread");
}

#[test]
fn forker_is_seen_through_its_children_where_they_are_followed() {
    require!("perf");
    let dir = Dir::new();
    dir.record("command", "", "forker --threads 2 --seconds 1.5");
    let forker = dir.start(&["workload", "forker", "--threads", "2", "--seconds", "120"]);
    until("it has forked", || {
        dir.line(&format!("-q record --force -o probe -p {} -d 10ms", forker.pid())).code == Some(0)
    });
    for (name, flag) in [("alone", ""), ("family", "--children")] {
        dir.line(&format!("-q record -o {name} {flag} -d 1.5 -p {}", forker.pid())).succeeds();
    }
    let burnt = |name: &str| {
        let report = dir.report(&format!("{name}.ironlaw"), "");
        let pids: BTreeSet<_> = list(&report, "processes").map(|row| row["pid"].as_u64()).collect();
        (samples_in(&report, "child_burn"), number(&report["samples"]["count"]), sampled(&report), pids.len())
    };
    for name in ["command", "family"] {
        let (samples, all, ran, pids) = burnt(name);
        // The rest is the kernel's, for births and ends. Not all of 997 Hz: where samples cost much, they are fewer.
        assert!(
            samples / all > 0.8 && samples > 20.0 && ran > 0.1 && pids > 4,
            "{name}: {samples} of {all}, {ran} s, {pids}"
        );
    }
    let (samples, _, ran, pids) = burnt("alone");
    assert!(samples == 0.0 && ran < 0.1 && pids == 1, "{samples} samples in children, {ran} s, {pids} processes");
}

#[test]
fn execer_is_named_by_the_program_it_has_become() {
    require!("perf");
    let dir = Dir::new();
    dir.record("exec", "", "execer --threads 2 --seconds 2");
    let stacks = folded(&dir, "exec.ironlaw");
    // An address after the exec, looked up in the mappings from before it, would land in another function.
    for (function, caller, stranger) in
        [("before_exec", "execer_main", "spin_main"), ("spin_burn", "spin_main", "execer_main")]
    {
        let right = share_of(&stacks, function, |stack| has(stack, caller) && !has(stack, stranger));
        assert!(right > 0.98, "{right} of {function} is below {caller}");
    }
    let report = dir.report("exec.ironlaw", "");
    let (before, after) = (samples_in(&report, "before_exec"), samples_in(&report, "spin_burn"));
    assert!((0.35..0.65).contains(&(before / (before + after))), "{before} before, {after} after");
    let both = (before + after) / number(&report["samples"]["count"]);
    assert!(both > 0.5, "{both} of the samples are in the two functions");
    // The kernel names a program run through /proc/self/exe after that link.
    let renamed = list(&report, "processes").filter(|row| row["name"] == "exe").count();
    assert!(renamed >= 4, "{}", report["processes"]);
}

/// Where the finding of that rule lies, which must be there.
#[track_caller]
fn found_at<'a>(report: &'a Value, rule: &str) -> BTreeSet<&'a str> {
    place(finding(report, rule).unwrap_or_else(|| panic!("no {rule} in {}", report["findings"])))
}

#[test]
fn a_workload_that_scales_has_nothing_to_find() {
    require!("perf");
    let dir = Dir::new();
    dir.record("scaling", "", "scaling --threads 2 --seconds 1");
    let report = dir.report("scaling.ironlaw", "");
    let share = samples_in(&report, "crunch_numbers") / number(&report["samples"]["count"]);
    assert!(share > 0.85, "{share} of the samples are in crunch_numbers");
    assert_eq!(own_findings(&report), BTreeSet::from(["hot-function".to_string()]), "{}", report["findings"]);
}

/// Far more threads than can hold the lock, so that most wait for it however busy the machine is.
#[test]
fn a_mutex_is_waited_for_where_it_is_taken() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    dir.record("mutex", "--off-cpu", "mutex --threads 8 --seconds 1.5");
    let report = dir.report("mutex.ironlaw", "");
    assert!(found_at(&report, "lock-wait").contains("update_shared_index"), "{}", report["findings"]);
    let below = share_of(&blocked(&dir, "mutex.ironlaw"), "indexer_main", |stack| has(stack, "update_shared_index"));
    assert!(below > 0.95, "{below} of the waits are for the index");
    let (locked, free) = (samples_in(&report, "update_shared_index"), samples_in(&report, "parse_document"));
    assert!((0.5..0.7).contains(&(locked / (locked + free))), "{locked} samples with the lock, {free} without");
}

/// The code of the lock tells, where it can be read: so far on x86-64, and on Arm unless its atomics are calls. Elsewhere it cannot be
/// told from other loops, and is not denied.
#[test]
fn a_spin_lock_shows_as_a_lock_where_it_is_taken() {
    require!("perf");
    let dir = Dir::new();
    dir.record("spinning", "", "spinlock --threads 4 --seconds 2");
    let report = dir.report("spinning.ironlaw", "");
    match finding(&report, "lock-wait") {
        Some(found) => {
            assert!(place(found).contains("booker_main"), "{found}");
            assert!(found["claim"].as_str().is_some_and(|claim| claim.contains("acquire_spin_lock")), "{found}");
            let hot = finding(&report, "hot-function");
            assert!(
                hot.is_none_or(|hot| !place(hot).contains("acquire_spin_lock")),
                "one lock, two findings: {report}"
            );
        }
        // Of a queue for the CPUs, what the lock takes of the rest is little.
        None if number(&report["metrics"]["cpu_utilisation"]["value"]) < 1.0 => {
            crate::support::skip("quiet", "beside other programs, four threads had less than one CPU");
        }
        None if cfg!(target_arch = "x86_64") => panic!("{}", report["findings"]),
        None => {
            assert!(found_at(&report, "hot-function").contains("acquire_spin_lock"), "{}", report["findings"]);
            assert_ne!(verdict(&report, "spin-wait"), "clear", "{}", report["findings"]);
        }
    }
}

/// `found`, `undecided` or `clear`.
fn verdict(report: &Value, rule: &str) -> &'static str {
    let undecided = report["findings"]["undecided"].as_array().expect("some rules are undecided");
    match finding(report, rule) {
        Some(_) => "found",
        None if undecided.iter().any(|row| row["rule"] == rule) => "undecided",
        None => "clear",
    }
}

/// Shares of CPU time are what was planted even where others take most of the CPUs.
#[test]
fn a_serial_part_is_run_by_one_thread_while_the_others_wait() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    dir.record("serial", "--off-cpu", "serial --threads 3 --seconds 2");
    let report = dir.report("serial.ironlaw", "");
    let (serial, parallel) = (samples_in(&report, "merge_results"), samples_in(&report, "analyse_unit"));
    let share = serial / (serial + parallel);
    let error = (0.3 * 0.7 / (serial + parallel)).sqrt();
    assert!((share - 0.3).abs() < 4.0 * error + 0.02, "{share} of {} samples are serial", serial + parallel);
    let others = dir.report("serial.ironlaw", "--thread analyst-1 --thread analyst-2");
    assert_eq!(samples_in(&others, "merge_results"), 0.0);
    let stacks = blocked(&dir, "serial.ironlaw --thread analyst-1 --thread analyst-2");
    let waiting = share_of(&stacks, "analyst_main", |stack| has(stack, "wait_for_others"));
    assert!(waiting > 0.95, "{waiting} of the waits are for thread 0");
}

#[test]
fn an_uneven_load_is_found_with_the_threads_that_share_it() {
    require!("perf");
    let dir = Dir::new();
    // Threads that end long after the last reading are not compared.
    dir.record("uneven", "-I 200ms", "imbalance --threads 3 --seconds 2");
    let report = dir.report("uneven.ironlaw", "");
    let most = samples_in(&dir.report("uneven.ironlaw", "--thread renderer-0"), "render_tile");
    let all = samples_in(&report, "render_tile");
    let error = (0.6 * 0.4 / all).sqrt();
    assert!((most / all - 0.6).abs() < 4.0 * error + 0.02, "{most} of {all} samples are in the busiest thread");
    // Where CPUs are short, waiting for one makes the threads look alike.
    match finding(&report, "load-imbalance") {
        Some(found) => {
            let threads = found["place"]["threads"].as_array().map(Vec::len);
            assert_eq!(threads, Some(3), "{found} of {}", report["threads"]);
        }
        None => assert!(queued(&report) > 0.3, "{}", report["findings"]),
    }
}

#[test]
fn kernel_time_page_faults_and_the_allocator_are_found_at_their_callers() {
    require!("perf");
    let dir = Dir::new();
    for (workload, rule, caller) in [
        ("syscall", "kernel-time", "ask_kernel"),
        ("faults", "page-faults", "touch_fresh_pages"),
        ("allocator", "allocator", "exchange_object"),
    ] {
        dir.record(workload, "", &format!("{workload} --threads 2 --seconds 1"));
        let report = dir.report(&format!("{workload}.ironlaw"), "");
        assert!(found_at(&report, rule).contains(caller), "{workload}: {}", report["findings"]);
    }
}

/// Where CPUs are short, waiting for one hides them.
#[test]
fn the_lock_of_the_address_space_and_flushed_translations_are_named() {
    require!("perf", "root");
    let dir = Dir::new();
    for (workload, rule, caller) in
        [("mmap-storm", "mmap-lock", "map_and_unmap"), ("tlb-shoot", "tlb-shootdown", "shoot_pages")]
    {
        dir.record(workload, "", &format!("{workload} --threads 2 --seconds 1.5"));
        let report = dir.report(&format!("{workload}.ironlaw"), "");
        match finding(&report, rule) {
            Some(found) => assert!(place(found).contains(caller), "{found}"),
            None => assert!(queued(&report) > 0.3, "{workload}: {}", report["findings"]),
        }
        for other in ["kernel-lock-spin", "page-faults", "lock-wait"] {
            assert!(finding(&report, other).is_none(), "{workload}: {}", report["findings"]);
        }
    }
}

/// One window of samples shows them all as a hot function; what makes them slow takes counters. What is followed from
/// memory fits no cache, whatever else uses it.
#[test]
fn what_only_counters_tell_apart_is_never_called_clear() {
    require!("perf");
    let dir = Dir::new();
    // Beside a cache of hundreds of MiB, setting up takes seconds.
    let (short, long) = ("--threads 2 --seconds 1", "--threads 1 --seconds 6");
    for (workload, how, rule, function) in [
        ("false-sharing", short, "false-sharing", "bump_counter"),
        ("chase-dram", long, "cache-capacity", "follow_pointers"),
        ("chase-tlb", long, "page-walks", "follow_pointers"),
    ] {
        dir.record(workload, "", &format!("{workload} {how}"));
        let report = dir.report(&format!("{workload}.ironlaw"), "");
        assert!(found_at(&report, "hot-function").contains(function), "{workload}: {}", report["findings"]);
        assert_ne!(verdict(&report, rule), "clear", "{workload}: {}", report["findings"]);
    }
}
