//! polars as the engine: lazy plans over Parquet files, run in batches, so that data may be larger than memory.

use super::dataset::files;
use super::job_batches::job_batches;
use super::sql_table::{Question, SqlRows, SqlTable};
use crate::error::{Error, ErrorKind, Result, catch_panic};
use crate::model::{ResultColumn, ResultTable};
use crate::tables::Table;
use polars::prelude::*;
use polars::sql::SQLContext;
use std::collections::HashSet;
use std::path::Path;

/// Bytes of the files that questions of jobs are answered from at a time. In memory their rows take some
/// twenty times as much with what joins and groups keep.
const MOST_BYTES: u64 = 28 << 20;

pub(super) fn answer(tables: &[SqlTable], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
    answer_in_batches(tables, questions, MOST_BYTES)
}

/// Answers questions of jobs a few jobs at a time: the files of a batch are read once for all of them, into memory, since
/// opening and decoding many small files takes longer than most questions do.
fn answer_in_batches(tables: &[SqlTable], questions: &[Question<'_>], most_bytes: u64) -> Result<Vec<ResultTable>> {
    let batches = if questions.iter().any(|question| question.by_job) { job_batches(tables, most_bytes) } else { None };
    let of_jobs = |question: &Question<'_>| question.by_job && batches.is_some();
    let mut answers: Vec<Option<DataFrame>> = vec![None; questions.len()];
    for jobs in batches.iter().flatten() {
        let asked = questions.iter().filter(|question| of_jobs(question)).map(|question| question.sql);
        let batch = in_memory_batch(tables, jobs, &asked.collect::<Vec<_>>().join(" "))?;
        for (question, whole) in questions.iter().zip(&mut answers).filter(|(question, _)| of_jobs(question)) {
            let part = collected(batch.iter().cloned(), question)?;
            match whole {
                Some(whole) => _ = whole.vstack_mut(&part).map_err(|error| rejected(question, &error))?,
                None => *whole = Some(part),
            }
        }
    }
    let all = questions.iter().zip(answers).map(|(question, answer)| match answer {
        Some(answer) => result(&answer),
        None => {
            let frames = tables.iter().map(|table| Ok((table.name.as_str(), frame(table)?)));
            result(&collected(frames.collect::<Result<Vec<_>>>()?.into_iter(), question)?)
        }
    });
    all.collect()
}

/// The rows of some jobs, of the tables and columns that the questions name.
fn in_memory_batch<'a>(tables: &'a [SqlTable], jobs: &[String], asked: &str) -> Result<Vec<(&'a str, LazyFrame)>> {
    let words: HashSet<&str> = asked.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut found = Vec::new();
    for table in tables.iter().filter(|table| words.contains(table.name.as_str())) {
        let failed = |error: PolarsError| {
            Error::new(ErrorKind::Io, error.to_string()).context(format!("cannot read the table {}", table.name))
        };
        let mut rows = frame(table)?;
        let names = rows.collect_schema().map_err(failed)?;
        let named = names.iter_names().filter(|name| words.contains(name.as_str())).map(|name| col(name.clone()));
        let named: Vec<Expr> = named.collect();
        let jobs = Series::new("jobs".into(), jobs).implode().map_err(failed)?.into_series();
        // Files of other jobs are not opened: the job is in their path.
        let rows = rows.filter(col("job").is_in(lit(jobs), false)).select(named);
        let rows = catch_panic(|| rows.collect_with_engine(Engine::Streaming).map_err(failed))?.unwrap_single();
        found.push((table.name.as_str(), rows.lazy()));
    }
    Ok(found)
}

fn collected<'a>(tables: impl Iterator<Item = (&'a str, LazyFrame)>, question: &Question<'_>) -> Result<DataFrame> {
    let failed = |error: PolarsError| rejected(question, &error);
    let mut context = SQLContext::new();
    tables.for_each(|(name, rows)| context.register(name, rows));
    // The planner panics on some queries that it does not understand.
    let answer = catch_panic(|| {
        let plan = context.execute(question.sql).map_err(failed)?;
        plan.collect_with_engine(Engine::Streaming).map_err(failed)
    });
    Ok(answer?.unwrap_single())
}

fn result(answer: &DataFrame) -> Result<ResultTable> {
    let columns = answer.columns().iter().map(|column| Ok((column.name().to_string(), values(column)?)));
    Ok(ResultTable { rows: answer.height(), columns: columns.collect::<Result<_>>()? })
}

fn frame(table: &SqlTable) -> Result<LazyFrame> {
    let failed = |error: PolarsError| {
        Error::new(ErrorKind::Io, error.to_string()).context(format!("cannot read the table {}", table.name))
    };
    match &table.rows {
        SqlRows::Folder(path) => {
            // Without guessing types: a host called 0042 is not a number, and a day stays as it is written.
            let keys = ["job", "day", "host"].map(|key| Field::new(key.into(), DataType::String));
            let schema = Some(std::sync::Arc::new(Schema::from_iter(keys)));
            let hive = HiveOptions { enabled: Some(true), hive_start_idx: 0, schema, try_parse_dates: false };
            let options = ScanArgsParquet { hive_options: hive, glob: false, ..ScanArgsParquet::default() };
            // Each by its name: of a folder, the engine takes the temporary files of writers for tables, too.
            let files: Vec<PlRefPath> = files(path)?.iter().map(|path| utf8(path)).collect::<Result<_>>()?;
            LazyFrame::scan_parquet_files(files.into(), options).map_err(failed)
        }
        SqlRows::Memory(parts) => {
            let frames = parts.iter().map(|(recording, part)| Ok(in_memory(recording, part).map_err(failed)?.lazy()));
            let frames = frames.collect::<Result<Vec<_>>>()?;
            concat_lf_diagonal(frames, UnionArgs::default()).map_err(failed)
        }
    }
}

fn utf8(path: &Path) -> Result<PlRefPath> {
    let text = path.to_str();
    text.map(PlRefPath::new)
        .ok_or_else(|| Error::new(ErrorKind::Usage, format!("the path {} is not UTF-8", path.display())))
}

fn in_memory(recording: &str, part: &Table) -> PolarsResult<DataFrame> {
    let height = part.rows();
    let mut columns = vec![Column::new_scalar("recording".into(), Scalar::from(PlSmallStr::from(recording)), height)];
    for (name, values) in part.arrays() {
        columns.push(Series::from_arrow(name.into(), values.clone())?.into_column());
    }
    DataFrame::new(height, columns)
}

/// The values of a column; of types that the terminal cannot show as they are (dates, durations, lists), their text.
fn values(column: &Column) -> Result<ResultColumn> {
    let failed = |error: PolarsError| {
        Error::new(ErrorKind::Unsupported, error.to_string()).context(format!("the column {}", column.name()))
    };
    let wider = |kind: &DataType| column.cast(kind).map_err(failed);
    Ok(match column.dtype() {
        DataType::Boolean => ResultColumn::Booleans(column.bool().map_err(failed)?.iter().collect()),
        kind if kind.is_float() => {
            ResultColumn::Numbers(wider(&DataType::Float64)?.f64().map_err(failed)?.iter().collect())
        }
        DataType::UInt64 | DataType::Int128 | DataType::UInt128 => {
            // What does not fit becomes a floating-point number, not a null.
            match column.strict_cast(&DataType::Int64) {
                Ok(fitting) => ResultColumn::Integers(fitting.i64().map_err(failed)?.iter().collect()),
                Err(_) => ResultColumn::Numbers(wider(&DataType::Float64)?.f64().map_err(failed)?.iter().collect()),
            }
        }
        kind if kind.is_integer() => {
            ResultColumn::Integers(wider(&DataType::Int64)?.i64().map_err(failed)?.iter().collect())
        }
        _ => {
            let texts = wider(&DataType::String)?;
            ResultColumn::Texts(texts.str().map_err(failed)?.iter().map(|text| text.map(String::from)).collect())
        }
    })
}

fn rejected(question: &Question<'_>, error: &PolarsError) -> Error {
    let kind = match error {
        PolarsError::IO { .. } => ErrorKind::Io,
        PolarsError::ComputeError(_) | PolarsError::OutOfBounds(_) => ErrorKind::Corrupt,
        _ => ErrorKind::Usage,
    };
    Error::new(kind, error.to_string()).context(format!("cannot answer {}", question.name))
}

#[cfg(test)]
#[path = "tests/local.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
