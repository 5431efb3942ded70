//! Reads a recording back into the same profile as a live session produces.

use super::import::{self, Options, Source};
use crate::error::Result;
use crate::model::Progress;
use crate::model::profile::Profile;
use crate::store::Recording;
use std::path::Path;

/// Reads a recording, or a `perf.data` file as if it had been imported. Damage becomes notes of the profile.
///
/// # Errors
/// It is neither, or its format is newer.
pub fn open(path: &Path) -> Result<Profile> {
    open_with(path, &Progress::default())
}

/// Whether the path is a file that `perf record` wrote.
#[must_use]
pub fn is_perf_data(path: &Path) -> bool {
    path.is_file() && Source::open(path).is_ok_and(|source| source.is_perf_data())
}

/// As [`open`], telling how far it has come.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, progress: &Progress) -> Result<Profile> {
    match path.is_file().then(|| Source::open(path)) {
        Some(source) if source.as_ref().is_ok_and(Source::is_perf_data) => {
            import::profile(&source?, &Options { progress: progress.clone(), ..Options::default() })
        }
        _ => Ok(Recording::open(path)?.told_to(progress).profile()),
    }
}
