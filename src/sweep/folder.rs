//! A sweep on disk: `NAME.sweep` with the runs' recordings and `sweep.json`, replaced atomically after each run.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::SweepMeta;
use crate::model::limits::SWEEP_BYTES;
use crate::sys::files::open_regular;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind as Io, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The format version written.
pub const FORMAT: (u16, u16) = (1, 0);
/// File extension of a sweep's directory.
pub const EXTENSION: &str = "sweep";
const META: &str = "sweep.json";
const TEMP: &str = "sweep.json.tmp";
const RUNS: &str = "runs";

/// A sweep's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory for a name as typed. Adds `.sweep` if it is missing.
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

    /// Whether the directory contains a sweep.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        path.join(META).is_file()
    }

    /// Creates the directory. With `overwrite`, removes an existing sweep of that name first.
    ///
    /// # Errors
    /// `Usage` if the name exists; otherwise any error of the file system.
    pub fn create(path: &Path, overwrite: bool) -> Result<Folder> {
        if overwrite && Folder::is_one(path) {
            fs::remove_dir_all(path).context(|| format!("cannot replace {}", path.display()))?;
        }
        let runs = path.join(RUNS);
        let made = DirBuilder::new().mode(0o700).create(path);
        if made.as_ref().is_err_and(|error| error.kind() == Io::AlreadyExists) {
            return Err(Error::new(ErrorKind::Usage, format!("{} exists", path.display()))
                .hint("Choose another name with -o, or replace a sweep with --force."));
        }
        made.and_then(|()| DirBuilder::new().mode(0o700).create(&runs))
            .context(|| format!("cannot create {}", path.display()))?;
        Ok(Folder { path: path.to_path_buf() })
    }

    /// Opens an existing sweep and reads its metadata.
    ///
    /// # Errors
    /// `NotFound` if there is none, `Corrupt` if it cannot be read, `Unsupported` if its format is newer.
    pub fn open(path: &Path) -> Result<(Folder, SweepMeta)> {
        let file = path.join(META);
        let place = || format!("cannot read {}", file.display());
        let mut text = String::new();
        let meta = open_regular(&file).context(place)?.0;
        meta.take(SWEEP_BYTES).read_to_string(&mut text).context(place)?;
        let meta = parse(&text).map_err(|error| error.context(place()))?;
        Ok((Folder { path: path.to_path_buf() }, meta))
    }

    /// The directory's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of a run's recording, relative to the folder.
    #[must_use]
    pub fn recording_name(n: u32, repeat: u32) -> String {
        format!("{RUNS}/n{n:04}-r{repeat:02}.ironlaw")
    }

    /// Full path of a run's recording; `None` for a name that leads out of the folder.
    #[must_use]
    pub fn recording(&self, name: &str) -> Option<PathBuf> {
        let plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        plain.then(|| self.path.join(name))
    }

    /// Writes the sweep's metadata atomically: a reader sees either the old or the new version.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, meta: &SweepMeta) -> Result<()> {
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

/// Parses a sweep's metadata.
///
/// # Errors
/// As [`Folder::open`].
pub(crate) fn parse(text: &str) -> Result<SweepMeta> {
    let meta: SweepMeta =
        serde_json::from_str(text).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))?;
    if meta.format.0 > FORMAT.0 {
        let newer = format!("the sweep was written by a newer ironlaw ({})", meta.tool);
        return Err(Error::new(ErrorKind::Unsupported, newer).hint("Update ironlaw to read it."));
    }
    Ok(meta)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::sweep::testing::meta;

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = Folder::name(&dir.path().join("x"));
        assert_eq!(path, dir.path().join("x.sweep"));
        let folder = Folder::create(&path, false).unwrap();
        folder.write(&meta()).unwrap();
        assert_eq!(Folder::open(&path).unwrap(), (folder, meta()));
        assert_eq!(Folder::create(&path, false).unwrap_err().kind(), ErrorKind::Usage);
        Folder::create(&path, true).unwrap();
        assert!(!Folder::is_one(&path));
    }

    #[test]
    fn only_a_sweep_is_ever_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("precious"), "").unwrap();
        assert!(Folder::create(dir.path(), true).is_err());
        assert!(dir.path().join("precious").exists());
    }

    #[test]
    fn a_recording_lies_within_its_sweep() {
        let folder = Folder { path: PathBuf::from("/s.sweep") };
        let name = Folder::recording_name(4, 2);
        assert_eq!(folder.recording(&name), Some(PathBuf::from("/s.sweep/runs/n0004-r02.ironlaw")));
        assert_eq!((folder.recording("../etc"), folder.recording("/etc")), (None, None));
    }

    #[test]
    fn rubbish_and_newer_formats_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let kind = || Folder::open(dir.path()).unwrap_err().kind();
        assert_eq!(kind(), ErrorKind::NotFound);
        fs::write(dir.path().join(META), "{\"format\":").unwrap();
        assert_eq!(kind(), ErrorKind::Corrupt);
        let newer = SweepMeta { format: (2, 0), ..meta() };
        fs::write(dir.path().join(META), serde_json::to_vec(&newer).unwrap()).unwrap();
        assert_eq!(kind(), ErrorKind::Unsupported);
    }
}
