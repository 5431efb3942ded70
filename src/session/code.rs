//! The code of recorded functions, read from the files of this machine that are the recorded ones.

use super::import::files::{LocalFiles, Wanted};
use crate::collect::host;
use crate::disassembly;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{
    Architecture, DecodedInstruction, FileStamp, FrameDef, FrameId, FunctionCode, InstructionClass, LockedFrames,
    ModuleDef, ModuleId, ModuleKind, ObjectFile, Syntax,
};
use crate::symbols;
use crate::sys::procfs::ProcFs;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The longest instruction, bytes.
const LONGEST: u64 = 15;

/// Reads the code of a profile's functions. Each file is opened once.
#[derive(Debug)]
pub struct RecordedCode<'a> {
    profile: &'a Profile,
    files: LocalFiles,
    opened: FxHashMap<ModuleId, Option<ObjectFile>>,
}

impl<'a> RecordedCode<'a> {
    /// Of a profile, with the files below `symfs` if they are not those of this machine.
    #[must_use]
    pub fn of(profile: &'a Profile, symfs: Option<&Path>) -> RecordedCode<'a> {
        let here = host::identity(&ProcFs::new("/proc"));
        let files = LocalFiles::new(symfs, &profile.meta.host, &here);
        RecordedCode { profile, files, opened: FxHashMap::default() }
    }

    /// The instructions of the function that a frame lies in, and its code.
    ///
    /// # Errors
    /// `Unsupported` for code that is in no file, `NotFound` if the recorded file is not here, `Corrupt` if it is damaged.
    pub fn function(&mut self, frame: FrameId, syntax: Syntax) -> Result<(FunctionCode, Vec<DecodedInstruction>)> {
        let (frame, module) = self.place(frame)?;
        let Some(file) = self.file(module) else {
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
    pub fn class(&mut self, frame: FrameId) -> Option<InstructionClass> {
        let code = self.instruction(frame)?;
        Some(disassembly::classify(code.architecture, &code.bytes))
    }

    /// Which of these frames stand for locked instructions; those whose code cannot be read are left out.
    pub fn locked(&mut self, frames: impl IntoIterator<Item = FrameId>) -> LockedFrames {
        frames.into_iter().filter_map(|frame| Some((frame, self.is_locked(frame)?))).collect()
    }

    fn is_locked(&mut self, frame: FrameId) -> Option<bool> {
        let code = self.instruction(frame)?;
        if disassembly::classify(code.architecture, &code.bytes) == InstructionClass::Locked {
            return Some(true);
        }
        let (def, module) = self.place(frame).ok()?;
        let length = def.address.min(LONGEST);
        let before = self.file(module)?.bytes(def.address - length, length)?;
        if !disassembly::may_end_locked(code.architecture, &before) {
            return Some(false);
        }
        // Rare: decoded from the start of the function, the instruction before is known.
        let (code, decoded) = self.function(frame, Syntax::default()).ok()?;
        let address = def.address.wrapping_add(code.slide);
        let at = decoded.partition_point(|one| one.address < address);
        let before = at.checked_sub(1).and_then(|at| decoded.get(at));
        Some(before.is_some_and(|one| one.class == InstructionClass::Locked))
    }

    /// The text of the instruction at a frame, with offsets in the file for addresses; `None` if its code cannot be read.
    pub fn text(&mut self, frame: FrameId) -> Option<String> {
        let code = self.instruction(frame)?;
        Some(disassembly::disassemble(&code, Syntax::default()).into_iter().next()?.text)
    }

    /// As many bytes as an instruction may have.
    fn instruction(&mut self, frame: FrameId) -> Option<FunctionCode> {
        let architecture = match self.profile.meta.host.arch.as_str() {
            "x86_64" => Architecture::X86_64,
            "aarch64" => Architecture::Aarch64,
            _ => return None,
        };
        let (frame, module) = self.place(frame).ok()?;
        let file = self.file(module)?;
        let length = file.length().saturating_sub(frame.address).min(LONGEST);
        let bytes = file.bytes(frame.address, length)?;
        Some(FunctionCode { architecture, address: frame.address, slide: 0, bytes })
    }

    fn place(&self, frame: FrameId) -> Result<(FrameDef, &'a ModuleDef)> {
        let refused = |what: &str, hint: &str| Err(Error::new(ErrorKind::Unsupported, what).hint(hint));
        let frame = self.profile.frame(frame).copied();
        let module = frame.and_then(|frame| frame.module).and_then(|id| self.profile.module(id));
        match (frame, module) {
            (Some(frame), Some(module)) if module.kind == ModuleKind::File => Ok((frame, module)),
            (_, Some(module)) if module.kind == ModuleKind::Jit => refused(
                "code made at run time is in no file",
                "Its runtime can print it; the recording has its addresses.",
            ),
            (_, Some(module)) if module.kind == ModuleKind::Kernel => refused(
                "the code of the running kernel is in no file that ironlaw reads",
                "`perf annotate` with a vmlinux shows it; the recording has its addresses and names.",
            ),
            _ => refused("this code is in no file", "The recording has its addresses."),
        }
    }

    fn file(&mut self, module: &ModuleDef) -> Option<ObjectFile> {
        let (files, started_ns) = (&self.files, self.profile.meta.started_unix_ns);
        let open = || {
            let file = files.find(&Wanted { path: &module.path, build_id: module.build_id.as_ref(), inode: None })?;
            // Without a build id, only its age tells whether the file is still the recorded one.
            let unchanged = || file.stamp().is_some_and(|stamp| is_older(stamp, started_ns));
            (module.build_id.is_some() || unchanged()).then_some(file)
        };
        self.opened.entry(module.id).or_insert_with(open).clone()
    }
}

/// Whether a file was last changed before a time, nanoseconds since the Unix epoch.
fn is_older(stamp: FileStamp, unix_ns: u64) -> bool {
    let (seconds, nanos) = stamp.changed;
    u64::try_from(seconds).is_ok_and(|seconds| seconds.saturating_mul(1_000_000_000).saturating_add(nanos) < unix_ns)
}
