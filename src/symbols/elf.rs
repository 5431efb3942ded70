//! Resolves names within one ELF image: from its debug information, else its symbols, else its functions' bounds.
//! `locate` finds separate debug files and attaches them.

use super::debug::{Debug, open};
use super::demangle::demangle;
use super::fde::{self, Section};
use crate::error::Result;
use crate::model::{BuildId, Bytes, Symbol};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::ops::Range;

/// A function by its address in the image. Its mangled name stays in the file until a lookup needs it: a program has a
/// hundred thousand of them, and a recording meets some hundred.
#[derive(Clone, Copy)]
struct Function {
    start: u64,
    /// Exclusive. The next function's start if the symbol has no size.
    end: u64,
    /// Place of the name in the bytes of its file.
    name: usize,
    name_length: u32,
    in_debug_file: bool,
    /// Unsized, weak, not global.
    binding: (bool, bool, bool),
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
    /// Readable names of the functions asked for so far, by their start: a function is met at many addresses.
    readable: RefCell<FxHashMap<u64, String>>,
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
            readable: RefCell::default(),
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

    /// The files that names are read from.
    pub(super) fn sources(&self) -> Vec<&Bytes> {
        let attached = self.debug_file.as_ref();
        let separate = attached.map(|file| &file.bytes).into_iter();
        [&self.bytes].into_iter().chain(separate).chain(attached.and_then(|file| file.supplement.as_ref())).collect()
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
        self.segments.iter().find_map(|(start, address, size)| {
            let within = offset.checked_sub(*start).filter(|within| within < size)?;
            Some(address.wrapping_add(within))
        })
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
        match named.and_then(|function| Some((function.start, self.symbol_name(function)?))) {
            Some((start, name)) => {
                Some(self.readable.borrow_mut().entry(start).or_insert_with(|| demangle(name)).clone())
            }
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
        let mut functions = Vec::new();
        let debug_file = self.debug_file.iter().map(|file| (&file.bytes, true));
        for (bytes, in_debug_file) in debug_file.chain([(&self.bytes, false)]) {
            let Ok(file) = open(bytes) else { continue };
            let symbols = file.symbols().chain(file.dynamic_symbols());
            functions.extend(symbols.filter_map(|symbol| function(&symbol, bytes, in_debug_file)));
        }
        functions.sort_unstable_by_key(|function| function.start);
        let aliases = functions.chunk_by(|a, b| a.start == b.start);
        let preferred = aliases.filter_map(|aliases| match aliases {
            [only] => Some(only),
            _ => aliases.iter().min_by_key(|function| self.rank(function)),
        });
        let mut functions: Vec<Function> = preferred.copied().collect();
        close_unsized(&mut functions);
        functions
    }

    /// Orders the functions at one address as perf does, so that both tools print the same name: sized, then not weak,
    /// then global, then fewer leading underscores, then the longer name.
    fn rank(&self, function: &Function) -> impl Ord + use<'_> {
        let name = self.symbol_name(function).unwrap_or("");
        let underscores = name.len() - name.trim_start_matches('_').len();
        (function.binding, underscores, Reverse(name.len()), name)
    }

    /// The mangled name.
    fn symbol_name(&self, function: &Function) -> Option<&str> {
        let attached = self.debug_file.as_ref().map(|file| &file.bytes);
        let bytes = if function.in_debug_file { attached? } else { &self.bytes };
        let end = function.name.checked_add(function.name_length as usize)?;
        std::str::from_utf8((**bytes).as_ref().get(function.name..end)?).ok()
    }
}

/// The symbol of a defined function in a file's bytes.
fn function(symbol: &object::Symbol<'_, '_>, bytes: &Bytes, in_debug_file: bool) -> Option<Function> {
    let code = symbol.kind() == SymbolKind::Text || is_ifunc(symbol);
    if !code || !symbol.is_definition() {
        return None;
    }
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    let (start, size) = (symbol.address(), symbol.size());
    Some(Function {
        start,
        end: start.saturating_add(size),
        name: name.as_ptr().addr().checked_sub((**bytes).as_ref().as_ptr().addr())?,
        name_length: u32::try_from(name.len()).ok()?,
        in_debug_file,
        binding: (size == 0, symbol.is_weak(), !symbol.is_global()),
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
