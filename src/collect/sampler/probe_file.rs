//! Finds the file that a probe goes into: the one the target has mapped, before one of the same name elsewhere.

use crate::abi;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{BuildId, FileStamp, ObjectFile};
use crate::sys::files;
use crate::sys::procfs::ProcFs;
use rustc_hash::FxHashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of a target's processes that are searched.
const MOST_PROCESSES: usize = 256;
/// Folders of libraries that the target has not mapped yet, below the root; `*` is the machine's own folder.
const LIBRARIES: [&str; 7] =
    ["lib64", "usr/lib64", "lib/*-linux-gnu", "usr/lib/*-linux-gnu", "usr/lib", "lib", "usr/local/lib"];

/// A file to probe.
#[derive(Debug)]
pub struct ProbeFile {
    /// Kept open, so that the file examined is the file that is probed.
    pub file: File,
    /// Its path as its users see it.
    pub path: PathBuf,
}

/// Finds every file that `binary` means to the target's processes: the one they have mapped under that path (or,
/// without a slash, that file name), even if it has been replaced or lies in a container. If none has, the path itself,
/// or the first file of that name in `search` (as in `PATH`) and the library folders. /proc and all paths are resolved
/// below `root`.
///
/// # Errors
/// `NotFound` with the places searched; `NotPermitted` and similar errors from opening it.
pub fn find(binary: &Path, pids: &[u32], search: &OsStr, root: &Path) -> Result<Vec<ProbeFile>> {
    let mapped = mapped(binary, pids, root)?;
    if !mapped.is_empty() {
        return Ok(mapped);
    }
    let paths = if bare(binary) { searched(binary, search, root) } else { own_views(binary, pids, root) };
    for path in paths {
        match files::open_regular(&path) {
            Ok((file, _)) => return Ok(vec![ProbeFile { file, path }]),
            // As in a shell: a folder of PATH that may not be read, or contains something else of the name, is skipped.
            Err(error) if bare(binary) || error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).context(|| format!("cannot open {}", path.display())),
        }
    }
    let (text, hint) = if bare(binary) {
        (
            "is in no folder of PATH, none of libraries, and not mapped by the target",
            "Give its path, or check the name.",
        )
    } else {
        ("does not exist", "Check the path; for a program in a container give the path inside it, and the target.")
    };
    Err(Error::new(ErrorKind::NotFound, format!("{} {text}", binary.display())).hint(hint))
}

fn bare(binary: &Path) -> bool {
    binary.components().count() == 1 && !binary.is_absolute()
}

/// The programs and the libraries that processes have mapped, and why some may not be read.
pub fn of_processes(pids: &[u32], root: &Path) -> (Vec<ProbeFile>, Vec<Error>) {
    let (found, refused): (Vec<_>, Vec<_>) = mapped_files(pids, root, |_| true).into_iter().partition(Result::is_ok);
    (found.into_iter().flatten().collect(), refused.into_iter().filter_map(Result::err).collect())
}

/// The files that the processes have mapped under that name, without duplicates.
fn mapped(binary: &Path, pids: &[u32], root: &Path) -> Result<Vec<ProbeFile>> {
    // A link such as /usr/bin/python3 is mapped under the name of the file it points to.
    let resolved = std::fs::canonicalize(binary).ok();
    let fits = |path: &Path| match bare(binary) {
        true => path.file_name() == binary.file_name(),
        false => path == binary || Some(path) == resolved.as_deref(),
    };
    mapped_files(pids, root, fits).into_iter().collect()
}

/// The files mapped as code whose paths fit, each once.
fn mapped_files(pids: &[u32], root: &Path, fits: impl Fn(&Path) -> bool) -> Vec<Result<ProbeFile>> {
    let proc = ProcFs::new(root.join("proc"));
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for pid in pids.iter().take(MOST_PROCESSES) {
        let maps = proc.maps(*pid).unwrap_or_default();
        for mapping in abi::mappings(&maps).filter(|mapping| mapping.executable && mapping.inode != 0) {
            let Some(path) = mapping.path().filter(|path| fits(path)) else { continue };
            if seen.insert((mapping.device, mapping.inode)) {
                let opened = open_mapped(&proc, *pid, &mapping, &path)
                    .context(|| format!("cannot open {} of process {pid}", path.display()));
                found.push(opened.map(|(file, _)| ProbeFile { file, path }));
            }
        }
    }
    found
}

/// Opens the mapped file itself or, without privilege, the file of that name in the process's file system view.
fn open_mapped(proc: &ProcFs, pid: u32, mapping: &abi::Mapping<'_>, path: &Path) -> io::Result<(File, FileStamp)> {
    let process = proc.root().join(pid.to_string());
    let very = process.join(format!("map_files/{:x}-{:x}", mapping.start, mapping.end));
    files::open_regular(&very).or_else(|error| match mapping.is_deleted() {
        true => Err(error),
        false => files::open_regular(&below(&process.join("root"), path)),
    })
}

/// The path as the processes see it, then as this process does.
fn own_views(binary: &Path, pids: &[u32], root: &Path) -> Vec<PathBuf> {
    let theirs = pids.first().filter(|_| binary.is_absolute());
    let theirs = theirs.map(|pid| below(&root.join("proc").join(pid.to_string()).join("root"), binary));
    let ours = if binary.is_absolute() { below(root, binary) } else { binary.to_path_buf() };
    theirs.into_iter().chain([ours]).collect()
}

/// Where a bare name may be found.
fn searched(binary: &Path, search: &OsStr, root: &Path) -> Vec<PathBuf> {
    let programs =
        std::env::split_paths(search).filter(|folder| folder.is_absolute()).map(|folder| below(root, &folder));
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    let libraries = LIBRARIES.iter().map(|folder| root.join(folder.replace("*-linux-gnu", &machine)));
    programs.chain(libraries).map(|folder| folder.join(binary)).collect()
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The separate debug file of a build id, where distributions put it below `root`.
#[must_use]
pub fn debug_file(build_id: &BuildId, root: &Path) -> Option<ObjectFile> {
    let build_id = build_id.to_string();
    let (folder, rest) = build_id.split_at_checked(2)?;
    let path = root.join("usr/lib/debug/.build-id").join(folder).join(format!("{rest}.debug"));
    files::object(files::open_foreign(&path).ok()?.0).ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    /// A root with a server of its own, one in a container, and a library.
    fn root() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for (folder, file, text) in [
            ("usr/bin", "server", "ours"),
            ("usr/lib", "libx.so", "library"),
            ("proc/7/root/usr/bin", "server", "theirs"),
            ("proc/7/root/opt", "tool", "tool"),
            ("proc/8/map_files", "1000-2000", "replaced"),
        ] {
            create_dir_all(root.join(folder)).unwrap();
            write(root.join(folder).join(file), text).unwrap();
        }
        write(
            root.join("proc/7/maps"),
            "1000-2000 r-xp 0 08:01 5 /usr/bin/server\n3000-4000 r--p 0 08:01 6 /opt/tool\n",
        )
        .unwrap();
        write(root.join("proc/8/maps"), "1000-2000 r-xp 0 08:01 9 /usr/bin/server (deleted)\n").unwrap();
        dir
    }

    #[test]
    fn what_the_target_has_mapped_comes_before_files_of_the_same_name() {
        let dir = root();
        for (binary, pids, texts) in [
            ("server", &[][..], &["ours"][..]),
            ("server", &[7], &["theirs"]),
            ("/usr/bin/server", &[7], &["theirs"]),
            ("/usr/bin/server", &[8], &["replaced"]),
            ("server", &[7, 8, 7], &["theirs", "replaced"]),
            ("/opt/tool", &[7], &["tool"]),
            ("libx.so", &[7], &["library"]),
            ("/usr/bin/server", &[9], &["ours"]),
        ] {
            let found = find(Path::new(binary), pids, OsStr::new("/bin:/usr/bin"), dir.path()).unwrap();
            let read: Vec<String> = found
                .iter()
                .map(|found| String::from_utf8(files::read_from(&found.file, 0, 99).unwrap()).unwrap())
                .collect();
            assert_eq!(read, texts, "{binary} {pids:?}");
        }
    }

    #[test]
    fn what_is_nowhere_says_where_it_was_looked_for() {
        let dir = root();
        for (binary, said) in [("nothing", "PATH"), ("/no/thing", "does not exist"), ("/usr/bin", "regular file")] {
            let error = find(Path::new(binary), &[], OsStr::new("/usr/bin"), dir.path()).unwrap_err();
            assert!(error.to_string().contains(said) && error.to_string().contains(binary), "{error}");
        }
    }

    #[test]
    fn a_debug_file_is_found_by_build_id() {
        let dir = root();
        create_dir_all(dir.path().join("usr/lib/debug/.build-id/ab")).unwrap();
        write(dir.path().join("usr/lib/debug/.build-id/ab/cdef.debug"), "x").unwrap();
        let found = |id: &[u8]| debug_file(&BuildId(id.to_vec()), dir.path()).is_some();
        assert!(found(&[0xab, 0xcd, 0xef]) && !found(&[0xab, 0xcd]) && !found(&[0xab]) && !found(&[]));
    }
}
