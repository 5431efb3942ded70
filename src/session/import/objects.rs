//! Numbers every mapped piece of code of the recorded machine once, with the local file that stands in for it.
//! Each file is opened at most once. A file that does not match is treated as missing.

use super::files::{LocalFiles, Wanted, build_id};
use crate::abi::is_anonymous;
use crate::abi::perf::MmapRecord;
use crate::collect::sampler::{AddressMap, Definitions, KERNEL, Placed};
use crate::model::{BuildId, Definition, FrameDef, ModuleDef, ModuleId, ModuleKind, Note, ObjectFile};
use crate::store::perfdata::{Build, KernelSymbol, RecordedSymbols};
use crate::symbols::ModuleSource;
use crate::sys::files;
use crate::unwind::UnwindTables;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// perf's name for the mapping of the kernel image.
const KERNEL_IMAGE: &str = "[kernel.kallsyms]";

/// A module's data in addition to its definition.
#[derive(Debug)]
pub(super) struct Object {
    /// Source of names for its addresses.
    pub source: Option<ModuleSource>,
    /// The name of the whole module, if it is a single function.
    pub only: Option<String>,
    /// Its path, as in its definition.
    pub path: String,
    is_file: bool,
    code: Option<Arc<UnwindTables>>,
}

/// A file's identity apart from its path.
type Identity = (Option<BuildId>, Option<u64>);

/// Numbers modules in order of appearance.
#[derive(Debug)]
pub(super) struct Objects {
    local: LocalFiles,
    objects: Vec<Object>,
    /// Build-ids in the file, by path.
    builds: FxHashMap<String, BuildId>,
    files: FxHashMap<String, Vec<(Identity, ModuleId)>>,
    just_in_time: FxHashMap<u32, ModuleId>,
    named: FxHashMap<String, ModuleId>,
    /// The kernel's address ranges, and how often they have changed.
    kernel: AddressMap,
    kernel_version: u64,
    /// The reference symbol of the kernel image and its recorded address.
    reference: Option<(String, u64)>,
}

impl Objects {
    /// Starts with the kernel only, and defines it.
    pub(super) fn new(local: LocalFiles, builds: &[Build], kernel_named: bool, out: &mut impl Definitions) -> Objects {
        let kernel_build = kernel_build(builds).cloned();
        let builds = builds.iter().filter(|build| !build.kernel || build.path == "[vdso]");
        let mut objects = Objects {
            local,
            objects: Vec::new(),
            builds: builds.map(|build| (build.path.clone(), build.id.clone())).collect(),
            files: FxHashMap::default(),
            just_in_time: FxHashMap::default(),
            named: FxHashMap::default(),
            kernel: AddressMap::default(),
            kernel_version: 0,
            reference: None,
        };
        let source = kernel_named.then_some(ModuleSource::Kernel);
        objects.define(ModuleKind::Kernel, "[kernel]", 0, (kernel_build, source), out);
        objects
    }

    /// The data of a module.
    pub(super) fn get(&self, id: ModuleId) -> Option<&Object> {
        self.objects.get(id.0 as usize)
    }

    /// The reference symbol of the kernel image and its recorded address.
    pub(super) fn reference(&self) -> Option<(&str, u64)> {
        self.reference.as_ref().map(|(symbol, address)| (symbol.as_str(), *address))
    }

    /// The module of a kernel address. Without any recorded mapping, all kernel addresses belong to the image.
    pub(super) fn in_kernel(&self, address: u64) -> Option<ModuleId> {
        if self.kernel.is_empty() { Some(KERNEL) } else { self.kernel.find(address).map(|(module, _)| module) }
    }

    /// Whether stacks can be unwound from an address of this module.
    pub(super) fn has_code(&self, id: ModuleId) -> bool {
        self.get(id).is_some_and(|object| object.code.is_some())
    }

    /// Whether a module is a file that is here.
    pub(super) fn is_here(&self, id: ModuleId) -> bool {
        self.get(id).is_some_and(|object| object.is_file && object.source.is_some())
    }

    /// A guest's kernel, of which nothing else is known.
    pub(super) fn guest_kernel(&mut self, out: &mut impl Definitions) -> ModuleId {
        self.named("[guest.kernel]", ModuleKind::Kernel, None, out)
    }

    /// The kernel or one of its modules was mapped.
    pub(super) fn map_kernel(&mut self, mapping: &MmapRecord<'_>, kernel_named: bool, out: &mut impl Definitions) {
        let path = String::from_utf8_lossy(mapping.path);
        let end = mapping.start.saturating_add(mapping.length);
        let module = match path.strip_prefix(KERNEL_IMAGE) {
            Some(symbol) => {
                self.reference.get_or_insert_with(|| (symbol.to_string(), mapping.offset));
                KERNEL
            }
            None => {
                self.named(&module_name(&path), ModuleKind::Kernel, kernel_named.then_some(ModuleSource::Kernel), out)
            }
        };
        self.place_in_kernel(mapping.start, end, module);
    }

    /// The kernel generated code at run time.
    pub(super) fn map_generated(&mut self, code: &KernelSymbol<'_>, out: &mut impl Definitions) {
        let end = code.start.saturating_add(code.length);
        if code.removed || end <= code.start {
            // Its samples may still arrive, and nothing else is placed there before they do.
            return;
        }
        let name = String::from_utf8_lossy(code.name).into_owned();
        let module = self.named(&name, ModuleKind::Kernel, None, out);
        if let Some(object) = self.objects.get_mut(module.0 as usize) {
            object.only = Some(name);
        }
        self.place_in_kernel(code.start, end, module);
    }

    fn place_in_kernel(&mut self, start: u64, end: u64, module: ModuleId) {
        self.kernel_version += 1;
        self.kernel.map(start, end, &Placed { module, base: 0, code: None });
    }

    /// Changes whenever an address of the kernel may belong to another module than before.
    pub(super) fn kernel_version(&self) -> u64 {
        self.kernel_version
    }

    /// The module of a program's mapping.
    pub(super) fn place(&mut self, mapping: &MmapRecord<'_>, out: &mut impl Definitions) -> Placed {
        let path = String::from_utf8_lossy(mapping.path);
        let path = path.strip_suffix(" (deleted)").unwrap_or(&path);
        if path == "[vdso]" {
            let module = self.vdso(mapping.pid, out);
            return Placed { module, base: mapping.start, code: self.code(module, 0) };
        }
        if is_anonymous(path) {
            return Placed { module: self.jit(mapping.pid, out), base: 0, code: None };
        }
        let module = self.file(path, mapping, out);
        let base = mapping.start.wrapping_sub(mapping.offset);
        Placed { module, base, code: self.code(module, mapping.offset) }
    }

    /// Drops the data of a process, so that its id can be reused.
    pub(super) fn forget(&mut self, pid: u32) {
        self.just_in_time.remove(&pid);
    }

    /// Which names are missing in these frames, and how to get them.
    pub(super) fn note(&self, frames: &[FrameDef], recorded: &RecordedSymbols) -> Option<Note> {
        const SHOWN: usize = 3;
        let hit: BTreeSet<ModuleId> = frames.iter().filter_map(|frame| frame.module).collect();
        let files = || hit.iter().filter_map(|id| self.get(*id)).filter(|object| object.is_file);
        let is_missing = |object: &&Object| object.source.is_none() && !recorded.has(&object.path);
        let missing: Vec<&str> = files().filter(is_missing).map(|object| object.path.as_str()).collect();
        let names: Vec<&str> = missing.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).take(SHOWN).collect();
        let more = if missing.len() > SHOWN { ", ..." } else { "" };
        (!missing.is_empty()).then(|| Note {
            topic: "files-not-here".into(),
            text: format!(
                "{} of {} programs and libraries are not here in the recorded build ({}{more}): their functions are shown \
                 by address",
                missing.len(),
                files().count(),
                names.join(", ")
            ),
            fix: Some("Copy them from that machine below one directory, with their paths, and give it with --symfs.".into()),
        })
    }

    fn file(&mut self, path: &str, mapping: &MmapRecord<'_>, out: &mut impl Definitions) -> ModuleId {
        let build = mapping.build_id.map(|id| BuildId(id.to_vec())).or_else(|| self.builds.get(path).cloned());
        let identity = (build, mapping.inode);
        let known = self.files.get(path).and_then(|known| known.iter().find(|(other, _)| *other == identity));
        if let Some((_, module)) = known {
            return *module;
        }
        let wanted = Wanted { path, build_id: identity.0.as_ref(), inode: mapping.inode };
        let file = self.local.find(&wanted);
        let build = identity.0.clone().or_else(|| build_id(file.as_ref()?));
        let (path_text, root) = (path.to_string(), self.local.root.clone());
        let source = file.map(|file| ModuleSource::File { file, path: path_text, root });
        let module = self.define(ModuleKind::File, path, mapping.pid, (build, source), out);
        self.files.entry(path.to_string()).or_default().push((identity, module));
        module
    }

    /// This kernel's vdso stands in for the recorded one only if it is the same build.
    fn vdso(&mut self, pid: u32, out: &mut impl Definitions) -> ModuleId {
        if let Some(module) = self.named.get("[vdso]") {
            return *module;
        }
        let image = files::own_vdso().map(ObjectFile::new);
        let image = image.filter(|image| match self.builds.get("[vdso]") {
            Some(recorded) => build_id(image).as_ref() == Some(recorded),
            None => self.local.same,
        });
        let build = self.builds.get("[vdso]").cloned();
        let source = image.map(|image| ModuleSource::Vdso { image });
        let module = self.define(ModuleKind::Vdso, "[vdso]", pid, (build, source), out);
        self.named.insert("[vdso]".into(), module);
        module
    }

    fn jit(&mut self, pid: u32, out: &mut impl Definitions) -> ModuleId {
        if let Some(module) = self.just_in_time.get(&pid) {
            return *module;
        }
        let root = self.local.root.clone();
        let source = self.local.trusts_runtimes().then_some(ModuleSource::Jit { pid, root, dump: None });
        let module = self.define(ModuleKind::Jit, "[jit]", pid, (None, source), out);
        self.just_in_time.insert(pid, module);
        module
    }

    fn named(
        &mut self,
        name: &str,
        kind: ModuleKind,
        source: Option<ModuleSource>,
        out: &mut impl Definitions,
    ) -> ModuleId {
        if let Some(module) = self.named.get(name) {
            return *module;
        }
        let module = self.define(kind, name, 0, (None, source), out);
        self.named.insert(name.to_string(), module);
        module
    }

    fn code(&self, module: ModuleId, offset: u64) -> Option<(Arc<UnwindTables>, u64)> {
        self.get(module)?.code.clone().map(|code| (code, offset))
    }

    fn define(
        &mut self,
        kind: ModuleKind,
        path: &str,
        pid: u32,
        (build_id, source): (Option<BuildId>, Option<ModuleSource>),
        out: &mut impl Definitions,
    ) -> ModuleId {
        let id = ModuleId(self.objects.len() as u32);
        let image = match &source {
            Some(ModuleSource::File { file: image, .. } | ModuleSource::Vdso { image }) => Some(image),
            _ => None,
        };
        let code = image.and_then(|image| UnwindTables::parse(image).ok()).map(Arc::new);
        let is_file = kind == ModuleKind::File;
        self.objects.push(Object { source, only: None, path: path.to_string(), is_file, code });
        out.define(Definition::Module(ModuleDef { id, kind, path: path.to_string(), build_id, pid }));
        id
    }
}

/// The build-id of the kernel image, which perf may list under a symbol file's path.
pub(super) fn kernel_build(builds: &[Build]) -> Option<&BuildId> {
    let image = |build: &&Build| {
        let name = build.path.rsplit('/').next().unwrap_or_default();
        build.path.starts_with(KERNEL_IMAGE) || name.starts_with("vmlinux")
    };
    builds.iter().filter(|build| build.kernel).find(image).map(|build| &build.id)
}

/// A kernel module's name as perf prints it: `/lib/modules/6.1/kernel/fs/nf-x.ko.xz` becomes `[nf_x]`.
pub(super) fn module_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.find(".ko") {
        Some(end) => format!("[{}]", name[..end].replace('-', "_")),
        None => path.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::perf::Mode;
    use crate::collect::sampler::EventQueue;
    use crate::model::FrameId;

    fn mapping(pid: u32, path: &str, start: u64, inode: Option<u64>) -> MmapRecord<'_> {
        let (length, offset, device, build_id) = (0x1000, 0x100, (0, 0), None);
        MmapRecord { pid, start, length, offset, device, inode, build_id, path: path.as_bytes(), mode: Mode::User }
    }

    fn objects(builds: &[Build]) -> (Objects, EventQueue) {
        let mut out = EventQueue::default();
        let local = LocalFiles { root: "/".into(), vouched: false, same: false };
        (Objects::new(local, builds, false, &mut out), out)
    }

    #[test]
    fn one_file_is_one_module_and_another_build_of_it_another() {
        let (mut objects, mut out) = objects(&[]);
        let mut id = |pid, path, inode| objects.place(&mapping(pid, path, 0x5000, inode), &mut out).module.0;
        assert_eq!([id(1, "/bin/a", Some(1)), id(2, "/bin/a", Some(1)), id(2, "/bin/a", Some(2))], [1, 1, 2]);
        assert_eq!([id(1, "//anon", None), id(2, "[heap]", None), id(1, "", None)], [3, 4, 3]);
        let frame = |module| FrameDef { id: FrameId(0), module: Some(ModuleId(module)), address: 0 };
        let note = |frames: &[FrameDef]| {
            objects.note(frames, &RecordedSymbols::default()).map(|note| note.text.starts_with("2 of 2"))
        };
        assert_eq!(note(&[frame(1), frame(2), frame(3)]), Some(true), "code without a file is no missing file");
        assert_eq!(note(&[frame(0)]), None, "files that no stack goes through are not missed");
    }

    #[test]
    fn addresses_of_a_file_count_from_its_start_and_those_of_the_kernel_are_absolute() {
        let (mut objects, mut out) = objects(&[]);
        assert_eq!(objects.place(&mapping(1, "/bin/a", 0x5000, None), &mut out).base, 0x4f00);
        assert_eq!(objects.in_kernel(0x9000), Some(KERNEL), "as long as nothing is known of it");
        objects.map_kernel(&mapping(0, "[kernel.kallsyms]_text", 0x8000, None), false, &mut out);
        objects.map_kernel(&mapping(0, "/lib/modules/6/nf-x.ko.xz", 0x8800, None), false, &mut out);
        assert_eq!(objects.reference(), Some(("_text", 0x100)));
        let found: Vec<_> = [0x8010, 0x8801, 0x9900].map(|address| objects.in_kernel(address)).into();
        assert_eq!(found, [Some(KERNEL), Some(ModuleId(2)), None]);
    }

    #[test]
    fn kernel_modules_have_the_names_that_perf_prints() {
        assert_eq!(module_name("/lib/modules/6.1/kernel/net/nf-nat.ko.zst"), "[nf_nat]");
        assert_eq!(module_name("[ext4]"), "[ext4]");
        let build = |path: &str, kernel| Build { path: path.into(), id: BuildId(vec![1]), kernel };
        let found = |path, kernel| kernel_build(&[build(path, kernel)]).is_some();
        assert!(found("[kernel.kallsyms]", true) && found("/usr/lib/debug/boot/vmlinux-6.1", true));
        assert!(!found("/lib/modules/ext4.ko", true) && !found("/home/me/vmlinux", false));
    }
}
