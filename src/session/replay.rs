//! Reads a recording back into the same profile as a live session produces.

use super::import::{self, Options, Source};
use crate::error::Result;
use crate::model::Progress;
use crate::model::profile::Profile;
use crate::store::Recording;
use std::path::Path;

/// Reads a recording, or a file that can be imported as if it had been. Damage becomes notes of the profile.
///
/// # Errors
/// It is neither, or its format is newer.
pub fn open(path: &Path) -> Result<Profile> {
    open_with(path, &Progress::default())
}

/// Whether the path holds samples of another profiler.
#[must_use]
pub fn is_importable(path: &Path) -> bool {
    source(path).is_some_and(|source| source.is_ok_and(|source| import::detected(&source).is_some()))
}

/// Whether the path is a file with both sides of a comparison.
pub(crate) fn holds_both_sides(path: &Path) -> bool {
    source(path).is_some_and(|source| source.is_ok_and(|source| import::compares(&source)))
}

/// The file, if the path is not that of a recording.
fn source(path: &Path) -> Option<Result<Source>> {
    (path.is_file() || Source::is_directory(path)).then(|| Source::open(path))
}

/// As [`open`], telling how far it has come.
///
/// # Errors
/// As [`open`].
pub fn open_with(path: &Path, progress: &Progress) -> Result<Profile> {
    match source(path) {
        Some(source) if source.as_ref().is_ok_and(|source| import::detected(source).is_some()) => {
            import::profile(&source?, &Options { progress: progress.clone(), ..Options::default() })
        }
        _ => Ok(Recording::open(path)?.told_to(progress).profile()),
    }
}
