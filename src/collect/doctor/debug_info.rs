//! Checks which names are available for a process's code: for each file it runs, whether symbols and debug information
//! exist. Only headers are read, through the process's own root.

use super::check::{Check, Status};
use crate::abi;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::BuildId;
use crate::model::limits::OBJECT_SYMBOLS;
use crate::sys::files;
use crate::sys::procfs::ProcFs;
use object::read::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Facts about an executable file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleFacts {
    /// Path as the process sees it.
    pub path: String,
    /// Its build-id.
    pub build_id: Option<BuildId>,
    /// Whether the file itself contains DWARF.
    pub debug_info: bool,
    /// Whether it contains a full symbol table.
    pub symbols: bool,
    /// Whether it contains unwind tables.
    pub unwind: bool,
    /// The separate debug file that was found.
    pub debug_file: Option<PathBuf>,
    /// Why the file could not be read, if reading failed.
    pub error: Option<String>,
}

/// The files whose code a process runs, in address order.
pub(super) fn of_process(proc: &ProcFs, pid: u32) -> Vec<ModuleFacts> {
    let maps = match proc.maps(pid) {
        Ok(maps) => maps,
        Err(error) => return vec![unreadable(format!("process {pid}"), &error)],
    };
    let root = proc.root().join(format!("{pid}/root"));
    let mut seen = BTreeSet::new();
    abi::mappings(&maps)
        .filter(|mapping| mapping.executable && mapping.inode != 0)
        .filter(|mapping| seen.insert((mapping.device, mapping.inode)))
        .filter_map(|mapping| {
            let path = mapping.path()?;
            // A file that was deleted or replaced can still be opened through its mapping.
            let link = format!("{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end);
            let file = if mapping.is_deleted() { proc.root().join(link) } else { below(&root, &path) };
            let name = path.display().to_string();
            Some(module_facts(&name, &file, &root).unwrap_or_else(|error| unreadable(name, &error)))
        })
        .collect()
}

fn unreadable(path: String, error: &Error) -> ModuleFacts {
    ModuleFacts { path, error: Some(error.to_string()), ..ModuleFacts::default() }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Reads the headers of `file`. `path` is the process's name for it; debug files are searched for below `root`.
pub fn module_facts(path: &str, file: &Path, root: &Path) -> Result<ModuleFacts> {
    let place = || format!("cannot read {}", file.display());
    let cache = files::object(files::open_foreign(file).context(place)?.0).context(place)?.parts(OBJECT_SYMBOLS);
    let corrupt = |error: object::Error| Error::new(ErrorKind::Corrupt, error.to_string()).context(place());
    let elf = object::File::parse(&cache).map_err(corrupt)?;
    let holds = |name: &str| elf.section_by_name(name).is_some_and(|section| section.size() > 0);
    let build_id = elf.build_id().ok().flatten().map(|id| BuildId(id.to_vec()));
    let link = elf.gnu_debuglink().ok().flatten().map(|(name, _)| String::from_utf8_lossy(name).into_owned());
    Ok(ModuleFacts {
        path: path.to_string(),
        debug_file: candidates(Path::new(path), build_id.as_ref(), link.as_deref(), root)
            .into_iter()
            .find(|file| file.is_file()),
        build_id,
        debug_info: holds(".debug_info") || holds(".zdebug_info"),
        symbols: holds(".symtab"),
        unwind: holds(".eh_frame") || holds(".debug_frame"),
        error: None,
    })
}

/// Where distributions put separate debug files.
fn candidates(path: &Path, build_id: Option<&BuildId>, link: Option<&str>, root: &Path) -> Vec<PathBuf> {
    let debug = below(root, Path::new("/usr/lib/debug"));
    let mut files = Vec::new();
    if let Some(hex) = build_id.map(ToString::to_string).filter(|hex| hex.len() > 2) {
        files.push(debug.join(format!(".build-id/{}/{}.debug", &hex[..2], &hex[2..])));
    }
    // The link is a bare file name; a path in it could lead anywhere.
    if let (Some(link), Some(directory)) = (link.filter(|link| !link.contains('/')), path.parent()) {
        files.extend([
            below(root, directory).join(link),
            below(root, directory).join(".debug").join(link),
            below(&debug, directory).join(link),
        ]);
    }
    files
}

/// Turns the facts of one file into a check.
pub(super) fn check(module: &ModuleFacts) -> Check {
    let topic = format!("debug-info {}", module.path);
    let unwind = if module.unwind { "" } else { "; no .eh_frame, so stacks through it may break" };
    if let Some(error) = &module.error {
        return Check::new(&topic, Status::Unknown, "could not be read")
            .detail(error.clone())
            .fix("Run as root, or as the owner of the process.");
    }
    if module.debug_info || module.debug_file.is_some() {
        let place = module
            .debug_file
            .as_ref()
            .map_or_else(|| "in the file".to_string(), |file| format!("in {}", file.display()));
        return Check::works(&topic, format!("functions, lines and inlined calls, {place}{unwind}"));
    }
    let fetch = match &module.build_id {
        Some(id) => format!("Install its -dbgsym or -debuginfo package, or rebuild with -g. (build-id {id})"),
        None => "Rebuild with -g -Wl,--build-id.".to_string(),
    };
    let (text, detail) = match module.symbols {
        true => ("function names only", "it has a symbol table but no debug information: no lines, no inlined calls"),
        false => ("exported names only", "it is stripped: functions it does not export are called by where they start"),
    };
    Check::new(&topic, Status::Limited, format!("{text}{unwind}")).detail(detail).fix(fetch)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_running_test_has_debug_information_and_unwind_tables() {
        let path = std::env::current_exe().unwrap();
        let facts = module_facts(&path.display().to_string(), &path, Path::new("/")).unwrap();
        assert!(facts.debug_info && facts.symbols && facts.unwind, "{facts:?}");
        assert_eq!(check(&facts).status, Status::Works);
    }

    #[test]
    fn a_file_that_is_no_program_is_unknown_with_its_reason() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = module_facts("/x", file.path(), Path::new("/")).unwrap_err();
        let judged = check(&unreadable("/x".to_string(), &error));
        assert_eq!(judged.status, Status::Unknown);
        assert!(judged.detail.contains(&file.path().display().to_string()), "{}", judged.detail);
    }

    #[test]
    fn debug_files_are_looked_for_by_build_id_and_by_link_inside_the_root() {
        let id = BuildId(vec![0xab, 0xcd, 0xef]);
        let found = candidates(Path::new("/usr/bin/x"), Some(&id), Some("x.debug"), Path::new("/r"));
        let expected = [
            "/r/usr/lib/debug/.build-id/ab/cdef.debug",
            "/r/usr/bin/x.debug",
            "/r/usr/bin/.debug/x.debug",
            "/r/usr/lib/debug/usr/bin/x.debug",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        assert!(candidates(Path::new("/x"), None, Some("../../etc/passwd"), Path::new("/")).is_empty());
    }

    #[test]
    fn a_stripped_file_is_told_apart_from_one_with_symbols() {
        let stripped = ModuleFacts { path: "/bin/x".to_string(), ..ModuleFacts::default() };
        let named = ModuleFacts { symbols: true, unwind: true, ..stripped.clone() };
        assert!(
            check(&stripped).text.starts_with("exported names only") && check(&stripped).text.contains(".eh_frame")
        );
        assert!(check(&named).text.starts_with("function names only"));
    }
}
