//! The tables that samples of a `profile.proto` refer to by id: strings, functions, locations, mappings.
//! Only entries in use are written.

use super::field;
use crate::error::{Context, Result};
use crate::export::protobuf::Message;
use crate::export::quote::failed;
use crate::model::{FrameId, ModuleDef, ModuleId, ModuleKind};
use crate::view::escape::visible;
use crate::view::sampled::{Cell, Path, Sampled};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::Write;

/// Ids start at 1, those of strings at 0: 0 means none, and string 0 is empty.
#[derive(Debug)]
pub(super) struct Tables {
    strings: Vec<String>,
    string_ids: FxHashMap<String, u64>,
    functions: FxHashMap<(u64, u64), u64>,
    function_list: Vec<(u64, u64)>,
    locations: FxHashMap<Place, u64>,
    location_list: Vec<Message>,
    mappings: BTreeMap<ModuleId, Mapping>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Frame(FrameId),
    Heading(u64),
}

/// The address range of a module in use, and which information its locations have.
#[derive(Debug)]
struct Mapping {
    id: u64,
    first: u64,
    last: u64,
    named: bool,
    files: bool,
    lines: bool,
    inlined: bool,
}

/// Mappings begin and end at page boundaries.
const PAGE: u64 = 4096;

impl Default for Tables {
    fn default() -> Self {
        let mut tables = Tables {
            strings: Vec::new(),
            string_ids: FxHashMap::default(),
            functions: FxHashMap::default(),
            function_list: Vec::new(),
            locations: FxHashMap::default(),
            location_list: Vec::new(),
            mappings: BTreeMap::new(),
        };
        tables.string("");
        tables
    }
}

impl Tables {
    /// Returns the index of a string. Readers print it to terminals: no character in it acts there.
    pub fn string(&mut self, text: &str) -> u64 {
        let text = &*visible(text);
        if let Some(id) = self.string_ids.get(text) {
            return *id;
        }
        let id = self.strings.len() as u64;
        self.strings.push(text.to_string());
        self.string_ids.insert(text.to_string(), id);
        id
    }

    /// The locations of a path, leaf first. Calls inlined into one frame are one location.
    pub fn locations(&mut self, sampled: &Sampled<'_>, path: Path) -> Vec<u64> {
        let mut cells = sampled.cells(path);
        cells.reverse();
        cells
            .chunk_by(|a, b| a.frame.is_some() && a.frame == b.frame && a.depth < b.depth)
            .map(|calls| self.location(sampled, calls))
            .collect()
    }

    fn location(&mut self, sampled: &Sampled<'_>, calls: &[Cell<'_>]) -> u64 {
        let Some(innermost) = calls.first() else { return 0 };
        let place = match innermost.frame {
            Some(frame) => Place::Frame(frame),
            None => Place::Heading(self.string(innermost.name)),
        };
        if let Some(id) = self.locations.get(&place) {
            return *id;
        }
        let id = self.location_list.len() as u64 + 1;
        let mut location = Message::default();
        location.number(1, id);
        if let (Some(module), Some(address)) = (sampled.module_id(innermost), sampled.address(innermost)) {
            location.number(2, self.mapping(sampled, module, address, calls));
        }
        location.number(3, sampled.address(innermost).unwrap_or_default());
        for call in calls {
            let symbol = sampled.symbol(call);
            let mut line = Message::default();
            line.number(
                1,
                self.function(call.name, symbol.and_then(|symbol| symbol.file.as_deref()).unwrap_or_default()),
            );
            line.number(2, symbol.and_then(|symbol| symbol.line).map_or(0, u64::from));
            location.message(4, &line);
        }
        self.location_list.push(location);
        self.locations.insert(place, id);
        id
    }

    fn function(&mut self, name: &str, file: &str) -> u64 {
        let key = (self.string(name), self.string(file));
        let next = self.function_list.len() as u64 + 1;
        let id = *self.functions.entry(key).or_insert(next);
        if id == next {
            self.function_list.push(key);
        }
        id
    }

    fn mapping(&mut self, sampled: &Sampled<'_>, module: ModuleId, address: u64, calls: &[Cell<'_>]) -> u64 {
        let next = self.mappings.len() as u64 + 1;
        let new = || Mapping {
            id: next,
            first: address,
            last: address,
            named: false,
            files: false,
            lines: false,
            inlined: false,
        };
        let mapping = self.mappings.entry(module).or_insert_with(new);
        mapping.first = mapping.first.min(address);
        mapping.last = mapping.last.max(address);
        for symbol in calls.iter().filter_map(|call| sampled.symbol(call)) {
            mapping.named = true;
            mapping.files |= symbol.file.is_some();
            mapping.lines |= symbol.line.is_some();
            mapping.inlined |= symbol.inlined;
        }
        mapping.id
    }

    /// Writes all tables; the strings come last because the others refer to them.
    pub fn write(mut self, sampled: &Sampled<'_>, out: &mut dyn Write) -> Result<()> {
        let mut tables = Message::default();
        let mut mappings: Vec<_> = std::mem::take(&mut self.mappings).into_iter().collect();
        // Readers take the first mapping for the program itself, which is neither the kernel nor a library.
        let rank = |id: ModuleId| {
            let module = sampled.modules().get(id.0 as usize);
            let is_file = module.is_some_and(|module| module.kind == ModuleKind::File);
            (!is_file, module.is_some_and(|module| module.path.contains(".so")))
        };
        mappings.sort_by_key(|(module, mapping)| (rank(*module), mapping.id));
        for (module, mapping) in mappings {
            if let Some(module) = sampled.modules().get(module.0 as usize) {
                tables.message(field::MAPPING, &self.mapping_message(module, &mapping));
            }
        }
        self.location_list.iter().for_each(|location| tables.message(field::LOCATION, location));
        for (at, (name, file)) in self.function_list.iter().enumerate() {
            let mut function = Message::default();
            function.number(1, at as u64 + 1);
            function.number(2, *name);
            function.number(3, *name);
            function.number(4, *file);
            tables.message(field::FUNCTION, &function);
        }
        self.strings.iter().for_each(|text| tables.text(field::STRING, text));
        out.write_all(tables.bytes()).context(failed)
    }

    fn mapping_message(&mut self, module: &ModuleDef, mapping: &Mapping) -> Message {
        // A file's addresses are offsets into it, so the file can be treated as mapped at 0 as a whole.
        let absolute = matches!(module.kind, ModuleKind::Kernel | ModuleKind::Jit);
        let start = if absolute { mapping.first / PAGE * PAGE } else { 0 };
        let mut message = Message::default();
        message.number(1, mapping.id);
        message.number(2, start);
        message.number(3, (mapping.last / PAGE * PAGE).saturating_add(PAGE));
        message.number(5, self.string(&module.path));
        message.number(6, self.string(&module.build_id.as_ref().map(ToString::to_string).unwrap_or_default()));
        for (field, is_so) in [(7, mapping.named), (8, mapping.files), (9, mapping.lines), (10, mapping.inlined)] {
            message.number(field, u64::from(is_so));
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_string_acts_on_a_terminal() {
        let mut tables = Tables::default();
        let id = tables.string("evil\x1b[2J\u{202e}");
        assert_eq!(tables.string("evil\x1b[2J\u{202e}"), id);
        assert_eq!(tables.strings, ["", "evil␛[2J\\u{202e}"]);
    }
}
