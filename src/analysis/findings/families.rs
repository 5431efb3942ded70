//! Tables of well-known function names, each with the meaning of a sample in them. A function in no table, such as the
//! program's own, has no meaning here.

use crate::analysis::names::{CodeKind, Function};

/// Kernel loops that wait for a lock. Plain `_raw_spin_unlock*` functions are excluded: samples fall there only because
/// sampling is possible again.
pub(super) fn is_kernel_spin(function: &Function) -> bool {
    const NAMES: &[&str] = &[
        "native_queued_spin_lock_slowpath",
        "queued_spin_lock_slowpath",
        "pv_queued_spin_lock_slowpath",
        "queued_read_lock_slowpath",
        "queued_write_lock_slowpath",
        "osq_lock",
        "rwsem_spin_on_owner",
        "rwsem_optimistic_spin",
        "mutex_spin_on_owner",
        "mutex_can_spin_on_owner",
        "rtmutex_spin_on_owner",
        "pv_wait_head_or_lock",
        "kvm_wait",
        "virt_spin_lock",
    ];
    function.kind == CodeKind::Kernel && NAMES.contains(&bare(&function.name))
}

/// Library functions that wait actively.
pub(super) fn is_user_spin(function: &Function) -> bool {
    const WHOLE: &[&str] = &["cpu_relax", "do_spin", "s_lock", "perform_spin_delay", "ut_delay", "runtime.procyield"];
    const BEGINNINGS: &[&str] = &[
        "pthread_spin_lock",
        "SpinLock::",
        "absl::base_internal::SpinLock",
        "spinlock_lock",
        "spin_lock",
        "spin_wait",
        "core::hint::spin_loop",
        "crossbeam_utils::backoff::Backoff::",
        "kmp_wait_",
        "gomp_barrier_wait",
        "gomp_team_barrier_wait",
        "tbb::detail::d0::atomic_backoff",
    ];
    let name = bare(&function.name);
    function.kind != CodeKind::Kernel && (WHOLE.contains(&name) || begins(BEGINNINGS, name))
}

/// Functions that yield the CPU to try again.
pub(super) fn is_yield(function: &Function) -> bool {
    matches!(bare(&function.name), "sched_yield" | "osyield" | "do_sys_sched_yield" | "do_sched_yield")
}

/// Kernel functions that serve page faults.
pub(super) fn is_page_fault(function: &Function) -> bool {
    const NAMES: &[&str] = &[
        "asm_exc_page_fault",
        "exc_page_fault",
        "do_user_addr_fault",
        "handle_mm_fault",
        "do_page_fault",
        "do_mem_abort",
        "do_translation_fault",
    ];
    function.kind == CodeKind::Kernel && NAMES.contains(&bare(&function.name))
}

/// System calls that change the address space, and the functions inside them that remain visible after a tail call.
pub(super) fn is_address_space(function: &Function) -> bool {
    const CALLS: &[&str] = &["mmap", "munmap", "brk", "madvise", "mprotect", "mremap", "process_madvise"];
    const INSIDE: &[&str] = &["vm_mmap_pgoff", "ksys_mmap_pgoff", "vm_munmap", "do_mprotect_pkey", "do_madvise"];
    let name = bare(&function.name);
    let known = system_call(name).is_some_and(|call| CALLS.contains(&call)) || INSIDE.contains(&name);
    function.kind == CodeKind::Kernel && known
}

/// The system call that a kernel function serves, by its bare name.
fn system_call(name: &str) -> Option<&str> {
    ["x64_sys_", "arm64_sys_", "do_sys_", "ksys_"].iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Kernel functions that start, replace and end processes, and wait for their end.
pub(super) fn is_process(function: &Function) -> bool {
    const CALLS: &[&str] = &["fork", "vfork", "execve", "execveat", "exit_group", "wait4", "waitid"];
    const INSIDE: &[&str] = &[
        "kernel_clone",
        "do_execveat_common",
        "bprm_execve",
        "do_group_exit",
        "exit_mmap",
        "kernel_wait4",
        "kernel_waitid",
        "release_task",
    ];
    let name = bare(&function.name);
    function.kind == CodeKind::Kernel
        && (INSIDE.contains(&name) || system_call(name).is_some_and(|call| CALLS.contains(&call)))
}

/// Whether the function is one of the dynamic loader's.
pub(super) fn is_loader(function: &Function) -> bool {
    const NAMES: &[&str] = &["ld-linux", "ld-musl", "ld.so", "ld64.so", "ld-2."];
    let module = crate::analysis::names::short(&function.module);
    function.kind == CodeKind::User && NAMES.iter().any(|name| module.starts_with(name))
}

/// Kernel functions that flush translations on this CPU and on others, or because another CPU requested it. Arm's instruction
/// reaches all CPUs by itself. `tlb_flush_mmu` is excluded because it also frees the pages.
pub(super) fn is_tlb_flush(function: &Function) -> bool {
    const NAMES: &[&str] = &[
        "flush_tlb",
        "native_flush_tlb",
        "kvm_flush_tlb",
        "hyperv_flush_tlb",
        "xen_flush_tlb",
        "do_flush_tlb",
        "tlb_flush",
        "arch_tlbbatch_flush",
        "ptep_clear_flush",
        "pmdp_huge_clear_flush",
    ];
    let name = bare(&function.name);
    function.kind == CodeKind::Kernel && begins(NAMES, name) && name != "tlb_flush_mmu"
}

/// Kernel functions that receive an interrupt from another CPU with a function to call.
pub(super) fn is_ipi(function: &Function) -> bool {
    const NAMES: &[&str] = &["asm_sysvec_call_function", "sysvec_call_function", "flush_smp_call_function_queue"];
    function.kind == CodeKind::Kernel && begins(NAMES, bare(&function.name))
}

/// Kernel functions that clear fresh memory.
pub(super) fn is_clear_page(function: &Function) -> bool {
    const NAMES: &[&str] =
        &["clear_page", "clear_huge_page", "clear_highpage", "clear_user_highpage", "folio_zero_user"];
    function.kind == CodeKind::Kernel && begins(NAMES, bare(&function.name))
}

/// The memory allocators' own functions and their entry points.
pub(super) fn is_allocator(function: &Function) -> bool {
    const WHOLE: &[&str] = &[
        "malloc",
        "free",
        "calloc",
        "realloc",
        "reallocarray",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "cfree",
        "int_malloc",
        "int_free",
        "int_realloc",
        "int_memalign",
        "int_free_chunk",
        "int_free_merge_chunk",
        "int_free_maybe_consolidate",
        "int_free_create_chunk",
        "malloc_consolidate",
        "unlink_chunk",
        "sysmalloc",
        "systrim",
        "tcache_init",
        "operator new",
        "operator delete",
        "rust_alloc",
        "rust_dealloc",
        "rust_realloc",
        "rdl_alloc",
        "rdl_dealloc",
        "rdl_realloc",
        "runtime.mallocgc",
    ];
    const BEGINNINGS: &[&str] = &[
        "je_",
        "jemalloc",
        "tcmalloc::",
        "tc_malloc",
        "tc_free",
        "tc_new",
        "tc_delete",
        "tc_calloc",
        "tc_realloc",
        "mi_malloc",
        "mi_free",
        "mi_heap_",
        "mi_page_",
        "mi_segment_",
        "libc_malloc",
        "libc_free",
        "libc_calloc",
        "libc_realloc",
        "operator new(",
        "operator new[]",
        "operator delete(",
        "operator delete[]",
    ];
    let name = bare(&function.name);
    let allocates = || {
        let module = crate::analysis::names::short(&function.module);
        ["libjemalloc", "libtcmalloc", "libmimalloc"].iter().any(|library| module.starts_with(library))
    };
    function.kind == CodeKind::User
        && (WHOLE.contains(&name.trim_start_matches('_')) || begins(BEGINNINGS, name) || allocates())
}

/// The kind of kernel work, by the outermost kernel function that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum KernelEntry {
    SystemCall,
    PageFault,
    Interrupt,
}

/// The kind of kernel entry that this function shows.
pub(super) fn kernel_entry(function: &Function) -> Option<KernelEntry> {
    const CALLS: &[&str] = &["x64_sys_", "ia32_sys_", "arm64_sys_", "se_sys_", "do_sys_", "ksys_"];
    const INTERRUPTS: &[&str] = &[
        "asm_sysvec_",
        "sysvec_",
        "asm_common_interrupt",
        "common_interrupt",
        "irq_exit",
        "do_softirq",
        "el1_interrupt",
        "el0_interrupt",
    ];
    let name = bare(&function.name);
    if function.kind != CodeKind::Kernel {
        None
    } else if is_page_fault(function) {
        Some(KernelEntry::PageFault)
    } else if begins(CALLS, name) && name.trim_start_matches('_') != "x64_sys_call" {
        Some(KernelEntry::SystemCall)
    } else if begins(INTERRUPTS, name) {
        Some(KernelEntry::Interrupt)
    } else {
        None
    }
}

/// Functions that start a thread before its own code runs; also kernel functions and placeholders such as `[unknown]`.
pub(super) fn is_starter(function: &Function) -> bool {
    const WHOLE: &[&str] =
        &["clone", "clone3", "start_thread", "start", "thread_start", "execute_native_thread_routine"];
    let name = bare(&function.name);
    let named = WHOLE.contains(&name) || name.starts_with("libc_start_");
    named || function.kind == CodeKind::Kernel || function.name.starts_with('[')
}

/// The name without compiler and linker suffixes, `__GI_` and leading underscores.
pub(super) fn bare(name: &str) -> &str {
    let clone = || name.find(".isra.").or_else(|| name.find(".constprop.")).or_else(|| name.find(".part."));
    // Most names have no suffix: looking for one character is much cheaper than for three words.
    let end = name.contains('.').then(clone).flatten();
    let name = &name[..end.unwrap_or(name.len())];
    let name = name.split('@').next().unwrap_or(name);
    name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_')
}

/// Whether the bare name starts with one of these.
pub(super) fn begins(names: &[&str], bare: &str) -> bool {
    let first = bare.as_bytes().first();
    names.iter().any(|name| name.as_bytes().first() == first && bare.starts_with(name))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::SourceOwner;

    pub(in crate::analysis::findings) fn function(text: &str) -> Function {
        let (module, name) = text.split_once('!').unwrap_or(("/bin/app", text));
        let kind = if module == "[kernel]" { CodeKind::Kernel } else { CodeKind::User };
        Function { name: name.to_string(), module: module.to_string(), kind, source: SourceOwner::Unknown }
    }

    #[test]
    fn families_hold_their_members_and_no_namesakes() {
        type Family = fn(&Function) -> bool;
        let rows: [(Family, &[&str], &[&str]); 7] = [
            (
                is_kernel_spin,
                &[
                    "[kernel]!native_queued_spin_lock_slowpath",
                    "[kernel]!__pv_queued_spin_lock_slowpath",
                    "[kernel]!osq_lock",
                ],
                &["osq_lock", "[kernel]!_raw_spin_unlock_irqrestore", "[kernel]!_raw_spin_lock"],
            ),
            (is_user_spin, &["pthread_spin_lock", "SpinLock::Lock()"], &["spin_burn", "[kernel]!spin_lock"]),
            (
                is_yield,
                &["sched_yield", "__sched_yield", "[kernel]!__do_sys_sched_yield"],
                &["yield", "sched_yield_stats"],
            ),
            (is_page_fault, &["[kernel]!asm_exc_page_fault"], &["page_fault", "exc_page_fault"]),
            (is_clear_page, &["[kernel]!clear_page_erms", "[kernel]!clear_page_rep"], &["clear_page"]),
            (
                is_allocator,
                &[
                    "malloc",
                    "_int_free",
                    "je_malloc",
                    "operator new(unsigned long)",
                    "__libc_calloc",
                    "/l/libjemalloc.so.2!arena_x",
                ],
                &["malloc_stats_printer", "freeClient", "Arena::Allocate", "[kernel]!free", "operator newest"],
            ),
            (is_starter, &["start_thread", "__clone3", "_start", "__libc_start_main"], &["main", "start_worker"]),
        ];
        for (family, members, others) in rows {
            members.iter().for_each(|name| assert!(family(&function(name)), "{name}"));
            others.iter().for_each(|name| assert!(!family(&function(name)), "{name}"));
        }
    }

    #[test]
    fn the_way_into_the_kernel_has_a_name() {
        for (name, expected) in [
            ("[kernel]!__x64_sys_futex", Some(KernelEntry::SystemCall)),
            ("[kernel]!x64_sys_call", None),
            ("[kernel]!asm_exc_page_fault", Some(KernelEntry::PageFault)),
            ("[kernel]!asm_sysvec_apic_timer_interrupt", Some(KernelEntry::Interrupt)),
            ("__x64_sys_futex", None),
        ] {
            assert_eq!(kernel_entry(&function(name)), expected, "{name}");
        }
    }
}
