//! Finds the debug information of a stripped file by build-id, by its debug link, and by the debug file's own link.
//! A file must match by build-id or checksum, not only by name.

use super::dwarf::{SplitFiles, cached, open};
use super::elf::{Attached, Image};
use super::files::{Files, Options};
use crate::model::limits::CHECKED_DEBUG_FILE;
use crate::model::{BuildId, FileStamp, ObjectFile};
use object::Object;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The separate debug file of an image; `None` if there is none, or if the image contains its own debug information.
pub(super) fn debug_file(
    image: &Image,
    file: &ObjectFile,
    path: &str,
    root: &Path,
    options: &Options,
    files: &dyn Files,
) -> Option<Attached> {
    let place = Place { path: Path::new(path), root, of: file.stamp(), options, files };
    if image.has_debug() {
        let link = place.supplement(&inside(root, place.path), file)?;
        return Some(Attached { file: None, supplement: link.file, missing: link.missing });
    }
    let fetched = || Some((PathBuf::new(), place.fetched(image.build_id())?));
    let (path, found) = place.by_build_id(image.build_id()).or_else(|| place.by_link(file)).or_else(fetched)?;
    let link = place.supplement(&path, &found).unwrap_or_default();
    Some(Attached { file: Some(found), supplement: link.file, missing: link.missing })
}

/// What a debug file leaves to the file that dwz moved common parts of several to.
#[derive(Default)]
struct Supplement {
    file: Option<ObjectFile>,
    /// Its name, if it is not here.
    missing: Option<String>,
}

/// Where the files are looked for that debug information of a program is split into.
pub(super) struct SplitPlace {
    path: PathBuf,
    root: PathBuf,
    of: Option<FileStamp>,
    options: Options,
}

impl SplitPlace {
    pub(super) fn new(path: &str, root: &Path, of: Option<FileStamp>, options: &Options) -> SplitPlace {
        SplitPlace { path: path.into(), root: root.to_path_buf(), of, options: options.clone() }
    }

    fn place<'a>(&'a self, files: &'a dyn Files) -> Place<'a> {
        Place { path: &self.path, root: &self.root, of: self.of, options: &self.options, files }
    }
}

impl SplitFiles for SplitPlace {
    /// The package of all units: `PROGRAM.dwp` beside the program, or where its debug file would be.
    fn package(&self, files: &dyn Files) -> Option<ObjectFile> {
        let place = self.place(files);
        let mut name = self.path.file_name()?.to_os_string();
        name.push(".dwp");
        let path = self.path.with_file_name(name);
        let debug = place.directories().map(|dir| inside(&dir, &path)).collect::<Vec<_>>();
        std::iter::once(inside(&self.root, &path)).chain(debug).find_map(|path| place.open(&path))
    }

    /// The file of a unit: where the compiler wrote it, in the target's view, or beside the program.
    fn unit(&self, dir: &str, name: &str, files: &dyn Files) -> Option<ObjectFile> {
        let (place, written) = (self.place(files), Path::new(dir).join(name));
        let beside = self.path.with_file_name(Path::new(name).file_name()?);
        [written, beside].iter().find_map(|path| place.open(&inside(&self.root, path)))
    }
}

struct Place<'a> {
    path: &'a Path,
    root: &'a Path,
    /// The file whose debug information is looked for.
    of: Option<FileStamp>,
    options: &'a Options,
    files: &'a dyn Files,
}

impl Place<'_> {
    /// The target's file system comes first, because a container has its own debug files.
    fn directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let within = self.options.debug_dirs.iter().map(|dir| inside(self.root, dir));
        within.chain(self.options.debug_dirs.iter().cloned())
    }

    /// Opens a file, if it may say something about the other: it belongs to the same user, or to root or us. A process
    /// can lay its own file at any path of its own view of the file system.
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        let same_owner = |found: FileStamp| self.of.is_some_and(|of| of.owner == found.owner);
        self.files.open(path).filter(|found| found.stamp().is_none_or(|stamp| stamp.believed || same_owner(stamp)))
    }

    /// The first of these files that fits.
    fn first(
        &self,
        paths: impl Iterator<Item = PathBuf>,
        fits: impl Fn(&ObjectFile) -> bool,
    ) -> Option<(PathBuf, ObjectFile)> {
        paths.filter_map(|path| self.open(&path).map(|file| (path, file))).find(|(_, file)| fits(file))
    }

    fn by_build_id(&self, id: Option<&BuildId>) -> Option<(PathBuf, ObjectFile)> {
        let id = id?;
        let name = build_id_path(id)?;
        self.first(self.directories().map(|dir| dir.join(&name)), |file| same_build(file, id))
    }

    fn fetched(&self, id: Option<&BuildId>) -> Option<ObjectFile> {
        let id = id?;
        self.files.fetch(id).filter(|file| same_build(file, id))
    }

    fn by_link(&self, file: &ObjectFile) -> Option<(PathBuf, ObjectFile)> {
        let cache = cached(file);
        let file = open(&cache).ok()?;
        let (name, checksum) = file.gnu_debuglink().ok()??;
        let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
        let dir = inside(self.root, self.path.parent()?);
        let beside = [dir.join(name), dir.join(".debug").join(name)];
        let global =
            self.directories().map(|debug| inside(&debug, self.path.parent().unwrap_or(Path::new("/"))).join(name));
        self.first(beside.into_iter().chain(global), |found| checksum_of(found) == Some(checksum))
    }

    /// The supplementary file that dwz created, found by build-id or by its recorded path, which counts from the debug
    /// file; `None` if that refers to none.
    fn supplement(&self, path: &Path, debug: &ObjectFile) -> Option<Supplement> {
        let cache = cached(debug);
        let file = open(&cache).ok()?;
        let (name, id) = file.gnu_debugaltlink().ok()??;
        let id = BuildId(id.to_vec());
        let name = Path::new(std::str::from_utf8(name).ok()?);
        let beside = path.parent().map(|dir| if name.is_absolute() { inside(self.root, name) } else { dir.join(name) });
        let below = name.strip_prefix("/usr/lib/debug").unwrap_or(name);
        let named = || beside.into_iter().chain(self.directories().map(|dir| dir.join(below)));
        let found = self.by_build_id(Some(&id)).or_else(|| self.first(named(), |file| same_build(file, &id)));
        let file = found.map(|(_, file)| file).or_else(|| self.fetched(Some(&id)));
        let shown = || name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(Supplement { missing: file.is_none().then(shown), file })
    }
}

/// The checksum of a file; `None` for one that is no debug file by its size.
fn checksum_of(file: &ObjectFile) -> Option<u32> {
    if file.length() > CHECKED_DEBUG_FILE {
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
    use crate::error::{Error, ErrorKind, Result};
    use crate::symbols::FileTail;
    use crate::symbols::tests::stamp;

    #[test]
    fn a_build_id_names_its_debug_file() {
        assert_eq!(build_id_path(&BuildId(vec![0xab, 0xcd, 0xef])), Some(PathBuf::from(".build-id/ab/cdef.debug")));
        assert_eq!(build_id_path(&BuildId(vec![0xab])), None);
    }

    /// Every path is a file of this owner.
    struct Owned(FileStamp);

    impl Files for Owned {
        fn open(&self, _: &Path) -> Option<ObjectFile> {
            Some(ObjectFile::new(*b"debug").stamped(self.0))
        }

        fn text(&self, _: &Path) -> Result<String> {
            Err(Error::new(ErrorKind::NotFound, "no file"))
        }

        fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
            None
        }

        fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
            None
        }
    }

    #[test]
    fn a_debug_file_is_believed_from_the_owner_of_the_program_and_from_root() {
        let rows = [
            (stamp(5, 1000, false), Some(1000), true),
            (stamp(5, 1000, false), Some(0), false),
            (stamp(5, 1000, false), None, false),
            (stamp(5, 0, true), Some(1000), true),
        ];
        for (debug, owner, expected) in rows {
            let (options, files) = (Options::default(), Owned(debug));
            let of = owner.map(|owner| stamp(7, owner, false));
            let place = Place { path: Path::new("/bin/x"), root: Path::new("/"), of, options: &options, files: &files };
            assert_eq!(place.open(Path::new("/x.debug")).is_some(), expected, "{debug:?} for {owner:?}");
        }
    }

    #[test]
    fn a_path_never_leaves_the_root_it_is_put_in() {
        assert_eq!(inside(Path::new("/proc/4/root"), Path::new("/usr/bin")), PathBuf::from("/proc/4/root/usr/bin"));
    }
}
