//! What names are read from: the sources of modules, and the files that callers provide.

use crate::error::Result;
use crate::model::{BuildId, Bytes, FileStamp, ObjectFile};
use std::path::{Path, PathBuf};

/// The source of a module's names.
#[derive(Clone)]
pub enum ModuleSource {
    /// An executable or library; addresses are file offsets.
    File {
        /// The file.
        file: ObjectFile,
        /// The path as the target sees it.
        path: String,
        /// The root of the target's file system, e.g. `/proc/41/root`.
        root: PathBuf,
    },
    /// The running kernel; addresses are absolute.
    Kernel,
    /// The kernel's code page in user space; addresses are offsets into it.
    Vdso {
        /// Its image.
        image: ObjectFile,
    },
    /// Just-in-time code of a process; addresses are absolute.
    Jit {
        /// The process id on the host.
        pid: u32,
        /// The root of its file system.
        root: PathBuf,
        /// The jitdump that its runtime mapped, as the process sees it, if that is known.
        dump: Option<PathBuf>,
    },
}

impl ModuleSource {
    /// The module's path, or what stands for it.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            ModuleSource::File { path, .. } => path,
            ModuleSource::Kernel => "[kernel]",
            ModuleSource::Vdso { .. } => "[vdso]",
            ModuleSource::Jit { .. } => "[jit]",
        }
    }
}

impl std::fmt::Debug for ModuleSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}

/// The file access that symbols need.
pub trait Files {
    /// A debug file or jitdump; `None` if it does not exist or cannot be read.
    fn open(&self, path: &Path) -> Option<ObjectFile>;

    /// The text of a file in /proc, with invalid UTF-8 replaced.
    ///
    /// # Errors
    /// Any error of the file system.
    fn text(&self, path: &Path) -> Result<String>;

    /// Passes on the lines of a file in /proc, each with its end. The same as by [`Files::text`], in less memory.
    ///
    /// # Errors
    /// Any error of the file system.
    fn lines(&self, path: &Path, to: &mut dyn FnMut(&str)) -> Result<()> {
        self.text(path)?.split_inclusive('\n').for_each(to);
        Ok(())
    }

    /// The first bytes of a file of the running kernel in /proc, for what is stored about it.
    fn head(&self, _path: &Path) -> Option<Vec<u8>> {
        None
    }

    /// What an earlier session stored under this name; `None` if there is nothing. It may be damaged.
    fn stored(&self, _name: &str) -> Option<Bytes> {
        None
    }

    /// Stores bytes for later sessions, where that is possible.
    fn store(&self, _name: &str, _bytes: &[u8]) {}

    /// Downloads the debug file of a build; `None` if there is none or if downloads are disabled.
    fn fetch(&self, id: &BuildId) -> Option<ObjectFile>;

    /// The contents, from byte `from` on, of a file that others append to; `None` if it cannot be read. The file is
    /// untrusted: only regular files are read, and only up to a limit.
    fn grown(&self, path: &Path, from: u64) -> Option<FileTail>;
}

/// The new part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTail {
    /// Size of the whole file, bytes.
    pub length: u64,
    /// Which file it is; `None` if the user vouches for it.
    pub stamp: Option<FileStamp>,
    /// The bytes from `from` on; empty if the file is shorter.
    pub bytes: Vec<u8>,
}

/// Options of the symbol lookup.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directories with separate debug files, in addition to the places that the files themselves name.
    pub debug_dirs: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { debug_dirs: vec![PathBuf::from("/usr/lib/debug")] }
    }
}
