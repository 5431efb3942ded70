//! Names at addresses, held against binutils' `addr2line` on files nobody prepared: this test program itself, and a library.

use ironlaw::error::{Error, ErrorKind, Result};
use ironlaw::model::{BuildId, ModuleId, ObjectFile, Symbol};
use ironlaw::symbols::{FileTail, Files, ModuleSource, Options, Symbolizer};
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        std::fs::read(path).ok().map(ObjectFile::new)
    }

    fn text(&self, path: &Path) -> Result<String> {
        std::fs::read_to_string(path).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
    }

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
        None
    }
}

const MODULE: ModuleId = ModuleId(3);

fn symbolizer(path: &Path) -> Symbolizer {
    let file = Disk.open(path).expect("a readable file");
    let mut symbolizer = Symbolizer::new(Options::default(), Box::new(Disk));
    let path = path.to_string_lossy().into_owned();
    symbolizer.add(MODULE, ModuleSource::File { file, path, root: PathBuf::from("/") });
    symbolizer
}

/// Addresses in the middle of every `step`-th function, as (address, file offset, linker name).
fn probes(path: &Path, step: usize) -> Vec<(u64, u64, String)> {
    let bytes = std::fs::read(path).expect("a readable file");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let functions = file.symbols().chain(file.dynamic_symbols());
    let functions = functions.filter(|f| f.kind() == SymbolKind::Text && f.is_definition() && f.size() > 16);
    let name = |f: &object::Symbol<'_, '_>| f.name().unwrap_or_default().to_string();
    functions
        .step_by(step)
        .filter_map(|f| Some((f.address() + f.size() / 2, offset(&file, f.address() + f.size() / 2)?, name(&f))))
        .collect()
}

/// Where an address lies in the file.
fn offset(file: &object::File<'_>, address: u64) -> Option<u64> {
    let segment = file.segments().find(|s| (s.address()..s.address() + s.size()).contains(&address))?;
    Some(address - segment.address() + segment.file_range().0)
}

/// What `addr2line -f -i` says: per address, innermost first, the function and the line (0 if unknown).
fn addr2line(path: &Path, addresses: &[u64]) -> Vec<Vec<(String, u32)>> {
    let mut child = Command::new("addr2line")
        .args(["-f", "-i", "-a", "-e"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("binutils are installed");
    let mut input = child.stdin.take().expect("a pipe");
    let list: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(list.as_bytes()));
    let output = child.wait_with_output().expect("addr2line runs");
    writer.join().expect("no panic").expect("it reads all");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found: Vec<Vec<(String, u32)>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            found.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap_or_default();
        let number = place.rsplit(':').next().and_then(|n| n.split(' ').next()?.parse().ok()).unwrap_or(0);
        found.last_mut().expect("an address first").push((line.to_string(), number));
    }
    found
}

fn lines(symbols: &[Symbol]) -> Vec<u32> {
    symbols.iter().map(|symbol| symbol.line.unwrap_or(0)).collect()
}

#[test]
fn inlined_calls_and_lines_are_those_addr2line_finds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("example");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["-g", "-O", "--edition=2024", "examples/count_operations.rs", "-o"]).arg(&path);
    assert!(rustc.status().is_ok_and(|status| status.success()), "rustc is installed");
    let probes = probes(&path, 2);
    assert!(probes.len() > 200, "{}", probes.len());
    let expected = addr2line(&path, &probes.iter().map(|probe| probe.0).collect::<Vec<_>>());
    let mut symbolizer = symbolizer(&path);
    let (mut same, mut inlined) = (0, 0);
    for ((_, offset, _), expected) in probes.iter().zip(&expected) {
        let found = symbolizer.names(Some(MODULE), *offset);
        let wanted: Vec<u32> = expected.iter().map(|(_, line)| *line).collect();
        same += usize::from(lines(&found) == wanted);
        inlined += usize::from(found.len() > 1 && found.len() == expected.len());
    }
    assert!(same * 100 >= probes.len() * 97, "{same} of {}", probes.len());
    assert!(inlined > 10, "{inlined}");
    assert!(symbolizer.notes().is_empty(), "a file that holds its debug information lacks none");
}

#[test]
fn a_return_address_has_the_function_that_objdump_shows_in_the_call_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app");
    let made = Command::new("cc").args(["-O2", "tests/support/tail_calls.c", "-o"]).arg(&path).status();
    assert!(made.is_ok_and(|status| status.success()), "cc is installed");
    let listing = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&path).output();
    let listing = String::from_utf8(listing.expect("binutils are installed").stdout).expect("text");
    let bytes = std::fs::read(&path).expect("a readable file");
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let mut symbolizer = symbolizer(&path);
    // `1414:  call   1360 <fill_get>`; where another function begins, there is a line between.
    let instructions = listing.lines().map(|line| {
        let (address, text) = line.split_once(":\t")?;
        Some((u64::from_str_radix(address.trim(), 16).ok()?, text))
    });
    let instructions: Vec<_> = instructions.collect();
    let (mut named, mut others) = (BTreeSet::new(), 0);
    for pair in instructions.windows(2) {
        let [Some((_, text)), Some((back, _))] = pair else { continue };
        let (instruction, to) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let direct = (instruction.starts_with("call") || instruction == "bl") && !to.contains('*');
        let target = to.split_once('<').and_then(|(_, name)| name.split('>').next()).filter(|_| direct);
        let expected = target.filter(|name| !name.contains("+0x") && !name.contains("@plt"));
        let Some(offset) = offset(&file, back - 1) else { continue };
        let found = symbolizer.names(Some(MODULE), offset).pop().and_then(|symbol| symbol.calls);
        assert_eq!(found.as_deref(), expected, "{text}");
        named.extend(found);
        others += usize::from(expected.is_none());
    }
    for function in ["handle_set", "handle_get", "fill_get", "walk_tree", "sort_keys"] {
        assert!(named.contains(function), "{function}: {named:?}");
    }
    assert!(others > 50 && !named.contains("handle_chosen"), "{others}: {named:?}");
}

#[test]
fn a_library_without_debug_information_still_names_its_functions() {
    let Some(path) = libgcc() else {
        crate::skips::skip("libgcc", "no libgcc_s.so.1 in this process");
        return;
    };
    let (all, probes) = (probes(&path, 1), probes(&path, 3));
    let mut symbolizer = symbolizer(&path);
    let named = |offset: u64| symbolizer.names(Some(MODULE), offset).pop().map(|symbol| symbol.function);
    let found: Vec<_> = probes.iter().map(|(_, offset, _)| *offset).map(named).collect();
    // Several names may share an address: any name will do, but there must be one for each.
    assert!(found.iter().all(|name| name.as_ref().is_some_and(|name| !name.is_empty() && !name.contains('@'))));
    for ((address, _, _), found) in probes.iter().zip(&found) {
        let bare = |name: &str| name.split('@').next().unwrap_or(name).to_string();
        let names: Vec<_> = all.iter().filter(|(at, _, _)| at == address).map(|(_, _, name)| bare(name)).collect();
        assert!(names.iter().any(|name| Some(name) == found.as_ref()), "{found:?} is none of {names:?}");
    }
}

fn libgcc() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines()
        .find_map(|line| line.split_ascii_whitespace().nth(5).filter(|path| path.contains("libgcc_s.so")))
        .map(PathBuf::from)
}

/// Programs are shipped stripped: functions keep their bounds, and are told apart by where they start.
#[test]
fn a_stripped_program_still_has_functions() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("a.c"), folder.path().join("a"));
    std::fs::write(&source, "int f(int x) { return x * 3; }\nint main(int c, char **v) { return f(c); }\n")
        .expect("written");
    let built = Command::new("gcc").args(["-O0", "-o"]).arg(&program).arg(&source).status();
    assert!(built.is_ok_and(|status| status.success()), "gcc is installed");
    let probes: Vec<_> = probes(&program, 1).into_iter().filter(|(_, _, name)| name == "f" || name == "main").collect();
    assert!(Command::new("strip").arg(&program).status().is_ok_and(|status| status.success()));
    let mut symbolizer = symbolizer(&program);
    let mut names: Vec<String> = Vec::new();
    for (_, offset, _) in &probes {
        let found = symbolizer.names(Some(MODULE), *offset).pop().expect("a name").function;
        assert!(found.starts_with("a+0x"), "{found}");
        names.push(found);
    }
    names.dedup();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Debug information in a file of its own, found by its checksum link, and by its build-id.
#[test]
fn a_separate_debug_file_is_found_but_never_a_wrong_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let run = |command: &str| {
        let status = Command::new("sh").args(["-ec", command]).current_dir(folder.path()).status();
        assert!(status.is_ok_and(|status| status.success()), "{command}");
    };
    std::fs::write(at("b.c"), "int f(int x) {\n  return x * 3;\n}\nint main(int c, char **v) { return f(c); }\n")
        .expect("written");
    run("gcc -g -gz=zlib -O0 -Wl,--build-id=none -o b b.c && objcopy --only-keep-debug b b.debug");
    let probes: Vec<_> = probes(&at("b"), 1).into_iter().filter(|(_, _, name)| name == "f").collect();
    run("strip b && objcopy --add-gnu-debuglink=b.debug b");
    let line = |path: &Path| symbolizer(path).names(Some(MODULE), probes[0].1).pop().and_then(|symbol| symbol.line);
    assert_eq!(line(&at("b")), Some(2));
    run("printf x >> b.debug");
    assert_eq!(line(&at("b")), None, "its checksum differs now");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// A damaged file may lose its names; it must not take the profiler with it.
    #[test]
    fn a_damaged_file_never_panics(flips in proptest::collection::vec((0usize..20_000, 0u8..), 1..40), offset in 0u64..20_000) {
        let Ok(mut bytes) = std::fs::read("/bin/true") else { return Ok(()) };
        for (at, value) in flips {
            if let Some(byte) = bytes.get_mut(at) { *byte = value; }
        }
        let mut symbolizer = Symbolizer::new(Options::default(), Box::new(Disk));
        let source = ModuleSource::File { file: ObjectFile::new(bytes), path: "/bin/true".into(), root: "/".into() };
        symbolizer.add(MODULE, source);
        symbolizer.names(Some(MODULE), offset);
    }
}
