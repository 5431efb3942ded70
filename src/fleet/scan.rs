//! Tables as lazy frames over their files.

use crate::protocol::{Error, Kind, Rows, Table};
use polars::prelude::*;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn unreadable(table: &Table, error: &PolarsError) -> Error {
    let kind = if matches!(error, PolarsError::IO { .. }) { Kind::Io } else { Kind::Corrupt };
    Error::new(kind, format!("cannot read the table {}: {error}", table.name))
}

/// The rows of a table.
pub(crate) fn frame(table: &Table) -> Result<LazyFrame, Error> {
    match &table.rows {
        Rows::Folder(folder) => {
            let files = files(folder)
                .map_err(|error| Error::new(Kind::Io, format!("cannot read {}: {error}", folder.display())))?;
            // Without guessing types: a host called 0042 is not a number, and a day stays as it is written.
            let keys = ["job", "day", "host"].map(|key| Field::new(key.into(), DataType::String));
            let schema = Some(Arc::new(Schema::from_iter(keys)));
            let hive = HiveOptions { enabled: Some(true), hive_start_idx: 0, schema, try_parse_dates: false };
            scan(&files, hive, table)
        }
        Rows::Files(files) => {
            let hive = HiveOptions { enabled: Some(false), ..HiveOptions::default() };
            let frames = files.iter().map(|file| scan(std::slice::from_ref(file), hive.clone(), table));
            joined(frames.collect::<Result<_, _>>()?).map_err(|error| unreadable(table, &error))
        }
    }
}

fn scan(files: &[PathBuf], hive_options: HiveOptions, table: &Table) -> Result<LazyFrame, Error> {
    let options = ScanArgsParquet { hive_options, glob: false, ..ScanArgsParquet::default() };
    let utf8 = |path: &PathBuf| {
        let text = path.to_str().map(PlRefPath::new);
        text.ok_or_else(|| Error::new(Kind::Usage, format!("the path {} is not UTF-8", path.display())))
    };
    // Each by its name: of a folder, the engine takes the temporary files of writers for tables, too.
    let files: Vec<PlRefPath> = files.iter().map(utf8).collect::<Result<_, _>>()?;
    LazyFrame::scan_parquet_files(files.into(), options).map_err(|error| unreadable(table, &error))
}

/// One after the other, with the columns of all: those that a file lacks are null there.
fn joined(mut frames: Vec<LazyFrame>) -> PolarsResult<LazyFrame> {
    let schemas = frames.iter_mut().map(LazyFrame::collect_schema).collect::<PolarsResult<Vec<_>>>()?;
    let mut all = Schema::default();
    for (name, kind) in schemas.iter().flat_map(|schema| schema.iter()) {
        all.insert(name.clone(), kind.clone());
    }
    let columns = |schema: &SchemaRef| -> Vec<Expr> {
        let column = |(name, kind): (&PlSmallStr, &DataType)| {
            let missing = || lit(NULL).cast(kind.clone()).alias(name.clone());
            if schema.contains(name) { col(name.clone()) } else { missing() }
        };
        all.iter().map(column).collect()
    };
    let select = |(frame, schema): (LazyFrame, &SchemaRef)| frame.select(columns(schema));
    let frames: Vec<LazyFrame> = frames.into_iter().zip(&schemas).map(select).collect();
    match <[LazyFrame; 1]>::try_from(frames) {
        Ok([frame]) => Ok(frame),
        Err(frames) => concat(frames, UnionArgs::default()),
    }
}

/// The Parquet files below a folder, in the order of their names; not those of writers at work, whose names begin with a dot.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        match fs::metadata(&path) {
            Ok(about) if about.is_dir() => collect(&path, found)?,
            Ok(about) if about.is_file() && path.extension().is_some_and(|it| it == "parquet") => found.push(path),
            // A writer replaced or removed it, or it is no table.
            _ => {}
        }
    }
    Ok(())
}
