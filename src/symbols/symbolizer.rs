//! Resolves frames, module by module, and notes what is missing.

use super::elf::Image;
use super::files::{Files, ModuleSource, Options};
use super::jit::{self, JitCode};
use super::kernel::Kernel;
use super::known::KnownNames;
use super::locate::SplitPlace;
use crate::model::limits::JIT_NAMES_IN_ALL;
use crate::model::{FileStamp, ModuleId, Note, ObjectFile, Runtime, Symbol};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

/// An image, and what earlier sessions found in it.
struct KnownImage {
    image: Image,
    known: Option<RefCell<KnownNames>>,
    /// Whether names were read from it since files were released.
    asked: Cell<bool>,
}

impl KnownImage {
    fn new(image: Image, known: Option<KnownNames>) -> Rc<KnownImage> {
        Rc::new(KnownImage { image, known: known.map(RefCell::new), asked: Cell::new(false) })
    }

    fn names(&self, offset: u64, files: &dyn Files) -> Vec<Symbol> {
        if let Some(names) = self.known.as_ref().and_then(|known| known.borrow().get(offset)) {
            return names;
        }
        self.asked.set(true);
        let names = self.image.names(offset, files);
        if let Some(known) = &self.known {
            known.borrow_mut().add(offset, &names);
        }
        names
    }
}

enum Module {
    Image(Rc<KnownImage>),
    Kernel,
    Jit(JitCode),
}

/// Resolves addresses to names. Reads a module's symbols on the first lookup.
pub struct Symbolizer {
    options: Options,
    files: Box<dyn Files + Send>,
    modules: FxHashMap<ModuleId, Module>,
    images: FxHashMap<FileStamp, Rc<KnownImage>>,
    kernel: Option<Kernel>,
    without_debug: Vec<String>,
    /// Process and address of JIT code that had no name at the last lookup.
    nameless_jit: BTreeSet<(u32, u64)>,
    /// What gives the just-in-time code of the runtimes among the modules names.
    names_compiled: BTreeSet<&'static str>,
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
            names_compiled: BTreeSet::new(),
        }
    }

    /// Adds a module. A file that is not an ELF image has no names.
    pub fn add(&mut self, id: ModuleId, source: ModuleSource) {
        if let ModuleSource::File { path, .. } = &source {
            self.names_compiled.extend(Runtime::of_file(path).and_then(|runtime| runtime.names_compiled));
        }
        let module = match source {
            ModuleSource::Kernel => Module::Kernel,
            ModuleSource::Jit { pid, root, dump } => Module::Jit(JitCode::new(pid, root).with_dump(dump)),
            ModuleSource::Vdso { image } => match Image::parse(&image, "[vdso]") {
                Ok(image) => Module::Image(KnownImage::new(image, None)),
                Err(_) => return,
            },
            ModuleSource::File { file, path, root } => match self.file(&file, &path, &root) {
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
            Module::Image(image) => image.names(address, self.files.as_ref()),
            Module::Jit(map) => {
                let before = map.bytes();
                let name = map.name(self.files.as_ref(), address);
                let has_grown = map.bytes() > before;
                if name.is_none() {
                    self.nameless_jit.insert((map.pid(), address));
                } else {
                    self.nameless_jit.remove(&(map.pid(), address));
                }
                if has_grown {
                    self.bound_generated_code();
                }
                name.into_iter().collect()
            }
            Module::Kernel => {
                let kernel = self.kernel.get_or_insert_with(|| Kernel::open(self.files.as_ref(), Path::new("/proc")));
                kernel.name(self.files.as_ref(), address).into_iter().collect()
            }
        }
    }

    /// Whether an address without a name may get one later, because the module's names are still being written.
    #[must_use]
    pub fn may_learn(&self, module: ModuleId) -> bool {
        matches!(self.modules.get(&module), Some(Module::Jit(_)))
    }

    /// Forgets what was read of files: it is read again when it is needed.
    pub fn release(&self) {
        self.images().for_each(|image| image.image.release());
    }

    /// Does so, if all takes more than `most` bytes, for the files that no name was read from since the last time.
    pub fn release_unused_beyond(&self, most: usize) {
        // Processes share images: what is counted more than once only goes earlier.
        if self.images().map(|image| image.image.bytes()).sum::<usize>() > most {
            self.images().filter(|image| !image.asked.replace(false)).for_each(|image| image.image.release());
        }
    }

    /// Takes the names of generated code from the process that has most of them, as long as all take too much memory.
    fn bound_generated_code(&mut self) {
        let codes = self.modules.values_mut();
        jit::bound(
            codes.filter_map(|module| if let Module::Jit(code) = module { Some(code) } else { None }),
            JIT_NAMES_IN_ALL,
        );
    }

    fn images(&self) -> impl Iterator<Item = &KnownImage> {
        self.modules.values().filter_map(|module| match module {
            Module::Image(image) => Some(&**image),
            _ => None,
        })
    }

    /// Stores the names found in files for later sessions.
    pub fn store(&self) {
        for known in self.images.values().filter_map(|image| image.known.as_ref()) {
            known.borrow().store(self.files.as_ref());
        }
    }

    /// Notes for the user: hidden kernel symbols, missing debug information.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = self.kernel.iter().filter_map(Kernel::note).collect();
        if !self.without_debug.is_empty() {
            notes.push(Note {
                topic: "no-debug-information".into(),
                text: format!("No line numbers or inlined functions in {}.", list(&file_names(&self.without_debug))),
                fix: Some(debug_packages(&self.without_debug)),
            });
        }
        let limited: BTreeSet<&str> = self.images().filter_map(|image| image.image.limited()).collect();
        if !limited.is_empty() {
            notes.push(Note {
                topic: "debug-information-limited".into(),
                text: format!(
                    "debug information exceeds a limit: functions without source lines or inlined calls in {}",
                    list(&limited.into_iter().map(str::to_string).collect::<Vec<_>>())
                ),
                fix: Some(
                    "`ironlaw doctor --limits` lists the limits; a program that a compiler wrote meets none.".into(),
                ),
            });
        }
        let incomplete: BTreeSet<(&str, Option<&str>)> =
            self.images().filter_map(|image| image.image.incomplete()).collect();
        if !incomplete.is_empty() {
            let shown = |(label, missing): &(&str, Option<&str>)| match missing {
                Some(missing) => format!("{label} ({missing})"),
                None => format!("{label} (.dwo files, {label}.dwp)"),
            };
            notes.push(Note {
                topic: "debug-information-elsewhere".into(),
                text: format!(
                    "debug information is in files that are not here, and inlined functions count for their callers in {}",
                    list(&incomplete.iter().map(shown).collect::<Vec<_>>())
                ),
                fix: Some(
                    "Keep .dwo files where the compiler wrote them, a .dwp file beside the program, and what dwz made where the program names it."
                        .into(),
                ),
            });
        }
        if !self.nameless_jit.is_empty() {
            let pids: BTreeSet<u32> = self.nameless_jit.iter().map(|(pid, _)| *pid).collect();
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            notes.push(Note {
                topic: "jit-without-names".into(),
                text: format!("code without a file in process {} has no names, or not all", list(&pids)),
                fix: Some(self.name_compiled()),
            });
        }
        notes
    }

    /// What gives just-in-time code names: for the runtimes that were met.
    fn name_compiled(&self) -> String {
        if self.names_compiled.is_empty() {
            return "`ironlaw help runtimes` has the switch of each runtime that writes names for profilers."
                .to_string();
        }
        self.names_compiled.iter().copied().collect::<Vec<_>>().join(" ")
    }

    /// Reads a file that has several names only once. A file of the same build-id is not taken for it: anybody can write
    /// one.
    fn file(&mut self, file: &ObjectFile, path: &str, root: &Path) -> Option<Rc<KnownImage>> {
        if let Some(known) = file.stamp().and_then(|stamp| self.images.get(&stamp)) {
            return Some(known.clone());
        }
        let label = path.rsplit('/').next().unwrap_or(path);
        let mut image = Image::parse(file, label).ok()?;
        let debug = super::locate::debug_file(&image, file, path, root, &self.options, self.files.as_ref());
        match debug {
            Some(found) => image.attach(found),
            None if image.has_debug() => {}
            None => self.without_debug.push(path.to_string()),
        }
        let place = SplitPlace::new(path, root, file.stamp(), &self.options);
        image.split_into(Box::new(place), self.files.as_ref());
        let known = image.build_id().zip(image.sources());
        let known = known.map(|(id, sources)| KnownNames::open(self.files.as_ref(), id, label, &sources));
        let image = KnownImage::new(image, known);
        if let Some(stamp) = file.stamp() {
            self.images.insert(stamp, image.clone());
        }
        Some(image)
    }
}

/// The first few names of a list, for a sentence.
fn file_names(paths: &[String]) -> Vec<String> {
    paths.iter().map(|path| file_name(path).to_string()).collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What to install for the files without debug information.
fn debug_packages(paths: &[String]) -> String {
    const OF_LIBC: [&str; 6] = ["libc.", "libm.", "ld-linux", "libpthread.", "librt.", "libdl."];
    let is_libc = |path: &String| OF_LIBC.iter().any(|start| file_name(path).starts_with(start));
    let packages = match (paths.iter().any(is_libc), paths.iter().all(is_libc)) {
        (_, true) => "libc6-dbg",
        (true, false) => "libc6-dbg and the -dbgsym packages, build with -g",
        (false, false) => "the -dbgsym packages, build with -g",
    };
    format!("Install {packages}, or record with --debuginfod.")
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
