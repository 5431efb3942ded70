//! Names that sessions leave for later ones, below the user's cache directory: `XDG_CACHE_HOME`, else `~/.cache`.
//! A directory or file that others could have written is ignored, and so is any failure: then names are read anew.

use crate::sys::private_dir::PrivateDir;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Bytes of all files together.
const MOST: u64 = 64 << 20;

/// The directory, if there is a usable one.
#[derive(Debug, Default)]
pub(super) struct NameStore {
    dir: Option<PrivateDir>,
    /// Tells builds of this program apart, because they may find other names.
    build: String,
}

impl NameStore {
    /// The user's.
    pub(super) fn of_user() -> NameStore {
        let place = place(|name| std::env::var_os(name));
        let build = std::fs::metadata("/proc/self/exe");
        let build = build.map(|file| format!("{:x}-{:x}-{:x}", file.len(), file.mtime(), file.mtime_nsec()));
        let (Some(place), Ok(build)) = (place, build) else { return NameStore::default() };
        NameStore { dir: PrivateDir::open(&place).ok(), build }
    }

    pub(super) fn get(&self, name: &str) -> Option<(File, u64)> {
        self.dir.as_ref()?.open_file(&self.file(name)).ok()
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        if let Some(dir) = &self.dir {
            // A full or read-only disk costs later sessions their time, nothing else.
            let _ = dir.write(&self.file(name), bytes, MOST);
        }
    }

    fn file(&self, name: &str) -> String {
        format!("{name}-{}", self.build)
    }
}

/// Relative paths are ignored, as the XDG specification demands.
fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?.join("ironlaw"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_the_users_cache() {
        let rows = [
            (&[("XDG_CACHE_HOME", "/c"), ("HOME", "/home/x")][..], Some("/c/ironlaw")),
            (&[("XDG_CACHE_HOME", "c"), ("HOME", "/home/x")], Some("/home/x/.cache/ironlaw")),
            (&[("XDG_CACHE_HOME", ""), ("HOME", "/home/x")], Some("/home/x/.cache/ironlaw")),
            (&[("HOME", "")], None),
        ];
        for (set, expected) in rows {
            let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            assert_eq!(place(variable), expected.map(PathBuf::from), "{set:?}");
        }
    }

    #[test]
    fn another_build_of_the_program_finds_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let store = |build: &str| {
            let dir = PrivateDir::open(&temp.path().join("names")).ok();
            NameStore { dir, build: build.to_string() }
        };
        store("1").put("a", b"x");
        assert_eq!(store("1").get("a").map(|(_, length)| length), Some(1));
        assert!(store("2").get("a").is_none());
        let none = NameStore::default();
        none.put("a", b"x");
        assert!(none.get("a").is_none());
    }
}
