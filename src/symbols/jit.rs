//! Names of just-in-time code from the files that runtimes write for profilers: a map file (`START SIZE name` per line,
//! in hexadecimal) or a jitdump file, which the runtime maps so that profilers find it.
//! Neither is trusted: both are in world-writable directories.

use super::demangle::cut;
use super::files::Files;
use super::jitdump::{FUNCTION, JitDump};
use crate::abi::jitdump::is_jitdump;
use crate::abi::mappings;
use crate::model::limits::{JIT_FUNCTIONS, JIT_LINE, JIT_MAP_BYTES, JIT_NAMES, JIT_RECORD};
use crate::model::{FileStamp, Symbol};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A jitdump is looked for at so many addresses without a name, and then ever less often: runtimes map it early.
const MOST_LOOKS: u32 = 64;

/// Bytes of a jitdump in memory: more than of a record that is given up.
const PIECE: u64 = 2 * JIT_RECORD as u64;

/// The code of one process. A missing address causes another read of its files if they have grown.
#[derive(Debug)]
pub(super) struct JitCode {
    pid: u32,
    root: PathBuf,
    /// What names its map file and who may write it. Read while the process is alive.
    process: Option<Process>,
    /// Bytes of the map file already read. Runtimes only append entries.
    map_read: u64,
    /// Path of the jitdump as the process sees it. Kept because the process's mappings end with the process.
    dump: Option<PathBuf>,
    /// How often it was looked for.
    dump_looks: u32,
    /// How far it was read.
    dump_read: JitDump,
    /// Start to (end, name). A later entry replaces the entries it overlaps, as the new code replaced the old.
    functions: BTreeMap<u64, (u64, Box<str>)>,
    /// Bytes of all of them in memory.
    held: usize,
    /// Whether it has no names, because too many were read.
    given_up: bool,
}

/// Takes the names from the process that has most of them, as long as all take more than `most` bytes.
pub(super) fn bound<'a>(codes: impl Iterator<Item = &'a mut JitCode>, most: usize) {
    let mut codes: Vec<_> = codes.collect();
    let mut all: usize = codes.iter().map(|code| code.bytes()).sum();
    codes.sort_by_key(|code| code.bytes());
    while all > most
        && let Some(largest) = codes.pop()
    {
        all -= largest.bytes();
        largest.give_up();
    }
}

impl JitCode {
    pub(super) fn new(pid: u32, root: PathBuf) -> JitCode {
        let (dump, functions) = (JitDump::default(), BTreeMap::new());
        JitCode {
            pid,
            root,
            process: None,
            map_read: 0,
            dump: None,
            dump_looks: 0,
            dump_read: dump,
            functions,
            held: 0,
            given_up: false,
        }
    }

    /// With the jitdump that the process was seen to map. Without, it is looked for in the process's mappings.
    pub(super) fn with_dump(self, dump: Option<PathBuf>) -> JitCode {
        JitCode { dump, ..self }
    }

    /// Memory of what was read, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.held + self.dump_read.bytes()
    }

    /// Forgets all names, and reads none any more.
    pub(super) fn give_up(&mut self) {
        *self = JitCode { given_up: true, ..JitCode::new(self.pid, std::mem::take(&mut self.root)) };
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn name(&mut self, files: &dyn Files, address: u64) -> Option<Symbol> {
        if self.find(address).is_none() && !self.given_up {
            self.refresh_map(files);
            self.refresh_dump(files);
        }
        let function = self.find(address)?.to_string();
        Some(Symbol::named(function))
    }

    fn find(&self, address: u64) -> Option<&str> {
        let (_, (end, name)) = self.functions.range(..=address).next_back()?;
        (address < *end).then_some(name)
    }

    /// Reads newly appended lines. A map that became shorter is a new one: the process now runs another program.
    fn refresh_map(&mut self, files: &dyn Files) {
        if self.map_read >= JIT_MAP_BYTES {
            return;
        }
        let process = *self.process.get_or_insert_with(|| Process::read(files, self.pid));
        let theirs = self.root.join(format!("tmp/perf-{}.map", process.inner));
        let ours = PathBuf::from(format!("/tmp/perf-{}.map", self.pid));
        let read = self.map_read;
        let own =
            |path| files.grown(path, read).filter(|tail| tail.stamp.is_none_or(|stamp| process.may_write(&stamp)));
        let Some(grown) = own(&theirs).or_else(|| own(&ours)) else { return };
        if grown.length < read {
            (self.map_read, self.functions, self.held) = (0, BTreeMap::new(), 0);
            return;
        }
        // The runtime may still be writing the last line.
        let whole = grown.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = String::from_utf8_lossy(grown.bytes.get(..whole).unwrap_or_default());
        lines.lines().for_each(|line| self.add_line(line));
        let endless = whole == 0 && grown.bytes.len() > JIT_LINE;
        self.map_read = if endless { JIT_MAP_BYTES } else { read + whole as u64 };
    }

    fn refresh_dump(&mut self, files: &dyn Files) {
        if self.dump.is_none() {
            self.dump_looks = self.dump_looks.saturating_add(1);
            // A process may have many thousand mappings, and code at as many addresses without a name.
            if self.dump_looks > MOST_LOOKS && !self.dump_looks.is_power_of_two() {
                return;
            }
            let maps = files.text(&PathBuf::from(format!("/proc/{}/maps", self.pid))).unwrap_or_default();
            let mapped = mappings(maps.as_bytes()).filter(|mapping| !mapping.is_deleted());
            self.dump = mapped.filter_map(|mapping| mapping.path()).find(|path| is_jitdump(path));
        }
        let Some(path) = self.dump.clone() else { return };
        let inside = self.root.join(path.strip_prefix("/").unwrap_or(&path));
        // The root of an exited process is gone. Outside a container, the path still leads to the file.
        let Some(dump) = files.open(&inside).or_else(|| files.open(&path)) else { return };
        let length = dump.length();
        let mut read = std::mem::take(&mut self.dump_read);
        while let Some(left) = length.checked_sub(read.position())
            && !self.is_full()
            && let Some(bytes) = dump.bytes(read.position(), left.min(PIECE))
            && read.read(length, &bytes, &mut |start, size, name| self.add(start, size, name))
        {}
        self.dump_read = read;
    }

    fn add_line(&mut self, line: &str) {
        let mut fields = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(fields.next()?.trim_start_matches("0x"), 16).ok();
        if let (Some(start), Some(size), Some(name)) = (number(), number(), fields.next()) {
            self.add(start, size, name);
        }
    }

    fn add(&mut self, start: u64, size: u64, name: &str) {
        // A function without bytes holds no address, so it replaces nothing either.
        let Some(end) = start.checked_add(size).filter(|end| *end > start) else { return };
        let below = self.functions.range(..start).next_back().filter(|(_, (end, _))| *end > start).map(|(at, _)| *at);
        let covered: Vec<u64> = below.into_iter().chain(self.functions.range(start..end).map(|(at, _)| *at)).collect();
        let removed = covered.iter().filter_map(|at| self.functions.remove(at));
        self.held -= removed.map(|(_, name)| FUNCTION + name.len()).sum::<usize>();
        if !self.is_full() {
            let name: Box<str> = cut(name).into();
            self.held += FUNCTION + name.len();
            self.functions.insert(start, (end, name));
        }
    }

    fn is_full(&self) -> bool {
        self.functions.len() >= JIT_FUNCTIONS || self.held >= JIT_NAMES
    }
}

/// A process whose map file is read.
#[derive(Debug, Clone, Copy)]
struct Process {
    /// Its id inside its container.
    inner: u32,
    /// The user it runs as; `None` if it was gone before it could be asked.
    user: Option<u32>,
}

impl Process {
    fn read(files: &dyn Files, pid: u32) -> Process {
        let status = files.text(&PathBuf::from(format!("/proc/{pid}/status"))).unwrap_or_default();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::split_ascii_whitespace);
        let inner = field("NSpid:").and_then(|ids| ids.last()?.parse().ok());
        let user = field("Uid:").and_then(|mut ids| ids.nth(1)?.parse().ok());
        Process { inner: inner.unwrap_or(pid), user }
    }

    /// Whether a file is its own, or of root or us. Anybody can write one with its name.
    fn may_write(&self, file: &FileStamp) -> bool {
        file.believed || Some(file.owner) == self.user
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind, Result};
    use crate::model::ObjectFile;
    use crate::symbols::FileTail;
    use crate::symbols::tests::stamp;
    use std::cell::{Cell, RefCell};
    use std::path::Path;

    /// A single map file, and the number of bytes already returned from it.
    #[derive(Default)]
    struct OneMap {
        text: RefCell<String>,
        read: Cell<usize>,
    }

    impl Files for OneMap {
        fn open(&self, _: &Path) -> Option<ObjectFile> {
            None
        }

        fn text(&self, _: &Path) -> Result<String> {
            Err(Error::new(ErrorKind::Io, "no such file"))
        }

        fn fetch(&self, _: &crate::model::BuildId) -> Option<ObjectFile> {
            None
        }

        fn grown(&self, _: &Path, from: u64) -> Option<FileTail> {
            let text = self.text.borrow();
            let bytes = text.as_bytes().get(from as usize..).unwrap_or_default().to_vec();
            self.read.set(self.read.get() + bytes.len());
            Some(FileTail { length: text.len() as u64, stamp: None, bytes })
        }
    }

    #[test]
    fn a_map_is_read_once_however_many_addresses_it_does_not_name() {
        let (file, mut map) = (OneMap::default(), JitCode::new(1, PathBuf::new()));
        file.text.replace("10 8 first\n20 8 hal".into());
        for _ in 0..100 {
            assert!(map.name(&file, 0x20).is_none());
        }
        assert_eq!(file.read.get(), "10 8 first\n".len() + 100 * "20 8 hal".len());
        file.text.borrow_mut().push_str("f\n");
        assert_eq!(map.name(&file, 0x20).map(|symbol| symbol.function), Some("half".into()));
    }

    #[test]
    fn a_map_that_got_shorter_is_read_as_a_new_one() {
        let (file, mut map) = (OneMap::default(), JitCode::new(1, PathBuf::new()));
        file.text.replace("10 8 of the first program\n".into());
        assert!(map.name(&file, 0x10).is_some());
        file.text.replace("20 8 second\n".into());
        assert!(map.name(&file, 0x20).is_none());
        assert_eq!(map.name(&file, 0x20).map(|symbol| symbol.function), Some("second".into()));
        assert!(map.name(&file, 0x10).is_none());
    }

    /// The status of a process, and a map with its name that another user may have written.
    struct Planted(FileStamp, &'static str);

    impl Files for Planted {
        fn open(&self, _: &Path) -> Option<ObjectFile> {
            None
        }

        fn text(&self, _: &Path) -> Result<String> {
            Ok(self.1.into())
        }

        fn fetch(&self, _: &crate::model::BuildId) -> Option<ObjectFile> {
            None
        }

        fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
            Some(FileTail { length: 12, stamp: Some(self.0), bytes: b"10 8 named\n".to_vec() })
        }
    }

    #[test]
    fn a_map_is_believed_from_the_processes_own_user_and_from_root() {
        let status = "Name:\tx\nUid:\t7\t1000\t7\t7\nNSpid:\t41\t1\n";
        for (status, owner, believed, expected) in [
            (status, 1000, false, true),
            (status, 7, false, false),
            (status, 1001, false, false),
            (status, 0, true, true),
            ("", 1000, false, false),
            ("", 0, true, true),
        ] {
            let map = Planted(stamp(5, owner, believed), status);
            let name = JitCode::new(41, PathBuf::new()).name(&map, 0x10);
            assert_eq!(name.is_some(), expected, "{owner} {status:?}");
        }
    }

    /// A file, of a process that has ended.
    struct Left(&'static str, Vec<u8>);

    impl Files for Left {
        fn open(&self, path: &Path) -> Option<ObjectFile> {
            (path == Path::new(self.0)).then(|| ObjectFile::new(self.1.clone()))
        }

        fn text(&self, _: &Path) -> Result<String> {
            Err(Error::new(ErrorKind::NotFound, "no such process"))
        }

        fn fetch(&self, _: &crate::model::BuildId) -> Option<ObjectFile> {
            None
        }

        fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
            None
        }
    }

    #[test]
    fn a_process_that_ended_before_its_names_were_looked_for_has_those_of_the_jitdump_it_was_seen_to_map() {
        let words = |values: &[u64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let header = [0x4a69_5444_u32, 1, 40, 62, 0, 7, 0, 0, 0, 0].iter().flat_map(|it| it.to_le_bytes());
        let body = [words(&[0, 0x100, 0x100, 16, 1]), b"py::serve\0".to_vec(), vec![0x90; 16]].concat();
        let size = 16 + body.len() as u32;
        let record = [&0_u32.to_le_bytes()[..], &size.to_le_bytes(), &[0; 8], &body].concat();
        let files = Left("/tmp/jit-7.dump", header.chain(record).collect());
        let named = |dump: Option<&str>| {
            let mut code = JitCode::new(7, PathBuf::from("/proc/7/root")).with_dump(dump.map(PathBuf::from));
            code.name(&files, 0x108).map(|symbol| symbol.function)
        };
        assert_eq!(named(Some("/tmp/jit-7.dump")).as_deref(), Some("py::serve"));
        assert_eq!(named(None), None, "its mappings have gone with it");
    }

    fn map(lines: &[&str]) -> JitCode {
        let mut map = JitCode::new(1, PathBuf::new());
        lines.iter().for_each(|line| map.add_line(line));
        map
    }

    #[test]
    fn names_may_hold_spaces_and_rubbish_is_passed_over() {
        let map = map(&["10 8 LazyCompile:~f /app/a b.js:1", "zz 8 x", "10", "", "ffffffffffffffff 2 wraps"]);
        assert_eq!(map.find(0x17), Some("LazyCompile:~f /app/a b.js:1"));
        assert_eq!((map.find(0x18), map.find(0xf), map.functions.len()), (None, None, 1));
    }

    #[test]
    fn later_code_replaces_what_lay_there() {
        let map = map(&["10 10 old", "20 10 next", "18 10 new"]);
        assert_eq!(
            (map.find(0x1f), map.find(0x27), map.find(0x12), map.find(0x2c)),
            (Some("new"), Some("new"), None, None)
        );
    }

    #[test]
    fn a_process_has_only_so_many_functions_with_names_of_only_such_length() {
        let mut map = map(&[&format!("1 1 {}", "n".repeat(1 << 20))]);
        assert!(map.find(1).is_some_and(|name| name.len() < 5000));
        (2..=JIT_FUNCTIONS as u64 + 9).for_each(|at| map.add(at, 1, "f"));
        assert_eq!(map.functions.len(), JIT_FUNCTIONS);
        let last = JIT_FUNCTIONS as u64;
        assert_eq!((map.find(last), map.find(last + 1)), (Some("f"), None));
        map.add(last, 1, "in its place");
        assert_eq!(map.find(last), Some("in its place"));
    }

    #[test]
    fn the_names_of_a_process_take_only_so_much_memory() {
        let mut code = map(&[]);
        let name = "n".repeat(4096);
        (0..1 << 16).for_each(|at| code.add(at, 1, &name));
        assert_eq!(code.functions.len(), JIT_NAMES.div_ceil(FUNCTION + name.len()));
        let held = code.bytes();
        assert!((JIT_NAMES..JIT_NAMES + 5000).contains(&held), "{held}");
        code.add(0, 100, "in place of a hundred");
        assert!(code.bytes() < held - 99 * name.len() && code.find(99) == Some("in place of a hundred"));
        code.give_up();
        assert_eq!((code.bytes(), code.find(99)), (0, None));
        let file = OneMap::default();
        file.text.replace("10 8 first\n".into());
        assert!(code.name(&file, 0x10).is_none(), "it reads none any more");
    }

    #[test]
    fn who_has_most_names_loses_them_where_all_are_too_many() {
        let mut codes: Vec<JitCode> =
            [10, 500, 20, 400].map(|length| map(&[&format!("10 8 {}", "n".repeat(length))])).into();
        bound(codes.iter_mut(), 500 + 400 + 10 + 20 + 4 * FUNCTION);
        assert!(codes.iter().all(|code| code.find(0x10).is_some()));
        bound(codes.iter_mut(), 400 + 2 * FUNCTION);
        assert_eq!(codes.iter().map(|code| code.find(0x10).is_some()).collect::<Vec<_>>(), [true, false, true, false]);
    }

    #[test]
    fn a_function_without_bytes_takes_no_name_away() {
        let map = map(&["10 10 whole", "10 0 label", "18 0 another", "30 0 alone"]);
        assert_eq!((map.find(0x10), map.find(0x1f), map.find(0x30)), (Some("whole"), Some("whole"), None));
        assert_eq!(map.functions.len(), 1);
    }

    #[test]
    fn code_at_the_edges_of_the_address_space_is_found_or_left_out() {
        let map = map(&["0 1 first", "fffffffffffffff0 f last", "ffffffffffffffff 1 beyond", "0x40 0x8 with a prefix"]);
        assert_eq!((map.find(0), map.find(1)), (Some("first"), None));
        assert_eq!((map.find(u64::MAX - 1), map.find(u64::MAX)), (Some("last"), None));
        assert_eq!(map.find(0x47), Some("with a prefix"));
    }
}
