//! The files that names are read from, as the process that makes names may have them opened.

use super::super::name_store::NameStore;
use super::deadline::Deadline;
use crate::model::limits::{FETCHED_NAMES_END, MAPS_BYTES, NAMES_END};
use crate::model::{BuildId, FileStamp, ObjectFile};
use crate::symbols::FileTail;
use crate::sys;
use crate::sys::proc_reader::{LookUp, Looked, Patience, ProcReader};
use crate::units::Nanos;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Maximum bytes of a JIT map read at once: more than any runtime writes, and little enough to keep in memory.
const MAP_CHUNK: u64 = 64 << 20;

/// Bytes that show which file in /proc it is, and how much of it we may read.
const HEAD: u64 = 4096;

/// What an ELF file and a jitdump of either byte order begin with. Nothing else is opened for names.
const BEGINNINGS: [&[u8]; 3] = [b"\x7fELF", b"JiTD", b"DTiJ"];

/// A list of /proc.
pub(in crate::session) enum List {
    File(File),
    Text(Vec<u8>),
}

/// What opens files for the process that makes names.
pub(in crate::session) trait FileSource {
    /// An object file or jitdump.
    fn open(&self, path: &Path) -> Option<ObjectFile>;
    /// A list below /proc.
    fn list(&self, path: &Path) -> Option<List>;
    /// The first bytes of a file below /proc.
    fn head(&self, _path: &Path) -> Option<Vec<u8>> {
        None
    }
    /// What an earlier session stored, and its length.
    fn stored(&self, name: &str) -> Option<(File, u64)>;
    /// Stores bytes for later sessions.
    fn store(&self, name: &str, bytes: &[u8]);
    /// Downloads the debug file of a build.
    fn fetch(&self, id: &BuildId) -> Option<ObjectFile>;
    /// The contents of a perf map from a byte on.
    fn grown(&self, path: &Path, from: u64) -> Option<FileTail>;
}

/// Debug files, perf maps and lists of this machine.
#[derive(Debug)]
pub(in crate::session) struct HostFiles {
    /// Whether downloads are allowed.
    fetch: bool,
    names: NameStore,
    /// When nothing more is looked for.
    deadline: Deadline,
    /// A file may lie on a file system that a process serves, and a list of mappings wait for a lock.
    reader: Mutex<ProcReader>,
}

impl Default for HostFiles {
    fn default() -> HostFiles {
        HostFiles {
            fetch: false,
            names: NameStore::default(),
            deadline: Deadline::default(),
            reader: Mutex::new(ProcReader::new(Path::new("/proc"), Patience::NAMES)),
        }
    }
}

impl HostFiles {
    /// With the names that the user's earlier sessions found.
    pub(in crate::session) fn of_user(fetch: bool) -> HostFiles {
        HostFiles { fetch, names: NameStore::of_user(), ..HostFiles::default() }
    }

    /// When nothing more is looked for.
    pub(in crate::session) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// How long the end of a capture waits for names.
    pub(in crate::session) fn patience(&self) -> Nanos {
        Nanos(1_000_000_000 * if self.fetch { FETCHED_NAMES_END } else { NAMES_END })
    }

    fn look_up(&self, task: u32, look_up: LookUp) -> Option<Looked> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).look_up(task, look_up).ok()
    }

    /// A file by its path; one that is served by a process comes as a copy.
    fn opened(&self, path: &Path, follow: bool) -> Option<(File, FileStamp)> {
        // A process on whose behalf it is opened waits with it, if it does.
        let below = path.strip_prefix("/proc").ok().and_then(|below| below.components().next());
        let task = below.and_then(|name| name.as_os_str().to_str()?.parse().ok());
        match self.look_up(task.unwrap_or(0), LookUp::Open { path: path.to_path_buf(), follow })? {
            Looked::File { file, stamp, .. } => Some((file, stamp)),
            _ => None,
        }
    }

    /// A file of a process, as text.
    fn text(&self, path: &Path, most: u64) -> Option<Vec<u8>> {
        let (task, file) = path.strip_prefix("/proc").ok()?.to_str()?.split_once('/')?;
        match self.look_up(task.parse().ok()?, LookUp::Read { file: file.to_string(), most })? {
            Looked::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl FileSource for HostFiles {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        let (file, stamp) = self.opened(path, true)?;
        let file = sys::files::object_of_length(file, stamp.size).stamped(stamp);
        let begin = file.bytes(0, 4)?;
        BEGINNINGS.contains(&&*begin).then_some(file)
    }

    fn list(&self, path: &Path) -> Option<List> {
        match list_of(path)? {
            ListOf::Machine => File::open(path).ok().map(List::File),
            ListOf::Process => self.text(path, MAPS_BYTES).map(List::Text),
        }
    }

    fn head(&self, path: &Path) -> Option<Vec<u8>> {
        match list_of(path)? {
            ListOf::Machine => sys::files::read_from(&File::open(path).ok()?, 0, HEAD).ok(),
            ListOf::Process => self.text(path, HEAD),
        }
    }

    fn stored(&self, name: &str) -> Option<(File, u64)> {
        self.names.get(name)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.names.put(name, bytes);
    }

    fn fetch(&self, id: &BuildId) -> Option<ObjectFile> {
        let find =
            || sys::answer::answer("debuginfod-find", &["debuginfo", &id.to_string()], || self.deadline.is_over());
        let path = self.fetch.then(find).flatten()?;
        self.open(Path::new(path.trim()))
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let name = path.file_name()?.to_str()?;
        let pid = name.strip_prefix("perf-")?.strip_suffix(".map")?;
        pid.parse::<u32>().ok()?;
        let (file, stamp) = self.opened(path, false)?;
        let bytes = sys::files::read_from(&file, from, MAP_CHUNK).ok()?;
        Some(FileTail { length: stamp.size, stamp: Some(stamp), bytes })
    }
}

/// Of whom a file of /proc tells.
enum ListOf {
    Machine,
    Process,
}

/// Of whom a file of /proc tells, if names are read with its help.
fn list_of(path: &Path) -> Option<ListOf> {
    let name = path.strip_prefix("/proc").ok().and_then(Path::to_str)?;
    if ["kallsyms", "sys/kernel/random/boot_id"].contains(&name) {
        return Some(ListOf::Machine);
    }
    let (pid, file) = name.split_once('/')?;
    (pid.parse::<u32>().is_ok() && ["maps", "status"].contains(&file)).then_some(ListOf::Process)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_are_made_of_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let files = HostFiles::default();
        for (name, text, opened) in
            [("a", "\x7fELF\x02", true), ("b.dump", "JiTD", true), ("shadow", "root:x:", false), ("short", "E", false)]
        {
            std::fs::write(dir.path().join(name), text).unwrap();
            assert_eq!(files.open(&dir.path().join(name)).is_some(), opened, "{name}");
        }
        for (name, opened) in [("perf-7.map", true), ("perf-x.map", false), ("shadow", false)] {
            std::fs::write(dir.path().join(name), "10 1 f\n").unwrap();
            assert_eq!(files.grown(&dir.path().join(name), 0).is_some(), opened, "{name}");
        }
        for (path, opened) in [
            ("/proc/1/maps", true),
            ("/proc/1/status", true),
            ("/proc/kallsyms", true),
            ("/proc/1/environ", false),
            ("/proc/1/root/etc/shadow", false),
            ("/proc/self/maps", false),
            ("/proc/../etc/passwd", false),
            ("/etc/passwd", false),
        ] {
            assert_eq!(list_of(Path::new(path)).is_some(), opened, "{path}");
        }
    }
}
