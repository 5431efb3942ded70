//! Resolves addresses to names: from debug information first, then symbol tables, then unwind tables.
//! All file access goes through [`Files`].

mod debug;
mod demangle;
mod elf;
mod fde;
mod jit;
mod jitdump;
mod kernel;
mod locate;

pub use jitdump::is_jitdump;

use crate::error::Result;
use crate::model::{BuildId, Bytes, ModuleId, Note, Symbol};
use elf::Image;
use jit::JitCode;
use kernel::Kernel;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The source of a module's names.
#[derive(Clone)]
pub enum ModuleSource {
    /// An executable or library; addresses are file offsets.
    File {
        /// The file.
        bytes: Bytes,
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
        bytes: Bytes,
    },
    /// Just-in-time code of a process; addresses are absolute.
    Jit {
        /// The process id on the host.
        pid: u32,
        /// The root of its file system.
        root: PathBuf,
    },
}

impl std::fmt::Debug for ModuleSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ModuleSource::File { path, .. } => path,
            ModuleSource::Kernel => "[kernel]",
            ModuleSource::Vdso { .. } => "[vdso]",
            ModuleSource::Jit { .. } => "[jit]",
        })
    }
}

/// The file access that symbols need.
pub trait Files {
    /// The bytes of a file; `None` if it does not exist or cannot be read.
    fn map(&self, path: &Path) -> Option<Bytes>;

    /// The text of a file in /proc, with invalid UTF-8 replaced.
    ///
    /// # Errors
    /// Any error of the file system.
    fn text(&self, path: &Path) -> Result<String>;

    /// Downloads the debug file of a build; `None` if there is none or if downloads are disabled.
    fn fetch(&self, id: &BuildId) -> Option<Bytes>;

    /// The contents, from byte `from` on, of a file that others append to; `None` if it cannot be read. The file is
    /// untrusted: only regular files are read, and only up to a limit.
    fn grown(&self, path: &Path, from: u64) -> Option<Grown>;
}

/// The new part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grown {
    /// Size of the whole file, bytes.
    pub length: u64,
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

enum Module {
    Image(Rc<Image>),
    Kernel,
    Jit(JitCode),
}

/// Resolves addresses to names. Reads a module's symbols on the first lookup.
pub struct Symbolizer {
    options: Options,
    files: Box<dyn Files + Send>,
    modules: FxHashMap<ModuleId, Module>,
    images: FxHashMap<BuildId, Rc<Image>>,
    kernel: Option<Kernel>,
    without_debug: Vec<String>,
    /// Process and address of JIT code that had no name at the last lookup.
    nameless_jit: BTreeSet<(u32, u64)>,
}

impl std::fmt::Debug for Symbolizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Symbolizer").field("modules", &self.modules.len()).finish_non_exhaustive()
    }
}

impl Symbolizer {
    /// Creates a symbolizer without modules.
    #[must_use]
    pub fn new(options: Options, files: Box<dyn Files + Send>) -> Self {
        let (modules, images) = (FxHashMap::default(), FxHashMap::default());
        Symbolizer {
            options,
            files,
            modules,
            images,
            kernel: None,
            without_debug: Vec::new(),
            nameless_jit: BTreeSet::new(),
        }
    }

    /// Adds a module. A file that is not an ELF image has no names.
    pub fn add(&mut self, id: ModuleId, source: ModuleSource) {
        let module = match source {
            ModuleSource::Kernel => Module::Kernel,
            ModuleSource::Jit { pid, root } => Module::Jit(JitCode::new(pid, root)),
            ModuleSource::Vdso { bytes } => match Image::parse(&bytes, "[vdso]") {
                Ok(image) => Module::Image(Rc::new(image)),
                Err(_) => return,
            },
            ModuleSource::File { bytes, path, root } => match self.file(&bytes, &path, &root) {
                Some(image) => Module::Image(image),
                None => return,
            },
        };
        self.modules.insert(id, module);
    }

    /// The names at an address of a module, innermost first; empty if unknown.
    pub fn names(&mut self, module: Option<ModuleId>, address: u64) -> Vec<Symbol> {
        let Some(module) = module.and_then(|id| self.modules.get_mut(&id)) else { return Vec::new() };
        match module {
            Module::Image(image) => image.names(address),
            Module::Jit(map) => {
                let name = map.name(self.files.as_ref(), address);
                if name.is_none() {
                    self.nameless_jit.insert((map.pid(), address));
                } else {
                    self.nameless_jit.remove(&(map.pid(), address));
                }
                name.into_iter().collect()
            }
            Module::Kernel => {
                let kernel = self.kernel.get_or_insert_with(|| Kernel::open(self.files.as_ref(), Path::new("/proc")));
                kernel.name(address).into_iter().collect()
            }
        }
    }

    /// Whether an address without a name may get one later, because the module's names are still being written.
    #[must_use]
    pub fn may_learn(&self, module: ModuleId) -> bool {
        matches!(self.modules.get(&module), Some(Module::Jit(_)))
    }

    /// Notes for the user: hidden kernel symbols, missing debug information.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = self.kernel.iter().filter_map(Kernel::note).collect();
        if !self.without_debug.is_empty() {
            notes.push(Note {
                topic: "no-debug-information".into(),
                text: format!("no source lines or inlined functions for {}", list(&self.without_debug)),
                fix: Some("Install the -dbgsym packages, build with -g, or record with --debuginfod.".into()),
            });
        }
        if !self.nameless_jit.is_empty() {
            let pids: BTreeSet<u32> = self.nameless_jit.iter().map(|(pid, _)| *pid).collect();
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            notes.push(Note {
                topic: "jit-without-names".into(),
                text: format!("code without a file in process {} has no names, or not all", list(&pids)),
                fix: Some(
                    "Node: start with --perf-basic-prof. Java: start with -XX:+PreserveFramePointer and, while \
                     recording, run: jcmd PID Compiler.perfmap"
                        .into(),
                ),
            });
        }
        notes
    }

    /// Reads a build that several processes map only once.
    fn file(&mut self, bytes: &Bytes, path: &str, root: &Path) -> Option<Rc<Image>> {
        let mut image = Image::parse(bytes, path.rsplit('/').next().unwrap_or(path)).ok()?;
        let known = image.build_id().and_then(|id| self.images.get(id));
        if let Some(known) = known {
            return Some(known.clone());
        }
        let debug = locate::debug_file(&image, bytes, path, root, &self.options, self.files.as_ref());
        match debug {
            Some(found) => image.attach(found),
            None if image.has_debug() => {}
            None => self.without_debug.push(path.to_string()),
        }
        let image = Rc::new(image);
        if let Some(id) = image.build_id() {
            self.images.insert(id.clone(), image.clone());
        }
        Some(image)
    }
}

/// The first few names of a list, for a sentence.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
