//! A recording read back into the same profile a live session gives.
//! It never repairs the recording on disk.

use crate::error::Result;
use crate::model::profile::Profile;
use crate::store::Recording;
use std::path::Path;

/// Reads a recording; damage found on the way becomes notes of the profile.
///
/// # Errors
/// It is no recording, or of a newer format.
pub fn open(path: &Path) -> Result<Profile> {
    Ok(Recording::open(path)?.profile())
}
