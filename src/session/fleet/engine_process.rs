//! The engine on this machine: starts `ironlaw-fleet`, hands it tables and questions on its standard input, and reads its
//! answers. The engine looks after its parent: it ends when this program does, however that ends.

use super::answers::{Answer, end_of};
use super::engine_path::engine_path;
use super::sql_table::{Question, SqlRows, SqlTable};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::ResultTable;
use crate::sys::memory_file;
use crate::tables::{Stream, Table};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// What engine and ironlaw must agree on; `src/fleet/protocol.rs` has the same number.
const PROTOCOL: u32 = 1;

/// `SIGKILL`.
const KILLED: i32 = 9;

/// A longer first line is not the engine's.
const MOST_GREETING_BYTES: u64 = 4 << 10;

#[derive(Debug, Serialize)]
struct Request<'a> {
    tables: Vec<RequestTable<'a>>,
    questions: Vec<RequestQuestion<'a>>,
}

#[derive(Debug, Serialize)]
struct RequestTable<'a> {
    name: &'a str,
    #[serde(flatten)]
    rows: RequestRows,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum RequestRows {
    /// Of Hive partitions.
    Folder(PathBuf),
    Files(Vec<PathBuf>),
}

#[derive(Debug, Serialize)]
struct RequestQuestion<'a> {
    name: &'a str,
    sql: &'a str,
    by_job: bool,
}

/// The first line.
#[derive(Debug, Deserialize)]
struct Greeting {
    engine: String,
    version: String,
    protocol: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Answer(Answer),
    Error(Refusal),
}

#[derive(Debug, Deserialize)]
struct Refusal {
    kind: RefusalKind,
    text: String,
    hint: Option<String>,
    /// The name of the question that has no answer.
    question: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RefusalKind {
    Usage,
    Io,
    Corrupt,
    Unsupported,
}

pub(super) fn answer(tables: &[SqlTable], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
    answer_by(&engine_path()?, tables, questions)
}

fn answer_by(program: &Path, tables: &[SqlTable], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
    // The engine inherits these files; they are gone when both processes are.
    let mut files = Vec::new();
    let request = Request {
        tables: tables.iter().map(|table| request_table(table, &mut files)).collect::<Result<_>>()?,
        questions: questions
            .iter()
            .map(|it| RequestQuestion { name: it.name, sql: it.sql, by_job: it.by_job })
            .collect(),
    };
    let mut line = serde_json::to_vec(&request)
        .map_err(|error| Error::new(ErrorKind::Usage, format!("a path is not UTF-8: {error}")))?;
    line.push(b'\n');
    let mut process = Process::start(program)?;
    process.greeted(program)?;
    process.ask(&line);
    questions.iter().map(|question| process.next(question, program)).collect()
}

fn request_table<'a>(table: &'a SqlTable, files: &mut Vec<File>) -> Result<RequestTable<'a>> {
    let rows = match &table.rows {
        SqlRows::Folder(path) => {
            RequestRows::Folder(std::path::absolute(path).context(|| format!("cannot find {}", path.display()))?)
        }
        SqlRows::Memory(parts) => {
            let first = files.len();
            files.extend(written(&table.name, parts).context(|| format!("cannot hand over the table {}", table.name))?);
            let paths = files[first..].iter().map(|file| format!("/proc/self/fd/{}", file.as_raw_fd()).into());
            RequestRows::Files(paths.collect())
        }
    };
    Ok(RequestTable { name: &table.name, rows })
}

/// A file for each set of columns that parts have: those of an earlier format have fewer.
pub(super) fn written(name: &str, parts: &[(String, Table)]) -> Result<Vec<File>> {
    let mut left: Vec<Table> = parts.iter().map(|(recording, part)| part.labelled("recording", recording)).collect();
    let mut files = Vec::new();
    while let Some(first) = left.first() {
        let mut file = BufWriter::new(memory_file::inherited(name)?);
        let mut stream = Stream::start(&mut file, first)?;
        let (alike, others): (Vec<_>, Vec<_>) = left.iter().cloned().partition(|part| part.has_columns_of(first));
        alike.iter().try_for_each(|part| stream.add(part))?;
        stream.finish()?;
        files.push(file.into_inner().map_err(std::io::IntoInnerError::into_error)?);
        left = others;
    }
    Ok(files)
}

/// The running engine. It is ended when dropped.
struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
    errors: Option<std::thread::JoinHandle<String>>,
}

impl Process {
    fn start(program: &Path) -> Result<Process> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context(|| format!("cannot start the SQL engine {}", program.display()))?;
        let errors = child.stderr.take().map(|stream| std::thread::spawn(move || end_of(stream)));
        let lines = child.stdout.take().ok_or_else(|| Error::new(ErrorKind::Io, "the SQL engine has no output"))?;
        Ok(Process { child, lines: BufReader::new(lines), errors })
    }

    /// Reads the first line: only the engine of this version is asked.
    fn greeted(&mut self, program: &Path) -> Result<()> {
        let mut line = Vec::new();
        let read = std::io::Read::take(&mut self.lines, MOST_GREETING_BYTES).read_until(b'\n', &mut line);
        read.context(|| "cannot read from the SQL engine")?;
        if line.is_empty() {
            return Err(self.ended("it printed nothing").context(format!("cannot use {}", program.display())));
        }
        let greeting = serde_json::from_slice::<Greeting>(&line).ok().filter(|it| it.engine == "ironlaw-fleet");
        let own = env!("CARGO_PKG_VERSION");
        let text = match greeting {
            Some(greeting) if greeting.protocol == PROTOCOL => return Ok(()),
            Some(Greeting { version, protocol, .. }) => {
                format!("it is version {version} (protocol {protocol}); this ironlaw is {own} (protocol {PROTOCOL})")
            }
            None => "it is no SQL engine of ironlaw".to_string(),
        };
        Err(Error::new(ErrorKind::Unsupported, text)
            .context(format!("cannot use {}", program.display()))
            .hint("Install ironlaw-fleet of the same version as ironlaw, beside it or first on the PATH."))
    }

    /// If the engine has ended, its answer is missing.
    fn ask(&mut self, line: &[u8]) {
        if let Some(mut input) = self.child.stdin.take() {
            let _ = input.write_all(line);
        }
    }

    fn next(&mut self, question: &Question<'_>, program: &Path) -> Result<ResultTable> {
        let cannot = || format!("cannot answer {}", question.name);
        let mut line = Vec::new();
        self.lines.read_until(b'\n', &mut line).context(cannot)?;
        if line.last() != Some(&b'\n') {
            return Err(self.ended("it ended without an answer").context(cannot()));
        }
        match serde_json::from_slice::<Reply>(&line) {
            Ok(Reply::Answer(answer)) => answer.table().context(cannot),
            Ok(Reply::Error(refusal)) => {
                let name = refusal.question.clone().unwrap_or_else(|| question.name.to_string());
                Err(refusal.into_error().context(format!("cannot answer {name}")))
            }
            Err(error) => Err(Error::new(ErrorKind::Corrupt, format!("cannot understand what it printed: {error}"))
                .context(format!("the SQL engine {}", program.display()))
                .context(cannot())),
        }
    }

    /// Why the engine has ended.
    fn ended(&mut self, otherwise: &str) -> Error {
        drop(self.child.stdin.take());
        let status = self.child.wait();
        let said = self.errors.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
        let said = if last.is_empty() { String::new() } else { format!("; its last words: {last}") };
        let (how, signal) = match status {
            Ok(status) => (describe(status, otherwise), status.signal()),
            Err(error) => (error.to_string(), None),
        };
        let error = Error::new(ErrorKind::Io, format!("the SQL engine failed: {how}{said}"));
        match signal {
            Some(KILLED) => {
                error.hint("Too little memory may be why (see `dmesg`): ask about fewer rows or columns at once.")
            }
            _ => error,
        }
    }
}

fn describe(status: ExitStatus, otherwise: &str) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("it was killed by signal {signal}"),
        (None, Some(code)) if code != 0 => format!("{otherwise} (exit code {code})"),
        _ => otherwise.to_string(),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After an error it may still be at work.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Refusal {
    fn into_error(self) -> Error {
        let kind = match self.kind {
            RefusalKind::Usage => ErrorKind::Usage,
            RefusalKind::Io => ErrorKind::Io,
            RefusalKind::Corrupt => ErrorKind::Corrupt,
            RefusalKind::Unsupported => ErrorKind::Unsupported,
        };
        let error = Error::new(kind, self.text);
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
#[path = "../tests/engine_process.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
