//! Colocation from the outside: real programs beside each other, what goes wrong with them, what is put back.

use crate::program::{Dir, Ran, Running, WORKLOADS, until};
use ironlaw::export;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A workload of this program, by name.
fn workload(name: &str, threads: u32, seconds: f64) -> String {
    format!("{name}{threads}='{WORKLOADS}' workload {name} --threads {threads} --seconds {seconds}")
}

fn colocate(dir: &Dir, flags: &str, victims: &[&str], neighbours: &[&str]) -> Ran {
    let words: Vec<String> = words(flags, victims, neighbours);
    dir.ironlaw(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn words(flags: &str, victims: &[&str], neighbours: &[&str]) -> Vec<String> {
    let base = format!("-q colocate --seed 3 -o c --settle 50ms --ops regex:ops\\s(\\d+) {flags}");
    let mut words: Vec<String> = base.split(' ').map(String::from).collect();
    for (flag, programs) in [("--victim", victims), ("--with", neighbours)] {
        words.extend(programs.iter().flat_map(|program| [flag.to_string(), (*program).to_string()]));
    }
    words
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Whether a process runs whose command line has this word.
fn runs(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_own = entry.file_name().to_string_lossy() == std::process::id().to_string();
        !is_own && !line.starts_with(b"ironlaw") && line.split(|byte| *byte == 0).any(|own| own == word.as_bytes())
    })
}

#[test]
fn a_matrix_of_built_in_programs_keeps_to_its_schema_in_every_form() {
    require!("perf");
    let dir = Dir::new();
    let (victim, busy) = (workload("spin", 1, 0.3), workload("spin", 2, 600.0));
    let flags = "-r 2 -d 20s --load 0.5,1 --control cpuset --format json";
    let ran = colocate(&dir, flags, &[&victim], &[&busy, "quiet=sleep 1000"]).succeeds();
    let view = json(&ran.out);
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("colocate.json", json(export::json::COLOCATE_SCHEMA)).unwrap();
    let id = compiler.compile("colocate.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(&view, id) {
        panic!("{error:#}");
    }
    let mut wrong = view.clone();
    wrong["cells"][0]["slowdown"] = serde_json::json!("1.2");
    assert!(schemas.validate(&wrong, id).is_err(), "the schema would take a string for a number");
    let cells = view["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let (low, high) = (cell["interval"][0].as_f64().unwrap(), cell["interval"][1].as_f64().unwrap());
        let slowdown = cell["slowdown"].as_f64().unwrap();
        assert!(low <= slowdown && slowdown <= high && cell["pairs"] == 2, "{cell}");
        assert_eq!(cell["measure"], "throughput");
        assert_eq!(cell["verdict"] == "slower", low > 1.0, "{cell}");
        assert_eq!(cell["imposed"].is_object(), cell["load"] == 0.5, "{cell}");
    }
    assert_eq!(view["profiles"].as_array().unwrap().len(), 3);
    let busy = view["profiles"][1]["values"][0]["value"].as_f64().unwrap();
    assert!(busy > 0.0 && view["profiles"][1]["pressure"].is_number(), "{}", view["profiles"][1]);
    let again = json(&dir.line("report c.colocate --format json").succeeds().out);
    assert_eq!((&again["cells"], &again["profiles"]), (&view["cells"], &view["profiles"]), "what is read back");
    let text = dir.line("report c.colocate").succeeds().out;
    assert!(text.contains("Slowdown at load 0.5") && text.contains("quiet") && text.contains("sensitivity"), "{text}");
    for (file, begins) in [("c.svg", "<?xml"), ("c.html", "<!DOCTYPE html>")] {
        dir.line(&format!("report c.colocate --format html -o {file}")).succeeds();
        let page = std::fs::read_to_string(dir.join(file)).unwrap();
        assert!(page.starts_with(begins) && page.matches("<rect").count() >= 5, "{file}: {page:.200}");
    }
    let markdown = dir.line("report c.colocate --format md").succeeds().out;
    assert!(markdown.contains("| victim | `spin2` | `quiet` |"), "{markdown}");
}

#[test]
fn a_program_that_fails_leaves_a_reason_and_the_others_go_on() {
    require!("perf");
    let dir = Dir::new();
    let good = workload("spin", 1, 0.2);
    let victims = [good.as_str(), "none=/no/such/program", "fails=sh -c 'exit 3'"];
    let neighbours = ["gone=/no/such/neighbour", "short=sleep 0.05", "dies=sh -c 'sleep 0.1; exit 5'"];
    let view = json(&colocate(&dir, "-r 1 -d 20s --format json", &victims, &neighbours).succeeds().out);
    let cell = |victim: &str, neighbour: &str| {
        let cells = view["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["victim"] == victim && cell["neighbour"] == neighbour).unwrap().clone()
    };
    let reason = |cell: &Value| cell["missing"].as_str().unwrap_or_default().to_string();
    let short = cell("spin1", "short");
    assert!(short["verdict"] == "undecided" && short["restarts"].as_u64() > Some(0), "{short}");
    for (victim, neighbour, says) in [
        ("spin1", "gone", "not found"),
        ("spin1", "dies", "exit code 5"),
        ("none", "short", "no/such/program"),
        ("fails", "short", "exit code 3"),
    ] {
        let cell = cell(victim, neighbour);
        assert!(cell["verdict"] == "missing" && reason(&cell).contains(says), "{says}: {cell}");
    }
    let ran = colocate(&dir, "-f -r 1", &["none=/no/such/program"], &["quiet=sleep 1000"]);
    assert!(
        ran.code == Some(1) && ran.err.contains("no run of") && ran.err.contains("/no/such/program"),
        "{}",
        ran.err
    );
}

#[test]
fn what_a_victim_leaves_in_the_background_ends_with_its_run() {
    require!("perf");
    let dir = Dir::new();
    let victim = "leaver=sh -c 'sleep 98761 & echo ops 5; sleep 0.2'";
    colocate(&dir, "-r 1 -d 20s", &[victim], &["quiet=sleep 98762"]).succeeds();
    assert!(!runs("98761") && !runs("98762"));
}

#[test]
fn an_interrupted_colocation_reports_what_it_has_and_ends_all_programs() {
    require!("perf");
    let dir = Dir::new();
    let victim = workload("spin", 1, 0.2);
    let words = words("-r 50 -d 20s --format json", &[&victim], &["quiet=sleep 98763"]);
    let mut running = dir.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let done = || {
        let text = std::fs::read_to_string(dir.join("c.colocate/colocate.json")).unwrap_or_default();
        text.matches("\"done\"").count()
    };
    // The neighbour's profile lasts as long as --duration.
    until("some runs are over", || done() >= 4);
    signal(&running, Signal::INT);
    let ran = running.ends().succeeds();
    let view = json(&ran.out);
    assert!(view["stopped"] == true && view["cells"][0]["slowdown"].is_number(), "{view}");
    assert!(!runs("98763"));
}

#[test]
fn a_killed_colocation_leaves_no_program_and_its_control_group_is_removed_later() {
    require!("perf", "root");
    let dir = Dir::new();
    let words = words(
        "-r 1 -d 3s --load 0.5",
        &["v=sh -c 'sleep 98764'"],
        &["busy=sh -c 'while :; do sleep 0.001; done' 98765"],
    );
    let mut running = dir.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let name = format!("ironlaw-{}", running.pid());
    let places = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let group = || places.iter().map(|place| std::path::Path::new(place).join(&name)).find(|path| path.exists());
    let mut found = None;
    until("a control group is made, or the runs end without one", || {
        found = group();
        found.is_some() || running.0.try_wait().unwrap().is_some()
    });
    let Some(found) = found else { return crate::support::skip("root", "no control group can be made here") };
    until("the neighbour is in it", || {
        std::fs::read_to_string(found.join("cgroup.procs")).is_ok_and(|text| !text.is_empty()) && runs("98765")
    });
    signal(&running, Signal::KILL);
    running.0.wait().unwrap();
    until("its neighbour is killed", || !runs("98765"));
    // Another test's start may have removed it meanwhile, which is as good.
    dir.line("colocate --restore").succeeds();
    assert!(!found.exists(), "{}", found.display());
}

fn signal(running: &Running, signal: Signal) {
    kill_process(Pid::from_child(&running.0), signal).unwrap();
}
