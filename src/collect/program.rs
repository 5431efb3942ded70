//! Determines which program a process runs, and which build of it, before the first sample is taken. Anything that
//! cannot be read is reported as unknown.

use super::sampler::build_id;
use crate::model::Alias;
use crate::model::limits::COMMAND_LINE;
use crate::sys::files;
use crate::sys::procfs::ProcFs;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A program as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path as the process sees it.
    pub path: String,
    /// Its build-id in hexadecimal, if it has one.
    pub build_id: Option<String>,
}

/// The program of a process; `None` if it is gone, may not be read, or is a kernel thread.
#[must_use]
pub fn of_process(proc: &ProcFs, pid: u32) -> Option<Program> {
    let exe = proc.root().join(pid.to_string()).join("exe");
    let target = fs::read_link(&exe).ok()?;
    // The kernel marks a program that was replaced while it ran; it can still be read through the link.
    let path = target.to_string_lossy().trim_end_matches(" (deleted)").to_string();
    Some(Program { path, build_id: id(&exe) })
}

/// A process's name for its program if that is another name of the same file: a link next to it, as `redis-server`
/// links to `redis-check-rdb`. The name it was started by comes before its `comm`; `None` if neither is such a name.
#[must_use]
pub fn alias(proc: &ProcFs, pid: u32) -> Option<Alias> {
    let own = proc.root().join(pid.to_string());
    let exe = fs::read_link(own.join("exe")).ok()?;
    let file = fs::metadata(own.join("exe")).ok()?;
    let same = |path: &Path| {
        // As the process sees it: its root may differ.
        let seen = fs::metadata(own.join("root").join(path.strip_prefix("/").ok()?)).ok()?;
        Some((seen.dev(), seen.ino()) == (file.dev(), file.ino()))
    };
    let started = proc.start_of(format!("{pid}/cmdline"), COMMAND_LINE).unwrap_or_default();
    let started = PathBuf::from(OsStr::from_bytes(started.split(|byte| *byte == 0).next().unwrap_or_default()));
    let itself = proc.read(format!("{pid}/comm")).unwrap_or_default();
    let itself = OsStr::from_bytes(itself.trim_ascii_end());
    let beside = |name: &OsStr| Some(exe.parent()?.join(Path::new(name).file_name()?));
    // A program may overwrite its arguments: a title's first word is often its name.
    let word = started.as_os_str().as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
    let candidates = [
        Some(started.clone()).filter(|path| path.is_absolute()),
        beside(started.as_os_str()),
        beside(OsStr::from_bytes(word)),
        beside(itself),
    ];
    let called = candidates.into_iter().flatten().find(|path| same(path) == Some(true))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    (called.file_name() != exe.file_name()).then(|| Alias { file: text(&exe), called: text(&called) })
}

/// The alias of a command that is yet to start, from its first word.
#[must_use]
pub fn alias_of_command(word: &str, search: &OsStr) -> Option<Alias> {
    let called = std::path::absolute(found(word, search)?).ok()?;
    let file = fs::canonicalize(&called).ok()?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    (called.file_name() != file.file_name()).then(|| Alias { file: text(&file), called: text(&called) })
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
    let (file, _) = files::open_foreign(path).ok()?;
    Some(build_id(&files::object(file).ok()?)??.to_string())
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
    fn a_program_that_was_started_by_a_link_is_called_by_it_unless_the_name_is_anothers() {
        let dir = tempfile::tempdir().unwrap();
        let process = dir.path().join("proc/41");
        let bin = dir.path().join("bin");
        fs::create_dir_all(&process).unwrap();
        fs::create_dir(&bin).unwrap();
        for name in ["check-rdb", "other"] {
            fs::write(bin.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("check-rdb", bin.join("server")).unwrap();
        std::os::unix::fs::symlink(bin.join("check-rdb"), process.join("exe")).unwrap();
        std::os::unix::fs::symlink("/", process.join("root")).unwrap();
        let path = |name: &str| bin.join(name).to_str().unwrap().to_string();
        for (cmdline, comm, expected) in [
            (format!("{}\0--port\0", path("server")), "server", Some("server")),
            ("server *:6379\0".to_string(), "x", Some("server")),
            ("server\0".to_string(), "x", Some("server")),
            ("strange title".to_string(), "server", Some("server")),
            (path("check-rdb"), "server", None),
            (path("other"), "other", None),
            ("nothing".to_string(), "such", None),
            (String::new(), "", None),
            ("..\0".to_string(), "/", None),
        ] {
            fs::write(process.join("cmdline"), &cmdline).unwrap();
            fs::write(process.join("comm"), format!("{comm}\n")).unwrap();
            let found = alias(&ProcFs::new(dir.path().join("proc")), 41);
            let expected = expected.map(|name| Alias { file: path("check-rdb"), called: path(name) });
            assert_eq!(found, expected, "{cmdline:?} {comm:?}");
        }
        // A process can make its arguments as long as its memory.
        fs::write(process.join("cmdline"), format!("{}\0", path("server"))).unwrap();
        fs::File::options().write(true).open(process.join("cmdline")).unwrap().set_len(1 << 40).unwrap();
        assert!(alias(&ProcFs::new(dir.path().join("proc")), 41).is_some());
        let search = std::env::join_paths([&bin]).unwrap();
        let command = |word| alias_of_command(word, &search).map(|alias| alias.called);
        assert_eq!((command("server"), command("other"), command("none")), (Some(path("server")), None, None));
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
