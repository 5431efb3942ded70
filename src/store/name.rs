//! The directory name of a recording. Pure: uses neither the file system nor a clock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The suffix of every recording's directory.
const SUFFIX: &str = "ironlaw";

/// The directory for a name as typed: adds `.ironlaw` unless it is there. `cpu.1` becomes `cpu.1.ironlaw`.
#[must_use]
pub fn path(name: &Path) -> PathBuf {
    match name.file_name() {
        Some(file) if name.extension().is_none_or(|extension| extension != SUFFIX) => {
            let mut with_suffix = OsString::from(file);
            with_suffix.push(".");
            with_suffix.push(SUFFIX);
            name.with_file_name(with_suffix)
        }
        _ => name.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_is_added_once() {
        for (typed, expected) in [
            ("foo", "foo.ironlaw"),
            ("foo/", "foo.ironlaw"),
            ("a/cpu.1", "a/cpu.1.ironlaw"),
            ("foo.ironlaw", "foo.ironlaw"),
            ("foo.ironlaw/", "foo.ironlaw/"),
            ("..", ".."),
        ] {
            assert_eq!(path(Path::new(typed)), Path::new(expected), "{typed}");
        }
    }
}
