//! Inlined calls from debug information that lies outside the program's file.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use crate::error::{Error, ErrorKind, Result};
use crate::model::{BuildId, ModuleId, ObjectFile};
use crate::symbols::{FileTail, Files, ModuleSource, Options, Symbolizer};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CODE: &str = "
static inline __attribute__((always_inline)) int inlined_hot(int n) {
    int x = n;
    for (int i = 0; i < n; i++) x = x * 1103515245 + 12345;
    return x;
}
__attribute__((noinline)) int real_function(int n) { return inlined_hot(n) + 1; }
int main(int n, char **a) { (void)a; return real_function(n); }
";

/// The files of a directory.
struct Disk;

impl Files for Disk {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        std::fs::read(path).ok().map(ObjectFile::new)
    }

    fn text(&self, _: &Path) -> Result<String> {
        Err(Error::new(ErrorKind::NotFound, "no file"))
    }

    fn fetch(&self, _: &BuildId) -> Option<ObjectFile> {
        None
    }

    fn grown(&self, _: &Path, _: u64) -> Option<FileTail> {
        None
    }
}

/// Whether a tool did what it was asked for.
fn done(program: &str, arguments: &[&str], dir: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn compiled(dir: &Path, flags: &[&str]) -> bool {
    std::fs::write(dir.join("app.c"), CODE).unwrap();
    let made = done("cc", &[&["-O2", "-g", "-o", "app", "app.c"], flags].concat(), dir);
    if !made {
        crate::skips::skip("split-dwarf", format!("cc cannot compile with {flags:?}"));
    }
    made
}

/// Whether the inlined function is known somewhere in a program, and the notes about it.
fn found(program: &Path) -> (bool, Vec<String>) {
    let file = ObjectFile::new(std::fs::read(program).unwrap());
    let (module, length) = (ModuleId(0), file.length());
    let mut symbolizer = Symbolizer::new(Options { debug_dirs: vec![] }, Box::new(Disk));
    let path = program.to_str().unwrap().to_string();
    symbolizer.add(module, ModuleSource::File { file, path, root: PathBuf::from("/") });
    let mut is_inlined = |offset| {
        let names = symbolizer.names(Some(module), offset);
        let names: Vec<_> = names.iter().map(|symbol| (symbol.function.as_str(), symbol.inlined)).collect();
        names == [("inlined_hot", true), ("real_function", false)]
    };
    let known = (0..length).filter(|offset| is_inlined(*offset)).count() > 0;
    (known, symbolizer.notes().into_iter().map(|note| format!("{}: {}", note.topic, note.text)).collect())
}

#[test]
fn units_in_files_of_their_own_are_read_and_missed_aloud() {
    let dir = tempfile::tempdir().unwrap();
    if !compiled(dir.path(), &["-gsplit-dwarf", "-gdwarf-5"]) {
        return;
    }
    let app = dir.path().join("app");
    assert_eq!(found(&app), (true, vec![]));
    let units = units(dir.path());
    assert_eq!(units.len(), 1);
    // Beside a program that was moved.
    let elsewhere = tempfile::tempdir().unwrap();
    for path in [&app, &units[0]] {
        std::fs::rename(path, elsewhere.path().join(path.file_name().unwrap())).unwrap();
    }
    let app = elsewhere.path().join("app");
    assert_eq!(found(&app), (true, vec![]));
    std::fs::remove_file(elsewhere.path().join(units[0].file_name().unwrap())).unwrap();
    let (known, notes) = found(&app);
    assert!(!known && notes.len() == 1, "{notes:?}");
    assert!(notes[0].starts_with("debug-information-elsewhere") && notes[0].contains("app.dwp"), "{notes:?}");
}

/// The files of units in a directory.
fn units(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "dwo")).collect()
}

#[test]
fn units_are_read_alone_and_from_a_package_that_either_tool_made() {
    // The one of binutils knows DWARF 4 alone.
    let tools = [(4, None), (4, Some("dwp")), (4, Some("llvm-dwp")), (5, Some("llvm-dwp"))];
    for (version, tool) in tools {
        let dir = tempfile::tempdir().unwrap();
        if !compiled(dir.path(), &["-gsplit-dwarf", &format!("-gdwarf-{version}")]) {
            return;
        }
        let app = dir.path().join("app");
        if let Some(tool) = tool {
            if !done("timeout", &["20", tool, "-e", "app", "-o", "app.dwp"], dir.path()) {
                crate::skips::skip("dwp", format!("{tool} is not installed, or cannot pack DWARF {version}"));
                continue;
            }
            units(dir.path()).iter().for_each(|unit| std::fs::remove_file(unit).unwrap());
        }
        assert_eq!(found(&app), (true, vec![]), "DWARF {version}, {tool:?}");
    }
}

#[test]
fn a_unit_of_another_build_has_no_say() {
    let dir = tempfile::tempdir().unwrap();
    if !compiled(dir.path(), &["-gsplit-dwarf"]) {
        return;
    }
    let app = dir.path().join("app");
    std::fs::copy(&app, dir.path().join("old")).unwrap();
    std::fs::write(dir.path().join("app.c"), CODE.replace("inlined_hot", "other_inlined")).unwrap();
    assert!(done("cc", &["-O2", "-g", "-gsplit-dwarf", "-o", "app", "app.c"], dir.path()));
    assert_eq!(found(&dir.path().join("old")).1.len(), 1);
}

#[test]
fn common_parts_in_another_file_are_read_and_missed_aloud() {
    let dir = tempfile::tempdir().unwrap();
    if !compiled(dir.path(), &[]) {
        return;
    }
    let app = dir.path().join("app");
    std::fs::copy(&app, dir.path().join("copy")).unwrap();
    if !done("dwz", &["-m", "common.dwz", "app", "copy"], dir.path()) || !dir.path().join("common.dwz").exists() {
        return crate::skips::skip("dwz", "dwz is not installed");
    }
    assert_eq!(found(&app), (true, vec![]));
    std::fs::remove_file(dir.path().join("common.dwz")).unwrap();
    let (_, notes) = found(&app);
    assert!(notes.len() == 1 && notes[0].contains("app (common.dwz)"), "{notes:?}");
}
