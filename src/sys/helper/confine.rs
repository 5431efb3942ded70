//! Gives up what a process can do but compute and use the descriptors it has.

use crate::model::limits::NAMES_MEMORY;
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use std::ffi::CString;

/// System calls that a confined process may make. All others fail with `EPERM`.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_gettid,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Confines this process for good. It has to have a single thread.
pub(super) fn confine(name: &str) -> Result<(), Errno> {
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    rustix::thread::set_name(&name)?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    for (resource, most) in [(Resource::As, NAMES_MEMORY), (Resource::Core, 0), (Resource::Nproc, 0)] {
        let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let files = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files })?;
    rustix::thread::set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    filter_system_calls()?;
    Ok(())
}

/// Where the kernel has no filters, the process still has no way to gain privileges.
fn filter_system_calls() -> Result<(), Errno> {
    let instructions = program();
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len()).map_err(|_| Errno::INVAL)?,
        filter: instructions.as_ptr().cast_mut(),
    };
    // SAFETY: `program` and its instructions outlive the call, which only reads them.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) } == 0 {
        return Ok(());
    }
    match Errno::from_io_error(&std::io::Error::last_os_error()) {
        // Built without them, or already under a policy that forbids more.
        Some(Errno::INVAL | Errno::PERM | Errno::ACCESS) | None => Ok(()),
        Some(error) => Err(error),
    }
}

/// The filter: `EPERM` for what is not allowed, the end for another architecture's numbers.
fn program() -> Vec<libc::sock_filter> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    // Fields of `struct seccomp_data`.
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut program = vec![
        step(LOAD, 0, 0, ARCH),
        step(EQUAL, 1, 0, ARCHITECTURE),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER),
    ];
    for call in ALLOWED {
        program.push(step(EQUAL, 0, 1, *call as u32));
        program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    }
    program.push(step(RETURN, 0, 0, refused));
    program
}
