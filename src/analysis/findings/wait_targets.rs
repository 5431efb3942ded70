//! Derives from the names on a stack what a thread in a futex or kernel lock waits for, and which function requested
//! it. A wait that is in no table counts as one for a signal, which blames no lock.

use super::families::{bare, begins, is_starter};
use crate::analysis::causes::is_mmap_lock_wait;
use crate::analysis::names::{CodeKind, Function, SourceOwner};

/// What a thread in a lock's system call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitTarget {
    /// A lock that another thread holds.
    Lock,
    /// A signal from another thread.
    Signal,
    /// The exit of another thread.
    Join,
}

/// Library functions that wait for a lock; a prefix suffices.
const LOCKS: &[&str] = &[
    "lll_lock_wait",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_mutex_cond_lock",
    "pthread_rwlock_",
    "std::mutex::lock",
    "std::sys::sync::mutex::",
    "std::sys::sync::rwlock::",
    "parking_lot::raw_mutex",
    "parking_lot::raw_rwlock",
    "je_malloc_mutex_lock_slow",
    "malloc_mutex_lock_slow",
    "ObjectMonitor::enter",
    "ObjectSynchronizer::enter",
    "Monitor::lock",
    "runtime.lock2",
    "take_gil",
    "uv_mutex_lock",
];

/// Library functions that release a lock and wake its waiters.
const UNLOCKS: &[&str] = &[
    "lll_lock_wake",
    "lll_unlock_wake",
    "pthread_mutex_unlock",
    "pthread_mutex_cond_unlock",
    "std::mutex::unlock",
    "ObjectMonitor::exit",
    "ObjectSynchronizer::exit",
    "runtime.unlock2",
    "drop_gil",
    "uv_mutex_unlock",
];

/// The same within a versioned namespace.
const LOCKS_WITHIN: &[&str] = &["::Mutex::LockSlow", "::Mutex::UnlockSlow", "::SharedMutexImpl"];

/// Kernel functions that wait for a lock.
const KERNEL_LOCKS: &[&str] = &[
    "rwsem_",
    "down",
    "mutex_lock",
    "ww_mutex_lock",
    "percpu_rwsem_wait",
    "rt_mutex_",
    "rt_spin_lock",
    "futex_lock_pi",
    "fcntl_setlk",
    "locks_lock_inode_wait",
    "flock_lock_inode_wait",
];

/// Library functions that wait for a signal, though their code takes the same steps as a lock's.
const SIGNALS: &[&str] = &[
    "pthread_cond_",
    "pthread_barrier_",
    "pthread_join",
    "pthread_clockjoin",
    "pthread_timedjoin",
    "pthread_once",
    "sem_",
    "new_sem_",
    "do_futex_wait",
    "cnd_",
    "gomp_",
    "kmp_",
    "std::condition_variable",
    "std::sys::sync::condvar::",
    "std::sys::sync::thread_parking::",
    "std::sys::sync::once::",
    "runtime.notesleep",
    "runtime.notetsleep",
    "runtime.notewakeup",
    "runtime.stopm",
];

const JOINS: &[&str] = &["pthread_join", "pthread_clockjoin", "pthread_timedjoin", "thread_join"];

/// Wrappers of runtimes and languages around a wait.
const WRAPPERS: &[&str] = &[
    "os::PlatformEvent::",
    "Parker::",
    "Unsafe_Park",
    "PlatformMonitor::",
    "PlatformMutex::",
    "ObjectMonitor::",
    "ObjectSynchronizer::",
    "SharedRuntime::complete_monitor",
    "std::condition_variable",
    "std::sys::",
    "std::thread::park",
    "std::mutex::",
    "parking_lot",
    "uv_cond_",
    "uv_sem_",
    "uv_mutex_",
    "runtime.futex",
    "syscall",
    "gthread_",
    "std::lock_guard",
    "std::unique_lock",
    "std::scoped_lock",
    "std::shared_lock",
    "std::shared_mutex",
    "std::recursive_mutex",
    "std::sync::",
    "core::sync::atomic",
    "lock_api::",
    "sync.(*Mutex)",
    "sync.(*RWMutex)",
    "internal/sync.(*Mutex)",
];

/// Number of innermost program functions that are examined.
pub(super) const EXAMINED: usize = 10;

/// What a futex or kernel lock wait is for. Locks are built on condition variables, so a lock function further out
/// decides. Anything unknown counts as a signal, which blames no lock.
pub(super) fn wait_target<'a>(innermost_first: impl Iterator<Item = &'a Function>) -> WaitTarget {
    let mut wait_target = WaitTarget::Signal;
    let mut user = 0;
    for (at, function) in innermost_first.enumerate() {
        let name = bare(&function.name);
        if function.kind == CodeKind::Kernel {
            if begins(KERNEL_LOCKS, name) || at == 0 && is_mmap_lock_wait(name) {
                return WaitTarget::Lock;
            }
            continue;
        }
        user += 1;
        if user > EXAMINED {
            break;
        }
        if is_lock(name) {
            return WaitTarget::Lock;
        }
        if begins(JOINS, name) {
            wait_target = WaitTarget::Join;
        }
    }
    wait_target
}

fn is_lock(name: &str) -> bool {
    begins(LOCKS, name) || LOCKS_WITHIN.iter().any(|part| name.contains(part))
}

/// Whether a program function waits for a signal or sends one.
pub(super) fn is_signal(function: &Function) -> bool {
    function.kind != CodeKind::Kernel && begins(SIGNALS, bare(&function.name))
}

/// Whether a program function takes or releases a lock.
pub(super) fn is_lock_code(name: &str) -> bool {
    is_lock(name) || begins(UNLOCKS, name)
}

/// Whether a kernel function belongs to the futex system call.
pub(super) fn is_futex(name: &str) -> bool {
    name == "do_futex" || name.starts_with("futex_")
}

/// Whether a program function only implements a wait.
pub(super) fn is_wrapper(name: &str) -> bool {
    [WRAPPERS, LOCKS, UNLOCKS, JOINS].iter().any(|names| begins(names, name))
}

/// Index of the function that requested the wait, innermost first. Every wait contains C library functions, runtime
/// wrappers and thread start functions, so one of these is returned only if there is no other. A library that the program
/// contains waits for who calls it.
pub(in crate::analysis) fn requester<'a>(innermost_first: impl Iterator<Item = &'a Function>) -> usize {
    let (mut library, mut outside, mut user) = (None, None, None);
    for (at, function) in innermost_first.enumerate() {
        if function.kind == CodeKind::Kernel {
            continue;
        }
        user = user.or(Some(at));
        if is_c_library(function) || is_starter(function) {
            continue;
        }
        outside = outside.or(Some(at));
        if is_wrapper(bare(&function.name)) {
            continue;
        }
        match function.source {
            SourceOwner::Library => library = library.or(Some(at)),
            SourceOwner::Program => return at,
            SourceOwner::Unknown => return library.unwrap_or(at),
        }
    }
    library.or(outside).or(user).unwrap_or(0)
}

/// Whether the function belongs to the C library or its companion libraries: its caller is more informative.
pub(in crate::analysis) fn is_c_library(function: &Function) -> bool {
    let module = crate::analysis::names::short(&function.module);
    let libraries = ["libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "libstdc++", "[vdso]"];
    libraries.iter().any(|name| module.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::super::families::tests::function;
    use super::*;

    #[test]
    fn a_futex_is_a_lock_a_signal_or_an_end_by_who_asked_for_it() {
        for (stack, expected) in [
            ("[kernel]!futex_wait;__lll_lock_wait;___pthread_mutex_lock;worker", WaitTarget::Lock),
            ("[kernel]!futex_wait;__futex_abstimed_wait_common;__pthread_cond_wait;worker", WaitTarget::Signal),
            ("[kernel]!futex_wait;__GI___lll_lock_wait;__pthread_mutex_cond_lock;pthread_cond_wait", WaitTarget::Lock),
            ("[kernel]!futex_wait;__futex_abstimed_wait_common;__pthread_clockjoin_ex;main", WaitTarget::Join),
            ("[kernel]!schedule;[kernel]!rwsem_down_read_slowpath;[kernel]!down_read;main", WaitTarget::Lock),
            ("[kernel]!futex_wait;syscall;parking_lot::raw_mutex::RawMutex::lock_slow;main", WaitTarget::Lock),
            ("[kernel]!futex_wait;__futex_abstimed_wait_common;pthread_cond_timedwait;take_gil;eval", WaitTarget::Lock),
            ("[kernel]!futex_wait;runtime.futex.abi0;runtime.futexsleep;runtime.stopm", WaitTarget::Signal),
            ("[kernel]!futex_wait;something;own_lock", WaitTarget::Signal),
        ] {
            let functions: Vec<_> = stack.split(';').map(function).collect();
            assert_eq!(wait_target(functions.iter()), expected, "{stack}");
        }
    }

    #[test]
    fn a_wait_belongs_to_the_function_that_asked_for_it() {
        let libc = |name: &str| format!("/usr/lib/libc.so.6!{name}");
        for (stack, own) in [
            (format!("[kernel]!futex_wait;{};wait_for_turn;{}", libc("pthread_cond_wait"), libc("start_thread")), 2),
            (format!("[kernel]!futex_wait;{};take_gil;eval;main", libc("pthread_cond_timedwait")), 3),
            (format!("[kernel]!futex_wait;{};os::PlatformEvent::park();[jit]![unresolved]", libc("futex_wait")), 2),
            (format!("[kernel]!futex_wait;{};{}", libc("futex_wait"), libc("start_thread")), 1),
            ("[kernel]!worker_thread;[kernel]!kthread".to_string(), 0),
        ] {
            let functions: Vec<_> = stack.split(';').map(function).collect();
            assert_eq!(requester(functions.iter()), own, "{stack}");
        }
    }

    #[test]
    fn a_library_in_the_program_waits_for_the_function_that_calls_it() {
        let of = |stack: &str| {
            let made = |text: &str| {
                let (source, name) = text.split_once(':').unwrap_or(("", text));
                let source = match source {
                    "own" => SourceOwner::Program,
                    "lib" => SourceOwner::Library,
                    _ => SourceOwner::Unknown,
                };
                Function { source, ..function(name) }
            };
            let functions: Vec<_> = stack.split(';').map(made).collect();
            requester(functions.iter())
        };
        assert_eq!(of("[kernel]!futex_wait;lib:park;lib:acquire;own:update;own:work"), 3);
        assert_eq!(of("[kernel]!futex_wait;lib:park;lib:acquire;update;own:work"), 1, "what lies between is not known");
        assert_eq!(of("[kernel]!futex_wait;lib:park;lib:serve;main;start_thread"), 1, "all of it comes from a package");
        assert_eq!(of("[kernel]!futex_wait;wait_here;lib:serve;own:work"), 1);
    }
}
