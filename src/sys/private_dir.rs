//! A directory of files that only their user reads and writes: read without following links, written atomically, and
//! bounded by removing the oldest.

use super::files;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The open directory.
#[derive(Debug)]
pub struct PrivateDir(OwnedFd);

impl PrivateDir {
    /// Opens the directory; creates it, and what is above it, if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` if it is not ours alone, or would lie in a directory of another user; otherwise as `mkdir(2)`
    /// and `open(2)`.
    pub fn open(path: &Path) -> io::Result<PrivateDir> {
        match PrivateDir::existing(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let above = path.ancestors().skip(1).find_map(|above| above.metadata().ok());
        if above.is_none_or(|above| !files::is_believed(above.uid())) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it would lie in another user's directory"));
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        match rustix::fs::mkdir(path, Mode::RWXU) {
            Err(Errno::EXIST) | Ok(()) => PrivateDir::existing(path),
            Err(error) => Err(error.into()),
        }
    }

    fn existing(path: &Path) -> io::Result<PrivateDir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty())?;
        if is_ours(&rustix::fs::fstat(&dir)?) {
            Ok(PrivateDir(dir))
        } else {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is another user's, or others may use it"))
        }
    }

    /// A file and its length. It becomes the newest.
    ///
    /// # Errors
    /// As `openat(2)`; `PermissionDenied` for a link, anything but a regular file, or a file that is not ours alone.
    pub fn open_file(&self, name: &str) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !is_ours(&stat) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let time = |nanos| Timespec { tv_sec: 0, tv_nsec: nanos };
        let now = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
        // The age only orders what is removed first.
        let _ = rustix::fs::futimens(&file, &now);
        Ok((File::from(file), stat.st_size.cast_unsigned()))
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// As [`PrivateDir::open_file`], and as `read(2)`.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let (file, length) = self.open_file(name)?;
        files::read_from(&file, 0, length)
    }

    /// The names of its files.
    ///
    /// # Errors
    /// As `getdents(2)`.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            names.extend(entry?.file_name().to_str().ok().map(str::to_string));
        }
        Ok(names)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// As `unlinkat(2)`.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Writes a file at once or not at all. Then removes the oldest files until all together take at most `most` bytes.
    ///
    /// # Errors
    /// As `write(2)`, for instance for a full disk.
    pub fn write(&self, name: &str, bytes: &[u8], most: u64) -> io::Result<()> {
        let temporary = format!(".{name}.{}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
        let written = File::from(file).write_all(bytes);
        let placed = written.and_then(|()| Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?));
        if placed.is_err() {
            // The first error is the one to report.
            let _ = rustix::fs::unlinkat(&self.0, &temporary, AtFlags::empty());
        }
        placed.and_then(|()| self.trim(most))
    }

    fn trim(&self, most: u64) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_owned();
            // Another process may have removed it since.
            let Ok(stat) = rustix::fs::statat(&self.0, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                files.push((stat.st_mtime, stat.st_mtime_nsec, name, stat.st_size as u64));
            }
        }
        files.sort_unstable();
        let mut total: u64 = files.iter().map(|file| file.3).sum();
        for (_, _, name, size) in files {
            if total <= most {
                break;
            }
            rustix::fs::unlinkat(&self.0, &name, AtFlags::empty())?;
            total -= size;
        }
        Ok(())
    }
}

/// This user's directory among the temporary files of all users: `ironlaw-1000` or, where another user took that name,
/// one with a random ending. It is found again as long as it exists.
///
/// # Errors
/// As `mkdir(2)` and `open(2)`.
pub fn among_temporary(parent: &Path) -> io::Result<PathBuf> {
    let plain = format!("ironlaw-{}", rustix::process::geteuid().as_raw());
    let path = parent.join(&plain);
    if PrivateDir::open(&path).is_ok() {
        return Ok(path);
    }
    let start = format!("{plain}-");
    let names = fs::read_dir(parent)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut ours: Vec<_> = names.filter(|name| name.starts_with(&start)).map(|name| parent.join(name)).collect();
    ours.sort();
    if let Some(found) = ours.into_iter().find(|path| PrivateDir::existing(path).is_ok()) {
        return Ok(found);
    }
    let path = parent.join(format!("{start}{:016x}", RandomState::new().build_hasher().finish()));
    rustix::fs::mkdir(&path, Mode::RWXU)?;
    Ok(path)
}

/// Whether only we, or nobody, can write it and read it.
fn is_ours(stat: &Stat) -> bool {
    let others = Mode::RWXG | Mode::RWXO;
    stat.st_uid == rustix::process::geteuid().as_raw() && !Mode::from_raw_mode(stat.st_mode).intersects(others)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_nobody_else_can_read_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("above").join("dir");
        let dir = PrivateDir::open(&path).unwrap();
        assert!(dir.read("a").is_err());
        dir.write("a", b"one", 100).unwrap();
        dir.write("a", b"two", 100).unwrap();
        assert_eq!(PrivateDir::open(&path).unwrap().read("a").unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(path.join("a").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn what_others_could_have_written_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("dir");
        let dir = PrivateDir::open(&path).unwrap();
        dir.write("open", b"x", 100).unwrap();
        mode(&path.join("open"), 0o604);
        fs::write(temp.path().join("elsewhere"), b"x").unwrap();
        symlink("../elsewhere", path.join("link")).unwrap();
        fs::create_dir(path.join("folder")).unwrap();
        rustix::fs::mkfifoat(&dir.0, "fifo", Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["open", "link", "folder", "fifo", "none", "../elsewhere"] {
            assert!(dir.read(name).is_err(), "{name}");
        }
        mode(&path, 0o750);
        assert_eq!(PrivateDir::open(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        symlink(&path, temp.path().join("way")).unwrap();
        assert!(PrivateDir::open(&temp.path().join("way")).is_err(), "a link to a directory");
        assert!(PrivateDir::open(&temp.path().join("elsewhere")).is_err(), "a file");
        assert!(PrivateDir::open(Path::new("/proc/none/dir")).is_err(), "cannot be created");
    }

    #[test]
    fn a_name_that_another_user_took_locks_nobody_out() {
        let temp = tempfile::tempdir().unwrap();
        let plain = temp.path().join(format!("ironlaw-{}", rustix::process::geteuid().as_raw()));
        assert_eq!(among_temporary(temp.path()).unwrap(), plain);
        assert_eq!(among_temporary(temp.path()).unwrap(), plain, "it is used again");
        assert_eq!(plain.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let plants: [(&str, &dyn Fn()); 3] = [
            ("a directory that others can write", &|| {
                fs::create_dir(&plain).unwrap();
                mode(&plain, 0o777);
            }),
            ("a link", &|| symlink("/tmp", &plain).unwrap()),
            ("a file", &|| fs::write(&plain, "").unwrap()),
        ];
        fs::remove_dir(&plain).unwrap();
        let mut first = None;
        for (what, plant) in plants {
            plant();
            let found = among_temporary(temp.path()).unwrap();
            assert_ne!(found, plain, "{what}");
            assert_eq!(*first.get_or_insert(found.clone()), found, "{what}: it is used again");
            let removed = fs::remove_dir(&plain).or_else(|_| fs::remove_file(&plain));
            removed.unwrap();
        }
    }

    #[test]
    fn a_directory_of_another_user_holds_and_gets_nothing() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::chown(&home, Some(65534), None).unwrap();
        assert_eq!(PrivateDir::open(&home).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let below = home.join("a/b");
        assert_eq!(PrivateDir::open(&below).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert!(!home.join("a").exists(), "nothing is created there");
    }

    #[test]
    fn the_oldest_files_go_when_all_together_are_too_large() {
        let temp = tempfile::tempdir().unwrap();
        let dir = PrivateDir::open(&temp.path().join("dir")).unwrap();
        let pause = || std::thread::sleep(std::time::Duration::from_millis(20));
        for name in ["a", "b", "c"] {
            dir.write(name, &[0; 10], 30).unwrap();
            pause();
        }
        dir.read("a").unwrap();
        pause();
        dir.write("d", &[0; 15], 35).unwrap();
        let kept = ["a", "b", "c", "d"].map(|name| dir.read(name).is_ok());
        assert_eq!(kept, [true, false, true, true], "the one read since is younger than the one after it");
        dir.write("large", &[0; 50], 35).unwrap();
        assert_eq!(["a", "c", "d", "large"].map(|name| dir.read(name).is_ok()), [false; 4], "not even itself");
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_as_it_was() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("dir");
        let dir = PrivateDir::open(&path).unwrap();
        dir.write("a", b"one", 100).unwrap();
        fs::create_dir(path.join("folder")).unwrap();
        assert!(dir.write("folder", b"two", 100).is_err());
        assert_eq!(dir.read("a").unwrap(), b"one");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "no temporary file is left");
    }
}
