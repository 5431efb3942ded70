//! `ironlaw query`: SQL over recordings, or over a data set.

use super::args::{QueryArgs, QueryFormat};
use super::out::Terminal;
use super::{pager, report};
use crate::error::{Error, ErrorKind, Result};
use crate::export::result_table as bytes;
use crate::model::Note;
use crate::session::fleet::{Question, SqlTable, dataset_tables, recording_tables};
use crate::store::{Recording, dataset};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Prints the answer, or writes it to a file.
pub(super) fn run(args: &QueryArgs, terminal: &Terminal) -> Result<()> {
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = args.format.unwrap_or_else(|| format_of(file));
    if format == QueryFormat::Parquet && file.is_none() && std::io::stdout().is_terminal() {
        return Err(Error::new(ErrorKind::Usage, "cannot write parquet to a terminal: it is binary")
            .hint("Name a file with -o, or send it into a pipe."));
    }
    let engine = args.engine.engine()?;
    let tables = match &args.recordings[..] {
        [dir] if dataset::is_one(dir) => dataset_tables(&dataset::open(dir)?),
        paths => {
            let (tables, damage) = recording_tables(&recordings(paths)?, &args.sql)?;
            for damage in damage {
                terminal.note(&Note { topic: "recording-damaged".into(), text: damage.to_string(), fix: None });
            }
            tables
        }
    };
    let question = Question { name: "the query", sql: &args.sql, by_job: false };
    let answers = engine.answer(&tables, &[question]).map_err(|error| match error.kind() {
        ErrorKind::Usage => error.hint(format!("There are {}; a table without rows is not there.", names(&tables))),
        _ => error,
    })?;
    let [answer] = &answers[..] else { return Err(Error::new(ErrorKind::Corrupt, "the engine did not answer")) };
    let bytes = match format {
        QueryFormat::Text => bytes::text(answer),
        QueryFormat::Json => bytes::json(answer),
        QueryFormat::Csv => bytes::csv(answer),
        QueryFormat::Parquet => bytes::parquet(answer)?,
    };
    pager::show(&bytes, file)
}

fn names(tables: &[SqlTable]) -> String {
    let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
    if names.is_empty() { "none of the tables named".to_string() } else { names.join(", ") }
}

/// The recordings with their names, which must differ.
fn recordings(paths: &[PathBuf]) -> Result<Vec<(String, Recording)>> {
    let paths = if paths.is_empty() { vec![report::newest()?] } else { paths.to_vec() };
    let opened = paths.iter().map(|path| {
        let recording = Recording::open(path)?;
        let name = recording.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, recording))
    });
    let mut opened = opened.collect::<Result<Vec<_>>>()?;
    let twice = |name: &str, all: &[(String, Recording)]| all.iter().filter(|(other, _)| other == name).count() > 1;
    for at in 0..opened.len() {
        if twice(&opened[at].0, &opened) {
            opened[at].0 = opened[at].1.path().display().to_string();
        }
    }
    Ok(opened)
}

fn format_of(file: Option<&Path>) -> QueryFormat {
    match file.and_then(Path::extension).and_then(|extension| extension.to_str()) {
        Some("json") => QueryFormat::Json,
        Some("csv") => QueryFormat::Csv,
        Some("parquet") => QueryFormat::Parquet,
        _ => QueryFormat::Text,
    }
}
