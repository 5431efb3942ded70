//! Which files of a data set are read. Others may lie in its folders: temporary files of writers, what copies and people
//! leave there.

use super::root::Dataset;
use crate::error::{Context, Error, ErrorKind, Result};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How every file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";

/// Damaged files that a message names.
const NAMED: usize = 3;

/// The Parquet files below a folder, in the order of their names.
///
/// # Errors
/// A folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found).context(|| format!("cannot read {}", folder.display()))?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
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

/// The data set with the tables that have files. Looks at both ends of every file, since an engine does not say which one
/// it cannot read, and takes an empty one for a table without rows.
///
/// # Errors
/// `Corrupt` if files are not whole.
pub fn checked(mut dataset: Dataset) -> Result<Dataset> {
    let (mut damaged, mut tables) = (Vec::new(), Vec::new());
    for table in dataset.tables {
        let all = files(&dataset.dir.join(table.name()))?;
        if !all.is_empty() {
            tables.push(table);
        }
        damaged.extend(all.into_iter().filter(|path| is_damaged(path)));
    }
    dataset.tables = tables;
    let Some(first) = damaged.first() else { return Ok(dataset) };
    let named: Vec<_> = damaged.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = damaged.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = match damaged.len() {
        1 => format!("{} is truncated or not a Parquet file", first.display()),
        many => format!("{many} files are truncated or not Parquet files: {}{more}", named.join(", ")),
    };
    Err(Error::new(ErrorKind::Corrupt, text).hint("Copy them again from the host that wrote them, or remove them."))
}

/// A file that a writer removed in the meantime is not damaged.
fn is_damaged(path: &Path) -> bool {
    match ends(path) {
        Ok(ends) => ends != [*MAGIC, *MAGIC],
        Err(error) => error.kind() == io::ErrorKind::UnexpectedEof || error.kind() == io::ErrorKind::InvalidInput,
    }
}

fn ends(path: &Path) -> io::Result<[[u8; 4]; 2]> {
    let (mut file, mut ends) = (File::open(path)?, [[0; 4]; 2]);
    file.read_exact(&mut ends[0])?;
    file.seek(SeekFrom::End(-4))?;
    file.read_exact(&mut ends[1])?;
    Ok(ends)
}
