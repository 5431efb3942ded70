//! Two small BPF programs that keep only the samples of some processes and their children when whole CPUs are sampled.
//! They are assembled here by hand, so no compiler or loader is needed.
//!
//! A map holds the processes by their pid in our own pid namespace. The first program runs at each sampling event and
//! looks up the running process. The second runs at each fork: if the parent is in the map, it adds the child before
//! that can run. Both read the pid as the kernel does: task, group leader, `struct pid`, then the number at the level
//! of our namespace.

use super::btf::Btf;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Processes that may be alive at once. Beyond this limit, children are not added and not sampled.
const MOST_PROCESSES: u32 = 32_768;

const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const MAP_DELETE: libc::c_long = 3;
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
const RAW_TRACEPOINT_OPEN: libc::c_long = 17;

const HASH: u32 = 1;
const TYPE_PERF_EVENT: u32 = 7;
const TYPE_RAW_TRACEPOINT: u32 = 17;

const MAP_LOOKUP: i32 = 1;
const MAP_UPDATE_ELEM: i32 = 2;
const GET_CURRENT_TASK: i32 = 35;
const PROBE_READ_KERNEL: i32 = 113;

/// Inode of the initial pid namespace (`PROC_PID_INIT_INO`), which has level 0.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// The processes whose samples the kernel keeps. Dropping it stops filtering and following forks.
#[derive(Debug)]
pub struct ProcessFilter {
    map: OwnedFd,
    program: OwnedFd,
    /// The fork program, which adds children while it is open.
    _forks: Option<OwnedFd>,
}

impl ProcessFilter {
    /// Opens a filter that keeps no process yet. With `children`, children of kept processes are kept too. Reads the
    /// kernel's types below `root`.
    ///
    /// # Errors
    /// `NotFound` on a kernel without type information; otherwise as `bpf(2)`, mostly for lack of `CAP_BPF` and
    /// `CAP_PERFMON`.
    pub fn open(children: bool, root: &Path) -> io::Result<ProcessFilter> {
        let layout = TaskLayout::of(&Btf::of_kernel(root, &["task_struct", "pid", "upid"])?)
            .ok_or(io::ErrorKind::Unsupported)?;
        let layout = TaskLayout { level: level(&layout)?, ..layout };
        let map = create_map()?;
        let program = load(TYPE_PERF_EVENT, &keep(&layout, map.as_raw_fd()))?;
        let forks = if children { Some(follow_forks(&layout, map.as_raw_fd())?) } else { None };
        Ok(ProcessFilter { map, program, _forks: forks })
    }

    /// Starts keeping the samples of a process.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        self.element(MAP_UPDATE, pid)
    }

    /// Stops keeping the samples of a process. Call it when the process has ended, because its pid may be reused.
    pub fn remove(&self, pid: u32) {
        // A process that did not fit into the map is not there.
        let _ = self.element(MAP_DELETE, pid);
    }

    /// The program to attach to sampling events.
    #[must_use]
    pub fn program(&self) -> BorrowedFd<'_> {
        self.program.as_fd()
    }

    fn element(&self, command: libc::c_long, pid: u32) -> io::Result<()> {
        let value = 1_u32;
        let element = Element {
            map: self.map.as_raw_fd() as u32,
            padding: 0,
            key: &raw const pid as u64,
            value: &raw const value as u64,
            flags: 0,
        };
        bpf(command, &element).map(drop)
    }
}

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

/// Leading fields of `union bpf_attr`; the rest may be omitted.
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

#[repr(C)]
struct Create {
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct Element {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct Tracepoint {
    name: u64,
    program: u32,
    padding: u32,
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    sizes_and_data: [u64; 3],
    repeat: u32,
    duration: u32,
    context_sizes: [u32; 2],
    context: [u64; 2],
    flags: u32,
    cpu: u32,
    batch_size: u32,
    padding: u32,
}

fn bpf<T>(command: libc::c_long, argument: &T) -> io::Result<RawFd> {
    // SAFETY: every argument is the front of `union bpf_attr` for its command, its size is passed, and it is valid with
    // all it points to for the call.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *argument, size_of::<T>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as RawFd) }
}

fn opened<T>(command: libc::c_long, argument: &T) -> io::Result<OwnedFd> {
    // SAFETY: these commands return a descriptor that nobody else owns.
    bpf(command, argument).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The map is preallocated: the first program runs in interrupts that cannot wait.
fn create_map() -> io::Result<OwnedFd> {
    opened(MAP_CREATE, &Create { kind: HASH, key_size: 4, value_size: 4, entries: MOST_PROCESSES, flags: 0 })
}

fn load(kind: u32, program: &[Instruction]) -> io::Result<OwnedFd> {
    let license = c"GPL";
    let load = Load {
        kind,
        count: program.len() as u32,
        instructions: program.as_ptr() as u64,
        license: license.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log_buffer: 0,
        kernel_version: 0,
        flags: 0,
    };
    opened(PROG_LOAD, &load)
}

fn follow_forks(layout: &TaskLayout, map: RawFd) -> io::Result<OwnedFd> {
    let program = load(TYPE_RAW_TRACEPOINT, &add_child(layout, map))?;
    let name = c"sched_process_fork";
    let tracepoint = Tracepoint { name: name.as_ptr() as u64, program: program.as_raw_fd() as u32, padding: 0 };
    opened(RAW_TRACEPOINT_OPEN, &tracepoint)
}

/// Asks the kernel for the depth of our pid namespace, because /proc of a namespace shows nothing above it.
fn level(layout: &TaskLayout) -> io::Result<u32> {
    if std::fs::read_link("/proc/self/ns/pid")?.as_os_str() == FIRST_PID_NAMESPACE {
        return Ok(0);
    }
    let program = load(TYPE_RAW_TRACEPOINT, &own_level(layout))?;
    let mut run = TestRun { program: program.as_raw_fd() as u32, ..TestRun::default() };
    // SAFETY: as in `bpf`; the kernel writes the program's result into the argument.
    let done = unsafe { libc::syscall(libc::SYS_bpf, PROG_TEST_RUN, &raw mut run, size_of::<TestRun>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(run.result) }
}

/// Byte offsets of the fields that lead from a task to the pid of its process.
#[derive(Debug, Clone, Copy)]
struct TaskLayout {
    leader: u32,
    pid: u32,
    pid_level: u32,
    numbers: u32,
    each: u32,
    number: u32,
    level: u32,
}

impl TaskLayout {
    fn of(btf: &Btf) -> Option<TaskLayout> {
        Some(TaskLayout {
            leader: btf.offset("task_struct", "group_leader")?,
            pid: btf.offset("task_struct", "thread_pid")?,
            pid_level: btf.offset("pid", "level")?,
            numbers: btf.offset("pid", "numbers")?,
            each: btf.size("upid")?,
            number: btf.offset("upid", "nr")?,
            level: 0,
        })
    }

    /// Offset of the pid at our level in `struct pid`. For a process above our namespace, other data lies there, so its
    /// samples may be kept by mistake; the reader of the samples drops them.
    fn at_level(&self) -> u32 {
        self.numbers + self.each * self.level + self.number
    }
}

const R0: u8 = 0;
const R1: u8 = 1;
const R2: u8 = 2;
const R3: u8 = 3;
const R4: u8 = 4;
/// Preserved across calls.
const TASK: u8 = 6;
const CHILD: u8 = 7;
const FRAME: u8 = 10;
/// Offsets in the stack frame: the pid, the value of the map, a pointer read from memory.
const NUMBER: i16 = -4;
const VALUE: i16 = -8;
const POINTER: i16 = -16;

/// A program under construction.
#[derive(Debug, Default)]
struct Code(Vec<Instruction>);

impl Code {
    fn op(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> &mut Code {
        self.0.push(Instruction { code, registers: to | (from << 4), offset, immediate });
        self
    }

    fn call(&mut self, helper: i32) -> &mut Code {
        self.op(0x85, 0, 0, 0, helper)
    }

    fn copy(&mut self, to: u8, from: u8) -> &mut Code {
        self.op(0xbf, to, from, 0, 0)
    }

    fn set(&mut self, to: u8, value: i32) -> &mut Code {
        self.op(0xb7, to, 0, 0, value)
    }

    /// `to = from + bytes`
    fn address(&mut self, to: u8, from: u8, bytes: i32) -> &mut Code {
        self.copy(to, from).op(0x07, to, 0, 0, bytes)
    }

    /// `to = *(u64 *)(from + offset)`
    fn load(&mut self, to: u8, from: u8, offset: i16) -> &mut Code {
        self.op(0x79, to, from, offset, 0)
    }

    /// Reads kernel memory at `TASK + bytes` to an offset in the frame; unreadable memory reads as zero.
    fn read(&mut self, place: i16, length: i32, bytes: u32) -> &mut Code {
        self.address(R1, FRAME, place.into()).set(R2, length).address(R3, TASK, bytes as i32).call(PROBE_READ_KERNEL)
    }

    /// Replaces the task in `TASK` by its leader's `struct pid`.
    fn walk(&mut self, layout: &TaskLayout) -> &mut Code {
        self.read(POINTER, 8, layout.leader).load(TASK, FRAME, POINTER);
        self.read(POINTER, 8, layout.pid).load(TASK, FRAME, POINTER)
    }

    /// Reads the pid of the task in `TASK` into the frame.
    fn number(&mut self, layout: &TaskLayout) -> &mut Code {
        self.walk(layout).read(NUMBER, 4, layout.at_level())
    }

    /// Loads the map into the first argument and the address of the pid into the second.
    fn arguments(&mut self, map: RawFd) -> &mut Code {
        // A 64-bit load takes two instructions; source 1 marks a map descriptor.
        self.op(0x18, R1, 1, 0, map).op(0, 0, 0, 0, 0).address(R2, FRAME, NUMBER.into())
    }

    /// Ends the program with `result` if the last call returned 0.
    fn end_if_none(&mut self, result: i32) -> &mut Code {
        self.op(0x55, R0, 0, 2, 0).end(result)
    }

    fn end(&mut self, result: i32) -> &mut Code {
        self.set(R0, result).op(0x95, 0, 0, 0, 0)
    }
}

/// Keeps a sample whose process is in the map.
fn keep(layout: &TaskLayout, map: RawFd) -> Vec<Instruction> {
    let mut code = Code::default();
    code.call(GET_CURRENT_TASK).copy(TASK, R0).number(layout);
    code.arguments(map).call(MAP_LOOKUP).end_if_none(0).end(1);
    code.0
}

/// Runs at a fork (first argument: parent, second: child): adds the child of a process that is in the map.
fn add_child(layout: &TaskLayout, map: RawFd) -> Vec<Instruction> {
    let mut code = Code::default();
    code.load(CHILD, R1, 8).load(TASK, R1, 0).number(layout);
    code.arguments(map).call(MAP_LOOKUP).end_if_none(0);
    code.copy(TASK, CHILD).number(layout);
    code.op(0x62, FRAME, 0, VALUE, 1).arguments(map);
    code.address(R3, FRAME, VALUE.into()).set(R4, 0).call(MAP_UPDATE_ELEM).end(0);
    code.0
}

/// Returns the level of the caller's pid namespace.
fn own_level(layout: &TaskLayout) -> Vec<Instruction> {
    let mut code = Code::default();
    code.call(GET_CURRENT_TASK).copy(TASK, R0).walk(layout).read(NUMBER, 4, layout.pid_level);
    code.op(0x61, R0, FRAME, NUMBER, 0).op(0x95, 0, 0, 0, 0);
    code.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Interpreter for the instructions these programs use: kernel memory at made-up addresses, the map as a set.
    struct Machine {
        memory: BTreeMap<u64, u64>,
        kept: BTreeSet<u32>,
        current: u64,
    }

    const FRAME_AT: u64 = 1 << 40;

    impl Machine {
        fn run(&mut self, program: &[Instruction], context: u64) -> u64 {
            let (mut at, mut r, mut frame) = (0, [0_u64; 11], BTreeMap::<i64, u64>::new());
            (r[1], r[10]) = (context, FRAME_AT);
            let place = |address: u64| address.wrapping_sub(FRAME_AT) as i64;
            loop {
                let Instruction { code, registers, offset, immediate } = program[at];
                let (to, from) = (usize::from(registers & 15), usize::from(registers >> 4));
                at += 1;
                match code {
                    0xbf => r[to] = r[from],
                    0xb7 => r[to] = immediate as u64,
                    0x07 => r[to] = r[to].wrapping_add_signed(immediate.into()),
                    0x18 => at += 1,
                    0x79 | 0x61 if from == 10 => r[to] = frame.get(&i64::from(offset)).copied().unwrap_or(0),
                    0x79 => r[to] = self.memory[&r[from].wrapping_add_signed(offset.into())],
                    0x62 => drop(frame.insert(offset.into(), immediate as u64)),
                    0x55 if r[to] != immediate as u64 => at += offset as usize,
                    0x55 => {}
                    0x95 => return r[0],
                    _ => {
                        let key = frame.get(&place(r[2])).copied().unwrap_or(0) as u32;
                        r[0] = match immediate {
                            GET_CURRENT_TASK => self.current,
                            PROBE_READ_KERNEL => {
                                frame.insert(place(r[1]), self.memory.get(&r[3]).copied().unwrap_or(0));
                                0
                            }
                            MAP_LOOKUP => self.kept.contains(&key).into(),
                            _ => u64::from(!self.kept.insert(key)),
                        };
                        // A call clobbers the argument registers.
                        r[1..6].fill(0xdead);
                    }
                }
            }
        }
    }

    const LAYOUT: TaskLayout =
        TaskLayout { leader: 0x10, pid: 0x20, pid_level: 4, numbers: 0x60, each: 16, number: 0, level: 1 };

    /// Adds a process with this `pid` at our level and returns the address of its task, `pid << 16`.
    fn task(memory: &mut BTreeMap<u64, u64>, pid: u64) -> u64 {
        let (task, numbers) = (pid << 16, (pid << 16) + 0x1000);
        memory.insert(task + u64::from(LAYOUT.leader), task);
        memory.insert(task + u64::from(LAYOUT.pid), numbers);
        memory.insert(numbers + u64::from(LAYOUT.at_level()), pid);
        memory.insert(numbers + u64::from(LAYOUT.pid_level), 1);
        task
    }

    #[test]
    fn those_in_the_map_and_their_children_are_kept_and_nobody_else() {
        let mut memory = BTreeMap::new();
        let tasks: BTreeMap<u64, u64> = [5, 6, 7, 8].map(|pid| (pid, task(&mut memory, pid))).into();
        let mut machine = Machine { memory, kept: [5].into(), current: 0 };
        for (parent, child) in [(5, 6), (7, 8)] {
            let context = 0x10 << 40;
            machine.memory.insert(context, tasks[&parent]);
            machine.memory.insert(context + 8, tasks[&child]);
            assert_eq!(machine.run(&add_child(&LAYOUT, 3), context), 0);
        }
        for (pid, kept) in [(5, 1), (6, 1), (7, 0), (8, 0)] {
            machine.current = tasks[&pid];
            assert_eq!(machine.run(&keep(&LAYOUT, 3), 0), kept, "{pid}");
            assert_eq!(machine.run(&own_level(&LAYOUT), 0), 1);
        }
        machine.current = 99 << 16;
        assert_eq!(machine.run(&keep(&LAYOUT, 3), 0), 0, "a task that has gone has no number");
    }
}
