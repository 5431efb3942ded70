//! `ironlaw export` from the outside, on a recording of an older version: where its bytes go, and what it refuses.

use crate::program::{Dir, IRONLAW};
use crate::pty::{End, Pty};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

fn recording() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw").display().to_string()
}

fn export(dir: &Dir, flags: &str) -> crate::program::Ran {
    dir.line(&format!("export {} {flags}", recording()))
}

/// Values of the lines of folded stacks together.
fn sum(folded: &str) -> u64 {
    folded.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

#[test]
fn folded_stacks_add_up_to_the_report() {
    let dir = Dir::new();
    for flags in ["", "--thread 4101", "--thread s*", "--time-range 1s-2s"] {
        let report = dir.line(&format!("report {} --format json {flags}", recording())).succeeds();
        let report: serde_json::Value = serde_json::from_str(&report.out).expect("it is JSON");
        let folded = sum(&export(&dir, &format!("--format folded {flags}")).succeeds().out);
        let whole = ["count", "weight"].map(|key| report["samples"][key].as_u64());
        assert!(whole.contains(&Some(folded)), "{flags}: {folded} {whole:?}");
    }
}

#[test]
fn a_file_says_its_size_and_its_ending_says_the_format_and_whether_to_compress() {
    let dir = Dir::new();
    for (file, begins) in [
        ("run.folded", &b""[..]),
        ("run.pb.gz", b"\x1f\x8b"),
        ("run.speedscope.json", b"{\"$schema\""),
        ("run.firefox.json.gz", b"\x1f\x8b"),
        ("run.perf", b""),
        ("run.csv", b"time_s,"),
        ("run.parquet", b"PAR1"),
    ] {
        let ran = export(&dir, &format!("-o {file}")).succeeds();
        assert!(ran.out.is_empty() && ran.err.contains(file) && ran.err.contains("kB"), "{file}: {}", ran.err);
        let bytes = fs::read(dir.join(file)).expect("it was written");
        assert!(!bytes.is_empty() && bytes.starts_with(begins), "{file}");
    }
    let mut plain = String::new();
    let packed = fs::File::open(dir.join("run.firefox.json.gz")).expect("it was written");
    flate2::read::GzDecoder::new(packed).read_to_string(&mut plain).expect("it is compressed");
    assert_eq!(plain, export(&dir, "--format firefox -o -").succeeds().out, "the same through a pipe");
}

#[test]
fn what_cannot_be_exported_is_refused_with_what_to_do() {
    let dir = Dir::new();
    for (flags, message) in [
        ("", "neither --format nor a file is given"),
        ("-o run.json", "no format has this ending"),
        ("--format csv --event cycles --off-cpu", "cannot be used with"),
        ("-o run.csv --thread nobody", "no thread of the recording is selected"),
    ] {
        let ran = export(&dir, flags);
        assert!(ran.code != Some(0) && ran.err.contains(message), "{flags}: {}", ran.err);
        assert_eq!(fs::read_dir(dir.path()).expect("it can be listed").count(), 0, "nothing is left behind");
    }
}

#[test]
fn bytes_that_are_no_text_never_reach_a_terminal() {
    let dir = Dir::new();
    for (format, refused) in [("pprof", true), ("parquet", true), ("folded", false)] {
        let mut command = dir.command(IRONLAW, &["export", &recording(), "--format", format]);
        let mut pty = Pty::start(&mut command, (100, 30));
        assert_eq!(pty.ends(), End::Code(if refused { 2 } else { 0 }), "{format}");
        assert_eq!(pty.text().contains("to a terminal: it is binary"), refused, "{}", pty.text());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let dir = Dir::new();
    let mut child = dir
        .command(IRONLAW, &["export", &recording(), "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
    assert!(child.wait().expect("it ends").success() && said.is_empty(), "{said}");
}

#[test]
fn stacks_of_waits_end_where_the_thread_waits_and_not_in_what_took_them() {
    require!("perf", "root");
    let dir = Dir::new();
    dir.ironlaw(&["-q", "record", "--off-cpu", "-o", "nap", "--", "sleep", "0.4"]).succeeds();
    let folded = dir.line("export nap.ironlaw --off-cpu --format folded -o -").succeeds().out;
    let leaves: Vec<&str> = folded.lines().filter_map(|line| line.rsplit_once(' ')?.0.rsplit(';').next()).collect();
    assert!(!leaves.is_empty(), "{folded}");
    let own = ["bpf_prog_", "bpf_trace_run", "__traceiter_", "__bpf_trace_"];
    assert!(!leaves.iter().any(|leaf| own.iter().any(|start| leaf.starts_with(start))), "{folded}");
    if folded.contains("schedule") {
        assert!(leaves.iter().any(|leaf| leaf.contains("schedule")), "{folded}");
    }
}
