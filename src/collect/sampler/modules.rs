//! Assigns an id to every piece of code that was ever mapped and keeps its file open for the symbolizer. It reads a
//! file's build-id and passes the unwind sections on. Where many are open, those that nobody maps any more are closed.

use super::event_queue::EventQueue;
use super::maps::{Mapping, Memory};
use super::open_files::{OpenFiles, OpenModule};
use super::proc_source::{Asked, NEVER, OpenedFile, ProcSource};
use crate::model::limits::{MAPS_BYTES, MODULE_FILES, OBJECT_HEADERS, OBJECT_NOTES, USER_FILES};
use crate::model::{
    BuildId, Definition, Event, Identity, ModuleDef, ModuleId, ModuleKind, Note, ObjectFile, ObjectParts,
};
use crate::sys::{files, limits};
use crate::unwind::UnwindTables;
use object::Endianness;
use object::elf::{ELF_NOTE_GNU, FileHeader32, FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
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
    /// The user of that process, of a file.
    pub user: u32,
}

impl std::fmt::Debug for ModuleFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModuleFile").field("def", &self.def).field("root", &self.root).finish_non_exhaustive()
    }
}

/// The modules so far, shared with the symbolizer's thread. A module appears here before its definition in the stream.
#[derive(Debug, Default)]
pub struct ModuleFiles {
    modules: Mutex<Vec<ModuleFile>>,
    /// By process, the jitdump that its runtime mapped last. Names may be looked for when the process has ended, and its list
    /// of mappings with it.
    dumps: Mutex<FxHashMap<u32, PathBuf>>,
}

/// Processes whose jitdumps are remembered.
const DUMPS: usize = 1 << 14;

impl ModuleFiles {
    /// The module by id.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<ModuleFile> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(id.0 as usize).cloned()
    }

    /// The jitdump of a process, as the process sees it.
    #[must_use]
    pub fn dump(&self, pid: u32) -> Option<PathBuf> {
        self.dumps.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned()
    }

    pub(crate) fn add_dump(&self, pid: u32, path: &Path) {
        let mut dumps = self.dumps.lock().unwrap_or_else(PoisonError::into_inner);
        if dumps.len() < DUMPS || dumps.contains_key(&pid) {
            dumps.insert(pid, path.to_path_buf());
        }
    }

    pub(crate) fn add(&self, module: ModuleFile) {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).push(module);
    }

    fn has_file(&self, id: ModuleId) -> bool {
        self.get(id).is_some_and(|module| module.file.is_some())
    }

    fn open(&self, id: ModuleId, file: ObjectFile, root: PathBuf) {
        if let Some(module) = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id.0 as usize) {
            (module.file, module.root) = (Some(file), root);
        }
    }

    fn close(&self, id: ModuleId) {
        if let Some(module) = self.modules.lock().unwrap_or_else(PoisonError::into_inner).get_mut(id.0 as usize) {
            module.file = None;
        }
    }
}

/// Who maps a module: a process, its root and its user.
struct Origin {
    pid: u32,
    root: PathBuf,
    user: u32,
}

impl Origin {
    fn host(pid: u32) -> Origin {
        Origin { pid, root: PathBuf::from("/"), user: 0 }
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
    open: OpenFiles,
    /// Modules of files that were not opened for want of room, by file and the user who maps it.
    refused: FxHashMap<(Identity, u32), ModuleId>,
    /// Number of files defined for each user, and the module of all that are beyond what a user gets.
    defined: FxHashMap<u32, usize>,
    others: Option<ModuleId>,
    user_files: usize,
    /// Processes whose mappings are too many to read.
    cut_maps: FxHashSet<u32>,
    /// Modules whose file did not open in time, by the number that it may come with, and those whose never will.
    awaited: FxHashMap<u64, OpenModule>,
    unopened: Vec<ModuleId>,
}

impl Modules {
    /// Starts with the kernel alone, and defines it.
    pub fn new(out: &mut EventQueue) -> Modules {
        // Events, the recording and what is read of processes need the rest.
        let most = limits::raise_open_files().map_or(MODULE_FILES, |limit| MODULE_FILES.min(limit as usize / 4));
        Modules::with_room(most, USER_FILES, out)
    }

    fn with_room(most: usize, user_files: usize, out: &mut EventQueue) -> Modules {
        let mut modules = Modules {
            open: OpenFiles::new(most),
            refused: FxHashMap::default(),
            defined: FxHashMap::default(),
            others: None,
            user_files,
            cut_maps: FxHashSet::default(),
            awaited: FxHashMap::default(),
            unopened: Vec::new(),
            shared: Arc::default(),
            codes: Vec::new(),
            files: FxHashMap::default(),
            just_in_time: FxHashMap::default(),
            vdso: None,
        };
        modules.define(ModuleKind::Kernel, "[kernel]", None, Origin::host(0), out);
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
                self.of_file(module, mapping)
            }
            Memory::Vdso => {
                let module = self.vdso(pid, out);
                Placed { module, base: mapping.start, code: self.code(module, 0) }
            }
            Memory::Memfd(path) => {
                let module = self.file(pid, path, mapping, proc, out);
                let is_program = self.shared.has_file(module);
                if is_program { self.of_file(module, mapping) } else { self.generated(pid, out) }
            }
            Memory::Moved(path) => {
                let known =
                    self.files.get(&mapping.identity).and_then(|known| known.first()).map(|(module, _)| *module);
                let module = known.unwrap_or_else(|| self.file(pid, path, mapping, proc, out));
                let file = self.shared.get(module).and_then(|module| module.file);
                let is_text = file.is_some_and(|file| is_text(&file, mapping.offset, mapping.end - mapping.start));
                if is_text { self.of_file(module, mapping) } else { self.generated(pid, out) }
            }
            Memory::Probes | Memory::Anonymous => self.generated(pid, out),
        }
    }

    fn of_file(&self, module: ModuleId, mapping: &Mapping<'_>) -> Placed {
        let base = mapping.start.wrapping_sub(mapping.offset);
        Placed { module, base, code: self.code(module, mapping.offset) }
    }

    fn generated(&mut self, pid: u32, out: &mut EventQueue) -> Placed {
        Placed { module: self.jit(pid, out), base: 0, code: None }
    }

    /// Whether a module is a file's.
    pub fn is_file(&self, module: ModuleId) -> bool {
        self.shared.get(module).is_some_and(|module| module.def.kind == ModuleKind::File)
    }

    /// Whether a module is the code that a process's runtime made.
    pub fn is_made(&self, module: ModuleId) -> bool {
        self.shared.get(module).is_some_and(|module| module.def.kind == ModuleKind::Jit)
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
        let owner = proc.owner(pid);
        let has_room = self.has_room(owner);
        match self.refused.get(&(mapping.identity, owner)) {
            Some(module) if !has_room => return *module,
            _ if self.defined.get(&owner).is_some_and(|defined| *defined >= self.user_files) => {
                return self.others(out);
            }
            _ => *self.defined.entry(owner).or_default() += 1,
        }
        let opened = if has_room { proc.open(pid, path, mapping) } else { Asked::Nothing };
        let late = if let Asked::Late(number) = opened { Some(number) } else { None };
        let opened = opened.found();
        let (file, root) = opened.map_or((None, PathBuf::from("/")), |opened| (Some(opened.file), opened.root));
        let module = self.define(ModuleKind::File, path, file, Origin { pid, root, user: owner }, out);
        match late {
            Some(NEVER) => self.unopened.push(module),
            Some(number) => {
                self.awaited.insert(number, OpenModule { module, identity: mapping.identity, owner });
            }
            None => {}
        }
        if !has_room {
            self.refused.insert((mapping.identity, owner), module);
            return module;
        }
        if self.shared.has_file(module) {
            self.open.add(OpenModule { module, identity: mapping.identity, owner });
        }
        self.files.entry(mapping.identity).or_default().push((module, path.to_string()));
        module
    }

    /// The one module of all files beyond what a user gets.
    fn others(&mut self, out: &mut EventQueue) -> ModuleId {
        if let Some(module) = self.others {
            return module;
        }
        let module = self.define(ModuleKind::File, "[other files]", None, Origin::host(0), out);
        *self.others.insert(module)
    }

    /// Whether one more file may be opened for a user. Closes files that nobody maps any more if that is needed.
    fn has_room(&mut self, owner: u32) -> bool {
        if self.open.has_room(owner) {
            return true;
        }
        let codes = &self.codes;
        let is_mapped = |module: ModuleId| {
            codes.get(module.0 as usize).and_then(Option::as_ref).is_some_and(|code| Arc::strong_count(code) > 1)
        };
        for OpenModule { module, identity, .. } in self.open.take_unused(is_mapped) {
            self.codes[module.0 as usize] = None;
            self.shared.close(module);
            // It is opened anew for whoever maps it again.
            if let Some(known) = self.files.get_mut(&identity) {
                known.retain(|(id, _)| *id != module);
            }
        }
        self.open.has_room(owner)
    }

    /// A note about files that were not opened, if there were any.
    pub fn note(&self) -> Option<Note> {
        let refused = self.refused.len();
        let count = match (refused, self.others) {
            (0, _) => "Some".to_string(),
            (_, Some(_)) => format!("More than {refused}"),
            (_, None) => refused.to_string(),
        };
        (refused > 0 || self.others.is_some()).then(|| Note {
            topic: "files-unread".to_string(),
            text: format!(
                "{count} mapped files were not read, because there were too many: their code has no names, and \
                 stacks end at it."
            ),
            fix: Some("Raise the limit of open files (ulimit -Hn), or profile fewer processes.".to_string()),
        })
    }

    /// Not all mappings of a process could be read.
    pub fn maps_were_cut(&mut self, pid: u32) {
        self.cut_maps.insert(pid);
    }

    /// A note about mappings that were not read, if there were any.
    pub fn maps_note(&self) -> Option<Note> {
        let processes = match self.cut_maps.len() {
            0 => return None,
            1 => "1 process".to_string(),
            count => format!("{count} processes"),
        };
        Some(Note {
            topic: "mappings-unread".to_string(),
            text: format!(
                "The mappings of {processes} take more than {} MiB to list: stacks end at code that is listed last.",
                MAPS_BYTES >> 20
            ),
            fix: None,
        })
    }

    /// A file has been opened after all: its module, and its unwind information.
    pub fn come(
        &mut self,
        number: u64,
        OpenedFile { file, root }: OpenedFile,
    ) -> Option<(ModuleId, Arc<UnwindTables>)> {
        let opened = self.awaited.remove(&number)?;
        // Other files have neither names nor unwind sections.
        build_id(&file)?;
        if !self.has_room(opened.owner) {
            return None;
        }
        let (module, code) = (opened.module, UnwindTables::parse(&file).ok().map(Arc::new));
        self.codes[module.0 as usize].clone_from(&code);
        self.shared.open(module, file, root);
        self.open.add(opened);
        code.map(|code| (module, code))
    }

    /// A note about files that did not open in time, if there were any.
    pub fn late_note(&self) -> Option<Note> {
        let awaited = self.awaited.values().map(|opened| opened.module);
        let first = awaited.chain(self.unopened.iter().copied()).min()?;
        let path = self.shared.get(first).map(|module| module.def.path).unwrap_or_default();
        let files = match self.awaited.len() + self.unopened.len() {
            1 => format!("{path} was not opened in time: its"),
            count => format!("{count} files were not opened in time, {path} the first: their"),
        };
        Some(Note {
            topic: "files-late".to_string(),
            text: format!("{files} code has no names, and stacks end at it."),
            fix: Some(
                "Find out what holds it up: a disk, another machine, or a process that serves files.".to_string(),
            ),
        })
    }

    /// A process mapped its jitdump.
    pub fn add_dump(&self, pid: u32, path: &Path) {
        self.shared.add_dump(pid, path);
    }

    fn vdso(&mut self, pid: u32, out: &mut EventQueue) -> ModuleId {
        if let Some(module) = self.vdso {
            return module;
        }
        let image = files::own_vdso().map(ObjectFile::new);
        let module = self.define(ModuleKind::Vdso, "[vdso]", image, Origin::host(pid), out);
        self.vdso = Some(module);
        module
    }

    fn jit(&mut self, pid: u32, out: &mut EventQueue) -> ModuleId {
        if let Some(module) = self.just_in_time.get(&pid) {
            return *module;
        }
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let module = self.define(ModuleKind::Jit, "[jit]", None, Origin { pid, root, user: 0 }, out);
        self.just_in_time.insert(pid, module);
        module
    }

    fn define(
        &mut self,
        kind: ModuleKind,
        path: &str,
        file: Option<ObjectFile>,
        origin: Origin,
        out: &mut EventQueue,
    ) -> ModuleId {
        let Origin { pid, root, user } = origin;
        let id = ModuleId(self.codes.len() as u32);
        let found = file.as_ref().and_then(build_id);
        // What is no object file has neither names nor unwind sections.
        let file = file.filter(|_| found.is_some());
        let build_id = found.flatten();
        let def = ModuleDef { id, kind, path: path.to_string(), build_id, pid };
        // A file without unwind sections is still a module, but stacks end at its frames.
        self.codes.push(file.as_ref().and_then(|file| UnwindTables::parse(file).ok()).map(Arc::new));
        self.shared.add(ModuleFile { def: def.clone(), file, root, user });
        out.push(Event::Define(Definition::Module(def)));
        id
    }
}

/// Whether so many bytes at an offset of an object file lie in its executable segments, as far as pages tell.
fn is_text(file: &ObjectFile, offset: u64, length: u64) -> bool {
    let parts = file.parts(OBJECT_HEADERS);
    text_in::<FileHeader64<Endianness>>(&parts, offset, length)
        .or_else(|| text_in::<FileHeader32<Endianness>>(&parts, offset, length))
        .unwrap_or(false)
}

fn text_in<H: FileHeader<Endian = Endianness>>(parts: &ObjectParts, offset: u64, length: u64) -> Option<bool> {
    /// Segments begin and end anywhere in a page, of which all is mapped; the largest pages that text is moved to.
    const PAGE: u64 = 2 << 20;
    let header = H::parse(parts).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, parts).ok()?;
    let executable = segments.iter().filter(|segment| {
        segment.p_type(endian) == object::elf::PT_LOAD && segment.p_flags(endian).contains(object::elf::PF_X)
    });
    let ranges = executable.map(|segment| {
        let (start, size): (u64, u64) = (segment.p_offset(endian).into(), segment.p_filesz(endian).into());
        (start, start.saturating_add(size))
    });
    let end = offset.saturating_add(length);
    Some({ ranges }.any(|(start, until)| {
        let begins = offset.saturating_add(length.min(PAGE)) > start && offset < until;
        begins && end <= until.saturating_add(PAGE)
    }))
}

/// The build-id of an object file, if it has one; `None` for another file.
#[must_use]
pub fn build_id(file: &ObjectFile) -> Option<Option<BuildId>> {
    let parts = file.parts(OBJECT_HEADERS);
    note_in::<FileHeader64<Endianness>>(&parts).or_else(|| note_in::<FileHeader32<Endianness>>(&parts))
}

/// The same of a file of one class. Its symbols are not read: they are many, and this is the thread that samples.
fn note_in<H: FileHeader<Endian = Endianness>>(parts: &ObjectParts) -> Option<Option<BuildId>> {
    let header = H::parse(parts).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, parts).ok()?;
    let segments = if sections.is_empty() { header.program_headers(endian, parts).ok()? } else { &[] };
    let in_sections = sections.iter().map(|section| section.notes(endian, parts));
    let in_segments = segments.iter().map(|segment| segment.notes(endian, parts));
    let notes = in_sections.chain(in_segments).filter_map(|notes| notes.ok()?);
    let id = notes
        .flat_map(|mut notes| std::iter::from_fn(move || notes.next().ok()?))
        .take(OBJECT_NOTES)
        .find(|note| note.name() == ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID);
    Some(id.map(|id| BuildId(id.desc().to_vec())))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::collect::sampler::maps::parse;
    use crate::collect::sampler::proc_source::fake::Tables;
    use crate::model::ReadAt;

    const MAPS: &str = "\
1000-2000 r-xp 00003000 08:01 5    /bin/a
5000-6000 rwxp 00000000 00:00 0    
7000-8000 r-xp 00000000 08:01 5    /bin/alias
9000-a000 r-xp 00000000 00:00 0    [vdso]
";

    /// An object file under many numbers, mapped by a user.
    fn place_file(modules: &mut Modules, inode: u64, pid: u32) -> Placed {
        let mapping = Mapping {
            start: 0x1000,
            end: 0x2000,
            offset: 0,
            identity: Identity { major: 1, minor: 1, inode },
            memory: Memory::File(format!("/bin/{inode}").into()),
        };
        let image = std::fs::read("/bin/sh").unwrap();
        let mut proc = Tables { image: Some(ObjectFile::new(image)), ..Tables::default() };
        modules.place(pid, &mapping, &mut proc, &mut EventQueue::default())
    }

    #[test]
    fn a_user_who_maps_files_without_end_takes_no_room_of_others_and_what_nobody_maps_is_closed() {
        let mut modules = Modules::with_room(8, 99, &mut EventQueue::default());
        let is_open = |modules: &Modules, placed: &Placed| modules.shared().has_file(placed.module);
        // In the fake, a process belongs to the user of its own number.
        let mut held: Vec<Placed> = (0..10).map(|inode| place_file(&mut modules, inode, 1000)).collect();
        assert_eq!(held.iter().map(|placed| is_open(&modules, placed)).filter(|open| *open).count(), 4, "half of all");
        assert!(held[9].code.is_none() && modules.note().unwrap().text.starts_with("6 mapped files"));
        assert_eq!(place_file(&mut modules, 9, 1000).module, held[9].module, "and is not defined again");
        let others = place_file(&mut modules, 9, 1001);
        assert!(is_open(&modules, &others) && others.code.is_some(), "the same file is opened for another user");
        held.truncate(2);
        let later = place_file(&mut modules, 20, 1000);
        assert!(is_open(&modules, &later), "after two of its files are mapped no longer");
        assert!(held.iter().all(|placed| is_open(&modules, placed)), "those in use stay open");
        drop(held);
    }

    #[test]
    fn files_beyond_what_a_user_gets_are_one_module() {
        let mut modules = Modules::with_room(99, 3, &mut EventQueue::default());
        let placed: Vec<u32> = (0..6).map(|inode| place_file(&mut modules, inode, 1000).module.0).collect();
        assert_eq!(placed, [1, 2, 3, 4, 4, 4]);
        assert_eq!(place_file(&mut modules, 7, 1001).module.0, 5, "another user's are not among them");
        assert_eq!(modules.shared().get(ModuleId(4)).unwrap().def.path, "[other files]");
        assert!(modules.note().unwrap().text.starts_with("Some mapped files were not read"));
    }

    /// A file of 12 GB that is a hole but for its start.
    struct Sparse(Vec<u8>);

    impl ReadAt for Sparse {
        fn length(&self) -> u64 {
            12 << 30
        }

        fn read_at(&self, at: u64, to: &mut [u8]) -> std::io::Result<usize> {
            assert!(to.len() as u64 <= OBJECT_HEADERS, "{} bytes are read at once", to.len());
            to.fill(0);
            self.0.as_slice().read_at(at, to)?;
            Ok(to.len())
        }
    }

    #[test]
    fn a_file_that_says_its_tables_are_gigabytes_takes_no_memory() {
        const G: u64 = 11 << 30;
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        // Places of both tables, then sizes and numbers: of segments `segments`, of sections `sections`.
        let file = |table: u64, segments: u64, sections: u64, rest: &[u64]| {
            let numbers = [64 << 32 | 56 << 48, segments | 64 << 16 | sections << 32 | (sections / 2) << 48];
            let head = words(&[0x0001_0102_464c_457f, 0, 0x1_003e_0003, 0, 64, table, numbers[0], numbers[1]]);
            Sparse([head, words(rest)].concat())
        };
        // Nothing, the names of sections, and a section of this type, offset, length and length of each part.
        let with_section = |kind: u64, each: u64| {
            let names = [3 << 32, 0, 0, 4096, 1, 0, 1, 0];
            file(64, 0, 3, &[[0; 8], names, [kind << 32, 0, 0, 4096, G, 1, 4, each]].concat())
        };
        for (what, file) in [
            ("a segment of notes", file(0, 1, 0, &[4 | 4 << 32, 4096, 0, 0, G, G, 4])),
            ("a section of notes", with_section(7, 0)),
            ("symbols", with_section(2, 24)),
            ("sections", file(64, 0, 0, &[0, 0, 0, 0, G / 64, 1 << 32, 0, 0])),
            ("segments", file(64, 0xffff, 1, &[0, 0, 0, 0, 0, (G / 56) << 32, 0, 0])),
        ] {
            let file = ObjectFile::new(file);
            let expected = ["a segment of notes", "a section of notes", "symbols"].contains(&what).then_some(None);
            assert_eq!(build_id(&file), expected, "{what}");
            assert_eq!(UnwindTables::parse(&file).is_ok(), expected.is_some(), "{what}");
        }
    }

    #[test]
    fn what_is_no_object_file_is_not_kept_open() {
        let (mut proc, mut out) = (Tables::default(), EventQueue::default());
        let mut modules = Modules::with_room(1, 99, &mut out);
        for mapping in parse(MAPS.as_bytes()) {
            modules.place(7, &mapping, &mut proc, &mut out);
        }
        assert!(proc.opened.len() == 2 && modules.note().is_none(), "{:?}", proc.opened);
    }

    #[test]
    fn text_that_was_moved_is_the_files_and_other_code_there_is_not() {
        let image = std::fs::read("/proc/self/exe").unwrap();
        let own = object::read::elf::ElfFile64::<Endianness>::parse(&*image).unwrap();
        let endian = own.endian();
        let segments = own.elf_program_headers().iter();
        let text = { segments }.find(|it| it.p_flags(endian).contains(object::elf::PF_X)).unwrap();
        let (at, size) = (text.p_offset(endian) & !0xfff, text.p_filesz(endian).next_multiple_of(4096));
        let far = image.len() as u64 + (64 << 20);
        let file = ObjectFile::new(image.clone());
        assert!(is_text(&file, at, size) && is_text(&file, at + 4096, 4096) && !is_text(&file, far, 4096));
        let mut proc = Tables { image: Some(file), ..Tables::default() };
        let (mut out, base) = (EventQueue::default(), 0x5000_0000);
        let mut modules = Modules::with_room(9, 99, &mut out);
        let mut place = |memory: Memory<'static>, offset: u64| {
            let identity = Identity { major: 8, minor: 1, inode: 5 };
            let mapping = Mapping { start: base + offset, end: base + offset + 4096, offset, identity, memory };
            let placed = modules.place(7, &mapping, &mut proc, &mut out);
            (modules.is_file(placed.module), placed.base, placed.code.is_some())
        };
        assert_eq!(place(Memory::Moved("/bin/a".into()), at), (true, base, true));
        assert_eq!(place(Memory::Moved("/bin/a".into()), far), (false, 0, false));
        assert_eq!(place(Memory::Memfd("/memfd:a".into()), at), (true, base, true));
        let mut other = Modules::with_room(9, 99, &mut out);
        let mapping = Mapping {
            start: base,
            end: base + 4096,
            offset: 0,
            identity: Identity { major: 0, minor: 1, inode: 6 },
            memory: Memory::Memfd("/memfd:doublemapper".into()),
        };
        let placed = other.place(7, &mapping, &mut Tables::default(), &mut out);
        assert!(!other.is_file(placed.module), "a runtime's file in memory holds made code, not a program");
    }

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
