//! What other tools recorded, as one of our recordings: `perf.data` files and folded stacks.
//! It never claims more than the file and this machine's files of the same build can prove.
//!
//! A perf.data file goes through the same parts as a live capture: mappings make a space per process, stacks are numbered,
//! copied stack bytes are unwound where the code is at hand. What a file cannot say is a note in the recording.

mod facts;
mod files;
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

use super::tally::Tally;
use crate::error::Result;
use crate::model::Meta;
use crate::store::Writer;
use crate::store::perfdata::PerfData;
use std::path::PathBuf;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `perf record` wrote.
    Perf,
    /// Lines of `outer;inner COUNT`.
    Folded,
}

/// How to import.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the file is; told by its content if not given.
    pub format: Option<Format>,
    /// Where the recorded machine's files lie, as they lay below its root.
    pub symfs: Option<PathBuf>,
    /// The recorded machine's /proc/kallsyms.
    pub kallsyms: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug)]
pub struct Imported {
    /// The recording's description of itself.
    pub meta: Meta,
    /// What went by.
    pub tally: Tally,
    /// Bytes the recording takes on disk.
    pub bytes: u64,
}

/// Imports a file into the recording that `create` opens once there is something to write.
///
/// # Errors
/// Nothing in the file could be read, or the recording cannot be written. A damaged file gives what it holds, and a note.
pub fn import(source: &Source, options: &Options, create: impl FnOnce(&Meta) -> Result<Writer>) -> Result<Imported> {
    let bytes: &[u8] = (*source.bytes).as_ref();
    let told = if PerfData::is_one(bytes) { Format::Perf } else { Format::Folded };
    let imported = match options.format.unwrap_or(told) {
        Format::Perf => perf::import(source, options, create),
        Format::Folded => folded::import(source, create),
    };
    imported.map_err(|error| error.context(format!("cannot import {}", source.name)))
}
