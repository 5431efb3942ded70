//! A directory of files that only their user reads and writes: read without following links, written atomically, and
//! bounded by removing the oldest.

use super::files;
use crate::model::Bytes;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// The open directory.
#[derive(Debug)]
pub struct PrivateDir(OwnedFd);

impl PrivateDir {
    /// Opens the directory; creates it, and what is above it, if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` if it is not ours alone; otherwise as `mkdir(2)` and `open(2)`.
    pub fn open(path: &Path) -> io::Result<PrivateDir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::open(path, flags, Mode::empty());
        let dir = match open() {
            Err(Errno::NOENT) => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                match rustix::fs::mkdir(path, Mode::RWXU) {
                    Err(Errno::EXIST) | Ok(()) => open()?,
                    Err(error) => return Err(error.into()),
                }
            }
            opened => opened?,
        };
        if is_ours(&rustix::fs::fstat(&dir)?) {
            Ok(PrivateDir(dir))
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    /// The bytes of a file, which becomes the newest.
    ///
    /// # Errors
    /// As `openat(2)`; `PermissionDenied` for a link, anything but a regular file, or a file that is not ours alone.
    pub fn read(&self, name: &str) -> io::Result<Bytes> {
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
        files::map(&File::from(file)).map_err(io::Error::other)
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
        assert_eq!((*PrivateDir::open(&path).unwrap().read("a").unwrap()).as_ref(), b"two");
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
        assert_eq!((*dir.read("a").unwrap()).as_ref(), b"one");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "no temporary file is left");
    }
}
