//! What users of perf, samply and their like type first: each line is run, and does what it means there or names what does.

use crate::program::{Dir, Ran, WORKLOADS};

/// A recording of the planted hot spot, and its process while it runs.
fn recorded(dir: &Dir) {
    dir.record("run.ironlaw", "", "hotspot --threads 2 --seconds 1");
}

fn ran(dir: &Dir, line: &str) -> Ran {
    dir.ironlaw(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_command_beside_a_target_is_how_long_it_is_recorded() {
    require!("perf", "root");
    let dir = Dir::new();
    let target = dir.start(&["workload", "hotspot", "--threads", "1", "--seconds", "600"]);
    let pid = target.pid();
    for (line, code) in [
        ("record -f -o run -a -- sleep 0.5", 0),
        ("record -f -o run -a sleep 0.5", 0),
        (&format!("record -f -o run -p {pid} -- sleep 0.5"), 0),
        (&format!("record -f -o run -t {pid} -- sh -c exit_7"), 7),
    ] {
        let words: Vec<String> = line.split_whitespace().map(|word| word.replace('_', " ")).collect();
        let ran = dir.ironlaw(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        let seconds = dir.report("run.ironlaw", "")["duration_s"].as_f64().unwrap();
        assert!(code != 0 || (0.4..20.0).contains(&seconds), "{line}: {seconds} s");
    }
    let missing = ran(&dir, &format!("record -o none -p {pid} -- no-such-program-anywhere"));
    assert_eq!(missing.code, Some(1), "{}", missing.err);
    assert!(missing.err.contains("no-such-program-anywhere"), "{}", missing.err);
    assert!(!dir.join("none.ironlaw").exists());
    // A clock that outlasts the capture is ended with it.
    let early = ran(&dir, &format!("record -f -o run -p {pid} -d 0.3 -- sleep 3600.25"));
    assert_eq!(early.code, Some(0), "{}", early.err);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let left = commands.filter(|command| command.starts_with(b"sleep\x003600.25\0")).count();
    assert_eq!(left, 0, "the clock goes on");
}

#[test]
fn the_command_of_the_clock_is_recorded_from_its_first_instruction() {
    require!("perf", "root");
    let dir = Dir::new();
    // A shell under a name of its own, as other tests may run beside; its module is known only from its exec on.
    let clock = dir.join("clocked");
    std::os::unix::fs::symlink("/bin/sh", &clock).unwrap();
    let work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    dir.ironlaw(&["record", "-o", "run", "-a", "--", clock.to_str().unwrap(), "-c", work]).succeeds();
    let report = dir.report("run.ironlaw", "--sort comm,dso");
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let name = format!("clocked\t{}", shell.file_name().unwrap().to_str().unwrap());
    let row = report["groups"]["rows"].as_array().unwrap().iter().find(|row| row["name"] == *name);
    let samples = row.map(|row| row["self_samples"].as_u64().unwrap());
    assert!(samples > Some(10), "{name}: {:#}", report["groups"]);
}

#[test]
fn capture_flags_of_perf_are_understood() {
    require!("perf");
    let dir = Dir::new();
    let work = format!("{WORKLOADS} workload hotspot --threads 1 --seconds 0.4");
    for flags in [
        "-F 99 -g",
        "-g dwarf",
        "-g dwarf,8192",
        "-g fp --",
        "--call-graph=fp --",
        "-F max",
        "-c 1000000 -e cpu-clock",
        "-e cycles -g --",
        "-e cycles:u",
        "-e cpu-clock,page-faults",
        "--all-user -v",
        "-v --",
        "-q",
    ] {
        let ran = ran(&dir, &format!("record -f -o run {flags} {work}")).succeeds();
        assert!(ran.out.starts_with("ops "), "{flags}: nothing but what the command prints: {}", ran.out);
        let report = dir.report("run.ironlaw", "");
        assert!(report["samples"]["count"].as_u64().unwrap() > 0, "{flags}: {}", ran.err);
        if flags.contains("--all-user") {
            let event = report["events"][0]["name"].as_str().unwrap();
            assert!(event.ends_with(":u"), "{event}");
            assert!(report["functions"].as_array().unwrap().iter().all(|row| row["kind"] != "kernel"));
            assert!(ran.err.contains("sampling ") && ran.err.contains("stacks: auto"), "{}", ran.err);
        }
    }
}

#[test]
fn report_takes_perfs_flags() {
    require!("perf");
    let dir = Dir::new();
    recorded(&dir);
    let first = |line: &str| {
        let report: serde_json::Value = serde_json::from_str(&ran(&dir, line).succeeds().out).unwrap();
        report
    };
    let tid = first("report --format json")["threads"][0]["tid"].as_u64().unwrap();
    let pid = first("report --format json")["threads"][0]["pid"].as_u64().unwrap();
    for (flags, shows) in [
        ("", "Functions"),
        ("--stdio", "Functions"),
        ("-i run.ironlaw --stdio", "Functions"),
        ("--input=run.ironlaw", "Functions"),
        ("--no-children", "checksum_block"),
        ("--children", "checksum_block"),
        ("-g", "checksum_block"),
        ("-g caller", "checksum_block"),
        ("-g callee,2 --no-children", "checksum_block"),
        ("-g graph,0.5,caller", "checksum_block"),
        ("--percent-limit 1", "checksum_block"),
        ("-s dso", "Modules"),
        ("--sort dso,symbol,comm", "module"),
        ("-s comm,tid --stdio", "comm"),
        ("--sort cpu", "CPUs"),
        ("--by comm,function", "comm"),
        ("--by process", "Processes"),
        ("--comm 'worker*' --stdio", "checksum_block"),
        (&format!("--tid {tid}"), "Functions"),
        (&format!("--pid {pid} --no-children"), "checksum_block"),
        ("--dso ironlaw", "checksum_block"),
        ("--dso 'iron*' --symbol check*", "checksum_block"),
        ("-C 0-8191", "samples on CPUs 0, 1"),
        ("--stdio -n", "here: "),
    ] {
        let ran = ran(&dir, &format!("report {}", flags.replace('\'', "")));
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(shows), "{flags}:\n{said}");
        assert_eq!(ran.code, Some(if shows == "here: " { 2 } else { 0 }), "{flags}:\n{said}");
    }
    let limited = first("report --format json --limit 0 --percent-limit 20");
    let rows = limited["functions"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["self_share"].as_f64().unwrap() >= 0.2), "{rows:?}");
    let kernel = first("report --format json --limit 0 --dso [kernel.kallsyms]");
    assert!(kernel["functions"].as_array().unwrap().iter().all(|row| row["kind"] == "kernel"));
    let paths = first("report --format json --limit 0 -g callee");
    let hot = paths["functions"].as_array().unwrap().iter().find(|row| row["name"] == "checksum_block").unwrap();
    assert!(hot["call_paths"].as_array().unwrap().iter().any(|step| step["name"] == "worker_main"), "{hot}");
}

#[test]
fn events_are_listed_and_counted_as_perf_does() {
    require!("perf");
    let dir = Dir::new();
    for (line, shows) in [
        ("list", "cpu-clock"),
        ("list sw", "page-faults OR faults"),
        ("list context*", "context-switches"),
        ("list cgroups", "control group"),
        ("stat true", "Performance counter stats for 'true'"),
        ("stat -e page-faults,cs true", "page-faults"),
        ("stat -r 2 true", "(2 runs)"),
        ("stat -x, true", ",page-faults,"),
        ("stat -I 50 sleep 0.2", "context-switches"),
    ] {
        let ran = ran(&dir, line).succeeds();
        assert!(format!("{}{}", ran.out, ran.err).contains(shows), "{line}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn script_prints_samples_with_their_stacks() {
    require!("perf");
    let dir = Dir::new();
    recorded(&dir);
    for line in ["script", "script -i run.ironlaw", "script run.ironlaw --comm worker*"] {
        let out = ran(&dir, line).succeeds().out;
        assert!(out.contains("checksum_block") && out.contains("cpu-clock") | out.contains("cycles"), "{line}");
    }
}

#[test]
fn commands_and_flags_of_others_name_what_answers_them_here() {
    let dir = Dir::new();
    for (line, here) in [
        ("lock contention", "record --off-cpu"),
        ("sched timehist", "record --off-cpu"),
        ("mem record", "perf mem"),
        ("c2c report", "perf c2c"),
        ("objdump run.ironlaw", "annotate"),
        ("trace -p 1", "record -e"),
        ("probe --add f", "uprobe:"),
        ("bench sched", "demo"),
        ("load run.ironlaw", "view REC"),
        ("version", "--version"),
        ("record --no-inherit ./app", "-t TID"),
        ("record -i ./app", "-t TID"),
        ("record -m 512 ./app", "buffers"),
        ("record -b ./app", "--call-graph lbr"),
        ("record --overwrite -a", "watch --on-alarm"),
        ("report --tui", "ironlaw view"),
        ("report --time 1,2", "--time-range"),
        ("flamegraph -p 1", "record -p PID"),
    ] {
        let ran = ran(&dir, line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {}", ran.err);
        assert!(ran.err.contains("here: ") && ran.err.contains(here), "{line}: {}", ran.err);
    }
    for (line, shows) in
        [("help", "ironlaw help"), ("--version", "ironlaw "), ("-h", "Usage: "), ("record -h", "Usage: ")]
    {
        let ran = ran(&dir, line).succeeds();
        assert!(ran.out.contains(shows), "{line}: {}", ran.out);
    }
}

#[test]
fn first_guesses_without_a_terminal_name_the_one_command() {
    let dir = Dir::new();
    for (line, here) in [
        ("", "ironlaw record -a -d 10 && ironlaw report"),
        ("1", "ironlaw record -p 1 -d 10 && ironlaw report"),
        ("-p 1", "ironlaw record -p 1 -d 10 && ironlaw report"),
        ("/bin/sh", "ironlaw record -- /bin/sh && ironlaw report"),
        ("top -G web.service", "ironlaw record -G web.service -d 10 && ironlaw report"),
        ("sleep 1", "ironlaw record -- sleep 1"),
        ("no-such-thing-anywhere", "unrecognized subcommand"),
        ("record -p no-such-name-anywhere", "no process is named 'no-such-name-anywhere'"),
        ("record -o - -- true", "ironlaw export"),
        ("flamegraph -- ./app --fast", "ironlaw record -o run -- ./app --fast && ironlaw flamegraph run.ironlaw"),
        ("flamegraph --open", "xdg-open flame.svg"),
        ("script -F comm,tid", "leave it away"),
        ("metrics -p 1", "stat -p PID"),
        ("top --theme light", "ironlaw config --path"),
        ("doctor --fix", "ironlaw doctor"),
        ("config edit", "ironlaw config --path"),
        ("baseline learn", "<REC>"),
        ("baseline learn -p 1", "ironlaw record -p PID"),
        ("watch -p 1", "ironlaw baseline build usual.ironlaw -o app.baseline"),
        ("diff", "ironlaw diff BASE NEW"),
        ("diff nothing", "ironlaw diff BASE NEW"),
    ] {
        let ran = ran(&dir, line);
        assert!(
            matches!(ran.code, Some(1 | 2)) && ran.out.is_empty(),
            "{line}: {:?} {} {}",
            ran.code,
            ran.out,
            ran.err
        );
        assert!(ran.err.contains(here), "{line}: {}", ran.err);
    }
    for (line, shows) in [
        ("help keys", "half a page down"),
        ("help flamegraph", "Usage: ironlaw flamegraph"),
        ("help doctor", "Usage: ironlaw doctor"),
    ] {
        let ran = ran(&dir, line).succeeds();
        assert!(ran.out.contains(shows), "{line}: {}", ran.out);
    }
}

#[test]
fn first_guesses_do_what_was_meant() {
    require!("perf");
    let dir = Dir::new();
    // A name of its own, as other tests may run beside.
    let named = dir.join("guessed-name");
    std::fs::copy(WORKLOADS, &named).unwrap();
    let mut target =
        dir.command(named.to_str().unwrap(), &["workload", "hotspot", "--threads", "1", "--seconds", "600"]);
    let mut target = target.spawn().unwrap();
    let recorded = ran(&dir, "record -o old -p guessed-name -d 0.5");
    target.kill().unwrap();
    target.wait().unwrap();
    recorded.succeeds();
    assert!(dir.report("old.ironlaw", "")["process_names"].to_string().contains("guessed-name"));
    recorded_here(&dir);
    for (line, begins) in [
        ("flamegraph", "<?xml"),
        ("flamegraph --format folded", ""),
        ("export -f folded", ""),
        ("export --folded", ""),
        ("report old.ironlaw", "ironlaw report"),
    ] {
        let out = ran(&dir, line).succeeds().out;
        assert!(!out.is_empty() && out.starts_with(begins), "{line}: {out}");
    }
    assert!(!dir.join("run.svg").exists(), "the picture goes where the output goes");
    for line in ["diff", "diff old", "diff run.ironlaw"] {
        let ran = ran(&dir, line).succeeds();
        assert!(ran.err.contains("which is older") && !ran.out.is_empty(), "{line}: {}{}", ran.out, ran.err);
    }
    for widths in ["--threads 1-2", "-P threads 1 2", "-L threads=1,2"] {
        let line =
            format!("sweep -f -o s {widths} -r 1 -- {WORKLOADS} workload mutex --threads={{threads}} --seconds 0.2");
        assert!(ran(&dir, &line).succeeds().out.contains("2 widths of threads"), "{widths}");
    }
}

fn recorded_here(dir: &Dir) {
    // Directories have times of a second at the coarsest.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    recorded(dir);
}
