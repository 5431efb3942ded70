//! Records the changes of a live sweep before they are made, so that they can be reverted even after kill -9.

use crate::error::{Context, Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind as Io, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A thread's original CPU affinity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadAffinity {
    /// Its process.
    pub pid: u32,
    /// Its thread id.
    pub tid: u32,
    /// Its start time, clock ticks since boot. Thread ids are reused; the start time tells them apart.
    pub started: u64,
    /// The CPUs it could run on.
    pub cpus: Vec<u32>,
}

/// All changes of one sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntries {
    /// The process id of the sweep.
    pub sweeper: u32,
    /// Its start time.
    pub sweeper_started: u64,
    /// The threads.
    pub threads: Vec<ThreadAffinity>,
}

/// A journal on disk, removed once everything is restored.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
}

/// The folder of the journals: one per machine for root, one per session for other users. It is in memory where
/// possible, because affinities do not survive a reboot either.
#[must_use]
pub fn folder(is_root: bool, runtime_dir: Option<&str>, temp: &Path) -> PathBuf {
    match runtime_dir.filter(|dir| dir.starts_with('/')) {
        _ if is_root => PathBuf::from("/run/ironlaw"),
        Some(dir) => Path::new(dir).join("ironlaw"),
        None => temp.join("ironlaw-sweeps"),
    }
}

impl Journal {
    /// Creates the journal of this sweep. An existing one belongs to a sweep that was killed.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn create(folder: &Path, sweeper: u32) -> Result<Journal> {
        let made = DirBuilder::new().mode(0o700).recursive(true).create(folder);
        made.context(|| format!("cannot create {}", folder.display()))?;
        Ok(Journal { path: folder.join(format!("sweep-{sweeper}.json")) })
    }

    /// Writes all entries. Once this returns, they survive the death of this process.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, entries: &JournalEntries) -> Result<()> {
        let place = || format!("cannot write {}", self.path.display());
        let bytes = serde_json::to_vec(entries)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()).context(place()))?;
        let temp = self.path.with_extension("tmp");
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temp);
        file.and_then(|mut file| file.write_all(&bytes)).and_then(|()| fs::rename(&temp, &self.path)).context(place)
    }

    /// Removes the journal after everything has been restored.
    pub fn close(&self) {
        // A leftover journal is harmless: `sweep --restore` finds it already done.
        let _ = fs::remove_file(&self.path);
    }

    /// The journals in a folder with their entries.
    ///
    /// # Errors
    /// The folder cannot be read. A missing folder contains no journals.
    pub fn all(folder: &Path) -> Result<Vec<(Journal, Result<JournalEntries>)>> {
        let place = || format!("cannot read {}", folder.display());
        let files = match fs::read_dir(folder) {
            Err(error) if error.kind() == Io::NotFound => return Ok(Vec::new()),
            files => files.context(place)?,
        };
        let mut found = Vec::new();
        for file in files {
            let path = file.context(place)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let entries = read(&path);
                found.push((Journal { path }, entries));
            }
        }
        Ok(found)
    }

    /// The journal's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn read(path: &Path) -> Result<JournalEntries> {
    let place = || format!("cannot read {}", path.display());
    let text = fs::read(path).context(place)?;
    serde_json::from_slice(&text).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()).context(place()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_found_until_it_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        assert!(Journal::all(&folder).unwrap().is_empty());
        let journal = Journal::create(&folder, 7).unwrap();
        let threads = vec![ThreadAffinity { pid: 9, tid: 10, started: 11, cpus: vec![0, 1] }];
        let entries = JournalEntries { sweeper: 7, sweeper_started: 8, threads };
        journal.write(&entries).unwrap();
        let all = Journal::all(&folder).unwrap();
        assert_eq!(all[0].1.as_ref().unwrap(), &entries);
        journal.close();
        assert!(Journal::all(&folder).unwrap().is_empty());
    }

    #[test]
    fn rubbish_is_told_and_not_taken_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("sweep-1.json"), "{").unwrap();
        assert_eq!(Journal::all(dir.path()).unwrap()[0].1.as_ref().unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn journals_lie_where_their_owner_can_write() {
        let temp = Path::new("/tmp");
        assert_eq!(folder(true, Some("/run/user/0"), temp), Path::new("/run/ironlaw"));
        assert_eq!(folder(false, Some("/run/user/7"), temp), Path::new("/run/user/7/ironlaw"));
        assert_eq!(folder(false, None, temp), Path::new("/tmp/ironlaw-sweeps"));
    }
}
