//! Finds the debug information of a stripped file by build-id, by its debug link, and by the debug file's own link.
//! A file must match by build-id or checksum, not only by name.

use super::dwarf::{cached, open};
use super::elf::{Attached, Image};
use super::files::{Files, Options};
use crate::model::{BuildId, ObjectFile};
use object::Object;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A debug file named by its checksum is read whole to check it. Larger ones are found by build-id.
const LARGEST_CHECKED: u64 = 1 << 30;

/// The separate debug file of an image; `None` if there is none, or if the image contains its own debug information.
pub(super) fn debug_file(
    image: &Image,
    file: &ObjectFile,
    path: &str,
    root: &Path,
    options: &Options,
    files: &dyn Files,
) -> Option<Attached> {
    if image.has_debug() {
        return None;
    }
    let place = Place { path: Path::new(path), root, options, files };
    let found = place
        .by_build_id(image.build_id())
        .or_else(|| place.by_link(file))
        .or_else(|| place.fetched(image.build_id()))?;
    let supplement = place.supplement(&found);
    Some(Attached { file: found, supplement })
}

struct Place<'a> {
    path: &'a Path,
    root: &'a Path,
    options: &'a Options,
    files: &'a dyn Files,
}

impl Place<'_> {
    /// The target's file system comes first, because a container has its own debug files.
    fn directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let within = self.options.debug_dirs.iter().map(|dir| inside(self.root, dir));
        within.chain(self.options.debug_dirs.iter().cloned())
    }

    fn by_build_id(&self, id: Option<&BuildId>) -> Option<ObjectFile> {
        let id = id?;
        let name = build_id_path(id)?;
        self.directories().filter_map(|dir| self.files.open(&dir.join(&name))).find(|file| same_build(file, id))
    }

    fn fetched(&self, id: Option<&BuildId>) -> Option<ObjectFile> {
        let id = id?;
        self.files.fetch(id).filter(|file| same_build(file, id))
    }

    fn by_link(&self, file: &ObjectFile) -> Option<ObjectFile> {
        let cache = cached(file);
        let file = open(&cache).ok()?;
        let (name, checksum) = file.gnu_debuglink().ok()??;
        let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
        let dir = inside(self.root, self.path.parent()?);
        let beside = [dir.join(name), dir.join(".debug").join(name)];
        let global =
            self.directories().map(|debug| inside(&debug, self.path.parent().unwrap_or(Path::new("/"))).join(name));
        beside
            .into_iter()
            .chain(global)
            .filter_map(|path| self.files.open(&path))
            .find(|found| checksum_of(found) == Some(checksum))
    }

    /// The supplementary file that dwz created, found by build-id (its recorded path seldom helps).
    fn supplement(&self, debug: &ObjectFile) -> Option<ObjectFile> {
        let cache = cached(debug);
        let file = open(&cache).ok()?;
        let (name, id) = file.gnu_debugaltlink().ok()??;
        let id = BuildId(id.to_vec());
        let named = Path::new(std::str::from_utf8(name).ok()?);
        let named = self.directories().map(|dir| dir.join(named.strip_prefix("/usr/lib/debug").unwrap_or(named)));
        let named = named.filter_map(|path| self.files.open(&path)).find(|file| same_build(file, &id));
        self.by_build_id(Some(&id)).or(named)
    }
}

/// The checksum of a file; `None` for one that is no debug file by its size.
fn checksum_of(file: &ObjectFile) -> Option<u32> {
    if file.length() > LARGEST_CHECKED {
        return None;
    }
    let (mut reader, mut hasher, mut buffer) = (file.reader(), crc32fast::Hasher::new(), vec![0; 64 << 10]);
    loop {
        match reader.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize()),
            read => hasher.update(buffer.get(..read)?),
        }
    }
}

fn same_build(file: &ObjectFile, id: &BuildId) -> bool {
    open(&cached(file)).is_ok_and(|file| file.build_id().ok().flatten() == Some(&id.0))
}

/// `.build-id/ab/cdef.debug`.
fn build_id_path(id: &BuildId) -> Option<PathBuf> {
    let hex = id.to_string();
    let (first, rest) = hex.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    Some(Path::new(".build-id").join(first).join(format!("{rest}.debug")))
}

/// Maps an absolute path into another root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_names_its_debug_file() {
        assert_eq!(build_id_path(&BuildId(vec![0xab, 0xcd, 0xef])), Some(PathBuf::from(".build-id/ab/cdef.debug")));
        assert_eq!(build_id_path(&BuildId(vec![0xab])), None);
    }

    #[test]
    fn a_path_never_leaves_the_root_it_is_put_in() {
        assert_eq!(inside(Path::new("/proc/4/root"), Path::new("/usr/bin")), PathBuf::from("/proc/4/root/usr/bin"));
    }
}
