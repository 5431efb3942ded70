//! Resolves names within one ELF image: from its debug information, else its symbols, else its functions' bounds.
//! `locate` finds separate debug files and attaches them.

use super::call_site;
use super::debug_data::debug_data;
use super::demangle::demangle;
use super::dwarf::{Cached, Debug, SplitFiles, SplitSource, cached, is_split, open};
use super::fde::{self, Section};
use super::files::Files;
use super::functions::Functions;
use crate::error::{Error, ErrorKind, Result, catch_panic};
use crate::model::limits::FUNCTION_CODE;
use crate::model::{Architecture, BuildId, FileStamp, FunctionCode, ObjectFile, Symbol};
use object::{Object, ObjectSection, ObjectSegment};
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// An image with its cached debug information and functions.
pub(super) struct Image {
    file: ObjectFile,
    /// Prefix for names of functions without a symbol.
    label: String,
    build_id: Option<BuildId>,
    /// `None` for one whose instructions are not read.
    architecture: Option<Architecture>,
    /// File offset, address and size of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
    debug: Attached,
    /// Where the files are that its debug information is split into.
    split: Option<Box<dyn SplitFiles>>,
    /// Whether inlined calls are missing because a file that they are in is not here.
    incomplete: Cell<bool>,
    /// Whether names are missing because of a limit.
    limited: Cell<bool>,
    tables: RefCell<Rc<Tables>>,
}

/// What was read so far, and can be read again.
#[derive(Default)]
struct Tables {
    debug: OnceCell<Option<Debug>>,
    /// The symbols that a stripped file carries; not read where another file has them.
    carried: OnceCell<Option<ObjectFile>>,
    functions: OnceCell<Functions>,
    unwind: OnceCell<Option<UnwindSections>>,
}

/// A separate debug file, and the supplementary file that dwz moved common parts of it to, or of the image itself.
#[derive(Default)]
pub(super) struct Attached {
    pub(super) file: Option<ObjectFile>,
    pub(super) supplement: Option<ObjectFile>,
    /// The name of a supplementary file that is not here.
    pub(super) missing: Option<String>,
}

/// The addresses and bytes of `.eh_frame_hdr` and `.eh_frame`.
type UnwindSections = [(u64, Box<[u8]>); 2];

impl Image {
    /// Reads the headers. Errors: `Corrupt` if it is not an ELF file.
    pub(super) fn parse(image: &ObjectFile, label: &str) -> Result<Image> {
        let cache = cached(image);
        let file = open(&cache)?;
        let build_id = file.build_id().ok().flatten().filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
        let segments = file.segments().map(|s| (s.file_range().0, s.address(), s.file_range().1)).collect();
        Ok(Image {
            file: image.clone(),
            label: label.to_string(),
            build_id,
            architecture: match file.architecture() {
                object::Architecture::X86_64 => Some(Architecture::X86_64),
                object::Architecture::Aarch64 => Some(Architecture::Aarch64),
                _ => None,
            },
            segments,
            debug: Attached::default(),
            split: None,
            incomplete: Cell::new(false),
            limited: Cell::new(false),
            tables: RefCell::default(),
        })
    }

    pub(super) fn build_id(&self) -> Option<&BuildId> {
        self.build_id.as_ref()
    }

    /// Whether the image contains its own debug information.
    pub(super) fn has_debug(&self) -> bool {
        open(&cached(&self.file)).is_ok_and(|file| file.section_by_name(".debug_info").is_some())
    }

    pub(super) fn attach(&mut self, debug: Attached) {
        self.debug = debug;
    }

    /// Looks for the files that debug information is split into there, if it is.
    pub(super) fn split_into(&mut self, place: Box<dyn SplitFiles>, files: &dyn Files) {
        let file = self.debug.file.as_ref().unwrap_or(&self.file);
        self.split = is_split(file, files).then_some(place);
    }

    /// Whether inlined calls are missing because a file that they are in is not here, and the file's name if it is known.
    pub(super) fn incomplete(&self) -> Option<(&str, Option<&str>)> {
        let missing = self.debug.missing.as_deref();
        (missing.is_some() || self.incomplete.get()).then_some((&self.label, missing))
    }

    /// The files that names are read from; `None` if one of them cannot be told from others.
    pub(super) fn sources(&self) -> Option<Vec<FileStamp>> {
        // Which of many files names come from is not known before.
        if self.split.is_some() {
            return None;
        }
        let Attached { file, supplement, .. } = &self.debug;
        [&self.file].into_iter().chain(file).chain(supplement).map(ObjectFile::stamp).collect()
    }

    /// The name of the file if functions in it lack lines or inlined calls because of a limit.
    pub(super) fn limited(&self) -> Option<&str> {
        self.limited.get().then_some(&self.label)
    }

    /// Memory of what was read so far, bytes.
    pub(super) fn bytes(&self) -> usize {
        let tables = self.tables.borrow();
        let debug = tables.debug.get().and_then(Option::as_ref).map_or(0, Debug::bytes);
        let unwind =
            tables.unwind.get().and_then(Option::as_ref).map_or(0, |[header, frames]| header.1.len() + frames.1.len());
        let carried = tables.carried.get().and_then(Option::as_ref).map_or(0, |file| file.length() as usize);
        debug + unwind + carried + tables.functions.get().map_or(0, Functions::bytes)
    }

    /// Forgets what was read so far: it is read again when it is needed.
    pub(super) fn release(&self) {
        self.tables.replace(Rc::default());
    }

    /// The names at a file offset, innermost first.
    pub(super) fn names(&self, offset: u64, files: &dyn Files) -> Vec<Symbol> {
        let Some(address) = self.address_of(offset) else { return Vec::new() };
        let tables = self.tables.borrow().clone();
        let debug = self.debug(&tables, files);
        let from = SplitSource { place: self.split.as_deref(), files };
        let mut names = debug.map(|debug| debug.names(address, from)).unwrap_or_default();
        if debug.is_some_and(Debug::is_limited) {
            self.limited.set(true);
        }
        if debug.is_some_and(Debug::is_missing) {
            self.incomplete.set(true);
        }
        // The outermost name comes from the symbol table, as in other tools. Debug information may use an alias or, for
        // assembler, have no name at all.
        if let Some(outermost) = names.last_mut()
            && let Some(function) = self.function(&tables, address)
        {
            outermost.function = function;
        }
        names.retain(|symbol| !symbol.function.is_empty());
        if names.is_empty()
            && let Some(function) = self.function(&tables, address)
        {
            // A list that grows would have room for four.
            names = vec![Symbol::named(function)];
        }
        if let Some(outermost) = names.last_mut() {
            outermost.calls = self.called(&tables, offset, address);
        }
        names.shrink_to_fit();
        names
    }

    /// The function that begins where the call leads whose last byte is at this offset and address. One without a symbol is
    /// none, and so is a stub that jumps to another file: its function has other names there.
    fn called(&self, tables: &Tables, offset: u64, address: u64) -> Option<Box<str>> {
        let from = offset.checked_sub(call_site::LONGEST - 1)?;
        let bytes = self.file.bytes(from, call_site::LONGEST)?;
        let target = call_site::target(self.architecture?, &bytes, address + 1)?;
        let (start, name) = self.functions(tables).find(target, demangle)?;
        (start == target && !call_site::is_thunk(&name)).then(|| name.into())
    }

    fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|(start, address, size)| {
            let within = offset.checked_sub(*start).filter(|within| within < size)?;
            // addr2line looks at what begins before the next address, which the last one of all does not have.
            Some(address.wrapping_add(within)).filter(|address| *address < u64::MAX)
        })
    }

    fn debug<'a>(&self, tables: &'a Tables, files: &dyn Files) -> Option<&'a Debug> {
        tables
            .debug
            .get_or_init(|| {
                let Attached { file, supplement, .. } = &self.debug;
                let parse = |file| Debug::parse(file, supplement.as_ref(), files);
                file.as_ref().and_then(parse).or_else(|| self.has_debug().then(|| parse(&self.file)).flatten())
            })
            .as_ref()
    }

    fn functions<'a>(&self, tables: &'a Tables) -> &'a Functions {
        tables.functions.get_or_init(|| {
            let separate =
                self.debug.file.as_ref().or_else(|| tables.carried.get_or_init(|| debug_data(&self.file)).as_ref());
            Functions::read(separate.into_iter().chain([&self.file]).map(cached).collect())
        })
    }

    /// The symbol that covers the address, else a generated name for the function's bounds.
    fn function(&self, tables: &Tables, address: u64) -> Option<String> {
        let bounds = || self.bounds(tables, address).map(|range| format!("{}+{:#x}", self.label, range.start));
        self.functions(tables).find(address, demangle).map(|(_, name)| name).or_else(bounds)
    }

    /// The code of the function at a file offset, at most `limits::FUNCTION_CODE` bytes of it.
    pub(super) fn code(&self, offset: u64) -> Option<FunctionCode> {
        self.code_by(&Functions::read(vec![cached(&self.file)]), offset)
    }

    /// The same by functions that were read before.
    fn code_by(&self, functions: &Functions, offset: u64) -> Option<FunctionCode> {
        let address = self.address_of(offset)?;
        let named = functions.bounds(address);
        let bounds = named.or_else(|| self.bounds(&self.tables.borrow(), address))?;
        self.bytes_of(bounds, address.wrapping_sub(offset))
    }

    /// At most `most` bytes of code from an address on, whatever functions there are.
    fn code_from(&self, address: u64, most: u64) -> Option<FunctionCode> {
        let (start, first, _) = *self.segments.iter().find(|(_, first, size)| address.wrapping_sub(*first) < *size)?;
        self.bytes_of(address..address.saturating_add(most), first.wrapping_sub(start))
    }

    fn bytes_of(&self, bounds: Range<u64>, slide: u64) -> Option<FunctionCode> {
        // A symbol without a size may reach beyond its segment.
        let (start, segment_address, size) =
            *self.segments.iter().find(|(_, first, size)| bounds.start.wrapping_sub(*first) < *size)?;
        let end = bounds.end.min(segment_address.saturating_add(size));
        let length = end.checked_sub(bounds.start)?.min(FUNCTION_CODE);
        let bytes = self.file.bytes(start + (bounds.start - segment_address), length)?;
        Some(FunctionCode { architecture: self.architecture?, address: bounds.start, slide, bytes })
    }

    fn bounds(&self, tables: &Tables, address: u64) -> Option<Range<u64>> {
        let sections = tables.unwind.get_or_init(|| unwind_sections(&cached(&self.file)));
        let [header, frames] =
            sections.as_ref()?.each_ref().map(|(address, bytes)| Section { address: *address, bytes });
        fde::enclosing(header, frames, address)
    }
}

/// The code of an object file's functions. Its symbols are read once.
pub struct CodeReader {
    image: Image,
    functions: Functions,
    /// Sorted; only of a file without a table to look functions up in.
    ranges: Vec<Range<u64>>,
}

impl std::fmt::Debug for CodeReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeReader").field("image", &self.image.label).finish_non_exhaustive()
    }
}

impl CodeReader {
    /// Reads the symbols.
    ///
    /// # Errors
    /// `Corrupt` for an invalid object file.
    pub fn of(file: &ObjectFile) -> Result<CodeReader> {
        let image = Image::parse(file, "")?;
        let (functions, ranges) = catch_panic(|| {
            let cache = cached(file);
            let file = open(&cache)?;
            let frames = file.section_by_name(".eh_frame").filter(|_| file.section_by_name(".eh_frame_hdr").is_none());
            let bytes = frames.as_ref().and_then(|section| Some((section.address(), section.data().ok()?)));
            let ranges = bytes.map_or_else(Vec::new, |(address, bytes)| fde::all(Section { address, bytes }));
            Ok((Functions::read(vec![cached(&image.file)]), ranges))
        })?;
        Ok(CodeReader { image, functions, ranges })
    }

    /// The code of the function at a file offset; `None` if none of a known architecture is known there.
    #[must_use]
    pub fn function(&self, offset: u64) -> Option<FunctionCode> {
        let known = || self.image.code_by(&self.functions, offset);
        catch_panic(|| Ok(known().or_else(|| self.in_range(offset)))).ok().flatten()
    }

    fn in_range(&self, offset: u64) -> Option<FunctionCode> {
        let address = self.image.address_of(offset)?;
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges.get(after.checked_sub(1)?).filter(|range| range.contains(&address))?;
        self.image.bytes_of(range.clone(), address.wrapping_sub(offset))
    }

    /// At most `most` bytes of code from an address of the file on.
    #[must_use]
    pub fn code_from(&self, address: u64, most: u64) -> Option<FunctionCode> {
        catch_panic(|| Ok(self.image.code_from(address, most))).ok().flatten()
    }
}

/// The code of the function at an offset of an object file.
///
/// # Errors
/// `Corrupt` for an invalid object file; `NotFound` if it has no function of a known architecture there.
pub fn function_code(file: &ObjectFile, offset: u64) -> Result<FunctionCode> {
    let image = Image::parse(file, "")?;
    catch_panic(|| {
        image.code(offset).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("no function of x86-64 or AArch64 code is known at offset {offset:#x}"),
            )
        })
    })
}

fn unwind_sections(cache: &Cached) -> Option<UnwindSections> {
    let file = open(cache).ok()?;
    let section = |name| {
        let section = file.section_by_name(name)?;
        Some((section.address(), section.data().ok()?.into()))
    };
    Some([section(".eh_frame_hdr")?, section(".eh_frame")?])
}
