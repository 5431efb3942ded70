//! Recordings of many runs on disk: `NAME.KIND` with the recordings and `KIND.json`, replaced atomically after each run.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::SWEEP_BYTES;
use crate::sys::files::open_regular;
use serde::{Serialize, de::DeserializeOwned};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind as Io, Read, Write};
use std::marker::PhantomData;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// The folder of the recordings within it.
pub const RUNS: &str = "runs";

/// What is kept about the runs.
pub trait RunsMeta: Serialize + DeserializeOwned {
    /// What they are, e.g. `sweep`; also the extension of the directory.
    const KIND: &'static str;
    /// The format version written.
    const FORMAT: (u16, u16);

    /// The format version and the version of ironlaw that wrote it.
    fn written_by(&self) -> ((u16, u16), &str);

    /// What makes no sense in it, in words.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// The directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder<M> {
    path: PathBuf,
    meta: PhantomData<M>,
}

impl<M: RunsMeta> RunFolder<M> {
    fn at(path: &Path) -> RunFolder<M> {
        RunFolder { path: path.to_path_buf(), meta: PhantomData }
    }

    fn meta_file(path: &Path) -> PathBuf {
        path.join(format!("{}.json", M::KIND))
    }

    /// The directory for a name as typed. Adds the extension if it is missing.
    #[must_use]
    pub fn name(typed: &Path) -> PathBuf {
        let has = typed.extension().is_some_and(|extension| extension == M::KIND);
        match typed.file_name() {
            Some(file) if !has => {
                let mut name = file.to_os_string();
                name.push(".");
                name.push(M::KIND);
                typed.with_file_name(name)
            }
            _ => typed.to_path_buf(),
        }
    }

    /// Whether the directory contains runs of this kind.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        Self::meta_file(path).is_file()
    }

    /// Creates the directory. With `overwrite`, removes an existing one of that name and kind first.
    ///
    /// # Errors
    /// `Usage` if the name exists; otherwise any error of the file system.
    pub fn create(path: &Path, overwrite: bool) -> Result<RunFolder<M>> {
        if overwrite && Self::is_one(path) {
            fs::remove_dir_all(path).context(|| format!("cannot replace {}", path.display()))?;
        }
        let made = DirBuilder::new().mode(0o700).create(path);
        if made.as_ref().is_err_and(|error| error.kind() == Io::AlreadyExists) {
            let other = format!("Choose another name with -o, or replace a {} with --force.", M::KIND);
            return Err(Error::new(ErrorKind::Usage, format!("{} exists", path.display())).hint(other));
        }
        made.and_then(|()| DirBuilder::new().mode(0o700).create(path.join(RUNS)))
            .context(|| format!("cannot create {}", path.display()))?;
        Ok(Self::at(path))
    }

    /// Opens an existing one and reads its metadata.
    ///
    /// # Errors
    /// `NotFound` if there is none, `Corrupt` if it cannot be read, `Unsupported` if its format is newer.
    pub fn open(path: &Path) -> Result<(RunFolder<M>, M)> {
        let file = Self::meta_file(path);
        let place = || format!("cannot read {}", file.display());
        let mut text = String::new();
        open_regular(&file).context(place)?.0.take(SWEEP_BYTES).read_to_string(&mut text).context(place)?;
        let meta = parse(&text).map_err(|error| error.context(place()))?;
        Ok((Self::at(path), meta))
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
        let text = format!("invalid recording path '{name}': it leads out of the {}", M::KIND);
        Err(Error::new(ErrorKind::Corrupt, text))
    }

    /// Writes the metadata atomically: a reader sees either the old or the new version.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn write(&self, meta: &M) -> Result<()> {
        let file = Self::meta_file(&self.path);
        let place = || format!("cannot write {}", file.display());
        let bytes = serde_json::to_vec_pretty(meta)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()).context(place()))?;
        let temp = file.with_extension("json.tmp");
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temp);
        written
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&temp, &file))
            .context(place)
    }
}

/// Parses the metadata.
///
/// # Errors
/// As [`RunFolder::open`].
pub(crate) fn parse<M: RunsMeta>(text: &str) -> Result<M> {
    let corrupt = |text: String| Error::new(ErrorKind::Corrupt, text);
    let meta: M = serde_json::from_str(text).map_err(|error| corrupt(error.to_string()))?;
    let (format, tool) = meta.written_by();
    if format.0 > M::FORMAT.0 {
        let newer = format!("the {} was written by a newer ironlaw ({tool})", M::KIND);
        return Err(Error::new(ErrorKind::Unsupported, newer).hint("Update ironlaw to read it."));
    }
    meta.fault().map_or(Ok(meta), |fault| Err(corrupt(fault)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Meta {
        format: (u16, u16),
        runs: u32,
    }

    impl RunsMeta for Meta {
        const KIND: &'static str = "trial";
        const FORMAT: (u16, u16) = (1, 0);

        fn written_by(&self) -> ((u16, u16), &str) {
            (self.format, "9.0.0")
        }

        fn fault(&self) -> Option<String> {
            (self.runs > 5).then(|| "too many".to_string())
        }
    }

    type Folder = RunFolder<Meta>;
    const META: Meta = Meta { format: Meta::FORMAT, runs: 5 };

    #[test]
    fn what_is_written_is_read_back_and_only_its_kind_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = Folder::name(&dir.path().join("x"));
        assert_eq!(path, dir.path().join("x.trial"));
        let folder = Folder::create(&path, false).unwrap();
        assert_eq!(Folder::create(&path, true).unwrap_err().kind(), ErrorKind::Usage, "it holds no trial yet");
        folder.write(&META).unwrap();
        assert_eq!(Folder::open(&path).unwrap(), (folder, META));
        assert_eq!(Folder::create(&path, false).unwrap_err().kind(), ErrorKind::Usage);
        Folder::create(&path, true).unwrap();
        assert!(!Folder::is_one(&path));
        fs::write(dir.path().join("precious"), "").unwrap();
        assert!(Folder::create(dir.path(), true).is_err());
        assert!(dir.path().join("precious").exists());
    }

    #[test]
    fn a_recording_lies_within_its_folder() {
        let folder = Folder::at(Path::new("/t.trial"));
        assert_eq!(folder.recording("runs/r1.ironlaw").unwrap(), Path::new("/t.trial/runs/r1.ironlaw"));
        for outside in ["../etc", "/etc"] {
            assert_eq!(folder.recording(outside).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn rubbish_newer_formats_and_what_makes_no_sense_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let kind = || Folder::open(dir.path()).unwrap_err().kind();
        assert_eq!(kind(), ErrorKind::NotFound);
        fs::write(dir.path().join("trial.json"), "{\"format\":").unwrap();
        assert_eq!(kind(), ErrorKind::Corrupt);
        for (meta, expected) in
            [(Meta { format: (2, 0), ..META }, ErrorKind::Unsupported), (Meta { runs: 6, ..META }, ErrorKind::Corrupt)]
        {
            fs::write(dir.path().join("trial.json"), serde_json::to_vec(&meta).unwrap()).unwrap();
            assert_eq!(kind(), expected);
        }
    }
}
