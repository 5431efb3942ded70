//! Classifies call paths. Each path has exactly one class, so that no two rules count the same time.

use super::code_path::{CodeClass, CodePath, Families};
use super::families::is_allocator;
use super::wait_targets::{WaitTarget, is_signal, requester, wait_target};
use crate::analysis::LockCalls;
use crate::analysis::causes::{Cause, cause, is_mmap_lock_wait};
use crate::analysis::names::{CodeKind, Function};
use crate::model::TaskState;

/// What a blocked thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum WaitReason {
    /// A lock of the memory allocator; in a recording it counts as any other lock.
    Allocator,
    /// A lock that another thread holds.
    Lock,
    /// mmap_lock, the lock of the address space.
    MmapLock,
    /// Another thread's signal (a condition variable, a semaphore), or a futex of unknown use.
    Signal,
    /// Another thread's exit.
    Join,
    /// Storage.
    Storage,
    /// A socket, pipe or terminal; a sweep counts it as any other reason.
    Peer,
    /// Anything else: sleep, events, stops.
    Other,
}

impl WaitReason {
    /// Waits that may make up the time blocked by locks. A thread that joins others is not a worker.
    pub const LOCKS: [WaitReason; 4] =
        [WaitReason::Allocator, WaitReason::MmapLock, WaitReason::Lock, WaitReason::Signal];
}

/// The class of an on-CPU path, root first, and the index of the function that decides it.
pub(super) fn code_class(path: &[&Function]) -> (CodeClass, usize) {
    path.iter().fold(CodePath::default(), |path, function| path.then(Families::of(function))).class()
}

/// The same with the part of the path that a lock has by its code.
pub(super) fn code_class_by(path: &[&Function], lock: Option<LockCalls>) -> (CodeClass, usize) {
    let (class, at) = code_class(path);
    match lock_taker(path, lock).filter(|_| class.may_be_lock()) {
        Some(taker) => (CodeClass::Lock, taker),
        None => (class, at),
    }
}

/// The index of the function that takes the lock of a path, root first; `None` where the path has none, or where names show
/// that it waits for something else.
pub(super) fn lock_taker(path: &[&Function], lock: Option<LockCalls>) -> Option<usize> {
    let inner = (lock?.calls as usize).min(path.len());
    // What waits for a signal is called by few others before the program's own code.
    if path.iter().rev().take(inner + 2).any(|function| is_signal(function)) {
        return None;
    }
    let outside = path.get(..path.len() - inner).filter(|outside| !outside.is_empty());
    let taker = |outside: &[&Function]| outside.len() - 1 - requester(outside.iter().rev().copied());
    outside.map_or(path.len().checked_sub(1), |outside| Some(taker(outside)))
}

/// What a thread in a lock's system call waits for, by its path, root first.
pub(super) fn lock_wait_reason(path: &[&Function]) -> WaitReason {
    match wait_target(path.iter().rev().copied()) {
        WaitTarget::Lock if waits_for_mmap_lock(path) => WaitReason::MmapLock,
        WaitTarget::Lock => WaitReason::Lock,
        WaitTarget::Signal => WaitReason::Signal,
        WaitTarget::Join => WaitReason::Join,
    }
}

/// The wait of an off-CPU path, root first, and the index of the function that requested it, with the part of the path that a
/// lock has by its code.
pub(super) fn wait_reason_by(path: &[&Function], lock: Option<LockCalls>) -> (WaitReason, usize) {
    let (reason, at) = wait_reason(path);
    match lock_taker(path, lock) {
        Some(taker) if matches!(reason, WaitReason::Signal | WaitReason::Lock) => (WaitReason::Lock, taker),
        _ => (reason, at),
    }
}

/// The wait of an off-CPU path, root first, and the index of the function that requested it.
pub(super) fn wait_reason(path: &[&Function]) -> (WaitReason, usize) {
    let inwards = || path.iter().rev().copied();
    let names = |kernel: bool| {
        let chosen = inwards().filter(move |function| (function.kind == CodeKind::Kernel) == kernel);
        chosen.map(|function| function.name.as_str())
    };
    let at = path.len().saturating_sub(1).saturating_sub(requester(inwards()));
    let allocator = path.iter().position(|function| is_allocator(function));
    let waits = match cause(TaskState::Sleeping, names(true), names(false)) {
        Cause::Lock if allocator.is_some() => WaitReason::Allocator,
        Cause::Lock => lock_wait_reason(path),
        Cause::BlockIo => WaitReason::Storage,
        _ => WaitReason::Other,
    };
    (waits, if waits == WaitReason::Allocator { allocator.unwrap_or(at) } else { at })
}

/// Whether a path, root first, takes or releases mmap_lock or the lock of one of its VMAs.
fn takes_mmap_lock(path: &[&Function]) -> bool {
    path.iter().fold(CodePath::default(), |path, function| path.then(Families::of(function))).takes_mmap_lock()
}

/// The same for a blocked thread, whose stack may omit the lock's own functions.
fn waits_for_mmap_lock(path: &[&Function]) -> bool {
    path.last().is_some_and(|function| is_mmap_lock_wait(&function.name)) || takes_mmap_lock(path)
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
        check(code_class, "main;work", (CodeClass::Own, 1));
        check(code_class, "main;malloc;_int_malloc", (CodeClass::Allocator, 1));
        check(code_class, &format!("{fault};[kernel]!clear_page_erms"), (CodeClass::AddressSpace, 3));
        check(code_class, &format!("{fault};[kernel]!osq_lock"), (CodeClass::MmapLock, 3));
        check(code_class, "work;[kernel]!__x64_sys_munmap;[kernel]!osq_lock", (CodeClass::MmapLock, 2));
        check(code_class, "work;[kernel]!native_queued_spin_lock_slowpath", (CodeClass::KernelSpin, 1));
        check(code_class, "work;pthread_spin_lock", (CodeClass::UserSpin, 1));
        check(code_class, "work;sched_yield;[kernel]!schedule", (CodeClass::UserSpin, 1));
        check(code_class, "work;[kernel]!__x64_sys_read;[kernel]!vfs_read", (CodeClass::Kernel, 2));
        check(code_class, "work;memcpy;[kernel]!asm_sysvec_apic_timer_interrupt", (CodeClass::Kernel, 2));
        check(code_class, "", (CodeClass::Own, 0));
        assert_eq!(code_class(&[]), (CodeClass::Own, 0));
    }

    /// Stacks from Linux 6.1 and 6.18, and from Arm kernels, which flush without interrupts.
    #[test]
    fn the_kernels_work_on_the_address_space_is_told_apart() {
        let call = "work;[kernel]!do_syscall_64;[kernel]!vm_mmap_pgoff";
        for (path, expected) in [
            (format!("{call};[kernel]!down_write_killable;[kernel]!rwsem_down_write_slowpath"), CodeClass::MmapLock),
            (
                format!("{call};[kernel]!up_write;[kernel]!rwsem_wake.isra.0;[kernel]!try_to_wake_up"),
                CodeClass::MmapLock,
            ),
            (format!("{call};[kernel]!do_mmap;[kernel]!__mmap_region;[kernel]!mas_store"), CodeClass::AddressSpace),
            (
                format!("{call};[kernel]!__split_vma;[kernel]!anon_vma_clone;[kernel]!down_write"),
                CodeClass::AddressSpace,
            ),
            ("work;[kernel]!exc_page_fault;[kernel]!lock_mm_and_find_vma".to_string(), CodeClass::MmapLock),
            ("work;[kernel]!exc_page_fault;[kernel]!lock_vma_under_rcu".to_string(), CodeClass::MmapLock),
            (
                "work;[kernel]!do_mprotect_pkey;[kernel]!flush_tlb_mm_range;[kernel]!smp_call_function_many_cond"
                    .to_string(),
                CodeClass::TlbFlush,
            ),
            (
                format!("{call};[kernel]!osq_lock;[kernel]!asm_sysvec_call_function;[kernel]!flush_tlb_func"),
                CodeClass::TlbFlush,
            ),
            ("work;[kernel]!asm_sysvec_call_function_single".to_string(), CodeClass::Ipi),
            ("work;[kernel]!__arm64_sys_munmap;[kernel]!tlb_flush".to_string(), CodeClass::TlbFlush),
            (
                "work;[kernel]!__arm64_sys_munmap;[kernel]!tlb_flush_mmu;[kernel]!free_pages".to_string(),
                CodeClass::AddressSpace,
            ),
            ("work;[kernel]!__x64_sys_membarrier;[kernel]!smp_call_function_many_cond".to_string(), CodeClass::Kernel),
        ] {
            let functions: Vec<Function> = path.split(';').map(function).collect();
            assert_eq!(code_class(&functions.iter().collect::<Vec<_>>()).0, expected, "{path}");
        }
    }

    #[test]
    fn a_locks_own_costs_belong_to_who_takes_it() {
        let libc = |name: &str| format!("/usr/lib/libc.so.6!{name}");
        let futex = "[kernel]!__x64_sys_futex;[kernel]!do_futex";
        let (lock, unlock) = (libc("pthread_mutex_lock"), libc("__GI___pthread_mutex_unlock_usercnt"));
        for (path, expected) in [
            (format!("main;take;{lock}"), (CodeClass::Lock, 1)),
            (
                format!("main;take;{unlock};{};{futex};[kernel]!futex_wake", libc("__GI___lll_lock_wake")),
                (CodeClass::Lock, 1),
            ),
            (format!("main;take;{lock};{futex};[kernel]!native_queued_spin_lock_slowpath"), (CodeClass::Lock, 1)),
            (format!("main;take;{lock};{futex};[kernel]!futex_wait;[kernel]!finish_task_switch"), (CodeClass::Lock, 1)),
            (format!("main;turn;{};{futex};[kernel]!futex_wait", libc("pthread_cond_wait")), (CodeClass::Signal, 1)),
            (format!("main;own_lock;{};{futex};[kernel]!futex_wake", libc("syscall")), (CodeClass::Signal, 1)),
            (format!("main;build;malloc;{};{futex}", libc("__lll_lock_wait_private")), (CodeClass::Allocator, 2)),
        ] {
            check(code_class, &path, expected);
        }
    }

    #[test]
    fn a_path_off_the_cpu_is_known_for_what_it_waits_for_and_who_asked() {
        let futex = "[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";
        let libc = |name: &str| format!("/usr/lib/libc.so.6!{name}");
        let mutex = format!("{};{}", libc("pthread_mutex_lock"), libc("__lll_lock_wait"));
        check(wait_reason, &format!("main;take;{mutex};{futex}"), (WaitReason::Lock, 1));
        check(wait_reason, &format!("main;turn;{};{futex}", libc("pthread_cond_wait")), (WaitReason::Signal, 1));
        check(wait_reason, &format!("main;{};{futex}", libc("__pthread_clockjoin_ex")), (WaitReason::Join, 0));
        check(
            wait_reason,
            &format!("main;malloc;{};{futex}", libc("__lll_lock_wait_private")),
            (WaitReason::Allocator, 1),
        );
        let down = "[kernel]!down_read;[kernel]!rwsem_down_read_slowpath;[kernel]!schedule";
        check(wait_reason, &format!("main;touch;[kernel]!exc_page_fault;{down}"), (WaitReason::MmapLock, 1));
        check(wait_reason, "main;touch;[kernel]!lock_mm_and_find_vma", (WaitReason::MmapLock, 1));
        check(
            wait_reason,
            &format!("main;unmap;{};[kernel]!sys_munmap;[kernel]!__vm_munmap", libc("munmap")),
            (WaitReason::MmapLock, 1),
        );
        check(wait_reason, &format!("main;list;[kernel]!__x64_sys_getdents;{down}"), (WaitReason::Lock, 1));
        check(wait_reason, "main;load;[kernel]!io_schedule;[kernel]!schedule", (WaitReason::Storage, 1));
        check(wait_reason, "main;serve;[kernel]!ep_poll;[kernel]!schedule", (WaitReason::Other, 1));
        assert_eq!(wait_reason(&[]), (WaitReason::Other, 0));
    }
}
