//! The folder of a data set: its format, and the tables and files in it.

use super::files;
use super::layout::TableKind;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::DATASET_FORMAT;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file that makes a folder a data set.
const FILE: &str = "dataset.json";
/// A longer one is not ours.
const MOST_BYTES: u64 = 64 << 10;

/// A data set to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// Its folder.
    pub dir: PathBuf,
    /// The version of its schema, major and minor.
    pub format: [u32; 2],
    /// The tables that have files.
    pub tables: Vec<TableKind>,
}

#[derive(Serialize, Deserialize)]
struct Facts {
    format: [u32; 2],
}

/// Opens a data set.
///
/// # Errors
/// `NotFound` if the folder is none; `Corrupt` if it is damaged or of a later format than this version reads.
pub fn open(dir: &Path) -> Result<Dataset> {
    let path = dir.join(FILE);
    let file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let text = match dir.exists() {
                true => format!("{} is not a data set: it has no {FILE}", dir.display()),
                false => format!("{} does not exist", dir.display()),
            };
            return Err(Error::new(ErrorKind::NotFound, text)
                .hint("Make one with `ironlaw watch --dataset DIR`, `ironlaw fleet add DIR REC` or `ironlaw fleet simulate DIR`."));
        }
        opened => opened.context(|| format!("cannot read {}", path.display()))?,
    };
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).context(|| format!("cannot read {}", path.display()))?;
    let facts: Facts = serde_json::from_str(&text)
        .map_err(|error| Error::new(ErrorKind::Corrupt, format!("{} is damaged: {error}", path.display())))?;
    let [major, minor] = facts.format;
    if major > DATASET_FORMAT[0] {
        let text = format!("{} has format {major}.{minor}; this version reads {}", dir.display(), DATASET_FORMAT[0]);
        return Err(
            Error::new(ErrorKind::Corrupt, text).hint("Use the version of ironlaw that wrote it, or a later one.")
        );
    }
    let has_files = |table: &TableKind| {
        fs::read_dir(dir.join(table.name()))
            .is_ok_and(|mut jobs| jobs.any(|job| job.is_ok_and(|it| it.path().is_dir())))
    };
    let tables = TableKind::ALL.into_iter().filter(has_files).collect();
    Ok(Dataset { dir: dir.to_path_buf(), format: facts.format, tables })
}

/// Whether a data set lies in this folder.
#[must_use]
pub fn is_one(dir: &Path) -> bool {
    dir.join(FILE).is_file()
}

/// Opens a data set for writing; begins one in a folder that does not exist or is empty.
///
/// # Errors
/// As [`open`]; `Usage` if other things lie in the folder.
pub fn create(dir: &Path) -> Result<()> {
    match open(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened.map(drop),
    }
    // Another writer may begin it at the same time, which leaves a file whose name begins with a dot.
    let other =
        |entry: fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.') && entry.file_name() != FILE;
    let occupied = fs::read_dir(dir).is_ok_and(|entries| entries.flatten().any(other));
    if occupied && !dir.join(FILE).exists() || dir.is_file() {
        return Err(Error::new(ErrorKind::Usage, format!("{} exists and is not a data set", dir.display()))
            .hint("Name a new or empty folder, or that of a data set."));
    }
    files::make_private(dir)?;
    let facts = serde_json::to_vec(&Facts { format: DATASET_FORMAT });
    let facts = facts.map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))?;
    files::place(dir, FILE, &facts)
}
