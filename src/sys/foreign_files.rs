//! Opens files that others own or name: never a device, a pipe or a socket, and never through a link that leads out of
//! the root of their process. A file is examined before it is opened, because opening a device has effects.

use crate::model::limits::FOREIGN_FILE;
use crate::model::{FileStamp, Identity};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat, major, minor};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

/// Links followed in one path, as in the kernel.
const MOST_LINKS: u32 = 40;

/// Folders entered by one path where the kernel does not resolve it; each is a descriptor.
const DEEPEST: usize = 128;

/// Attempts to resolve a path while others rename its folders.
const ATTEMPTS: u32 = 8;

/// Opens a regular file that the user named. A pipe, device or directory is refused without opening it.
///
/// # Errors
/// As `open(2)`; `InvalidInput` for anything but a regular file.
pub fn open_regular(path: &Path) -> io::Result<(File, FileStamp)> {
    reopen(&locate(path, OFlags::empty())?)
}

/// Opens a regular file that another user may have put in the place of a program or of its debug file.
///
/// # Errors
/// As for [`open_regular`], and for the kernel's own files, whose reading can have effects; `FileTooLarge` for more
/// bytes than programs have.
pub fn open_foreign(path: &Path) -> io::Result<(File, FileStamp)> {
    open_checked(path, OFlags::empty())
}

/// Opens a regular file in a directory anyone can write to. Links are refused as well: a link could make a privileged
/// reader read a file that its creator cannot.
///
/// # Errors
/// As for [`open_foreign`].
pub fn open_plain(path: &Path) -> io::Result<(File, FileStamp)> {
    open_checked(path, OFlags::NOFOLLOW)
}

/// Whether a file of this user may speak for those of others: it belongs to root or to us.
#[must_use]
pub fn is_believed(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

fn open_checked(path: &Path, flags: OFlags) -> io::Result<(File, FileStamp)> {
    let found = locate(path, flags)?;
    if is_of_kernel(&found.0)? {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a file of the kernel"));
    }
    let size = found.1.st_size;
    if size.cast_unsigned() > FOREIGN_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {size} bytes, more than any program")));
    }
    reopen(&found)
}

/// Finds a regular file without opening it.
fn locate(path: &Path, flags: OFlags) -> io::Result<(OwnedFd, Stat)> {
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    let found = match split_root(path) {
        Some((root, within)) => locate_within(root, within, flags)?,
        None => rustix::fs::open(path, flags, Mode::empty())?,
    };
    let stat = rustix::fs::fstat(&found)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        Ok((found, stat))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Opens for reading exactly the file that was found. Does not wait for a lease that another process holds.
fn reopen((found, stat): &(OwnedFd, Stat)) -> io::Result<(File, FileStamp)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    Ok((File::from(rustix::fs::open(itself, flags, Mode::empty())?), stamp_of(stat)))
}

pub(super) fn stamp_of(stat: &Stat) -> FileStamp {
    FileStamp {
        identity: Identity { major: major(stat.st_dev), minor: minor(stat.st_dev), inode: stat.st_ino },
        size: stat.st_size.cast_unsigned(),
        modified: (stat.st_mtime, stat.st_mtime_nsec),
        changed: (stat.st_ctime, stat.st_ctime_nsec),
        owner: stat.st_uid,
        believed: is_believed(stat.st_uid),
    }
}

/// Whether this machine's kernel alone serves the file: no process and no other machine, which may never answer.
pub(super) fn is_of_machine(file: &impl AsFd) -> io::Result<bool> {
    const SQUASHFS: i64 = 0x7371_7368;
    const RAMFS: i64 = 0x8584_58f6;
    const F2FS: i64 = 0xf2f5_2010;
    const EROFS: i64 = 0xe0f5_e1e2;
    const ZFS: i64 = 0x2fc1_2fc1;
    const BCACHEFS: i64 = 0xca45_1a4e;
    let known = [
        libc::EXT4_SUPER_MAGIC,
        libc::XFS_SUPER_MAGIC,
        libc::BTRFS_SUPER_MAGIC,
        libc::TMPFS_MAGIC,
        libc::OVERLAYFS_SUPER_MAGIC,
        libc::ISOFS_SUPER_MAGIC,
        libc::MSDOS_SUPER_MAGIC,
        libc::HUGETLBFS_MAGIC,
        SQUASHFS,
        RAMFS,
        F2FS,
        EROFS,
        ZFS,
        BCACHEFS,
    ];
    Ok(known.contains(&rustix::fs::fstatfs(file)?.f_type))
}

/// Whether the kernel makes the file's contents up as they are read. Reading some of them takes messages from others.
fn is_of_kernel(file: &OwnedFd) -> io::Result<bool> {
    let kind = rustix::fs::fstatfs(file)?.f_type;
    let known = [
        libc::PROC_SUPER_MAGIC,
        libc::SYSFS_MAGIC,
        libc::DEBUGFS_MAGIC,
        libc::TRACEFS_MAGIC,
        libc::SECURITYFS_MAGIC,
        libc::SELINUX_MAGIC,
        libc::CGROUP_SUPER_MAGIC,
        libc::CGROUP2_SUPER_MAGIC,
        libc::BPF_FS_MAGIC,
        libc::RDTGROUP_SUPER_MAGIC,
    ];
    Ok(known.contains(&kind))
}

/// Splits a path below the root of a process, `/proc/41/root/usr/bin/x`, into that root and the path that the process
/// itself would use.
fn split_root(path: &Path) -> Option<(&Path, &Path)> {
    let above: Vec<&Path> = path.ancestors().collect();
    let is_root = |path: &&&Path| {
        let mut names = path.components().rev().map(Component::as_os_str);
        let is_pid = |name: &OsStr| !name.is_empty() && name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        names.next().is_some_and(|name| name == "root")
            && names.next().is_some_and(is_pid)
            && names.next().is_some_and(|name| name == "proc")
    };
    let root = above.iter().rev().find(is_root)?;
    Some((root, path.strip_prefix(root).ok()?))
}

/// Finds a file as a process with this root would: absolute links and `..` stay inside.
fn locate_within(root: &Path, within: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for _ in 0..ATTEMPTS {
        match resolve(root.as_fd(), within, flags) {
            Err(Errno::AGAIN) => {}
            // The kernel is older than 5.6, or a sandbox hides the call.
            Err(Errno::NOSYS | Errno::PERM) => break,
            found => return Ok(found?),
        }
    }
    Ok(walk(root.as_fd(), within, flags)?)
}

fn resolve(root: BorrowedFd<'_>, within: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, within, flags, Mode::empty(), inside)
}

/// Does what [`resolve`] does, name by name.
fn walk(root: BorrowedFd<'_>, within: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut entered: Vec<OwnedFd> = Vec::new();
    let mut names: Vec<OsString> = reversed(within);
    let mut links = 0;
    while let Some(name) = names.pop() {
        if name == ".." {
            entered.pop();
            continue;
        }
        let folder = entered.last().map_or(root, OwnedFd::as_fd);
        let found = rustix::fs::openat(folder, &name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        let is_last = names.is_empty();
        match FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode) {
            FileType::Symlink if is_last && flags.contains(OFlags::NOFOLLOW) => return Ok(found),
            FileType::Symlink => {
                links += 1;
                // A link in /proc may lead anywhere, whatever it reads.
                if links > MOST_LINKS || is_of_kernel(&found).unwrap_or(true) {
                    return Err(Errno::LOOP);
                }
                let target = rustix::fs::readlinkat(&found, "", Vec::new())?.into_bytes();
                let target = OsString::from_vec(target);
                if Path::new(&target).is_absolute() {
                    entered.clear();
                }
                names.extend(reversed(Path::new(&target)));
            }
            FileType::Directory if entered.len() >= DEEPEST => return Err(Errno::NAMETOOLONG),
            kind if kind != FileType::Directory && !is_last => return Err(Errno::NOTDIR),
            _ => entered.push(found),
        }
    }
    entered.pop().ok_or(Errno::ISDIR)
}

/// The names of a path, the last one first.
fn reversed(path: &Path) -> Vec<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().rev().filter_map(named).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::{create_dir, create_dir_all, write};
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A process with the root `proc/41/root` below the folder.
    fn process(folder: &Path) -> PathBuf {
        let root = folder.join("proc/41/root");
        create_dir_all(root.join("tmp")).unwrap();
        root
    }

    #[test]
    fn a_path_below_a_process_is_split_at_its_first_root() {
        let rows = [
            ("/proc/41/root/usr/bin/x", Some(("/proc/41/root", "usr/bin/x"))),
            ("/proc/41/root", Some(("/proc/41/root", ""))),
            ("/proc/41/root/proc/7/root/x", Some(("/proc/41/root", "proc/7/root/x"))),
            ("/a/proc/4/root/x", Some(("/a/proc/4/root", "x"))),
            ("/proc/self/root/x", None),
            ("/proc/41/map_files/1-2", None),
            ("/home/41/root/x", None),
            ("/root/x", None),
        ];
        for (path, expected) in rows {
            let expected = expected.map(|(root, within)| (Path::new(root), Path::new(within)));
            assert_eq!(split_root(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn a_link_inside_a_root_stays_inside() {
        let folder = tempfile::tempdir().unwrap();
        let root = process(folder.path());
        write(folder.path().join("secret"), "of the host").unwrap();
        write(root.join("own"), "own").unwrap();
        let host = folder.path().join("secret");
        for (name, target) in [
            ("absolute", host.as_path()),
            ("upward", Path::new("../../../secret")),
            ("magic", Path::new("/proc/self/root/etc/passwd")),
        ] {
            symlink(target, root.join(name)).unwrap();
            assert!(open_regular(&root.join(name)).is_err(), "{name}");
            assert!(open_foreign(&root.join(name)).is_err(), "{name}");
        }
        symlink("/own", root.join("inward")).unwrap();
        symlink("../../own", root.join("tmp/clamped")).unwrap();
        for name in ["own", "inward", "tmp/clamped", "../../../own"] {
            let mut text = String::new();
            open_foreign(&root.join(name)).unwrap().0.read_to_string(&mut text).unwrap();
            assert_eq!(text, "own", "{name}");
        }
        assert!(open_plain(&root.join("inward")).is_err(), "a link at the end");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_never_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), Mode::RUSR).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        symlink("/dev/null", at("device")).unwrap();
        for path in [at("fifo"), at("socket"), at("device"), at("."), "/dev/null".into()] {
            for error in [open_regular(&path).err(), open_foreign(&path).err(), open_plain(&path).err()] {
                assert_eq!(error.unwrap().kind(), io::ErrorKind::InvalidInput, "{}", path.display());
            }
        }
        symlink("/proc/self/status", at("link")).unwrap();
        assert!(open_plain(&at("link")).is_err(), "a link");
    }

    #[test]
    fn files_of_the_kernel_are_read_only_where_the_user_names_them() {
        for path in ["/proc/self/status", "/sys/kernel/notes"].map(Path::new).into_iter().filter(|path| path.exists()) {
            assert!(open_regular(path).is_ok(), "{}", path.display());
            assert!(open_foreign(path).is_err() && open_plain(path).is_err(), "{}", path.display());
        }
    }

    #[test]
    fn a_file_with_a_hole_is_refused_once_it_is_larger_than_any_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hole");
        let file = File::create(&path).unwrap();
        for (length, opens) in [(FOREIGN_FILE, true), (FOREIGN_FILE + 1, false), (4 << 40, false)] {
            file.set_len(length).unwrap();
            assert_eq!(open_foreign(&path).is_ok(), opens, "{length} bytes");
            assert_eq!(open_plain(&path).is_ok(), opens, "{length} bytes");
        }
    }

    /// A name in a random folder: what is there, and where a link leads.
    fn entry() -> impl Strategy<Value = (u8, Vec<usize>, bool)> {
        (0u8..4, prop::collection::vec(0usize..4, 1..4), any::<bool>())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn walking_finds_the_same_file_as_the_kernel(
            entries in prop::collection::vec(entry(), 12..13),
            paths in prop::collection::vec(prop::collection::vec(0usize..4, 1..5), 1..9),
            no_follow in any::<bool>(),
        ) {
            const NAMES: [&str; 4] = ["a", "b", "c", ".."];
            let folder = tempfile::tempdir().unwrap();
            let path = |parts: &[usize]| parts.iter().map(|part| NAMES[*part]).collect::<PathBuf>();
            let mut places = vec![folder.path().to_path_buf()];
            for (nth, (kind, target, absolute)) in entries.iter().enumerate() {
                let Some(place) = places.get(nth / 3).map(|place| place.join(NAMES[nth % 3])) else { break };
                match kind {
                    0 => write(&place, "").unwrap(),
                    1 => symlink(if *absolute { Path::new("/").join(path(target)) } else { path(target) }, &place).unwrap(),
                    _ => { create_dir(&place).unwrap(); places.push(place); }
                }
            }
            let root = File::open(folder.path()).unwrap();
            let flags = OFlags::PATH | OFlags::CLOEXEC | if no_follow { OFlags::NOFOLLOW } else { OFlags::empty() };
            let inode = |found: Result<OwnedFd, Errno>| found.ok().map(|file| rustix::fs::fstat(file).unwrap().st_ino);
            for within in paths.iter().map(|parts| path(parts)) {
                let (there, walked) = (resolve(root.as_fd(), &within, flags), walk(root.as_fd(), &within, flags));
                if !matches!(there, Err(Errno::NOSYS | Errno::PERM)) {
                    let there = inode(there).filter(|inode| *inode != rustix::fs::fstat(&root).unwrap().st_ino);
                    prop_assert_eq!(inode(walked), there, "{}", within.display());
                }
            }
        }
    }
}
