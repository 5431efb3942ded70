//! Files in memory that no folder holds: they end with the last process that has them open, however that ends.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io;

/// A new file that programs started later inherit, open under the same number.
///
/// # Errors
/// As `memfd_create(2)`.
pub fn inherited(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::empty())?))
}
