//! Functions that a thread's stack begins in, by the names that runtimes and C libraries give them. A walk that ends in one
//! is whole, although no unwind table says so.

use crate::model::profile::Profile;
use crate::model::{StackEnd, StackId};

/// Sorted. glibc's and musl's starts of programs, threads and contexts (`makecontext`); Go's of goroutines and of its own
/// threads.
const NAMES: [&str; 19] = [
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main@@GLIBC_2.34",
    "__libc_start_main_impl",
    "__start_context",
    "_rt0_386_linux",
    "_rt0_amd64_linux",
    "_rt0_arm64_linux",
    "_start",
    "_start_c",
    "clone",
    "clone3",
    "libc_start_main_stage2",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "start_thread",
];

/// How a stack ended: one that a walk left in a function that threads start in is whole.
#[must_use]
pub fn stack_end(profile: &Profile, stack: Option<StackId>, end: StackEnd) -> StackEnd {
    if end == StackEnd::Broken && begins_with_its_thread(profile, stack) { StackEnd::Whole } else { end }
}

/// Whether a thread starts in the outermost function of a stack.
fn begins_with_its_thread(profile: &Profile, stack: Option<StackId>) -> bool {
    let outermost = profile.walk(stack).last();
    let name = outermost.and_then(|frame| profile.names_at(frame).last());
    name.is_some_and(|symbol| is_thread_start(&symbol.function))
}

fn is_thread_start(function: &str) -> bool {
    // Go marks functions that keep the old calling convention.
    let name = function.strip_suffix(".abi0").unwrap_or(function);
    NAMES.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_known_by_their_whole_names() {
        assert!(NAMES.is_sorted());
        for name in ["runtime.goexit", "runtime.goexit.abi0", "_start", "__clone3", "start_thread"] {
            assert!(is_thread_start(name), "{name}");
        }
        for name in ["main", "main.main", "runtime.goexit0", "clone_tree", "start", "", "runtime.main"] {
            assert!(!is_thread_start(name), "{name}");
        }
    }
}
