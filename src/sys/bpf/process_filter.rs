//! Two small BPF programs that keep only the samples of some processes and their children when whole CPUs are sampled.
//! They are assembled here by hand, so no compiler or loader is needed.
//!
//! A map holds the processes by their pid in our own pid namespace. The first program runs at each sampling event and
//! looks up the running process. The second runs at each fork: if the parent is in the map, it adds the child before
//! that can run. Both read the pid as the kernel does: task, group leader, `struct pid`, then the number at the level
//! of our namespace.

use super::calls::{self, Instruction};
use super::code::{
    Code, FRAME, GET_CURRENT_TASK, MAP_LOOKUP, MAP_UPDATE_ELEM, NUMBER, R0, R1, R3, R4, R7, TASK, TaskLayout, VALUE,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

/// Processes that may be alive at once. Beyond this limit, children are not added and not sampled.
const MOST_PROCESSES: u32 = 32_768;

/// The processes whose samples the kernel keeps. Dropping it stops filtering and following forks.
#[derive(Debug)]
pub struct ProcessFilter {
    pub(super) layout: TaskLayout,
    pub(super) map: OwnedFd,
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
        let layout = TaskLayout::of_kernel(root)?;
        // Preallocated: the first program runs in interrupts that cannot wait.
        let map = calls::create_map(calls::HASH, 4, MOST_PROCESSES, 0)?;
        let program = calls::load(calls::PERF_EVENT, &keep(&layout, map.as_raw_fd()))?;
        let forks = if children { Some(follow_forks(&layout, map.as_raw_fd())?) } else { None };
        Ok(ProcessFilter { layout, map, program, _forks: forks })
    }

    /// Starts keeping the samples of a process.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn add(&self, pid: u32) -> io::Result<()> {
        calls::set(&self.map, pid, 1_u32)
    }

    /// Stops keeping the samples of a process. Call it when the process has ended, because its pid may be reused.
    pub fn remove(&self, pid: u32) {
        // A process that did not fit into the map is not there.
        let _ = calls::remove(&self.map, pid);
    }

    /// The program to attach to sampling events.
    #[must_use]
    pub fn program(&self) -> BorrowedFd<'_> {
        self.program.as_fd()
    }
}

fn follow_forks(layout: &TaskLayout, map: RawFd) -> io::Result<OwnedFd> {
    let program = calls::load(calls::RAW_TRACEPOINT, &add_child(layout, map))?;
    calls::attach(&program, c"sched_process_fork")
}

/// Keeps a sample whose process is in the map.
fn keep(layout: &TaskLayout, map: RawFd) -> Vec<Instruction> {
    let mut code = Code::default();
    code.call(GET_CURRENT_TASK).copy(TASK, R0).process_number(layout);
    code.arguments(map, NUMBER).call(MAP_LOOKUP).end_if_none(0).end(1);
    code.done()
}

/// Runs at a fork (first argument: parent, second: child): adds the child of a process that is in the map.
fn add_child(layout: &TaskLayout, map: RawFd) -> Vec<Instruction> {
    let mut code = Code::default();
    code.load(R7, R1, 8).load(TASK, R1, 0).process_number(layout);
    code.arguments(map, NUMBER).call(MAP_LOOKUP).end_if_none(0);
    code.copy(TASK, R7).process_number(layout);
    code.op(0x62, FRAME, 0, VALUE, 1).arguments(map, NUMBER);
    code.address(R3, FRAME, VALUE.into()).set(R4, 0).call(MAP_UPDATE_ELEM).end(0);
    code.done()
}

#[cfg(test)]
mod tests {
    use super::super::code::testing::LAYOUT;
    use super::super::code::{PROBE_READ_KERNEL, own_level};
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

    /// Adds a process with this `pid` at our level and returns the address of its task, `pid << 16`.
    fn task(memory: &mut BTreeMap<u64, u64>, pid: u64) -> u64 {
        let [leader, own, level] = LAYOUT.places();
        let (task, numbers) = (pid << 16, (pid << 16) + 0x1000);
        memory.insert(task + leader, task);
        memory.insert(task + own, numbers);
        memory.insert(numbers + u64::from(LAYOUT.at_level()), pid);
        memory.insert(numbers + level, 1);
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
