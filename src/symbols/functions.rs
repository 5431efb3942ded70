//! The functions of an image by address. Only their places in the symbol tables are kept: a program has a hundred
//! thousand functions, and a recording meets some hundred.

use super::dwarf::{Cached, open};
use object::{Object, ObjectSymbol, ObjectSymbolTable, SymbolIndex, SymbolKind};
use std::cmp::Reverse;

/// A symbol by its address, in three words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    high: u32,
    low: u32,
    /// The table's number in the lowest bits, then the symbol's.
    symbol: u32,
}

/// Bits for the number of a table: of two files, two each.
const TABLE_BITS: u32 = 2;

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

type Objects<'a> = Vec<object::File<'a, &'a Cached>>;

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
}

impl Functions {
    /// Reads the symbol tables of up to two files. A file that cannot be read has none.
    pub(super) fn read(files: Vec<Cached>) -> Functions {
        let files = Files::new(files, |files| files.iter().filter_map(|cache| open(cache).ok()).collect());
        let entries = files.with_dependent(|_, files| {
            let mut entries = Vec::with_capacity(symbols(files).count());
            entries.extend(symbols(files));
            entries.sort_unstable();
            entries
        });
        let bytes = files.with_dependent(|_, files| table_bytes(files));
        Functions { files, entries, bytes }
    }

    /// Passes the start and mangled name of the function that covers an address to `read`.
    pub(super) fn find<T>(&self, address: u64, read: impl FnOnce(u64, &str) -> T) -> Option<T> {
        self.files.with_dependent(|_, files| {
            let mut after = self.entries.partition_point(|entry| entry.address() <= address);
            loop {
                let start = self.entries.get(after.checked_sub(1)?)?.address();
                let before = self.entries.get(..after)?.iter();
                let first = after - before.rev().take_while(|entry| entry.address() == start).count();
                let aliases = self.entries.get(first..after)?.iter();
                let Some(named) = aliases.filter_map(|alias| function(files, *alias)).min_by(by_rank) else {
                    // A symbol without a name is none.
                    after = first;
                    continue;
                };
                let end = if named.size == 0 { self.next(files, after) } else { start.saturating_add(named.size) };
                return (address < end).then(|| read(start, named.name));
            }
        })
    }

    /// The start of the first function from an entry on: a symbol without a size reaches there.
    fn next(&self, files: &Objects<'_>, entry: usize) -> u64 {
        let named = self.entries.iter().skip(entry).find(|entry| function(files, **entry).is_some());
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

/// Size of the symbol tables of 64-bit files.
fn table_bytes(files: &Objects<'_>) -> usize {
    const SYMBOL: usize = 24;
    files.iter().map(|file| (file.symbols().count() + file.dynamic_symbols().count()) * SYMBOL).sum()
}

/// The functions that the tables define.
fn symbols(files: &Objects<'_>) -> impl Iterator<Item = Entry> {
    files.iter().enumerate().flat_map(|(file, object)| {
        let of = move |dynamic: usize| {
            move |symbol: object::Symbol<'_, '_, &Cached>| {
                let code = symbol.kind() == SymbolKind::Text && symbol.is_definition();
                code.then(|| Entry::new(symbol.address(), 2 * file + dynamic, symbol.index().0)).flatten()
            }
        };
        object.symbols().filter_map(of(0)).chain(object.dynamic_symbols().filter_map(of(1)))
    })
}

fn function<'a>(files: &Objects<'a>, entry: Entry) -> Option<Function<'a>> {
    let table = (entry.symbol & ((1 << TABLE_BITS) - 1)) as usize;
    let file = files.get(table / 2)?;
    let symbols = if table.is_multiple_of(2) { file.symbol_table() } else { file.dynamic_symbol_table() };
    let symbol = symbols?.symbol_by_index(SymbolIndex((entry.symbol >> TABLE_BITS) as usize)).ok()?;
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    let size = symbol.size();
    Some(Function { name, size, binding: (size == 0, symbol.is_weak(), !symbol.is_global()) })
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
                    let ours = functions.find(address, |start, name| (start, name.to_string()));
                    assert_eq!(ours, plain, "{address:#x} in {path}");
                    found += usize::from(ours.is_some());
                }
            }
        }
        assert!(found > 2_000, "{found}");
    }

    #[test]
    fn what_is_no_program_has_no_functions() {
        let functions = Functions::read(vec![cached(&ObjectFile::new(b"no ELF"))]);
        assert_eq!(functions.find(7, |start, _| start), None);
    }
}
