//! Answers questions by lazy plans over Parquet files, run in batches, so that data may be larger than memory.

use crate::dialect::Dialect;
use crate::job_batches::job_batches;
use crate::kinds::Kinds;
use crate::protocol::{Error, Kind, Question, Table};
use crate::scan;
use crate::values::Answer;
use polars::prelude::*;
use polars::sql::SQLContext;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes of the files that questions of jobs are answered from at a time. In memory their rows take some
/// twenty times as much with what joins and groups keep.
const MOST_BYTES: u64 = 28 << 20;

/// What to do about SQL that the engine lacks.
const OTHER_WAYS: &str = "Divide the query into steps (WITH a AS (SELECT ...) SELECT ... FROM a), or run it in DuckDB: the \
                          tables are Parquet files.";

pub(crate) fn answer(tables: &[Table], questions: &[Question]) -> Result<Vec<Answer>, Error> {
    answer_in_batches(tables, questions, MOST_BYTES)
}

/// Answers questions of jobs a few jobs at a time: the files of a batch are read once for all of them, into memory, since
/// opening and decoding many small files takes longer than most questions do.
fn answer_in_batches(tables: &[Table], questions: &[Question], most_bytes: u64) -> Result<Vec<Answer>, Error> {
    let batches = if questions.iter().any(|question| question.by_job) { job_batches(tables, most_bytes) } else { None };
    let of_jobs = |question: &Question| question.by_job && batches.is_some();
    let mut answers: Vec<Option<DataFrame>> = vec![None; questions.len()];
    for jobs in batches.iter().flatten() {
        let asked = questions.iter().filter(|question| of_jobs(question)).map(|question| question.sql.as_str());
        let batch = in_memory_batch(tables, jobs, &asked.collect::<Vec<_>>().join(" "))?;
        for (question, whole) in questions.iter().zip(&mut answers).filter(|(question, _)| of_jobs(question)) {
            let part = collected(&batch, question)?;
            match whole {
                Some(whole) => _ = whole.vstack_mut(&part).map_err(|error| rejected(&error).of(question))?,
                None => *whole = Some(part),
            }
        }
    }
    let all = questions.iter().zip(answers).map(|(question, answer)| {
        let answer = match answer {
            Some(answer) => answer,
            None => {
                let frames = tables.iter().map(|table| Ok((table.name.as_str(), scan::frame(table)?)));
                collected(&frames.collect::<Result<Vec<_>, Error>>()?, question)?
            }
        };
        guarded(|| Answer::of(&answer)).map_err(|error| error.of(question))
    });
    all.collect()
}

/// The rows of some jobs, of the tables and columns that the questions name.
fn in_memory_batch<'a>(tables: &'a [Table], jobs: &[String], asked: &str) -> Result<Vec<(&'a str, LazyFrame)>, Error> {
    let words: HashSet<&str> = asked.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut found = Vec::new();
    for table in tables.iter().filter(|table| words.contains(table.name.as_str())) {
        let failed = |error: PolarsError| scan::unreadable(table, &error);
        let mut rows = scan::frame(table)?;
        let names = rows.collect_schema().map_err(failed)?;
        let named = names.iter_names().filter(|name| words.contains(name.as_str())).map(|name| col(name.clone()));
        let named: Vec<Expr> = named.collect();
        let jobs = Series::new("jobs".into(), jobs).implode().map_err(failed)?.into_series();
        // Files of other jobs are not opened: the job is in their path.
        let rows = rows.filter(col("job").is_in(lit(jobs), false)).select(named);
        let rows = guarded(|| rows.collect_with_engine(Engine::Streaming).map_err(failed))?;
        found.push((table.name.as_str(), rows.unwrap_single().lazy()));
    }
    Ok(found)
}

fn collected(tables: &[(&str, LazyFrame)], question: &Question) -> Result<DataFrame, Error> {
    let answer = guarded(|| {
        let mut kinds = Kinds::default();
        let mut context = SQLContext::new();
        for (name, rows) in tables {
            let mut rows = rows.clone();
            let schema: SchemaRef = rows.collect_schema().map_err(|error| rejected(&error))?;
            kinds.add_table(&schema);
            context.register(name, rows);
        }
        let sql = Dialect::translated(&question.sql, kinds)?;
        let plan = context.execute(&sql).map_err(|error| rejected(&error))?;
        plan.collect_with_engine(Engine::Streaming).map_err(|error| rejected(&error))
    });
    Ok(answer.map_err(|error| error.of(question))?.unwrap_single())
}

/// The planner panics on some queries that it does not understand.
fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::new(Kind::Unsupported, "the SQL engine cannot run this query").hint(OTHER_WAYS)))
}

/// What an error of polars is about, by its words: its own kinds do not tell.
fn rejected(error: &PolarsError) -> Error {
    const LACKS: [&str; 6] =
        ["not supported", "unsupported", "not currently supported", "not (yet) support", "not yet", "not allowed in"];
    let text = plain(&error.to_string());
    let lacks = LACKS.iter().any(|words| text.contains(words));
    match error {
        PolarsError::IO { .. } => Error::new(Kind::Io, text),
        PolarsError::ComputeError(_) if text.to_lowercase().contains("parquet") => Error::new(Kind::Corrupt, text),
        _ if lacks => Error::new(Kind::Unsupported, format!("the SQL engine lacks this: {text}")).hint(OTHER_WAYS),
        _ if text.contains("from `i128` to `i64` failed") => {
            Error::new(Kind::Unsupported, "a sum is greater than any integer of 64 bits")
                .hint("Add up numbers: SUM(CAST(x AS DOUBLE)).")
        }
        _ => Error::new(Kind::Usage, text),
    }
}

/// The message without the plan that some are followed by.
fn plain(text: &str) -> String {
    let text = text.split("\n\nResolved plan").next().unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "tests/batches.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
