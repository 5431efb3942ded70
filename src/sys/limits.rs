//! Limits of this process that sampling runs into: open descriptors, of which only the soft limit changes, and its share
//! of busy CPUs.

use rustix::process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit};
use rustix::thread::gettid;

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

/// The nice value of a thread that must not be late: it weighs as much as nine others.
pub const URGENT: i32 = -10;

/// Sets the nice value of this thread; leaves it as it is where that is not permitted.
pub fn set_nice(nice: i32) {
    let _ = setpriority_process(Some(gettid()), nice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{geteuid, getpriority_process};

    #[test]
    fn only_this_thread_becomes_urgent_and_only_of_root() {
        let raised = std::thread::spawn(|| {
            set_nice(URGENT);
            getpriority_process(Some(gettid())).ok()
        });
        let own = getpriority_process(None).ok();
        let expected = if geteuid().is_root() { Some(URGENT) } else { own };
        assert_eq!(raised.join().ok(), Some(expected));
        assert_eq!(getpriority_process(None).ok(), own);
    }

    #[test]
    fn the_soft_limit_ends_at_the_hard_one() {
        assert_eq!(raise_open_files(), getrlimit(Resource::Nofile).maximum);
    }
}
