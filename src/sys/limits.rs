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

/// A thread of this nice value has the weight of nine others.
const PREFERRED: i32 = -10;

/// Raises the priority of this thread; leaves it as it is where that is not permitted.
pub fn prefer_this_thread() {
    let _ = setpriority_process(Some(gettid()), PREFERRED);
}

/// Takes back what [`prefer_this_thread`] did.
pub fn prefer_this_thread_no_more() {
    let _ = setpriority_process(Some(gettid()), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{geteuid, getpriority_process};

    #[test]
    fn only_this_thread_is_preferred_and_only_by_root() {
        let raised = std::thread::spawn(|| {
            prefer_this_thread();
            getpriority_process(Some(gettid())).ok()
        });
        let own = getpriority_process(None).ok();
        let expected = if geteuid().is_root() { Some(PREFERRED) } else { own };
        assert_eq!(raised.join().ok(), Some(expected));
        assert_eq!(getpriority_process(None).ok(), own);
    }

    #[test]
    fn the_soft_limit_ends_at_the_hard_one() {
        assert_eq!(raise_open_files(), getrlimit(Resource::Nofile).maximum);
    }
}
