//! Reads and raises the limit of open descriptors, which sampling runs into.
//! Only the soft limit of this process changes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Returns the soft limit of open descriptors; `None` is unlimited.
#[must_use]
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the soft limit of open descriptors to the hard one; returns the limit now in force.
pub fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    // Refused only under a seccomp policy; the old limit then stays in force and is returned.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    open_files()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_ends_at_the_hard_one() {
        assert_eq!(raise_open_files(), getrlimit(Resource::Nofile).maximum);
    }
}
