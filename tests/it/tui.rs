//! The terminal session from the outside: the built program in a pseudo-terminal, its keys pressed, its screen read.

use crate::program::{Dir, IRONLAW, Running, WORKLOADS, until};
use crate::pty::{End, Pty};
use rustix::process::Signal;

const SIZE: (u16, u16) = (100, 30);

/// A function that the workload runs most of the time.
const PLANTED: &str = "checksum_block";

/// A busy program to look at, until it is dropped; `mark` stands in its command line and in no other test's.
fn target(dir: &Dir, mark: &str) -> Running {
    dir.start(&["workload", "hotspot", "--threads", "1", "--seconds", mark])
}

/// The program under test in a terminal, started in `dir`.
fn ironlaw(dir: &Dir, args: &[&str]) -> Pty {
    Pty::start(&mut dir.command(IRONLAW, args), SIZE)
}

/// A session on a busy program whose data has begun to come.
fn session(dir: &Dir, target: &Running) -> Pty {
    let mut pty = ironlaw(dir, &["top", "-p", &target.pid().to_string()]);
    pty.wait_for("LIVE");
    pty.press("2");
    pty.wait_for(PLANTED);
    pty
}

#[test]
fn the_harness_sees_what_a_person_would() {
    let dir = Dir::new();
    let script = "saved=$(stty -g); stty size; stty raw -echo; printf '\\033[?1049h\\033[?25l\\033[?1000hin'; \
                  head -c1 >/dev/null; printf '\\033[?1000l\\033[?25h\\033[?1049lout'; stty $saved; exit 7";
    let mut pty = Pty::start(&mut dir.command("sh", &["-c", script]), SIZE);
    pty.wait_for("in");
    pty.assert_taken();
    pty.press("x");
    assert_eq!(pty.ends(), End::Code(7));
    assert!(pty.text().contains("30 100") && pty.text().contains("out"), "{}", pty.text());
    pty.assert_restored();
}

#[test]
fn the_harness_notices_what_is_left_behind() {
    let dir = Dir::new();
    for script in ["printf '\\033[?1049h'", "printf '\\033[?25l'", "printf '\\033[?1002h'", "stty -echo"] {
        let mut pty = Pty::start(&mut dir.command("sh", &["-c", script]), SIZE);
        assert_eq!(pty.ends(), End::Code(0));
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pty.assert_restored()));
        assert!(checked.is_err(), "{script}");
    }
}

#[test]
fn without_a_session_the_terminal_is_left_alone() {
    require!("perf");
    let dir = Dir::new();
    let mut pty = ironlaw(&dir, &["demo", "--headless", "--seconds", "1", "-o", "demo"]);
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn from_the_picker_to_a_flame_graph_it_takes_three_keys() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86399");
    let mut pty = ironlaw(&dir, &[]);
    pty.wait_for("choose a target");
    // On a machine with other work this program may not be the busiest: the search says which one is meant.
    pty.write("86399");
    pty.wait_for(&format!("Enter profiles ironlaw {}", target.pid()));
    pty.press("Enter 2");
    let screen = pty.wait_for(PLANTED);
    assert!(screen.contains(&target.pid().to_string()), "{screen}");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn the_screen_of_latency_says_what_to_type_where_nothing_is_measured() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86389");
    let mut pty = session(&dir, &target);
    pty.press("0");
    let screen = pty.wait_for("uprobe:/");
    assert!(screen.contains(&format!("ironlaw top -p {} --latency", target.pid())), "{screen}");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn latency_is_shown_over_time_live_after_the_end_and_in_a_recording() {
    require!("perf", "tracefs", "root");
    let dir = Dir::new();
    let target = target(&dir, "86388");
    let spec = format!("uprobe:{WORKLOADS}:handle_request");
    let mut pty = ironlaw(&dir, &["top", "-p", &target.pid().to_string(), "--latency", &spec]);
    pty.wait_for("LIVE");
    pty.write(":latency");
    pty.press("Enter");
    pty.wait_for("operations by latency and time");
    pty.wait_until("a median", |screen| screen.lines().filter(|line| line.contains(" p50 ")).count() > 1);
    pty.press("k");
    pty.wait_for("took less");
    pty.resize(60, 16);
    pty.wait_for("over time");
    pty.resize(100, 30);
    drop(target);
    pty.wait_for("ENDED");
    pty.wait_for("calls of handle_request in ");
    pty.press("w Enter");
    pty.wait_for("wrote ");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    let mut pty = ironlaw(&dir, &["view"]);
    pty.wait_for("RECORDING");
    pty.press("0");
    pty.wait_for("operations by latency and time");
    pty.press("1");
    pty.wait_for("latency p50 ");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn another_target_is_chosen_without_losing_what_is_held() {
    require!("perf");
    let dir = Dir::new();
    let (first, second) = (target(&dir, "86397"), Running::of(&mut dir.command("sleep", &["86396"])));
    let mut pty = session(&dir, &first);
    pty.press("P");
    pty.wait_for("Esc goes back");
    pty.press("Esc");
    pty.wait_for(PLANTED);
    assert_eq!(recordings(&dir), 0);
    pty.press("P");
    pty.wait_for("Esc goes back");
    pty.write("86396");
    pty.wait_for(&format!("Enter profiles sleep {}", second.pid()));
    pty.press("Enter");
    pty.wait_for("wrote ");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    assert_eq!(recordings(&dir), 1);
    let name = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().file_name();
    let report = dir.report(name.to_str().unwrap(), "");
    assert_eq!(report["target"], format!("pid {}", first.pid()));
}

#[test]
fn a_typed_command_is_started_and_profiled() {
    require!("perf");
    let dir = Dir::new();
    let mut pty = ironlaw(&dir, &[]);
    pty.wait_for("choose a target");
    pty.press("Tab Tab");
    pty.wait_for("Type a program");
    pty.write("sleep 1 | cat");
    pty.press("Enter");
    pty.wait_for("takes a shell");
    pty.press("Ctrl-u");
    pty.write(&format!("'{WORKLOADS}' workload hotspot --seconds 86398"));
    pty.press("Enter 2");
    pty.wait_for(PLANTED);
    pty.press("Ctrl-c");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn every_screen_shows_what_runs() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86397");
    let mut pty = session(&dir, &target);
    pty.assert_taken();
    screens(&mut pty, &[("1", "busy cores"), ("2", PLANTED), ("6", "one hot function")]);
    pty.press("?");
    pty.wait_for("Moving");
    pty.press("Esc");
    pty.wait_gone("Moving");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn the_tables_show_what_runs() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86390");
    let mut pty = session(&dir, &target);
    screens(&mut pty, &[("3", PLANTED), ("4", "worker-0"), ("5", "busy cores")]);
}

#[test]
fn the_classes_of_instructions_are_shown_live_and_of_a_recording() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86388");
    dir.line(&format!("-q record -o run -p {} --duration 1", target.pid())).succeeds();
    for args in [vec!["top", "-p", &target.pid().to_string()], vec!["view", "run.ironlaw"]] {
        let mut pty = ironlaw(&dir, &args);
        pty.wait_for("% checksum_block");
        pty.press("x");
        // Integers are all that it multiplies.
        let screen = pty.wait_until("most is scalar", |screen| {
            screen.lines().any(|line| line.trim_end().ends_with("scalar") && line.contains('%'))
        });
        assert!(screen.contains("Mix") && screen.contains("class of instructions"), "{screen}");
        pty.press("q");
        assert_eq!(pty.ends(), End::Code(0));
    }
}

/// Goes to each screen by its key, and waits for what it shows below the line that names it.
fn screens(pty: &mut Pty, expected: &[(&str, &str)]) {
    for (key, text) in expected {
        pty.press(key);
        pty.wait_until(&format!("screen {key} shows {text:?}"), |screen| {
            screen.lines().skip(3).any(|line| line.contains(text))
        });
    }
}

#[test]
fn a_terminal_too_small_says_so_and_a_larger_one_shows_the_screen_again() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86396");
    let mut pty = session(&dir, &target);
    pty.resize(30, 8);
    let small = pty.wait_for("ironlaw needs");
    assert_eq!(small.lines().filter(|line| !line.trim().is_empty()).count(), 1, "{small}");
    pty.resize(SIZE.0, SIZE.1);
    pty.wait_gone("ironlaw needs");
    pty.wait_for(PLANTED);
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn two_thousand_sizes_later_the_screen_is_whole_and_the_terminal_comes_back() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86389");
    let mut pty = session(&dir, &target);
    // Sizes from far too small to far too large, on each screen.
    for number in 0..2_000_u32 {
        pty.resize((2 + number * 7_919 % 300) as u16, (2 + number * 104_729 % 120) as u16);
        if number % 100 == 0 {
            pty.press(&(number / 100 % 7 + 1).to_string());
        }
    }
    pty.resize(SIZE.0, SIZE.1);
    pty.press("2");
    pty.wait_for(PLANTED);
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn what_was_seen_stays_when_the_target_ends() {
    require!("perf");
    let dir = Dir::new();
    let mut target = target(&dir, "86395");
    let mut pty = session(&dir, &target);
    target.0.kill().unwrap();
    target.ends();
    pty.wait_for("ENDED");
    pty.wait_for("the target has ended");
    pty.press("1 2");
    pty.wait_for(PLANTED);
    pty.press("w");
    pty.wait_for("write a recording");
    pty.write("after");
    pty.press("Enter");
    pty.wait_for("wrote after.ironlaw");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    assert!(holds_planted(&dir, "after.ironlaw"));
}

#[test]
fn recordings_and_pictures_are_written_on_request_and_never_over_others() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86394");
    let mut pty = session(&dir, &target);
    for (key, question, name, file) in
        [("w", "write a recording", "held", "held.ironlaw"), ("e", "write a picture", "shown.svg", "shown.svg")]
    {
        for said in [format!("wrote {file}"), "exists".to_string()] {
            pty.press(key);
            pty.wait_for(question);
            pty.write(name);
            pty.press("Enter");
            pty.wait_for(&said);
        }
    }
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    assert!(holds_planted(&dir, "held.ironlaw"));
    let picture = std::fs::read_to_string(dir.join("shown.svg")).unwrap();
    assert!(picture.contains("<svg") && picture.contains(PLANTED));
}

#[test]
fn told_to_end_it_gives_the_terminal_back_and_keeps_what_it_holds() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86393");
    let mut pty = session(&dir, &target);
    pty.signal(Signal::TERM);
    pty.ends();
    pty.assert_restored();
    assert!(pty.text().contains("wrote"), "{}", pty.text());
    assert_eq!(recordings(&dir), 1);
}

#[test]
fn it_ends_with_its_terminal() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86392");
    let mut pty = session(&dir, &target);
    pty.hang_up();
    pty.ends();
    until("what it held is written", || recordings(&dir) == 1);
}

/// A shell with job control stands between: a program whose session has no other cannot be stopped.
#[test]
fn it_stops_and_goes_on_as_programs_of_a_shell_do() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86391");
    let script = format!(
        "'{IRONLAW}' top -p {}; echo \"stopped with $?\"; read line; fg; echo \"ended with $?\"; read line",
        target.pid()
    );
    let mut pty = Pty::start(&mut dir.command("sh", &["-m", "-c", &script]), SIZE);
    pty.wait_for("LIVE");
    for _ in 0..2 {
        pty.press("2");
        pty.wait_for(PLANTED);
    }
    pty.press("Ctrl-z");
    pty.wait_for("stopped with 148");
    pty.assert_restored();
    pty.press("Enter");
    pty.wait_for(PLANTED);
    pty.assert_taken();
    pty.press("q");
    pty.wait_for("ended with 0");
    pty.assert_restored();
    pty.press("Enter");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn without_a_terminal_it_names_the_command_that_needs_none() {
    let dir = Dir::new();
    for args in [&[][..], &["top"], &["top", "-p", "1"], &["top", "--", "true"]] {
        let ran = dir.ironlaw(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("ironlaw record"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_recording_shows_on_the_same_screens() {
    require!("perf");
    let dir = Dir::new();
    dir.record("seen", "", "hotspot --threads 2 --seconds 1.5");
    for args in [&["view", "seen.ironlaw"][..], &["view"]] {
        let mut pty = ironlaw(&dir, args);
        pty.wait_for("RECORDING");
        pty.press("2");
        pty.wait_for(PLANTED);
        pty.press("q");
        assert_eq!(pty.ends(), End::Code(0));
        pty.assert_restored();
    }
    let mut pty = ironlaw(&dir, &[]);
    pty.press("Tab Tab Tab");
    pty.wait_for("seen.ironlaw");
    pty.press("Enter 2");
    pty.wait_for(PLANTED);
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn the_addresses_of_a_function_show_their_instructions() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run.ironlaw", "", "hotspot --threads 1 --seconds 1");
    let mut pty = Pty::start(&mut dir.command(IRONLAW, &["view", "run.ironlaw"]), (140, 30));
    pty.wait_for("RECORDING");
    pty.press("3");
    // The Overview names it, too. Keys before the table is there find no row.
    pty.wait_until("the functions are listed", |screen| {
        screen.lines().skip_while(|line| !line.contains("self ▼")).any(|line| line.contains(PLANTED))
    });
    pty.press("\r");
    pty.wait_for("called from");
    pty.press("ddd");
    pty.wait_for("instruction");
    // What the workload computes, by any compiler; CPUs differ in which of them they say to have been at.
    let computes = |screen: &str| ["xor ", "shr ", "shl "].iter().any(|name| screen.contains(name));
    pty.wait_until("the screen shows an instruction of the workload", computes);
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn held_against_a_baseline_the_flame_graph_becomes_the_difference_at_a_key() {
    require!("perf");
    let dir = Dir::new();
    dir.record("seen", "", "hotspot --threads 2 --seconds 3");
    dir.line("baseline build seen.ironlaw -o usual").succeeds();
    let mut pty = ironlaw(&dir, &["view", "seen.ironlaw", "--baseline", "usual.baseline"]);
    pty.wait_for("RECORDING");
    pty.press("2");
    pty.wait_for("against baseline");
    pty.press("b");
    pty.wait_for("now against usual");
    pty.wait_for(&format!("= {PLANTED}"));
    pty.press("e");
    pty.wait_for("write a picture");
    pty.write("shown.svg");
    pty.press("Enter");
    pty.wait_for("wrote shown.svg");
    pty.press("b");
    pty.wait_for("against baseline]");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    let picture = std::fs::read_to_string(dir.join("shown.svg")).unwrap();
    assert!(picture.contains(PLANTED) && picture.contains("CPU time: usual 100 %, now 100 %"), "{picture:.2000}");
    let mut pty = ironlaw(&dir, &["view", "seen.ironlaw"]);
    pty.wait_for("RECORDING");
    pty.press("2 b");
    pty.wait_for("no baseline is given");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
}

#[test]
fn a_baseline_is_learnt_from_what_is_held_and_the_session_goes_on_against_it() {
    require!("perf");
    let dir = Dir::new();
    let target = target(&dir, "86404");
    let mut pty = ironlaw(&dir, &["top", "-p", &target.pid().to_string(), "-I", "100"]);
    // On a busy machine, not every second is shown.
    let lasted = |screen: &str| screen.split_once("LIVE 00:00:")?.1.get(..2)?.parse::<u32>().ok();
    pty.wait_until("four seconds have passed", |screen| lasted(screen).is_some_and(|seconds| seconds >= 4));
    pty.press("8");
    pty.wait_for("No baseline is given");
    pty.write(":learn web\r");
    let too_little = "kept less than 0.25 of a CPU busy";
    let learns = |screen: &str| screen.contains("learnt web.baseline from") || screen.contains(too_little);
    if pty.wait_until("a baseline is learnt", learns).contains(too_little) {
        crate::support::skip("quiet", "beside other programs, the target had too little of a CPU to learn from");
        return;
    }
    pty.wait_until("the screen holds what runs to it", |screen| {
        // Where other programs give it another share of the CPU than while it was learnt, its load is unknown, or some windows
        // are unusual.
        ["As usual", " than usual from", "Unusual", "at a load the baseline does not know"]
            .iter()
            .any(|verdict| screen.contains(verdict))
    });
    pty.write(":learn web\r");
    pty.wait_for("exists");
    pty.press("w");
    pty.write("held\r");
    pty.wait_for("wrote held.ironlaw");
    pty.write(":baseline held.ironlaw\r");
    pty.wait_for("changes are shown against held.ironlaw");
    pty.write(":open held\r");
    pty.wait_for("RECORDING");
    pty.wait_for("wrote pid-");
    pty.write(":baseline web\r");
    pty.wait_for("compared with web");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn what_counts_operations_is_said_while_the_session_runs() {
    require!("perf");
    let dir = Dir::new();
    let script = "i=0; while :; do i=$((i+1)); echo $i > total; sleep 0.01; done";
    let target = Running::of(&mut dir.command("sh", &["-c", script]));
    until("it counts", || dir.join("total").exists());
    let mut pty = ironlaw(&dir, &["top", "-p", &target.pid().to_string(), "-I", "200"]);
    pty.wait_for("nothing counts operations");
    pty.write(":ops nonsense\r");
    pty.wait_for("nonsense");
    pty.write(":ops file:nowhere\r");
    pty.wait_for("nowhere");
    std::fs::write(dir.join("still"), "7").unwrap();
    pty.write(":ops file:still\r");
    pty.wait_for("no operation in the first");
    pty.write(":ops file:total\r");
    pty.wait_for("operations in the first");
    let screen = pty.wait_for("throughput");
    assert!(!screen.contains("nothing counts operations"), "{screen}");
    pty.press("w");
    pty.write("counted\r");
    pty.wait_for("wrote counted.ironlaw");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    let report = dir.report("counted.ironlaw", "");
    let rate = report["metrics"]["throughput"]["value"].as_f64().unwrap();
    assert!((5.0..101.0).contains(&rate), "{rate}/s: {}", report["metrics"]["throughput"]);
}

#[test]
fn a_target_that_cannot_be_opened_is_refused_on_the_terminal_as_it_was() {
    let dir = Dir::new();
    let mut pty = ironlaw(&dir, &["top", "-p", "4000000"]);
    assert_eq!(pty.ends(), End::Code(1));
    pty.assert_restored();
    assert!(pty.text().contains("process 4000000 does not exist"), "{}", pty.text());
}

/// Whether a recording, read with the command that needs no terminal, shows what ran.
fn holds_planted(dir: &Dir, name: &str) -> bool {
    let report = dir.report(name, "");
    report["functions"].as_array().unwrap().iter().any(|row| row["name"] == PLANTED)
}

fn recordings(dir: &Dir) -> usize {
    let names = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "ironlaw")).count()
}

/// A sweep of a program that waits for a lock, its operations counted in what it prints.
fn sweep<'a>(name: &'a str, seconds: &'a str) -> Vec<&'a str> {
    let own =
        ["sweep", "-L", "threads", "1,2", "-r", "1", "--place", "none", "--ops", "regex:ops ([0-9]+)", "-o", name];
    let command = ["--", WORKLOADS, "workload", "mutex", "--threads", "{threads}", "--seconds", seconds];
    own.into_iter().chain(command).collect()
}

#[test]
fn a_sweep_is_watched_to_its_end_and_looked_through_again() {
    let dir = Dir::new();
    let mut pty = ironlaw(&dir, &sweep("lock", "1"));
    pty.wait_for("7 Scaling");
    pty.wait_for("the sweep is over");
    pty.press("Enter");
    pty.wait_for("per op: ");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    assert!(pty.text().contains("explore it with: ironlaw view lock.sweep"), "{}", pty.text());

    let mut pty = ironlaw(&dir, &["view", "lock"]);
    pty.wait_for("SWEEP");
    pty.wait_for("ops/s");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
}

#[test]
fn a_sweep_is_started_watched_and_left_from_a_session_by_keys_alone() {
    require!("perf");
    if std::thread::available_parallelism().unwrap().get() < 2 {
        crate::support::skip("cpus", "this machine has one CPU for tests");
        return;
    }
    let dir = Dir::new();
    let target = target(&dir, "86403");
    let mut pty = session(&dir, &target);
    pty.write(":swe");
    pty.wait_for("sweep [--cpus 1,2,4]");
    pty.press("Enter");
    pty.write("--cpus 1,2 -r 1 --dwell 1s -o grown\r");
    pty.wait_for("RUNS");
    pty.wait_for("2 runs");
    let screen = pty.wait_for("ENDED");
    assert!(screen.contains("7 Scaling") && !screen.contains("1 Overview"), "{screen}");
    // What the session held before the sweep lies on disk, and the sweep beside it.
    assert_eq!(recordings(&dir), 1);
    pty.write(":open nothing\r");
    pty.wait_for("neither nothing nor");
    pty.write(":sweep --bogus\r");
    pty.wait_for("unexpected argument");
    pty.write(":run\r");
    pty.wait_for("RECORDING");
    pty.write(":run\r");
    pty.wait_for("no finished run");
    pty.press("1");
    pty.wait_for("busy cores");
    pty.write(":open grown\r");
    pty.wait_for("SWEEP");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(0));
    pty.assert_restored();
    assert!(pty.text().contains("ironlaw view grown.sweep"), "{}", pty.text());
}

#[test]
fn a_sweep_that_is_left_ends_and_says_what_it_has() {
    let dir = Dir::new();
    let mut pty = ironlaw(&dir, &sweep("early", "60"));
    pty.wait_for("RUNS 0/2");
    pty.press("q");
    assert_eq!(pty.ends(), End::Code(1));
    pty.assert_restored();
    assert!(pty.text().contains("no run of early.sweep counts"), "{}", pty.text());
}

#[test]
fn a_comparison_is_looked_through_at_any_size_and_its_gate_still_counts() {
    let dir = Dir::new();
    for name in ["a", "b"] {
        dir.record(name, "--ops regex:ops\\s(\\d+)", "scaling --threads 1 --seconds 1");
    }
    let line = ["diff", "--tui", "a.ironlaw", "b.ironlaw", "--fail-if", "cpu_ns_per_op > 1"];
    let mut pty = ironlaw(&dir, &line);
    pty.wait_for("What made the difference");
    pty.press("2");
    // "CPU time" or, where cycles were sampled, "CPU cost".
    pty.wait_for(" per op: base");
    pty.press("p");
    pty.wait_for("per CPU second: base");
    pty.resize(20, 5);
    pty.wait_for("ironlaw needs");
    pty.resize(100, 30);
    // A key that arrives in the same wake-up as the resize would be read with the next key only.
    pty.wait_for("per CPU second: base");
    pty.press("3");
    pty.wait_for("changed beyond chance");
    pty.press("q");
    // Single runs show no limit to be exceeded.
    assert_eq!(pty.ends(), End::Code(4));
    pty.assert_restored();
    assert!(pty.text().contains("undecided"), "{}", pty.text());
}
