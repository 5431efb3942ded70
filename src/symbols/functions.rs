//! The functions of an image by address. Only their places in the symbol tables are kept: a program has a hundred
//! thousand functions, and a recording meets some hundred.

use super::dwarf::{Cached, open};
use super::go_table::GoTable;
use crate::model::limits::{LINKER_NAME, NAMELESS_SYMBOLS};
use object::read::elf::{ElfFile, FileHeader, Sym};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, ReadRef, SymbolIndex, SymbolKind};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ffi::CStr;
use std::ops::Range;

/// A symbol by its address, in three words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    high: u32,
    low: u32,
    /// The table's number in the lowest bits, then the symbol's.
    symbol: u32,
}

/// Bits for the number of a table: of two files, two each; and Go's.
const TABLE_BITS: u32 = 3;

/// The number of Go's table.
const GO_TABLE: usize = 4;

impl Entry {
    fn new(address: u64, table: usize, symbol: usize) -> Option<Entry> {
        let symbol = u32::try_from(symbol).ok().filter(|symbol| symbol.leading_zeros() >= TABLE_BITS)?;
        let symbol = symbol << TABLE_BITS | u32::try_from(table).ok()?;
        Some(Entry { high: (address >> 32) as u32, low: address as u32, symbol })
    }

    fn address(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

/// What a symbol says.
struct Function<'a> {
    name: &'a str,
    /// 0 if unknown.
    size: u64,
    /// Unsized, weak, not global.
    binding: (bool, bool, bool),
}

impl Function<'_> {
    /// Orders the functions at one address as perf does, so that both tools print the same name: sized, then not weak,
    /// then global, then fewer leading underscores, then the longer name.
    fn rank(&self) -> impl Ord + use<'_> {
        let underscores = self.name.len() - self.name.trim_start_matches('_').len();
        (self.binding, underscores, Reverse(self.name.len()), self.name)
    }
}

/// The files, and the table of Go's runtime where none of them has symbols.
struct Objects<'a> {
    files: Vec<object::File<'a, &'a Cached>>,
    go: Option<GoTable<'a>>,
}

impl<'a> Objects<'a> {
    fn of(files: &'a [Cached]) -> Objects<'a> {
        let files: Vec<_> = files.iter().filter_map(|cache| open(cache).ok()).collect();
        let stripped = files.iter().all(|file| file.symbols().next().is_none());
        let go = files.iter().filter(|_| stripped).find_map(GoTable::of);
        Objects { files, go }
    }
}

self_cell::self_cell!(
    struct Files {
        owner: Vec<Cached>,
        #[not_covariant]
        dependent: Objects,
    }
);

/// The functions of an image and of its debug file.
pub(super) struct Functions {
    files: Files,
    /// Sorted.
    entries: Vec<Entry>,
    /// Of the symbol tables, which are kept.
    bytes: usize,
    /// The functions asked for so far, by the last symbol before their addresses: a function is met at many of them.
    known: RefCell<FxHashMap<u64, Option<Known>>>,
}

/// A function with its readable name.
struct Known {
    start: u64,
    end: u64,
    name: String,
}

impl Functions {
    /// Reads the symbol tables of up to two files. A file that cannot be read has none.
    pub(super) fn read(files: Vec<Cached>) -> Functions {
        let files = Files::new(files, |files| Objects::of(files));
        let entries = files.with_dependent(|_, files| {
            let mut entries = Vec::with_capacity(symbols(files).count());
            entries.extend(symbols(files));
            entries.sort_unstable();
            entries
        });
        let bytes = files.with_dependent(|_, files| table_bytes(files));
        Functions { files, entries, bytes, known: RefCell::default() }
    }

    /// The start and name of the function that covers an address. `readable` makes the name of the linker's, once.
    pub(super) fn find(&self, address: u64, readable: impl FnOnce(&str) -> String) -> Option<(u64, String)> {
        let after = self.entries.partition_point(|entry| entry.address() <= address);
        let nearest = self.entries.get(after.checked_sub(1)?)?.address();
        let mut known = self.known.borrow_mut();
        let known = known.entry(nearest).or_insert_with(|| self.read_function(after, readable));
        known.as_ref().filter(|known| address < known.end).map(|known| (known.start, known.name.clone()))
    }

    /// The addresses of the function that covers an address.
    pub(super) fn bounds(&self, address: u64) -> Option<Range<u64>> {
        let after = self.entries.partition_point(|entry| entry.address() <= address);
        let known = self.read_function(after, str::to_string)?;
        Some(known.start..known.end).filter(|bounds| bounds.contains(&address))
    }

    /// The last function that starts before an entry.
    fn read_function(&self, mut after: usize, readable: impl FnOnce(&str) -> String) -> Option<Known> {
        let least = after.saturating_sub(NAMELESS_SYMBOLS);
        self.files.with_dependent(|_, files| {
            loop {
                let start = self.entries.get(after.checked_sub(1)?)?.address();
                let before = self.entries.get(..after)?.iter();
                let first = after - before.rev().take_while(|entry| entry.address() == start).count();
                let aliases = self.entries.get(first..after)?.iter();
                if let Some(named) = aliases.filter_map(|alias| function(files, *alias)).min_by(by_rank) {
                    let end = if named.size == 0 { self.next(files, after) } else { start.saturating_add(named.size) };
                    return Some(Known { start, end, name: readable(named.name) });
                }
                // A symbol without a name is none.
                after = Some(first).filter(|first| *first > least)?;
            }
        })
    }

    /// The start of the first function from an entry on: a symbol without a size reaches there.
    fn next(&self, files: &Objects<'_>, entry: usize) -> u64 {
        let mut named = self.entries.iter().skip(entry).take(NAMELESS_SYMBOLS);
        let named = named.find(|entry| function(files, **entry).is_some());
        named.map_or(u64::MAX, |entry| entry.address())
    }

    /// Memory of the table, bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries) + self.bytes
    }
}

fn by_rank(one: &Function<'_>, other: &Function<'_>) -> std::cmp::Ordering {
    one.rank().cmp(&other.rank())
}

/// Size of the symbol tables of 64-bit files, and of Go's.
fn table_bytes(objects: &Objects<'_>) -> usize {
    const SYMBOL: usize = 24;
    let symbols =
        objects.files.iter().map(|file| file.symbols().count() + file.dynamic_symbols().count()).sum::<usize>();
    symbols * SYMBOL + objects.go.as_ref().map_or(0, GoTable::bytes)
}

/// The functions that the tables define.
fn symbols(objects: &Objects<'_>) -> impl Iterator<Item = Entry> {
    let of_files = objects.files.iter().enumerate().flat_map(|(file, object)| {
        let of = move |dynamic: usize| {
            move |symbol: object::Symbol<'_, '_, &Cached>| {
                let code = symbol.kind() == SymbolKind::Text && symbol.is_definition();
                code.then(|| Entry::new(symbol.address(), 2 * file + dynamic, symbol.index().0)).flatten()
            }
        };
        object.symbols().filter_map(of(0)).chain(object.dynamic_symbols().filter_map(of(1)))
    });
    let of_go = objects.go.iter().flat_map(GoTable::starts).enumerate();
    of_files.chain(of_go.filter_map(|(number, start)| Entry::new(start, GO_TABLE, number)))
}

fn function<'a>(objects: &Objects<'a>, entry: Entry) -> Option<Function<'a>> {
    let table = (entry.symbol & ((1 << TABLE_BITS) - 1)) as usize;
    let number = (entry.symbol >> TABLE_BITS) as usize;
    if table == GO_TABLE {
        let (name, size) = objects.go.as_ref()?.function(number)?;
        return Some(Function { name, size, binding: (false, false, false) });
    }
    let (file, is_static) = (objects.files.get(table / 2)?, table.is_multiple_of(2));
    let index = SymbolIndex(number);
    let symbols = if is_static { file.symbol_table() } else { file.dynamic_symbol_table() };
    let symbol = symbols?.symbol_by_index(index).ok()?;
    let name = match file {
        object::File::Elf32(elf) => name(elf, is_static, index),
        object::File::Elf64(elf) => name(elf, is_static, index),
        _ => None,
    };
    let size = symbol.size();
    Some(Function { name: name?, size, binding: (size == 0, symbol.is_weak(), !symbol.is_global()) })
}

/// The name of a symbol, cut to what is read of one: any number of symbols may share a string of any length.
fn name<'a, E: FileHeader>(elf: &ElfFile<'a, E, &'a Cached>, is_static: bool, index: SymbolIndex) -> Option<&'a str> {
    let table = if is_static { elf.elf_symbol_table() } else { elf.elf_dynamic_symbol_table() };
    let (strings, size) = elf.section_by_index(table.string_section()).ok()?.file_range()?;
    let place = u64::from(table.symbol(index).ok()?.st_name(elf.endian()));
    let start = strings.checked_add(place)?;
    let longest = size.checked_sub(place)?.min(LINKER_NAME as u64 + 1);
    // Names of up to some kilobytes are searched for their end; a longer one is read as far as the limit.
    let whole = elf.data().read_bytes_at_until(start..start.checked_add(longest)?, 0);
    let read = whole.or_else(|()| elf.data().read_bytes_at(start, longest)).ok()?;
    let name = match CStr::from_bytes_until_nul(read) {
        Ok(name) => name.to_str().ok()?,
        Err(_) if whole.is_ok() => std::str::from_utf8(read).ok()?,
        Err(_) if longest <= LINKER_NAME as u64 => return None,
        Err(_) => read.utf8_chunks().next()?.valid(),
    };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;
    use crate::model::ObjectFile;
    use crate::symbols::dwarf::cached;
    use std::collections::BTreeMap;

    /// Start, end and name of each function, the plain way: all symbols with their names in a map by address.
    fn all(bytes: &[u8]) -> Vec<(u64, u64, String)> {
        let file = object::File::parse(bytes).unwrap();
        let mut by_start: BTreeMap<u64, Vec<Function<'_>>> = BTreeMap::new();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let code = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            let Some(name) = symbol.name().ok().filter(|name| code && !name.is_empty()) else { continue };
            let size = symbol.size();
            let binding = (size == 0, symbol.is_weak(), !symbol.is_global());
            by_start.entry(symbol.address()).or_default().push(Function { name, size, binding });
        }
        let starts: Vec<u64> = by_start.keys().copied().collect();
        let best = by_start.into_iter().zip(1..).map(|((start, aliases), next)| {
            let best = aliases.into_iter().min_by(by_rank).unwrap();
            let end = if best.size == 0 { starts.get(next).copied().unwrap_or(u64::MAX) } else { start + best.size };
            (start, end, best.name.to_string())
        });
        best.collect()
    }

    #[test]
    fn each_address_has_the_function_that_reading_all_names_gives() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libraries = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
        let mut files: Vec<&str> = libraries.filter(|path| path.contains(".so")).collect();
        files.sort_unstable();
        files.dedup();
        let mut found = 0;
        for path in files {
            let bytes = std::fs::read(path).unwrap();
            let all = all(&bytes);
            let functions = Functions::read(vec![cached(&ObjectFile::new(bytes))]);
            for (nth, (start, end, _)) in all.iter().enumerate().step_by(all.len() / 2_000 + 1) {
                let middle = start + (end.min(&(start + 4096)) - start) / 2;
                for address in [start.wrapping_sub(1), *start, middle, end - 1, *end] {
                    let last = all[..all.len().min(nth + 2)].iter().rfind(|(start, ..)| *start <= address);
                    let last = last.filter(|(_, end, _)| address < *end);
                    let plain = last.map(|(start, _, name)| (*start, name.clone()));
                    let ours = functions.find(address, str::to_string);
                    assert_eq!(ours, plain, "{address:#x} in {path}");
                    found += usize::from(ours.is_some());
                }
            }
        }
        assert!(found > 2_000, "{found}");
    }

    /// A file with a table of symbols, each of a start, size and place of its name.
    fn program(strings: &[u8], symbols: &[(u64, u64, u32)]) -> Cached {
        let entry = |(start, size, name): &(u64, u64, u32)| {
            [&name.to_le_bytes()[..], &[0x12, 0, 1, 0], &start.to_le_bytes(), &size.to_le_bytes()].concat()
        };
        let table: Vec<u8> = [vec![0; 24], symbols.iter().flat_map(entry).collect()].concat();
        let section = |kind: u32, offset: usize, size: usize, link: u32, entry: u64| {
            let head = [&[0; 4][..], &kind.to_le_bytes(), &[0; 16]].concat();
            let place = [offset.to_le_bytes(), size.to_le_bytes()].concat();
            [&head[..], &place, &link.to_le_bytes(), &1u32.to_le_bytes(), &[0; 8], &entry.to_le_bytes()].concat()
        };
        let (table_at, strings_at) = (64, 64 + table.len());
        let sections = [
            section(0, 0, 0, 0, 0),
            section(1, 0, 0, 0, 0),
            section(2, table_at, table.len(), 3, 24),
            section(3, strings_at, strings.len(), 0, 0),
        ];
        let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0, 1, 0, 0, 0];
        head.resize(40, 0);
        let padding = vec![0; strings.len().next_multiple_of(8) - strings.len()];
        head.extend((strings_at + strings.len() + padding.len()).to_le_bytes());
        head.extend([0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0, 4, 0, 3, 0]);
        cached(&ObjectFile::new([head, table, strings.to_vec(), padding, sections.concat()].concat()))
    }

    #[test]
    fn a_name_is_read_only_so_far() {
        for (length, read) in
            [(1, 1), (4096, 4096), (4097, 4097), (LINKER_NAME, LINKER_NAME), (LINKER_NAME + 99, LINKER_NAME + 1)]
        {
            let strings = [&[0], &vec![b'n'; length][..], &[0]].concat();
            let functions = Functions::read(vec![program(&strings, &[(16, 8, 1)])]);
            let found = functions.find(20, str::to_string).map(|(start, name)| (start, name.len()));
            assert_eq!(found, Some((16, read)), "{length} bytes");
            let unended = Functions::read(vec![program(&strings[..=length], &[(16, 8, 1)])]);
            assert_eq!(unended.find(20, str::to_string).is_some(), length > LINKER_NAME, "{length} bytes");
        }
    }

    #[test]
    fn many_symbols_at_an_address_are_read_once() {
        let strings = [&[0], &vec![b'n'; 1 << 20][..], &[0]].concat();
        let functions = Functions::read(vec![program(&strings, &vec![(16, 80, 1); 10_000])]);
        let mut read = 0;
        for address in (0..10_000).map(|nth| 16 + nth % 80) {
            assert!(functions.find(address, |name| (read += name.len(), String::new()).1).is_some());
        }
        assert_eq!(read, LINKER_NAME + 1);
    }

    #[test]
    fn only_so_many_symbols_without_a_name_are_passed_over() {
        for (nameless, found) in [(NAMELESS_SYMBOLS - 1, true), (NAMELESS_SYMBOLS, false), (100_000, false)] {
            let nameless = (1..=nameless as u64).map(|nth| (16 + nth, 1, 0));
            let symbols: Vec<_> = [(16, 1 << 40, 1)].into_iter().chain(nameless).collect();
            let functions = Functions::read(vec![program(b"\0f\0", &symbols)]);
            assert_eq!(functions.find(1 << 20, str::to_string), found.then(|| (16, "f".to_string())));
            assert_eq!(functions.find(16, str::to_string), Some((16, "f".to_string())));
        }
    }

    #[test]
    fn what_is_no_program_has_no_functions() {
        let functions = Functions::read(vec![cached(&ObjectFile::new(b"no ELF"))]);
        assert_eq!(functions.find(7, str::to_string), None);
    }
}
