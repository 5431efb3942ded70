//! The program, asked as ironlaw asks it: the corpus of SQL and the fleet's queries on the fixture's tables give what DuckDB
//! gives (`tests/fixtures/sql`), or the error that stands with the statement.
#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Sums of floating-point numbers depend on their order.
const TOLERANCE: f64 = 1e-9;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixture() -> PathBuf {
    root().join("tests/fixtures/sql")
}

struct Statement {
    tables: String,
    name: String,
    sql: String,
    /// The kind of the error and words of it.
    error: Option<(String, String)>,
}

/// As `tests/sql_answers.py` reads them.
fn statements() -> Vec<Statement> {
    let (mut found, mut tables) = (Vec::new(), String::new());
    for block in fs::read_to_string(fixture().join("corpus.sql")).unwrap().split("\n\n") {
        let (comments, sql): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("--"));
        let comments: Vec<&str> = comments.iter().map(|line| line[2..].trim()).collect();
        let sql = sql.join("\n").trim().to_string();
        if let Some(named) = comments.first().and_then(|line| line.strip_prefix("tables: ")) {
            tables = named.to_string();
        } else if !sql.is_empty() && !tables.is_empty() {
            let error = comments.iter().find_map(|line| line.strip_prefix("error ")?.split_once(": "));
            let error = error.map(|(kind, words)| (kind.to_string(), words.to_string()));
            found.push(Statement { tables: tables.clone(), name: comments[0].to_string(), sql, error });
        }
    }
    let mut queries: Vec<_> = fs::read_dir(root().join("assets/sql/fleet")).unwrap().flatten().collect();
    queries.sort_by_key(fs::DirEntry::path);
    found.extend(queries.iter().map(|file| Statement {
        tables: "fleet".to_string(),
        name: format!("fleet/{}", file.path().file_stem().unwrap().to_string_lossy()),
        sql: fs::read_to_string(file.path()).unwrap(),
        error: None,
    }));
    found
}

fn tables(of: &str) -> Value {
    if of == "fleet" {
        let folder = |name: &str| json!({"name": name, "folder": fixture().join("fleet").join(name)});
        return ["windows", "functions", "neighbours", "alarms"].map(folder).into_iter().collect();
    }
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in fs::read_dir(fixture().join("recording")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_string_lossy().rsplit_once('-').unwrap().0.to_string();
        files.entry(name).or_default().push(path);
    }
    files.values_mut().for_each(|files| files.sort());
    files.into_iter().map(|(name, files)| json!({"name": name, "files": files})).collect()
}

fn started() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ironlaw-fleet"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The lines after the greeting.
fn asked(tables: &Value, questions: &[(&str, &str, bool)]) -> Vec<Value> {
    let question = |(name, sql, by_job): &(&str, &str, bool)| json!({"name": name, "sql": sql, "by_job": by_job});
    let questions: Vec<Value> = questions.iter().map(question).collect();
    let mut child = started();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", json!({"tables": tables, "questions": questions})).unwrap();
    drop(input);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(child.wait().unwrap().success());
    assert_eq!(lines[0]["engine"], "ironlaw-fleet");
    lines[1..].to_vec()
}

/// The rows of an answer, numbers as such.
fn rows(answer: &Value) -> Vec<Vec<Value>> {
    let columns = answer["columns"].as_array().unwrap().iter().map(|column| {
        let cells = column[1]["values"].as_array().unwrap();
        cells.iter().map(|cell| match cell.as_str() {
            Some(number) if column[1]["form"] == "number" => json!(number.parse::<f64>().unwrap()),
            _ => cell.clone(),
        })
    });
    let mut columns: Vec<_> = columns.collect();
    let height = answer["rows"].as_u64().unwrap();
    (0..height).map(|_| columns.iter_mut().map(|column| column.next().unwrap()).collect()).collect()
}

fn alike(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        // Integers are compared as such: the greatest have no floating-point number of their own.
        (Some(_), Some(_)) if one.is_u64() && other.is_u64() || one.is_i64() && other.is_i64() => one == other,
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0),
        _ => one == other,
    }
}

/// What differs.
fn difference(ours: &[Vec<Value>], expected: &[Vec<Value>]) -> Option<String> {
    if ours.len() != expected.len() {
        return Some(format!("{} rows, DuckDB has {}", ours.len(), expected.len()));
    }
    let differs =
        |(a, b): &(&Vec<Value>, &Vec<Value>)| a.len() != b.len() || !a.iter().zip(*b).all(|(a, b)| alike(a, b));
    let (a, b) = ours.iter().zip(expected).find(differs)?;
    Some(format!("{}, DuckDB has {}", json!(a), json!(b)))
}

/// Why the reply to a statement is not what it should be.
fn wrong(statement: &Statement, reply: &Value, answers: &BTreeMap<String, Vec<Vec<Value>>>) -> Option<String> {
    let error = reply.get("error");
    match (&statement.error, error) {
        (None, Some(error)) => Some(format!("{error}")),
        (Some((kind, words)), Some(error)) => {
            let fits = error["kind"] == **kind && error["text"].as_str().unwrap().contains(&**words)
                || error["hint"].as_str().is_some_and(|hint| hint.contains(&**words));
            (!fits).then(|| format!("another error than {kind}: {words}: {error}"))
        }
        (Some(_), None) => Some("it is answered".to_string()),
        (None, None) => {
            let mut ours = rows(&reply["answer"]);
            let mut expected = answers.get(&statement.name)?.clone();
            let last = statement.sql.rsplit(')').next().unwrap();
            if !last.to_uppercase().contains("ORDER BY") {
                let text = |row: &Vec<Value>| json!(row).to_string();
                ours.sort_by_key(text);
                expected.sort_by_key(text);
            }
            difference(&ours, &expected)
        }
    }
}

#[test]
fn the_corpus_gives_what_duckdb_gives_or_says_what_is_missing() {
    let text = fs::read_to_string(fixture().join("answers.json")).unwrap();
    let answers: BTreeMap<String, Vec<Vec<Value>>> = serde_json::from_str(&text).unwrap();
    let statements = statements();
    assert!(statements.len() > 130, "{}", statements.len());
    let missing = |it: &&Statement| it.error.is_none() && !answers.contains_key(&it.name);
    let missing: Vec<_> = statements.iter().filter(missing).map(|it| &it.name).collect();
    assert!(missing.is_empty(), "run `just sql`: answers.json lacks {missing:?}");
    let mut failed = Vec::new();
    for statement in &statements {
        let lines = asked(&tables(&statement.tables), &[(&statement.name, &statement.sql, false)]);
        if let Some(why) = wrong(statement, &lines[0], &answers) {
            failed.push(format!("{}: {why}\n    {}", statement.name, statement.sql));
        }
        let said = lines[0].to_string();
        assert!(!said.contains("panicked") && !said.contains("undecodable"), "{said}");
    }
    assert!(failed.is_empty(), "{} of {} differ:\n{}", failed.len(), statements.len(), failed.join("\n"));
}

#[test]
fn a_changed_answer_is_noticed() {
    let statement = |error| Statement { tables: String::new(), name: "x".into(), sql: "SELECT a, b".into(), error };
    let reply = json!({"answer": {"rows": 2, "columns": [["a", {"form": "integer", "values": [1, null]}],
        ["b", {"form": "number", "values": ["0.5", "-1.0"]}]]}});
    let answers = |rows: Value| BTreeMap::from([("x".to_string(), serde_json::from_value(rows).unwrap())]);
    assert_eq!(wrong(&statement(None), &reply, &answers(json!([[null, -1.0], [1, 0.5]]))), None, "in any order");
    for rows in
        [json!([[1, 0.5]]), json!([[1, 0.5], [0, -1.0]]), json!([[1, 0.5000001], [null, -1.0]]), json!([[1], [null]])]
    {
        assert!(wrong(&statement(None), &reply, &answers(rows.clone())).is_some(), "{rows}");
    }
    let refused = json!({"error": {"kind": "unsupported", "text": "it lacks WITHIN GROUP"}});
    let expected = |words: &str| statement(Some(("unsupported".to_string(), words.to_string())));
    assert_eq!(wrong(&expected("WITHIN"), &refused, &answers(json!([]))), None);
    assert!(wrong(&expected("FILTER"), &refused, &answers(json!([]))).is_some());
    assert!(wrong(&expected("WITHIN"), &reply, &answers(json!([]))).is_some());
    assert!(
        !alike(&json!(u64::MAX), &json!(u64::MAX - 1))
            && alike(&json!(1), &json!(1.0))
            && !alike(&json!(true), &json!(1))
    );
}

#[test]
fn several_questions_are_answered_in_order_and_an_error_names_its_own() {
    let fleet = tables("fleet");
    let lines = asked(&fleet, &[("one", "SELECT 1 AS n", false), ("two", "SELECT 2 AS n", false)]);
    assert_eq!(
        lines.iter().map(|line| line["answer"]["columns"][0][1]["values"][0].clone()).collect::<Vec<_>>(),
        [1, 2]
    );
    let lines = asked(&fleet, &[("one", "SELECT 1 AS n", false), ("two", "SELECT y FROM windows", false)]);
    assert_eq!((lines.len(), &lines[0]["error"]["question"]), (1, &json!("two")));
}

#[test]
fn files_that_are_gone_or_damaged_are_errors_that_name_the_table() {
    let gone = json!([{"name": "samples", "files": ["/nowhere/samples-0.parquet"]}]);
    let damaged = json!([{"name": "samples", "files": [fixture().join("corpus.sql")]}]);
    let folder = json!([{"name": "samples", "folder": "/nowhere"}]);
    for (tables, kind) in [(gone, "io"), (damaged, "corrupt"), (folder, "io")] {
        let lines = asked(&tables, &[("q", "SELECT count(*) FROM samples", false)]);
        let error = &lines[0]["error"];
        assert_eq!(error["kind"], kind, "{error}");
        assert!(error["text"].as_str().unwrap().contains("samples") || kind == "io", "{error}");
    }
}

#[test]
fn it_ends_with_the_program_that_asks() {
    // The input stays open, so that the engine waits for questions: only its parent goes.
    let script = format!("exec 3<&0; {} <&3 >/dev/null & echo $!; wait", env!("CARGO_BIN_EXE_ironlaw-fleet"));
    let mut command = Command::new("sh");
    let mut shell = command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let status = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    // Nobody may have waited for it: a zombie has ended.
    let runs = || fs::read_to_string(&status).is_ok_and(|line| !line.contains(") Z "));
    assert!(runs(), "{pid}");
    shell.kill().unwrap();
    shell.wait().unwrap();
    for _ in 0..100 {
        if !runs() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("it still runs");
}
