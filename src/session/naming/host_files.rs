//! The files that names are read from, as the process that makes names may have them opened.

use super::super::name_store::NameStore;
use crate::model::{BuildId, ObjectFile};
use crate::symbols::FileTail;
use crate::sys;
use std::fs::File;
use std::path::Path;

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
#[derive(Debug, Default)]
pub(in crate::session) struct HostFiles {
    /// Whether downloads are allowed.
    fetch: bool,
    names: NameStore,
}

impl HostFiles {
    /// With the names that the user's earlier sessions found.
    pub(in crate::session) fn of_user(fetch: bool) -> HostFiles {
        HostFiles { fetch, names: NameStore::of_user() }
    }
}

impl FileSource for HostFiles {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        let (file, _) = sys::files::open_foreign(path).ok()?;
        let file = sys::files::object(file).ok()?;
        let begin = file.bytes(0, 4)?;
        BEGINNINGS.contains(&&*begin).then_some(file)
    }

    fn list(&self, path: &Path) -> Option<List> {
        is_name_list(path).then(|| File::open(path).ok().map(List::File)).flatten()
    }

    fn head(&self, path: &Path) -> Option<Vec<u8>> {
        is_name_list(path).then(|| sys::files::read_from(&File::open(path).ok()?, 0, HEAD).ok()).flatten()
    }

    fn stored(&self, name: &str) -> Option<(File, u64)> {
        self.names.get(name)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.names.put(name, bytes);
    }

    fn fetch(&self, id: &BuildId) -> Option<ObjectFile> {
        let path =
            self.fetch.then(|| sys::spawn::answer("debuginfod-find", &["debuginfo", &id.to_string()])).flatten()?;
        self.open(Path::new(path.trim()))
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let name = path.file_name()?.to_str()?;
        let pid = name.strip_prefix("perf-")?.strip_suffix(".map")?;
        pid.parse::<u32>().ok()?;
        let (file, stamp) = sys::files::open_plain(path).ok()?;
        let bytes = sys::files::read_from(&file, from, MAP_CHUNK).ok()?;
        Some(FileTail { length: stamp.size, stamp: Some(stamp), bytes })
    }
}

/// Whether names are read with the help of this file of /proc.
fn is_name_list(path: &Path) -> bool {
    let Some(name) = path.strip_prefix("/proc").ok().and_then(Path::to_str) else { return false };
    let of_process = |name: &str| {
        let (pid, file) = name.split_once('/').unwrap_or_default();
        pid.parse::<u32>().is_ok() && ["maps", "status"].contains(&file)
    };
    ["kallsyms", "sys/kernel/random/boot_id"].contains(&name) || of_process(name)
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
            assert_eq!(is_name_list(Path::new(path)), opened, "{path}");
        }
    }
}
