//! Files of a data set: private, and replaced whole, so that a reader sees the file of before or that of now.

use crate::error::{Context, Result};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// The end of a temporary file's name, which begins with a dot: no reader takes it for a table.
const TEMPORARY: &str = ".parquet.tmp";

/// Temporary files that are older were left by a writer that was killed.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// Creates a folder and those above it, for their owner only.
///
/// # Errors
/// As `mkdir(2)`.
pub fn make_private(folder: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .context(|| format!("cannot create {}", folder.display()))
}

/// Writes a file under a temporary name, then renames it over the one of before. A failed write leaves nothing behind.
///
/// # Errors
/// As the file system reports.
pub fn place(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let (temporary, path) = (folder.join(temporary_name(name)), folder.join(name));
    let written = create_new(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, &path))
        .and_then(|()| File::open(folder)?.sync_all());
    written.inspect_err(|_| _ = fs::remove_file(&temporary)).context(|| format!("cannot write {}", path.display()))
}

/// Writes a file of a data set that is not complete before its last file: no writer waits for the disk.
///
/// # Errors
/// As the file system reports.
pub fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    make_private(folder)?;
    let path = folder.join(name);
    let written = create_new(&path).and_then(|mut file| file.write_all(bytes));
    written.context(|| format!("cannot write {}", path.display()))
}

fn temporary_name(name: &str) -> String {
    format!(".{}{TEMPORARY}", name.trim_end_matches(".parquet"))
}

/// Creates a file for its owner only. What lies at that name, e.g. a link planted there, is removed and never followed.
fn create_new(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create()
        }
        made => made,
    }
}

/// Removes temporary files that a killed writer left in a folder. They are older than the folder's last change, which is
/// the write that precedes this call: both times are of the file system's clock.
pub fn remove_left(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let Ok(now) = fs::metadata(folder).and_then(|about| about.modified()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let modified = entry.metadata().and_then(|file| file.modified());
        let old = modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > LEFT_AFTER));
        if name.starts_with('.') && name.ends_with(TEMPORARY) && old {
            // Whoever removes it first.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes the files of a table in a folder, and the folder if nothing else lies in it. Returns whether it is gone.
pub fn remove_day(folder: &Path) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir());
    let Some(entries) = is_folder.then(|| fs::read_dir(folder).ok()).flatten() else { return false };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name.ends_with(".parquet") || name.ends_with(TEMPORARY);
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What cannot be removed is tried again the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
    fs::remove_dir(folder).is_ok()
}
