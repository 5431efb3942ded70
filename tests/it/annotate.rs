//! Functions by their instructions, beside what objdump makes of the same code.

use crate::program::{Dir, IRONLAW, Ran, WORKLOADS};
use serde_json::Value;

fn json(dir: &Dir, line: &str) -> Value {
    serde_json::from_str(&dir.line(line).succeeds().out).expect("it is JSON")
}

/// Address and mnemonic of each instruction of a function, by objdump; `None` without it.
fn by_objdump(dir: &Dir, function: &str, syntax: &str) -> Option<Vec<(u64, String)>> {
    let words = ["-d", &format!("--disassemble={function}"), "-M", syntax, "--no-show-raw-insn", WORKLOADS];
    let out = dir.command("objdump", &words).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let line = |line: &str| {
        let (address, rest) = line.split_once(":\t")?;
        let mnemonic = rest.split_whitespace().next()?.to_string();
        Some((u64::from_str_radix(address.trim(), 16).ok()?, mnemonic))
    };
    Some(text.lines().filter_map(line).collect())
}

#[test]
fn a_function_has_the_instructions_that_objdump_finds_and_its_own_samples() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run.ironlaw", "", "hotspot --threads 1 --seconds 1");
    let report = dir.report("run.ironlaw", "");
    let row = report["functions"].as_array().unwrap().iter().find(|row| row["name"] == "checksum_block").unwrap();
    for syntax in ["intel", "att"] {
        let view = json(&dir, &format!("annotate checksum_block run.ironlaw --format json -M {syntax}"));
        assert_eq!(view["samples"], row["self_samples"]);
        assert_eq!(view["elsewhere"], 0);
        let lines = view["instructions"].as_array().unwrap();
        let sum: u64 = lines.iter().map(|line| line["samples"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), row["self_samples"].as_u64());
        let share: f64 = lines.iter().map(|line| line["share"].as_f64().unwrap()).sum();
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        let Some(known) = by_objdump(&dir, "checksum_block", syntax) else {
            crate::support::skip("objdump", "objdump is not installed");
            continue;
        };
        let ours: Vec<u64> = lines.iter().map(|line| line["address"].as_u64().unwrap()).collect();
        assert_eq!(ours, known.iter().map(|(address, _)| *address).collect::<Vec<_>>());
        for (line, (address, mnemonic)) in lines.iter().zip(&known) {
            let text = line["text"].as_str().unwrap();
            let first = text.split(' ').next().unwrap();
            // Both may add the size of an operand, and write long constants their own way.
            let alike = |a: &str, b: &str| a.starts_with(b) && a.len() <= b.len() + 3;
            assert!(alike(first, mnemonic) || alike(mnemonic, first), "{address:#x}: {text}, not {mnemonic}");
        }
    }
}

#[test]
fn the_function_with_most_samples_is_the_default_and_a_part_of_a_name_suffices() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run.ironlaw", "", "hotspot --threads 1 --seconds 1");
    for line in [
        "annotate",
        "annotate run.ironlaw",
        "annotate checksum_bl",
        "annotate -i run.ironlaw --stdio",
        "annotate checksum_block -i run.ironlaw",
    ] {
        let ran = dir.line(line).succeeds();
        assert!(
            ran.out.contains("checksum_block") && ran.out.contains("by class: ") && ran.out.contains('%'),
            "{line}: {}",
            ran.out
        );
    }
    for (line, says) in [
        ("annotate no_such_function", "no sampled function is named no_such_function"),
        ("annotate _block", "functions have '_block' in their names"),
        ("annotate -M mips checksum_block", "choose intel or att"),
    ] {
        let ran = dir.line(line);
        assert!(ran.code != Some(0) && ran.out.is_empty() && ran.err.contains(says), "{line}: {}", ran.err);
    }
}

#[test]
fn classes_add_up_and_name_the_unit_that_a_program_keeps_busy() {
    require!("perf");
    let dir = Dir::new();
    dir.record("run.ironlaw", "", "hotspot --threads 1 --seconds 1");
    let view = json(&dir, "annotate --mix --format json");
    let shares = |rows: &Value| rows.as_array().unwrap().iter().map(|row| row["share"].as_f64().unwrap()).sum::<f64>();
    assert!((shares(&view["classes"]) - 1.0).abs() < 1e-9);
    for function in view["functions"].as_array().unwrap() {
        assert!((shares(&function["classes"]) - 1.0).abs() < 1e-9, "{function}");
    }
    // The report has the same, and without the flag nothing of it.
    assert_eq!(json(&dir, "report --mix --no-inline --format json")["instructions"]["classes"], view["classes"]);
    assert!(json(&dir, "report --format json")["instructions"].is_null());
    let text = dir.line("report --mix").succeeds().out;
    assert!(text.contains("Instructions by class") && text.contains("Instructions by function"), "{text}");
    assert_eq!(dir.line("report --mix --format csv").code, Some(2));
    // Integers are all that it multiplies.
    assert_eq!(view["classes"][0]["class"], "scalar");
    assert!(view["classes"][0]["share"].as_f64().unwrap() > 0.5, "{}", view["classes"]);
}

#[test]
fn code_that_changed_since_is_not_shown_for_what_was_recorded() {
    require!("perf");
    let dir = Dir::new();
    let copy = dir.join("app");
    std::fs::copy(WORKLOADS, &copy).unwrap();
    let app = copy.to_str().unwrap();
    dir.ironlaw(&["-q", "record", "-o", "run", "--", app, "workload", "hotspot", "--threads", "1", "--seconds", "0.5"])
        .succeeds();
    dir.line("annotate checksum_block run.ironlaw").succeeds();
    std::fs::copy("/bin/true", &copy).unwrap();
    // perf may have kept a copy of this build below the user's home.
    let home = |words: &[&str]| Ran::of(dir.command(IRONLAW, words).env("HOME", dir.path()));
    let ran = home(&["annotate", "checksum_block", "run.ironlaw"]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("is not here") && ran.err.contains("build id"), "{}", ran.err);
    let mix: Value =
        serde_json::from_str(&home(&["annotate", "--mix", "--format", "json", "run.ironlaw"]).out).unwrap();
    assert!(mix["classes"].as_array().unwrap().iter().any(|row| row["class"].is_null()), "{}", mix["classes"]);
}

/// A rebuilt program may keep its path, and without build ids only its age tells.
#[test]
fn a_file_without_a_build_id_is_shown_only_if_it_is_unchanged_since_the_recording() {
    require!("perf");
    let dir = Dir::new();
    let code = "int main(int n, char **a) { volatile long x = 0; for (long i = 0; i < 300000000L; i++) x += i * n; return 0; }";
    std::fs::write(dir.join("app.c"), code).unwrap();
    let build = || {
        dir.command("cc", &["-O1", "-Wl,--build-id=none", "-o", "app", "app.c"]).status().is_ok_and(|it| it.success())
    };
    if !build() {
        crate::support::skip("cc", "no C compiler");
        return;
    }
    dir.line("-q record -o run -- ./app").succeeds();
    let shown = dir.line("annotate main run.ironlaw").succeeds();
    assert!(shown.out.contains("by class: "), "{}", shown.out);
    assert!(build());
    let ran = dir.line("annotate main run.ironlaw");
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.err.contains("is not here"), "{}", ran.err);
}
