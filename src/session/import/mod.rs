//! Imports other tools' recordings as our own: `perf.data` files and folded stacks. Only local files that provably
//! match the recorded ones are used.
//!
//! A perf.data file takes the same path as a live capture: mappings form an address space per process, stacks are
//! numbered, and copied stack bytes are unwound if the code is available. Missing information becomes a note.

mod chains;
#[cfg(test)]
mod equality_tests;
mod facts;
pub(super) mod files;
mod folded;
mod kernel;
mod names;
mod objects;
mod output;
mod perf;
mod source;
mod stacks;
mod tasks;

pub use source::Source;

use self::output::{ProfileOutput, RecordingOutput};
use super::recorder::CaptureStats;
use crate::error::Result;
use crate::model::profile::Profile;
use crate::model::{Meta, Progress};
use crate::store::Writer;
use std::path::PathBuf;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A `perf.data` file of `perf record`.
    Perf,
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
    let imported = match format(source, options) {
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
    let profile = match format(source, options) {
        Format::Perf => perf::import(source, options, ProfileOutput::new),
        Format::Folded => folded::import(source, ProfileOutput::new),
    };
    profile.map_err(|error| error.context(format!("cannot import {}", source.name)))
}

fn format(source: &Source, options: &Options) -> Format {
    let found = if source.is_perf_data() { Format::Perf } else { Format::Folded };
    options.format.unwrap_or(found)
}
