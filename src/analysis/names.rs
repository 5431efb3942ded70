//! Names every frame once per profile: the cells of a call tree and the functions of a table.

use crate::model::profile::Profile;
use crate::model::{FrameDef, FrameId, ModuleKind, Symbol};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::sync::OnceLock;

/// Where code lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeKind {
    /// A program, library or the vdso.
    User,
    /// The kernel or one of its modules.
    Kernel,
    /// Code without a file, mostly JIT-compiled.
    Jit,
    /// No code: a heading that ironlaw inserted, e.g. a process or `[truncated stack]`.
    Heading,
}

/// One cell of a call tree. Equal cells under equal callers are merged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Label {
    /// Function name; `module+0xoffset` for a file without a name there; `[kernel]`, `[jit]` or `[unknown]`.
    pub text: String,
    /// Where the code lives.
    pub kind: CodeKind,
    /// Whether it was inlined into its caller.
    pub inlined: bool,
}

/// One function of a table, inlined or not. All unnamed addresses of a module share one `[unresolved]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Path of its module as the target sees it; empty if unknown.
    pub module: String,
    /// Where the code lives.
    pub kind: CodeKind,
}

/// One call at a frame; an inlined call shares its frame with its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its cell, see [`Names::label`].
    pub label: u32,
    /// Index into [`Names::functions`].
    pub function: u32,
    /// An unnamed address that cannot be distinguished from its neighbours on the stack.
    pub faceless: bool,
}

/// The names of a profile's frames.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Distinct functions.
    pub functions: Vec<Function>,
    /// For each function, whether every call of it was inlined into its caller.
    pub inlined: Vec<bool>,
    /// Distinct cells.
    labels: Vec<LabelDef>,
    /// The calls of all frames.
    calls: Vec<Call>,
    /// Where the calls of each frame begin, and where the last ones end.
    starts: Vec<u32>,
    /// Texts of offsets, by cell, made when one is first asked for.
    offsets: OnceLock<Vec<OnceLock<Box<str>>>>,
}

/// A cell, without its text: most unnamed addresses of a profile are never shown.
#[derive(Debug, Clone, Copy)]
struct LabelDef {
    /// A function of this kind with this name.
    function: u32,
    text: LabelText,
}

#[derive(Debug, Clone, Copy)]
enum LabelText {
    /// The function's name.
    Name { inlined: bool },
    /// The file name of the function's module.
    Module,
    /// An offset into the function's module.
    Offset { address: u64 },
}

/// The function that stands for all unnamed addresses of a module.
pub(crate) const UNRESOLVED: &str = "[unresolved]";

/// The name of an address outside every mapping.
const OUTSIDE: &str = "[unknown]";

/// Deeper than any captured stack; only a damaged recording exceeds it.
pub(super) const DEEPEST: usize = 4096;

impl Names {
    /// Names every frame.
    #[must_use]
    pub fn of(profile: &Profile) -> Names {
        let mut builder = Builder::of(profile);
        profile.frames.iter().for_each(|frame| builder.add(profile, frame));
        builder.names
    }

    /// The calls at a frame, innermost first.
    #[inline]
    #[must_use]
    pub fn at(&self, frame: FrameId) -> &[Call] {
        let at = frame.0 as usize;
        match self.starts.get(at..at + 2) {
            Some([from, to]) => &self.calls[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// The text of a cell.
    #[must_use]
    pub fn text(&self, label: u32) -> &str {
        let LabelDef { function, text } = self.labels[label as usize];
        let function = &self.functions[function as usize];
        match text {
            LabelText::Name { .. } => &function.name,
            LabelText::Module => short(&function.module),
            LabelText::Offset { address } => {
                let texts = self.offsets.get_or_init(|| vec![OnceLock::new(); self.labels.len()]);
                texts[label as usize].get_or_init(|| format!("{}+{address:#x}", short(&function.module)).into())
            }
        }
    }

    /// Where the code of a cell lives.
    #[must_use]
    pub fn kind(&self, label: u32) -> CodeKind {
        self.functions[self.labels[label as usize].function as usize].kind
    }

    /// Whether a cell was inlined into its caller.
    #[must_use]
    pub fn is_inlined(&self, label: u32) -> bool {
        matches!(self.labels[label as usize].text, LabelText::Name { inlined: true })
    }

    /// A cell.
    #[must_use]
    pub fn label(&self, label: u32) -> Label {
        Label { text: self.text(label).to_string(), kind: self.kind(label), inlined: self.is_inlined(label) }
    }

    /// Number of distinct cells.
    #[must_use]
    pub fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// The calls of a stack, innermost first. A run of faceless frames counts as one: its length means nothing.
    pub fn walk<'a>(
        &'a self,
        profile: &'a Profile,
        stack: Option<crate::model::StackId>,
    ) -> impl Iterator<Item = Call> + 'a {
        self.walk_frames(profile, stack).map(|(_, _, call)| call)
    }

    /// The same calls, each with its frame and its inline depth in that frame: 0 is the innermost.
    pub fn walk_frames<'a>(
        &'a self,
        profile: &'a Profile,
        stack: Option<crate::model::StackId>,
    ) -> impl Iterator<Item = (FrameId, usize, Call)> + 'a {
        let mut last = None;
        let frames = profile.walk(stack).take(DEEPEST);
        let calls =
            frames.flat_map(|frame| self.at(frame).iter().enumerate().map(move |(at, call)| (frame, at, *call)));
        calls.filter(move |(_, _, call)| {
            let repeated = call.faceless && last == Some(*call);
            last = Some(*call);
            !repeated
        })
    }
}

/// A file's name without its directories, for a table column.
pub(crate) fn short(path: &str) -> &str {
    let path = path.trim_end_matches(" (deleted)");
    match path.rsplit('/').next() {
        Some(name) if !name.is_empty() => name,
        _ => path,
    }
}

/// Names frames. A name is hashed once as text; everything else is known by numbers.
struct Builder<'p> {
    names: Names,
    texts: FxHashMap<&'p str, u32>,
    /// Cells by text, kind, and whether they are inlined.
    labels: FxHashMap<(u32, CodeKind, bool), u32>,
    /// Cells of unnamed addresses, by file name and address.
    offsets: FxHashMap<(u32, u64), u32>,
    /// Functions by name, path of the module, and kind.
    functions: FxHashMap<(u32, u32, CodeKind), u32>,
    modules: Vec<Module<'p>>,
    outside: Module<'p>,
}

/// What the names of a module's frames have in common.
#[derive(Clone, Copy)]
struct Module<'p> {
    kind: CodeKind,
    path: &'p str,
    path_text: u32,
    file_text: u32,
    /// Its function for all unnamed addresses, once there is one.
    nameless: Option<u32>,
}

impl<'p> Builder<'p> {
    fn of(profile: &'p Profile) -> Builder<'p> {
        let empty = Module { kind: CodeKind::User, path: "", path_text: 0, file_text: 0, nameless: None };
        let mut builder = Builder {
            names: Names::default(),
            texts: FxHashMap::from_iter([("", 0)]),
            labels: FxHashMap::default(),
            offsets: FxHashMap::default(),
            functions: FxHashMap::default(),
            modules: Vec::with_capacity(profile.modules.len()),
            outside: empty,
        };
        builder.names.starts.reserve_exact(profile.frames.len() + 1);
        builder.names.calls.reserve(profile.frames.len());
        builder.names.starts.push(0);
        for module in &profile.modules {
            let kind = match module.kind {
                ModuleKind::File | ModuleKind::Vdso => CodeKind::User,
                ModuleKind::Kernel => CodeKind::Kernel,
                ModuleKind::Jit => CodeKind::Jit,
            };
            let (path_text, file_text) = (builder.text(&module.path), builder.text(short(&module.path)));
            builder.modules.push(Module { kind, path: &module.path, path_text, file_text, nameless: None });
        }
        builder
    }

    fn add(&mut self, profile: &'p Profile, frame: &FrameDef) {
        let module = frame.module.map(|id| id.0 as usize).filter(|id| *id < self.modules.len());
        let symbols = profile.names_at(frame.id);
        if symbols.is_empty() {
            self.nameless(frame, module);
        }
        for symbol in symbols {
            self.named(symbol, module.map_or(self.outside, |id| self.modules[id]));
        }
        self.names.starts.push(self.names.calls.len() as u32);
    }

    fn named(&mut self, symbol: &'p Symbol, module: Module<'p>) {
        let name = self.text(&symbol.function);
        let function = self.function(name, &symbol.function, module);
        let inlined = symbol.inlined;
        let offset = offset(&symbol.function).filter(|_| module.kind == CodeKind::User && !inlined);
        let label = match offset {
            // The text of an unnamed address, e.g. in an imported recording.
            Some((file, address)) => {
                let file = self.text(file);
                self.offset(file, address, function, LabelText::Name { inlined })
            }
            None => self.label(name, module.kind, inlined, function, LabelText::Name { inlined }),
        };
        self.names.inlined[function as usize] &= inlined;
        self.names.calls.push(Call { label, function, faceless: false });
    }

    /// An offset into a file can be resolved later; an address in the kernel or in JIT code cannot.
    fn nameless(&mut self, frame: &FrameDef, id: Option<usize>) {
        let module = id.map_or(self.outside, |id| self.modules[id]);
        let function = module.nameless.unwrap_or_else(|| self.nameless_function(id));
        let (label, faceless) = match (id, module.kind) {
            (None, kind) => {
                let text = self.text(OUTSIDE);
                (self.label(text, kind, false, function, LabelText::Name { inlined: false }), true)
            }
            (Some(_), CodeKind::User) => {
                let text = LabelText::Offset { address: frame.address };
                (self.offset(module.file_text, frame.address, function, text), false)
            }
            (Some(_), kind) => (self.label(module.file_text, kind, false, function, LabelText::Module), true),
        };
        self.names.inlined[function as usize] = false;
        self.names.calls.push(Call { label, function, faceless });
    }

    /// The function that stands for all unnamed addresses of a module, or for those outside of all.
    fn nameless_function(&mut self, id: Option<usize>) -> u32 {
        let name = if id.is_some() { UNRESOLVED } else { OUTSIDE };
        let (text, module) = (self.text(name), id.map_or(self.outside, |id| self.modules[id]));
        let function = self.function(text, name, module);
        id.map_or(&mut self.outside, |id| &mut self.modules[id]).nameless = Some(function);
        function
    }

    fn text(&mut self, text: &'p str) -> u32 {
        let next = self.texts.len() as u32;
        *self.texts.entry(text).or_insert(next)
    }

    fn label(&mut self, text: u32, kind: CodeKind, inlined: bool, function: u32, def: LabelText) -> u32 {
        let labels = &mut self.names.labels;
        *self.labels.entry((text, kind, inlined)).or_insert_with(|| push(labels, function, def))
    }

    fn offset(&mut self, file: u32, address: u64, function: u32, def: LabelText) -> u32 {
        let labels = &mut self.names.labels;
        *self.offsets.entry((file, address)).or_insert_with(|| push(labels, function, def))
    }

    fn function(&mut self, name_text: u32, name: &str, module: Module<'p>) -> u32 {
        let names = &mut self.names;
        *self.functions.entry((name_text, module.path_text, module.kind)).or_insert_with(|| {
            names.functions.push(Function {
                name: name.to_string(),
                module: module.path.to_string(),
                kind: module.kind,
            });
            names.inlined.push(true);
            names.functions.len() as u32 - 1
        })
    }
}

fn push(labels: &mut Vec<LabelDef>, function: u32, text: LabelText) -> u32 {
    labels.push(LabelDef { function, text });
    labels.len() as u32 - 1
}

/// The file and address in a text that reads like an unnamed address.
fn offset(text: &str) -> Option<(&str, u64)> {
    let (file, digits) = text.rsplit_once("+0x")?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    (format!("{address:x}") == digits).then_some((file, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    fn labels(stack: &str) -> Vec<String> {
        let mut synthetic = Synthetic::new();
        let stack = synthetic.stack(stack);
        let profile = synthetic.finish();
        let names = Names::of(&profile);
        let text = |call: Call| {
            format!("{}{}", names.text(call.label), if names.is_inlined(call.label) { " inlined" } else { "" })
        };
        names.walk(&profile, stack).map(text).collect()
    }

    #[test]
    fn every_frame_has_a_name_that_can_be_read() {
        for (stack, expected) in [
            ("/usr/bin/app!main;/usr/bin/app!inner < outer", vec!["inner inlined", "outer", "main"]),
            ("/usr/lib/libx.so.1!+0x40;/usr/lib/libx.so.1!+0x80", vec!["libx.so.1+0x80", "libx.so.1+0x40"]),
            ("app!main;[kernel]!+0xff01;[kernel]!+0xff02", vec!["[kernel]", "main"]),
            ("?", vec!["[unknown]"]),
            ("[jit]!+0x10", vec!["[jit]"]),
        ] {
            assert_eq!(labels(stack), expected, "{stack}");
        }
    }

    #[test]
    fn a_recursive_call_is_not_taken_for_a_faceless_run() {
        assert_eq!(labels("app!walk;app!walk"), ["walk", "walk"]);
    }

    #[test]
    fn a_short_name_drops_folders_and_the_mark_of_a_deleted_file() {
        for (path, expected) in
            [("/usr/bin/app (deleted)", "app"), ("[kernel]", "[kernel]"), ("/", "/"), ("", ""), ("a/b", "b")]
        {
            assert_eq!(short(path), expected);
        }
    }
}
