//! SQL from the outside: `ironlaw query` and `ironlaw fleet` with the engine beside the program, and without one.

use crate::program::{Dir, IRONLAW, Ran};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn golden() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw").display().to_string()
}

fn queried(dir: &Dir, sql: &str, of: &[&str]) -> Ran {
    dir.ironlaw(&[&["query", sql], of, &["--format", "json"]].concat())
}

fn rows(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The program alone in a folder.
fn alone(dir: &Dir, engine: Option<&str>) -> String {
    let folder = dir.join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("ironlaw");
    if !program.exists() {
        std::fs::hard_link(IRONLAW, &program).or_else(|_| std::fs::copy(IRONLAW, &program).map(drop)).unwrap();
    }
    if let Some(script) = engine {
        let engine = folder.join("ironlaw-fleet");
        std::fs::write(&engine, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    program.display().to_string()
}

#[test]
fn a_recording_is_asked_in_every_format() {
    require!("engine");
    let dir = Dir::new();
    let sql = "SELECT count(*) AS n FROM samples";
    let n = rows(&queried(&dir, sql, &[&golden()]))[0]["n"].as_u64().unwrap();
    assert!(n > 0);
    let text = dir.ironlaw(&["query", sql, &golden()]);
    let lines: Vec<&str> = text.out.lines().map(str::trim).collect();
    assert_eq!(lines, ["n", &n.to_string(), "(1 row)"]);
    let csv = dir.ironlaw(&["query", sql, &golden(), "--format", "csv"]);
    assert_eq!(csv.out.split_terminator("\r\n").collect::<Vec<_>>(), ["n", &n.to_string()]);
    let written = dir.ironlaw(&["query", sql, &golden(), "-o", "n.parquet"]);
    assert_eq!(written.code, Some(0), "{}", written.err);
    let read = crate::parquet::Columns::read(&std::fs::read(dir.join("n.parquet")).unwrap());
    assert_eq!(read.numbers("n"), [Some(n as f64)]);
}

#[test]
fn recordings_are_told_apart_and_functions_are_a_table() {
    require!("engine");
    let dir = Dir::new();
    let copy = dir.join("other.ironlaw");
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(golden()).unwrap().flatten() {
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let both = [golden(), copy.display().to_string()];
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    let counts =
        rows(&queried(&dir, "SELECT recording, count(*) AS n FROM samples GROUP BY recording ORDER BY 1", &both));
    assert_eq!(counts.as_array().unwrap().len(), 2, "{counts}");
    assert_eq!((&counts[0]["recording"], &counts[1]["recording"]), (&"golden-1.0".into(), &"other".into()));
    assert_eq!(counts[0]["n"], counts[1]["n"]);
    let sums = rows(&queried(&dir, "SELECT sum(self_samples) AS n FROM functions", &[&golden()]));
    assert!(sums[0]["n"].as_u64().is_some_and(|n| n > 0), "{sums}");
}

#[test]
fn wrong_sql_is_an_error_of_the_command_line_that_says_which_tables_there_are() {
    require!("engine");
    let dir = Dir::new();
    for (sql, code, said) in [
        ("SELEC 1", 2, "wrong SQL"),
        ("SELECT nothing FROM samples", 2, "nothing"),
        ("SELECT 1 FROM nowhere", 2, "relation 'nowhere' was not found"),
        ("SELECT foo(tid) FROM samples", 1, "unsupported function 'foo'"),
    ] {
        let ran = queried(&dir, sql, &[&golden()]);
        assert_eq!(ran.code, Some(code), "{sql}: {}", ran.err);
        assert!(ran.err.contains(said) && !ran.err.contains("panick"), "{sql}: {}", ran.err);
    }
    let ran = queried(&dir, "SELECT nothing FROM samples", &[&golden()]);
    assert!(ran.err.contains("There are samples"), "{}", ran.err);
}

#[test]
fn a_simulated_fleet_is_answered_and_what_was_planted_is_found() {
    require!("engine");
    let dir = Dir::new();
    dir.line("fleet simulate set --hosts 12 --days 1 --jobs 4 --seed 3").succeeds();
    let report: Value = serde_json::from_str(&dir.line("fleet set --format json").succeeds().out).unwrap();
    assert!(report["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty()), "{report}");
    let n = rows(&queried(&dir, "SELECT count(*) AS n, count(DISTINCT host) AS hosts FROM windows", &["set"]));
    assert_eq!((n[0]["n"].as_u64(), n[0]["hosts"].as_u64()), (Some(12 * 3 * 1440), Some(12)));
    let checked = dir.line("fleet check set").succeeds();
    assert!(checked.out.contains("bad_host"), "{}", checked.out);
}

#[test]
fn without_an_engine_the_error_says_how_to_get_one() {
    let dir = Dir::new();
    let program = alone(&dir, None);
    let ran = Ran::of(dir.command(&program, &["query", "SELECT 1", &golden()]).env("PATH", "/nowhere"));
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    for words in
        ["the SQL engine is not installed", "copy ironlaw-fleet into", "--engine spark", "ironlaw fleet sql NAME"]
    {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[test]
fn an_engine_that_is_older_or_fails_is_an_error_that_names_it() {
    let dir = Dir::new();
    for (script, said) in [
        (r#"echo '{"engine":"ironlaw-fleet","version":"0.0.1","protocol":0}'"#, "it is version 0.0.1 (protocol 0)"),
        ("echo garbage", "it is no SQL engine of ironlaw"),
        (
            r#"echo '{"engine":"ironlaw-fleet","version":"0.1.0","protocol":1}'; read line; kill -9 $$"#,
            "it was killed by signal 9",
        ),
    ] {
        let program = alone(&dir, Some(script));
        let ran = Ran::of(&mut dir.command(&program, &["query", "SELECT 1", &golden()]));
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains(said), "{script}: {}", ran.err);
    }
}

#[test]
fn a_query_that_is_ended_leaves_no_engine_and_no_file() {
    let dir = Dir::new();
    // Waits for longer than the test; its parent is asked for as the engine asks.
    let script = r#"echo '{"engine":"ironlaw-fleet","version":"0.1.0","protocol":1}'; read line; echo $$ > pid
        parent=$PPID; while [ -d /proc/$parent ] && [ "$(ps -o ppid= -p $$ | tr -d ' ')" = "$parent" ]; do sleep 0.1; done"#;
    let program = alone(&dir, Some(script));
    let temporary = dir.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = dir.command(&program, &["query", "SELECT count(*) FROM samples", &golden()]);
    let mut query = crate::program::Running::of(command.env("TMPDIR", &temporary));
    crate::program::until("the engine has its questions", || dir.join("pid").exists());
    query.0.kill().unwrap();
    query.ends();
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "tables of a recording are in memory");
    let pid = std::fs::read_to_string(dir.join("pid")).unwrap();
    let runs = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|line| !line.contains(") Z "))
    };
    crate::program::until("the engine has ended", || !runs());
}
