//! Classifies on-CPU paths call by call from the root: a path differs from its caller's by one function, and what that
//! function means is known once per function. So the class of a stack costs one step, however deep it is.

use super::families::{
    KernelEntry, bare, begins, is_address_space, is_allocator, is_ipi, is_kernel_spin, is_loader, is_page_fault,
    is_process, is_starter, is_tlb_flush, is_user_spin, is_yield, kernel_entry,
};
use super::fault_kinds::FaultKind;
use super::wait_targets::{EXAMINED, is_c_library, is_futex, is_lock_code, is_wrapper};
use crate::analysis::names::{CodeKind, Function, SourceOwner};

/// The class of code on a CPU. A path that matches several has the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum CodeClass {
    /// The memory allocator, and everything it calls.
    Allocator,
    /// Taking and releasing a sleeping lock: its own spinning, its system calls, the hand-over below them.
    Lock,
    /// The own code of a function that takes a lock: what it does with the lock.
    Section,
    /// Waiting for and sending another thread's signal, likewise: condition variables, semaphores and joins.
    Signal,
    /// Flushing translations on other CPUs, or on this one because another CPU requested it.
    TlbFlush,
    /// An interrupt from another CPU whose request is not visible.
    Ipi,
    /// mmap_lock, the lock of the address space: spinning and sleeping for it, and waking its waiters.
    MmapLock,
    /// Starting and ending processes: in the kernel, and in the dynamic loader before the program begins.
    Process,
    /// Page faults, and calls that change the address space.
    AddressSpace,
    /// Kernel loops that wait for another lock.
    KernelSpin,
    /// Known library loops that wait, and yielding the CPU to wait.
    UserSpin,
    /// Any other kernel code.
    Kernel,
    /// The program's own code.
    Own,
}

impl CodeClass {
    /// Whether lock code may look like this by its name.
    pub fn may_be_lock(self) -> bool {
        use CodeClass::{Kernel, Lock, Own, Signal, UserSpin};
        matches!(self, Lock | Signal | UserSpin | Kernel | Own)
    }
}

/// The families that a function belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Families(u32);

macro_rules! families {
    ($($name:ident = $bit:literal),* $(,)?) => { $(pub const $name: Families = Families(1 << $bit);)* };
}

impl Families {
    families! {
        KERNEL = 0, ALLOCATOR = 1, LOCK_CODE = 2, FUTEX = 3, TLB_FLUSH = 4, IPI = 5, PAGE_FAULT = 6, ADDRESS_SPACE = 7,
        MMAP_LOCKS = 8, OTHER_LOCKS = 9, KERNEL_SPIN = 10, USER_SPIN = 11, YIELD = 12, LIBRARY = 13, WRAPPER = 14,
        SYSTEM_CALL = 15, INTERRUPT = 16, LOCK_BELOW = 17, OTHERS_BELOW = 18, NUMA_HINT = 19, SWAP_FAULT = 20,
        FILE_FAULT = 21, COPY_FAULT = 22, HUGE_FAULT = 23, FRESH_FAULT = 24,
        PROCESS = 25, LOADER = 26, LOADING = 27, OF_LIBRARY = 28, OF_PROGRAM = 29,
    }

    /// Every family of a function, by its name, its module and where it lives.
    pub fn of(function: &Function) -> Families {
        const MMAP_LOCKS: &[&str] = &[
            "rwsem_",
            "down_",
            "up_",
            "osq_lock",
            "downgrade_write",
            "vma_start_",
            "vma_enter_locked",
            "lock_mm_and_find_vma",
            "lock_vma_under_rcu",
            "mmap_read_",
            "mmap_write_",
            "mmap_lock_",
        ];
        // Locks of files and of reverse mappings below the same calls are different locks.
        const OTHER_LOCKS: &[&str] =
            &["anon_vma_", "unlink_anon_vmas", "i_mmap_", "unlink_file_vma", "rmap_walk", "try_to_unmap"];
        let (name, kernel) = (bare(&function.name), function.kind == CodeKind::Kernel);
        let entry = kernel_entry(function);
        let mut bits = 0;
        let mut put = |family: Families, is_in: bool| bits |= if is_in { family.0 } else { 0 };
        put(Families::YIELD, is_yield(function));
        put(Families::MMAP_LOCKS, begins(MMAP_LOCKS, name));
        put(Families::OTHER_LOCKS, begins(OTHER_LOCKS, name));
        if kernel {
            put(Families::KERNEL, true);
            put(Families::FUTEX, is_futex(name));
            put(Families::TLB_FLUSH, is_tlb_flush(function));
            put(Families::IPI, is_ipi(function));
            put(Families::PAGE_FAULT, is_page_fault(function));
            put(Families::ADDRESS_SPACE, is_address_space(function));
            put(Families::PROCESS, is_process(function));
            put(Families::KERNEL_SPIN, is_kernel_spin(function));
            put(Families::SYSTEM_CALL, entry == Some(KernelEntry::SystemCall));
            put(Families::INTERRUPT, entry == Some(KernelEntry::Interrupt));
            FaultKind::of(name).into_iter().for_each(|kind| put(Families::of_fault(kind), true));
        } else {
            put(Families::ALLOCATOR, is_allocator(function));
            put(Families::LOCK_CODE, is_lock_code(name));
            put(Families::USER_SPIN, is_user_spin(function));
            put(Families::LIBRARY, is_c_library(function) || is_starter(function));
            put(Families::WRAPPER, is_wrapper(name));
            put(Families::LOADER, is_loader(function));
            put(Families::OF_LIBRARY, matches!(function.source, SourceOwner::Library));
            put(Families::OF_PROGRAM, matches!(function.source, SourceOwner::Program));
        }
        Families(bits)
    }

    /// The functions that serve faults of this kind.
    fn of_fault(kind: FaultKind) -> Families {
        match kind {
            FaultKind::NumaHint => Families::NUMA_HINT,
            FaultKind::Swap => Families::SWAP_FAULT,
            FaultKind::File => Families::FILE_FAULT,
            FaultKind::Copy => Families::COPY_FAULT,
            FaultKind::Huge => Families::HUGE_FAULT,
            FaultKind::Fresh => Families::FRESH_FAULT,
        }
    }

    /// Whether it belongs to any of these families.
    #[inline]
    pub fn any(self, of: Families) -> bool {
        self.0 & of.0 != 0
    }

    #[inline]
    fn and(self, other: Families) -> Families {
        Families(self.0 | other.0)
    }
}

/// No call of a path.
const NONE: u32 = u32::MAX;

/// A path from its root to some call, reduced to what its class depends on. Calls are counted from the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodePath {
    /// Number of calls.
    pub calls: u32,
    /// The outermost calls in these families.
    allocator: u32,
    yields: u32,
    fault: u32,
    entry: u32,
    entry_kind: KernelEntry,
    /// The innermost program function; the innermost outside the C library and its like; and the innermost of these
    /// that does not only implement a wait, or who calls it where it belongs to a library that the program contains.
    user: u32,
    outside: u32,
    requester: u32,
    /// Whether that is the program's own by its source, or calls a library from there.
    is_own: bool,
    /// The families of all calls, and those of calls below the first that serves the address space.
    seen: Families,
    /// The families of the innermost call.
    pub leaf: Families,
    /// Program functions from the innermost lock function inwards, and below the innermost futex function.
    since_lock: u8,
    since_futex: u8,
    /// Whether the innermost three calls receive an interrupt from another CPU, one bit each.
    ipi: u8,
}

impl Default for CodePath {
    fn default() -> Self {
        CodePath {
            calls: 0,
            allocator: NONE,
            yields: NONE,
            fault: NONE,
            entry: NONE,
            entry_kind: KernelEntry::SystemCall,
            user: NONE,
            outside: NONE,
            requester: NONE,
            is_own: false,
            seen: Families::default(),
            leaf: Families::default(),
            since_lock: u8::MAX,
            since_futex: u8::MAX,
            ipi: 0,
        }
    }
}

impl CodePath {
    /// The path that continues with a function of these families.
    #[inline]
    #[must_use]
    pub fn then(mut self, next: Families) -> CodePath {
        type F = Families;
        let at = self.calls;
        if next == F::default() || next == F::OF_PROGRAM {
            return self.then_plain(next);
        }
        let outermost = |place: &mut u32, family: F| {
            if *place == NONE && next.any(family) {
                *place = at;
            }
        };
        self.see(at == 0 && next.any(F::LOADER), F::LOADING);
        outermost(&mut self.allocator, F::ALLOCATOR);
        outermost(&mut self.yields, F::YIELD);
        outermost(&mut self.fault, F::PAGE_FAULT);
        if self.entry == NONE && next.any(F::PAGE_FAULT.and(F::SYSTEM_CALL).and(F::INTERRUPT)) {
            self.entry = at;
            self.entry_kind = match next {
                next if next.any(F::PAGE_FAULT) => KernelEntry::PageFault,
                next if next.any(F::SYSTEM_CALL) => KernelEntry::SystemCall,
                _ => KernelEntry::Interrupt,
            };
        }
        if self.seen.any(F::PAGE_FAULT.and(F::ADDRESS_SPACE)) {
            self.see(next.any(F::MMAP_LOCKS), F::LOCK_BELOW);
            self.see(next.any(F::OTHER_LOCKS), F::OTHERS_BELOW);
        }
        if next.any(F::KERNEL) {
            if next.any(F::FUTEX) {
                self.since_futex = 0;
            }
        } else {
            self.user_call(next, at);
        }
        self.ipi = (self.ipi << 1 | u8::from(next.any(F::IPI))) & 0b111;
        self.seen = self.seen.and(next);
        self.leaf = next;
        self.calls += 1;
        self
    }

    /// The path that continues with a program function in no family, as most are.
    #[inline]
    fn then_plain(mut self, next: Families) -> CodePath {
        self.user_call(next, self.calls);
        self.ipi = self.ipi << 1 & 0b111;
        self.leaf = next;
        self.calls += 1;
        self
    }

    fn see(&mut self, seen: bool, family: Families) {
        if seen {
            self.seen = self.seen.and(family);
        }
    }

    #[inline]
    fn user_call(&mut self, next: Families, at: u32) {
        let counted = self.since_lock.saturating_add(1);
        self.since_lock = if next.any(Families::LOCK_CODE) { 1 } else { counted };
        self.since_futex = self.since_futex.saturating_add(1);
        self.user = at;
        if !next.any(Families::LIBRARY) {
            self.outside = at;
            if !next.any(Families::WRAPPER) {
                let called = next.any(Families::OF_LIBRARY) && self.is_own;
                self.requester = if called { self.requester } else { at };
                self.is_own = called || next.any(Families::OF_PROGRAM);
            }
        }
    }

    /// The path's class, and the call that decides it.
    pub fn class(&self) -> (CodeClass, usize) {
        let leaf = self.calls.saturating_sub(1);
        let (class, at) = match self.lock_class() {
            _ if self.allocator != NONE => (CodeClass::Allocator, self.allocator),
            Some(class) => (class, self.requested_by()),
            None => match self.kernel_class() {
                Some(CodeClass::Process) => (CodeClass::Process, self.requested_by()),
                Some(class) => (class, leaf),
                None if self.leaf.any(Families::KERNEL_SPIN) => (CodeClass::KernelSpin, leaf),
                None if self.leaf.any(Families::USER_SPIN) => (CodeClass::UserSpin, leaf),
                None if self.yields != NONE => (CodeClass::UserSpin, self.yields),
                None if self.leaf.any(Families::KERNEL) => (CodeClass::Kernel, leaf),
                None => (CodeClass::Own, leaf),
            },
        };
        (class, at as usize)
    }

    /// What a thread on a CPU does in lock functions or in a futex system call; `None` outside of both.
    fn lock_class(&self) -> Option<CodeClass> {
        let near = |calls: u8| usize::from(calls) <= EXAMINED;
        match (near(self.since_lock), near(self.since_futex)) {
            (true, _) => Some(CodeClass::Lock),
            (false, true) => Some(CodeClass::Signal),
            (false, false) => None,
        }
    }

    /// The call that requested a wait, as `wait_targets::requester` finds it.
    fn requested_by(&self) -> u32 {
        let known = [self.requester, self.outside, self.user].into_iter().find(|at| *at != NONE);
        known.unwrap_or(self.calls.saturating_sub(1))
    }

    /// The classes of kernel services known by name.
    fn kernel_class(&self) -> Option<CodeClass> {
        if self.seen.any(Families::TLB_FLUSH) {
            Some(CodeClass::TlbFlush)
        } else if self.ipi != 0 {
            Some(CodeClass::Ipi)
        } else if self.takes_mmap_lock() {
            Some(CodeClass::MmapLock)
        } else if self.seen.any(Families::PROCESS.and(Families::LOADING)) {
            Some(CodeClass::Process)
        } else {
            let serves = Families::PAGE_FAULT.and(Families::ADDRESS_SPACE);
            self.seen.any(serves).then_some(CodeClass::AddressSpace)
        }
    }

    /// Whether it takes or releases mmap_lock or the lock of one of its VMAs.
    pub fn takes_mmap_lock(&self) -> bool {
        self.seen.any(Families::LOCK_BELOW) && !self.seen.any(Families::OTHERS_BELOW)
    }

    /// The outermost yield.
    pub fn yields(&self) -> Option<u32> {
        (self.yields != NONE).then_some(self.yields)
    }

    /// The outermost function that serves a page fault.
    pub fn fault(&self) -> Option<u32> {
        (self.fault != NONE).then_some(self.fault)
    }

    /// The kind of the page fault that it serves, if its functions show one.
    pub fn fault_kind(&self) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| self.fault != NONE && self.seen.any(Families::of_fault(*kind)))
    }

    /// The outermost function that shows why the kernel was entered.
    pub fn entry(&self) -> Option<(KernelEntry, u32)> {
        (self.entry != NONE).then_some((self.entry_kind, self.entry))
    }

    /// The innermost program function.
    pub fn user(&self) -> Option<u32> {
        (self.user != NONE).then_some(self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::families::tests::function;
    use crate::analysis::findings::wait_targets::requester;
    use proptest::prelude::*;

    /// Functions of every family and of none.
    const FUNCTIONS: [&str; 28] = [
        "main",
        "/lib64/ld-linux-x86-64.so.2!_dl_start",
        "[kernel]!__x64_sys_execve",
        "work",
        "malloc",
        "/lib/libjemalloc.so.2!arena",
        "/lib/libc.so.6!__lll_lock_wait",
        "/lib/libc.so.6!write",
        "std::mutex::unlock",
        "parking_lot::park",
        "pthread_join",
        "pthread_spin_lock",
        "sched_yield",
        "start_thread",
        "[unresolved]",
        "down_write",
        "[kernel]!do_futex",
        "[kernel]!futex_wake",
        "[kernel]!flush_tlb_func",
        "[kernel]!sysvec_call_function",
        "[kernel]!exc_page_fault",
        "[kernel]!__x64_sys_munmap",
        "[kernel]!rwsem_wake.isra.0",
        "[kernel]!anon_vma_clone",
        "[kernel]!osq_lock",
        "[kernel]!sched_yield",
        "[kernel]!clear_page_erms",
        "[kernel]!schedule",
    ];

    /// The class from a look at the whole path for each family.
    fn plain_class(path: &[&Function]) -> (CodeClass, usize) {
        let leaf = path.len().saturating_sub(1);
        let at = |family: fn(&Function) -> bool| path.iter().position(|function| family(function));
        let any = |family: fn(&Function) -> bool| at(family).is_some();
        let innermost = |family: fn(&Function) -> bool| path.last().is_some_and(|function| family(function));
        let kernel = |function: &Function| function.kind == CodeKind::Kernel;
        let near = |inside: fn(&str) -> bool, in_kernel: bool| {
            let user = |at: usize| path[at..].iter().filter(|function| !kernel(function)).count();
            (0..path.len())
                .any(|at| kernel(path[at]) == in_kernel && inside(bare(&path[at].name)) && user(at) <= EXAMINED)
        };
        let requested = || leaf - requester(path.iter().rev().copied()).min(leaf);
        match () {
            () if any(is_allocator) => (CodeClass::Allocator, at(is_allocator).unwrap_or(0)),
            () if near(is_lock_code, false) => (CodeClass::Lock, requested()),
            () if near(is_futex, true) => (CodeClass::Signal, requested()),
            () if any(is_tlb_flush) => (CodeClass::TlbFlush, leaf),
            () if path.iter().rev().take(3).any(|function| is_ipi(function)) => (CodeClass::Ipi, leaf),
            () if plain_takes_mmap_lock(path) => (CodeClass::MmapLock, leaf),
            () if any(is_process) || path.first().is_some_and(|first| is_loader(first)) => {
                (CodeClass::Process, requested())
            }
            () if any(is_page_fault) || any(is_address_space) => (CodeClass::AddressSpace, leaf),
            () if innermost(is_kernel_spin) => (CodeClass::KernelSpin, leaf),
            () if innermost(is_user_spin) => (CodeClass::UserSpin, leaf),
            () if any(is_yield) => (CodeClass::UserSpin, at(is_yield).unwrap_or(0)),
            () if innermost(kernel) => (CodeClass::Kernel, leaf),
            () => (CodeClass::Own, leaf),
        }
    }

    fn plain_takes_mmap_lock(path: &[&Function]) -> bool {
        let inside = path.iter().position(|function| is_page_fault(function) || is_address_space(function));
        let below = inside.and_then(|at| path.get(at + 1..)).unwrap_or_default();
        let named = |family: Families| below.iter().any(|function| Families::of(function).any(family));
        named(Families::MMAP_LOCKS) && !named(Families::OTHER_LOCKS)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_path_followed_call_by_call_has_the_class_of_the_whole_path(
            chosen in prop::collection::vec((0..FUNCTIONS.len(), 0..3_usize), 0..24),
        ) {
            const SOURCES: [SourceOwner; 3] = [SourceOwner::Unknown, SourceOwner::Program, SourceOwner::Library];
            let made = |(at, source): &(usize, usize)| Function { source: SOURCES[*source], ..function(FUNCTIONS[*at]) };
            let functions: Vec<Function> = chosen.iter().map(made).collect();
            let path: Vec<&Function> = functions.iter().collect();
            let followed = path.iter().fold(CodePath::default(), |path, function| path.then(Families::of(function)));
            prop_assert_eq!(followed.class(), plain_class(&path));
            let first = |family: &dyn Fn(&Function) -> bool| path.iter().position(|function| family(function)).map(|at| at as u32);
            prop_assert_eq!((followed.yields(), followed.fault()), (first(&is_yield), first(&is_page_fault)));
            let entry = first(&|function| kernel_entry(function).is_some());
            prop_assert_eq!(followed.entry(), entry.and_then(|at| Some((kernel_entry(path[at as usize])?, at))));
            let user = path.iter().rposition(|function| function.kind != CodeKind::Kernel);
            prop_assert_eq!(followed.user(), user.map(|at| at as u32));
        }
    }

    #[test]
    fn the_kind_of_a_fault_is_what_most_decides_about_it() {
        for (path, expected) in [
            ("app;[kernel]!exc_page_fault;[kernel]!do_wp_page;[kernel]!wp_page_copy", Some(FaultKind::Copy)),
            ("app;[kernel]!exc_page_fault;[kernel]!do_fault;[kernel]!clear_page_erms", Some(FaultKind::File)),
            ("app;[kernel]!exc_page_fault;[kernel]!handle_mm_fault", None),
            ("app;[kernel]!__x64_sys_brk;[kernel]!clear_page_erms", None),
        ] {
            let functions: Vec<Function> = path.split(';').map(function).collect();
            let path_of = functions.iter().fold(CodePath::default(), |path, it| path.then(Families::of(it)));
            assert_eq!(path_of.fault_kind(), expected, "{path}");
        }
    }

    #[test]
    fn a_function_has_every_family_that_names_it() {
        for (name, families) in [
            ("main", vec![]),
            ("malloc", vec![Families::ALLOCATOR]),
            ("[kernel]!exc_page_fault", vec![Families::KERNEL, Families::PAGE_FAULT]),
            ("[kernel]!__x64_sys_munmap", vec![Families::KERNEL, Families::ADDRESS_SPACE, Families::SYSTEM_CALL]),
        ] {
            let all = families.iter().fold(Families::default(), |all, family| all.and(*family));
            assert_eq!(Families::of(&function(name)), all, "{name}");
        }
    }
}
