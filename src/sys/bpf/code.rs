//! An assembler for BPF programs: instructions, jumps to labels, and how a program reads a task's ids.

use super::calls::{self, Instruction};
use crate::sys::btf::Btf;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Inode of the initial pid namespace (`PROC_PID_INIT_INO`), which has level 0.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Numbers of the kernel's functions that programs call.
pub(super) const MAP_LOOKUP: i32 = 1;
pub(super) const MAP_UPDATE_ELEM: i32 = 2;
pub(super) const MAP_DELETE_ELEM: i32 = 3;
pub(super) const KTIME_GET_NS: i32 = 5;
pub(super) const GET_PRANDOM: i32 = 7;
pub(super) const GET_CURRENT_PID_TGID: i32 = 14;
pub(super) const PERF_EVENT_OUTPUT: i32 = 25;
pub(super) const GET_CURRENT_TASK: i32 = 35;
pub(super) const MAP_PUSH_ELEM: i32 = 87;
pub(super) const PROBE_READ_USER: i32 = 112;
pub(super) const PROBE_READ_KERNEL: i32 = 113;

/// Byte offsets of the fields that lead from a task to the pid of its process.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskLayout {
    leader: u32,
    pid: u32,
    pid_level: u32,
    numbers: u32,
    each: u32,
    number: u32,
    level: u32,
    /// The number of a thread in the first namespace, which functions about the current task return too.
    first: u32,
}

impl TaskLayout {
    /// Reads the kernel's types below `root`, and asks the kernel for the depth of our pid namespace, because /proc of a
    /// namespace shows nothing above it.
    ///
    /// # Errors
    /// `NotFound` on a kernel without type information; otherwise as `bpf(2)`.
    pub fn of_kernel(root: &Path) -> io::Result<TaskLayout> {
        let layout = TaskLayout::of(&Btf::of_kernel(root, &["task_struct", "pid", "upid"])?)
            .ok_or(io::ErrorKind::Unsupported)?;
        if std::fs::read_link("/proc/self/ns/pid")?.as_os_str() == FIRST_PID_NAMESPACE {
            return Ok(layout);
        }
        let level = calls::run_once(&calls::load(calls::RAW_TRACEPOINT, &own_level(&layout))?)?;
        Ok(TaskLayout { level, ..layout })
    }

    fn of(btf: &Btf) -> Option<TaskLayout> {
        Some(TaskLayout {
            leader: btf.offset("task_struct", "group_leader")?,
            pid: btf.offset("task_struct", "thread_pid")?,
            pid_level: btf.offset("pid", "level")?,
            numbers: btf.offset("pid", "numbers")?,
            each: btf.size("upid")?,
            number: btf.offset("upid", "nr")?,
            level: 0,
            first: btf.offset("task_struct", "pid")?,
        })
    }

    /// Offset of the pid at our level in `struct pid`. For a process above our namespace, other data lies there, so its
    /// samples may be kept by mistake; the reader of the samples drops them.
    pub fn at_level(&self) -> u32 {
        self.numbers + self.each * self.level + self.number
    }
}

pub(super) const R0: u8 = 0;
pub(super) const R1: u8 = 1;
pub(super) const R2: u8 = 2;
pub(super) const R3: u8 = 3;
pub(super) const R4: u8 = 4;
pub(super) const R5: u8 = 5;
/// These are preserved across calls.
pub(super) const TASK: u8 = 6;
pub(super) const R7: u8 = 7;
pub(super) const R8: u8 = 8;
pub(super) const CONTEXT: u8 = 9;
pub(super) const FRAME: u8 = 10;
/// Offsets in the stack frame: a number of four bytes, another one, a pointer read from memory.
pub(super) const NUMBER: i16 = -4;
pub(super) const VALUE: i16 = -8;
pub(super) const POINTER: i16 = -16;

/// Conditions of a jump: the register against a number, or against another register.
pub(super) const EQUAL: u8 = 0x15;
pub(super) const UNEQUAL: u8 = 0x55;
pub(super) const ANY_BIT: u8 = 0x45;
pub(super) const AT_LEAST: u8 = 0x3d;
const ALWAYS: u8 = 0x05;

/// A program under construction.
#[derive(Debug, Default)]
pub(super) struct Code {
    instructions: Vec<Instruction>,
    /// Jumps whose target is still unknown.
    jumps: Vec<(usize, &'static str)>,
}

impl Code {
    /// The finished program.
    pub fn done(&mut self) -> Vec<Instruction> {
        std::mem::take(&mut self.instructions)
    }

    pub fn op(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> &mut Code {
        self.instructions.push(Instruction { code, registers: to | (from << 4), offset, immediate });
        self
    }

    pub fn call(&mut self, helper: i32) -> &mut Code {
        self.op(0x85, 0, 0, 0, helper)
    }

    pub fn copy(&mut self, to: u8, from: u8) -> &mut Code {
        self.op(0xbf, to, from, 0, 0)
    }

    pub fn set(&mut self, to: u8, value: i32) -> &mut Code {
        self.op(0xb7, to, 0, 0, value)
    }

    /// `to += from`
    pub fn add(&mut self, to: u8, from: u8) -> &mut Code {
        self.op(0x0f, to, from, 0, 0)
    }

    /// `to -= from`
    pub fn subtract(&mut self, to: u8, from: u8) -> &mut Code {
        self.op(0x1f, to, from, 0, 0)
    }

    /// `to = from + bytes`
    pub fn address(&mut self, to: u8, from: u8, bytes: i32) -> &mut Code {
        self.copy(to, from).op(0x07, to, 0, 0, bytes)
    }

    /// `to = *(u64 *)(from + offset)`
    pub fn load(&mut self, to: u8, from: u8, offset: i16) -> &mut Code {
        self.op(0x79, to, from, offset, 0)
    }

    /// `*(u64 *)(to + offset) = from`
    pub fn store(&mut self, to: u8, offset: i16, from: u8) -> &mut Code {
        self.op(0x7b, to, from, offset, 0)
    }

    /// `*(u64 *)(to + offset) = 0`
    pub fn clear(&mut self, to: u8, offset: i16) -> &mut Code {
        self.op(0x7a, to, 0, offset, 0)
    }

    /// Copies four bytes within the frame.
    pub fn copy_number(&mut self, to: i16, from: i16) -> &mut Code {
        self.op(0x61, R1, FRAME, from, 0).op(0x63, FRAME, R1, to, 0)
    }

    /// Jumps to a label further on if a register and a number meet the condition.
    pub fn jump_if(&mut self, condition: u8, register: u8, number: i32, label: &'static str) -> &mut Code {
        self.jumps.push((self.instructions.len(), label));
        self.op(condition, register, 0, 0, number)
    }

    /// Jumps to a label further on if two registers meet the condition.
    pub fn jump_if_both(&mut self, condition: u8, left: u8, right: u8, label: &'static str) -> &mut Code {
        self.jumps.push((self.instructions.len(), label));
        self.op(condition, left, right, 0, 0)
    }

    /// Jumps to a label further on.
    pub fn jump(&mut self, label: &'static str) -> &mut Code {
        self.jump_if(ALWAYS, 0, 0, label)
    }

    /// The place that all jumps to this label so far lead to.
    pub fn label(&mut self, label: &'static str) -> &mut Code {
        let here = self.instructions.len();
        for (at, _) in self.jumps.extract_if(.., |(_, to)| *to == label) {
            self.instructions[at].offset = (here - at - 1) as i16;
        }
        self
    }

    /// Reads kernel memory at `TASK + bytes` to an offset in the frame; unreadable memory reads as zero.
    pub fn read(&mut self, place: i16, length: i32, bytes: u32) -> &mut Code {
        self.address(R1, FRAME, place.into()).set(R2, length).address(R3, TASK, bytes as i32).call(PROBE_READ_KERNEL)
    }

    /// Replaces the task in `TASK` by its leader's `struct pid`.
    pub fn walk(&mut self, layout: &TaskLayout) -> &mut Code {
        self.read(POINTER, 8, layout.leader).load(TASK, FRAME, POINTER);
        self.read(POINTER, 8, layout.pid).load(TASK, FRAME, POINTER)
    }

    /// Reads the pid of the task in `TASK`, its process's number in our namespace, into the frame.
    pub fn process_number(&mut self, layout: &TaskLayout) -> &mut Code {
        self.walk(layout).read(NUMBER, 4, layout.at_level())
    }

    /// Reads the number of the thread in `TASK` in our namespace into the frame.
    pub fn thread_number(&mut self, layout: &TaskLayout) -> &mut Code {
        self.read(POINTER, 8, layout.pid).load(TASK, FRAME, POINTER).read(NUMBER, 4, layout.at_level())
    }

    /// Reads the number of the thread in `TASK` in the first namespace into the frame.
    pub fn first_number(&mut self, layout: &TaskLayout, place: i16) -> &mut Code {
        self.read(place, 4, layout.first)
    }

    /// Loads a map into a register.
    pub fn map(&mut self, to: u8, map: RawFd) -> &mut Code {
        // A 64-bit load takes two instructions; source 1 marks a map descriptor.
        self.op(0x18, to, 1, 0, map).op(0, 0, 0, 0, 0)
    }

    /// Loads the map into the first argument and the address of a key in the frame into the second.
    pub fn arguments(&mut self, map: RawFd, key: i16) -> &mut Code {
        self.map(R1, map).address(R2, FRAME, key.into())
    }

    /// Looks a key in the frame up: the address of its value, or 0.
    pub fn look_up(&mut self, map: &OwnedFd, key: i16) -> &mut Code {
        self.arguments(map.as_raw_fd(), key).call(MAP_LOOKUP)
    }

    /// Ends the program with `result` if the last call returned 0.
    pub fn end_if_none(&mut self, result: i32) -> &mut Code {
        self.op(UNEQUAL, R0, 0, 2, 0).end(result)
    }

    pub fn end(&mut self, result: i32) -> &mut Code {
        self.set(R0, result).op(0x95, 0, 0, 0, 0)
    }
}

/// Returns the level of the caller's pid namespace.
pub(super) fn own_level(layout: &TaskLayout) -> Vec<Instruction> {
    let mut code = Code::default();
    code.call(GET_CURRENT_TASK).copy(TASK, R0).walk(layout).read(NUMBER, 4, layout.pid_level);
    code.op(0x61, R0, FRAME, NUMBER, 0).op(0x95, 0, 0, 0, 0);
    code.done()
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Offsets as on no kernel, one level below the first namespace.
    pub const LAYOUT: TaskLayout =
        TaskLayout { leader: 0x10, pid: 0x20, pid_level: 4, numbers: 0x60, each: 16, number: 0, level: 1, first: 0x30 };

    impl TaskLayout {
        /// Where a task's leader and `struct pid` lie, and that one's level.
        pub fn places(&self) -> [u64; 3] {
            [self.leader, self.pid, self.pid_level].map(u64::from)
        }
    }
}
