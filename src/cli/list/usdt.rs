//! USDT probes of programs and processes, for `--ops usdt:`.

use super::SCHEMA_VERSION;
use crate::collect::sampler::{ProbedFile, UsdtProbe, probes_of_file, probes_of_process};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::procfs::ProcFs;
use serde::Serialize;
use std::path::Path;

/// The list.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    schema_version: u32,
    pub(super) files: Vec<File>,
    /// What could not be read.
    pub(super) notes: Vec<String>,
}

/// A program or library with its probes.
#[derive(Debug, Serialize)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) probes: Vec<Probe>,
}

/// A probe.
#[derive(Debug, Serialize)]
pub(super) struct Probe {
    pub(super) provider: String,
    pub(super) name: String,
    /// What `--ops` takes.
    pub(super) ops: String,
    /// How many instructions hit it.
    pub(super) places: usize,
    /// Whether the program does what it needs for the probe only while somebody watches it.
    pub(super) semaphore: bool,
}

/// The probes of files and processes.
///
/// # Errors
/// `Usage` if none is named; `NotFound` for a file or process that does not exist or has no probes.
pub(super) fn list(places: &[String], root: &Path) -> Result<Listing> {
    if places.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no program is named")
            .hint("Name a file or a process: ironlaw list usdt /usr/sbin/mariadbd, ironlaw list usdt 1234."));
    }
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    for place in places {
        let (found, errors) = of_place(place, root)?;
        if found.iter().all(|file| file.probes.is_empty()) {
            let error = Error::new(ErrorKind::NotFound, format!("{place} has no USDT probes"));
            return Err(match errors.first() {
                Some(refused) => error.hint(format!("Not everything could be read: {refused}.")),
                None => error.hint("It was built without sys/sdt.h; functions are counted with --ops uprobe:."),
            });
        }
        files.extend(found.into_iter().map(File::of));
        notes.extend(errors.iter().map(ToString::to_string));
    }
    Ok(Listing { schema_version: SCHEMA_VERSION, files, notes })
}

fn of_place(place: &str, root: &Path) -> Result<(Vec<ProbedFile>, Vec<Error>)> {
    let Ok(pid) = place.parse::<u32>() else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = probes_of_file(Path::new(place), &path, root);
        return Ok((found.context(|| "cannot list USDT probes")?, Vec::new()));
    };
    let maps = ProcFs::new(root.join("proc")).maps(pid);
    maps.context(|| format!("cannot list the files of process {pid}"))?;
    Ok(probes_of_process(pid, root))
}

impl File {
    fn of(file: ProbedFile) -> File {
        let path = file.path.display().to_string();
        let probe = |probe: &UsdtProbe| Probe {
            provider: probe.provider.clone(),
            name: probe.name.clone(),
            ops: file.spec(probe).written(),
            places: probe.places.len(),
            semaphore: probe.has_semaphore(),
        };
        File { probes: file.probes.iter().map(probe).collect(), path }
    }
}
