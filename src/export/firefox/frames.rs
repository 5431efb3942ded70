//! The tables that all threads share: the stack tree, frames, functions, code locations, and all strings.
//! Indices follow the order of first use: equal profiles give equal bytes.

use super::{all, list, or_null, table};
use crate::error::{Context, Result};
use crate::export::quote::{array, failed, quoted};
use crate::model::{BuildId, ModuleDef, ModuleId};
use crate::view::CodeKind;
use crate::view::sampled::{Cell, Sampled};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::io::Write;

/// Values numbered in order of first use.
#[derive(Debug)]
struct Numbered<T> {
    list: Vec<T>,
    ids: FxHashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { list: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn id(&mut self, value: T) -> usize {
        let next = self.list.len();
        *self.ids.entry(value).or_insert_with_key(|value| {
            self.list.push(value.clone());
            next
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Func {
    name: usize,
    resource: Option<usize>,
    source: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Frame {
    func: usize,
    category: usize,
    inline_depth: usize,
    line: Option<u32>,
}

/// The tables under construction.
#[derive(Debug, Default)]
pub(super) struct Frames {
    strings: Numbered<String>,
    /// Modules in use; resources and libraries have the same indices.
    modules: Numbered<ModuleId>,
    module_names: Vec<usize>,
    sources: Numbered<usize>,
    funcs: Numbered<Func>,
    frames: Numbered<Frame>,
    stacks: Numbered<(Option<usize>, usize)>,
}

impl Frames {
    /// Returns the index of a string.
    pub fn string(&mut self, text: &str) -> usize {
        self.strings.id(text.to_string())
    }

    /// Returns the index of the stack with these cells, which begin at the root.
    pub fn stack(&mut self, sampled: &Sampled<'_>, cells: &[Cell<'_>]) -> usize {
        let mut stack = None;
        for (at, cell) in cells.iter().enumerate() {
            // Calls inlined into a frame come after it; the frame's own function has depth 0.
            let above = cells[..at].iter().rev().take_while(|other| other.frame.is_some() && other.frame == cell.frame);
            let inline_depth = above.take_while(|other| other.depth > cell.depth).count();
            let frame = self.frame(sampled, cell, inline_depth);
            stack = Some(self.stacks.id((stack, frame)));
        }
        stack.unwrap_or_default()
    }

    fn frame(&mut self, sampled: &Sampled<'_>, cell: &Cell<'_>, inline_depth: usize) -> usize {
        let symbol = sampled.symbol(cell);
        let source = symbol.and_then(|symbol| symbol.file.as_deref()).map(|file| self.string(file));
        let source = source.map(|name| self.sources.id(name));
        let resource = sampled.module_id(cell).zip(sampled.module(cell)).map(|(id, module)| self.module(id, module));
        let name = self.string(cell.name);
        let func = self.funcs.id(Func { name, resource, source });
        let line = symbol.and_then(|symbol| symbol.line);
        self.frames.id(Frame { func, category: category(cell.kind), inline_depth, line })
    }

    fn module(&mut self, id: ModuleId, module: &ModuleDef) -> usize {
        let at = self.modules.id(id);
        if at == self.module_names.len() {
            let name = self.string(short(&module.path));
            self.module_names.push(name);
        }
        at
    }

    /// The libraries in use.
    pub fn libs(&self, sampled: &Sampled<'_>) -> Vec<String> {
        let modules = self.modules.list.iter().filter_map(|id| sampled.modules().get(id.0 as usize));
        modules.map(|module| lib(module, &sampled.meta().host.arch)).collect()
    }

    /// Writes the tables as the `shared` object.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        for (key, text) in [
            ("{\"stackTable\"", self.stack_table()),
            (",\n\"frameTable\"", self.frame_table()),
            (",\n\"funcTable\"", self.func_table()),
            (",\n\"resourceTable\"", self.resource_table()),
            (
                ",\n\"nativeSymbols\"",
                table(0, &["libIndex", "address", "name", "functionSize"].map(|key| (key, String::new()))),
            ),
            (",\n\"sources\"", self.source_table()),
        ] {
            write!(out, "{key}:{text}").context(failed)?;
        }
        out.write_all(b",\n").context(failed)?;
        array(out, "stringArray", self.strings.list.iter().map(|text| quoted(text)))?;
        out.write_all(b"}").context(failed)
    }

    fn stack_table(&self) -> String {
        let stacks = &self.stacks.list;
        let frame = list(stacks.iter().map(|(_, frame)| frame));
        table(stacks.len(), &[("frame", frame), ("prefix", list(stacks.iter().map(|(prefix, _)| or_null(*prefix))))])
    }

    /// Addresses are left out: the viewer wants them relative to a library's load address, not as file offsets.
    fn frame_table(&self) -> String {
        let (frames, n) = (&self.frames.list, self.frames.list.len());
        table(
            n,
            &[
                ("address", all("-1", n)),
                ("inlineDepth", list(frames.iter().map(|frame| frame.inline_depth))),
                ("category", list(frames.iter().map(|frame| frame.category))),
                ("subcategory", all("0", n)),
                ("func", list(frames.iter().map(|frame| frame.func))),
                ("nativeSymbol", all("null", n)),
                ("innerWindowID", all("0", n)),
                ("line", list(frames.iter().map(|frame| or_null(frame.line)))),
                ("column", all("null", n)),
            ],
        )
    }

    fn func_table(&self) -> String {
        let (funcs, n) = (&self.funcs.list, self.funcs.list.len());
        let resource = funcs.iter().map(|func| func.resource.map_or("-1".to_string(), |at| at.to_string()));
        table(
            n,
            &[
                ("name", list(funcs.iter().map(|func| func.name))),
                ("isJS", all("false", n)),
                ("relevantForJS", all("false", n)),
                ("resource", list(resource)),
                ("source", list(funcs.iter().map(|func| or_null(func.source)))),
                ("lineNumber", all("null", n)),
                ("columnNumber", all("null", n)),
            ],
        )
    }

    fn resource_table(&self) -> String {
        let n = self.modules.list.len();
        // Type 1 is a library.
        let columns = [
            ("lib", list(0..n)),
            ("name", list(self.module_names.iter())),
            ("host", all("null", n)),
            ("type", all("1", n)),
        ];
        table(n, &columns)
    }

    fn source_table(&self) -> String {
        let n = self.sources.list.len();
        let columns = [
            ("id", all("null", n)),
            ("filename", list(self.sources.list.iter())),
            ("startLine", all("1", n)),
            ("startColumn", all("1", n)),
            ("sourceMapURL", all("null", n)),
        ];
        table(n, &columns)
    }
}

/// Index into the categories of `meta`.
fn category(kind: CodeKind) -> usize {
    match kind {
        CodeKind::Heading => 0,
        CodeKind::User => 1,
        CodeKind::Kernel => 2,
        CodeKind::Jit => 3,
    }
}

fn lib(module: &ModuleDef, arch: &str) -> String {
    let (name, path) = (quoted(short(&module.path)), quoted(&module.path));
    let code = module.build_id.as_ref().map_or("null".to_string(), |id| quoted(&id.to_string()));
    let breakpad = module.build_id.as_ref().map_or(String::new(), breakpad);
    format!(
        "{{\"arch\":{},\"name\":{name},\"path\":{path},\"debugName\":{name},\"debugPath\":{path},\
         \"breakpadId\":{},\"codeId\":{code}}}",
        quoted(arch),
        quoted(&breakpad)
    )
}

/// The build-id as symbol servers spell it: the first 16 bytes as a GUID, whose first three numbers are little-endian,
/// and an age of 0.
fn breakpad(id: &BuildId) -> String {
    let mut guid = [0_u8; 16];
    guid.iter_mut().zip(&id.0).for_each(|(to, from)| *to = *from);
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let digits: String = order.iter().map(|at: &usize| format!("{:02X}", guid[*at])).collect();
    format!("{digits}0")
}

fn short(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_spelt_as_symbol_servers_do() {
        let id = BuildId::try_from("510d0a5c19eadf8043f203b4525be9be3dcb9554".to_string()).expect("hexadecimal");
        assert_eq!(breakpad(&id), "5C0A0D51EA1980DF43F203B4525BE9BE0");
        assert_eq!(breakpad(&BuildId(vec![1])), "000000010000000000000000000000000");
    }
}
