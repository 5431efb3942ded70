//! Programs in the engine's place: what each of them does is an error that says so.

use super::*;
use std::os::unix::fs::PermissionsExt;

const GREETING: &str = r#"{"engine":"ironlaw-fleet","version":"0.1.0","protocol":1}"#;
const ANSWER: &str = r#"{"answer":{"rows":1,"columns":[["n",{"form":"integer","values":[7]}]]}}"#;

/// Asks a program that the shell runs.
fn asked(script: &str) -> Result<Vec<ResultTable>> {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("ironlaw-fleet");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    let questions = ["first", "second"].map(|name| Question { name, sql: "SELECT 1", by_job: false });
    answer_by(&program, &[], &questions)
}

#[test]
fn answers_come_in_the_order_of_the_questions() {
    let answers = asked(&format!("echo '{GREETING}'; read questions; echo '{ANSWER}'; echo '{ANSWER}'")).unwrap();
    assert_eq!(answers.iter().map(|answer| answer.integers("n").unwrap()[0]).collect::<Vec<_>>(), [Some(7), Some(7)]);
}

#[test]
fn what_is_no_engine_of_this_version_is_not_asked() {
    let older = GREETING.replace("0.1.0", "0.0.9").replace("\"protocol\":1", "\"protocol\":0");
    for (script, expected) in [
        ("cat".to_string(), "it is no SQL engine of ironlaw"),
        ("echo hello; sleep 600".to_string(), "it is no SQL engine of ironlaw"),
        (format!("echo '{older}'; sleep 600"), "it is version 0.0.9 (protocol 0); this ironlaw is 0.1.0 (protocol 1)"),
        ("echo no room >&2; exit 3".to_string(), "it printed nothing (exit code 3); its last words: no room"),
        ("exit 0".to_string(), "it printed nothing"),
    ] {
        // A program that waits for questions gets its end of the pipe closed.
        let script = script.replace("cat", "echo '{}'; cat");
        let error = asked(&script).unwrap_err();
        assert!(error.to_string().contains(expected) && error.to_string().contains("ironlaw-fleet"), "{error}");
    }
}

#[test]
fn an_engine_that_fails_is_an_error_of_the_question_that_has_no_answer() {
    let begun = format!("echo '{GREETING}'; read questions; echo '{ANSWER}'");
    let refused = r#"{"error":{"kind":"usage","text":"no column y","hint":"Name one.","question":"second"}}"#;
    for (script, kind, expected) in [
        (
            "kill -9 $$".to_string(),
            ErrorKind::Io,
            "cannot answer second: the SQL engine failed: it was killed by signal 9",
        ),
        ("exit 0".to_string(), ErrorKind::Io, "it ended without an answer"),
        ("echo '{\"answer\":'; sleep 600".to_string(), ErrorKind::Corrupt, "cannot understand what it printed"),
        ("printf '{\"answer\"'".to_string(), ErrorKind::Io, "it ended without an answer"),
        (format!("echo '{refused}'"), ErrorKind::Usage, "cannot answer second: no column y"),
    ] {
        let error = asked(&format!("{begun}; {script}")).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.remedy().is_some(), script.contains("kill") || script.contains("hint"), "{error}");
    }
}

#[test]
fn tables_of_recordings_are_files_that_the_engine_inherits_and_no_folder_has() {
    let part = |at: u64| Table::builder(1).u64("at_ns", [at].into_iter()).build().unwrap();
    let older = Table::builder(1).u32("tid", [5].into_iter()).build().unwrap();
    let parts = vec![("a".to_string(), part(1)), ("b".to_string(), older), ("c".to_string(), part(2))];
    let files = written("samples", &parts).unwrap();
    let read = files.iter().map(|file| {
        let bytes = std::fs::read(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        crate::tables::from_foreign_parquet(&bytes).unwrap()
    });
    let read: Vec<Table> = read.collect();
    assert_eq!(read.len(), 2, "one for each set of columns");
    assert_eq!((read[0].text("recording").unwrap(), read[0].u64("at_ns").unwrap()), (vec!["a", "c"], &[1, 2][..]));
    assert_eq!((read[1].text("recording").unwrap(), read[1].u32("tid").unwrap()), (vec!["b"], &[5][..]));
    let table = SqlTable { name: "samples".to_string(), rows: SqlRows::Memory(parts) };
    let mut handed = Vec::new();
    let request = serde_json::to_string(&request_table(&table, &mut handed).unwrap()).unwrap();
    let numbers: Vec<_> = handed.iter().map(|file| format!("\"/proc/self/fd/{}\"", file.as_raw_fd())).collect();
    assert_eq!(request, format!("{{\"name\":\"samples\",\"files\":[{}]}}", numbers.join(",")));
}
