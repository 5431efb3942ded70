//! What a call path is known for, each path for one thing only: so that what two rules could claim is counted once.
//! It never knows a program's own functions.

use crate::analysis::causes::{Cause, cause};
use crate::analysis::findings::families::{bare, is_allocator, is_kernel_spin, is_page_fault, is_user_spin, is_yield};
use crate::analysis::findings::holds::{Hold, asker, hold};
use crate::analysis::names::{CodeKind, Function};
use crate::model::TaskState;

/// What code on a CPU is known for; whoever is named first takes a path that fits several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Code {
    /// The memory allocator, and whatever it calls.
    Allocator,
    /// Page faults, and calls that change the address space, with the lock that both take.
    AddressSpace,
    /// The kernel's loops that wait for a lock.
    KernelSpin,
    /// Known loops of libraries that wait, and giving the CPU away to wait.
    UserSpin,
    /// Anything else in the kernel.
    Kernel,
    /// The program's own.
    Own,
}

/// What a blocked thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    /// A lock of the memory allocator.
    Allocator,
    /// The lock of the address space.
    AddressSpace,
    /// Another lock that another thread holds.
    Held,
    /// Another thread's signal, or a lock that no table knows.
    Signal,
    /// Another thread's end.
    Join,
    /// Storage.
    Storage,
    /// Anything else.
    Else,
}

impl Wait {
    /// Those that may make up the time blocked by locks; who joins others is no worker.
    pub const LOCKS: [Wait; 4] = [Wait::Allocator, Wait::AddressSpace, Wait::Held, Wait::Signal];
}

/// What a path on the CPU, root first, is known for, and the index of the function that tells.
pub(super) fn code(path: &[&Function]) -> (Code, usize) {
    let leaf = path.len().saturating_sub(1);
    let at = |family: fn(&Function) -> bool| path.iter().position(|function| family(function));
    let innermost = |family: fn(&Function) -> bool| path.last().is_some_and(|function| family(function));
    if let Some(at) = at(is_allocator) {
        (Code::Allocator, at)
    } else if at(is_page_fault).or_else(|| at(is_address_space)).is_some() {
        (Code::AddressSpace, leaf)
    } else if innermost(is_kernel_spin) {
        (Code::KernelSpin, leaf)
    } else if innermost(is_user_spin) {
        (Code::UserSpin, leaf)
    } else if let Some(at) = at(is_yield) {
        (Code::UserSpin, at)
    } else if innermost(|function| function.kind == CodeKind::Kernel) {
        (Code::Kernel, leaf)
    } else {
        (Code::Own, leaf)
    }
}

/// What a path off the CPU, root first, waits for, and the index of the function that asked for it.
pub(super) fn wait(path: &[&Function]) -> (Wait, usize) {
    let inwards = || path.iter().rev().copied();
    let names = |kernel: bool| {
        let chosen = inwards().filter(move |function| (function.kind == CodeKind::Kernel) == kernel);
        chosen.map(|function| function.name.as_str())
    };
    let at = path.len().saturating_sub(1).saturating_sub(asker(inwards()));
    let allocator = path.iter().position(|function| is_allocator(function));
    let waits = match cause(TaskState::Sleeping, names(true), names(false)) {
        Cause::Lock => match (allocator, hold(inwards())) {
            (Some(_), _) => Wait::Allocator,
            (None, Hold::Lock) if takes_address_space(path) => Wait::AddressSpace,
            (None, Hold::Lock) => Wait::Held,
            (None, Hold::Signal) => Wait::Signal,
            (None, Hold::Join) => Wait::Join,
        },
        Cause::BlockIo => Wait::Storage,
        _ => Wait::Else,
    };
    (waits, if waits == Wait::Allocator { allocator.unwrap_or(at) } else { at })
}

fn takes_address_space(path: &[&Function]) -> bool {
    let locks = |function: &&&Function| {
        let name = bare(&function.name);
        function.kind == CodeKind::Kernel && (name.starts_with("rwsem_") || name.starts_with("down_"))
    };
    let inside = |function: &&Function| is_page_fault(function) || is_address_space(function);
    path.iter().any(inside) && path.iter().any(|function| locks(&function))
}

/// System calls that change the address space.
fn is_address_space(function: &Function) -> bool {
    const CALLS: &[&str] = &["mmap", "munmap", "brk", "madvise", "mprotect", "mremap", "process_madvise"];
    let name = bare(&function.name);
    let call = ["x64_sys_", "arm64_sys_", "do_sys_", "ksys_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    function.kind == CodeKind::Kernel && call.is_some_and(|call| CALLS.contains(&call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::families::tests::function;

    fn check<C: PartialEq + std::fmt::Debug>(of: fn(&[&Function]) -> (C, usize), path: &str, expected: (C, usize)) {
        let functions: Vec<Function> = path.split(';').map(function).collect();
        let path_of: Vec<&Function> = functions.iter().collect();
        assert_eq!(of(&path_of), expected, "{path}");
    }

    #[test]
    fn a_path_on_the_cpu_is_known_for_one_thing() {
        let fault = "work;[kernel]!asm_exc_page_fault;[kernel]!handle_mm_fault";
        check(code, "main;work", (Code::Own, 1));
        check(code, "main;malloc;_int_malloc", (Code::Allocator, 1));
        check(code, &format!("{fault};[kernel]!clear_page_erms"), (Code::AddressSpace, 3));
        check(code, &format!("{fault};[kernel]!osq_lock"), (Code::AddressSpace, 3));
        check(code, "work;[kernel]!__x64_sys_munmap;[kernel]!osq_lock", (Code::AddressSpace, 2));
        check(code, "work;[kernel]!native_queued_spin_lock_slowpath", (Code::KernelSpin, 1));
        check(code, "work;pthread_spin_lock", (Code::UserSpin, 1));
        check(code, "work;sched_yield;[kernel]!schedule", (Code::UserSpin, 1));
        check(code, "work;[kernel]!__x64_sys_read;[kernel]!vfs_read", (Code::Kernel, 2));
        check(code, "", (Code::Own, 0));
        assert_eq!(code(&[]), (Code::Own, 0));
    }

    #[test]
    fn a_path_off_the_cpu_is_known_for_what_it_waits_for_and_who_asked() {
        let futex = "[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";
        let libc = |name: &str| format!("/usr/lib/libc.so.6!{name}");
        let mutex = format!("{};{}", libc("pthread_mutex_lock"), libc("__lll_lock_wait"));
        check(wait, &format!("main;take;{mutex};{futex}"), (Wait::Held, 1));
        check(wait, &format!("main;turn;{};{futex}", libc("pthread_cond_wait")), (Wait::Signal, 1));
        check(wait, &format!("main;{};{futex}", libc("__pthread_clockjoin_ex")), (Wait::Join, 0));
        check(wait, &format!("main;malloc;{};{futex}", libc("__lll_lock_wait_private")), (Wait::Allocator, 1));
        let down = "[kernel]!down_read;[kernel]!rwsem_down_read_slowpath;[kernel]!schedule";
        check(wait, &format!("main;touch;[kernel]!exc_page_fault;{down}"), (Wait::AddressSpace, 1));
        check(wait, &format!("main;list;[kernel]!__x64_sys_getdents;{down}"), (Wait::Held, 1));
        check(wait, "main;load;[kernel]!io_schedule;[kernel]!schedule", (Wait::Storage, 1));
        check(wait, "main;serve;[kernel]!ep_poll;[kernel]!schedule", (Wait::Else, 1));
        assert_eq!(wait(&[]), (Wait::Else, 0));
    }
}
