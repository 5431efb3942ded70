//! Reads a recording back into the same profile as a live session produces.

use crate::error::Result;
use crate::model::profile::Profile;
use crate::store::Recording;
use std::path::Path;

/// Reads a recording. Damage becomes notes of the profile.
///
/// # Errors
/// It is not a recording, or its format is newer.
pub fn open(path: &Path) -> Result<Profile> {
    Ok(Recording::open(path)?.profile())
}
