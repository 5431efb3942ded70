//! Every address has the names and lines that the crate addr2line finds by reading all units.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::{Lookup, Reader};
use crate::model::{Bytes, Symbol};
use crate::symbols::debug::{Sections, open};
use crate::symbols::demangle::demangle;
use gimli::Dwarf;
use object::{Object, ObjectSection, SectionKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Addresses compared in each file.
const ADDRESSES: u64 = 4_000;

fn plain(context: &addr2line::Context<Reader<'_>>, address: u64) -> Vec<Symbol> {
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return Vec::new() };
    let mut symbols = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
        let location = frame.location.as_ref();
        symbols.push(Symbol {
            function: function.map(|name| demangle(&name)).unwrap_or_default(),
            file: location.and_then(|at| at.file).map(str::to_string),
            line: location.and_then(|at| at.line),
            inlined: true,
        });
    }
    if let Some(outermost) = symbols.last_mut() {
        outermost.inlined = false;
    }
    symbols
}

fn bytes(path: &Path) -> Bytes {
    Arc::new(std::fs::read(path).unwrap())
}

fn dwarf<'a>(main: &'a Sections, supplement: Option<&'a Sections>) -> Dwarf<Reader<'a>> {
    let mut dwarf = main.dwarf().unwrap();
    if let Some(supplement) = supplement {
        dwarf.set_sup(supplement.dwarf().unwrap());
    }
    dwarf
}

/// Returns how many addresses have names, and how many of them inlined calls.
fn compare(path: &Path) -> (usize, usize) {
    let file = bytes(path);
    let supplement = object::File::parse((*file).as_ref()).unwrap().gnu_debugaltlink().unwrap().map(|(name, _)| {
        let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
        Sections::read(&bytes(&path.parent().unwrap().join(name))).unwrap()
    });
    let main = Sections::read(&file).unwrap();
    let context = addr2line::Context::from_dwarf(dwarf(&main, supplement.as_ref())).unwrap();
    let lookup = Lookup::new(dwarf(&main, supplement.as_ref())).unwrap();
    let object = open(&file).unwrap();
    let code: Vec<_> = object.sections().filter(|section| section.kind() == SectionKind::Text).collect();
    let (mut named, mut inlined) = (0, 0);
    for section in code {
        let (start, size) = (section.address(), section.size());
        for nth in 0..ADDRESSES.min(size) {
            // In an order in which neighbours do not follow each other.
            let address = start + (nth * 2_654_435_761) % size;
            let found = lookup.names(address).unwrap_or_default();
            assert_eq!(found, plain(&context, address), "{address:#x} in {}", path.display());
            named += usize::from(found.iter().any(|symbol| !symbol.function.is_empty()));
            inlined += usize::from(found.len() > 1);
        }
    }
    (named, inlined)
}

#[test]
fn this_program_has_the_names_that_reading_all_of_it_gives() {
    let (named, inlined) = compare(&std::env::current_exe().unwrap());
    assert!(named > 500 && inlined > 100, "{named}, {inlined}");
}

/// Those of distributions are compressed, and their common parts lie in another file.
#[test]
fn installed_debug_files_have_the_names_that_reading_all_of_them_gives() {
    let folders = std::fs::read_dir("/usr/lib/debug/.build-id").into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.take(6).for_each(|file| _ = compare(&file.path()));
}
