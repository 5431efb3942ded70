//! Reads the bytes to import from a file, a pipe or standard input.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::Bytes;
use crate::store::perfdata::{PerfData, joined};
use crate::sys::files::{self, MappedFile};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The file of a directory that has a head.
const HEAD: &str = "data";

/// Data to import.
#[derive(Clone)]
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// Its whole contents.
    pub bytes: Bytes,
    /// The file that the bytes are mapped from, if they are.
    pub file: Option<MappedFile>,
    /// Time of the last write, nanoseconds since the Unix epoch; `None` if it is not a file.
    pub written_unix_ns: Option<u64>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a file. A pipe is read to its end.
    ///
    /// # Errors
    /// It does not exist, is not readable, is empty, or is a directory that perf did not write.
    pub fn open(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let about = std::fs::metadata(path).context(|| format!("cannot read {name}"))?;
        if about.is_dir() {
            return Source::directory(path, name);
        }
        if !about.is_file() && !about.file_type().is_fifo() {
            return Err(Error::new(ErrorKind::Unsupported, format!("{name} is neither a file nor a pipe")));
        }
        if !about.is_file() {
            return Source::read(File::open(path).context(|| format!("cannot read {name}"))?, name);
        }
        let (file, _) = files::open_regular(path).context(|| format!("cannot read {name}"))?;
        let file = MappedFile::open(&file).context(|| format!("cannot read {name}"))?;
        let written = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written_unix_ns = written.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Ok(Source { name, bytes: file.bytes(), file: Some(file), written_unix_ns })
    }

    /// Whether a directory is one that `perf record --threads` wrote.
    pub(in crate::session) fn is_directory(path: &Path) -> bool {
        let start = File::open(path.join(HEAD)).and_then(|mut file| {
            let mut start = [0; 8];
            file.read_exact(&mut start).map(|()| start)
        });
        path.is_dir() && start.is_ok_and(|start| PerfData::is_one(&start))
    }

    /// Reads the files of a directory as one.
    fn directory(path: &Path, name: String) -> Result<Source> {
        if !Source::is_directory(path) {
            return Err(Error::new(ErrorKind::Unsupported, format!("{name} is a directory"))
                .hint("A directory of `perf record --threads` has a file `data`."));
        }
        let read = |path: &Path| -> Result<Vec<u8>> {
            let context = || format!("cannot read {}", path.display());
            let (mut file, mut bytes) = (files::open_regular(path).context(context)?.0, Vec::new());
            file.read_to_end(&mut bytes).context(context)?;
            Ok(bytes)
        };
        let parts = (0..).map(|number: u32| path.join(format!("{HEAD}.{number}"))).take_while(|part| part.exists());
        let parts = parts.map(|part| read(&part)).collect::<Result<Vec<_>>>()?;
        let bytes = joined(&read(&path.join(HEAD))?, &parts)
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("{name}/{HEAD} ends within its header")))?;
        Ok(Source { name, bytes: Arc::new(bytes), file: None, written_unix_ns: None })
    }

    /// Says that these bytes will hardly be read again.
    pub(super) fn release(&self, range: std::ops::Range<usize>) {
        if let Some(file) = &self.file {
            file.release(range);
        }
    }

    /// Whether the file became shorter while it was read: the rest was read as zeros.
    pub(super) fn was_cut(&self) -> bool {
        self.file.as_ref().is_some_and(MappedFile::was_cut)
    }

    /// Reads to the end and keeps everything in memory.
    ///
    /// # Errors
    /// Any error of reading; `Corrupt` if it is empty.
    pub fn read(mut from: impl Read, name: String) -> Result<Source> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).context(|| format!("cannot read {name}"))?;
        if bytes.is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, format!("{name} is empty")));
        }
        Ok(Source { name, bytes: Arc::new(bytes), file: None, written_unix_ns: None })
    }
}
