//! Carries out one look-up. Any of these calls may take as long as another process wants.

use super::wire::{Found, LookUp};
use crate::model::limits::COPIED_FILE;
use crate::model::{FileStamp, Identity};
use crate::sys::{foreign_files, process_memory};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The user of a task; `None` if it does not exist. Waits for nobody.
pub(super) fn user_of(root: &Path, task: u32) -> Option<u32> {
    fs::metadata(root.join(task.to_string())).ok().map(|about| about.uid())
}

/// What is found below `root`, normally `/proc`, and the file that belongs to it.
pub(super) fn perform(root: &Path, task: u32, look_up: &LookUp) -> (Found, Option<OwnedFd>) {
    let own = root.join(task.to_string());
    let found = match look_up {
        LookUp::Read { file, most } => start_of(&own.join(file), *most).map(Found::Bytes),
        LookUp::Numbers { folder } => numbers(&own.join(folder)).map(Found::Numbers),
        LookUp::Link { link } => {
            fs::read_link(own.join(link)).map(|path| Found::Bytes(path.into_os_string().into_vec()))
        }
        LookUp::IsFifo { file } => {
            fs::metadata(own.join(file)).map(|about| Found::Numbers(vec![u32::from(about.file_type().is_fifo())]))
        }
        LookUp::Memory { address, length } => {
            let mut bytes = vec![0; *length as usize];
            process_memory::read(task, *address, &mut bytes).map(|read| {
                bytes.truncate(read);
                Found::Bytes(bytes)
            })
        }
        LookUp::Mapped { path, start, end, identity } => {
            return file_of(mapped(&own, path, (*start, *end), *identity));
        }
        LookUp::Open { path, follow } => {
            let open = if *follow { foreign_files::open_foreign } else { foreign_files::open_plain };
            let opened = open(path).and_then(|(file, stamp)| Ok((readable(file, stamp.size, &own)?, stamp, true)));
            return file_of(opened);
        }
    };
    (found.unwrap_or_else(|error| nothing(&error)), None)
}

fn file_of(opened: io::Result<(File, FileStamp, bool)>) -> (Found, Option<OwnedFd>) {
    match opened {
        Ok((file, stamp, below_its_root)) => (Found::File { stamp, below_its_root }, Some(file.into())),
        Err(error) => (nothing(&error), None),
    }
}

fn nothing(error: &io::Error) -> Found {
    Found::Nothing(error.raw_os_error().unwrap_or(libc::EIO))
}

fn start_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn numbers(folder: &Path) -> io::Result<Vec<u32>> {
    // A process that ends meanwhile stops the listing; the entries until then are kept.
    let entries = fs::read_dir(folder)?.map_while(Result::ok);
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Opens the very file, which needs privilege, else the one of its name in the process's own root, else in ours in
/// case the process is gone. A different inode number means a different file, except that layered file systems may
/// number their files anew: for them, whatever lies at those addresses is the last resort.
fn mapped(own: &Path, path: &str, (start, end): (u64, u64), identity: Identity) -> io::Result<(File, FileStamp, bool)> {
    let theirs = own.join("root");
    let itself = own.join("map_files").join(format!("{start:x}-{end:x}"));
    let very = open_if(&itself, |stamp| stamp.identity.inode == identity.inode);
    let wanted = very.as_ref().map_or(identity, |(_, stamp)| stamp.identity);
    let mut opened = very.map(|(file, stamp)| (file, stamp, true));
    for (root, is_theirs) in [(theirs.as_path(), true), (Path::new("/"), false)] {
        let named = root.join(path.trim_start_matches('/'));
        if let Some((file, stamp)) = open_if(&named, |stamp| is_mapped(stamp, wanted)) {
            let (file, stamp, _) = opened.unwrap_or((file, stamp, is_theirs));
            opened = Some((file, stamp, is_theirs));
            break;
        }
    }
    let last = || open_if(&itself, |_| true).map(|(file, stamp)| (file, stamp, true));
    let (file, stamp, is_theirs) = opened.or_else(last).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
    Ok((readable(file, stamp.size, own)?, stamp, is_theirs))
}

/// The file, or a copy of it where its reader may have to wait for a process or another machine.
fn readable(file: File, size: u64, own: &Path) -> io::Result<File> {
    if foreign_files::is_of_machine(&file)? && has_our_users(own) { Ok(file) } else { copied(&file, size) }
}

fn open_if(path: &Path, right: impl FnOnce(&FileStamp) -> bool) -> Option<(File, FileStamp)> {
    foreign_files::open_foreign(path).ok().filter(|(_, stamp)| right(stamp))
}

/// Whether a file of the mapping's name is the mapped one. Layered file systems give it another device in the list of
/// mappings. Then only root and we are believed: another user can lay a file with the same inode number at that name.
fn is_mapped(found: &FileStamp, mapped: Identity) -> bool {
    found.identity == mapped || (found.identity.inode == mapped.inode && found.believed)
}

/// Whether a process, if it exists, is in our user namespace: in another one, an ordinary user may mount what others then
/// read.
fn has_our_users(own: &Path) -> bool {
    let namespace = |path: &Path| fs::read_link(path).ok();
    let theirs = namespace(&own.join("ns/user"));
    theirs.is_none_or(|theirs| Some(theirs) == namespace(Path::new("/proc/self/ns/user")))
}

/// A copy in memory of a file that another process serves: whoever reads the copy waits for nobody.
fn copied(file: &File, size: u64) -> io::Result<File> {
    if size > COPIED_FILE {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let mut copy = File::from(memfd_create("copy", MemfdFlags::CLOEXEC)?);
    io::copy(&mut file.take(size), &mut copy)?;
    Ok(copy)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::id;

    fn here(look_up: &LookUp) -> Found {
        perform(Path::new("/proc"), id(), look_up).0
    }

    #[test]
    fn what_is_looked_up_is_found_or_the_kernels_error_says_why_not() {
        let read = |file: &str, most| here(&LookUp::Read { file: file.into(), most });
        let Found::Bytes(stat) = read("stat", 4096) else { panic!("no stat") };
        assert!(stat.starts_with(format!("{} (", id()).as_bytes()));
        assert_eq!(read("stat", 2), Found::Bytes(stat[..2].to_vec()));
        assert_eq!(read("nothing", 9), Found::Nothing(libc::ENOENT));
        let Found::Numbers(threads) = here(&LookUp::Numbers { folder: "task".into() }) else { panic!("no threads") };
        assert!(threads.contains(&id()));
        let exe = std::env::current_exe().unwrap().into_os_string().into_vec();
        assert_eq!(here(&LookUp::Link { link: "exe".into() }), Found::Bytes(exe));
        let memory = *b"some bytes";
        let address = memory.as_ptr() as u64;
        assert_eq!(here(&LookUp::Memory { address, length: 10 }), Found::Bytes(memory.to_vec()));
        assert_eq!(here(&LookUp::Memory { address: 8, length: 10 }), Found::Nothing(libc::EFAULT));
        assert_eq!(user_of(Path::new("/proc"), id()), Some(rustix::process::geteuid().as_raw()));
        assert_eq!(user_of(Path::new("/proc"), u32::MAX), None);
    }

    #[test]
    fn a_file_laid_at_the_name_of_a_mapped_one_is_not_believed() {
        const MAPPED: Identity = Identity { major: 8, minor: 1, inode: 555 };
        let rows = [
            (MAPPED, false, true),
            (Identity { minor: 2, ..MAPPED }, true, true),
            (Identity { minor: 2, ..MAPPED }, false, false),
            (Identity { inode: 5, ..MAPPED }, true, false),
        ];
        for (identity, believed, expected) in rows {
            let found = FileStamp { identity, size: 9, modified: (1, 2), changed: (3, 4), owner: 7, believed };
            assert_eq!(is_mapped(&found, MAPPED), expected, "{found:?}");
        }
    }

    #[test]
    fn a_copy_has_what_the_file_had_and_is_none_of_a_file_that_is_too_large() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"whole").unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut text = String::new();
        let mut copy = copied(&file, 5).unwrap();
        io::Seek::rewind(&mut copy).unwrap();
        copy.read_to_string(&mut text).unwrap();
        assert_eq!(text, "whole");
        assert!(copied(&file, COPIED_FILE + 1).is_err());
    }
}
