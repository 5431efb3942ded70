//! Details of one function: callers, callees, source lines, instructions and their classes, with the path to each in the call tree.

use super::mix::{MixRow, SampledFrames};
use super::row::Row;
use super::tree::{Path, Paths, Tree};
use crate::analysis::{Butterfly, CodeIpc, Instruction, Rates, SourceLine};
use crate::model::{FrameId, InstructionClass, ModuleKind};
use crate::view::code_ipc::CodeRates;
use crate::view::context::ViewContext;
use serde::Serialize;

/// Maximum number of lines, and of instructions, in the list.
const MOST_PLACES: usize = 500;

/// Details of one function. Shares are of its total.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    /// Its name.
    pub name: String,
    /// Path of its module.
    pub module: String,
    /// Its row; `None` if it has no samples.
    pub row: Option<Row>,
    /// Its callers.
    pub callers: Tree,
    /// Its callees.
    pub callees: Tree,
    /// Its source lines, by self weight.
    pub lines: Vec<LineRow>,
    /// Number of lines left out.
    pub lines_left_out: usize,
    /// Its instructions, by weight.
    pub instructions: Vec<InstructionRow>,
    /// Number of instructions left out.
    pub instructions_left_out: usize,
    /// The classes of its instructions and of all in the selection, by its own share; empty until the code is read.
    pub mix: Vec<MixRow>,
    /// What the classes are read for.
    #[serde(skip)]
    pub(super) sampled: SampledFrames,
    /// Names of cells of the call tree, for `paths`.
    pub texts: Vec<String>,
    /// Paths from the root of the call tree, as indices into `texts`.
    pub paths: Vec<Path>,
}

/// A source line of the function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineRow {
    /// Source file, as named by the debug information.
    pub file: String,
    /// Line number, from 1; `None` if the compiler recorded none.
    pub line: Option<u32>,
    /// Share of the line's own code.
    pub self_share: f64,
    /// Share including what it calls.
    pub total_share: f64,
    /// Weight of the line's own code.
    pub self_weight: u64,
    /// Samples in it.
    pub self_samples: u64,
    /// The rates of its own code; absent unless cycles and instructions were sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<CodeRates>,
}

/// An instruction of the function.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InstructionRow {
    /// `module+0xoffset` in the file; an absolute address for kernel and JIT code.
    pub place: String,
    /// Its share.
    pub share: f64,
    /// Its weight.
    pub weight: u64,
    /// Its samples.
    pub samples: u64,
    /// Its source file and line, if known.
    pub line: Option<(String, Option<u32>)>,
    /// Its rates; absent unless cycles and instructions were sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<CodeRates>,
    /// Its frame.
    #[serde(skip)]
    pub frame: FrameId,
    /// Its text, where its code can be read.
    pub text: Option<String>,
}

impl Detail {
    pub(super) fn of(context: &ViewContext<'_>, name: &str, module: &str, row: Option<Row>) -> Detail {
        let butterfly = Butterfly::of(context.profile, &context.names, context.counts(), (name, module));
        let whole = butterfly.weight;
        let mut paths = Paths::new(context, &butterfly);
        let callers = Tree::of(&butterfly.callers, &context.names, whole, &mut paths);
        let callees = Tree::of(&butterfly.callees, &context.names, whole, &mut paths);
        let (texts, paths) = paths.finish();
        let ipc = CodeIpc::of(context.profile, &context.tasks, &context.selection);
        let by_line = ipc.map(|ipc| ipc.lines(&context.names, (name, module)));
        let by_frame = ipc.map(|ipc| ipc.frames(|frame| frame));
        let line = |line: &SourceLine| {
            let key = (line.file.as_str(), line.line);
            let rates = by_line.as_ref().map(|found| found.get(&key).copied().unwrap_or(Rates::NONE).into());
            LineRow { rates, ..line_row(line, whole) }
        };
        let instruction = |own: &Instruction| {
            let found = by_frame.as_ref().map(|found| found.get(&Some(own.frame)).copied().unwrap_or(Rates::NONE));
            InstructionRow { rates: found.map(CodeRates::from), ..instruction_row(context, own, whole) }
        };
        Detail {
            name: name.to_string(),
            module: module.to_string(),
            row,
            callers,
            callees,
            lines: butterfly.lines.iter().take(MOST_PLACES).map(line).collect(),
            lines_left_out: butterfly.lines.len().saturating_sub(MOST_PLACES),
            instructions: butterfly.instructions.iter().take(MOST_PLACES).map(instruction).collect(),
            instructions_left_out: butterfly.instructions.len().saturating_sub(MOST_PLACES),
            mix: Vec::new(),
            sampled: SampledFrames::of(context.profile, &butterfly, context.counts()),
            texts,
            paths,
        }
    }

    /// Adds the classes of the instructions. `class` returns that of a frame; `None` if its code cannot be read.
    pub fn add_mix(&mut self, class: impl FnMut(FrameId) -> Option<InstructionClass>) {
        self.mix = self.sampled.mix(class);
    }

    /// The names from the root of the call tree to an entry.
    #[must_use]
    pub fn path_of(&self, (path, names): (u32, u32)) -> Vec<String> {
        let path = self.paths.get(path as usize).map_or(&[][..], Vec::as_slice);
        let text = |at: &u32| self.texts.get(*at as usize).cloned().unwrap_or_default();
        path.iter().take(names as usize).map(text).collect()
    }
}

fn share(weight: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { weight as f64 / whole as f64 }
}

fn line_row(line: &SourceLine, whole: u64) -> LineRow {
    LineRow {
        file: line.file.clone(),
        line: line.line,
        self_share: share(line.self_weight, whole),
        total_share: share(line.total_weight, whole),
        self_weight: line.self_weight,
        self_samples: line.self_samples,
        rates: None,
    }
}

fn instruction_row(context: &ViewContext<'_>, own: &Instruction, whole: u64) -> InstructionRow {
    let frame = context.profile.frame(own.frame);
    let address = frame.map_or(0, |frame| frame.address);
    let module = frame.and_then(|frame| frame.module).and_then(|id| context.profile.module(id));
    let place = match module {
        Some(module) if matches!(module.kind, ModuleKind::File | ModuleKind::Vdso) => {
            format!("{}+{address:#x}", crate::analysis::short(&module.path))
        }
        _ => format!("{address:#x}"),
    };
    InstructionRow {
        place,
        share: share(own.weight, whole),
        weight: own.weight,
        samples: own.samples,
        line: own.line.clone(),
        rates: None,
        frame: own.frame,
        text: None,
    }
}
