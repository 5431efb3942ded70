//! Settings of the C library's allocator, for sessions that run for hours: freed memory goes back to the system instead
//! of staying with the thread that freed it.

/// Larger blocks are mapped singly: freeing one returns it, and growing one moves no bytes.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// Lets all threads allocate from one heap, and large blocks be mapped singly. Applies to memory allocated from now on.
/// Threads of a session allocate little at the same time, while a heap for each keeps the most that each ever used.
pub fn share() {
    #[cfg(target_env = "gnu")]
    for (option, value) in [(libc::M_ARENA_MAX, 1), (libc::M_MMAP_THRESHOLD, LARGE), (libc::M_TRIM_THRESHOLD, LARGE)] {
        // SAFETY: changes a setting of the allocator under its own lock. A refusal leaves the default in force.
        let _ = unsafe { libc::mallopt(option, value) };
    }
}

/// Returns free memory within the heap to the system, after much was freed at once.
pub fn trim() {
    // SAFETY: takes the allocator's own lock; memory in use stays where it is.
    #[cfg(target_env = "gnu")]
    let _ = unsafe { libc::malloc_trim(0) };
}
