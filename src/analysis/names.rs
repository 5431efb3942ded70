//! Names every frame once per profile: the cells of a call tree and the functions of a table.

use crate::model::profile::Profile;
use crate::model::{FrameDef, FrameId, ModuleKind, Symbol};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
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

/// Whose a function's source is, by the directory of its lines. Functions that differ only in this are equal: one build of a
/// program may have debug information, and the next one none.
#[derive(Debug, Clone, Copy, Default)]
pub enum SourceOwner {
    /// No line is known.
    #[default]
    Unknown,
    /// The program's own.
    Program,
    /// Of a library that the program contains: a package, or what the compiler brings.
    Library,
}

impl PartialEq for SourceOwner {
    fn eq(&self, _: &SourceOwner) -> bool {
        true
    }
}

impl Eq for SourceOwner {}

impl PartialOrd for SourceOwner {
    fn partial_cmp(&self, other: &SourceOwner) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SourceOwner {
    fn cmp(&self, _: &SourceOwner) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for SourceOwner {
    fn hash<H: Hasher>(&self, _: &mut H) {}
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
    /// Whose its source is.
    pub source: SourceOwner,
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

/// A call on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackCall {
    /// Its frame; of a tail call, the one of its caller.
    pub frame: FrameId,
    /// Its inline depth in that frame: 0 is the innermost.
    pub depth: usize,
    /// What is called.
    pub call: Call,
    /// Whether it ended in a jump to the next function and has no frame of its own.
    pub is_tail_call: bool,
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
    /// By frame, the function of the same module that its call instruction names; as long as the last frame with one needs.
    called: Vec<Option<Call>>,
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
        for (function, lines) in builder.names.functions.iter_mut().zip(&builder.library_lines) {
            function.source = match lines {
                0 => SourceOwner::Unknown,
                1.. => SourceOwner::Library,
                _ => SourceOwner::Program,
            };
        }
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
        self.walk_frames(profile, stack).map(|step| step.call)
    }

    /// The same calls, each with its frame.
    pub fn walk_frames<'a>(
        &'a self,
        profile: &'a Profile,
        stack: Option<crate::model::StackId>,
    ) -> impl Iterator<Item = StackCall> + 'a {
        let mut last = None;
        let mut frames = profile.walk(stack).take(DEEPEST).peekable();
        let frames = std::iter::from_fn(move || Some((frames.next()?, frames.peek().copied())));
        let calls = frames.flat_map(|(frame, outer)| {
            let own = self.at(frame).iter().enumerate();
            let own = own.map(move |(depth, call)| StackCall { frame, depth, call: *call, is_tail_call: false });
            let tail = outer.and_then(|outer| Some((outer, self.tail_call(outer, frame)?)));
            own.chain(tail.map(|(frame, call)| StackCall { frame, depth: 0, call, is_tail_call: true }))
        });
        calls.filter(move |StackCall { call, .. }| {
            let repeated = call.faceless && last == Some(*call);
            last = Some(*call);
            !repeated
        })
    }

    /// The function between two adjacent frames that has none: the outer frame's code calls it, and the inner frame is of
    /// another function, which it has jumped to.
    #[inline]
    #[must_use]
    pub fn tail_call(&self, outer: FrameId, inner: FrameId) -> Option<Call> {
        let called = (*self.called.get(outer.0 as usize)?)?;
        let callee = self.at(inner).last()?;
        (callee.function != called.function && self.may_jump(called, *callee)).then_some(called)
    }

    /// Whether a function may have jumped to another one whose frame is whole and named: not to a part of itself, nor into the
    /// kernel; and what a signal interrupted has called nothing.
    #[cold]
    fn may_jump(&self, from: Call, to: Call) -> bool {
        let name = |call: Call| self.functions[call.function as usize].name.as_str();
        let is_named = matches!(self.labels[to.label as usize].text, LabelText::Name { .. }) && !to.faceless;
        is_named
            && self.kind(to.label) == CodeKind::User
            && written(name(to)) != written(name(from))
            && name(to) != SIGNAL_RETURN
    }
}

/// The function whose frame the kernel makes for a signal's handler to return to.
const SIGNAL_RETURN: &str = "__restore_rt";

/// The name of a function as it was written, without the mark of a part or copy that the compiler made of it.
fn written(name: &str) -> &str {
    [" [clone ", ".cold", ".part."].iter().fold(name, |name, mark| name.split_once(mark).map_or(name, |(name, _)| name))
}

/// A file's name without its directories, for a table column.
pub(crate) fn short(path: &str) -> &str {
    let path = path.trim_end_matches(" (deleted)");
    match path.rsplit('/').next() {
        Some(name) if !name.is_empty() => name,
        _ => path,
    }
}

/// Where the sources of libraries lie that a program contains, and not its own: packages, what the compilers bring, headers.
const LIBRARIES: [&str; 9] = [
    "/rustc/",
    "/rustlib/src/",
    "/.cargo/registry/src/",
    "/.cargo/git/checkouts/",
    "/go/src/",
    "/go/pkg/mod/",
    "/usr/include/",
    "/usr/lib/gcc/",
    "/usr/lib/go",
];

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
    /// Source files, and whether they belong to a library.
    files: FxHashMap<&'p str, bool>,
    /// By function, how many more of its lines belong to a library than do not.
    library_lines: Vec<i32>,
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
            files: FxHashMap::default(),
            library_lines: Vec::new(),
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
        let of = module.map_or(self.outside, |id| self.modules[id]);
        for symbol in symbols {
            self.named(symbol, of);
        }
        if let Some(called) = symbols.last().and_then(|symbol| symbol.calls.as_deref()) {
            self.called(called, of);
        }
        self.names.starts.push(self.names.calls.len() as u32);
    }

    fn named(&mut self, symbol: &'p Symbol, module: Module<'p>) {
        let name = self.text(&symbol.function);
        let function = self.function(name, &symbol.function, module);
        if let Some(file) = symbol.file.as_deref() {
            let belongs = || LIBRARIES.iter().any(|part| file.contains(part));
            let is_library = *self.files.entry(file).or_insert_with(belongs);
            self.library_lines[function as usize] += if is_library { 1 } else { -1 };
        }
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

    /// What the frame in hand calls.
    fn called(&mut self, name: &'p str, module: Module<'p>) {
        let text = self.text(name);
        let function = self.function(text, name, module);
        let label = self.label(text, module.kind, false, function, LabelText::Name { inlined: false });
        self.names.inlined[function as usize] = false;
        self.names.called.resize(self.names.starts.len() - 1, None);
        self.names.called.push(Some(Call { label, function, faceless: false }));
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
                source: SourceOwner::Unknown,
            });
            names.inlined.push(true);
            self.library_lines.push(0);
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
    fn a_function_that_ended_in_a_jump_stands_between_its_caller_and_the_one_it_jumped_to() {
        for (stack, expected) in [
            ("app!main => work;app!fill", vec!["fill", "work", "main"]),
            ("app!main => work;libc!memset", vec!["memset", "work", "main"]),
            ("app!main => work;app!work", vec!["work", "main"]),
            ("app!main => work;app!inner < work", vec!["inner inlined", "work", "main"]),
            (
                "app!inlined < main => work;app!inner < fill",
                vec!["inner inlined", "fill", "work", "inlined inlined", "main"],
            ),
            ("app!main => work;app!fill => work;app!fill", vec!["fill", "work", "fill", "work", "main"]),
            ("app!main => work", vec!["main"]),
            ("app!main => work;app!work.cold", vec!["work.cold", "main"]),
            ("app!main => f();app!f() [clone .cold]", vec!["f() [clone .cold]", "main"]),
            ("app!main => work;app!fill.cold", vec!["fill.cold", "work", "main"]),
            ("app!main => work;app!work.part.0", vec!["work.part.0", "main"]),
            ("app!main => work;app!work.part.0.cold", vec!["work.part.0.cold", "main"]),
            ("app!main => work;app!fill.part.0", vec!["fill.part.0", "work", "main"]),
            ("app!main => work;app!+0x40", vec!["app+0x40", "main"]),
            ("app!main => work;?", vec!["[unknown]", "main"]),
            ("app!main => work;[jit]!f", vec!["f", "main"]),
            ("app!main => work;[kernel]!do_syscall_64", vec!["do_syscall_64", "main"]),
            ("app!main => work;libc!__restore_rt;app!handler", vec!["handler", "__restore_rt", "main"]),
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

    #[test]
    fn a_functions_source_belongs_to_whom_most_of_its_lines_do() {
        let mut synthetic = Synthetic::new();
        for stack in ["app!a", "app!b", "app!c", "app!a => x"] {
            synthetic.stack(stack);
        }
        let mut profile = synthetic.finish();
        for name in profile.names.iter_mut().flatten() {
            name.file = match name.function.as_str() {
                "a" => Some("/root/.cargo/registry/src/index.crates.io-0/a-1.0/src/lib.rs".to_string()),
                "b" => Some("/home/me/app/src/main.rs".to_string()),
                _ => None,
            };
        }
        let names = Names::of(&profile);
        let sources = |name: &str| {
            let function = names.functions.iter().find(|function| function.name == name);
            function.map(|function| format!("{:?}", function.source))
        };
        assert_eq!(["a", "b", "c"].map(|name| sources(name).unwrap_or_default()), ["Library", "Program", "Unknown"]);
        let of = |source| Function { source, ..names.functions[0].clone() };
        assert_eq!(of(SourceOwner::Program), of(SourceOwner::Library), "a function is what it is, known or not");
    }
}
