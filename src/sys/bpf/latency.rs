//! Measures in the kernel how long calls take, from a function's entry to its return or from one probe to another in the
//! same thread, and counts them by length. A call costs its two probes and a few look-ups; nothing is written to a ring.
//!
//! The lengths are counted as an HDR histogram of three digits counts them: below 2048 ns one by one, above in 1024 steps
//! an octave, so that a length is known to a thousandth.

use super::calls::{self, Instruction};
use super::code::{
    AT_LEAST, CONTEXT, Code, EQUAL, FRAME, GET_CURRENT_PID_TGID, KTIME_GET_NS, MAP_DELETE_ELEM, MAP_UPDATE_ELEM, R0,
    R1, R2, R3, R4, R7, TASK, UNEQUAL,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Threads that may be within a call at once. The calls of others are not measured, and counted.
const MOST_THREADS: u32 = 32_768;

/// Steps in an octave.
const STEPS: u64 = 1024;
/// Calls of more bits are counted as the longest of so many: over an hour.
const BITS: i32 = 42;
/// Steps of all lengths.
const LENGTHS: u32 = (32 * STEPS + STEPS) as u32;

/// Where `struct pt_regs` has the stack pointer, which tells a call from those within it.
#[cfg(target_arch = "x86_64")]
const STACK_POINTER: i16 = 152;
#[cfg(target_arch = "aarch64")]
const STACK_POINTER: i16 = 248;

/// Places in the frame: the thread, the number of a length, then when and where the call began.
const KEY: i16 = -4;
const LENGTH: i16 = -8;
const BEGAN: i16 = -24;
const STACK: i16 = -16;

/// What limits a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnds {
    /// The entry and the return of one function: of calls within a call of it, the outermost counts.
    EntryAndReturn,
    /// Two probes of the same thread: the last beginning before an end counts.
    TwoProbes,
}

/// Lengths that are counted as one, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthStep {
    /// The shortest.
    pub low: u64,
    /// What is longer than all of them.
    pub high: u64,
}

/// Beginnings and ends that are no call of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Beginnings without room among the threads that are followed.
    pub crowded: u64,
    /// Ends of calls within a call, and those without a beginning.
    pub ends: u64,
}

/// The programs and their maps.
#[derive(Debug)]
pub struct CallLengths {
    lengths: OwnedFd,
    left_out: OwnedFd,
    begins: OwnedFd,
    ends: OwnedFd,
}

impl CallLengths {
    /// Loads the programs.
    ///
    /// # Errors
    /// As `bpf(2)`, mostly for lack of `CAP_BPF` and `CAP_PERFMON`.
    pub fn open(limits: CallEnds) -> io::Result<CallLengths> {
        let threads = calls::create_map(calls::HASH, 16, MOST_THREADS, 0)?;
        let lengths = calls::create_map(calls::ARRAY, 8, LENGTHS, 0)?;
        let left_out = calls::create_map(calls::ARRAY, 16, 1, 0)?;
        let begins = calls::load(calls::KPROBE, &begins(limits, &threads, &left_out))?;
        let ends = calls::load(calls::KPROBE, &ends(limits, &threads, &lengths, &left_out))?;
        Ok(CallLengths { lengths, left_out, begins, ends })
    }

    /// The program for the event at the beginning of a call, and the one for its end.
    #[must_use]
    pub fn programs(&self) -> [BorrowedFd<'_>; 2] {
        [self.begins.as_fd(), self.ends.as_fd()]
    }

    /// Visits the steps that calls so far had the length of, and the number of these.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn read(&self, mut visit: impl FnMut(LengthStep, u64)) -> io::Result<()> {
        calls::each(&self.lengths, |step, [count]: &[u64; 1]| {
            if *count > 0 {
                visit(LengthStep { low: shortest(step), high: shortest(step + 1) }, *count);
            }
        })
    }

    /// Beginnings and ends so far that are no call of their own.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn left_out(&self) -> io::Result<LeftOut> {
        let [crowded, ends] = calls::get(&self.left_out, 0)?;
        Ok(LeftOut { crowded, ends })
    }
}

/// The shortest length of a step, in nanoseconds.
fn shortest(step: u32) -> u64 {
    let step = u64::from(step);
    let octave = (step / STEPS).saturating_sub(1);
    (step - octave * STEPS) << octave
}

/// Leaves the address of the thread's entry, or 0, in `R0`, and the context in `CONTEXT`.
fn thread<'a>(code: &'a mut Code, threads: &OwnedFd) -> &'a mut Code {
    code.copy(CONTEXT, R1).call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0).look_up(threads, KEY)
}

/// Adds 1 to a word of what is left out, then jumps out.
fn leave_out(code: &mut Code, left_out: &OwnedFd, word: i16) {
    code.op(0x62, FRAME, 0, LENGTH, 0).look_up(left_out, LENGTH).jump_if(EQUAL, R0, 0, "out");
    code.set(R1, 1).op(0xdb, R0, R1, word, 0).jump("out");
}

fn begins(limits: CallEnds, threads: &OwnedFd, left_out: &OwnedFd) -> Vec<Instruction> {
    let mut code = Code::default();
    thread(&mut code, threads).load(R7, CONTEXT, STACK_POINTER);
    if limits == CallEnds::EntryAndReturn {
        // Stacks grow down: a call that began further up is still open. One further down was left without a return.
        code.jump_if(EQUAL, R0, 0, "outermost").load(R1, R0, 8).jump_if_both(AT_LEAST, R7, R1, "outermost");
        code.jump("out").label("outermost");
    }
    code.store(FRAME, STACK, R7).call(KTIME_GET_NS).store(FRAME, BEGAN, R0);
    code.arguments(threads.as_raw_fd(), KEY).address(R3, FRAME, BEGAN.into()).set(R4, 0).call(MAP_UPDATE_ELEM);
    code.jump_if(EQUAL, R0, 0, "out");
    leave_out(&mut code, left_out, 0);
    // The event counts the hit only after a program that returns 1.
    code.label("out").end(1);
    code.done()
}

fn ends(limits: CallEnds, threads: &OwnedFd, lengths: &OwnedFd, left_out: &OwnedFd) -> Vec<Instruction> {
    let mut code = Code::default();
    thread(&mut code, threads).jump_if(EQUAL, R0, 0, "none").copy(TASK, R0);
    if limits == CallEnds::EntryAndReturn {
        code.load(R1, CONTEXT, STACK_POINTER).load(R2, TASK, 8).jump_if_both(AT_LEAST, R1, R2, "outermost");
        code.jump("none").label("outermost");
    }
    code.call(KTIME_GET_NS).copy(R7, R0).load(R1, TASK, 0).subtract(R7, R1);
    code.arguments(threads.as_raw_fd(), KEY).call(MAP_DELETE_ELEM);
    step(&mut code);
    code.look_up(lengths, LENGTH).jump_if(EQUAL, R0, 0, "out").set(R1, 1).op(0xdb, R0, R1, 0, 0).jump("out");
    code.label("none");
    leave_out(&mut code, left_out, 8);
    code.label("out").end(1);
    code.done()
}

/// Writes the number of the step of the length in `R7` to the frame.
fn step(code: &mut Code) {
    code.set(R1, 1).op(0x67, R1, 0, 0, BITS).op(0x07, R1, 0, 0, -1);
    code.jump_if_both(AT_LEAST, R1, R7, "bounded").copy(R7, R1).label("bounded");
    // The octave, in R2: how many bits of the length lie above those of the steps.
    code.copy(R3, R7).op(0x77, R3, 0, 0, 11).set(R2, 0);
    for (bits, below) in [(16, "16"), (8, "8"), (4, "4"), (2, "2"), (1, "1")] {
        code.set(R4, 1).op(0x67, R4, 0, 0, bits).op(0x07, R4, 0, 0, -1);
        code.jump_if_both(AT_LEAST, R4, R3, below).op(0x77, R3, 0, 0, bits).op(0x07, R2, 0, 0, bits).label(below);
    }
    // What is left is the highest bit, 0 or 1.
    code.jump_if(UNEQUAL, R3, 0, "high").jump("found").label("high").op(0x07, R2, 0, 0, 1).label("found");
    code.op(0x7f, R7, R2, 0, 0).op(0x67, R2, 0, 0, 10).add(R7, R2).op(0x63, FRAME, R7, LENGTH, 0);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const LONGEST: u64 = (1 << BITS) - 1;

    /// What the program computes, in Rust.
    fn step_of(length: u64) -> u32 {
        let length = length.min(LONGEST);
        let octave = (64 - (length >> 11).leading_zeros()) as u64;
        (octave * STEPS + (length >> octave)) as u32
    }

    #[test]
    fn every_length_lies_in_its_step_and_steps_are_a_thousandth_wide() {
        for length in [0, 1, 1023, 2047, 2048, 4095, 4096, 1_000_000, 123_456_789, 3_600_000_000_000, LONGEST] {
            let step = step_of(length);
            let (low, next) = (shortest(step), shortest(step + 1));
            assert!(low <= length && length < next, "{length}: {low}..{next}");
            assert!(next - low <= (length / 1000).max(1), "{length}: {low}..{next}");
            assert!(step < LENGTHS);
        }
        assert_eq!(step_of(u64::MAX), LENGTHS - 1);
    }

    /// The program's own arithmetic, run by the kernel on lengths that a test sets in place of the clock's.
    #[test]
    fn the_kernel_counts_each_length_in_its_step() {
        for length in [0_u64, 5, 2047, 2048, 3000, 4096, 1 << 20, (1 << 31) + 12345, 86_400_000_000_000] {
            let mut code = Code::default();
            code.op(0x18, R7, 0, 0, length as u32 as i32).op(0, 0, 0, 0, (length >> 32) as i32);
            step(&mut code);
            code.op(0x61, R0, FRAME, LENGTH, 0).op(0x95, 0, 0, 0, 0);
            let Ok(program) = calls::load(calls::RAW_TRACEPOINT, &code.done()) else { return };
            assert_eq!(calls::run_once(&program).unwrap(), step_of(length), "{length}");
        }
    }

    #[test]
    fn every_step_is_read() {
        let Ok(map) = calls::create_map(calls::ARRAY, 8, LENGTHS, 0) else { return };
        (0..LENGTHS).for_each(|step| calls::set(&map, step, u64::from(step) + 1).unwrap());
        let mut read = Vec::new();
        calls::each(&map, |step, [value]: &[u64; 1]| read.push((step, *value))).unwrap();
        let expected: Vec<_> = (0..LENGTHS).map(|step| (step, u64::from(step) + 1)).collect();
        let missing: Vec<_> = expected.iter().filter(|row| !read.contains(row)).take(5).collect();
        assert!(read == expected, "{} of {}, without {missing:?}", read.len(), expected.len());
    }

    #[test]
    fn the_programs_are_accepted_where_the_user_may_load_any() {
        for limits in [CallEnds::EntryAndReturn, CallEnds::TwoProbes] {
            match CallLengths::open(limits) {
                Ok(lengths) => {
                    lengths.read(|_, _| panic!("nothing was called")).unwrap();
                    assert_eq!(lengths.left_out().unwrap(), LeftOut::default());
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}"),
            }
        }
    }
}
