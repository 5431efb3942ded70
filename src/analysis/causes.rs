//! Derives why a thread left the CPU from the kernel functions on its stack: one table, innermost frame first.
//! User-space names count only where the kernel's frames are hidden, and only the C library's waits.

use crate::model::TaskState;
use serde::Serialize;

/// Why a thread did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A futex (locks, condition variables, joins) or a kernel lock.
    Lock,
    /// Storage: reading, writing, faulting a page in.
    BlockIo,
    /// A socket.
    Network,
    /// A requested sleep.
    Sleep,
    /// Preempted while still runnable.
    RunQueue,
    /// Waiting for events: epoll, poll, select, io_uring.
    Events,
    /// A pipe, terminal or eventfd.
    Pipe,
    /// A child process, a signal, a stop, or a kernel thread without work.
    Other,
    /// The stack does not show the cause, mostly because its kernel part could not be read.
    Unknown,
}

impl Cause {
    /// Every cause, in report order.
    pub const ALL: [Cause; 9] = [
        Cause::Lock,
        Cause::BlockIo,
        Cause::Network,
        Cause::Pipe,
        Cause::Events,
        Cause::Sleep,
        Cause::RunQueue,
        Cause::Other,
        Cause::Unknown,
    ];

    /// A short label for a table.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Cause::Lock => "lock (futex, mutex)",
            Cause::BlockIo => "block I/O",
            Cause::Network => "network",
            Cause::Sleep => "sleep",
            Cause::RunQueue => "preempted",
            Cause::Events => "wait for events",
            Cause::Pipe => "pipe, terminal",
            Cause::Other => "other wait",
            Cause::Unknown => "unknown",
        }
    }
}

/// Prefixes of kernel function names, each with the cause it implies. The longest matching prefix wins.
const KERNEL: &[(&str, Cause)] = &[
    // Locks: user space's futexes, then the kernel's own.
    ("futex_", Cause::Lock),
    ("__futex_", Cause::Lock),
    ("do_futex", Cause::Lock),
    ("mutex_lock", Cause::Lock),
    ("__mutex_lock", Cause::Lock),
    ("ww_mutex_lock", Cause::Lock),
    ("rwsem_", Cause::Lock),
    ("__vma_start_write", Cause::Lock),
    ("__vma_enter_locked", Cause::Lock),
    ("down_read", Cause::Lock),
    ("down_write", Cause::Lock),
    ("down_interruptible", Cause::Lock),
    ("down_killable", Cause::Lock),
    ("__down", Cause::Lock),
    ("percpu_rwsem_wait", Cause::Lock),
    ("rt_mutex_", Cause::Lock),
    ("__rt_mutex_", Cause::Lock),
    ("rt_spin_lock", Cause::Lock),
    ("fcntl_setlk", Cause::Lock),
    ("locks_lock_inode_wait", Cause::Lock),
    ("flock_lock_inode_wait", Cause::Lock),
    ("do_semtimedop", Cause::Lock),
    // Storage.
    ("io_schedule", Cause::BlockIo),
    ("blk_", Cause::BlockIo),
    ("bio_", Cause::BlockIo),
    ("submit_bio_wait", Cause::BlockIo),
    ("bit_wait_io", Cause::BlockIo),
    ("wait_on_page_", Cause::BlockIo),
    ("folio_wait_", Cause::BlockIo),
    ("inode_wait_for_writeback", Cause::BlockIo),
    ("writeback_", Cause::BlockIo),
    ("__folio_lock", Cause::BlockIo),
    ("rq_qos_wait", Cause::BlockIo),
    ("wbt_wait", Cause::BlockIo),
    ("balance_dirty_pages", Cause::BlockIo),
    ("jbd2_log_wait_commit", Cause::BlockIo),
    ("jbd2_journal_", Cause::BlockIo),
    ("wait_transaction_locked", Cause::BlockIo),
    ("xlog_", Cause::BlockIo),
    ("xfs_buf_", Cause::BlockIo),
    ("btrfs_", Cause::BlockIo),
    ("nfs_wait_", Cause::BlockIo),
    ("rpc_wait_bit", Cause::BlockIo),
    ("swap_readpage", Cause::BlockIo),
    ("wait_on_buffer", Cause::BlockIo),
    ("__wait_on_buffer", Cause::BlockIo),
    ("read_events", Cause::BlockIo),
    ("dio_await", Cause::BlockIo),
    ("iomap_dio_", Cause::BlockIo),
    // Sockets.
    ("tcp_", Cause::Network),
    ("udp_", Cause::Network),
    ("inet_", Cause::Network),
    ("inet6_", Cause::Network),
    ("sk_wait_", Cause::Network),
    ("sk_stream_wait_", Cause::Network),
    ("__skb_wait_", Cause::Network),
    ("skb_recv_", Cause::Network),
    ("sock_", Cause::Network),
    ("unix_stream_", Cause::Network),
    ("unix_dgram_", Cause::Network),
    ("unix_wait_for_peer", Cause::Network),
    ("netlink_", Cause::Network),
    ("packet_recvmsg", Cause::Network),
    ("vsock_", Cause::Network),
    // Requested sleeps.
    ("hrtimer_nanosleep", Cause::Sleep),
    ("do_nanosleep", Cause::Sleep),
    ("common_nsleep", Cause::Sleep),
    ("msleep", Cause::Sleep),
    ("usleep_range", Cause::Sleep),
    ("alarm_timer_nsleep", Cause::Sleep),
    // Events.
    ("ep_poll", Cause::Events),
    ("do_epoll_wait", Cause::Events),
    ("poll_schedule_timeout", Cause::Events),
    ("do_sys_poll", Cause::Events),
    ("do_poll", Cause::Events),
    ("do_select", Cause::Events),
    ("core_sys_select", Cause::Events),
    ("io_cqring_wait", Cause::Events),
    ("inotify_read", Cause::Events),
    // Local byte streams.
    ("pipe_", Cause::Pipe),
    ("anon_pipe_", Cause::Pipe),
    ("fifo_open", Cause::Pipe),
    ("wait_for_partner", Cause::Pipe),
    ("splice_", Cause::Pipe),
    ("n_tty_", Cause::Pipe),
    ("tty_", Cause::Pipe),
    ("eventfd_read", Cause::Pipe),
    ("signalfd_", Cause::Other),
    ("timerfd_read", Cause::Sleep),
    // System calls and the kind of file they use, where no deeper kernel function is known.
    ("sys_futex", Cause::Lock),
    ("sys_flock", Cause::Lock),
    ("sys_semop", Cause::Lock),
    ("sys_semtimedop", Cause::Lock),
    ("sys_fsync", Cause::BlockIo),
    ("sys_fdatasync", Cause::BlockIo),
    ("sys_msync", Cause::BlockIo),
    ("sys_sync_file_range", Cause::BlockIo),
    ("sys_io_getevents", Cause::BlockIo),
    ("on a socket", Cause::Network),
    ("sys_recv", Cause::Network),
    ("sys_send", Cause::Network),
    ("sys_accept", Cause::Network),
    ("sys_connect", Cause::Network),
    ("sys_nanosleep", Cause::Sleep),
    ("sys_clock_nanosleep", Cause::Sleep),
    ("on a timerfd", Cause::Sleep),
    ("sys_epoll_", Cause::Events),
    ("sys_poll", Cause::Events),
    ("sys_ppoll", Cause::Events),
    ("sys_select", Cause::Events),
    ("sys_pselect6", Cause::Events),
    ("sys_io_uring_enter", Cause::Events),
    ("on inotify", Cause::Events),
    ("on a pipe", Cause::Pipe),
    ("on a terminal", Cause::Pipe),
    ("on an eventfd", Cause::Pipe),
    ("sys_wait", Cause::Other),
    ("sys_rt_sig", Cause::Other),
    // Children, signals, stops, idle kernel threads.
    ("do_wait", Cause::Other),
    ("kernel_wait", Cause::Other),
    ("wait_for_vfork_done", Cause::Other),
    ("do_sigtimedwait", Cause::Other),
    ("sigsuspend", Cause::Other),
    ("do_pause", Cause::Other),
    ("sys_pause", Cause::Other),
    ("ptrace_stop", Cause::Other),
    ("do_signal_stop", Cause::Other),
    ("do_exit", Cause::Other),
    ("do_group_exit", Cause::Other),
    ("worker_thread", Cause::Other),
    ("kthread", Cause::Other),
    ("smpboot_thread_fn", Cause::Other),
    ("rcu_", Cause::Other),
    ("handle_userfault", Cause::Other),
    ("do_freezer_trap", Cause::Other),
];

/// C library functions that wait, for recordings without kernel frames. Leading underscores are omitted. A name that
/// ends in `_` matches as a prefix, any other matches exactly.
const LIBRARY: &[(&str, Cause)] = &[
    ("futex_", Cause::Lock),
    ("do_futex_wait", Cause::Lock),
    ("lll_lock_wait", Cause::Lock),
    ("lll_lock_wait_private", Cause::Lock),
    ("pthread_mutex_", Cause::Lock),
    ("pthread_cond_", Cause::Lock),
    ("pthread_rwlock_", Cause::Lock),
    ("pthread_barrier_wait", Cause::Lock),
    ("pthread_join", Cause::Lock),
    ("pthread_clockjoin_ex", Cause::Lock),
    ("sem_wait", Cause::Lock),
    ("new_sem_wait_", Cause::Lock),
    ("fsync", Cause::BlockIo),
    ("fdatasync", Cause::BlockIo),
    ("pread64", Cause::BlockIo),
    ("pwrite64", Cause::BlockIo),
    ("libc_pread", Cause::BlockIo),
    ("libc_pwrite", Cause::BlockIo),
    ("libc_pread64", Cause::BlockIo),
    ("libc_pwrite64", Cause::BlockIo),
    ("recv", Cause::Network),
    ("recvfrom", Cause::Network),
    ("recvmsg", Cause::Network),
    ("libc_recv", Cause::Network),
    ("libc_recvfrom", Cause::Network),
    ("libc_recvmsg", Cause::Network),
    ("send", Cause::Network),
    ("sendto", Cause::Network),
    ("sendmsg", Cause::Network),
    ("libc_send", Cause::Network),
    ("libc_sendto", Cause::Network),
    ("libc_sendmsg", Cause::Network),
    ("accept", Cause::Network),
    ("accept4", Cause::Network),
    ("libc_accept", Cause::Network),
    ("connect", Cause::Network),
    ("libc_connect", Cause::Network),
    ("clock_nanosleep", Cause::Sleep),
    ("nanosleep", Cause::Sleep),
    ("usleep", Cause::Sleep),
    ("epoll_wait", Cause::Events),
    ("epoll_pwait", Cause::Events),
    ("poll", Cause::Events),
    ("ppoll", Cause::Events),
    ("select", Cause::Events),
    ("pselect", Cause::Events),
    ("wait4", Cause::Other),
    ("waitpid", Cause::Other),
    ("waitid", Cause::Other),
    ("sigtimedwait", Cause::Other),
    ("sigwaitinfo", Cause::Other),
    ("sigsuspend", Cause::Other),
    ("pause", Cause::Other),
];

/// The cause of an off-CPU span. `kernel` and `user` are its kernel and user functions, both innermost first.
#[must_use]
pub fn cause<'a>(
    state: TaskState,
    kernel: impl Iterator<Item = &'a str>,
    mut user: impl Iterator<Item = &'a str>,
) -> Cause {
    // A preempted thread may have been doing anything: its stack shows no wait.
    if state == TaskState::Runnable {
        return Cause::RunQueue;
    }
    let mut seen_kernel = false;
    for function in kernel {
        if !seen_kernel && is_mmap_lock_wait(function) {
            return Cause::Lock;
        }
        seen_kernel = true;
        if let Some(cause) = by_kernel(bare(function)) {
            return cause;
        }
    }
    if seen_kernel {
        return Cause::Other;
    }
    // A wait passes through at most a few C library wrappers.
    let library = user.by_ref().take(4).find_map(|function| by_library(bare(function)));
    match (library, state) {
        (Some(cause), _) => cause,
        (None, TaskState::DiskSleep) => Cause::BlockIo,
        (None, TaskState::Other) => Cause::Other,
        (None, _) => Cause::Unknown,
    }
}

/// Whether a thread blocked in this innermost kernel function waits for mmap_lock: `/proc/TID/wchan` skips lock
/// functions and reports their callers.
pub(in crate::analysis) fn is_mmap_lock_wait(function: &str) -> bool {
    const CALLERS: [&str; 13] = [
        "lock_mm_and_find_vma",
        "vm_mmap_pgoff",
        "ksys_mmap_pgoff",
        "vm_munmap",
        "do_mprotect_pkey",
        "do_madvise",
        "do_sys_brk",
        "x64_sys_brk",
        "do_sys_mremap",
        "x64_sys_mremap",
        // Where only the system call is known. These calls wait for nothing else.
        "sys_munmap",
        "sys_mprotect",
        "sys_brk",
    ];
    CALLERS.contains(&bare(function).trim_start_matches('_'))
}

/// Strips the suffixes that compilers and linkers append: `.isra.0`, `@@GLIBC_2.2.5`.
fn bare(function: &str) -> &str {
    let end = function.find(['.', '@']).unwrap_or(function.len());
    &function[..end]
}

fn by_kernel(function: &str) -> Option<Cause> {
    let stripped = function.trim_start_matches('_');
    let fits = |prefix: &str| function.starts_with(prefix) || stripped.starts_with(prefix);
    let known = KERNEL.iter().filter(|(prefix, _)| fits(prefix));
    known.max_by_key(|(prefix, _)| prefix.len()).map(|(_, cause)| *cause)
}

fn by_library(function: &str) -> Option<Cause> {
    let inner = function.strip_prefix("__GI_").unwrap_or(function).trim_start_matches('_');
    let fits = |name: &str| if name.ends_with('_') { inner.starts_with(name) } else { inner == name };
    LIBRARY.iter().find(|(name, _)| fits(name)).map(|(_, cause)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskState::{DiskSleep, Other, Runnable, Sleeping};

    fn check(state: TaskState, kernel: &str, user: &str, expected: Cause) {
        let split = |text: &'static str| text.split(' ').filter(|name| !name.is_empty());
        let (kernel_names, user_names) = (kernel.to_string().leak(), user.to_string().leak());
        assert_eq!(cause(state, split(kernel_names), split(user_names)), expected, "{state:?} {kernel} | {user}");
    }

    /// Stacks from Linux 6.1 and 6.18.
    #[test]
    fn the_innermost_telling_kernel_function_decides() {
        for (state, kernel, expected) in [
            (Sleeping, "__schedule schedule futex_wait_queue __futex_wait futex_wait do_futex", Cause::Lock),
            (Sleeping, "__schedule schedule futex_wait_queue_me futex_wait.isra.0 do_futex", Cause::Lock),
            (DiskSleep, "__schedule schedule io_schedule folio_wait_bit_common filemap_fault", Cause::BlockIo),
            (DiskSleep, "__schedule schedule rwsem_down_read_slowpath down_read btrfs_lookup", Cause::Lock),
            (DiskSleep, "schedule jbd2_log_wait_commit ext4_sync_file do_fsync", Cause::BlockIo),
            (Sleeping, "schedule schedule_timeout wait_woken sk_wait_data tcp_recvmsg", Cause::Network),
            (Sleeping, "schedule schedule_timeout unix_stream_data_wait unix_stream_read_generic", Cause::Network),
            (Sleeping, "__schedule schedule do_nanosleep hrtimer_nanosleep", Cause::Sleep),
            (Sleeping, "schedule schedule_hrtimeout_range_clock ep_poll do_epoll_wait", Cause::Events),
            (
                Sleeping,
                "schedule schedule_hrtimeout_range poll_schedule_timeout.constprop.0 do_sys_poll",
                Cause::Events,
            ),
            (Sleeping, "__schedule schedule anon_pipe_read vfs_read", Cause::Pipe),
            (Sleeping, "__schedule schedule do_wait kernel_wait4", Cause::Other),
            (Sleeping, "__schedule schedule something_new", Cause::Other),
            (Runnable, "__schedule schedule exit_to_user_mode_loop", Cause::RunQueue),
            (Runnable, "preempt_schedule_irq tcp_recvmsg", Cause::RunQueue),
        ] {
            check(state, kernel, "main", expected);
        }
    }

    /// Stacks with only the innermost function and the system call known.
    #[test]
    fn a_system_call_and_what_it_is_on_tell_the_cause_where_the_kernel_says_no_more() {
        for (frames, expected) in [
            (["futex_do_wait", "sys_futex"].as_slice(), Cause::Lock),
            (&["wait_woken", "on a socket", "sys_read"], Cause::Network),
            (&["wait_woken", "sys_recvfrom"], Cause::Network),
            (&["anon_pipe_read", "on a pipe", "sys_read"], Cause::Pipe),
            (&["schedule_timeout", "sys_epoll_pwait"], Cause::Events),
            (&["folio_wait_bit_common", "sys_pread64"], Cause::BlockIo),
            (&["sys_clock_nanosleep"], Cause::Sleep),
            (&["lock_mm_and_find_vma"], Cause::Lock),
            (&["__vm_munmap", "sys_munmap"], Cause::Lock),
            (&["sys_munmap"], Cause::Lock),
            (&["sys_mmap"], Cause::Other),
            (&["something_new", "__vm_munmap", "sys_munmap"], Cause::Other),
            (&["something_new", "sys_4711"], Cause::Other),
        ] {
            assert_eq!(cause(Sleeping, frames.iter().copied(), std::iter::empty()), expected, "{frames:?}");
        }
    }

    #[test]
    fn without_kernel_frames_the_c_library_and_the_state_speak() {
        for (state, user, expected) in [
            (Sleeping, "__futex_abstimed_wait_common64 pthread_cond_wait@@GLIBC_2.3.2 main", Cause::Lock),
            (Sleeping, "epoll_wait aeMain main", Cause::Events),
            (Sleeping, "__GI___clock_nanosleep nanosleep main", Cause::Sleep),
            (Sleeping, "__GI___wait4 waitchld main", Cause::Other),
            (Sleeping, "poll_the_oracle send_mail main", Cause::Unknown),
            (Sleeping, "a b c d poll", Cause::Unknown),
            (Sleeping, "", Cause::Unknown),
            (DiskSleep, "", Cause::BlockIo),
            (Other, "", Cause::Other),
        ] {
            check(state, "", user, expected);
        }
    }
}
