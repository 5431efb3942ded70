//! Names every frame once per profile: the cells of a call tree and the functions of a table.

use crate::model::profile::Profile;
use crate::model::{FrameDef, FrameId, ModuleDef, ModuleKind};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::hash::Hash;

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
    /// Index into [`Names::labels`].
    pub label: u32,
    /// Index into [`Names::functions`].
    pub function: u32,
    /// An unnamed address that cannot be distinguished from its neighbours on the stack.
    pub faceless: bool,
}

/// The names of a profile's frames.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Distinct cells.
    pub labels: Vec<Label>,
    /// Distinct functions.
    pub functions: Vec<Function>,
    /// For each function, whether every call of it was inlined into its caller.
    pub inlined: Vec<bool>,
    calls: Vec<Vec<Call>>,
}

/// The function that stands for all unnamed addresses of a module.
pub(crate) const UNRESOLVED: &str = "[unresolved]";

/// Deeper than any captured stack; only a damaged recording exceeds it.
pub(super) const DEEPEST: usize = 4096;

impl Names {
    /// Names every frame.
    #[must_use]
    pub fn of(profile: &Profile) -> Names {
        let mut build = Builder::default();
        let calls: Vec<Vec<Call>> = profile.frames.iter().map(|frame| build.frame(profile, frame)).collect();
        let (labels, functions) = (build.labels.values, build.functions.values);
        let mut inlined = vec![true; functions.len()];
        for call in calls.iter().flatten() {
            inlined[call.function as usize] &= labels[call.label as usize].inlined;
        }
        Names { labels, functions, inlined, calls }
    }

    /// The calls at a frame, innermost first.
    #[must_use]
    pub fn at(&self, frame: FrameId) -> &[Call] {
        self.calls.get(frame.0 as usize).map_or(&[], Vec::as_slice)
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

#[derive(Debug)]
struct Interner<T> {
    values: Vec<T>,
    ids: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn id(&mut self, value: T) -> u32 {
        if let Some(id) = self.ids.get(&value) {
            return *id;
        }
        let id = self.values.len() as u32;
        self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }
}

#[derive(Debug, Default)]
struct Builder {
    labels: Interner<Label>,
    functions: Interner<Function>,
}

impl Builder {
    fn frame(&mut self, profile: &Profile, frame: &FrameDef) -> Vec<Call> {
        let module = frame.module.and_then(|id| profile.module(id));
        let kind = module.map_or(CodeKind::User, |module| match module.kind {
            ModuleKind::File | ModuleKind::Vdso => CodeKind::User,
            ModuleKind::Kernel => CodeKind::Kernel,
            ModuleKind::Jit => CodeKind::Jit,
        });
        let path = module.map_or("", |module| module.path.as_str());
        let symbols = profile.names_at(frame.id);
        if symbols.is_empty() {
            return vec![self.nameless(frame, module, kind)];
        }
        let calls = symbols.iter().map(|symbol| Call {
            label: self.labels.id(Label { text: symbol.function.clone(), kind, inlined: symbol.inlined }),
            function: self.functions.id(Function { name: symbol.function.clone(), module: path.to_string(), kind }),
            faceless: false,
        });
        calls.collect()
    }

    /// An offset into a file can be resolved later; an address in the kernel or in JIT code cannot.
    fn nameless(&mut self, frame: &FrameDef, module: Option<&ModuleDef>, kind: CodeKind) -> Call {
        let offset = |module: &ModuleDef| format!("{}+{:#x}", short(&module.path), frame.address);
        let (text, name, faceless) = match module {
            None => ("[unknown]".to_string(), "[unknown]", true),
            Some(module) if kind == CodeKind::User => (offset(module), UNRESOLVED, false),
            Some(module) => (short(&module.path).to_string(), UNRESOLVED, true),
        };
        let path = module.map_or(String::new(), |module| module.path.clone());
        Call {
            label: self.labels.id(Label { text, kind, inlined: false }),
            function: self.functions.id(Function { name: name.to_string(), module: path, kind }),
            faceless,
        }
    }
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
            let label = &names.labels[call.label as usize];
            format!("{}{}", label.text, if label.inlined { " inlined" } else { "" })
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
