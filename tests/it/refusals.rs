//! What every command that reads says of an object that it cannot read: its name, why, and no word that acts on a
//! terminal. Nothing is written, and nothing is printed as a result.

use crate::program::{Dir, Ran};
use std::fs;
use std::os::unix::fs::symlink;

/// Makes the objects that no command can read.
fn objects(dir: &Dir) {
    fs::write(dir.join("file"), "text\n").unwrap();
    fs::create_dir(dir.join("empty")).unwrap();
    for (name, meta) in [
        ("half.ironlaw", "{\"format\": [1, 0], \"tool\": \"iron"),
        ("newer.ironlaw", "{\"format\": [9, 0]}"),
        ("zeros.ironlaw", "\0\0\0\0\0\0\0\0"),
        ("\u{1b}[31mred\u{202e}.ironlaw", "[]"),
    ] {
        fs::create_dir(dir.join(name)).unwrap();
        fs::write(dir.join(name).join("meta.json"), meta).unwrap();
    }
    symlink("loop", dir.join("loop")).unwrap();
}

/// Asserts that a command fails for this reason with these texts, prints no result, and leaves nothing behind.
fn refused(dir: &Dir, words: &[&str], code: i32, parts: &[&str]) {
    let before = fs::read_dir(dir.path()).unwrap().count();
    let Ran { code: found, out, err } = dir.ironlaw(words);
    assert_eq!((found, out.as_str()), (Some(code), ""), "{words:?}: {err}");
    for part in parts {
        assert!(err.contains(part), "{words:?}: no '{part}' in\n{err}");
    }
    assert!(err.starts_with("ironlaw: error: ") && !err.contains("panicked"), "{words:?}: {err}");
    assert!(!err.contains(['\u{1b}', '\u{202e}']), "{words:?}: a name acts on the terminal: {err:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{words:?} left something behind");
}

#[test]
fn a_recording_that_cannot_be_read_is_refused_by_name_by_every_reader() {
    let dir = Dir::new();
    objects(&dir);
    let hostile = "\u{1b}[31mred\u{202e}.ironlaw";
    for reader in [
        &["report"][..],
        &["report", "--format", "json"],
        &["flamegraph", "-o", "-"],
        &["export", "--format", "folded", "-o", "-"],
        &["baseline", "build", "-o", "new"],
    ] {
        for (object, parts) in [
            ("gone", &["neither gone nor gone.ironlaw exists", "ironlaw record"][..]),
            ("empty", &["empty is not a recording", "meta.json"]),
            ("half.ironlaw", &["cannot open half.ironlaw", "meta.json is not that of a recording"]),
            ("half", &["half.ironlaw"]),
            ("zeros.ironlaw", &["cannot open zeros.ironlaw", "meta.json"]),
            ("newer.ironlaw", &["cannot open newer.ironlaw", "format 9.0", "newer ironlaw"]),
            (hostile, &["\u{241b}[31mred\\u{202e}.ironlaw"]),
            ("no/such/folder", &["no/such/folder"]),
            ("loop", &["loop"]),
        ] {
            refused(&dir, &[reader, &[object]].concat(), 1, parts);
        }
    }
}

#[test]
fn each_side_of_a_comparison_is_refused_by_its_own_name() {
    let dir = Dir::new();
    objects(&dir);
    for (sides, code, parts) in [
        (["gone", "half.ironlaw"], 1, &["cannot compare gone", "neither gone nor gone.ironlaw exists"][..]),
        (["half.ironlaw", "gone"], 1, &["cannot compare half.ironlaw", "meta.json"]),
        (["gone,half", "gone"], 1, &["cannot compare gone"]),
        ([",", "gone"], 2, &["invalid side ','", "a1.ironlaw,a2.ironlaw"]),
        (["", "gone"], 2, &["invalid side ''"]),
    ] {
        refused(&dir, &["diff", sides[0], sides[1]], code, parts);
    }
}

#[test]
fn a_baseline_that_is_none_is_refused_by_name_with_how_to_make_one() {
    let dir = Dir::new();
    objects(&dir);
    fs::write(dir.join("newer.baseline"), "{\"format\": [9, 0]}").unwrap();
    fs::write(dir.join("half.baseline"), "{\"format\": [1, 0], \"windows\": [").unwrap();
    for (object, parts) in [
        ("gone", &["gone", "ironlaw baseline build"][..]),
        ("file", &["cannot read file", "not a baseline"]),
        ("half.baseline", &["cannot read half.baseline", "not a baseline"]),
        ("half", &["half"]),
        ("newer.baseline", &["newer.baseline", "format 9.0", "newer ironlaw"]),
        ("/dev/null", &["/dev/null is not a baseline: it is not a regular file"]),
        ("empty", &["empty contains no baseline", "--baseline"]),
    ] {
        refused(&dir, &["baseline", "show", object], 1, parts);
    }
}

#[test]
fn an_import_of_what_nobody_recorded_is_refused_by_name() {
    let dir = Dir::new();
    objects(&dir);
    fs::write(dir.join("cut.data"), b"PERFILE2\x68\0\0\0").unwrap();
    fs::write(dir.join("old.data"), b"PERFFILE\x68\0\0\0").unwrap();
    fs::write(dir.join("nothing"), "").unwrap();
    for (object, parts) in [
        ("gone", &["cannot read gone"][..]),
        ("file", &["cannot import file", "folded stacks"]),
        ("cut.data", &["cut.data", "ends within its header"]),
        ("old.data", &["old.data", "first format"]),
        ("nothing", &["nothing"]),
        ("empty", &["empty is a directory"]),
        ("loop", &["cannot read loop"]),
    ] {
        refused(&dir, &["import", object, "-o", "new"], 1, parts);
    }
}

#[test]
fn a_configuration_that_is_wrong_is_refused_with_its_file_and_line() {
    let dir = Dir::new();
    for (case, text, parts) in [
        ("an unknown theme", "\ntheme = 'pink'\n", &["line 2", "theme = \"pink\" is unknown", "Choose auto"][..]),
        ("no TOML", "theme", &["line 1", "ironlaw config"]),
        ("an unknown setting", "colour = 1", &["unknown field `colour`"]),
        ("a number out of range", "interval_ms = 0", &["interval_ms = 0 is out of range", "Choose 10 to"]),
        ("bytes that are no text", "theme = '\u{1b}[31m'", &["line 1"]),
    ] {
        fs::write(dir.join("config.toml"), text).unwrap();
        let mut command = dir.command(crate::program::IRONLAW, &["config", "--check"]);
        let ran = Ran::of(command.env("IRONLAW_CONFIG", dir.join("config.toml")));
        assert!(ran.code != Some(0) && ran.out.is_empty(), "{case}: {ran:?}");
        assert!(ran.err.contains("config.toml") && !ran.err.contains('\u{1b}'), "{case}: {}", ran.err);
        assert!(parts.iter().all(|part| ran.err.contains(part)), "{case}: {}", ran.err);
    }
}

#[test]
fn a_program_that_does_not_exist_is_refused_before_anything_is_opened() {
    let dir = Dir::new();
    for command in ["record", "stat", "sweep -L threads 1,2"] {
        let words = format!("{command} -- no-such-program --threads 2");
        let words: Vec<&str> = words.split(' ').collect();
        refused(&dir, &words, 1, &["cannot run \"no-such-program\": no such program", "`ironlaw top` lists"]);
    }
}
