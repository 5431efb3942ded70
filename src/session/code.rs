//! The code of recorded functions, read from the files of this machine that are the recorded ones.

use super::import::files::{LocalFiles, Wanted};
use crate::collect::host;
use crate::disassembly;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{
    Architecture, BuildId, DecodedInstruction, FileStamp, FrameDef, FrameId, FunctionCode, InstructionClass, Meta,
    ModuleDef, ModuleId, ModuleKind, ObjectFile, SampledCode, SampledInstruction, Syntax,
};
use crate::symbols;
use crate::sys::procfs::ProcFs;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// The longest instruction, bytes.
const LONGEST: u64 = 15;

/// The most addresses of one module whose classes are remembered; beyond, all are read again.
const MOST_CLASSES: usize = 1 << 16;

/// Reads the code of recorded functions. Each file is opened once, and the class at each sampled address is read once.
#[derive(Debug)]
pub struct RecordedCode {
    architecture: Option<Architecture>,
    started_ns: u64,
    files: LocalFiles,
    opened: FxHashMap<ModuleId, Opened>,
}

/// A module's file, and what was read from it.
#[derive(Debug)]
struct Opened {
    /// The build id that it was looked up by: a live session learns some later.
    build_id: Option<BuildId>,
    /// `None` if the recorded file is not here.
    file: Option<ObjectFile>,
    classes: FxHashMap<u64, Option<InstructionClass>>,
}

impl RecordedCode {
    /// Of a profile with this metadata, with the files below `symfs` if they are not those of this machine.
    #[must_use]
    pub fn of(meta: &Meta, symfs: Option<&Path>) -> RecordedCode {
        let here = host::identity(&ProcFs::new("/proc"));
        let architecture = match meta.host.arch.as_str() {
            "x86_64" => Some(Architecture::X86_64),
            "aarch64" => Some(Architecture::Aarch64),
            _ => None,
        };
        let files = LocalFiles::new(symfs, &meta.host, &here);
        RecordedCode { architecture, started_ns: meta.started_unix_ns, files, opened: FxHashMap::default() }
    }

    /// The instructions of the function that a frame lies in, and its code.
    ///
    /// # Errors
    /// `Unsupported` for code that is in no file, `NotFound` if the recorded file is not here, `Corrupt` if it is damaged.
    pub fn function(
        &mut self,
        profile: &Profile,
        frame: FrameId,
        syntax: Syntax,
    ) -> Result<(FunctionCode, Vec<DecodedInstruction>)> {
        let (frame, module) = place(profile, frame)?;
        let Some(file) = self.open(module).file.clone() else {
            return Err(Error::new(ErrorKind::NotFound, format!("the recorded {} is not here", module.path)).hint(
                "Instructions are read from the file that was recorded, found by its path and build id, or unchanged since; --symfs names a \
                 directory with the files of the recorded machine.",
            ));
        };
        let code = symbols::function_code(&file, frame.address)?;
        let instructions = disassembly::disassemble(&code, syntax);
        Ok((code, instructions))
    }

    /// The class of the instruction at a frame; `None` if its code cannot be read.
    pub fn class(&mut self, profile: &Profile, frame: FrameId) -> Option<InstructionClass> {
        let architecture = self.architecture?;
        let (frame, module) = in_file(profile, frame)?;
        let opened = self.open(module);
        if let Some(known) = opened.classes.get(&frame.address) {
            return *known;
        }
        let class = opened.instruction(frame.address).map(|bytes| disassembly::classify(architecture, &bytes));
        if opened.classes.len() >= MOST_CLASSES {
            opened.classes.clear();
        }
        opened.classes.insert(frame.address, class);
        class
    }

    /// What rules ask about the instructions at these frames; those whose code cannot be read are left out.
    pub fn sampled(&mut self, profile: &Profile, frames: impl IntoIterator<Item = FrameId>) -> SampledCode {
        let mut sampled = |frame| {
            let locked = self.is_locked(profile, frame)?;
            let (def, module) = in_file(profile, frame)?;
            let wide = disassembly::is_wide(self.architecture?, &self.open(module).instruction(def.address)?);
            Some((frame, SampledInstruction { locked, wide }))
        };
        frames.into_iter().filter_map(&mut sampled).collect()
    }

    fn is_locked(&mut self, profile: &Profile, frame: FrameId) -> Option<bool> {
        if self.class(profile, frame)? == InstructionClass::Locked {
            return Some(true);
        }
        let (def, module) = in_file(profile, frame)?;
        let length = def.address.min(LONGEST);
        let before = self.open(module).file.as_ref()?.bytes(def.address - length, length)?;
        if !disassembly::may_end_locked(self.architecture?, &before) {
            return Some(false);
        }
        // Rare: decoded from the start of the function, the instruction before is known.
        let (code, decoded) = self.function(profile, frame, Syntax::default()).ok()?;
        let address = def.address.wrapping_add(code.slide);
        let at = decoded.partition_point(|one| one.address < address);
        let before = at.checked_sub(1).and_then(|at| decoded.get(at));
        Some(before.is_some_and(|one| one.class == InstructionClass::Locked))
    }

    /// The text of the instruction at a frame, with offsets in the file for addresses; `None` if its code cannot be read.
    pub fn text(&mut self, profile: &Profile, frame: FrameId) -> Option<String> {
        let architecture = self.architecture?;
        let (FrameDef { address, .. }, module) = in_file(profile, frame)?;
        let bytes = self.open(module).instruction(address)?;
        let code = FunctionCode { architecture, address, slide: 0, bytes };
        Some(disassembly::disassemble(&code, Syntax::default()).into_iter().next()?.text)
    }

    /// The recorded file of a module, if it is here.
    pub(super) fn file(&mut self, module: &ModuleDef) -> Option<ObjectFile> {
        self.open(module).file.clone()
    }

    fn open(&mut self, module: &ModuleDef) -> &mut Opened {
        let (files, started_ns) = (&self.files, self.started_ns);
        let open = || {
            let file = files.find(&Wanted { path: &module.path, build_id: module.build_id.as_ref(), inode: None })?;
            // Without a build id, only its age tells whether the file is still the recorded one.
            let unchanged = || file.stamp().is_some_and(|stamp| is_older(stamp, started_ns));
            (module.build_id.is_some() || unchanged()).then_some(file)
        };
        let opened = || Opened { build_id: module.build_id.clone(), file: open(), classes: FxHashMap::default() };
        match self.opened.entry(module.id) {
            Entry::Occupied(mut known) => {
                if known.get().build_id != module.build_id {
                    known.insert(opened());
                }
                known.into_mut()
            }
            Entry::Vacant(new) => new.insert(opened()),
        }
    }
}

impl Opened {
    /// As many bytes as an instruction may have.
    fn instruction(&self, address: u64) -> Option<Box<[u8]>> {
        let file = self.file.as_ref()?;
        file.bytes(address, file.length().saturating_sub(address).min(LONGEST))
    }
}

/// A frame's address in a file, and that module.
pub(super) fn in_file(profile: &Profile, frame: FrameId) -> Option<(FrameDef, &ModuleDef)> {
    let frame = *profile.frame(frame)?;
    let module = profile.module(frame.module?).filter(|module| module.kind == ModuleKind::File)?;
    Some((frame, module))
}

/// The same, or why it is in no file.
fn place(profile: &Profile, frame: FrameId) -> Result<(FrameDef, &ModuleDef)> {
    if let Some(place) = in_file(profile, frame) {
        return Ok(place);
    }
    let module = profile.frame(frame).and_then(|frame| frame.module).and_then(|id| profile.module(id));
    let (what, hint) = match module.map(|module| module.kind) {
        Some(ModuleKind::Jit) => {
            ("code made at run time is in no file", "Its runtime can print it; the recording has its addresses.")
        }
        Some(ModuleKind::Kernel) => (
            "the code of the running kernel is in no file that ironlaw reads",
            "`perf annotate` with a vmlinux shows it; the recording has its addresses and names.",
        ),
        _ => ("this code is in no file", "The recording has its addresses."),
    };
    Err(Error::new(ErrorKind::Unsupported, what).hint(hint))
}

/// Whether a file was last changed before a time, nanoseconds since the Unix epoch.
fn is_older(stamp: FileStamp, unix_ns: u64) -> bool {
    let (seconds, nanos) = stamp.changed;
    u64::try_from(seconds).is_ok_and(|seconds| seconds.saturating_mul(1_000_000_000).saturating_add(nanos) < unix_ns)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::collect::sampler;
    use crate::model::profile::ProfileBuilder;
    use crate::model::{CallGraph, Definition, Event, HostFacts, Plan, Rate, Target};

    fn profile(path: &str) -> ProfileBuilder {
        let plan = Plan::new(Target::Cpus { cpus: vec![] }, Rate::Frequency(997), CallGraph::Auto);
        let arch = std::env::consts::ARCH.to_string();
        let host = HostFacts { arch, ..host::identity(&ProcFs::new("/proc")) };
        // Files are newer than this recording.
        let mut builder = ProfileBuilder::new(Meta { host, started_unix_ns: 0, ..Meta::new((1, 0), plan) });
        let kinds = [(path, ModuleKind::File), ("[kernel]", ModuleKind::Kernel)];
        for (at, (path, kind)) in (0_u32..).zip(kinds) {
            let (path, build_id) = (path.to_string(), None);
            let module = ModuleDef { id: ModuleId(at), path, build_id, kind, pid: 0 };
            builder.apply(Event::Define(Definition::Module(module)));
            builder.add_frame(FrameDef { id: FrameId(at), module: Some(ModuleId(at)), address: 0 });
        }
        builder.add_frame(FrameDef { id: FrameId(2), module: Some(ModuleId(0)), address: u64::MAX - 3 });
        builder.add_frame(FrameDef { id: FrameId(3), module: None, address: 0 });
        builder
    }

    #[test]
    fn code_is_read_once_and_only_from_the_file_that_was_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("app");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let path = copy.to_str().unwrap();
        let mut builder = profile(path);
        let mut code = RecordedCode::of(&builder.profile().meta, None);
        let class =
            |code: &mut RecordedCode, builder: &ProfileBuilder, frame| code.class(builder.profile(), FrameId(frame));
        assert_eq!(class(&mut code, &builder, 0), None, "it may be another build");
        let file = LocalFiles::new(Some(Path::new("/")), &builder.profile().meta.host, &Default::default())
            .find(&Wanted { path, build_id: None, inode: None });
        let known = builder.profile().module(ModuleId(0)).unwrap().clone();
        let build_id = sampler::build_id(&file.unwrap()).unwrap();
        let other = Some(BuildId(vec![1; 20]));
        for (build_id, readable) in [(other, false), (build_id, true)] {
            builder.apply(Event::Define(Definition::Module(ModuleDef { build_id, ..known.clone() })));
            assert_eq!(class(&mut code, &builder, 0).is_some(), readable, "the build id came later");
        }
        for frame in 1..6 {
            assert_eq!(class(&mut code, &builder, frame), None, "{frame} is in no file, or beyond its end");
        }
        std::fs::remove_file(&copy).unwrap();
        assert!(class(&mut code, &builder, 0).is_some() && code.opened.len() == 1, "what was read is known");
        let mut again = RecordedCode::of(&builder.profile().meta, None);
        assert_eq!(class(&mut again, &builder, 0), None);
    }
}
