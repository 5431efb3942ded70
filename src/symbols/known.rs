//! The names that earlier sessions found in a file, by its offsets. They are stored as lines of text, and hold for
//! exactly the files they were read from.

use super::files::Files;
use crate::model::{BuildId, Bytes, FileStamp, Symbol};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes stored per file. The oldest answers go first.
const MOST: usize = 1 << 20;

/// Known names of one file.
pub(super) struct KnownNames {
    /// What the names hold for, in one line.
    key: String,
    file: String,
    /// The stored lines.
    text: String,
    /// Offset, start and end of each line, sorted.
    lines: Vec<(u64, u32, u32)>,
    /// Lines of this session.
    new: BTreeMap<u64, String>,
    /// Bytes of those.
    added: usize,
}

impl KnownNames {
    /// Reads what is known about the file of a build, whose names are read from `sources` and use its `label`.
    pub(super) fn open(files: &dyn Files, build: &BuildId, label: &str, sources: &[FileStamp]) -> KnownNames {
        let mut key = format!("ironlaw names 5 {build} {label:?}");
        for source in sources {
            // Writing to a string cannot fail.
            let _ = write!(key, " {source}");
        }
        let file = format!("names-{build}-{:08x}", crc32fast::hash(key.as_bytes()));
        let text = files.stored(&file).and_then(|bytes| checked(&bytes, &key)).unwrap_or_default();
        let lines = index(&text);
        KnownNames { key, file, text, lines, new: BTreeMap::new(), added: 0 }
    }

    /// The names at an offset, which may be none; `None` if they are not known.
    pub(super) fn get(&self, offset: u64) -> Option<Vec<Symbol>> {
        let at = self.lines.binary_search_by_key(&offset, |line| line.0).ok()?;
        let (_, start, end) = self.lines.get(at)?;
        decode(self.text.get(*start as usize..*end as usize)?)
    }

    pub(super) fn add(&mut self, offset: u64, names: &[Symbol]) {
        if let Some(line) = encode(offset, names)
            && self.added + line.len() <= MOST
        {
            self.added += line.len();
            self.new.insert(offset, line);
        }
    }

    /// Stores what this session added.
    pub(super) fn store(&self, files: &dyn Files) {
        if self.new.is_empty() {
            return;
        }
        let mut text = String::new();
        for line in self.new.values().map(String::as_str).chain(self.text.split_inclusive('\n')) {
            if text.len() + line.len() <= MOST {
                text += line;
            }
        }
        files.store(&self.file, format!("{}\n{:08x}\n{text}", self.key, crc32fast::hash(text.as_bytes())).as_bytes());
    }
}

/// The lines of a file that holds for `key` and is not damaged.
fn checked(bytes: &Bytes, key: &str) -> Option<String> {
    let rest = (**bytes).as_ref().strip_prefix(key.as_bytes())?.strip_prefix(b"\n")?;
    let (checksum, text) = (rest.get(..8)?, rest.get(8..)?.strip_prefix(b"\n")?);
    let whole = checksum == format!("{:08x}", crc32fast::hash(text)).as_bytes() && text.len() <= MOST;
    whole.then(|| String::from_utf8(text.to_vec()).ok()).flatten()
}

fn index(text: &str) -> Vec<(u64, u32, u32)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let offset = line.trim_end().split('\t').next().and_then(|offset| u64::from_str_radix(offset, 16).ok());
        lines.extend(offset.map(|offset| (offset, at as u32, (at + line.len()) as u32)));
        at += line.len();
    }
    lines.sort_unstable();
    lines
}

/// An offset in hexadecimal, then of each symbol: whether it is inlined, its line, file, the function called there and its
/// own. A missing line, file or function is empty, and one that is there follows an `=`. `None` for names that do not fit into a line.
fn encode(offset: u64, names: &[Symbol]) -> Option<String> {
    let mut line = format!("{offset:x}");
    for Symbol { function, file, line: number, inlined, calls } in names {
        let text = |text: Option<&str>| text.map(|text| format!("={text}")).unwrap_or_default();
        let (file, calls) = (text(file.as_deref()), text(calls.as_deref()));
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        if [function, &file, &calls].iter().any(|text| text.contains(['\t', '\n'])) {
            return None;
        }
        let inlined = if *inlined { "i" } else { "" };
        write!(line, "\t{inlined}\t{number}\t{file}\t{calls}\t{function}").ok()?;
    }
    line.push('\n');
    Some(line)
}

fn decode(line: &str) -> Option<Vec<Symbol>> {
    let mut fields = line.strip_suffix('\n')?.split('\t').skip(1);
    let mut names = Vec::new();
    while let Some(inlined) = fields.next() {
        let [number, file, calls, function] = [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
        let number = if number.is_empty() { None } else { Some(number.parse().ok()?) };
        let (file, calls) = (file.strip_prefix('=').map(str::to_string), calls.strip_prefix('=').map(Box::from));
        names.push(Symbol { function: function.to_string(), file, line: number, inlined: inlined == "i", calls });
    }
    names.shrink_to_fit();
    Some(names)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Identity;
    use crate::symbols::tests::{Stored, stamp};
    use proptest::prelude::*;

    fn file() -> FileStamp {
        stamp(555, 0, true)
    }

    fn open(files: &Stored, build: u8, label: &str, sources: &[FileStamp]) -> KnownNames {
        KnownNames::open(files, &BuildId(vec![build; 20]), label, sources)
    }

    fn symbol() -> impl Strategy<Value = Symbol> {
        let file = prop::option::of("[ -~]{0,9}");
        let calls = prop::option::of("[ -~é]{0,9}".prop_map(Box::from));
        ("[ -~é]{1,12}", file, prop::option::of(any::<u32>()), any::<bool>(), calls)
            .prop_map(|(function, file, line, inlined, calls)| Symbol { function, file, line, inlined, calls })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn later_sessions_know_the_names_of_all_earlier_ones(
            first in prop::collection::btree_map(0u64..90, prop::collection::vec(symbol(), 0..4), 1..9),
            second in prop::collection::btree_map(90u64..200, prop::collection::vec(symbol(), 0..4), 1..9),
        ) {
            let files = Stored::default();
            for added in [&first, &second] {
                let mut known = open(&files, 1, "f", &[file()]);
                added.iter().for_each(|(offset, names)| known.add(*offset, names));
                known.store(&files);
            }
            let known = open(&files, 1, "f", &[file()]);
            for offset in 0..200 {
                let names = first.get(&offset).or(second.get(&offset)).cloned();
                prop_assert_eq!(known.get(offset), names);
            }
        }

        #[test]
        fn a_damaged_file_says_nothing(place in any::<prop::sample::Index>(), damage in 1u8.., cut in any::<bool>()) {
            let files = Stored::default();
            let mut known = open(&files, 1, "f", &[file()]);
            known.add(5, &[Symbol { line: Some(3), ..Symbol::named("main") }]);
            known.store(&files);
            let mut bytes = files.0.take().unwrap();
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= damage }
            files.store("", &bytes);
            prop_assert_eq!(open(&files, 1, "f", &[file()]).get(5), None);
        }
    }

    #[test]
    fn names_hold_only_for_the_files_they_were_read_from() {
        let files = Stored::default();
        let mut known = open(&files, 1, "f", &[file()]);
        known.add(5, &[]);
        known.store(&files);
        assert_eq!(open(&files, 1, "f", &[file()]).get(5), Some(vec![]), "a missing name is stored too");
        let inode = |major, minor, inode| FileStamp { identity: Identity { major, minor, inode }, ..file() };
        let others: [(&str, u8, &str, &[FileStamp]); 9] = [
            ("build", 2, "f", &[file()]),
            ("label", 1, "g", &[file()]),
            ("size", 1, "f", &[FileStamp { size: 9001, ..file() }]),
            ("major number", 1, "f", &[inode(9, 1, 555)]),
            ("minor number", 1, "f", &[inode(8, 2, 555)]),
            ("inode", 1, "f", &[inode(8, 1, 556)]),
            ("time of writing", 1, "f", &[FileStamp { modified: (1_700_000_000, 2), ..file() }]),
            ("time of change", 1, "f", &[FileStamp { changed: (1_700_000_001, 3), ..file() }]),
            ("debug file", 1, "f", &[file(), file()]),
        ];
        for (what, build, label, sources) in others {
            assert_eq!(open(&files, build, label, sources).get(5), None, "another {what}");
        }
    }

    #[test]
    fn the_file_stays_bounded_and_keeps_what_is_new() {
        let files = Stored::default();
        let name = |offset: u64| vec![Symbol::named(format!("{offset}{}", "x".repeat(1000)))];
        for round in 0..3 {
            let mut known = open(&files, 1, "f", &[file()]);
            (0..500).for_each(|at| known.add(round * 500 + at, &name(round * 500 + at)));
            known.store(&files);
        }
        let known = open(&files, 1, "f", &[file()]);
        assert!(files.0.borrow().as_ref().unwrap().len() < MOST + 500);
        assert!((1000..1500).all(|offset| known.get(offset) == Some(name(offset))));
        assert!((0..1000).all(|offset| known.get(offset).is_none_or(|found| found == name(offset))));
        let mut known = open(&files, 1, "f", &[file()]);
        known.add(7, &[Symbol::named("a\tb")]);
        assert!(known.new.is_empty(), "a name that breaks the line");
    }
}
