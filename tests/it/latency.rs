//! Latencies from the outside: what each source says becomes the report's quantiles, and what is refused.

use crate::program::{Dir, Ran, until};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const WRK: &str = include_str!("../fixtures/latency/wrk.txt");
const REDIS_BENCHMARK: &str = include_str!("../fixtures/latency/redis-benchmark-csv.txt");

/// A program of that name that prints what the real one printed.
fn stand_in(dir: &Dir, name: &str, output: &str) -> String {
    let (text, path) = (dir.join(&format!("{name}.out")), dir.join(name));
    fs::write(&text, output).expect("it can be written");
    fs::write(&path, format!("#!/bin/sh\nsleep 0.1\ncat '{}'\n", text.display())).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

fn recorded(dir: &Dir, args: &[&str]) -> (Ran, Value) {
    let ran = dir.ironlaw(&[&["record", "--force", "-o", "run"], args].concat()).succeeds();
    let report = dir.report("run.ironlaw", "");
    crate::schema::keeps_to("report", &report);
    (ran, report)
}

#[test]
fn what_a_load_generator_prints_goes_by_and_is_the_reports() {
    require!("perf");
    let dir = Dir::new();
    let wrk = stand_in(&dir, "wrk", WRK);
    let (ran, report) = recorded(&dir, &["--latency", "output", "--", &wrk]);
    assert_eq!(ran.out, WRK);
    let latency = &report["latency"];
    assert_eq!((&latency["source"], &latency["count"]), (&"output of wrk".into(), &270_289.into()), "{latency}");
    assert_eq!((&latency["p50"], &latency["p99"], &latency["max"]), (&50e3.into(), &178e3.into(), &2960e3.into()));
    assert_eq!(latency["interval"]["p999"], serde_json::json!([177_995.0, 2_965_001.0]));
    assert!(latency["p999"].is_null() && latency["coordinated_omission"]["suffers"] == true, "{latency}");
    assert!(report["notes"].to_string().contains("coordinated-omission"), "{}", report["notes"]);
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert!(text.contains("Latency  output of wrk: 270,289 operations") && text.contains("coordinated omission: yes"));
    let markdown = dir.line("report run.ironlaw --format md").succeeds().out;
    assert!(markdown.contains("coordinated omission: yes"), "{markdown}");
}

#[test]
fn a_load_generator_beside_a_running_server_says_how_long_its_requests_took() {
    require!("perf");
    let (dir, own) = (Dir::new(), std::process::id().to_string());
    let generator = stand_in(&dir, "redis-benchmark", REDIS_BENCHMARK);
    let (ran, report) = recorded(&dir, &["--latency", "output", "-p", &own, "--", &generator, "-n", "20000", "--csv"]);
    assert_eq!((ran.out.as_str(), &report["latency"]["count"]), (REDIS_BENCHMARK, &40_000.into()), "{}", ran.err);
}

#[test]
fn operations_and_latencies_are_read_of_the_same_output() {
    require!("perf");
    let dir = Dir::new();
    let script = "for n in 1 2 3 4; do echo did $n in ${n}0 ms; sleep 0.05; done; echo odd in 7; exit 3";
    let args =
        ["--ops", "regex:did ([0-9]+)", "--latency", "regex:in ([0-9]+ ?m?s?)", "-I", "50ms", "--", "sh", "-c", script];
    let ran = dir.ironlaw(&[&["record", "-o", "run"][..], &args].concat());
    assert_eq!((ran.code, ran.out.lines().count()), (Some(3), 5), "{}", ran.err);
    let report = dir.report("run.ironlaw", "");
    assert_eq!(report["metrics"]["operations"]["value"], 4.0, "{}", report["metrics"]["operations"]);
    let latency = &report["latency"];
    assert_eq!((&latency["count"], &latency["missing"]["p50"]), (&4.into(), &"too few samples".into()), "{latency}");
    let max = latency["max"].as_f64().expect("it is known");
    assert!((max / 40e6 - 1.0).abs() < 0.02, "{max}");
    assert!(report["notes"].to_string().contains("1 of 5 matches"), "{}", report["notes"]);
}

#[test]
fn the_files_of_a_load_generator_are_followed() {
    require!("perf");
    let dir = Dir::new();
    fs::write(dir.join("log.99"), "0 1 77000 0 1795533630 5\n").expect("it can be written");
    let script = "for n in 1 2 3 4 5 6 7 8; do now=$(date +%s)
        for m in 1 2 3 4 5 6 7 8; do echo \"0 $n 2000 0 $now 999999\" >> log.100; echo \"1 $n 3000 0 $now 999999\" >> log.100.1; done
        sleep 0.05; done";
    let (ran, report) = recorded(&dir, &["--latency", "file:log", "-I", "100ms", "--", "sh", "-c", script]);
    let latency = &report["latency"];
    assert_eq!(latency["count"], 128, "{} {}", report["notes"], ran.err);
    let p50 = latency["p50"].as_f64().expect("it is known");
    assert!((p50 / 2e6 - 1.0).abs() < 0.002, "{p50}");
}

/// An exporter of a histogram whose counts are set from outside.
fn exporter() -> (String, Arc<[AtomicU64; 3]>, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has one").to_string();
    let (counts, asked): (Arc<[AtomicU64; 3]>, Arc<AtomicU64>) = (Arc::default(), Arc::default());
    let (shown, seen) = (counts.clone(), asked.clone());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("it can be cloned")).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let count = |at: usize| shown[at].load(Ordering::SeqCst);
            let body = format!(
                "req_seconds_bucket{{le=\"0.010\"}} {}\nreq_seconds_bucket{{le=\"0.012\"}} {}\n\
                 req_seconds_bucket{{le=\"+Inf\"}} {}\nold{{quantile=\"0.5\"}} 1\n",
                count(0),
                count(1),
                count(2)
            );
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all((head + &body).as_bytes());
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, counts, asked)
}

#[test]
fn a_servers_histogram_counts_across_a_restart() {
    require!("perf");
    let (dir, own) = (Dir::new(), std::process::id().to_string());
    let (address, counts, asked) = exporter();
    let set = |values: [u64; 3]| {
        for (count, value) in counts.iter().zip(values) {
            count.store(value, Ordering::SeqCst);
        }
        let before = asked.load(Ordering::SeqCst);
        until("the exporter is asked", || asked.load(Ordering::SeqCst) >= before + 2);
    };
    set_first(&counts, [100, 200, 300]);
    let spec = format!("http://{address}/metrics#req_seconds");
    let mut running = dir.start(&["record", "-o", "run", "-I", "50ms", "--latency", &spec, "-p", &own]);
    set([100, 200, 300]);
    set([100, 280, 380]);
    set([0, 20, 20]);
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.pid()).expect("it fits")).expect("it is positive");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    let ran = running.ends().succeeds();
    let report = dir.report("run.ironlaw", "");
    let latency = &report["latency"];
    assert_eq!((&latency["count"], &latency["p50"]), (&100.into(), &10_990_000.505.into()), "{latency} {}", ran.err);
    assert_eq!(latency["coordinated_omission"]["suffers"], Value::Null);
    let refused = dir.ironlaw(&["record", "-o", "two", "--latency", &format!("http://{address}/#old"), "-p", &own]);
    assert!(refused.code != Some(0) && refused.err.contains("is a Prometheus summary"), "{}", refused.err);
}

fn set_first(counts: &[AtomicU64; 3], values: [u64; 3]) {
    counts.iter().zip(values).for_each(|(count, value)| count.store(value, Ordering::SeqCst));
}

#[test]
fn a_program_counts_latencies_in_its_page() {
    require!("perf");
    let dir = Dir::new();
    let Some(example) = crate::operations::example(&dir) else { return };
    let (name, example) = (format!("latency-test-{}", std::process::id()), example.display().to_string());
    let spec = format!("page:{name}");
    // More threads than slots: they share the last one, and still count exactly.
    let (ran, report) = recorded(&dir, &["--ops", &spec, "--latency", &spec, "--", &example, "4", "50000", &name, "2"]);
    fs::remove_file(format!("/dev/shm/ironlaw-{name}")).expect("the program made it");
    assert_eq!(report["latency"]["count"], 200_000, "{} {}", report["notes"], ran.err);
    assert_eq!(report["metrics"]["operations"]["value"], 200_000.0);
    assert!(report["latency"]["p50"].as_f64().is_some_and(|p50| p50 > 0.0), "{}", report["latency"]);
}

#[test]
fn what_cannot_be_read_is_refused_before_anything_runs() {
    require!("perf");
    let dir = Dir::new();
    for (args, says) in [
        (&["--latency", "output", "--", "touch", "ran"][..], "not a load generator"),
        (&["--latency", "output:wrk", "-p", "1"], "none is started here"),
        (&["--latency", "file:nothing", "-p", "1"], "no file nothing"),
        (&["--latency", "page:no-such-page", "-p", "1"], "No such file"),
    ] {
        let ran = dir.ironlaw(&[&["record", "-o", "run"], args].concat());
        assert!(ran.code != Some(0) && ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    assert!(!dir.join("ran").exists());
}
