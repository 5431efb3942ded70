//! Every address has the names and lines that are found by reading all units.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::lookup::Lookup;
use super::sections::{Sections, cached, open};
use super::split::{SplitSections, SplitSource};
use crate::model::ObjectFile;
use crate::model::limits::{INLINED_DEPTH, UNITS_AT_ADDRESS};
use crate::symbols::tests::Shelf;
use object::{Object, ObjectSection, SectionFlags};
use std::path::{Path, PathBuf};

/// Addresses compared in each file.
const ADDRESSES: u64 = 4_000;

fn read(path: &Path) -> ObjectFile {
    ObjectFile::new(std::fs::read(path).unwrap())
}

fn is_code(flags: SectionFlags) -> bool {
    matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_EXECINSTR))
}

/// Nothing is split into other files.
fn nowhere(shelf: &Shelf) -> SplitSource<'_> {
    SplitSource { place: None, files: shelf }
}

/// Returns how many addresses have names, and how many of them inlined calls.
fn compare(path: &Path) -> (usize, usize) {
    let (file, cache) = (read(path), cached(&read(path)));
    let object = open(&cache).unwrap();
    let supplement = object.gnu_debugaltlink().unwrap().map(|(name, _)| {
        let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
        Sections::read(&read(&path.parent().unwrap().join(name)), &Shelf::default()).unwrap()
    });
    let main = Sections::read(&file, &Shelf::default()).unwrap();
    let (split, shelf) = (SplitSections::default(), Shelf::default());
    let (lookup, from) = (Lookup::new(&main, supplement.as_ref(), &split).unwrap(), nowhere(&shelf));
    // In separate files they have no bytes.
    let code: Vec<_> = object.sections().filter(|section| is_code(section.flags())).collect();
    assert!(!code.is_empty(), "{}", path.display());
    let (mut named, mut inlined) = (0, 0);
    for section in code {
        let (start, size) = (section.address(), section.size());
        for nth in 0..ADDRESSES.min(size) {
            // In an order in which neighbours do not follow each other.
            let address = start + (nth * 2_654_435_761) % size;
            let found = lookup.names(address, from);
            assert_eq!(found, lookup.among_all(address, from), "{address:#x} in {}", path.display());
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
    let mut files: Vec<_> = files.map(|file| (file.metadata().map_or(0, |about| about.len()), file.path())).collect();
    files.sort_unstable();
    // The C library's, where it is installed, is the largest.
    files.iter().rev().take(2).chain(files.iter().take(4)).for_each(|(_, path)| _ = compare(path));
}

/// Abbreviations of a unit with code at an address, of a function and of an inlined call; of a function that refers to
/// another unit.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0, // low and high address
    2, 0x2e, 1, 0x03, 8, 0x11, 1, 0x12, 7, 0, 0, // name, too
    3, 0x1d, 1, 0x03, 8, 0x11, 1, 0x12, 7, 0, 0, //
    0,
];
const REFERRING: &[u8] = &[4, 0x2e, 0, 0x47, 0x10, 0, 0, 0];

/// Where the code is, and how much.
const CODE: (u64, u64) = (0x1000, 0x100);

fn entry(code: u8, name: &str) -> Vec<u8> {
    let name = if name.is_empty() { Vec::new() } else { [name.as_bytes(), &[0]].concat() };
    [&[code], &name[..], &CODE.0.to_le_bytes(), &CODE.1.to_le_bytes()].concat()
}

/// A unit with these entries.
fn unit(entries: &[u8]) -> Vec<u8> {
    let body = [&[4, 0, 0, 0, 0, 0, 8], &entry(1, "")[..], entries, &[0]].concat();
    [&(body.len() as u32).to_le_bytes(), &body[..]].concat()
}

/// A function with so many inlined calls, one within the other.
fn nested(depth: usize) -> Vec<u8> {
    [entry(2, "outer"), entry(3, "inner").repeat(depth), vec![0; depth + 1]].concat()
}

#[test]
fn inlined_calls_are_followed_only_so_deep_by_any_way() {
    let (split, shelf) = (SplitSections::default(), Shelf::default());
    let from = nowhere(&shelf);
    for (depth, names) in [(0, 1), (1, 2), (INLINED_DEPTH, INLINED_DEPTH + 1), (INLINED_DEPTH + 1, 0), (100_000, 0)] {
        let refers = [&ABBREVIATIONS[..ABBREVIATIONS.len() - 1], REFERRING].concat();
        for abbreviations in [ABBREVIATIONS, &refers] {
            let sections = Sections::of(&[(".debug_info", &unit(&nested(depth))), (".debug_abbrev", abbreviations)]);
            let lookup = Lookup::new(&sections, None, &split).unwrap();
            assert_eq!(lookup.names(CODE.0, from).len(), names, "{depth} levels");
            assert_eq!(lookup.is_limited(), names == 0, "{depth} levels");
        }
    }
}

#[test]
fn inlined_calls_beside_each_other_are_not_within_each_other() {
    let (split, shelf) = (SplitSections::default(), Shelf::default());
    let from = nowhere(&shelf);
    let beside = [entry(3, "inner"), vec![0]].concat().repeat(10 * INLINED_DEPTH);
    let info = unit(&[entry(2, "outer"), beside, vec![0]].concat());
    let sections = Sections::of(&[(".debug_info", &info), (".debug_abbrev", ABBREVIATIONS)]);
    let lookup = Lookup::new(&sections, None, &split).unwrap();
    assert_eq!((lookup.names(CODE.0, from).len(), lookup.is_limited()), (2, false));
}

#[test]
fn only_so_many_units_are_searched_for_an_address() {
    let (split, shelf) = (SplitSections::default(), Shelf::default());
    let from = nowhere(&shelf);
    for (others, found) in [(0, true), (UNITS_AT_ADDRESS - 1, true), (UNITS_AT_ADDRESS, false), (10_000, false)] {
        let info = [unit(&[]).repeat(others), unit(&nested(0))].concat();
        let sections = Sections::of(&[(".debug_info", &info), (".debug_abbrev", ABBREVIATIONS)]);
        let lookup = Lookup::new(&sections, None, &split).unwrap();
        assert_eq!(lookup.names(CODE.0, from).len(), usize::from(found), "{others} others");
        assert_eq!(lookup.is_limited(), !found, "{others} others");
        assert_eq!(lookup.among_all(CODE.0, from).len(), usize::from(found), "{others} others");
    }
}
