//! Which program a process runs, and which build of it: known before the first sample is taken.
//! It never fails: what may not be read is not known.

use super::sampler::build_id;
use crate::sys::files;
use crate::sys::procfs::ProcFs;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A program as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path as the process sees it.
    pub path: String,
    /// Its build-id in hexadecimal, if it has one.
    pub build_id: Option<String>,
}

/// The program of a process; `None` for one that is gone, is not ours to look at, or is a kernel thread.
#[must_use]
pub fn of_process(proc: &ProcFs, pid: u32) -> Option<Program> {
    let exe = proc.root().join(pid.to_string()).join("exe");
    let target = fs::read_link(&exe).ok()?;
    // A program that was replaced while it ran bears a mark, and is still read through the link.
    let path = target.to_string_lossy().trim_end_matches(" (deleted)").to_string();
    Some(Program { path, build_id: id(&exe) })
}

/// The program at a path.
#[must_use]
pub fn of_file(path: &Path) -> Option<Program> {
    path.is_file().then(|| Program { path: path.to_string_lossy().into_owned(), build_id: id(path) })
}

/// The file that a command's first word starts, as `execvp(3)` finds it in `search`.
#[must_use]
pub fn found(word: &str, search: &OsStr) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(PathBuf::from(word)).filter(|path| path.is_file());
    }
    std::env::split_paths(search).map(|folder| folder.join(word)).find(|path| path.is_file())
}

fn id(path: &Path) -> Option<String> {
    let bytes = files::map(&File::open(path).ok()?).ok()?;
    build_id((*bytes).as_ref())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_this_process_is_the_same_by_process_and_by_path() {
        let own = of_process(&ProcFs::new("/proc"), std::process::id()).unwrap();
        assert_eq!(Some(own.clone()), of_file(Path::new(&own.path)));
        assert!(own.build_id.is_none_or(|id| id.len() >= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
        assert_eq!(of_process(&ProcFs::new("/proc"), u32::MAX), None);
    }

    #[test]
    fn a_command_is_looked_for_where_it_would_be_started_from() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tool");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        let search = std::env::join_paths([Path::new("/nonexistent"), dir.path()]).unwrap();
        assert_eq!(found("tool", &search), Some(file.clone()));
        assert_eq!(found("other", &search), None);
        assert_eq!(found(&file.to_string_lossy(), OsStr::new("")), Some(file.clone()));
        assert_eq!(of_file(&file).unwrap().build_id, None, "a script has no build");
    }
}
