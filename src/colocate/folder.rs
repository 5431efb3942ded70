//! A colocation on disk: `NAME.colocate` with the runs' recordings and `colocate.json`, replaced atomically after each run.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::ColocateMeta;
use crate::model::limits::SWEEP_BYTES;
use crate::sys::files::open_regular;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind as Io, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// The format version written.
pub const FORMAT: (u16, u16) = (1, 0);
/// File extension of the directory.
pub const EXTENSION: &str = "colocate";
const META: &str = "colocate.json";
const TEMP: &str = "colocate.json.tmp";
const RUNS: &str = "runs";

/// The directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// Path of a run's recording, relative to the folder.
pub(super) fn recording_name(at: usize) -> String {
    format!("{RUNS}/r{at:04}.ironlaw")
}

impl Folder {
    /// The directory for a name as typed. Adds `.colocate` if it is missing.
    #[must_use]
    pub fn name(typed: &Path) -> PathBuf {
        let has = typed.extension().is_some_and(|extension| extension == EXTENSION);
        match typed.file_name() {
            Some(file) if !has => {
                let mut name = file.to_os_string();
                name.push(".");
                name.push(EXTENSION);
                typed.with_file_name(name)
            }
            _ => typed.to_path_buf(),
        }
    }

    /// Whether the directory contains a colocation.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        path.join(META).is_file()
    }

    /// Creates the directory. With `overwrite`, removes an existing colocation of that name first.
    ///
    /// # Errors
    /// `Usage` if the name exists; otherwise any error of the file system.
    pub fn create(path: &Path, overwrite: bool) -> Result<Folder> {
        if overwrite && Folder::is_one(path) {
            fs::remove_dir_all(path).context(|| format!("cannot replace {}", path.display()))?;
        }
        let made = DirBuilder::new().mode(0o700).create(path);
        if made.as_ref().is_err_and(|error| error.kind() == Io::AlreadyExists) {
            return Err(Error::new(ErrorKind::Usage, format!("{} exists", path.display()))
                .hint("Choose another name with -o, or replace a colocation with --force."));
        }
        made.and_then(|()| DirBuilder::new().mode(0o700).create(path.join(RUNS)))
            .context(|| format!("cannot create {}", path.display()))?;
        Ok(Folder { path: path.to_path_buf() })
    }

    /// Opens an existing one and reads its metadata.
    ///
    /// # Errors
    /// `NotFound` if there is none, `Corrupt` if it cannot be read, `Unsupported` if its format is newer.
    pub fn open(path: &Path) -> Result<(Folder, ColocateMeta)> {
        let file = path.join(META);
        let place = || format!("cannot read {}", file.display());
        let mut text = String::new();
        open_regular(&file).context(place)?.0.take(SWEEP_BYTES).read_to_string(&mut text).context(place)?;
        let meta = parse(&text).map_err(|error| error.context(place()))?;
        Ok((Folder { path: path.to_path_buf() }, meta))
    }

    /// The directory's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Full path of a run's recording.
    ///
    /// # Errors
    /// `Corrupt` for a name that leads out of the folder.
    pub fn recording(&self, name: &str) -> Result<PathBuf> {
        if Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(self.path.join(name));
        }
        let text = format!("invalid recording path '{name}': it leads out of the folder");
        Err(Error::new(ErrorKind::Corrupt, text))
    }

    /// Writes the metadata atomically: a reader sees either the old or the new version.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, meta: &ColocateMeta) -> Result<()> {
        let place = || format!("cannot write {}", self.path.join(META).display());
        let bytes = serde_json::to_vec_pretty(meta)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()).context(place()))?;
        let temp = self.path.join(TEMP);
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temp);
        written
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&temp, self.path.join(META)))
            .context(place)
    }
}

/// Parses the metadata. Runs name programs by their place, which must exist.
fn parse(text: &str) -> Result<ColocateMeta> {
    let corrupt = |text: String| Error::new(ErrorKind::Corrupt, text);
    let meta: ColocateMeta = serde_json::from_str(text).map_err(|error| corrupt(error.to_string()))?;
    if meta.format.0 > FORMAT.0 {
        let newer = format!("it was written by a newer ironlaw ({})", meta.tool);
        return Err(Error::new(ErrorKind::Unsupported, newer).hint("Update ironlaw to read it."));
    }
    let exists = |at: Option<usize>, count: usize| at.is_none_or(|at| at < count);
    let is_sound = |run: &crate::model::ColocateRun| {
        exists(run.victim, meta.victims.len()) && exists(run.neighbour, meta.neighbours.len()) && run.load.is_finite()
    };
    match meta.runs.iter().position(|run| !is_sound(run)) {
        Some(at) => Err(corrupt(format!("run {at} names a program that is not listed"))),
        None => Ok(meta),
    }
}

#[cfg(test)]
pub(in crate::colocate) mod testing {
    use super::FORMAT;
    use crate::model::{ColocateMeta, ColocatedProgram, HostFacts};
    use crate::units::Nanos;

    pub fn meta(victims: &[&str], neighbours: &[&str], loads: &[f64], repeats: u32) -> ColocateMeta {
        let program = |name: &&str| ColocatedProgram {
            name: (*name).to_string(),
            command: vec![(*name).to_string()],
            ops: None,
            latency: None,
            full_rate: None,
            busy_cpus: None,
        };
        ColocateMeta {
            format: FORMAT,
            tool: "0.1.0".to_string(),
            host: HostFacts::default(),
            victims: victims.iter().map(program).collect(),
            neighbours: neighbours.iter().map(program).collect(),
            loads: loads.to_vec(),
            repeats,
            seed: 7,
            duration: Nanos(1_000_000_000),
            settle: Nanos(0),
            leave_out: Nanos(0),
            measure: None,
            controls: vec![],
            started_unix_ns: 1,
            runs: vec![],
            notes: vec![],
            stopped: false,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::run_plan::cell_runs;
    use super::*;

    fn meta() -> ColocateMeta {
        let meta = testing::meta(&["a"], &["x"], &[1.0], 1);
        ColocateMeta { runs: cell_runs(&meta), ..meta }
    }

    #[test]
    fn what_is_written_is_read_back_and_only_a_colocation_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = Folder::name(&dir.path().join("x"));
        assert_eq!(path, dir.path().join("x.colocate"));
        let folder = Folder::create(&path, false).unwrap();
        assert_eq!(Folder::create(&path, true).unwrap_err().kind(), ErrorKind::Usage, "it holds no colocation yet");
        folder.write(&meta()).unwrap();
        assert_eq!(Folder::open(&path).unwrap(), (folder, meta()));
        assert_eq!(Folder::create(&path, false).unwrap_err().kind(), ErrorKind::Usage);
        Folder::create(&path, true).unwrap();
        assert!(!Folder::is_one(&path));
    }

    #[test]
    fn rubbish_newer_formats_and_programs_that_are_not_there_are_told_apart() {
        let kind = |meta: &ColocateMeta| parse(&serde_json::to_string(meta).unwrap()).unwrap_err().kind();
        assert_eq!(parse("{").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(kind(&ColocateMeta { format: (2, 0), ..meta() }), ErrorKind::Unsupported);
        assert_eq!(kind(&ColocateMeta { neighbours: vec![], ..meta() }), ErrorKind::Corrupt);
        let folder = Folder { path: PathBuf::from("/c") };
        assert!(folder.recording("../etc").is_err() && folder.recording("runs/r0001.ironlaw").is_ok());
    }
}
