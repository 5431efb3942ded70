//! Resolves names within one ELF image: from its debug information, else its symbols, else its functions' bounds.
//! `locate` finds separate debug files and attaches them.

use super::debug::{Debug, open};
use super::demangle::demangle;
use super::fde::{self, Section};
use crate::error::Result;
use crate::model::{BuildId, Bytes, Symbol};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable, SymbolIndex, SymbolKind};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;

/// A function by its address in the image. Its name stays in the symbol table until a lookup needs it: a program has
/// a hundred thousand of them, and a recording meets some hundred.
#[derive(Clone, Copy)]
struct Function {
    start: u64,
    /// Exclusive. The next function's start if the symbol has no size.
    end: u64,
    table: Table,
    index: SymbolIndex,
}

/// Which of the symbol tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Table {
    of_debug_file: bool,
    dynamic: bool,
}

/// An image with its cached debug information and functions.
pub(super) struct Image {
    bytes: Bytes,
    /// Prefix for names of functions without a symbol.
    label: String,
    build_id: Option<BuildId>,
    /// File offset, address and size of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
    debug: OnceCell<Option<Debug>>,
    debug_file: Option<Attached>,
    functions: OnceCell<Vec<Function>>,
}

/// A separate debug file, and the supplementary file that dwz moved common parts of it to.
pub(super) struct Attached {
    pub(super) bytes: Bytes,
    pub(super) supplement: Option<Bytes>,
}

impl Image {
    /// Reads the headers. Errors: `Corrupt` if it is not an ELF file.
    pub(super) fn parse(bytes: &Bytes, label: &str) -> Result<Image> {
        let file = open(bytes)?;
        let build_id = file.build_id().ok().flatten().filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let segments = file.segments().map(|s| (s.file_range().0, s.address(), s.file_range().1)).collect();
        Ok(Image {
            bytes: bytes.clone(),
            label: label.to_string(),
            build_id,
            segments,
            debug: OnceCell::new(),
            debug_file: None,
            functions: OnceCell::new(),
        })
    }

    pub(super) fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// Whether the image contains its own debug information.
    pub(super) fn has_debug(&self) -> bool {
        open(&self.bytes).is_ok_and(|file| file.section_by_name(".debug_info").is_some())
    }

    pub(super) fn attach(&mut self, file: Attached) {
        self.debug_file = Some(file);
    }

    /// The names at a file offset, innermost first.
    pub(super) fn names(&self, offset: u64) -> Vec<Symbol> {
        let Some(address) = self.address_of(offset) else { return Vec::new() };
        let mut names = self.debug().map(|debug| debug.names(address)).unwrap_or_default();
        // The outermost name comes from the symbol table, as in other tools. Debug information may use an alias or, for
        // assembler, have no name at all.
        if let Some(outermost) = names.last_mut()
            && let Some(function) = self.function(address)
        {
            outermost.function = function;
        }
        names.retain(|symbol| !symbol.function.is_empty());
        if names.is_empty() {
            let function = self.function(address);
            names.extend(function.map(|function| Symbol { function, file: None, line: None, inlined: false }));
        }
        names
    }

    fn address_of(&self, offset: u64) -> Option<u64> {
        let (start, address, _) = self.segments.iter().find(|(start, _, size)| offset.wrapping_sub(*start) < *size)?;
        Some(address.wrapping_add(offset - start))
    }

    fn debug(&self) -> Option<&Debug> {
        self.debug
            .get_or_init(|| {
                let separate =
                    self.debug_file.as_ref().and_then(|file| Debug::parse(&file.bytes, file.supplement.as_ref()));
                separate.or_else(|| self.has_debug().then(|| Debug::parse(&self.bytes, None)).flatten())
            })
            .as_ref()
    }

    /// The symbol that covers the address, else a generated name for the function's bounds.
    fn function(&self, address: u64) -> Option<String> {
        let functions = self.functions.get_or_init(|| self.read_functions());
        let after = functions.partition_point(|function| function.start <= address);
        let named = after.checked_sub(1).and_then(|at| functions.get(at)).filter(|function| address < function.end);
        let name = |function| self.with_symbol(function, |symbol| symbol.name().ok().map(demangle)).flatten();
        match named.and_then(name).filter(|name| !name.is_empty()) {
            Some(name) => Some(name),
            None => self.bounds(address).map(|range| format!("{}+{:#x}", self.label, range.start)),
        }
    }

    fn bounds(&self, address: u64) -> Option<Range<u64>> {
        let file = open(&self.bytes).ok()?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            Some(Section { address: section.address(), bytes: section.data().ok()? })
        };
        fde::enclosing(section(".eh_frame_hdr")?, section(".eh_frame")?, address)
    }

    /// Functions from the symbol tables of the image and its debug file, sorted, one per address.
    fn read_functions(&self) -> Vec<Function> {
        let debug_file = self.debug_file.iter().map(|file| (true, &file.bytes));
        let files = debug_file.chain([(false, &self.bytes)]);
        let files: Vec<_> =
            files.filter_map(|(of_debug_file, bytes)| Some((of_debug_file, open(bytes).ok()?))).collect();
        let tables: Vec<_> = files
            .iter()
            .flat_map(|(of_debug_file, file)| [false, true].map(|dynamic| (*of_debug_file, dynamic, file)))
            .filter_map(|(of_debug_file, dynamic, file)| {
                Some((Table { of_debug_file, dynamic }, symbol_table(file, dynamic)?))
            })
            .collect();
        let mut functions = Vec::new();
        for (id, table) in &tables {
            functions.extend(table.symbols().filter_map(|symbol| function(&symbol, *id)));
        }
        functions.sort_unstable_by_key(|function| function.start);
        // Names are read only where several share an address.
        let rank = |function: &&Function| {
            let table = tables.iter().find(|(id, _)| *id == function.table);
            table.and_then(|(_, table)| table.symbol_by_index(function.index).ok()).map(|symbol| rank(&symbol))
        };
        let aliases = functions.chunk_by(|a, b| a.start == b.start);
        let preferred = aliases.filter_map(|aliases| match aliases {
            [only] => Some(only),
            _ => aliases.iter().min_by_key(rank),
        });
        let mut functions: Vec<Function> = preferred.copied().collect();
        close_unsized(&mut functions);
        functions
    }

    fn with_symbol<T>(&self, function: &Function, read: impl FnOnce(&object::Symbol<'_, '_>) -> T) -> Option<T> {
        let attached = self.debug_file.as_ref().map(|file| &file.bytes);
        let bytes = if function.table.of_debug_file { attached? } else { &self.bytes };
        let file = open(bytes).ok()?;
        let symbol = symbol_table(&file, function.table.dynamic)?.symbol_by_index(function.index).ok()?;
        Some(read(&symbol))
    }
}

fn symbol_table<'a, 'b>(file: &'b object::File<'a>, dynamic: bool) -> Option<object::SymbolTable<'a, 'b>> {
    if dynamic { file.dynamic_symbol_table() } else { file.symbol_table() }
}

/// Orders the symbols at one address as perf does, so that both tools print the same name: sized, then not weak, then
/// global, then fewer leading underscores, then the longer name.
fn rank<'a>(symbol: &object::Symbol<'a, '_>) -> impl Ord + use<'a> {
    let name = symbol.name().unwrap_or("");
    let underscores = name.len() - name.trim_start_matches('_').len();
    let binding = (symbol.size() == 0, symbol.is_weak(), !symbol.is_global());
    (name.is_empty(), binding, underscores, Reverse(name.len()), name)
}

/// The symbol of a defined function.
fn function(symbol: &object::Symbol<'_, '_>, table: Table) -> Option<Function> {
    let code = symbol.kind() == SymbolKind::Text || is_ifunc(symbol);
    let (start, size) = (symbol.address(), symbol.size());
    (code && symbol.is_definition()).then(|| Function {
        start,
        end: start.saturating_add(size),
        table,
        index: symbol.index(),
    })
}

/// Extends a symbol without a size to the next symbol.
fn close_unsized(functions: &mut [Function]) {
    for at in 0..functions.len() {
        let next = functions.get(at + 1).map_or(u64::MAX, |function| function.start);
        if let Some(function) = functions.get_mut(at).filter(|function| function.end == function.start) {
            function.end = next;
        }
    }
}

fn is_ifunc(symbol: &object::Symbol<'_, '_>) -> bool {
    let object::SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return false };
    st_info.st_type() == object::elf::STT_GNU_IFUNC
}
