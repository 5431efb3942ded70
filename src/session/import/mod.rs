//! Imports other tools' recordings as our own: `perf.data` files, perf script's text and folded stacks. Only local files that provably
//! match the recorded ones are used.
//!
//! A perf.data file takes the same path as a live capture: mappings form an address space per process, stacks are
//! numbered, and copied stack bytes are unwound if the code is available. Missing information becomes a note.

mod chains;
#[cfg(test)]
mod equality_tests;
mod facts;
pub(super) mod files;
pub(super) mod folded;
mod kernel;
mod names;
mod objects;
mod output;
mod perf;
mod script;
mod script_text;
mod source;
mod stacks;
mod tasks;
#[cfg(test)]
mod testing;

pub use source::Source;

use self::output::{ProfileOutput, RecordingOutput};
use super::recorder::CaptureStats;
use crate::error::{Error, ErrorKind, Result};
use crate::model::profile::Profile;
use crate::model::{Meta, Progress};
use crate::store::Writer;
use crate::store::perfdata::PerfData;
use std::path::PathBuf;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A `perf.data` file of `perf record`.
    Perf,
    /// The text of `perf script`.
    Script,
    /// Lines of `outer;inner COUNT`.
    Folded,
}

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The format; detected from the content if `None`.
    pub format: Option<Format>,
    /// Root directory with the recorded machine's files.
    pub symfs: Option<PathBuf>,
    /// The recorded machine's /proc/kallsyms.
    pub kallsyms: Option<PathBuf>,
    /// How far the import has come.
    pub progress: Progress,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The recording's metadata.
    pub meta: Meta,
    /// Totals of the import.
    pub stats: CaptureStats,
    /// Size of the recording on disk, bytes.
    pub bytes: u64,
}

/// Imports a file into the recording that `create` opens once there is something to write.
///
/// # Errors
/// Nothing in the file could be read, or the recording cannot be written. From a damaged file, the readable part is
/// imported with a note.
pub fn import(source: &Source, options: &Options, create: impl FnOnce(&Meta) -> Result<Writer>) -> Result<Imported> {
    let imported = match format(source, options)? {
        Format::Script => script::import(source, |_| RecordingOutput::new(create)),
        Format::Perf => perf::import(source, options, |_| RecordingOutput::new(create)),
        Format::Folded => folded::import(source, |_| RecordingOutput::new(create)),
    };
    imported.map_err(|error| error.context(format!("cannot import {}", source.name)))
}

/// Imports a file into memory: the same profile as that of its recording.
///
/// # Errors
/// Nothing in the file could be read.
pub fn profile(source: &Source, options: &Options) -> Result<Profile> {
    let profile = match format(source, options)? {
        Format::Script => script::import(source, ProfileOutput::new),
        Format::Perf => perf::import(source, options, ProfileOutput::new),
        Format::Folded => folded::import(source, ProfileOutput::new),
    };
    profile.map_err(|error| error.context(format!("cannot import {}", source.name)))
}

fn format(source: &Source, options: &Options) -> Result<Format> {
    options.format.or_else(|| detected(source)).ok_or_else(|| {
        let text =
            format!("cannot import {}: it is neither perf.data nor perf script's text nor folded stacks", source.name);
        Error::new(ErrorKind::Corrupt, text).hint("Folded stacks are lines like `main;parse 42`.")
    })
}

/// Bytes at the start of a text that tell its format.
const LOOKED_AT: usize = 64 << 10;

/// The format of a file's contents; `None` if they have none that can be imported.
#[must_use]
pub fn detected(source: &Source) -> Option<Format> {
    let bytes = (*source.bytes).as_ref();
    if PerfData::is_one(bytes) {
        return Some(Format::Perf);
    }
    let whole = bytes.len() <= LOOKED_AT;
    let start = if whole { bytes } else { &bytes[..LOOKED_AT] };
    let text = String::from_utf8_lossy(start);
    // A line that the end cuts is not judged.
    let text = if whole { &*text } else { text.rsplit_once('\n')?.0 };
    if start.contains(&0) {
        None
    } else if script_text::is_script(text) {
        Some(Format::Script)
    } else {
        folded::is_folded(text).then_some(Format::Folded)
    }
}

/// Whether a file holds both sides of a comparison: folded stacks with two counts per line.
pub(super) fn compares(source: &Source) -> bool {
    detected(source) == Some(Format::Folded) && folded::compares(source)
}
