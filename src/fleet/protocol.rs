//! The lines: a greeting, then for one line of questions as many lines of answers, until one is an error.

use crate::answers;
use crate::values::Answer;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::PathBuf;

/// What ironlaw and its engine must agree on; `src/session/fleet/engine_process.rs` has the same number.
const PROTOCOL: u32 = 1;

/// What is asked.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub tables: Vec<Table>,
    pub questions: Vec<Question>,
}

/// A table that questions can name.
#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub name: String,
    #[serde(flatten)]
    pub rows: Rows,
}

/// Where the rows of a table are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rows {
    /// Parquet files in Hive partitions, whose keys become columns of text.
    Folder(PathBuf),
    /// Parquet files; each may lack columns that others have.
    Files(Vec<PathBuf>),
}

/// A query with a name for messages.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub name: String,
    pub sql: String,
    /// Whether every step of it is within a job: the answers about some jobs at a time, one after the other in the order of
    /// the jobs, are the whole answer.
    #[serde(default)]
    pub by_job: bool,
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Usage,
    Io,
    Corrupt,
    Unsupported,
}

/// An error.
#[derive(Debug, Serialize)]
pub(crate) struct Error {
    pub kind: Kind,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The name of the question, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

impl Error {
    pub fn new(kind: Kind, text: impl Into<String>) -> Error {
        Error { kind, text: text.into(), hint: None, question: None }
    }

    pub fn hint(self, hint: impl Into<String>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    pub fn of(self, question: &Question) -> Error {
        Error { question: Some(question.name.clone()), ..self }
    }
}

#[derive(Serialize)]
struct Greeting {
    engine: &'static str,
    version: &'static str,
    protocol: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reply<'a> {
    Answer(&'a Answer),
    Error(&'a Error),
}

/// Says who this is, before anything is read: a program of another version is not asked.
pub(crate) fn greet(mut out: impl Write) -> io::Result<()> {
    let greeting = Greeting { engine: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION"), protocol: PROTOCOL };
    line(&mut out, &greeting)
}

/// Answers the questions of a line.
pub(crate) fn serve(request: &str, out: impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let request = serde_json::from_str::<Request>(request)
        .map_err(|error| Error::new(Kind::Usage, format!("cannot understand the questions: {error}")));
    match request.and_then(|request| answers::answer(&request.tables, &request.questions)) {
        Ok(answers) => answers.iter().try_for_each(|answer| line(&mut out, &Reply::Answer(answer))),
        Err(error) => line(&mut out, &Reply::Error(&error)),
    }
}

fn line(out: &mut impl Write, reply: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, reply)?;
    out.write_all(b"\n")?;
    out.flush()
}
