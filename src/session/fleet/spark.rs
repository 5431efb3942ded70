//! Spark as the engine: `spark-submit` runs a short program that reads the data set where the cluster sees it, and prints
//! the small results as JSON.

use super::answers::{Answer, end_of};
use super::sql_table::Question;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::ResultTable;
use crate::sys::private_dir::among_temporary;
use serde::Serialize;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = include_str!("spark.py");
/// As in the program: what Spark prints itself goes to the same output.
const MARK: &str = "ironlaw-answer:";

#[derive(Debug, Serialize)]
struct Asked<'a> {
    tables: Vec<(&'a str, PathBuf)>,
    queries: Vec<AskedQuery<'a>>,
}

#[derive(Debug, Serialize)]
struct AskedQuery<'a> {
    name: &'a str,
    sql: &'a str,
}

pub(super) fn answer(master: &str, tables: &[(&str, &Path)], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
    let asked = Asked {
        tables: tables.iter().map(|(name, path)| Ok((*name, absolute(path)?))).collect::<Result<_>>()?,
        queries: questions.iter().map(|question| AskedQuery { name: question.name, sql: question.sql }).collect(),
    };
    let bytes = serde_json::to_vec(&asked).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
    let folder = among_temporary(&env::temp_dir()).context(|| "cannot create a temporary directory")?;
    let (program, request) =
        (TempFile::write(&folder, "py", PROGRAM.as_bytes())?, TempFile::write(&folder, "json", &bytes)?);
    let submit = submit_path();
    let mut command = Command::new(&submit);
    command.args(["--master", master]).arg(&program.0).arg(&request.0);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
            Error::from(error)
                .context(format!("cannot run {}", submit.display()))
                .hint("Install Spark (python3 -m pip install pyspark), or set SPARK_HOME to where it is.")
        })?;
    let said = child.stderr.take().map(|stderr| std::thread::spawn(move || end_of(stderr)));
    let mut answers = Vec::new();
    for line in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let line = line.context(|| "cannot read what Spark answers")?;
        if let Some(json) = line.strip_prefix(MARK) {
            let answer = serde_json::from_str::<Answer>(json).map_err(|error| {
                Error::new(ErrorKind::Corrupt, error.to_string()).context("cannot understand what Spark answers")
            })?;
            answers.push(answer.table()?);
        }
    }
    let status = child.wait().context(|| "cannot wait for Spark")?;
    let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if !status.success() || answers.len() != questions.len() {
        let failed = questions.get(answers.len()).map_or("", |question| question.name);
        return Err(Error::new(ErrorKind::Io, reason(&said)).context(format!("Spark did not answer {failed}")));
    }
    Ok(answers)
}

/// A file that exists as long as this.
struct TempFile(PathBuf);

impl TempFile {
    fn write(folder: &Path, extension: &str, bytes: &[u8]) -> Result<TempFile> {
        let path = folder.join(format!("fleet-{}.{extension}", std::process::id()));
        std::fs::write(&path, bytes).context(|| format!("cannot write {}", path.display()))?;
        Ok(TempFile(path))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // It lies among temporary files anyway.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// `spark-submit` of SPARK_HOME, otherwise by the search path.
fn submit_path() -> PathBuf {
    env::var_os("SPARK_HOME").map_or_else(|| "spark-submit".into(), |home| Path::new(&home).join("bin/spark-submit"))
}

/// The workers have directories of their own.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).context(|| format!("cannot find {}", path.display()))
}

/// The last line of Spark's log that names an exception, otherwise its last line.
fn reason(said: &str) -> String {
    let lines = || said.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let telling = lines().find(|line| {
        let word = line.split(':').next().unwrap_or("");
        (word.ends_with("Exception") || word.ends_with("Error")) && !word.contains(' ')
    });
    telling.or_else(|| lines().next()).unwrap_or("it ended without a message").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_exception_and_not_the_trace_below_it() {
        let said = "26/11/24 INFO x\npyspark.errors.AnalysisException: no column y\n  at line 3\n26/11/24 INFO stop\n";
        assert_eq!(reason(said), "pyspark.errors.AnalysisException: no column y");
        assert_eq!(reason(""), "it ended without a message");
    }
}
