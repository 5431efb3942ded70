//! polars as the engine: lazy plans over Parquet files, run in batches, so that data may be larger than memory.

use super::dataset::files;
use super::sql_table::{Question, SqlRows, SqlTable};
use crate::error::{Error, ErrorKind, Result, catch_panic};
use crate::model::{ResultColumn, ResultTable};
use crate::tables::Table;
use polars::prelude::*;
use polars::sql::SQLContext;
use std::path::Path;

pub(super) fn answer(tables: &[SqlTable], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
    // The planner panics on some queries that it does not understand.
    questions.iter().map(|question| catch_panic(|| one(tables, question))).collect()
}

fn one(tables: &[SqlTable], question: &Question<'_>) -> Result<ResultTable> {
    let failed = |error: PolarsError| rejected(question, &error);
    let mut context = SQLContext::new();
    for table in tables {
        context.register(&table.name, frame(table)?);
    }
    let plan = context.execute(question.sql).map_err(failed)?;
    let answer = plan.collect_with_engine(Engine::Streaming).map_err(failed)?.unwrap_single();
    let columns = answer.columns().iter().map(|column| Ok((column.name().to_string(), values(column)?)));
    Ok(ResultTable { rows: answer.height(), columns: columns.collect::<Result<_>>()? })
}

fn frame(table: &SqlTable) -> Result<LazyFrame> {
    let failed = |error: PolarsError| {
        Error::new(ErrorKind::Io, error.to_string()).context(format!("cannot read the table {}", table.name))
    };
    match &table.rows {
        SqlRows::Folder(path) => {
            // Without parsing: a host called 0042 is not a number, and a day stays as it is written.
            let hive = HiveOptions { enabled: Some(true), hive_start_idx: 0, schema: None, try_parse_dates: false };
            let options = ScanArgsParquet { hive_options: hive, glob: false, ..ScanArgsParquet::default() };
            // Each by its name: of a folder, the engine takes the temporary files of writers for tables, too.
            let files: Vec<PlRefPath> = files(path)?.iter().map(|path| utf8(path)).collect::<Result<_>>()?;
            let scan = LazyFrame::scan_parquet_files(files.into(), options).map_err(failed)?;
            let keys = ["job", "day", "host"].map(|key| col(key).cast(DataType::String));
            Ok(scan.with_columns(keys))
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
