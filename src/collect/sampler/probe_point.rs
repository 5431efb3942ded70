//! From a function's name to the place in the file where a probe on its first instruction goes.
//! It never guesses: a name that fits several functions, or none, is an error that lists what there is.

use super::probe_names::{Names, near};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::perf::uprobe_cost::Entry;
use object::elf::{PF_X, STT_GNU_IFUNC};
use object::{Object, ObjectSegment, ObjectSymbol, SegmentFlags, SymbolFlags, SymbolKind};

/// Functions that a message lists.
const MOST_LISTED: usize = 5;

/// Where a probe goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The function's first byte in the file.
    pub offset: u64,
    /// How it begins.
    pub entry: Entry,
}

/// A function's symbol.
#[derive(Debug, Clone, Copy)]
struct Function<'a> {
    name: &'a str,
    address: u64,
    /// It is not the function but chooses one when the program is loaded.
    chooser: bool,
}

/// The build id of an ELF file, in hexadecimal: what a separate debug file is found by.
#[must_use]
pub fn build_id(image: &[u8]) -> Option<String> {
    let id = object::File::parse(image).ok()?.build_id().ok()??.to_vec();
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Finds a function by its name as linked or as written; parameters may be left out. `debug` is the separate debug file of
/// a stripped image.
///
/// # Errors
/// `Corrupt` for what is no ELF file; `NotFound` with names that come near; `Usage` when several functions have the name;
/// `Unsupported` for a function that is chosen at load time.
pub fn parse(image: &[u8], debug: Option<&[u8]>, wanted: &str) -> Result<Point> {
    let file = object::File::parse(image)
        .map_err(|error| Error::new(ErrorKind::Corrupt, format!("not an ELF file: {error}")))?;
    let separate = debug.and_then(|bytes| object::File::parse(bytes).ok());
    let mut functions: Vec<Function<'_>> = functions(&file);
    functions.extend(separate.iter().flat_map(self::functions));
    let stripped = file.symbols().next().is_none() && separate.is_none();
    let found = only(matching(&functions, wanted), wanted)?.ok_or_else(|| absent(&functions, wanted, stripped))?;
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
    let code = usize::try_from(offset).ok().and_then(|at| image.get(at..)).unwrap_or_default();
    Ok(Point { offset, entry: Entry::of(code) })
}

fn functions<'a>(file: &object::File<'a>) -> Vec<Function<'a>> {
    let function = |symbol: object::Symbol<'a, '_>| {
        let chooser = matches!(symbol.flags(), SymbolFlags::Elf { st_info, .. } if st_info.st_type() == STT_GNU_IFUNC);
        let name = symbol.name().ok()?;
        // `memcpy@@GLIBC_2.14`
        let name = name.split_once('@').map_or(name, |(name, _)| name);
        let wanted = (chooser || symbol.kind() == SymbolKind::Text) && symbol.is_definition() && !name.is_empty();
        wanted.then_some(Function { name, address: symbol.address(), chooser })
    };
    file.symbols().filter_map(function).chain(file.dynamic_symbols().filter_map(function)).collect()
}

fn names<'a>(functions: &'a [Function<'_>]) -> impl Iterator<Item = &'a str> {
    functions.iter().map(|function| function.name)
}

/// Functions of that name, each address once: the linker's name counts before the written one.
fn matching<'a>(functions: &[Function<'a>], wanted: &str) -> Vec<Function<'a>> {
    let mut found: Vec<_> = functions.iter().filter(|function| function.name == wanted).copied().collect();
    if found.is_empty() {
        let names = Names::new(wanted);
        found.extend(functions.iter().filter(|function| names.fit(function.name)));
    }
    found.sort_by_key(|function| (function.address, function.chooser, function.name));
    found.dedup_by_key(|function| function.address);
    found
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
    Err(Error::new(ErrorKind::Usage, text).hint("Name one of them as it stands there, or another function."))
}

fn absent(functions: &[Function<'_>], wanted: &str, stripped: bool) -> Error {
    let near = near(names(functions), wanted, MOST_LISTED);
    let why = match (functions.is_empty(), stripped) {
        (true, _) => "it is stripped and names none",
        (false, true) => "it is stripped: only functions that other files may call have names",
        (false, false) => "there is none, or the compiler has inlined every call",
    };
    Error::new(ErrorKind::NotFound, format!("no function {wanted}: {why}")).hint(match near.is_empty() {
        true if stripped => "Install its debug symbols, or count calls of a library's function.".to_string(),
        true => "List the functions: nm --demangle FILE (nm --dynamic for a stripped one).".to_string(),
        false => format!("Names like it{}.", listed(": ", &near)),
    })
}

fn listed(before: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{before}{}", names.join(", ")) }
}

fn offset_of(file: &object::File<'_>, address: u64) -> Option<u64> {
    let code = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags & PF_X == PF_X);
    file.segments().filter(|segment| code(segment.flags())).find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = address.checked_sub(segment.address()).filter(|inside| *inside < size)?;
        start.checked_add(inside)
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        std::fs::read("/proc/self/exe").unwrap()
    }

    fn function(name: &str, address: u64) -> Function<'_> {
        Function { name, address, chooser: false }
    }

    #[test]
    fn a_c_function_is_found_where_its_code_is() {
        let image = own();
        let point = parse(&image, None, "ironlaw_probe_call").unwrap();
        let mapped = parse(&image, None, "ironlaw_workload").unwrap();
        assert!(point.offset != mapped.offset && (point.offset as usize) < image.len());
        #[cfg(target_arch = "x86_64")]
        for (name, entry) in [("ironlaw_probe_push", Entry::Push), ("ironlaw_probe_endbr", Entry::Endbr)] {
            assert_eq!(
                parse(&image, None, name).unwrap().entry,
                entry,
                "the offset leads to the function's first byte"
            );
        }
    }

    #[test]
    fn a_stripped_image_borrows_the_names_of_its_debug_file() {
        let image = own();
        let point = parse(&image, None, "ironlaw_probe_call").unwrap();
        assert_eq!(parse(&image, Some(&image), "ironlaw_probe_call").unwrap(), point);
        assert_eq!(parse(&image, Some(b"nonsense"), "ironlaw_probe_call").unwrap(), point);
    }

    #[test]
    fn a_name_that_is_not_there_brings_those_that_come_near() {
        let error = parse(&own(), None, "ironlaw_probe_cal").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.remedy().unwrap().contains("ironlaw_probe_call"), "{:?}", error.remedy());
    }

    #[test]
    fn the_linkers_name_comes_first_and_aliases_are_one_function() {
        let functions = [
            function("_ZN1a1fEi", 16),
            function("_ZN1a1fEd", 32),
            function("f", 48),
            function("f_alias", 48),
            function("g", 64),
            function("g", 64),
        ];
        for (wanted, addresses) in [
            ("f", vec![48]),
            ("g", vec![64]),
            ("a::f(int)", vec![16]),
            ("_ZN1a1fEd", vec![32]),
            ("a::f", vec![16, 32]),
            ("a::h", vec![]),
        ] {
            let found: Vec<u64> = matching(&functions, wanted).iter().map(|function| function.address).collect();
            assert_eq!(found, addresses, "{wanted}");
        }
    }

    #[test]
    fn several_functions_of_a_name_are_listed_with_their_places() {
        let found = (1..=7).map(|at| function("step", at * 16)).collect();
        let error = only(found, "step").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("step at 0x10") && error.to_string().ends_with("2 more"), "{error}");
    }

    #[test]
    fn hostile_files_are_refused() {
        let image = own();
        for length in [0, 1, 4, 63, 64, 200, 5000] {
            assert!(parse(&image[..length], None, "main").is_err(), "{length} bytes");
        }
        assert_eq!(parse(b"#!/bin/sh\n", None, "main").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(build_id(b"\x7fELF"), None);
    }
}
