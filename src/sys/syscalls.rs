//! Names of the system calls that threads block in.

use libc::c_long;

/// Returns the name of a system call that may block; `None` for all others.
#[must_use]
pub fn name(number: i64) -> Option<&'static str> {
    let found = BLOCKING.iter().chain(OLDER).find(|(known, _)| *known == number);
    found.map(|(_, name)| *name)
}

const BLOCKING: &[(c_long, &str)] = &[
    (libc::SYS_read, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_preadv, "preadv"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_restart_syscall, "restart_syscall"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_sendmmsg, "sendmmsg"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_msync, "msync"),
    (libc::SYS_sync_file_range, "sync_file_range"),
    (libc::SYS_fallocate, "fallocate"),
    (libc::SYS_ftruncate, "ftruncate"),
    (libc::SYS_io_getevents, "io_getevents"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_sendfile, "sendfile"),
    (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_semop, "semop"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_mq_timedreceive, "mq_timedreceive"),
    (libc::SYS_mq_timedsend, "mq_timedsend"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_munmap, "munmap"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_getrandom, "getrandom"),
];

/// Calls that newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[(c_long, &str)] = &[
    (libc::SYS_poll, "poll"),
    (libc::SYS_select, "select"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_pause, "pause"),
    (libc::SYS_open, "open"),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[(c_long, &str)] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocking_call_is_named_and_no_number_stands_for_two() {
        assert_eq!((name(libc::SYS_futex), name(libc::SYS_getpid), name(-1)), (Some("futex"), None, None));
        let mut numbers: Vec<_> = BLOCKING.iter().chain(OLDER).map(|(number, _)| number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), BLOCKING.len() + OLDER.len());
    }
}
