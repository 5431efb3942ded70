//! Assigns an id to every piece of code that was ever mapped and keeps its file open for the symbolizer. It reads a
//! file's build-id and passes the unwind sections on.

use super::event_queue::EventQueue;
use super::maps::{Mapping, Memory};
use super::proc_source::ProcSource;
use crate::model::{BuildId, Definition, Event, Identity, ModuleDef, ModuleId, ModuleKind, ObjectFile};
use crate::sys::files;
use crate::unwind::UnwindTables;
use object::{Object, ReadCache};
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A module with the data needed to symbolize it.
#[derive(Clone)]
pub struct ModuleFile {
    /// As defined in the stream.
    pub def: ModuleDef,
    /// The file; `None` for kernel and just-in-time code, and for a file that could not be opened.
    pub file: Option<ObjectFile>,
    /// The root of the process that mapped it, e.g. `/proc/41/root`; it ends with that process.
    pub root: PathBuf,
}

impl std::fmt::Debug for ModuleFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModuleFile").field("def", &self.def).field("root", &self.root).finish_non_exhaustive()
    }
}

/// The modules so far, shared with the symbolizer's thread. A module appears here before its definition in the stream.
#[derive(Debug, Default)]
pub struct ModuleFiles(Mutex<Vec<ModuleFile>>);

impl ModuleFiles {
    /// The module by id.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<ModuleFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id.0 as usize).cloned()
    }

    pub(crate) fn add(&self, module: ModuleFile) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(module);
    }
}

/// The kernel is always the first module.
pub const KERNEL: ModuleId = ModuleId(0);

/// The base of a mapping's addresses, and its unwind information.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its module.
    pub module: ModuleId,
    /// A frame's address is the instruction pointer minus this (wrapping).
    pub base: u64,
    /// Unwind information, and the file offset at the mapping's start.
    pub code: Option<(Arc<UnwindTables>, u64)>,
}

/// Assigns ids to modules as they appear.
#[derive(Debug)]
pub struct Modules {
    shared: Arc<ModuleFiles>,
    /// Unwind information by module id; its length is the next id.
    codes: Vec<Option<Arc<UnwindTables>>>,
    /// Modules by file; almost always one per file, more if it is known by several paths.
    files: FxHashMap<Identity, Vec<(ModuleId, String)>>,
    just_in_time: FxHashMap<u32, ModuleId>,
    vdso: Option<ModuleId>,
}

impl Modules {
    /// Starts with the kernel alone, and defines it.
    pub fn new(out: &mut EventQueue) -> Modules {
        let mut modules = Modules {
            shared: Arc::default(),
            codes: Vec::new(),
            files: FxHashMap::default(),
            just_in_time: FxHashMap::default(),
            vdso: None,
        };
        modules.define(ModuleKind::Kernel, "[kernel]", 0, None, PathBuf::from("/"), out);
        modules
    }

    /// The table for the symbolizer.
    pub fn shared(&self) -> Arc<ModuleFiles> {
        Arc::clone(&self.shared)
    }

    /// The module of a mapping; opens a file that is seen for the first time.
    pub fn place(
        &mut self,
        pid: u32,
        mapping: &Mapping<'_>,
        proc: &mut impl ProcSource,
        out: &mut EventQueue,
    ) -> Placed {
        match &mapping.memory {
            Memory::File(path) => {
                let module = self.file(pid, path, mapping, proc, out);
                let base = mapping.start.wrapping_sub(mapping.offset);
                Placed { module, base, code: self.code(module, mapping.offset) }
            }
            Memory::Vdso => {
                let module = self.vdso(pid, out);
                Placed { module, base: mapping.start, code: self.code(module, 0) }
            }
            Memory::Anonymous => Placed { module: self.jit(pid, out), base: 0, code: None },
        }
    }

    /// Forgets a process that has ended, so that its id can be reused.
    pub fn ended(&mut self, pid: u32) {
        self.just_in_time.remove(&pid);
    }

    fn code(&self, module: ModuleId, offset: u64) -> Option<(Arc<UnwindTables>, u64)> {
        self.codes.get(module.0 as usize)?.clone().map(|code| (code, offset))
    }

    fn file(
        &mut self,
        pid: u32,
        path: &str,
        mapping: &Mapping<'_>,
        proc: &mut impl ProcSource,
        out: &mut EventQueue,
    ) -> ModuleId {
        let same = self.files.get(&mapping.identity).and_then(|known| known.iter().find(|(_, name)| name == path));
        if let Some((module, _)) = same {
            return *module;
        }
        let (file, root) = match proc.open(pid, path, mapping) {
            Some(opened) => (Some(opened.file), opened.root),
            None => (None, PathBuf::from("/")),
        };
        let module = self.define(ModuleKind::File, path, pid, file, root, out);
        self.files.entry(mapping.identity).or_default().push((module, path.to_string()));
        module
    }

    fn vdso(&mut self, pid: u32, out: &mut EventQueue) -> ModuleId {
        if let Some(module) = self.vdso {
            return module;
        }
        let image = files::own_vdso().map(ObjectFile::new);
        let module = self.define(ModuleKind::Vdso, "[vdso]", pid, image, PathBuf::from("/"), out);
        self.vdso = Some(module);
        module
    }

    fn jit(&mut self, pid: u32, out: &mut EventQueue) -> ModuleId {
        if let Some(module) = self.just_in_time.get(&pid) {
            return *module;
        }
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let module = self.define(ModuleKind::Jit, "[jit]", pid, None, root, out);
        self.just_in_time.insert(pid, module);
        module
    }

    fn define(
        &mut self,
        kind: ModuleKind,
        path: &str,
        pid: u32,
        file: Option<ObjectFile>,
        root: PathBuf,
        out: &mut EventQueue,
    ) -> ModuleId {
        let id = ModuleId(self.codes.len() as u32);
        let build_id = file.as_ref().and_then(build_id);
        let def = ModuleDef { id, kind, path: path.to_string(), build_id, pid };
        // A file that is not ELF, or has no unwind sections, is still a module, but stacks end at its frames.
        self.codes.push(file.as_ref().and_then(|file| UnwindTables::parse(file).ok()).map(Arc::new));
        self.shared.add(ModuleFile { def: def.clone(), file, root });
        out.push(Event::Define(Definition::Module(def)));
        id
    }
}

fn build_id(file: &ObjectFile) -> Option<BuildId> {
    let data = ReadCache::new(file.reader());
    let file = object::File::parse(&data).ok()?;
    Some(BuildId(file.build_id().ok()??.to_vec()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::collect::sampler::maps::parse;
    use crate::collect::sampler::proc_source::fake::Tables;

    const MAPS: &str = "\
1000-2000 r-xp 00003000 08:01 5    /bin/a
5000-6000 rwxp 00000000 00:00 0    
7000-8000 r-xp 00000000 08:01 5    /bin/alias
9000-a000 r-xp 00000000 00:00 0    [vdso]
";

    #[test]
    fn a_file_is_opened_once_per_path_and_counted_in_its_own_offsets() {
        let (mut proc, mut out) = (Tables::default(), EventQueue::default());
        let mut modules = Modules::new(&mut out);
        let place = |modules: &mut Modules, pid, proc: &mut Tables, out: &mut EventQueue| {
            parse(MAPS.as_bytes())
                .map(|m| modules.place(pid, &m, proc, out))
                .map(|p| (p.module.0, p.base))
                .collect::<Vec<_>>()
        };
        let first = place(&mut modules, 7, &mut proc, &mut out);
        assert_eq!(first, [(1, 0x1000u64.wrapping_sub(0x3000)), (2, 0), (3, 0x7000), (4, 0x9000)]);
        let second = place(&mut modules, 8, &mut proc, &mut out);
        assert_eq!(second[1], (5, 0), "anonymous code is each process's own");
        assert_eq!((second[0], second[2], second[3]), (first[0], first[2], first[3]));
        assert_eq!(proc.opened, ["/bin/a", "/bin/alias"]);
        assert_eq!(modules.shared().get(ModuleId(5)).unwrap().def.pid, 8);
        assert_eq!(modules.shared().get(KERNEL).unwrap().def.kind, ModuleKind::Kernel);
    }
}
