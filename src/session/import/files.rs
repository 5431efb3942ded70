//! Selects the files of this machine that may stand in for the recorded machine's. A matching name is not enough: the
//! file must have the same build-id, or the same inode on the same machine.

use super::super::naming::{FileSource, HostFiles, List};
use crate::collect::sampler;
use crate::model::{BuildId, FileStamp, HostFacts, ObjectFile};
use crate::symbols::FileTail;
use crate::sys::files;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The local files that an import may use.
#[derive(Debug, Clone)]
pub(in crate::session) struct LocalFiles {
    /// The root of all lookups: the recorded machine's files, or `/`.
    pub root: PathBuf,
    /// Whether the user gave `root` and thereby vouches for its files.
    pub vouched: bool,
    /// Whether the file was recorded on this machine with the running kernel.
    pub same: bool,
}

/// The file to look up.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Wanted<'a> {
    pub path: &'a str,
    pub build_id: Option<&'a BuildId>,
    pub inode: Option<u64>,
}

impl LocalFiles {
    pub(in crate::session) fn new(symfs: Option<&Path>, recorded: &HostFacts, here: &HostFacts) -> LocalFiles {
        let same =
            !recorded.hostname.is_empty() && recorded.hostname == here.hostname && recorded.kernel == here.kernel;
        let (root, vouched) = (symfs.unwrap_or(Path::new("/")).to_path_buf(), symfs.is_some());
        LocalFiles { root, vouched, same }
    }

    /// The file, if an identical one exists here.
    pub(in crate::session) fn find(&self, wanted: &Wanted<'_>) -> Option<ObjectFile> {
        let named = self.root.join(wanted.path.trim_start_matches('/'));
        let by_name = self.open(&named).filter(|(file, inode)| self.fits(file, *inode, wanted));
        by_name.map(|(file, _)| file).or_else(|| self.cached(wanted.build_id?))
    }

    /// Whether JIT maps and dumps may be used: only on the machine that wrote them, or if the user vouches for them.
    pub(super) fn trusts_runtimes(&self) -> bool {
        self.same || self.vouched
    }

    fn fits(&self, file: &ObjectFile, inode: u64, wanted: &Wanted<'_>) -> bool {
        match (wanted.build_id, wanted.inode) {
            (Some(id), _) => build_id(file).as_ref() == Some(id),
            // Inode numbers differ under another root.
            _ if self.vouched => true,
            (None, Some(known)) => self.same && inode == known,
            (None, None) => self.same,
        }
    }

    fn open(&self, path: &Path) -> Option<(ObjectFile, u64)> {
        let (file, stamp) = files::open_foreign(path).ok()?;
        Some((files::object(file).ok()?, stamp.identity.inode))
    }

    /// perf caches recorded files by build-id below the user's home.
    fn cached(&self, id: &BuildId) -> Option<ObjectFile> {
        let hex = id.to_string();
        let (first, rest) = hex.split_at_checked(2)?;
        let home = std::env::var_os("HOME")?;
        let path = PathBuf::from(home).join(".debug/.build-id").join(first).join(rest).join("elf");
        self.open(&path).map(|(file, _)| file).filter(|file| build_id(file).as_ref() == Some(id))
    }
}

/// The build-id of a file.
pub(super) fn build_id(file: &ObjectFile) -> Option<BuildId> {
    sampler::build_id(file)?.filter(|id| !id.0.is_empty())
}

/// The files that the symbolizer may read: debug files, which it checks itself, and stand-ins for the recorded machine.
#[derive(Debug)]
pub(super) struct Recorded {
    pub host: HostFiles,
    pub local: LocalFiles,
    /// The kernel's symbols.
    pub kallsyms: Option<Arc<str>>,
    /// Path of each process's mapped jitdump.
    pub dumps: FxHashMap<u32, String>,
}

impl FileSource for Recorded {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        let file = self.host.open(path)?;
        Some(match file.stamp().filter(|_| self.local.vouched) {
            Some(stamp) => file.stamped(FileStamp { believed: true, ..stamp }),
            None => file,
        })
    }

    /// Serves only the recorded parts of /proc: the processes that now have these ids are different ones.
    fn list(&self, path: &Path) -> Option<List> {
        let text = match path.strip_prefix("/proc").unwrap_or(path).to_str()? {
            "kallsyms" => self.kallsyms.as_deref()?,
            other => self.dumps.get(&other.strip_suffix("/maps")?.parse().ok()?)?,
        };
        Some(List::Text(text.as_bytes().to_vec()))
    }

    fn stored(&self, name: &str) -> Option<(File, u64)> {
        self.host.stored(name)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.host.store(name, bytes);
    }

    fn fetch(&self, id: &BuildId) -> Option<ObjectFile> {
        self.host.fetch(id)
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let ours = self.local.same && !self.local.vouched;
        let allowed = ours || self.local.vouched && path.starts_with(&self.local.root);
        let tail = if allowed { self.host.grown(path, from)? } else { return None };
        Some(FileTail { stamp: tail.stamp.filter(|_| ours), ..tail })
    }
}

/// The inode of a file, for tests.
#[cfg(test)]
fn inode(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|file| std::os::unix::fs::MetadataExt::ino(&file))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn local(same: bool, vouched: bool) -> LocalFiles {
        LocalFiles { root: "/".into(), vouched, same }
    }

    #[test]
    fn only_a_file_of_the_same_build_or_of_this_machine_speaks_for_the_recorded_one() {
        let own = std::env::current_exe().unwrap();
        let path = own.to_str().unwrap();
        let (file, _) = local(true, false).open(&own).unwrap();
        let (build, other) = (build_id(&file), BuildId(vec![1; 20]));
        let inode = inode(&own);
        let found = |same, vouched, build_id: Option<&BuildId>, inode| {
            local(same, vouched).find(&Wanted { path, build_id, inode }).is_some()
        };
        if let Some(build) = &build {
            assert!(found(false, false, Some(build), Some(1)), "the build decides, wherever it comes from");
        }
        assert!(!found(true, true, Some(&other), inode), "another build is another program");
        assert!(found(true, false, None, inode));
        assert!(!found(true, false, None, inode.map(|inode| inode + 1)));
        assert!(!found(false, false, None, inode), "inodes of another machine mean nothing");
        assert!(found(false, true, None, Some(1)), "the user vouches for what he names");
    }

    #[test]
    fn a_machine_is_the_same_only_with_its_kernel() {
        let host = |name: &str, kernel: &str| HostFacts {
            hostname: name.into(),
            kernel: kernel.into(),
            ..HostFacts::default()
        };
        let here = host("node7", "6.1");
        for (recorded, same) in [(host("node7", "6.1"), true), (host("node7", "5.4"), false), (host("", ""), false)] {
            assert_eq!(LocalFiles::new(None, &recorded, &here).same, same, "{recorded:?}");
        }
        assert!(!LocalFiles::new(None, &host("", ""), &host("", "")).same, "what is not said is not the same");
    }
}
