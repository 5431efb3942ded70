//! Every address has the names and lines that are found by reading all units.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::lookup::Lookup;
use super::sections::{Sections, cached, open};
use crate::model::ObjectFile;
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

/// Returns how many addresses have names, and how many of them inlined calls.
fn compare(path: &Path) -> (usize, usize) {
    let (file, cache) = (read(path), cached(&read(path)));
    let object = open(&cache).unwrap();
    let supplement = object.gnu_debugaltlink().unwrap().map(|(name, _)| {
        let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
        Sections::read(&read(&path.parent().unwrap().join(name)), &Shelf::default()).unwrap()
    });
    let main = Sections::read(&file, &Shelf::default()).unwrap();
    let lookup = Lookup::new(&main, supplement.as_ref()).unwrap();
    // In separate files they have no bytes.
    let code: Vec<_> = object.sections().filter(|section| is_code(section.flags())).collect();
    assert!(!code.is_empty(), "{}", path.display());
    let (mut named, mut inlined) = (0, 0);
    for section in code {
        let (start, size) = (section.address(), section.size());
        for nth in 0..ADDRESSES.min(size) {
            // In an order in which neighbours do not follow each other.
            let address = start + (nth * 2_654_435_761) % size;
            let found = lookup.names(address);
            assert_eq!(found, lookup.among_all(address), "{address:#x} in {}", path.display());
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
