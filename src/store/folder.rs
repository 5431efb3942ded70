//! The recording's directory: its name, and its files, which are written atomically and readable by their owner only.
//! Links at the names it writes are not followed, and only files of a recording are deleted.

use super::part::{BASELINE, META, Part, temp_name, temp_target};
use crate::error::{Context, Error, ErrorKind, Result};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The suffix of every recording's directory.
const SUFFIX: &str = "ironlaw";

/// Deletes a recording whose capture failed before any of its rows was written.
pub fn remove_if_without_rows(recording: &Path) {
    let without = |file: &Entry| Path::new(&file.name).extension().is_none_or(|extension| extension != "parquet");
    if Folder::open(recording).list().is_ok_and(|files| files.iter().all(without)) {
        let _ = fs::remove_dir_all(recording);
    }
}

/// The directory for a name as typed: adds `.ironlaw` unless it is there. `cpu.1` becomes `cpu.1.ironlaw`.
#[must_use]
pub fn path(name: &Path) -> PathBuf {
    match name.file_name() {
        Some(file) if name.extension().is_none_or(|extension| extension != SUFFIX) => {
            let mut with_suffix = OsString::from(file);
            with_suffix.push(".");
            with_suffix.push(SUFFIX);
            name.with_file_name(with_suffix)
        }
        _ => name.to_path_buf(),
    }
}

/// A directory that contains, or will contain, one recording.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Locked while a recording is written, so that no other writer takes it over.
    _lock: Option<File>,
}

/// A file in a recording's directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    /// Neither a link, nor a pipe, nor a device.
    pub regular: bool,
}

impl Folder {
    /// Creates the directory or takes over an empty one; with `overwrite` also an older recording, deleting its parts.
    pub fn create(path: &Path, overwrite: bool) -> Result<Folder> {
        let folder = Folder::open(path);
        let existed = match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => true,
            made => made.context(|| format!("cannot create {}", path.display())).map(|()| false)?,
        };
        let folder = Folder { _lock: folder.lock()?, ..folder };
        if existed {
            folder.take_over(overwrite)?;
        }
        Ok(folder)
    }

    /// Locks the directory until the file is closed. `None` if it is not a directory or its file system has no locks.
    fn lock(&self) -> Result<Option<File>> {
        // Opening a pipe would wait.
        let directory = if self.path.is_dir() { File::open(&self.path).ok() } else { None };
        let Some(directory) = directory else { return Ok(None) };
        match directory.try_lock() {
            Ok(()) => Ok(Some(directory)),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(ErrorKind::Usage, format!("another ironlaw is writing {}", self.path.display()))
                    .hint("Choose another name with -o, or wait until it ends."))
            }
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }

    /// The directory of an existing recording.
    pub fn open(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), _lock: None }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file under a temporary name, then renames it: readers see all of it or nothing. A failed write leaves
    /// nothing behind.
    pub fn place(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let temp = self.path.join(temp_name(name));
        let written = create_new(&temp)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&temp, self.path.join(name)));
        written.map_err(|error| {
            // The first failure is the one to report.
            let _ = fs::remove_file(&temp);
            self.cannot("write", name, error)
        })
    }

    /// Makes the renames since the last call survive a power failure.
    pub fn sync(&self) -> Result<()> {
        File::open(&self.path).and_then(|dir| dir.sync_all()).map_err(|error| self.cannot("sync", "", error))
    }

    /// Deletes a file; a missing file is not an error.
    pub fn remove(&self, name: &str) -> Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.cannot("delete", name, error)),
            _ => Ok(()),
        }
    }

    /// Deletes the directory if it is empty.
    pub fn remove_if_empty(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    /// All files by name. Names that are not Unicode are not ours and are left out.
    pub fn list(&self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(|error| self.cannot("list", "", error))? {
            let entry = entry.map_err(|error| self.cannot("list", "", error))?;
            let regular = entry.file_type().is_ok_and(|kind| kind.is_file());
            entries.extend(entry.file_name().into_string().ok().map(|name| Entry { name, regular }));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Reads a file; more than `limit` bytes are [`ErrorKind::Corrupt`], and so is anything but a regular file, whose
    /// opening may wait for ever.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if fs::metadata(self.path.join(name)).is_ok_and(|file| !file.is_file()) {
            let path = self.path.join(name);
            return Err(Error::new(ErrorKind::Corrupt, format!("{} is not a regular file", path.display())));
        }
        let file = File::open(self.path.join(name)).map_err(|error| self.cannot("read", name, error))?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.cannot("read", name, error))?;
        if bytes.len() as u64 > limit {
            return Err(Error::new(ErrorKind::Corrupt, format!("{name} has more than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// The length of a file, bytes; 0 if it cannot be looked at.
    pub fn length(&self, name: &str) -> u64 {
        fs::symlink_metadata(self.path.join(name)).map_or(0, |file| file.len())
    }

    /// Total size of its files in bytes.
    pub fn size(&self) -> Result<u64> {
        Ok(self.list()?.iter().map(|entry| self.length(&entry.name)).sum())
    }

    fn take_over(&self, overwrite: bool) -> Result<()> {
        let path = self.path.display();
        let metadata = fs::symlink_metadata(&self.path).map_err(|error| self.cannot("look at", "", error))?;
        if !metadata.is_dir() {
            return Err(Error::new(ErrorKind::Usage, format!("{path} exists and is not a directory"))
                .hint("Choose another name with -o."));
        }
        let entries = self.list()?;
        let old = entries.iter().any(|entry| entry.name == META);
        let strange = entries.iter().any(|entry| temp_target(&entry.name).is_none());
        if strange && !old {
            return Err(Error::new(ErrorKind::Usage, format!("{path} exists and is not a recording"))
                .hint("Choose another name with -o."));
        }
        if old && !overwrite {
            return Err(Error::new(ErrorKind::Usage, format!("{path} exists already"))
                .hint("Choose another name with -o, or replace it with --force."));
        }
        self.check_owner(metadata.uid())?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700))
            .map_err(|error| self.cannot("protect", "", error))?;
        // The old meta.json stays until the new one replaces it, so that the directory is a recording at every moment.
        let ours = |name: &str| Part::parse(name).is_some() || temp_target(name).is_some() || name == BASELINE;
        entries.iter().filter(|entry| ours(&entry.name)).try_for_each(|entry| self.remove(&entry.name))
    }

    /// The owner of a directory can read what is written into it, so root must not record into a planted one.
    fn check_owner(&self, owner: u32) -> Result<()> {
        let probe = self.path.join(temp_name(META));
        let uid = create_new(&probe).and_then(|file| file.metadata()).map(|file| file.uid());
        let _ = fs::remove_file(&probe);
        let uid = uid.map_err(|error| self.cannot("write into", "", error))?;
        if uid == owner {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotPermitted, format!("{} belongs to another user", self.path.display()))
            .hint("Choose another name with -o, or delete it first."))
    }

    fn cannot(&self, verb: &str, name: &str, error: io::Error) -> Error {
        let path = if name.is_empty() { self.path.clone() } else { self.path.join(name) };
        let error = Error::from(error);
        let full = error.kind() == ErrorKind::Exhausted;
        let error = error.context(format!("cannot {verb} {}", path.display()));
        if full { error.hint("Free some space, or record to another file system with -o.") } else { error }
    }
}

/// Creates a file for its owner only. An older file of that name, or a link planted there, is removed and never
/// followed, because creation fails on anything that exists.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            create()
        }
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_one_writer_at_a_time() {
        let Ok(dir) = tempfile::tempdir() else { panic!("no temporary directory") };
        let path = dir.path().join("run.ironlaw");
        let writer = Folder::create(&path, false);
        assert!(writer.is_ok());
        let second = Folder::create(&path, true).map_err(|error| error.to_string()).err();
        assert_eq!(second, Some(format!("another ironlaw is writing {}", path.display())));
        drop(writer);
        assert!(Folder::create(&path, true).is_ok());
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let Ok(dir) = tempfile::tempdir() else { panic!("no temporary directory") };
        let made = std::process::Command::new("mkfifo").arg(dir.path().join(META)).status();
        assert!(made.is_ok_and(|status| status.success()));
        let read = Folder::open(dir.path()).read(META, 100);
        assert_eq!(read.map_err(|error| error.kind()), Err(ErrorKind::Corrupt));
        assert_eq!(Folder::open(dir.path()).read("none", 100).map_err(|error| error.kind()), Err(ErrorKind::NotFound));
    }

    #[test]
    fn the_suffix_is_added_once() {
        for (typed, expected) in [
            ("foo", "foo.ironlaw"),
            ("foo/", "foo.ironlaw"),
            ("a/cpu.1", "a/cpu.1.ironlaw"),
            ("foo.ironlaw", "foo.ironlaw"),
            ("foo.ironlaw/", "foo.ironlaw/"),
            ("..", ".."),
        ] {
            assert_eq!(path(Path::new(typed)), Path::new(expected), "{typed}");
        }
    }
}
