//! The bytes of what is imported, from a file, a pipe or the standard input.
//! It never looks into them.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::Bytes;
use crate::sys::files;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Something to import.
#[derive(Clone)]
pub struct Source {
    /// What it is called in messages.
    pub name: String,
    /// All of it.
    pub bytes: Bytes,
    /// When it was last written, nanoseconds since the Unix epoch; `None` if it is no file.
    pub written_unix_ns: Option<u64>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a file; a pipe is read to its end.
    ///
    /// # Errors
    /// It is not there, not readable, empty, or a directory.
    pub fn open(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let about = std::fs::metadata(path).context(|| format!("cannot read {name}"))?;
        if about.is_dir() {
            let error = Error::new(ErrorKind::Unsupported, format!("{name} is a directory"));
            return Err(
                error.hint("Of `perf record --threads` there is one file per thread; record without --threads.")
            );
        }
        if !about.is_file() {
            return Source::read(File::open(path).context(|| format!("cannot read {name}"))?, name);
        }
        let (file, _) = files::open_regular(path).context(|| format!("cannot read {name}"))?;
        let bytes = files::map(&file).context(|| format!("cannot read {name}"))?;
        let written = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written_unix_ns = written.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Ok(Source { name, bytes, written_unix_ns })
    }

    /// Reads to the end; all of it is held in memory.
    ///
    /// # Errors
    /// Whatever reading reports; `Corrupt` if there is nothing.
    pub fn read(mut from: impl Read, name: String) -> Result<Source> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).context(|| format!("cannot read {name}"))?;
        if bytes.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, format!("{name} is empty")));
        }
        Ok(Source { name, bytes: Arc::new(bytes), written_unix_ns: None })
    }
}
