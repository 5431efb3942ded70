//! Names from files that are damaged, hostile or still being written.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod elsewhere;

use super::*;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{BuildId, Bytes, FileStamp, Identity, ModuleId, ObjectFile};
use proptest::prelude::*;
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const MODULE: ModuleId = ModuleId(0);

type Shelved = Vec<(PathBuf, Vec<u8>)>;

/// Files that exist only here, by path; a path that is not among them cannot be read.
#[derive(Clone, Default)]
pub(super) struct Shelf(Arc<Mutex<Shelved>>);

impl Shelf {
    fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        let mut files = self.0.lock().unwrap();
        files.retain(|(known, _)| known != Path::new(path));
        files.push((PathBuf::from(path), bytes.into()));
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.lock().unwrap().iter().find(|(known, _)| known == path).map(|(_, bytes)| bytes.clone())
    }
}

impl Files for Shelf {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        self.bytes(path).map(ObjectFile::new)
    }

    fn text(&self, path: &Path) -> Result<String> {
        let bytes = self.bytes(path).ok_or_else(|| Error::new(ErrorKind::NotFound, "no such file"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let bytes = self.bytes(path)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
        Some(FileTail { length: bytes.len() as u64, stamp: None, bytes: bytes[from..].to_vec() })
    }
}

/// One stored file, whatever its name.
#[derive(Default)]
pub(super) struct Stored(pub(super) RefCell<Option<Vec<u8>>>);

impl Files for Stored {
    fn open(&self, _: &Path) -> Option<ObjectFile> {
        None
    }

    fn text(&self, _: &Path) -> Result<String> {
        Err(Error::new(ErrorKind::NotFound, "no file"))
    }

    fn stored(&self, _: &str) -> Option<Bytes> {
        self.0.borrow().clone().map(|bytes| Arc::new(bytes) as Bytes)
    }

    fn store(&self, _: &str, bytes: &[u8]) {
        *self.0.borrow_mut() = Some(bytes.to_vec());
    }

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
        None
    }
}

/// A small image with symbols that every Linux process has.
fn vdso() -> Vec<u8> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let range = maps.lines().find(|line| line.ends_with("[vdso]")).unwrap().split(' ').next().unwrap();
    let (start, end) = range.split_once('-').unwrap();
    let [start, end] = [start, end].map(|hex| u64::from_str_radix(hex, 16).unwrap());
    let mut bytes = vec![0; (end - start) as usize];
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, start).unwrap();
    bytes
}

/// Every name that is found in the first pages and at the edges.
fn names(bytes: Vec<u8>) -> Vec<String> {
    let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Shelf::default()));
    symbolizer.add(MODULE, ModuleSource::Vdso { image: ObjectFile::new(bytes) });
    let edges = [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32];
    let addresses = (0..0x3000).step_by(24).chain(edges);
    addresses.flat_map(|at| symbolizer.names(Some(MODULE), at)).map(|symbol| symbol.function).collect()
}

/// A stamp that differs by its inode.
pub(super) fn stamp(inode: u64, owner: u32, believed: bool) -> FileStamp {
    let identity = Identity { major: 8, minor: 1, inode };
    FileStamp { identity, size: 9000, modified: (1_700_000_000, 1), changed: (1_700_000_001, 2), owner, believed }
}

#[test]
fn a_file_with_the_build_id_of_another_has_no_say_in_its_names() {
    let own = vdso();
    let mut forged = own.clone();
    for at in 0..forged.len() - 20 {
        if forged[at..].starts_with(b"clock_gettime") {
            forged[at..at + 13].copy_from_slice(b"clock_forgery");
        }
    }
    let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Shelf::default()));
    for (id, bytes) in [(0, forged), (1, own)] {
        let file = ObjectFile::new(bytes).stamped(stamp(u64::from(id), 0, true));
        symbolizer.add(ModuleId(id), ModuleSource::File { file, path: "/lib/x".into(), root: "/".into() });
    }
    for (id, expected) in [(0, "clock_forgery"), (1, "clock_gettime")] {
        let names = (0..0x3000).step_by(24).flat_map(|at| symbolizer.names(Some(ModuleId(id)), at));
        let clocks: Vec<_> = names.map(|symbol| symbol.function).filter(|name| name.contains("clock_")).collect();
        assert!(clocks.iter().any(|name| name.contains(expected)), "{clocks:?}");
        assert_eq!(clocks.iter().any(|name| name.contains("clock_forgery")), id == 0, "{clocks:?}");
    }
}

#[test]
fn an_undamaged_image_has_names_and_nobody_else_has() {
    let found = names(vdso());
    assert!(found.iter().any(|name| name.contains("clock_gettime")), "{found:?}");
    let mut symbolizer = Symbolizer::new(Options::default(), Box::new(Shelf::default()));
    assert!(symbolizer.names(None, 7).is_empty() && symbolizer.names(Some(ModuleId(9)), 7).is_empty());
    assert!(!symbolizer.may_learn(ModuleId(9)) && symbolizer.notes().is_empty());
}

#[test]
fn the_advice_on_just_in_time_code_is_that_of_the_runtimes_that_run() {
    let advice = |paths: &[&str]| {
        let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Shelf::default()));
        for (at, path) in paths.iter().enumerate() {
            let (file, path) = (ObjectFile::new(vdso()), (*path).into());
            symbolizer.add(ModuleId(at as u32), ModuleSource::File { file, path, root: "/".into() });
        }
        symbolizer.add(ModuleId(9), ModuleSource::Jit { pid: 7, root: "/nowhere".into(), dump: None });
        assert!(symbolizer.names(Some(ModuleId(9)), 0x1000).is_empty());
        let note = symbolizer.notes().into_iter().find(|note| note.topic == "jit-without-names").unwrap();
        assert_eq!(note.text, "code without a file in process 7 has no names, or not all");
        note.fix.unwrap()
    };
    assert_eq!(advice(&["/usr/bin/node", "/lib/libc.so.6"]), "Node: start it with --perf-basic-prof.");
    let both = advice(&["/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "/usr/lib/jvm/java-17/lib/server/libjvm.so"]);
    assert!(both.starts_with("Erlang: start it with +JPperf true") && both.contains("Compiler.perfmap"), "{both}");
    let unknown = advice(&["/srv/app"]);
    assert!(unknown.contains("ironlaw help runtimes"), "{unknown}");
}

#[test]
fn what_was_released_is_read_again() {
    let path = std::env::current_exe().unwrap();
    let file = ObjectFile::new(std::fs::read(&path).unwrap());
    let step = file.length() / 200;
    let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Shelf::default()));
    symbolizer.add(MODULE, ModuleSource::File { file, path: "/test".into(), root: "/".into() });
    let names = |symbolizer: &mut Symbolizer| {
        (0..200).map(|nth| symbolizer.names(Some(MODULE), nth * step)).collect::<Vec<_>>()
    };
    let first = names(&mut symbolizer);
    assert!(first.iter().filter(|names| !names.is_empty()).count() > 10, "{first:?}");
    for most in [usize::MAX, 0, 0] {
        symbolizer.release_unused_beyond(most);
        assert_eq!(names(&mut symbolizer), first);
    }
    symbolizer.release();
    assert_eq!(names(&mut symbolizer), first);
}

#[test]
fn an_image_cut_anywhere_has_fewer_names_or_none() {
    let whole = vdso();
    let all = names(whole.clone()).len();
    for length in (0..whole.len()).step_by(61) {
        let found = names(whole[..length].to_vec()).len();
        assert!(found <= all, "cut at {length}: {found} names of {all}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_in_an_image_panics_nowhere(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)
    ) {
        let mut bytes = vdso();
        let length = bytes.len();
        for (at, (place, byte)) in damage.iter().enumerate() {
            bytes[place.index(if at % 2 == 0 { 1024 } else { length })] ^= byte;
        }
        names(bytes);
    }

    #[test]
    fn no_text_of_the_kernels_symbols_panics(text in "[0-9a-f]{0,17} [tTwWbD?] [a-z_.\\[\\]\t]{0,20}\n{0,2}[ -~\n]{0,60}", at in any::<u64>()) {
        let shelf = Shelf::default();
        shelf.put("/proc/kallsyms", text);
        let mut symbolizer = Symbolizer::new(Options::default(), Box::new(shelf));
        symbolizer.add(MODULE, ModuleSource::Kernel);
        for address in [0, at, u64::MAX] {
            symbolizer.names(Some(MODULE), address);
        }
        drop(symbolizer.notes());
    }

    /// A runtime appends to its map while it is read: in pieces, with lines cut anywhere, and with lines that say nothing.
    #[test]
    fn a_map_of_generated_code_that_grows_in_pieces_ends_with_the_names_of_all_of_it(
        functions in prop::collection::vec((0u64..64, "[a-zA-Z_$ .:<>]{1,12}"), 1..12),
        rubbish in "[ -~]{0,20}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let path = "/tmp/perf-7.map";
        let mut text = format!("{rubbish}\n");
        for (at, name) in &functions {
            text += &format!("{:x} 10 {name}\n", 0x1000 + at * 16);
        }
        let shelf = Shelf::default();
        let mut symbolizer = Symbolizer::new(Options::default(), Box::new(shelf.clone()));
        symbolizer.add(MODULE, ModuleSource::Jit { pid: 7, root: PathBuf::from("/"), dump: None });
        prop_assert!(symbolizer.may_learn(MODULE));
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        ends.sort_unstable();
        for end in ends.into_iter().chain([text.len()]) {
            shelf.put(path, &text.as_bytes()[..end]);
            for at in (0x0ff0..0x1500).step_by(8) {
                symbolizer.names(Some(MODULE), at);
            }
        }
        // The last line about an address holds: code is thrown away and its place used again.
        let last = functions.iter().rev().find(|(at, _)| *at == functions[0].0).unwrap();
        let found = symbolizer.names(Some(MODULE), 0x1000 + last.0 * 16);
        prop_assert!(found.len() <= 1);
        prop_assert!(rubbish.split(' ').count() > 2 || found.len() == 1, "{:?} has no name in {:?}", last, text);
    }

    #[test]
    fn a_map_of_any_bytes_panics_nowhere(bytes in prop::collection::vec(any::<u8>(), 0..200), at in any::<u64>()) {
        for path in ["/tmp/perf-7.map", "/tmp/jit-7.dump"] {
            let shelf = Shelf::default();
            shelf.put(path, bytes.clone());
            let mut symbolizer = Symbolizer::new(Options::default(), Box::new(shelf));
            symbolizer.add(MODULE, ModuleSource::Jit { pid: 7, root: PathBuf::from("/"), dump: None });
            symbolizer.names(Some(MODULE), at);
            symbolizer.names(Some(MODULE), 0);
        }
    }
}
