//! The functions that a Go program's runtime knows. Its table stays where the symbols were stripped (`-ldflags=-s`).
//!
//! Layout: src/runtime/symtab.go of Go 1.18 and later; older tables are not read.

use super::dwarf::Cached;
use crate::model::limits::LINKER_NAME;
use object::{File, Object, ObjectSection, ReadRef, Section};

/// The first word of the table in Go 1.18 and in 1.20, little-endian.
const MAGIC: [u64; 2] = [0xffff_fff0, 0xffff_fff1];

/// The header: the magic, how numbers are written, and eight words.
const HEADER: u64 = 72;

/// An entry: a function's start after that of the code, and the place of its description, which begins with the start and the
/// place of its name.
const ENTRY: u64 = 8;

/// The word of the header that is the address of the code; 0 since Go 1.26.
const CODE_IN_HEADER: usize = 3;

/// The words of the runtime's description of the program that are the addresses of the table and of the code.
const TABLE_WORD: usize = 0;
const CODE_WORD: usize = 22;

/// The table in its file.
pub(super) struct GoTable<'a> {
    data: &'a Cached,
    /// Offsets in the file.
    start: u64,
    end: u64,
    names: u64,
    entries: u64,
    count: usize,
    /// The address that starts count from.
    code: u64,
}

impl<'a> GoTable<'a> {
    /// The table of a file; `None` without one, and where the start of the code is not known.
    pub(super) fn of(file: &File<'a, &'a Cached>) -> Option<GoTable<'a>> {
        let File::Elf64(elf) = file else { return None };
        let data = elf.data();
        let section = [".gopclntab", ".data.rel.ro.gopclntab"].iter().find_map(|name| file.section_by_name(name))?;
        let (start, size) = section.file_range()?;
        let end = start.checked_add(size)?;
        let header = data.read_bytes_at(start, HEADER).ok()?;
        let word = |nth: usize| read_word(header, nth);
        // Pointers have eight bytes.
        if !MAGIC.contains(&read_half(header, 0)?) || header.get(7) != Some(&8) {
            return None;
        }
        let within = |offset: u64| start.checked_add(offset).filter(|place| *place < end);
        let (names, entries) = (within(word(4)?)?, within(word(8)?)?);
        let count = usize::try_from(word(1)?).ok().filter(|count| (*count as u64) < (end - entries) / ENTRY)?;
        let code = pointer(file, &section, CODE_IN_HEADER).or_else(|| code_of(file, section.address()))?;
        Some(GoTable { data, start, end, names, entries, count, code })
    }

    /// The start of each function, in the table's order.
    pub(super) fn starts(&self) -> impl Iterator<Item = u64> {
        let bytes = self.data.read_bytes_at(self.entries, self.count as u64 * ENTRY).unwrap_or_default();
        bytes.chunks_exact(ENTRY as usize).filter_map(|entry| Some(self.code.wrapping_add(read_half(entry, 0)?)))
    }

    /// The name and size of a function by its number. It reaches to the next one; behind the last is the end of the code.
    pub(super) fn function(&self, number: usize) -> Option<(&'a str, u64)> {
        let entries = self.at(self.entries, number as u64 * ENTRY, 2 * ENTRY)?;
        let [start, described, next] = [0, 4, 8].map(|at| read_half(entries, at));
        let name_place = read_half(self.at(self.entries, described?, ENTRY)?, 4)?;
        let from = self.names.checked_add(name_place).filter(|from| *from < self.end)?;
        let until = self.end.min(from.checked_add(LINKER_NAME as u64)?);
        let name = std::str::from_utf8(self.data.read_bytes_at_until(from..until, 0).ok()?).ok()?;
        (!name.is_empty()).then_some((name, next?.checked_sub(start?)?))
    }

    fn at(&self, base: u64, offset: u64, size: u64) -> Option<&'a [u8]> {
        let from = base.checked_add(offset).filter(|from| self.start <= *from)?;
        from.checked_add(size).filter(|end| *end <= self.end)?;
        self.data.read_bytes_at(from, size).ok()
    }

    /// Memory of the entries that were read, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.count * ENTRY as usize
    }
}

fn read_half(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?).into())
}

fn read_word(bytes: &[u8], nth: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(nth * 8..)?.first_chunk().copied()?))
}

/// A word of a section that is an address: as the linker wrote it, else as it left it to the loader. `None` if it is 0.
fn pointer<'a>(file: &File<'a, &'a Cached>, section: &Section<'a, '_, &'a Cached>, nth: usize) -> Option<u64> {
    let at = section.address().checked_add(nth as u64 * 8)?;
    let written = u64::from_le_bytes(section.data_range(at, 8).ok()??.first_chunk().copied()?);
    let loaded = || {
        let (_, relocation) = file.dynamic_relocations()?.find(|(place, _)| *place == at)?;
        u64::try_from(relocation.addend()).ok()
    };
    Some(written).filter(|address| *address != 0).or_else(loaded)
}

/// The address of Go's code by the runtime's description of the program, which has its own section since Go 1.26; else by the
/// section of code, which begins with it unless a C compiler linked the program, with start code of its own.
fn code_of<'a>(file: &File<'a, &'a Cached>, table: u64) -> Option<u64> {
    if let Some(module) = file.section_by_name(".go.module") {
        return pointer(file, &module, TABLE_WORD)
            .filter(|of| *of == table)
            .and_then(|_| pointer(file, &module, CODE_WORD));
    }
    let is_linked_by_go = file.section_by_name(".init").is_none();
    Some(file.section_by_name(".text").filter(|_| is_linked_by_go)?.address())
}

#[cfg(test)]
mod tests {
    use crate::model::ObjectFile;
    use crate::symbols::dwarf::cached;
    use crate::symbols::functions::Functions;
    use proptest::prelude::*;

    /// The table of two functions, `main.main` of 64 bytes and `main.work` of 16.
    fn table() -> Vec<u8> {
        let names = b"main.main\0main.work\0\0\0\0\0";
        let (names_at, entries_at) = (72, 72 + names.len() as u64);
        let head = [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        let words = [2, 0, 0, names_at, 0, 0, 0, entries_at].map(u64::to_le_bytes).concat();
        // Starts and places of descriptions, the end of the code, a start and the place of a name each.
        let halves: [u32; 10] = [0, 24, 64, 32, 80, 0, 0, 0, 64, 10];
        [&head[..], &words, names, &halves.map(u32::to_le_bytes).concat()].concat()
    }

    /// A program without symbols whose code is at 0x1000.
    fn functions(table: &[u8]) -> Functions {
        const NAMES: &[u8] = b"\0.text\0.gopclntab\0.shstrtab\0\0\0\0\0";
        let section = |name: u32, kind: u32, address: u64, offset: usize, size: usize| {
            let head = [name.to_le_bytes(), kind.to_le_bytes()].concat();
            let words = [0, address, offset as u64, size as u64, 0, 1, 0].map(u64::to_le_bytes).concat();
            [head, words].concat()
        };
        let (names_at, table_at) = (64, 64 + NAMES.len());
        let padding = vec![0; table.len().next_multiple_of(8) - table.len()];
        let sections = [
            section(0, 0, 0, 0, 0),
            section(1, 8, 0x1000, 0, 80),
            section(7, 1, 0x2000, table_at, table.len()),
            section(18, 3, 0, names_at, NAMES.len()),
        ];
        let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0, 1, 0, 0, 0];
        head.resize(40, 0);
        head.extend((table_at + table.len() + padding.len()).to_le_bytes());
        head.extend([0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0, 4, 0, 3, 0]);
        let file = [head, NAMES.to_vec(), table.to_vec(), padding, sections.concat()].concat();
        Functions::read(vec![cached(&ObjectFile::new(file))])
    }

    #[test]
    fn each_address_of_the_code_has_its_function_and_none_beside_it_has() {
        let functions = functions(&table());
        for (address, expected) in [
            (0xfff, None),
            (0x1000, Some((0x1000, "main.main"))),
            (0x103f, Some((0x1000, "main.main"))),
            (0x1040, Some((0x1040, "main.work"))),
            (0x104f, Some((0x1040, "main.work"))),
            (0x1050, None),
        ] {
            let found = functions.find(address, str::to_string);
            assert_eq!(found.as_ref().map(|(start, name)| (*start, name.as_str())), expected, "{address:#x}");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_table_has_other_names_or_none(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut table = table();
            for (place, byte) in damage {
                let place = place.index(table.len());
                table[place] = byte;
            }
            table.truncate(cut.index(table.len()) + 1);
            let functions = functions(&table);
            for address in (0xff0..0x1060).step_by(8) {
                let _ = functions.find(address, str::to_string);
            }
        }
    }
}
