//! Resolves a function's name to the place in the file where a probe on its first instruction goes. A name that matches
//! several functions, or none, is an error that lists the candidates.

use super::probe_names::{Names, near};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{OBJECT_SYMBOLS, UNWIND_TABLE};
use crate::model::{ObjectFile, ObjectParts};
use crate::sys::perf::uprobe_cost::Entry;
use gimli::{BaseAddresses, CieOrFde, EhFrame, RunTimeEndian, UnwindSection};
use object::elf::{PF_X, STT_GNU_IFUNC};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolFlags, SymbolKind};

/// Maximum number of functions that a message lists.
const MOST_LISTED: usize = 5;
/// Bytes of a function that tell how it begins.
const ENTRY: u64 = 16;

/// Place of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePoint {
    /// The function's first byte in the file.
    pub offset: u64,
    /// How the function's code begins.
    pub entry: Entry,
}

/// A function's symbol.
#[derive(Debug, Clone, Copy)]
struct Function<'a> {
    name: &'a str,
    address: u64,
    /// Whether this is an IFUNC: not the function itself, but code that chooses one when the program is loaded.
    chooser: bool,
}

/// Finds a function by its linker name, by its name as written (parameters may be left out), by its address (`0x401050`)
/// or by its offset in the file (`+0x1050`). `debug` is the separate debug file of a stripped image.
///
/// # Errors
/// `Corrupt` for a file that is not ELF; `NotFound` with similar names; `Usage` if several functions have the name;
/// `Unsupported` for a function that is chosen at load time.
pub fn find(image: &ObjectFile, debug: Option<&ObjectFile>, wanted: &str) -> Result<ProbePoint> {
    let read = image.parts(OBJECT_SYMBOLS);
    let file = open(image, &read)?;
    let debug = debug.map(|debug| debug.parts(OBJECT_SYMBOLS));
    let separate = debug.as_ref().and_then(|read| object::File::parse(read).ok());
    let mut functions: Vec<Function<'_>> = functions(&file);
    functions.extend(separate.iter().flat_map(self::functions));
    let stripped = file.symbols().next().is_none() && separate.is_none();
    let address = address_of(&file, wanted);
    let found = only(matching(&functions, wanted, address), wanted)?;
    let unnamed = || address.filter(|address| begins_function(&file, *address));
    let unnamed = || unnamed().map(|address| Function { name: wanted, address, chooser: false });
    let found = found.or_else(unnamed).ok_or_else(|| absent(&functions, wanted, stripped, address))?;
    if found.chooser {
        let text = format!("{wanted} is chosen among several functions when the program is loaded (IFUNC)");
        return Err(Error::new(ErrorKind::Unsupported, text).hint(format!(
            "Only the choice could be counted, not the calls. Name the function that was chosen{}.",
            listed(", for example ", &near(names(&functions).filter(|name| *name != found.name), wanted, MOST_LISTED))
        )));
    }
    let offset = offset_of(&file, found.address).ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, format!("{wanted} at {:#x} lies in no code of the file", found.address))
    })?;
    Ok(ProbePoint { offset, entry: entry(image, offset) })
}

/// How the code at an offset begins.
pub fn entry(image: &ObjectFile, offset: u64) -> Entry {
    Entry::of(&image.bytes(offset, ENTRY.min(image.length().saturating_sub(offset))).unwrap_or_default())
}

/// An object file that is read where it is needed.
type Parsed<'a> = object::File<'a, &'a ObjectParts>;

fn open<'a>(image: &ObjectFile, read: &'a ObjectParts) -> Result<Parsed<'a>> {
    if image.bytes(0, 2).is_some_and(|begin| *begin == *b"#!") {
        return Err(Error::new(ErrorKind::Corrupt, "it is a script").hint("Name its interpreter's binary instead."));
    }
    object::File::parse(read).map_err(|error| Error::new(ErrorKind::Corrupt, format!("not an ELF file: {error}")))
}

fn functions<'a>(file: &Parsed<'a>) -> Vec<Function<'a>> {
    let function = |symbol: object::Symbol<'a, '_, &'a ObjectParts>| {
        let chooser = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info.st_type() == STT_GNU_IFUNC);
        let name = symbol.name().ok()?;
        // `memcpy@@GLIBC_2.14`
        let name = name.split_once('@').map_or(name, |(name, _)| name);
        let wanted = match chooser {
            // The `object` crate does not report it as a definition.
            true => !symbol.is_undefined(),
            false => symbol.kind() == SymbolKind::Text && symbol.is_definition(),
        };
        (wanted && !name.is_empty()).then_some(Function { name, address: symbol.address(), chooser })
    };
    file.symbols().filter_map(function).chain(file.dynamic_symbols().filter_map(function)).collect()
}

fn names<'a>(functions: &'a [Function<'_>]) -> impl Iterator<Item = &'a str> {
    functions.iter().map(|function| function.name)
}

/// Functions with that name or at that address, each address once; linker names take precedence over written ones. An
/// address must be a function's first byte: a probe inside an instruction would destroy it.
fn matching<'a>(functions: &[Function<'a>], wanted: &str, address: Option<u64>) -> Vec<Function<'a>> {
    let exact = |function: &&Function<'a>| function.name == wanted || Some(function.address) == address;
    let mut found: Vec<_> = functions.iter().filter(exact).copied().collect();
    if found.is_empty() {
        let names = Names::new(wanted);
        found.extend(functions.iter().filter(|function| names.fit(function.name)));
    }
    found.sort_by_key(|function| (function.address, function.chooser, function.name));
    found.dedup_by_key(|function| function.address);
    found
}

/// The address that is written in place of a name, or that of an offset in the file.
fn address_of(file: &Parsed<'_>, wanted: &str) -> Option<u64> {
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let Some(offset) = wanted.strip_prefix('+') else { return number(wanted) };
    let offset = number(offset)?;
    file.segments().find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = offset.checked_sub(start).filter(|inside| *inside < size)?;
        segment.address().checked_add(inside)
    })
}

/// Whether a function begins at an address by the unwind tables, which stripped programs keep.
fn begins_function(file: &Parsed<'_>, address: u64) -> bool {
    let frames = file.section_by_name(".eh_frame").filter(|section| section.size() <= UNWIND_TABLE);
    let Some((at, bytes)) = frames.and_then(|section| Some((section.address(), section.data().ok()?))) else {
        return false;
    };
    let mut frames =
        EhFrame::new(bytes, if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big });
    frames.set_address_size(if file.is_64() { 8 } else { 4 });
    let bases = BaseAddresses::default().set_eh_frame(at);
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(entry) = entry else { continue };
        if entry.parse(EhFrame::cie_from_offset).is_ok_and(|entry| entry.initial_address() == address) {
            return true;
        }
    }
    false
}

fn only<'a>(found: Vec<Function<'a>>, wanted: &str) -> Result<Option<Function<'a>>> {
    if found.len() < 2 {
        return Ok(found.first().copied());
    }
    let mut places: Vec<String> = found
        .iter()
        .take(MOST_LISTED)
        .map(|function| format!("{} at {:#x}", function.name, function.address))
        .collect();
    if found.len() > MOST_LISTED {
        places.push(format!("{} more", found.len() - MOST_LISTED));
    }
    let text = format!("{} functions are called {wanted}: {}", found.len(), places.join(", "));
    Err(Error::new(ErrorKind::Usage, text).hint("Give the address of one of them in place of the name."))
}

fn absent(functions: &[Function<'_>], wanted: &str, stripped: bool, address: Option<u64>) -> Error {
    if address.is_some() || wanted.starts_with("+0x") {
        let text = format!("no function begins at {wanted}, by neither symbols nor unwind tables");
        return Error::new(ErrorKind::NotFound, text).hint(
            "A probe elsewhere would destroy an instruction. Addresses are those that objdump shows, +0x the file's.",
        );
    }
    let near = near(names(functions), wanted, MOST_LISTED);
    let why = match (functions.is_empty(), stripped) {
        (true, _) => "the file is stripped and has no symbols",
        (false, true) => "the file is stripped: only exported functions have names",
        (false, false) => "the file does not contain it, or the compiler inlined every call",
    };
    Error::new(ErrorKind::NotFound, format!("no function {wanted}: {why}")).hint(match near.is_empty() {
        true if stripped => {
            "Install its debug symbols, or give the function's address: uprobe:FILE:0x401050.".to_string()
        }
        true => "List the functions: nm --demangle FILE (nm --dynamic for a stripped one).".to_string(),
        false => format!("Names like it{}.", listed(": ", &near)),
    })
}

fn listed(before: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{before}{}", names.join(", ")) }
}

fn offset_of(file: &Parsed<'_>, address: u64) -> Option<u64> {
    let code = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags & PF_X == PF_X);
    file.segments().filter(|segment| code(segment.flags())).find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = address.checked_sub(segment.address()).filter(|inside| *inside < size)?;
        start.checked_add(inside)
    })
}

#[cfg(test)]
pub(crate) mod testing {
    /// Position of the code in the file, and in memory.
    pub const CODE: (u64, u64) = (0x100, 0x40_1000);
    /// A function that is chosen when the program is loaded.
    pub const IFUNC: u8 = 10;
    /// Any other function.
    pub const FUNC: u8 = 2;

    /// A 64-bit little-endian ELF file of one code segment, 256 bytes of `code`, and symbols by name, address and type.
    pub fn elf(code: u8, symbols: &[(&str, u64, u8)]) -> Vec<u8> {
        let (mut table, mut strings) = (vec![0; 24], vec![0]);
        for (name, address, kind) in symbols {
            half(&mut table, &[strings.len() as u32]);
            table.extend([1 << 4 | kind, 0, 1, 0]);
            word(&mut table, &[*address, 1]);
            strings.extend(name.bytes().chain([0]));
        }
        let (at, tables) = (CODE.0 + 256, table.len() as u64);
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        half(&mut file, &[62 << 16 | 2, 1]);
        word(&mut file, &[0, 64, at + tables + strings.len() as u64]);
        half(&mut file, &[0, 56 << 16 | 64, 64 << 16 | 1, 3 << 16 | 4]);
        half(&mut file, &[1, 5]);
        word(&mut file, &[CODE.0, CODE.1, CODE.1, 256, 256, 16]);
        file.resize(CODE.0 as usize, 0);
        file.resize(at as usize, code);
        file.extend(table);
        file.extend(&strings);
        let sections = [
            ([0, 0], [0; 4], 0, 0),
            ([0, 1], [6, CODE.1, CODE.0, 256], 0, 0),
            ([0, 2], [0, 0, at, tables], 3, 24),
            ([0, 3], [0, 0, at + tables, strings.len() as u64], 0, 0),
        ];
        for (kind, place, link, each) in sections {
            half(&mut file, &kind);
            word(&mut file, &place);
            half(&mut file, &[link, 1]);
            word(&mut file, &[1, each]);
        }
        file
    }

    fn half(bytes: &mut Vec<u8>, values: &[u32]) {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn word(bytes: &mut Vec<u8>, values: &[u64]) {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::testing::{CODE, FUNC, IFUNC, elf};
    use super::*;
    use crate::collect::sampler::build_id;

    fn parse(image: &[u8], debug: Option<&[u8]>, wanted: &str) -> Result<ProbePoint> {
        let object = |bytes: &[u8]| ObjectFile::new(bytes.to_vec());
        find(&object(image), debug.map(object).as_ref(), wanted)
    }

    /// `push %rbp` throughout.
    fn program() -> Vec<u8> {
        let symbols = [
            ("serve", 0x10, FUNC),
            ("serve_alias", 0x10, FUNC),
            ("copy@@V_2", 0x20, IFUNC),
            ("copy_fast", 0x30, FUNC),
            ("step", 0x40, FUNC),
            ("step", 0x50, FUNC),
            ("_ZN1a1fEi", 0x60, FUNC),
            ("_ZN1a1fEd", 0x70, FUNC),
            ("f", 0x80, FUNC),
            ("away", 0x1000, FUNC),
        ];
        elf(0x55, &symbols.map(|(name, at, kind)| (name, CODE.1 + at, kind)))
    }

    #[test]
    fn a_function_is_found_where_its_code_lies_in_the_file() {
        let entry = if cfg!(target_arch = "x86_64") { Entry::Push } else { Entry::Other };
        for (wanted, offset) in [
            ("serve", 0x10),
            ("serve_alias", 0x10),
            ("_ZN1a1fEd", 0x70),
            ("a::f(int)", 0x60),
            ("f", 0x80),
            ("0x401050", 0x50),
            ("+0x150", 0x50),
        ] {
            let point = parse(&program(), None, wanted).unwrap();
            assert_eq!(point, ProbePoint { offset: CODE.0 + offset, entry }, "{wanted}");
        }
    }

    #[test]
    fn what_cannot_be_one_place_says_why_and_what_to_name_instead() {
        for (wanted, kind, said, hint) in [
            ("serv", ErrorKind::NotFound, "no function serv", "Names like it: serve, serve_alias."),
            ("zzz", ErrorKind::NotFound, "inlined", "nm --demangle"),
            ("0x401011", ErrorKind::NotFound, "no function begins at 0x401011", "objdump"),
            ("+0x111", ErrorKind::NotFound, "no function begins at +0x111", "destroy"),
            ("+0x99999", ErrorKind::NotFound, "no function begins at +0x99999", "destroy"),
            ("step", ErrorKind::Usage, "step at 0x401040, step at 0x401050", "address"),
            ("a::f", ErrorKind::Usage, "_ZN1a1fEi at 0x401060, _ZN1a1fEd at 0x401070", "address"),
            ("copy", ErrorKind::Unsupported, "IFUNC", "for example copy_fast"),
            ("away", ErrorKind::Corrupt, "in no code", ""),
        ] {
            let error = parse(&program(), None, wanted).unwrap_err();
            assert!(error.kind() == kind && error.to_string().contains(said), "{error:?}");
            assert!(error.remedy().unwrap_or_default().contains(hint), "{:?}", error.remedy());
        }
    }

    #[test]
    fn of_many_functions_of_a_name_a_few_are_listed() {
        let found = (1..=7).map(|at| Function { name: "step", address: at * 16, chooser: false }).collect();
        let error = only(found, "step").unwrap_err();
        assert!(error.to_string().starts_with("7 functions") && error.to_string().ends_with("2 more"), "{error}");
    }

    #[test]
    fn a_stripped_image_borrows_the_names_of_its_debug_file() {
        let stripped = elf(0x90, &[]);
        let error = parse(&stripped, None, "serve").unwrap_err();
        assert!(error.to_string().contains("stripped") && error.remedy().unwrap().contains("0x401050"), "{error}");
        assert!(parse(&stripped, Some(b"nonsense"), "serve").is_err());
        assert_eq!(parse(&stripped, Some(&program()), "serve").unwrap().offset, CODE.0 + 0x10);
    }

    #[test]
    fn our_own_program_can_be_read_and_its_unwind_tables_know_where_functions_begin() {
        let image = std::fs::read("/proc/self/exe").unwrap();
        let point = parse(&image, None, "ironlaw_probe_call").unwrap();
        let object = ObjectFile::new(image.clone());
        let parts = object.parts(OBJECT_SYMBOLS);
        let file = open(&object, &parts).unwrap();
        let address = address_of(&file, &format!("+{:#x}", point.offset)).unwrap();
        assert_eq!(offset_of(&file, address), Some(point.offset));
        assert!(begins_function(&file, address) && !begins_function(&file, address + 1));
        let id = build_id(&ObjectFile::new(image.clone())).unwrap();
        assert!((point.offset as usize) < image.len() && id.is_none_or(|id| id.0.len() >= 16));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let image = program();
        for length in [0, 1, 4, 63, 64, 120, 0x100, 0x200, image.len() - 1] {
            assert!(parse(&image[..length], None, "serve").is_err(), "{length} bytes");
        }
        let error = parse(b"#!/bin/sh\n", None, "main").unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.remedy().unwrap().contains("interpreter"), "{error}");
        assert!(build_id(&ObjectFile::new(b"\x7fELF".to_vec())).is_none());
    }
}
