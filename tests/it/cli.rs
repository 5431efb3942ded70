//! The built program from the outside: what it prints where, how it ends, and what it leaves when things go wrong.

use crate::program::{Dir, IRONLAW, Ran, Running, WORKLOADS, until};
use crate::schema::keeps_to;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A recording that all tests of the readers share: the server workload with its waits where they can be seen.
fn shared() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = format!("{}/shared.ironlaw", env!("CARGO_TARGET_TMPDIR"));
        let waits = if can_see_waits() { "--off-cpu" } else { "" };
        Dir::new().record(&path, &format!("--force {waits}"), "hotspot --threads 2 --seconds 2.5");
        path
    })
}

fn can_see_waits() -> bool {
    ["tracefs", "root"].iter().all(|what| crate::support::missing(what).is_none())
}

fn send(signal: Signal, process: &Running) {
    let pid = i32::try_from(process.pid()).ok().and_then(Pid::from_raw).expect("a process id is positive");
    kill_process(pid, signal).expect("it is still there");
}

/// Reads a recording as JSON, with all rows.
fn json(flags: &str) -> Value {
    Dir::new().report(shared(), flags)
}

fn count(report: &Value) -> u64 {
    report["samples"]["count"].as_u64().expect("samples are counted")
}

fn column<'a>(report: &'a Value, table: &str, column: &str) -> Vec<&'a Value> {
    report[table].as_array().expect("it is a table").iter().map(|row| &row[column]).collect()
}

#[test]
fn a_command_keeps_its_exit_code() {
    require!("perf");
    let dir = Dir::new();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 128 + 9), ("kill -TERM $$", 128 + 15)] {
        let ran = dir.ironlaw(&["record", "--force", "-o", "run", "--", "sh", "-c", script]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{script}: {}", ran.err);
        assert!(ran.err.contains("read it with: ironlaw report run.ironlaw"), "{}", ran.err);
    }
    let missing = dir.line("record -o none -- no-such-program-anywhere");
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("no-such-program-anywhere"), "{}", missing.err);
    assert!(!dir.join("none.ironlaw").exists());
}

#[test]
fn a_command_keeps_its_streams() {
    require!("perf");
    let dir = Dir::new();
    let script = format!("seq 50000 | '{IRONLAW}' -q record -o run -- cat | cksum; seq 50000 | cksum");
    let ran = Ran::of(&mut dir.command("sh", &["-c", &script])).succeeds();
    let sums: Vec<_> = ran.out.lines().collect();
    assert!(sums.len() == 2 && sums[0] == sums[1], "{sums:?}");
    let ran = dir.ironlaw(&["-q", "record", "-o", "two", "--", "sh", "-c", "echo out; echo err >&2"]).succeeds();
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
}

#[test]
fn wrong_usage_is_told_from_failure_and_says_what_to_do() {
    let dir = Dir::new();
    for (line, code, said) in [
        ("record", 2, "Name one: -p PID"),
        ("record 1234", 2, "-p 1234"),
        ("record -p 1 -t 2", 2, "two targets"),
        ("record --no-such-flag -- true", 2, "--no-such-flag"),
        ("record -I 1ms -- true", 2, "10ms or more"),
        ("record -p 999999999 -d 1", 1, "999999999"),
        ("report no-such-recording", 1, "no-such-recording"),
        ("report", 1, "ironlaw record"),
        ("flamegraph", 1, "ironlaw record"),
        ("workload nonesuch", 2, "hotspot"),
        ("workload", 2, "<NAME>"),
    ] {
        let ran = dir.line(line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(said) && !ran.err.contains("panicked"), "{line}: {}", ran.err);
    }
    assert_eq!(fs::read_dir(dir.path()).map(Iterator::count).ok(), Some(0), "nothing is left behind");
}

#[test]
fn no_command_runs_when_its_recording_cannot_be_written() {
    require!("perf");
    let dir = Dir::new();
    fs::write(dir.join("file.ironlaw"), "kept").expect("it can be written");
    fs::create_dir_all(dir.join("photos.ironlaw/2024")).expect("it can be made");
    for (name, code) in [("nowhere/run", 1), ("file.ironlaw/run", 1), ("file.ironlaw", 2), ("photos.ironlaw", 2)] {
        for flags in [&[][..], &["--force"]] {
            let command = [&["record", "-o", name][..], flags, &["--", "touch", "ran"]].concat();
            let ran = dir.ironlaw(&command);
            assert_eq!(ran.code, Some(code), "{name}: {}", ran.err);
            assert!(ran.err.contains(name), "{name}: {}", ran.err);
            assert!(!dir.join("ran").exists(), "the command ran though {name} cannot be written");
        }
    }
    assert_eq!(fs::read_to_string(dir.join("file.ironlaw")).ok().as_deref(), Some("kept"));
}

#[test]
fn a_recording_is_replaced_only_on_request() {
    require!("perf");
    let dir = Dir::new();
    dir.line("-q record -o run -- true").succeeds();
    let ran = dir.line("record -o run -- touch ran");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("run.ironlaw exists") && ran.err.contains("--force"), "{}", ran.err);
    assert!(!dir.join("ran").exists());
    assert_eq!(dir.report("run.ironlaw", "")["target"], "true");
    dir.line("-q record -o run --force -- touch ran").succeeds();
    assert_eq!(dir.report("run.ironlaw", "")["target"], "touch ran");
}

#[test]
fn the_newest_recording_is_read_where_none_is_named() {
    require!("perf");
    let dir = Dir::new();
    dir.line("-q record -o b-first -- true").succeeds();
    dir.line("-q record -o a-second -- sleep 0.01").succeeds();
    let ran = dir.line("report").succeeds();
    assert!(ran.out.starts_with("ironlaw report  sleep 0.01\n"), "{}", ran.out);
    dir.line("-q record -- sleep 0.02").succeeds();
    let ran = dir.line("report --no-inline").succeeds();
    assert!(ran.out.starts_with("ironlaw report  sleep 0.02\n"), "{}", ran.out);
}

#[test]
fn the_text_report_in_a_pipe_has_whole_names_and_prose_of_eighty_columns() {
    require!("perf");
    let dir = Dir::new();
    for flags in ["", "--by module", "--by thread", "--by process", "--sort total --limit 0", "--time-range 1s-2s"] {
        let text = dir.line(&format!("report {} {flags}", shared())).succeeds().out;
        // Prose fits; names are whole, in the title and in the indented tables.
        let cut = text.lines().find(|line| line.contains('…') && !line.starts_with("  … and "));
        assert_eq!(cut, None, "{flags}");
        let prose = text.lines().skip(1).filter(|line| !line.starts_with(' '));
        let wide = prose.into_iter().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{flags}");
        assert!(!text.contains('\x1b') && text.ends_with('\n'), "{flags}");
        assert!(text.contains("\nMetrics\n") && text.contains("hotspot"), "{text}");
    }
    let always = dir.line(&format!("--color always report {}", shared())).succeeds().out;
    assert!(always.contains("\x1b["), "colour was asked for");
}

#[test]
fn colour_on_a_terminal_is_left_out_where_no_color_says_so() {
    require!("perf");
    let dir = Dir::new();
    let report = format!("'{IRONLAW}' --color auto report '{}'", shared());
    let on_a_terminal = || dir.command("script", &["-qec", &report, "/dev/null"]);
    if on_a_terminal().output().is_err() {
        crate::support::skip("script", "there is no `script` to make a terminal with");
        return;
    }
    let coloured = Ran::of(&mut on_a_terminal()).succeeds();
    assert!(coloured.out.contains("\x1b["), "{}", coloured.out);
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = Ran::of(on_a_terminal().env(variable, value)).succeeds();
        assert!(plain.out.contains("Metrics") && !plain.out.contains('\x1b'), "{variable}: {}", plain.out);
    }
}

#[test]
fn what_the_doctor_finds_keeps_to_its_schemas() {
    let dir = Dir::new();
    let parsed = |ran: &Ran| -> Value { serde_json::from_str(&ran.out).expect("it is JSON") };
    let found = dir.line("doctor --format json");
    let findings = parsed(&found);
    keeps_to("doctor", &findings);
    assert_eq!(findings["profiling_works"], found.code == Some(0));
    assert!(findings["checks"].as_array().is_some_and(|checks| checks.len() > 5), "{findings:#}");
    let health = parsed(&dir.line("doctor --health --format json").succeeds());
    keeps_to("health", &health);
    assert!(health["bandwidth"].as_array().is_some_and(|rows| !rows.is_empty()), "{health:#}");
    let limits = parsed(&dir.line("doctor --limits --format json").succeeds());
    keeps_to("limits", &limits);
    let text = dir.line("doctor --limits").succeeds().out;
    for limit in limits["limits"].as_array().expect("a list") {
        assert!(limit["bounds"].as_str().is_some_and(|bounds| text.contains(bounds)), "{limit}: {text}");
    }
}

#[test]
fn the_json_report_keeps_to_its_schema() {
    require!("perf");
    for flags in ["", "--by module", "--thread worker-0 --time-range 500ms-1500ms", "--time-range 900s-901s"] {
        keeps_to("report", &json(flags));
    }
    let report = json("");
    assert!(
        count(&report) > 20 && report["metrics"]["cpu_time"]["value"].as_f64() > Some(0.1),
        "{}",
        report["metrics"]
    );
}

#[test]
fn the_other_formats_are_what_their_names_say() {
    require!("perf");
    let dir = Dir::new();
    let csv = dir.line(&format!("report {} --format csv --no-inline --limit 5", shared())).succeeds().out;
    let lines: Vec<_> = csv.lines().collect();
    let columns = lines[0].split(',').count();
    assert!(lines.len() == 6 && lines[0].starts_with("function,module,"), "{csv}");
    assert!(lines[1].starts_with("checksum_block,") && lines[1].split(',').count() == columns, "{csv}");
    let markdown = dir.line(&format!("report {} --format md --no-inline -o report.md", shared())).succeeds();
    let text = fs::read_to_string(dir.join("report.md")).expect("it was written");
    assert!(markdown.out.is_empty() && text.starts_with("## ironlaw report"), "{text}");
    assert!(text.lines().any(|line| line.starts_with('|') && line.contains("checksum\\_block") || line.contains("`checksum_block`")));
}

#[test]
fn what_is_selected_is_what_is_reported() {
    require!("perf");
    let whole = count(&json(""));
    let (early, late) = (json("--time-range 0s-1s"), json("--time-range 1s-"));
    assert_eq!(count(&early) + count(&late), whole);
    assert!(count(&early) > whole / 10 && count(&late) > whole / 4, "{} of {whole} in the first second", count(&early));
    assert_eq!(late["selection"]["from_s"], 1.0);
    let worker = json("--thread worker-0");
    assert_eq!(column(&worker, "threads", "name"), ["worker-0"]);
    let others: u64 = ["worker-1", "dispatcher", "housekeeper", "ironlaw"]
        .iter()
        .map(|name| count(&json(&format!("--thread {name}"))))
        .sum();
    assert_eq!(count(&worker) + others, whole);
    let nobody = Dir::new().line(&format!("report {} --thread nobody", shared()));
    assert!(nobody.code == Some(1) && nobody.err.contains("no thread"), "{}", nobody.err);
}

#[test]
fn rows_are_grouped_ordered_and_limited() {
    require!("perf");
    let total = json("--sort total");
    let shares: Vec<f64> =
        column(&total, "functions", "total_share").iter().filter_map(|share| share.as_f64()).collect();
    assert!(shares.len() > 10 && shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    let names = json("--sort name");
    assert!(column(&names, "functions", "name").is_sorted_by_key(|name| name.as_str()));
    let text = Dir::new().line(&format!("report {} --format json --limit 3", shared())).succeeds().out;
    let few: Value = serde_json::from_str(&text).expect("the report is JSON");
    assert_eq!(column(&few, "functions", "name").len(), 3);
    assert!(few["functions_left_out"].as_u64() > Some(0));
    let modules = json("--by module");
    let rows = modules["groups"]["rows"].as_array().expect("there are groups");
    let of: f64 = rows.iter().filter_map(|row| row["self_share"].as_f64()).sum();
    assert!((of - 1.0).abs() < 1e-9, "the modules' shares add up to {of}");
    assert!(rows.len() >= 2 && rows[0].to_string().contains("ironlaw"), "{rows:?}");
}

#[test]
fn a_flame_graph_is_well_formed_and_the_same_each_time() {
    require!("perf");
    let dir = Dir::new();
    let draw = |flags: &str, name: &str| {
        dir.line(&format!("-q flamegraph {} -o {name} {flags}", shared())).succeeds();
        fs::read_to_string(dir.join(name)).expect("it was drawn")
    };
    let (first, second) = (draw("", "first.svg"), draw("", "second.svg"));
    assert!(first == second, "the same recording gives the same bytes");
    let inverted = draw("--inverted --title <turned>", "inverted.svg");
    for picture in [&first, &inverted] {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(picture, options).expect("well-formed XML");
        let titles = document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text());
        assert!(titles.filter(|title| title.starts_with("checksum_block (")).count() == 1);
    }
    assert!(first != inverted && inverted.contains("&lt;turned&gt;"));
    if can_see_waits() {
        assert!(draw("--off-cpu", "waits.svg").contains("push_request ("));
    }
}

#[test]
fn folded_stacks_hold_every_sample() {
    require!("perf");
    let dir = Dir::new();
    let ran = dir.line(&format!("flamegraph {} --format folded -o -", shared())).succeeds();
    let counts = ran.out.lines().map(|line| line.rsplit_once(' ').and_then(|(_, count)| count.parse::<u64>().ok()));
    let report = json("");
    // Samples of the CPU clock count as one each; those of a hardware event weigh what they stand for.
    let held = if report["events"][0]["unit"] == "ns" { "count" } else { "weight" };
    assert_eq!(counts.sum::<Option<u64>>(), report["samples"][held].as_u64());
    assert!(ran.out.lines().any(|line| line.contains("worker_main;handle_request;checksum_block")), "{}", ran.out);
}

#[test]
fn a_reader_that_stops_listening_is_no_failure() {
    require!("perf");
    let dir = Dir::new();
    for line in ["report REC", "report REC --format json --limit 0", "flamegraph REC -o -", "man", "completions zsh"] {
        let line = line.replace("REC", shared());
        let mut running = dir.start(&line.split_whitespace().collect::<Vec<_>>());
        drop(running.0.stdout.take());
        let ran = running.ends().succeeds();
        assert_eq!(ran.err, "", "{line}");
    }
}

/// A copy of the shared recording to break.
fn copy(dir: &Dir) -> PathBuf {
    let copy = dir.join("copy.ironlaw");
    fs::create_dir(&copy).expect("it can be made");
    for entry in fs::read_dir(shared()).expect("it is a directory") {
        let entry = entry.expect("it can be listed");
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("it can be copied");
    }
    copy
}

fn part_of(recording: &Path, table: &str) -> PathBuf {
    let parts = fs::read_dir(recording).expect("it is a directory").filter_map(|entry| Some(entry.ok()?.path()));
    let wanted = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(table));
    parts.into_iter().find(wanted).expect("the table has a part")
}

#[test]
fn a_damaged_recording_is_reported_with_what_is_missing() {
    require!("perf");
    let whole = count(&json(""));
    for table in ["samples-", "stacks-", "frames-", "names-", "mappings-", "tasks-", "windows-", "counters-"] {
        for truncated in [true, false] {
            let dir = Dir::new();
            let part = part_of(&copy(&dir), table);
            if truncated {
                let bytes = fs::read(&part).expect("it can be read");
                fs::write(&part, &bytes[..bytes.len() / 2]).expect("it can be written");
            } else {
                fs::remove_file(&part).expect("it can be deleted");
            }
            let report = dir.report("copy.ironlaw", "");
            let name = table.trim_end_matches('-');
            let said = report["notes"].to_string();
            assert!(said.contains(name), "{table}: {said}");
            assert!(table == "samples-" || count(&report) == whole, "{table}: {said}");
        }
    }
    let dir = Dir::new();
    fs::write(copy(&dir).join("meta.json"), "{").expect("it can be written");
    let ran = dir.line("report");
    assert!(ran.code == Some(1) && ran.err.contains("meta.json"), "{}", ran.err);
}

/// A process to profile, and a recorder attached to it that has written these files.
fn attached(dir: &Dir, files: &[&str]) -> (Running, Running) {
    let target = dir.start(&["workload", "hotspot", "--threads", "1", "--seconds", "60"]);
    let recorder = dir.start(&["record", "-o", "run", "-p", &target.pid().to_string()]);
    until("it has flushed", || files.iter().all(|file| dir.join("run.ironlaw").join(file).exists()));
    (target, recorder)
}

#[test]
fn a_killed_recorder_leaves_what_it_had_written() {
    require!("perf");
    let dir = Dir::new();
    let (mut target, recorder) = attached(&dir, &["samples-000001.parquet", "names-000000.parquet"]);
    drop(recorder);
    assert!(target.0.try_wait().expect("it is our child").is_none(), "the target runs on");
    let report = dir.report("run.ironlaw", "");
    assert!(count(&report) > 20, "{}", report["samples"]);
    assert!(report["notes"].to_string().contains("stopped before it could finish"), "{}", report["notes"]);
    let named = column(&report, "functions", "name");
    assert!(named.iter().any(|name| *name == "checksum_block"), "{named:?}");
}

#[test]
fn ctrl_c_ends_the_recording_and_keeps_all_of_it() {
    require!("perf");
    for signal in [Signal::INT, Signal::TERM] {
        let dir = Dir::new();
        let (mut target, mut recorder) = attached(&dir, &["samples-000000.parquet"]);
        send(signal, &recorder);
        let ran = recorder.ends().succeeds();
        assert!(ran.err.contains("read it with: ironlaw report run.ironlaw"), "{}", ran.err);
        assert!(target.0.try_wait().expect("it is our child").is_none(), "the target runs on");
        let report = dir.report("run.ironlaw", "");
        assert!(count(&report) > 20 && report["duration_s"].as_f64() > Some(0.9), "{}", report["samples"]);
        assert!(!report["notes"].to_string().contains("stopped before"), "{}", report["notes"]);
    }
}

#[test]
fn ctrl_c_ends_a_command_with_its_recording() {
    require!("perf");
    let dir = Dir::new();
    let mut recorder = dir.start(&["record", "-o", "run", "--", "sh", "-c", "echo $$ > pid; exec sleep 60"]);
    until("the command runs", || fs::read_to_string(dir.join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    send(Signal::INT, &recorder);
    assert_eq!(recorder.ends().code, Some(128 + 15));
    let pid = fs::read_to_string(dir.join("pid")).expect("it was written");
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "the command is still there");
    assert_eq!(dir.report("run.ironlaw", "")["notes"].to_string().matches("stopped before").count(), 0);
}

#[test]
fn a_target_that_ends_ends_the_recording() {
    require!("perf");
    let dir = Dir::new();
    let mut target = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "1.2"]);
    let pid = target.pid().to_string();
    let mut recorder = dir.start(&["record", "-o", "run", "-p", &pid, "-d", "60"]);
    target.ends().succeeds();
    recorder.ends().succeeds();
    let report = dir.report("run.ironlaw", "");
    assert!(count(&report) > 20 && report["duration_s"].as_f64() < Some(20.0), "{}", report["samples"]);
    assert!(!report["notes"].to_string().contains("stopped before"), "{}", report["notes"]);
}

/// A file system of this many kilobytes, gone with the test.
struct Tiny(PathBuf);

impl Tiny {
    fn mount(path: PathBuf, kilobytes: u32) -> Option<Tiny> {
        fs::create_dir(&path).ok()?;
        let size = format!("size={kilobytes}k");
        let mut command = std::process::Command::new("mount");
        let mounted = command.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).status().ok()?.success();
        mounted.then_some(Tiny(path))
    }
}

/// Kilobytes of what every recording here begins with; it grows with the hardware counters that the machine has.
fn meta_kilobytes(dir: &Dir) -> u32 {
    dir.record("meta", "", "spin --threads 1 --seconds 0.1");
    let about = fs::metadata(dir.join("meta.ironlaw/meta.json")).expect("every recording has one");
    about.len().div_ceil(1024) as u32
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_harms_neither_command_nor_what_was_written() {
    require!("perf", "root");
    let dir = Dir::new();
    let Some(_tiny) = Tiny::mount(dir.join("tiny"), 52 + meta_kilobytes(&dir)) else {
        crate::support::skip("tmpfs", "no file system can be mounted here");
        return;
    };
    let script = format!("'{WORKLOADS}' workload hotspot --threads 2 --seconds 4 && touch done; exit 3");
    let ran = dir.ironlaw(&["record", "-o", "tiny/run", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(dir.join("done").exists(), "the command was not left to its end");
    assert!(ran.err.contains("No space left") && ran.err.contains("-o"), "{}", ran.err);
    assert!(ran.err.contains("only the first part"), "{}", ran.err);
    let report = dir.report("tiny/run.ironlaw", "");
    assert!(count(&report) > 50, "{}", report["samples"]);
}

#[test]
fn a_command_left_to_itself_by_a_full_disk_still_ends_on_request() {
    require!("perf", "root");
    let dir = Dir::new();
    let Some(_tiny) = Tiny::mount(dir.join("tiny"), 8 + meta_kilobytes(&dir)) else {
        crate::support::skip("tmpfs", "no file system can be mounted here");
        return;
    };
    let line = format!("record -o tiny/run -- {WORKLOADS} workload hotspot --seconds 60");
    let mut recorder = dir.start(&line.split_whitespace().collect::<Vec<_>>());
    let first = dir.join("tiny/run.ironlaw/counters-000000.parquet");
    until("it has flushed what fits", || first.exists());
    // By the second flush the disk is full, and only the command is waited for.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    send(Signal::TERM, &recorder);
    let ran = recorder.ends();
    assert!(ran.code == Some(1) && ran.err.contains("No space left"), "{}", ran.err);
}

#[test]
fn an_ordinary_user_profiles_own_processes_and_is_told_why_no_others() {
    require!("perf", "root");
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if level.trim() != "2" {
        crate::support::skip("paranoid-2", format!("perf_event_paranoid is {}", level.trim()));
        return;
    }
    let dir = Dir::new();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let program = dir.join("ironlaw");
    fs::copy(IRONLAW, &program).expect("it can be copied");
    let program = program.to_str().expect("the path is text");
    let as_nobody = |args: &[&str]| {
        let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", program];
        Ran::of(&mut dir.command("setpriv", &[&user[..], args].concat()))
    };
    let own = as_nobody(&["record", "-o", "own", "--", program, "workload", "spin", "--seconds", "0.7"]).succeeds();
    assert!(own.err.contains("only user code is sampled") && own.err.contains("perf_event_paranoid"), "{}", own.err);
    let report = as_nobody(&["report", "own.ironlaw", "--format", "json", "--no-inline"]).succeeds();
    let report: Value = serde_json::from_str(&report.out).expect("the report is JSON");
    assert!(count(&report) > 20 && report["functions"][0]["name"] == "spin_burn", "{}", report["functions"]);
    assert!(column(&report, "functions", "kind").iter().all(|kind| *kind != "kernel"));
    let foreign = dir.start(&["workload", "spin", "--threads", "1", "--seconds", "60"]);
    let refused = as_nobody(&["record", "-o", "foreign", "-d", "1", "-p", &foreign.pid().to_string()]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains(&foreign.pid().to_string()), "{}", refused.err);
    assert!(refused.err.contains("Run as root") && refused.err.contains("perf_event_paranoid"), "{}", refused.err);
    assert!(!dir.join("foreign.ironlaw").exists());
}

#[test]
fn help_version_manual_and_completions_are_printed() {
    let dir = Dir::new();
    assert_eq!(dir.line("--version").succeeds().out, format!("ironlaw {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "record --help", "report --help", "flamegraph --help", "demo --help"] {
        let help = dir.line(line).succeeds().out;
        assert!(help.contains("Usage: ironlaw") && help.contains("--color"), "{help}");
    }
    assert!(dir.line("man record").succeeds().out.contains(".TH ironlaw"));
    let completions = dir.line("completions bash").succeeds().out;
    fs::write(dir.join("completions"), &completions).expect("it can be written");
    Ran::of(&mut dir.command("bash", &["-n", "completions"])).succeeds();
    assert!(completions.contains("complete "));
}

#[test]
fn the_demo_profiles_reports_and_draws() {
    require!("perf");
    let dir = Dir::new();
    let ran = dir.line("demo --seconds 1 --threads 2 -o demo").succeeds();
    assert!(ran.out.contains("worker-0") && ran.out.contains("\nThreads"), "{}", ran.out);
    assert!(ran.err.contains("demo.svg") && ran.err.contains("demo.ironlaw"), "{}", ran.err);
    let picture = fs::read_to_string(dir.join("demo.svg")).expect("it was drawn");
    assert!(picture.contains("checksum_block ("));
    assert!(count(&dir.report("demo.ironlaw", "")) > 100);
}

/// Debug information is fetched from afar only on request; a stand-in answers in debuginfod's place.
#[test]
fn missing_debug_information_is_fetched_on_request_only() {
    require!("perf", "gcc", "objcopy");
    let dir = Dir::new();
    let source = "int spin(long n) {\n  volatile int s = 0;\n  while (n--) s += n;\n  return s;\n}\n\
                  int main(void) { return spin(900000000) & 1; }\n";
    fs::write(dir.join("a.c"), source).expect("it can be written");
    let build = "gcc -g -O1 -fno-inline -Wl,--build-id -o a a.c && objcopy --only-keep-debug a afar.debug && strip a
        mkdir bin && printf '#!/bin/sh\\necho \"%s\"\\n' \"$PWD/afar.debug\" > bin/debuginfod-find && chmod +x bin/debuginfod-find";
    Ran::of(&mut dir.command("sh", &["-ec", build])).succeeds();
    let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    for (flags, name) in [("", "a+0x"), ("--debuginfod", "spin")] {
        let line = format!("record {flags} --force -o r -d 1 -- ./a");
        let mut command = dir.command(env!("CARGO_BIN_EXE_ironlaw"), &line.split_whitespace().collect::<Vec<_>>());
        Ran::of(command.env("PATH", &path));
        let report = dir.report("r.ironlaw", "");
        let names = column(&report, "functions", "name");
        assert!(
            names.iter().any(|found| found.as_str().is_some_and(|found| found.starts_with(name))),
            "{flags}: {names:?}"
        );
    }
}
