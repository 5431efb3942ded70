//! One tiny BPF program: keeps the samples of a few processes when a whole CPU is sampled.
//! It is assembled here by hand, so that neither a compiler nor a loader is needed; nothing else is ever loaded.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// More processes than this are filtered after the ring instead.
pub const MOST_PIDS: usize = 16;

const PROG_LOAD: libc::c_long = 5;
const TYPE_PERF_EVENT: u32 = 7;
const GET_CURRENT_PID_TGID: i32 = 14;
/// Inode of the first pid namespace (`PROC_PID_INIT_INO`): the numbers BPF sees are those of this one.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// One instruction: `struct bpf_insn`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instruction {
    code: u8,
    /// Destination in the low four bits, source in the high ones.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// The front of `union bpf_attr` for `BPF_PROG_LOAD`; the rest may be left out.
#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buffer: u64,
    kernel_version: u32,
    flags: u32,
}

/// Loads a program that keeps a sample when the running process is one of `pids`.
///
/// # Errors
/// `Unsupported` in a pid namespace other than the first or with too many pids; else what `bpf(2)` reports, mostly
/// for lack of `CAP_BPF` and `CAP_PERFMON`.
pub fn keep_processes(pids: &[u32]) -> io::Result<OwnedFd> {
    let namespace = std::fs::read_link("/proc/self/ns/pid")?;
    if namespace.as_os_str() != FIRST_PID_NAMESPACE || pids.len() > MOST_PIDS {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let program = assemble(pids);
    let license = c"GPL";
    let load = Load {
        kind: TYPE_PERF_EVENT,
        count: program.len() as u32,
        instructions: program.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buffer: 0,
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: `load` and what it points to outlive the call, and its size is passed.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, PROG_LOAD, &raw const load, size_of::<Load>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// `r0 = pid_tgid() >> 32; if r0 == pid goto keep; ...; r0 = 0; exit; keep: r0 = 1; exit`
fn assemble(pids: &[u32]) -> Vec<Instruction> {
    let op = |code, offset, immediate| Instruction { code, registers: 0, offset, immediate };
    let mut program = vec![op(0x85, 0, GET_CURRENT_PID_TGID), op(0x77, 0, 32)];
    for (at, pid) in pids.iter().enumerate() {
        // To "keep": over the comparisons that follow, `r0 = 0` and `exit`.
        program.push(op(0x15, (pids.len() - at + 1) as i16, *pid as i32));
    }
    program.extend([op(0xb7, 0, 0), op(0x95, 0, 0), op(0xb7, 0, 1), op(0x95, 0, 0)]);
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the few instructions the program uses.
    fn keeps(program: &[Instruction], running: u32) -> bool {
        let (mut at, mut r0) = (0, 0u64);
        loop {
            let now = program[at];
            at += 1;
            match now.code {
                0x85 => r0 = (u64::from(running) << 32) | 5,
                0x77 => r0 >>= now.immediate,
                0x15 if r0 == now.immediate as u64 => at += now.offset as usize,
                0x15 => {}
                0xb7 => r0 = now.immediate as u64,
                _ => return r0 != 0,
            }
        }
    }

    #[test]
    fn keeps_the_named_processes_and_no_other() {
        for pids in [&[][..], &[7], &[7, 9, 4_194_304]] {
            let program = assemble(pids);
            for running in [1, 7, 8, 9, 4_194_304] {
                assert_eq!(keeps(&program, running), pids.contains(&running), "{pids:?} {running}");
            }
        }
    }
}
