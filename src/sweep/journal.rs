//! Records the changes of a live sweep before they are made, so that they can be reverted even after kill -9. Journals
//! are files that only their user can read, write or replace.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::private_dir::{self, PrivateDir};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// Control groups that were made, and are to be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PathBuf>,
}

/// The directory of a user's journals. It is in memory where possible, because affinities do not survive a reboot
/// either.
#[derive(Debug, Clone)]
pub struct Journals {
    dir: Arc<PrivateDir>,
    path: PathBuf,
}

/// A journal on disk, removed once everything is restored.
#[derive(Debug)]
pub struct Journal {
    dir: Arc<PrivateDir>,
    name: String,
    path: PathBuf,
}

impl Journals {
    /// Those of this user: one directory per machine for root, one per session for other users. `temp` is used where
    /// there is no directory of the session, or it is another user's.
    ///
    /// # Errors
    /// No directory can be created.
    pub fn of_user(is_root: bool, runtime_dir: Option<&str>, temp: &Path) -> Result<Journals> {
        let session = runtime_dir.filter(|dir| dir.starts_with('/') && !is_root);
        let places =
            [is_root.then(|| PathBuf::from("/run/ironlaw")), session.map(|dir| Path::new(dir).join("ironlaw"))];
        if let Some(found) = places.into_iter().flatten().find_map(|place| Journals::open(&place).ok()) {
            return Ok(found);
        }
        let place = || format!("cannot create a directory for the sweep's journal in {}", temp.display());
        Journals::open(&private_dir::among_temporary(temp).context(place)?.join("sweeps"))
    }

    /// Opens a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// It belongs to another user or is accessible by others, or any error of the file system.
    pub fn open(path: &Path) -> Result<Journals> {
        let dir = PrivateDir::open(path).context(|| format!("cannot use {}", path.display()))?;
        Ok(Journals { dir: Arc::new(dir), path: path.to_path_buf() })
    }

    /// The directory's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal of a sweep. An existing one belongs to a sweep that was killed.
    #[must_use]
    pub fn journal(&self, sweeper: u32) -> Journal {
        self.named(format!("sweep-{sweeper}.json"))
    }

    /// The journal of the control groups that a process makes.
    #[must_use]
    pub fn group_journal(&self, maker: u32) -> Journal {
        self.named(format!("groups-{maker}.json"))
    }

    /// All journals with their entries.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn all(&self) -> Result<Vec<(Journal, Result<JournalEntries>)>> {
        let names = self.dir.names().context(|| format!("cannot read {}", self.path.display()))?;
        let journals = names.into_iter().filter(|name| !name.starts_with('.') && name.ends_with(".json"));
        let read = |journal: Journal| {
            let entries = journal.read();
            (journal, entries)
        };
        Ok(journals.map(|name| read(self.named(name))).collect())
    }

    fn named(&self, name: String) -> Journal {
        Journal { dir: Arc::clone(&self.dir), path: self.path.join(&name), name }
    }
}

impl Journal {
    /// Writes all entries. Once this returns, they survive the death of this process.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, entries: &JournalEntries) -> Result<()> {
        let place = || format!("cannot write {}", self.path.display());
        let bytes = serde_json::to_vec(entries)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()).context(place()))?;
        self.dir.write(&self.name, &bytes, u64::MAX).context(place)
    }

    /// Removes the journal after everything has been restored.
    pub fn close(&self) {
        // A leftover journal is harmless: `sweep --restore` finds it already done.
        let _ = self.dir.remove(&self.name);
    }

    /// The journal's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read(&self) -> Result<JournalEntries> {
        let place = || format!("cannot read {}", self.path.display());
        let text = self.dir.read(&self.name).context(place)?;
        serde_json::from_slice(&text)
            .map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()).context(place()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_is_written_down_is_found_until_it_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::open(&dir.path().join("a/b")).unwrap();
        assert!(journals.all().unwrap().is_empty());
        let journal = journals.journal(7);
        let threads = vec![ThreadAffinity { pid: 9, tid: 10, started: 11, cpus: vec![0, 1] }];
        let entries = JournalEntries { sweeper: 7, sweeper_started: 8, threads, groups: vec![] };
        journal.write(&entries).unwrap();
        assert_eq!(journals.all().unwrap()[0].1.as_ref().unwrap(), &entries);
        journal.close();
        assert!(journals.all().unwrap().is_empty());
    }

    #[test]
    fn rubbish_is_told_and_not_taken_for_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::open(&dir.path().join("j")).unwrap();
        fs::write(journals.path().join("sweep-1.json"), "{").unwrap();
        fs::set_permissions(journals.path().join("sweep-1.json"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(journals.all().unwrap()[0].1.as_ref().unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn journals_lie_where_only_their_owner_can_write() {
        let temp = tempfile::tempdir().unwrap();
        let session = temp.path().join("session");
        fs::create_dir(&session).unwrap();
        let open = |session: Option<&Path>| {
            let session = session.map(|path| path.to_str().unwrap());
            Journals::of_user(false, session, temp.path()).unwrap().path().to_path_buf()
        };
        assert_eq!(open(Some(&session)), session.join("ironlaw"));
        let own = private_dir::among_temporary(temp.path()).unwrap().join("sweeps");
        assert_eq!((open(None), open(Some(Path::new("relative")))), (own.clone(), own.clone()));
        fs::set_permissions(session.join("ironlaw"), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(open(Some(&session)), own, "one that others can write is not used");
    }

    #[test]
    fn a_planted_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let journals = Journals::open(&dir.path().join("j")).unwrap();
        let precious = dir.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        for name in ["sweep-7.json", &format!(".sweep-7.json.{}", std::process::id())] {
            symlink(&precious, journals.path().join(name)).unwrap();
        }
        let written = journals.journal(7).write(&JournalEntries {
            sweeper: 7,
            sweeper_started: 8,
            threads: vec![],
            groups: vec![],
        });
        assert!(written.is_err() || journals.path().join("sweep-7.json").symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_to_string(precious).unwrap(), "kept");
    }
}
