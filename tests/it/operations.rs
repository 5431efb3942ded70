//! Operations from the outside: what each source counts, that output goes by unchanged, and what is refused.

use crate::program::{Dir, IRONLAW, Ran, WORKLOADS, until};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn metric(report: &Value, name: &str) -> f64 {
    let metric = &report["metrics"][name];
    metric["value"].as_f64().unwrap_or_else(|| panic!("{name}: {metric}, {}", report["notes"]))
}

/// Records with a source of operations, and reads the recording.
fn recorded(dir: &Dir, ops: &str, command: &[&str]) -> (Ran, Value) {
    let ran = dir.ironlaw(&[&["record", "--force", "-o", "run", "--ops", ops, "--"], command].concat()).succeeds();
    (ran, dir.report("run.ironlaw", ""))
}

fn check_command(ops: &str, script: &str, expected: f64) {
    let (ran, report) = recorded(&Dir::new(), ops, &["sh", "-c", script]);
    assert_eq!(metric(&report, "operations"), expected, "{ops}: {script}: {}", ran.err);
}

#[test]
fn a_commands_own_count_is_the_reports_to_the_last_operation() {
    require!("perf");
    let dir = Dir::new();
    let workload = [WORKLOADS, "workload", "spin", "--threads", "2", "--seconds", "0.7"];
    let (ran, report) = recorded(&dir, "regex:ops ([0-9]+)", &workload);
    let printed: f64 =
        ran.out.strip_prefix("ops ").and_then(|count| count.trim().parse().ok()).expect("it was printed");
    assert_eq!(metric(&report, "operations"), printed);
    assert_eq!(report["operation_source"], "totals in the output by /ops ([0-9]+)/");
    let (cpu, per_op) = (metric(&report, "cpu_time"), metric(&report, "cpu_per_op"));
    assert!((per_op * printed / cpu - 1.0).abs() < 1e-9, "{cpu} s, {per_op} s each");
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert!(text.contains("per operation") && text.contains("ops       totals in the output"), "{text}");
    let quiet = dir.line("-q record --force -o run -- true").succeeds();
    let text = dir.line("report run.ironlaw").succeeds().out;
    assert_eq!(text.matches("no operation source (give one with --ops)").count(), 1, "{text}{}", quiet.err);
}

#[test]
fn totals_sums_and_pieces_of_lines_are_counted_in_both_streams() {
    require!("perf");
    check_command(
        "regex:total ([0-9,]+)",
        "echo total 5; echo total 1,234 >&2; printf 'total 2,00'; sleep 0.1; printf 0",
        2000.0,
    );
    check_command("regex:total ([0-9]+)", "echo total 90; echo total 10", 100.0);
    check_command(
        "regex-sum:did ([0-9]+)",
        "for i in 1 2 3 4; do echo did 10, did 1; sleep 0.05; done; echo did 2 >&2",
        46.0,
    );
    check_command("regex-sum:[0-9]+k", "printf '1k\\r2k\\r3k'", 6000.0);
    // What is left running keeps the pipe open, and must not keep the session.
    check_command("regex:n=([0-9]+)", "echo n=7; sleep 30 & exit 0", 7.0);
}

#[test]
fn a_rate_is_counted_for_as_long_as_it_stood() {
    require!("perf");
    let (_, report) =
        recorded(&Dir::new(), "regex-rate:([0-9.]+) req/s", &["sh", "-c", "sleep 0.6; echo 1000.5 req/s"]);
    let (throughput, elapsed) = (metric(&report, "throughput"), report["duration_s"].as_f64().expect("it lasted"));
    // As a sum it would be a thousand in all.
    assert!(throughput > 700.0 && throughput < 1300.0, "{throughput} in {elapsed} s");
    let (_, report) = recorded(&Dir::new(), "rate:5000", &["sleep", "0.3"]);
    let (operations, elapsed) = (metric(&report, "operations"), report["duration_s"].as_f64().expect("it lasted"));
    // It is counted from the first reading on, which a busy machine delays by some milliseconds.
    assert!(
        operations >= 5000.0 * (elapsed - 0.02) && operations < 5000.0 * (elapsed + 2.0),
        "{operations} in {elapsed} s"
    );
}

#[test]
fn numbers_printed_every_second_that_do_not_grow_are_rates_and_it_is_said() {
    require!("perf");
    let script = "for n in 1000 1040 980 1010; do sleep 0.5; echo $n ops; done";
    let (ran, report) = recorded(&Dir::new(), "regex:([0-9]+) ops", &["sh", "-c", script]);
    let throughput = metric(&report, "throughput");
    // As totals they would be a thousand in two seconds; as totals that restart, two thousand.
    assert!((700.0..1300.0).contains(&throughput), "{throughput}: {}", report["notes"]);
    assert!(report["notes"].to_string().contains("taken as rates per second"), "{} {}", ran.err, report["notes"]);
    let script = "for n in 100 200 300 400; do sleep 0.2; echo $n ops; done";
    let (_, report) = recorded(&Dir::new(), "regex:([0-9]+) ops", &["sh", "-c", script]);
    assert_eq!(metric(&report, "operations"), 400.0);
    assert!(!report["notes"].to_string().contains("ops-rate"), "{}", report["notes"]);
}

#[test]
fn output_that_is_matched_goes_by_byte_for_byte() {
    require!("perf");
    let dir = Dir::new();
    let script = format!(
        "head -c 3000000 /dev/urandom > in; '{IRONLAW}' -q record -o run --ops regex:x -- cat in | cksum; cksum < in; \
         '{IRONLAW}' -q record -o two --ops regex:x -- sh -c 'echo out; echo err >&2; exit 5' 2> err; echo $?; cat err; \
         '{IRONLAW}' -q record -o three --ops regex:x -- yes | head -n 1"
    );
    let ran = Ran::of(&mut dir.command("sh", &["-c", &script])).succeeds();
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[2..4], ["out", "5"], "{lines:?}");
    assert!(lines.contains(&"err") && lines.last() == Some(&"y"), "{lines:?}");
}

#[test]
fn output_without_a_number_is_no_count_of_none() {
    require!("perf");
    let (ran, report) = recorded(&Dir::new(), "regex:ops ([0-9]+)", &["echo", "nothing"]);
    assert_eq!(report["metrics"]["operations"]["missing"], "ops_silent", "{}", report["metrics"]["operations"]);
    assert!(ran.err.contains("holds a number by the pattern"), "{}", ran.err);
    assert!(report["notes"].to_string().contains("ops-gap"));
}

#[test]
fn a_file_counts_from_its_first_number_on() {
    require!("perf");
    let dir = Dir::new();
    fs::write(dir.join("total"), "1000 requests").expect("it can be written");
    let script = "for n in 1100 1250 1300; do echo $n requests > next; mv next total; sleep 0.1; done";
    let ops = format!("file:{}", dir.join("total").display());
    let (_, report) = recorded(&dir, &ops, &["sh", "-c", script]);
    assert_eq!(metric(&report, "operations"), 300.0);
}

/// An exporter whose counter is set from outside; it stalls when told to.
struct Exporter {
    address: String,
    count: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
    stall: Arc<AtomicBool>,
}

impl Exporter {
    fn start(count: u64) -> Exporter {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has one").to_string();
        let exporter =
            Exporter { address, count: Arc::new(AtomicU64::new(count)), asked: Arc::default(), stall: Arc::default() };
        let (count, asked, stall) = (exporter.count.clone(), exporter.asked.clone(), exporter.stall.clone());
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().expect("it can be cloned")).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let mut stream = stream;
                if stall.load(Ordering::SeqCst) {
                    asked.fetch_add(1, Ordering::SeqCst);
                    kept.push(stream);
                    continue;
                }
                let body = format!(
                    "# TYPE reqs_total counter\nreqs_total{{code=\"200\"}} {}\nreqs_total{{code=\"500\"}} 9\n",
                    count.load(Ordering::SeqCst)
                );
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                let _ = stream.write_all((head + &body).as_bytes());
                asked.fetch_add(1, Ordering::SeqCst);
            }
        });
        exporter
    }

    fn spec(&self, metric: &str) -> String {
        format!("http://{}/metrics#{metric}", self.address)
    }

    /// Until the count has been read twice more: the first answer may have been on its way already.
    fn until_read(&self) {
        let before = self.asked.load(Ordering::SeqCst);
        until("the exporter is asked", || self.asked.load(Ordering::SeqCst) >= before + 2);
    }
}

#[test]
fn an_exporter_counts_across_a_restart_and_a_stall_ends_nothing_but_itself() {
    require!("perf");
    let (dir, exporter) = (Dir::new(), Exporter::start(1000));
    let ops = exporter.spec("reqs_total{code=\"200\"}");
    let own = std::process::id().to_string();
    let mut running = dir.start(&["record", "-o", "run", "-I", "50ms", "--ops", &ops, "-p", &own]);
    exporter.until_read();
    for count in [1400, 30, 100] {
        exporter.count.store(count, Ordering::SeqCst);
        exporter.until_read();
    }
    exporter.stall.store(true, Ordering::SeqCst);
    exporter.until_read_once();
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.pid()).expect("it fits")).expect("it is positive");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    let ran = running.ends().succeeds();
    let totals = ops_totals(&dir);
    assert_eq!(totals.last(), Some(&500), "{totals:?} {}", ran.err);
    assert!(totals.is_sorted() && totals[0] == 0, "{totals:?}");
    let notes = dir.report("run.ironlaw", "")["notes"].to_string();
    assert!(notes.contains("ops-gap"), "{notes}");
}

impl Exporter {
    fn until_read_once(&self) {
        let before = self.asked.load(Ordering::SeqCst);
        until("the exporter is asked once more", || self.asked.load(Ordering::SeqCst) > before);
    }
}

fn ops_totals(dir: &Dir) -> Vec<u64> {
    let profile = ironlaw::session::open(&dir.join("run.ironlaw")).expect("the recording opens");
    profile.ops.iter().map(|(_, total)| total.0).collect()
}

/// The example in C, built here; `None` where there is no compiler.
pub(crate) fn example(dir: &Dir) -> Option<PathBuf> {
    let (root, built) = (Path::new(env!("CARGO_MANIFEST_DIR")), dir.join("count_operations"));
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]).arg(root.join("native")).arg("-o").arg(&built);
    match cc.arg(root.join("examples/count_operations.c")).status() {
        Err(error) => {
            crate::support::skip("cc", format!("there is no C compiler (cc): {error}"));
            None
        }
        Ok(status) => {
            assert!(status.success(), "ironlaw.h does not compile");
            Some(built)
        }
    }
}

/// A page of this test run, removed with the test.
struct Page(String);

impl Page {
    fn new(what: &str) -> Page {
        Page(format!("test-{what}-{}", std::process::id()))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = fs::remove_file(format!("/dev/shm/ironlaw-{}", self.0));
    }
}

#[test]
fn a_page_counts_every_threads_operations_and_begins_anew_with_each_run() {
    require!("perf");
    let (dir, page) = (Dir::new(), Page::new("count"));
    let Some(program) = example(&dir) else { return };
    let ops = format!("page:{}", page.0);
    // In the first run the page is not there yet, in the second the first one's is; in the third, threads share a slot.
    for (threads, slots) in [("4", "4"), ("4", "4"), ("4", "2")] {
        let command = [program.to_str().expect("it is UTF-8"), threads, "300000", &page.0, slots];
        let (ran, report) = recorded(&dir, &ops, &command);
        assert_eq!(metric(&report, "operations"), 1_200_000.0, "{slots} slots: {}", ran.err);
    }
}

#[test]
fn workers_that_count_at_the_same_time_share_their_page() {
    let (dir, page) = (Dir::new(), Page::new("shared"));
    let Some(program) = example(&dir) else { return };
    let all = format!("for i in 1 2 3; do '{}' 1 3000000 {} 8 & done; wait", program.display(), page.0);
    Ran::of(&mut dir.command("sh", &["-c", &all])).succeeds();
    let bytes = fs::read(format!("/dev/shm/ironlaw-{}", page.0)).expect("the page stays");
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let slots = u32::from_ne_bytes(bytes[16..20].try_into().expect("four bytes")) as usize;
    let total: u64 = (1..=slots).map(|slot| word(slot * 128)).sum();
    // Each is counted by its latency, too, behind the slots.
    let timed: u64 = (16 * (slots + 1)..bytes.len() / 8).map(|at| word(at * 8)).sum();
    assert_eq!(total, timed);
    // A worker that had ended before the next began left the page to it.
    assert!(total.is_multiple_of(3_000_000) && (3_000_000..=9_000_000).contains(&total), "{total}");
}

#[test]
fn what_cannot_count_is_refused_with_the_object_and_the_way_out() {
    require!("perf");
    let (dir, exporter) = (Dir::new(), Exporter::start(1));
    let unused = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port is free");
    let (near, refused) = (exporter.spec("req_total"), format!("http://{unused}/metrics#x"));
    for (ops, code, said) in [
        ("requests", 2, "regex:PATTERN"),
        ("regex:(", 2, "unclosed group"),
        ("regex:x", 2, "-- CMD"),
        ("https://localhost/metrics#x", 2, "https"),
        ("file:/no/such/file", 1, "/no/such/file"),
        ("page:no-such-page", 1, "ironlaw_open"),
        (near.as_str(), 1, "reqs_total"),
        (exporter.spec("reqs_total{code=\"404\"}").as_str(), 1, "code=\"500\""),
        (refused.as_str(), 1, "refused"),
    ] {
        let ran = dir.ironlaw(&["record", "-o", "run", "--ops", ops, "-p", &std::process::id().to_string(), "-d", "1"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{ops}: {}", ran.err);
        assert!(ran.err.contains(said), "{ops}: {}", ran.err);
    }
    assert_eq!(fs::read_dir(dir.path()).map(Iterator::count).ok(), Some(0), "nothing is left behind");
}
