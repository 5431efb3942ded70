//! Assigns a blocked call path to the innermost function of the program's own, not to the lock and the libraries around
//! it, because that is where its author can act. Functions are judged by their origin only.

use super::types::{FunctionId, PathCost};
use crate::analysis::CodeKind;

/// File name prefixes of libraries through which every program waits.
const SYSTEM: &[&str] =
    &["libc.so", "libc-", "libc.musl", "libpthread", "ld-linux", "ld-musl", "ld-2.", "librt.so", "[vdso]"];
/// The same for runtimes: their own code shows little, but more than the C library's.
const RUNTIMES: &[&str] = &["libstdc++", "libc++", "libgcc_s", "libjvm.so", "libgomp", "libtbb"];
/// Prefixes of function names from standard libraries and from locks that are compiled into the program.
const WRAPPERS: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "parking_lot",
    "lock_api::",
    "crossbeam_utils::",
    "absl::",
    "folly::",
    "boost::",
    "gthread_",
    // Go.
    "runtime.",
    "sync.",
    "internal/",
    // Java, as the virtual machine and as perf maps write it.
    "java.",
    "jdk.",
    "Ljava/",
    "Ljdk/",
];

/// The function that a path's time is assigned to; `None` for a path without functions.
pub(super) fn owner(path: &PathCost) -> Option<&FunctionId> {
    path.frames.iter().rev().min_by_key(|function| distance(function))
}

/// Its distance from the program's own code.
fn distance(function: &FunctionId) -> u8 {
    let begins = |text: &str, with: &[&str]| with.iter().any(|beginning| text.starts_with(beginning));
    let name = function.name.trim_start_matches(['<', '&', '_', ' ']);
    match function.kind {
        CodeKind::Heading => 4,
        CodeKind::Kernel => 3,
        CodeKind::User if begins(&function.module, SYSTEM) => 2,
        CodeKind::User | CodeKind::Jit if begins(&function.module, RUNTIMES) || begins(name, WRAPPERS) => 1,
        // Code from an unknown file may be any of these.
        CodeKind::User if function.module.is_empty() => 1,
        CodeKind::User | CodeKind::Jit => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::cost;
    use super::*;

    #[test]
    fn a_wait_belongs_to_the_innermost_function_of_the_programs_own() {
        for (path, expected) in [
            ("main;work;libc.so.6!pthread_mutex_lock;[kernel]!futex_wait", "work"),
            ("main;work;std::sys::sync::mutex::futex::Mutex::lock_contended;[kernel]!futex_wait", "work"),
            ("main;work;<std::sync::Mutex<T>>::lock;libc.so.6!syscall;[kernel]!do_futex", "work"),
            ("main;db::put;libstdc++.so.6!std::condition_variable::wait;libc.so.6!pthread_cond_wait", "db::put"),
            ("main.serve;sync.(*Mutex).lockSlow;runtime.semacquire1;runtime.futex", "main.serve"),
            ("libz.so.1!deflate;libc.so.6!write;[kernel]!anon_pipe_write", "deflate"),
            ("libc.so.6!start_thread;libjvm.so!GCTaskThread::run;libc.so.6!pthread_cond_wait", "GCTaskThread::run"),
            ("libc.so.6!clone3;libc.so.6!start_thread;[kernel]!futex_wait", "start_thread"),
            ("[kernel]!kthread;[kernel]!worker_thread", "worker_thread"),
        ] {
            let name = cost(&[(path, 1.0, 1)]).paths.first().and_then(owner).map(|function| function.name.clone());
            assert_eq!(name.as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_path_without_functions_belongs_to_nobody() {
        assert_eq!(owner(&PathCost { frames: vec![], weight: 1.0, samples: 1, lock: None }), None);
    }
}
