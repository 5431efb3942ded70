//! What the README promises of its first commands, run as it prints them: the known answers, and the text that it shows.

use crate::program::{Dir, IRONLAW, Ran};
use regex::Regex;
use std::fs;
use std::path::Path;

/// The shares that are planted in the demo, in percent of the CPU time of these functions: beside it there is what the kernel takes
/// for waking the workers, which is the machine's.
const PLANTED: [(&str, f64); 4] =
    [("checksum_block", 60.0), ("compress_block", 25.0), ("encode_reply", 10.0), ("parse_request", 5.0)];

/// How far a measured share may lie from the planted one, in percent points, and in its printed standard errors where the
/// machine is too busy for many samples.
const POINTS: f64 = 3.0;
const ERRORS: f64 = 4.0;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The command of the README that begins so, with this program in the place of `cargo run`.
fn command(readme: &str, words: &str) -> String {
    let line = readme.lines().find_map(|line| line.strip_prefix("    ").filter(|line| line.starts_with(words)));
    let line = line.unwrap_or_else(|| panic!("the README has no command '{words}'"));
    line.split('#').next().unwrap().trim().replace("cargo run --release --", IRONLAW)
}

fn run(dir: &Dir, line: &str) -> Ran {
    // Its files belong to this test alone.
    let mut command = dir.command("sh", &["-c", line]);
    Ran::of(command.env("TMPDIR", dir.path()).env_remove("COLUMNS")).succeeds()
}

/// The table of functions: its two lines of head with numbers masked, and the name of each row with its share and error.
fn functions(text: &str) -> (Vec<String>, Vec<(String, [f64; 2])>) {
    let mut lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("Functions "))
        .take_while(|line| !line.is_empty());
    let number = Regex::new(r"[0-9][0-9.,]*").unwrap();
    let blank = Regex::new(r"\s+").unwrap();
    let masked = |line: &str| blank.replace_all(&number.replace_all(line, "#"), " ").into_owned();
    let head = lines.by_ref().take(2).map(masked).collect();
    let row = Regex::new(r"^([0-9.]+)%\s+([0-9.]+)\s+[0-9.]+%(?: [kj])?\s+(\S+)\s+\S+$").unwrap();
    let rows = lines.filter_map(|line| row.captures(line));
    let rows = rows.map(|found| (found[3].to_string(), [1, 2].map(|at| found[at].parse().unwrap())));
    (head, rows.collect())
}

/// Panics unless the planted functions come first, in their order, with their shares.
fn check_shares(rows: &[(String, [f64; 2])], text: &str) {
    let all: f64 = rows.iter().take(PLANTED.len()).map(|(_, [share, _])| share / 100.0).sum();
    assert!(all > 0.8, "{rows:?} of which little is planted:\n{text}");
    for (at, (name, planted)) in PLANTED.iter().enumerate() {
        let (found, [share, error]) = rows.get(at).unwrap_or_else(|| panic!("no row for {name}:\n{text}"));
        let near = (share / all - planted).abs() <= POINTS.max(ERRORS * error) && *share >= planted / 2.0;
        assert!(found == name && near, "{name} {planted}%, found {found} {share}% of {rows:?}:\n{text}");
    }
}

#[test]
fn the_demo_answers_what_is_planted_and_prints_what_the_readme_shows() {
    require!("perf");
    let dir = Dir::new();
    let readme = readme();
    let Ran { out, err, .. } = run(&dir, &command(&readme, "cargo run --release -- demo"));
    let (head, rows) = functions(&out);
    check_shares(&rows, &out);
    let (printed_head, printed_rows) = functions(&readme);
    assert_eq!(printed_head, head, "the README shows another table");
    check_shares(&printed_rows, &readme);
    let picture = Regex::new(r"flame graph: (\S+\.svg)").unwrap().captures(&err).unwrap_or_else(|| panic!("{err}"))[1]
        .to_string();
    let svg = fs::read_to_string(dir.join(&picture)).unwrap();
    for (name, _) in PLANTED {
        assert!(svg.contains(&format!("<title>{name} ")), "{name} is not in {picture}");
    }
}

#[test]
fn the_demo_of_a_sweep_finds_the_planted_lock_by_name() {
    require!("perf");
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        crate::support::skip("cpus", "one CPU alone shows no lock");
        return;
    }
    let dir = Dir::new();
    let out = run(&dir, &command(&readme(), "cargo run --release -- demo sweep")).out;
    if out.contains("nothing is known") && out.contains("undecided, runs of the same width differ by as much") {
        crate::support::skip("quiet", "beside other programs, two runs of one width differ by more than a lock costs");
        return;
    }
    let finding = out.split("! waiting for locks").nth(1).unwrap_or_else(|| panic!("no lock is found:\n{out}"));
    let finding = finding.split("\n  ! ").next().unwrap();
    assert!(finding.contains("`update_shared_index`"), "{out}");
}
