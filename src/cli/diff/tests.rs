//! What `ironlaw diff` takes from its command line before it reads a recording.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::sides::{refuse, settings};
use super::source::{Source, width};
use super::*;
use crate::analysis::diff::testing::side;
use crate::analysis::diff::{LoadBy, Per, Side};
use crate::cli::args::{Cli, Command};
use crate::model::{Measure, Why};
use clap::Parser;
use std::fs;

fn args(line: &str) -> DiffArgs {
    match Cli::try_parse_from(["ironlaw", "diff"].into_iter().chain(line.split(' '))).unwrap().command {
        Some(Command::Diff(args)) => args,
        other => panic!("{other:?}"),
    }
}

/// A folder that holds these recordings, by their files.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    dir
}

#[test]
fn a_side_is_one_path_or_several_between_commas() {
    let dir = folder(&["a.ironlaw", "b.ironlaw", "with,comma.ironlaw", "plain"]);
    let at = |name: &str| format!("{}/{name}", dir.path().display());
    for (case, text, expected) in [
        ("a whole name", at("a.ironlaw"), vec!["a.ironlaw"]),
        ("a name without its ending", at("a"), vec!["a.ironlaw"]),
        ("a folder with another name", at("plain"), vec!["plain"]),
        ("two, one without its ending", format!("{},{}", at("a"), at("b.ironlaw")), vec!["a.ironlaw", "b.ironlaw"]),
        ("a name with a comma", at("with,comma.ironlaw"), vec!["with,comma.ironlaw"]),
        ("commas too many", format!(",{},,", at("a")), vec!["a.ironlaw"]),
        ("the same twice", format!("{0},{0}", at("a")), vec!["a.ironlaw", "a.ironlaw"]),
        ("one that is not there", at("nonesuch"), vec!["nonesuch"]),
    ] {
        let Ok(Source::Recordings { label, paths }) = Source::of(&text) else { panic!("{case}") };
        assert_eq!(label, text, "{case}: the label is as typed");
        let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, expected, "{case}");
    }
}

#[test]
fn a_side_without_a_name_is_refused_with_an_example() {
    for text in ["", ",", ",,,"] {
        let error = Source::of(text).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Usage, "{text:?}");
        assert!(error.to_string().contains(&format!("invalid side '{text}'")), "{error}");
        assert!(error.remedy().unwrap().contains("a1.ironlaw,a2.ironlaw"), "{text:?}");
    }
}

#[test]
fn a_width_is_of_sweeps_alone() {
    let dir = folder(&["a.ironlaw"]);
    let source = || Source::of(&dir.path().join("a.ironlaw").display().to_string()).ok();
    let sources: Vec<Source> = source().into_iter().chain(source()).collect();
    assert_eq!(width(&sources, None).unwrap(), None);
    let error = width(&sources, Some(4)).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("--width needs sweeps")), (ErrorKind::Usage, true), "{error}");
}

#[test]
fn flags_that_contradict_each_other_are_refused_before_anything_is_read() {
    for (line, message, remedy) in [
        (
            "a b c --flamegraph x.svg",
            "--flamegraph draws one comparison",
            "Give one NEW; separate repeats of it by commas.",
        ),
        (
            "a b --fail-if contradicted",
            "invalid --fail-if contradicted: no expectation",
            "Add one, e.g. --expect 'cpi down'.",
        ),
        (
            "a b --fail-if unconfirmed",
            "invalid --fail-if unconfirmed: no expectation",
            "Add one, e.g. --expect 'cpi down'.",
        ),
    ] {
        let error = check(&args(line)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{line}");
        assert!(error.to_string().contains(message) && error.remedy() == Some(remedy), "{line}: {error}");
    }
    for line in ["a b", "a b c", "a b --flamegraph x.svg"] {
        assert!(check(&args(line)).is_ok(), "{line}");
    }
}

fn named(label: &str) -> Side {
    Side { label: label.to_string(), ..side(&[5000.0, 5010.0, 4990.0]) }
}

#[test]
fn costs_are_divided_by_operations_only_where_every_run_counted_them() {
    let counted = named("counted");
    let mut without = named("without");
    without.runs[1].run.totals.ops = Measure::Missing(Why::NoOpsSource);
    for (line, sides, expected) in [
        ("a b", [&counted, &counted], Per::Op),
        ("a b", [&counted, &without], Per::Cpu),
        ("a b", [&without, &counted], Per::Cpu),
        ("a b --normalize op", [&without, &without], Per::Op),
        ("a b --normalize cpu", [&counted, &counted], Per::Cpu),
        ("a b --normalize share", [&counted, &counted], Per::Share),
        ("a b --normalize none", [&counted, &counted], Per::None),
    ] {
        let found = settings(&args(line), sides[0], std::slice::from_ref(sides[1]));
        assert_eq!(found.per, expected, "{line} of {} and {}", sides[0].label, sides[1].label);
    }
    for (line, expected) in [
        ("a b", LoadBy::Auto),
        ("a b --load ops", LoadBy::Operations),
        ("a b --load cores", LoadBy::Cores),
        ("a b --load none", LoadBy::Off),
    ] {
        assert_eq!(settings(&args(line), &counted, &[]).load, expected, "{line}");
    }
    let two = settings(&args("a b c --seed 7"), &counted, &[counted.clone(), counted.clone()]);
    assert_eq!((two.comparisons, two.seed), (2, 7));
}

#[test]
fn sides_of_other_machines_are_refused_by_name_unless_it_is_forced() {
    let (base, mut other) = (named("base"), named("other"));
    assert!(refuse(&base, std::slice::from_ref(&other), false).is_ok());
    for run in &mut other.runs {
        run.conditions.host.arch = "riscv64".to_string();
    }
    let error = refuse(&base, std::slice::from_ref(&other), false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().starts_with("cannot compare base with other: "), "{error}");
    assert!(error.to_string().contains("riscv64") && error.remedy().unwrap().contains("--force"), "{error}");
    assert!(refuse(&base, &[other], true).is_ok());
}
