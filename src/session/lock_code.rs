//! Finds the code of locks on the stacks of a profile, by the instructions of the functions that are on them.

use super::code::{RecordedCode, in_file};
use crate::disassembly::{self, LockShape};
use crate::model::profile::Profile;
use crate::model::{FrameId, LockCode, LockRole, ModuleId, ModuleKind, StackId};
use crate::symbols::CodeReader;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Innermost program functions of a stack that are looked at: a lock takes a few to wait.
const EXAMINED: usize = 4;

/// Bytes of a called function that are read to see whether it waits, and how far calls are followed.
const CALLED_CODE: u64 = 1024;
const CALLS: u32 = 2;

/// Functions of one file that are followed at most: beyond, none waits.
const MOST_FOLLOWED: usize = 1 << 14;

impl RecordedCode {
    /// The frames at lock code, among the innermost ones of all stacks of a profile.
    pub fn locks(&mut self, profile: &Profile) -> LockCode {
        let mut locks = LockCode::default();
        let mut seen: FxHashSet<FrameId> = FxHashSet::default();
        let mut files: FxHashMap<ModuleId, Option<LockReader>> = FxHashMap::default();
        for stack in sampled(profile) {
            for frame in program(profile, stack).take(EXAMINED).filter(|frame| seen.insert(*frame)) {
                let Some((def, module)) = in_file(profile, frame) else { continue };
                let reader = files.entry(module.id).or_insert_with(|| {
                    let file = self.file(module)?;
                    CodeReader::of(&file).ok().map(LockReader::of)
                });
                let role = reader.as_mut().and_then(|reader| reader.role(def.address));
                locks.extend(role.map(|role| (frame, role)));
            }
        }
        locks
    }
}

/// The stacks of samples and of waits.
fn sampled(profile: &Profile) -> FxHashSet<StackId> {
    let samples = profile.samples.stack.iter().copied().flatten();
    samples.chain(profile.off_cpu.iter().filter_map(|span| span.stack)).collect()
}

/// The frames of a stack that are not the kernel's, innermost first.
fn program(profile: &Profile, stack: StackId) -> impl Iterator<Item = FrameId> {
    let kind = |frame| profile.module(profile.frame(frame)?.module?).map(|module| module.kind);
    profile.walk(Some(stack)).filter(move |frame| kind(*frame) != Some(ModuleKind::Kernel))
}

/// The lock code of one file.
struct LockReader {
    code: CodeReader,
    /// By the offset in the file at which a function begins, with the one at which it ends and what to add for addresses.
    functions: BTreeMap<u64, (u64, u64, Option<LockShape>)>,
    /// Whether the function at an address waits, and how far its calls were followed.
    waiting: FxHashMap<(u64, u32), bool>,
}

impl LockReader {
    fn of(code: CodeReader) -> LockReader {
        LockReader { code, functions: BTreeMap::new(), waiting: FxHashMap::default() }
    }

    /// What the code at an offset in the file does for a lock.
    fn role(&mut self, offset: u64) -> Option<LockRole> {
        let known = self.functions.range(..=offset).next_back().is_some_and(|(_, (end, ..))| offset < *end);
        if !known {
            self.read(offset);
        }
        let (_, (_, slide, shape)) = self.functions.range(..=offset).next_back()?;
        shape.as_ref()?.at(offset.wrapping_add(*slide))
    }

    fn read(&mut self, offset: u64) {
        let LockReader { code: reader, functions, waiting } = self;
        let Some(code) = reader.function(offset) else {
            functions.insert(offset, (offset + 1, 0, None));
            return;
        };
        let shape = LockShape::of(&code, |target| waits(reader, waiting, target, CALLS));
        let start = code.address.wrapping_sub(code.slide);
        functions.insert(start, (start.saturating_add(code.bytes.len() as u64), code.slide, shape));
    }
}

/// Whether the function at an address waits for another thread, itself or in `calls` steps further.
fn waits(reader: &CodeReader, known: &mut FxHashMap<(u64, u32), bool>, address: u64, calls: u32) -> bool {
    if let Some(known) = known.get(&(address, calls)) {
        return *known;
    }
    if known.len() >= MOST_FOLLOWED {
        return false;
    }
    // Functions may call each other in a circle.
    known.insert((address, calls), false);
    let code = reader.code_from(address, CALLED_CODE);
    let waiting = code
        .is_some_and(|code| disassembly::waits(&code, |target| calls > 1 && waits(reader, known, target, calls - 1)));
    known.insert((address, calls), waiting);
    waiting
}
