//! Reads /sys: CPUs, memory nodes, event sources and the platform.
//! Values that a machine does not report are `None`.

mod caches;
mod machine;

pub use caches::{Cache, CacheSizes};
pub use machine::Resctrl;

use std::fs;
use std::path::{Path, PathBuf};

/// A mounted sysfs; tests use a directory of their own.
#[derive(Debug, Clone)]
pub struct SysFs {
    root: PathBuf,
}

impl SysFs {
    /// The file system at `root`, normally `/sys`.
    pub fn new(root: impl Into<PathBuf>) -> SysFs {
        SysFs { root: root.into() }
    }

    /// The mount point.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file's trimmed text; `None` when it is missing, unreadable or empty.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.root.join(path)).ok()?;
        Some(text.trim().to_string()).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests;
