//! Adds the time that a CPU serves interrupts, hard and soft ones, to the thread they interrupt. Timer ticks and interrupts
//! between CPUs are not among the tracepoints that every architecture has, and stay part of the thread's time.

use super::calls::{self, Instruction};
use super::code::{AT_LEAST, Code, EQUAL, FRAME, GET_CURRENT_PID_TGID, KTIME_GET_NS, R0, R1, R2, R7, TASK, UNEQUAL};
use super::thread_entry::INTERRUPTED;
use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

/// Places in the frame: the thread, the index of the CPU's entry.
const KEY: i16 = -4;
const FIRST: i16 = -8;

/// Words of a CPU's entry: how deep interrupts are nested, when the outermost began.
const WORDS: u32 = 2;
const DEPTH: i16 = 0;
const BEGAN: i16 = 8;

/// The programs, each with its tracepoint.
pub(super) type Programs = [(OwnedFd, &'static CStr); 4];

/// Loads the programs, which add to the entries of `threads`.
///
/// # Errors
/// As `bpf(2)`.
pub(super) fn programs(threads: &OwnedFd) -> io::Result<Programs> {
    let cpus = calls::create_map(calls::PERCPU_ARRAY, 8 * WORDS, 1, 0)?;
    let load = |program: Vec<Instruction>| calls::load(calls::RAW_TRACEPOINT, &program);
    Ok([
        (load(leaves(&cpus, threads))?, c"irq_handler_exit"),
        (load(leaves(&cpus, threads))?, c"softirq_exit"),
        (load(enters(&cpus))?, c"irq_handler_entry"),
        (load(enters(&cpus))?, c"softirq_entry"),
    ])
}

/// Leaves the address of the CPU's entry in `TASK`.
fn cpu<'a>(code: &'a mut Code, cpus: &OwnedFd) -> &'a mut Code {
    code.op(0x62, FRAME, 0, FIRST, 0).look_up(cpus, FIRST).jump_if(EQUAL, R0, 0, "out").copy(TASK, R0)
}

fn enters(cpus: &OwnedFd) -> Vec<Instruction> {
    let mut code = Code::default();
    cpu(&mut code, cpus).load(R7, TASK, DEPTH).jump_if(UNEQUAL, R7, 0, "nested");
    code.call(KTIME_GET_NS).store(TASK, BEGAN, R0).label("nested");
    code.op(0x07, R7, 0, 0, 1).store(TASK, DEPTH, R7).label("out").end(0);
    code.done()
}

fn leaves(cpus: &OwnedFd, threads: &OwnedFd) -> Vec<Instruction> {
    let mut code = Code::default();
    // One that had begun before the programs ran has no beginning.
    cpu(&mut code, cpus).load(R7, TASK, DEPTH).jump_if(EQUAL, R7, 0, "out");
    code.op(0x07, R7, 0, 0, -1).store(TASK, DEPTH, R7).jump_if(UNEQUAL, R7, 0, "out");
    code.call(KTIME_GET_NS).load(R1, TASK, BEGAN).jump_if_both(AT_LEAST, R1, R0, "out").copy(R7, R0).subtract(R7, R1);
    code.call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0).look_up(threads, KEY).jump_if(EQUAL, R0, 0, "out");
    code.load(R2, R0, INTERRUPTED).add(R2, R7).store(R0, INTERRUPTED, R2).label("out").end(0);
    code.done()
}
