//! What other tools recorded, imported: it holds what `perf report` sees in it, and damage costs no more than what it hit.

#[path = "../../examples/count_samples.rs"]
#[expect(dead_code, reason = "the example has a main of its own")]
mod count_samples;

use crate::program::Dir;
use ironlaw::session::import::{Options, Source, import};
use ironlaw::store::Writer;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perfdata")
}

fn fixture(name: &str) -> PathBuf {
    fixtures().join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("paths here are Unicode")
}

/// Event, command and object, and under each: samples, weight, different symbols.
type Counts = BTreeMap<[String; 3], (u64, u64, usize)>;

/// What perf counts in a fixture.
fn expected(name: &str) -> Counts {
    let table = std::fs::read_to_string(fixture("counts.tsv")).expect("the table is there");
    let rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row[0] == name);
    let number = |field: &str| field.parse::<u64>().expect("it is a number");
    rows.map(|row| {
        let key = [row[1], row[2], row[3]].map(String::from);
        (key, (number(row[4]), number(row[5]), number(row[6]) as usize))
    })
    .collect()
}

/// What a recording holds. A kernel's address outside everything mapped is the kernel's all the same, as the sample says.
fn found(recording: &Path) -> Counts {
    let profile = ironlaw::session::open(recording).expect("the recording opens");
    let (mut counts, mut symbols) = (Counts::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for ([event, comm, object, symbol], (samples, weight)) in count_samples::counts(&profile) {
        let high = u64::from_str_radix(symbol.trim_start_matches("0x"), 16).is_ok_and(|address| address >> 63 == 1);
        let object = if object == "[unknown]" && high { "[kernel]".to_string() } else { object };
        let key = [event, comm, object];
        symbols.entry(key.clone()).or_default().insert(symbol);
        let count = counts.entry(key.clone()).or_default();
        *count = (count.0 + samples, count.1 + weight, symbols[&key].len());
    }
    counts
}

#[test]
fn every_file_holds_what_perf_report_counts_in_it() {
    let dir = Dir::new();
    let names: Vec<_> = std::fs::read_dir(fixtures()).expect("the fixtures are there").flatten().collect();
    let files = names.iter().filter_map(|entry| entry.file_name().into_string().ok());
    for name in files.filter(|name| name.starts_with("perf.data")) {
        let path = fixture(&name);
        // Nothing is named, so that every address counts.
        let own = ["import", text(&path), "-o", "run", "--force", "--symfs", ".", "--kallsyms", "/dev/null"];
        dir.ironlaw(&own).succeeds();
        assert_eq!(found(&dir.join("run.ironlaw")), expected(&name), "{name}");
    }
}

#[test]
fn the_recording_says_what_the_file_says_of_its_machine() {
    let dir = Dir::new();
    let path = fixture("perf.data.lost_samples-4.4");
    let ran = dir.ironlaw(&["import", text(&path), "-o", "run"]).succeeds();
    assert!(
        ran.err.contains("191 samples of cycles:pp, instructions:pp, branch-instructions:pp, 2 lost"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("look at it with: ironlaw view run.ironlaw"), "{}", ran.err);
    let meta = ironlaw::session::open(&dir.join("run.ironlaw")).expect("it opens").meta;
    assert_eq!((meta.host.kernel.as_str(), meta.host.arch.as_str()), ("4.14.18", "x86_64"));
    assert!(meta.host.cpus.len() > 1 && meta.host.memory_bytes > 1 << 30, "{:?}", meta.host);
    assert_eq!(meta.events.iter().map(|event| event.group).collect::<Vec<_>>(), [Some(0); 3]);
    assert_eq!(meta.plan.rate, ironlaw::model::Rate::Period(20003));
    assert!(meta.plan.target.label().contains("perf record"), "{:?}", meta.plan.target);
    let topics: Vec<_> = meta.notes.iter().map(|note| note.topic.as_str()).collect();
    assert_eq!(topics, ["no-cpus", "files-not-here", "kernel-symbols-foreign"]);
}

#[test]
fn every_reader_works_on_an_import() {
    let dir = Dir::new();
    let path = fixture("perf.data.callgraph-3.8");
    dir.ironlaw(&["import", text(&path), "-o", "run"]).succeeds();
    let report = dir.report("run.ironlaw", "--event cycles");
    assert_eq!(report["samples"]["count"], 1768);
    let folded = dir.line("flamegraph run.ironlaw --format folded -o -").succeeds().out;
    let total: u64 = folded.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    assert_eq!(total, 291_177_942, "cycles, as perf report sums them");
    assert!(dir.line("report run.ironlaw --by module").succeeds().out.contains("libglib-2.0.so"));
}

#[test]
fn a_perf_data_file_is_read_directly_as_if_it_had_been_imported() {
    let dir = Dir::new();
    let names = std::fs::read_dir(fixtures()).expect("the fixtures are there").flatten();
    let files = names.filter_map(|entry| entry.file_name().into_string().ok());
    for name in files.filter(|name| name.starts_with("perf.data")) {
        let path = fixture(&name);
        dir.ironlaw(&["import", text(&path), "-o", "run", "--force"]).succeeds();
        let direct = ironlaw::session::open(&path).expect("it is read");
        let imported = ironlaw::session::open(&dir.join("run.ironlaw")).expect("it opens");
        assert_eq!(format!("{direct:?}"), format!("{imported:?}"), "{name}");
    }
    let path = fixture("perf.data.callgraph-3.8");
    let folded = dir.ironlaw(&["flamegraph", text(&path), "--format", "folded", "-o", "-"]).succeeds().out;
    assert!(folded.lines().count() > 10, "{folded}");
    assert_eq!(dir.ironlaw(&["report", text(&path), "--format", "json"]).succeeds().code, Some(0));
}

#[test]
fn a_pipe_is_read_as_well_as_a_file_and_needs_a_name() {
    let dir = Dir::new();
    let path = fixture("perf.data.piped-6.8");
    let script = format!("cat {} | {} import - -o run", text(&path), crate::program::IRONLAW);
    let ran = dir.command("sh", &["-c", &script]).output().expect("there is a shell");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let samples: u64 = found(&dir.join("run.ironlaw")).values().map(|count| count.0).sum();
    assert_eq!(samples, 21);
    let nameless = dir.ironlaw(&["import", "-"]);
    assert_eq!(nameless.code, Some(1), "{}", nameless.err);
    let script = format!("cat {} | {} import -", text(&path), crate::program::IRONLAW);
    let ran = dir.command("sh", &["-c", &script]).output().expect("there is a shell");
    assert_eq!(ran.status.code(), Some(2), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn what_is_no_recording_is_refused_and_leaves_nothing() {
    let dir = Dir::new();
    std::fs::write(dir.join("text"), "no stacks\nhere at all\n").expect("it can be written");
    std::fs::write(dir.join("head"), b"PERFILE2\x68\0\0\0\0\0\0\0").expect("it can be written");
    std::fs::write(dir.join("old"), b"PERFFILE and more").expect("it can be written");
    std::fs::write(dir.join("none"), b"").expect("it can be written");
    for (name, said) in [
        ("text", "neither perf.data nor perf script's text nor folded stacks"),
        ("head", "ends within its header"),
        ("old", "first format"),
        ("none", "empty"),
        ("absent", "absent"),
        (".", "is a directory"),
    ] {
        let ran = dir.ironlaw(&["import", name, "-o", "run"]);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.err);
        assert!(ran.err.contains(said), "{name}: {}", ran.err);
        assert!(!dir.join("run.ironlaw").exists(), "{name}");
    }
    let path = fixture("perf.data.group_desc-4.14");
    dir.ironlaw(&["import", text(&path), "-o", "run"]).succeeds();
    assert_eq!(dir.ironlaw(&["import", text(&path), "-o", "run"]).code, Some(2), "an older recording is kept");
    dir.ironlaw(&["import", text(&path), "-o", "run", "--force"]).succeeds();
}

/// Imports bytes in this process: the samples, or nothing if it was refused, and whether a gap was stated.
fn imported(dir: &Dir, bytes: Vec<u8>) -> Option<(u64, bool)> {
    let source = Source { name: "bytes".into(), bytes: std::sync::Arc::new(bytes), file: None, written_unix_ns: None };
    let options = Options { symfs: Some(dir.path().to_path_buf()), ..Options::default() };
    let path = dir.join("damaged.ironlaw");
    let done = import(&source, &options, |meta| Writer::create(&path, meta, true)).ok()?;
    Some((done.stats.samples, done.meta.notes.iter().any(|note| note.topic == "import-gap")))
}

#[test]
fn a_file_cut_off_gives_what_it_holds_and_says_so() {
    let dir = Dir::new();
    for name in ["perf.data.lost_samples-4.4", "perf.data.piped-6.8", "perf.data.hybrid_topology", "perf.data.zstd-6.1"]
    {
        let whole = std::fs::read(fixture(name)).expect("the fixture is there");
        let all = imported(&dir, whole.clone()).expect("a whole file is read").0;
        let mut best = 0;
        for part in 1..12 {
            let cut = whole[..whole.len() * part / 12].to_vec();
            let Some((samples, gap)) = imported(&dir, cut) else { continue };
            assert!(samples <= all && samples >= best, "{name}, {part}/12: {samples} of {all}");
            // A pipe may end behind any record.
            assert!(gap || name.contains("piped"), "{name}, {part}/12: {samples} of {all} without a word");
            best = samples;
        }
        // In so short a pipe the samples come after everything else.
        let least = if name.contains("piped") { all / 8 } else { all / 2 };
        assert!(best > least, "{name}: the best of the parts holds {best} of {all}");
    }
}

#[test]
fn no_damage_does_more_than_to_be_told() {
    let dir = Dir::new();
    // Numbers that look random and are the same in every run.
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for name in ["perf.data.lost_samples-4.4", "perf.data.piped-6.8", "perf.data.group_desc-4.14", "perf.data.zstd-6.1"]
    {
        let whole = std::fs::read(fixture(name)).expect("the fixture is there");
        for round in 0..16 {
            let mut bytes = whole.clone();
            // The header decides where everything lies: half of the damage is done there.
            let reach = if round % 2 == 0 { bytes.len() } else { 0x400 };
            for _ in 0..1 + round {
                let at = random(reach);
                bytes[at] = [0, 0xff, random(256) as u8][random(3)];
            }
            let _ = imported(&dir, bytes);
        }
    }
}

#[test]
fn folded_stacks_come_back_as_they_were() {
    let dir = Dir::new();
    let text = "main;operator new(unsigned long) 3\nmain;parse;strtol 42\nmain;read;do_syscall_64_[k] 5\n";
    std::fs::write(dir.join("out.folded"), text).expect("it can be written");
    dir.line("import out.folded -o run").succeeds();
    let folded = dir.line("flamegraph run.ironlaw --format folded -o -").succeeds().out;
    let (mut back, mut lines): (Vec<_>, Vec<_>) = (folded.lines().collect(), text.lines().collect());
    back.sort_unstable();
    lines.sort_unstable();
    let plain: Vec<_> = lines.iter().map(|line| line.replace("_[k]", "")).collect();
    assert_eq!(back, plain);
    assert_eq!(dir.report("run.ironlaw", "")["samples"]["count"], 50);
}

/// The lines of folded stacks, sorted.
fn folded(dir: &Dir, line: &str) -> Vec<String> {
    let out = dir.line(&format!("{line} --format folded -o -")).succeeds().out;
    let mut lines: Vec<String> = out.lines().map(String::from).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn counts_of_folded_stacks_stay_what_they_are() {
    let dir = Dir::new();
    for (text, count) in [
        ("main;a 1000000\nmain;b 1000000\n", 2_000_000),
        ("main;idle 2.25\nmain;work;cold 0.5\nmain;work;hot 1.5\n", 4),
        ("main;a 0.5\nmain;b 10\nmain;c 3\n", 14),
    ] {
        std::fs::write(dir.join("x.folded"), text).expect("it can be written");
        let lines: Vec<String> = text.lines().map(String::from).collect();
        assert_eq!(folded(&dir, "flamegraph x.folded"), lines, "without an import");
        dir.line("import x.folded -o run -f").succeeds();
        assert_eq!(folded(&dir, "export run.ironlaw"), lines);
        let report = dir.report("run.ironlaw", "");
        assert_eq!(report["samples"]["count"], count, "{text}");
        // The same through the text of perf script.
        dir.line("export run.ironlaw --format perfscript -o run.perf").succeeds();
        dir.line("import run.perf -o again -f").succeeds();
        assert_eq!(folded(&dir, "export again.ironlaw"), lines);
    }
    assert_eq!(dir.report("x.folded", "")["functions"][0]["name"], "b");
    dir.line("flamegraph x.folded -f -o x.svg").succeeds();
    let drawn = std::fs::read_to_string(dir.join("x.svg")).expect("it was written");
    assert!(drawn.contains("millionths of a sample"), "shares of 13.5 samples");
}

#[test]
fn two_counts_per_line_are_shown_one_by_one_and_compared() {
    let dir = Dir::new();
    std::fs::write(dir.join("two.folded"), "main;work;hot 100 200\nmain;work;cold 50 50\nmain;gone 30 0\n")
        .expect("it can be written");
    let ran = dir.line("import two.folded -o two").succeeds();
    assert!(ran.err.contains("every line has two counts"), "{}", ran.err);
    let after = ["main;work;cold 50", "main;work;hot 200"];
    let before = ["main;gone 30", "main;work;cold 50", "main;work;hot 100"];
    assert_eq!(folded(&dir, "flamegraph two.folded"), after);
    assert_eq!(folded(&dir, "export two.ironlaw"), after);
    assert_eq!(folded(&dir, "flamegraph two.ironlaw --event before"), before);
    let compared = dir.line("diff two.folded --format json").succeeds();
    let compared: serde_json::Value = serde_json::from_str(&compared.out).expect("it is JSON");
    let functions = compared["comparisons"][0]["code"]["functions"].as_array().expect("a table");
    let hot = functions.iter().find(|row| row["name"] == "hot").expect("it is there");
    let near = |value: &serde_json::Value, share: f64| (value.as_f64().unwrap_or_default() - share).abs() < 1e-9;
    assert!(near(&hot["base"], 100.0 / 180.0) && near(&hot["new"], 0.8), "{hot}");
}

#[test]
fn an_event_without_samples_makes_room_for_the_first_that_has_some() {
    let dir = Dir::new();
    std::fs::write(dir.join("x.folded"), "main;a 3 0\nmain;b 4 0\n").expect("it can be written");
    let report = dir.report("x.folded", "");
    assert_eq!((&report["samples"]["count"], &report["selection"]["event"]), (&7.into(), &"before".into()));
    let ran = dir.line("flamegraph x.folded --format folded -o -").succeeds();
    assert!(ran.err.contains("after has no samples: this shows before"), "{}", ran.err);
    assert_eq!(ran.out, "main;a 3\nmain;b 4\n");
    let chosen = dir.line("report x.folded --event after --format json").succeeds().out;
    assert!(!chosen.contains("first-event-without-samples"), "{chosen}");
}

#[test]
fn the_text_of_perf_script_is_read_and_comes_back_as_the_same_stacks() {
    let dir = Dir::new();
    let script = "app 12 [000] 1.000001: 250000 cpu-clock:\n\t1234 work+0x4 (/bin/app)\n\t1300 main+0x10 (/bin/app)\n";
    std::fs::write(dir.join("script.txt"), script).expect("it can be written");
    let ran = dir.line("import script.txt -o s").succeeds();
    assert!(ran.err.contains("1 samples of cpu-clock"), "{}", ran.err);
    assert_eq!(folded(&dir, "flamegraph script.txt"), ["main;work 1"]);
    assert_eq!(dir.report("s.ironlaw", "")["samples"]["weight"], 250_000);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
    let sources = [
        golden,
        fixture("perf.data.callgraph-3.8"),
        fixture("perf.data.hybrid_topology"),
        fixture("perf.data.zstd-6.1"),
    ];
    for path in sources {
        dir.ironlaw(&["export", text(&path), "--format", "perfscript", "-o", "x.perf"]).succeeds();
        dir.line("import x.perf -o x -f").succeeds();
        let events = |path: &Path| ironlaw::session::open(path).expect("it opens").meta.events;
        for event in events(&dir.join("x.ironlaw")) {
            // The text names threads, and so a process only where its main thread was sampled.
            let by_number = |line: String| match line.split_once(';') {
                Some((root, rest)) => format!("{};{rest}", root.rsplit(' ').next().unwrap_or(root)),
                None => line,
            };
            let flame = |path: &str| {
                let lines = folded(&dir, &format!("flamegraph {path} --event {}", event.name));
                let mut lines: Vec<String> = lines.into_iter().map(by_number).collect();
                lines.sort_unstable();
                lines
            };
            let (again, before) = (flame("x.ironlaw"), flame(text(&path)));
            let differ = again.iter().zip(&before).find(|(again, before)| again != before);
            let same = differ.is_none() && again.len() == before.len();
            assert!(same, "{} of {}: {differ:?}", event.name, path.display());
        }
    }
}

#[test]
fn recordings_without_cpu_time_are_compared_by_share_and_it_is_said() {
    let dir = Dir::new();
    let write = |name: &str, counts: [u32; 2]| {
        let text = format!("java;Foo.run;Foo.work {}\njava;Foo.run;Foo.work2 {}\n", counts[0], counts[1]);
        std::fs::write(dir.join(name), text).expect("it can be written");
    };
    write("a.folded", [6000, 4000]);
    write("b.folded", [5000, 5000]);
    let ran = dir.line("diff a.folded b.folded --flamegraph d.svg").succeeds();
    assert!(ran.out.contains("compared by its share of all\n  samples"), "{}", ran.out);
    assert!(ran.out.contains("60.0%") && ran.out.contains("50.0%") && ran.out.contains("Foo.work2"), "{}", ran.out);
    assert!(dir.join("d.svg").exists());
    let (a, b) = (fixture("perf.data.callgraph-3.8"), fixture("perf.data.callgraph-3.8"));
    let ran = dir.ironlaw(&["diff", text(&a), text(&b)]).succeeds();
    assert!(ran.out.contains("share of all samples: 100"), "{}", ran.out);
}

/// Whether the perf tool can record here.
fn perf_records() -> bool {
    let there = Command::new("perf").arg("--version").output().is_ok();
    if !there {
        crate::support::skip("perf-tool", "the perf tool is not installed");
    }
    there
}

#[test]
fn what_perf_records_here_is_named_and_unwound() {
    require!("perf");
    if !perf_records() {
        return;
    }
    let dir = Dir::new();
    let workload = format!("{} workload deep --threads 1 --seconds 1", crate::program::WORKLOADS);
    for (flags, whole) in [("-g", false), ("-g -z", false), ("--call-graph dwarf,32768", true)] {
        let script = format!("perf record -q -e cpu-clock -F 199 {flags} -o p.data -- {workload}");
        let ran = dir.command("sh", &["-c", &script]).output().expect("there is a shell");
        if !ran.status.success() {
            // A perf built without zstd, or one that may not.
            crate::support::skip("perf-tool", format!("{script}: {}", String::from_utf8_lossy(&ran.stderr)));
            continue;
        }
        dir.line("import p.data -o run --force").succeeds();
        let report = dir.report("run.ironlaw", "");
        let hottest = &report["functions"][0]["name"];
        assert_eq!(hottest, "deep_leaf", "{flags}");
        if whole {
            let callers = report["functions"].as_array().expect("a table");
            assert!(callers.iter().any(|row| row["name"] == "deep_main"), "{flags}");
            assert!(
                report["samples"]["complete_share"].as_f64().is_none_or(|share| share > 0.9),
                "{}",
                report["samples"]
            );
        }
    }
}
