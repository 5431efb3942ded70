//! Reads a recording back into the same profile as a live session produces.

use super::import::{self, Options, Source};
use crate::error::Result;
use crate::model::profile::Profile;
use crate::store::Recording;
use std::path::Path;

/// Reads a recording, or a `perf.data` file as if it had been imported. Damage becomes notes of the profile.
///
/// # Errors
/// It is neither, or its format is newer.
pub fn open(path: &Path) -> Result<Profile> {
    match path.is_file().then(|| Source::open(path)) {
        Some(source) if source.as_ref().is_ok_and(Source::is_perf_data) => {
            import::profile(&source?, &Options::default())
        }
        _ => Ok(Recording::open(path)?.profile()),
    }
}
