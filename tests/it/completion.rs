//! Completion in a real shell: a bash on a terminal, with Tab pressed.

use crate::program::{Dir, IRONLAW, Ran};
use crate::pty::Pty;
use std::path::Path;

/// A bash that has read the script, in `dir`.
fn bash(dir: &Dir) -> Pty {
    let mut command = dir.command("bash", &["--norc", "--noprofile", "-i"]);
    let bin = Path::new(IRONLAW).parent().unwrap().to_str().unwrap();
    command.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap())).env("PS1", "ready> ").env("TERM", "xterm");
    let mut pty = Pty::start(&mut command, (120, 40));
    pty.wait_for("ready>");
    pty.write("bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; source <(ironlaw completions bash); clear\n");
    pty.wait_until("a clear screen", |screen| screen.trim() == "ready>");
    pty
}

/// The line after Tab: `\u{15}` empties it again.
#[track_caller]
fn completes(pty: &mut Pty, typed: &str, line: &str) {
    pty.write(&format!("{typed}\t"));
    let shown = format!("ready> {line}");
    pty.wait_until(&shown, |screen| screen.lines().any(|row| row.trim_end() == shown.trim_end()));
    pty.write("\u{15}");
    pty.wait_until("an empty line", |screen| screen.trim_end().ends_with("ready>"));
}

#[test]
fn commands_recordings_functions_events_and_workloads_complete_in_bash() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run.ironlaw", "", "hotspot --threads 1 --seconds 0.5");
    std::fs::rename(dir.join("run.ironlaw"), dir.join("before it.ironlaw")).unwrap();
    std::fs::create_dir(dir.join("folder")).unwrap();
    std::fs::write(dir.join("notes.txt"), "").unwrap();
    let mut pty = bash(&dir);
    for (typed, line) in [
        ("ironlaw annot", "ironlaw annotate "),
        ("ironlaw report be", r"ironlaw report before\ it.ironlaw "),
        (r"ironlaw diff before\ it.ironlaw,b", r"ironlaw diff before\ it.ironlaw,before\ it.ironlaw "),
        ("ironlaw flamegraph -i be", r"ironlaw flamegraph -i before\ it.ironlaw "),
        ("ironlaw annotate checksum_b", "ironlaw annotate checksum_block "),
        (
            r"ironlaw annotate -i before\ it.ironlaw checksum_b",
            r"ironlaw annotate -i before\ it.ironlaw checksum_block ",
        ),
        ("ironlaw report -S checksum_b", "ironlaw report -S checksum_block "),
        ("ironlaw report --format=js", "ironlaw report --format=json "),
        ("ironlaw record -e cycles,context-sw", "ironlaw record -e cycles,context-switches "),
        ("ironlaw record -M base,ca", "ironlaw record -M base,cache "),
        ("ironlaw workload false-", "ironlaw workload false-sharing "),
        ("ironlaw help perf", "ironlaw help performance "),
        ("ironlaw import no", "ironlaw import notes.txt "),
    ] {
        completes(&mut pty, typed, line);
    }
}

/// What a program calls its functions must not be run by the shell of who looks at them.
#[test]
fn names_that_a_shell_would_act_on_are_quoted_and_control_characters_left_out() {
    let dir = Dir::new();
    let folded =
        "main;$(touch\u{a0}gone) 5\nmain;evil`touch${IFS}gone`;x 3\nmain;esc\u{1b}[2J 2\nns::call<int*>(a && b) 4\n";
    std::fs::write(dir.join("stacks.folded"), folded).unwrap();
    dir.line("-q import stacks.folded -o bad").succeeds();
    let mut pty = bash(&dir);
    completes(&mut pty, "ironlaw annotate evil", r"ironlaw annotate evil\`touch\$\{IFS\}gone\` ");
    completes(&mut pty, "ironlaw annotate ns::c", r"ironlaw annotate ns::call\<int\*\>\(a\ \&\&\ b\) ");
    completes(&mut pty, "ironlaw annotate 'ns::c", "ironlaw annotate 'ns::call<int*>(a && b)' ");
    completes(&mut pty, "ironlaw annotate esc", "ironlaw annotate esc");
    completes(&mut pty, r"ironlaw annotate \$", "ironlaw annotate \\$\\(touch\\\u{a0}gone\\) ");
    pty.write("ironlaw annotate evil\t\n");
    pty.wait_for("no sampled function");
    assert!(!dir.join("gone").exists());
}

#[test]
fn a_damaged_recording_completes_to_nothing_and_nothing_is_said() {
    let dir = Dir::new();
    let path = dir.join("bad.ironlaw");
    std::fs::create_dir(&path).unwrap();
    let ask = |line: &str, word: &str| {
        let mut command = dir.command(IRONLAW, &["--", line]);
        Ran::of(command.env("IRONLAW_COMPLETE", "bash").env("IRONLAW_COMPLETE_WORD", word)).succeeds()
    };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
    let parts: Vec<_> = std::fs::read_dir(&fixture).unwrap().map(|entry| entry.unwrap().path()).collect();
    for part in parts.iter().filter(|part| part.extension().is_some_and(|end| end == "parquet")) {
        std::fs::copy(part, path.join(part.file_name().unwrap())).unwrap();
    }
    for meta in [&b"{"[..], b"", &[0xff; 64]] {
        std::fs::write(path.join("meta.json"), meta).unwrap();
        let ran = ask("ironlaw report -i bad.ironlaw -S ", "");
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    }
    std::fs::copy(fixture.join("meta.json"), path.join("meta.json")).unwrap();
    let ran = ask("ironlaw report -i bad.ironlaw -S ", "");
    assert!(ran.out.lines().any(|line| line == "main") && ran.err.is_empty(), "{ran:?}");
    for part in std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()) {
        if part.extension().is_some_and(|end| end == "parquet") {
            std::fs::write(part, [b"PAR1".as_slice(), &[0x7f; 200], b"PAR1"].concat()).unwrap();
        }
    }
    let ran = ask("ironlaw report -i bad.ironlaw -S ", "");
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}
