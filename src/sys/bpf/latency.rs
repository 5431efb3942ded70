//! Measures in the kernel how long calls take, from a function's entry to its return or from one probe to another in the
//! same thread, and counts them by length. A call costs its two probes and a few look-ups.
//!
//! The lengths are counted as an HDR histogram of three digits counts them: below 2048 ns one by one, above in 1024 steps
//! an octave, so that a length is known to a thousandth.
//!
//! Calls as long as a threshold, and a random part of the others, are kept in a queue, each with what its thread did
//! within it: the time it was off the CPU comes from the sums of [`WaitSums`], its faults from the kernel's own counts.

use super::calls::{self, Instruction};
use super::code::{
    AT_LEAST, CONTEXT, Code, EQUAL, FRAME, GET_CURRENT_PID_TGID, GET_CURRENT_TASK, GET_PRANDOM, KTIME_GET_NS,
    MAP_DELETE_ELEM, MAP_PUSH_ELEM, MAP_UPDATE_ELEM, R0, R1, R2, R3, R4, R7, R8, TASK, UNEQUAL,
};
use super::open_calls::{BEGAN, BEGIN_WORDS, BLOCKED, FAULTS, INTERRUPTED, OpenCalls, QUEUED, STACK};
use super::return_sites::ReturnSites;
use super::thread_entry;
use super::wait_sums::WaitSums;
use crate::sys::btf::Btf;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

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

/// Calls that wait in the queue for a reader, at most.
pub const MOST_KEPT: u32 = 65_536;

/// Places in the frame: the thread, the number of a length or another index.
const KEY: i16 = -4;
const LENGTH: i16 = -8;

/// The entry in the frame of the program at the beginning.
const ENTRY: i16 = LENGTH - 8 * BEGIN_WORDS;
/// The return address, in the same frame.
const SITE: i16 = ENTRY - 8;

/// Words of a kept call, in the frame of the program at the end: process and thread, when it began and ended, then as in
/// the entry, the number of calls that it stands for.
const CALL_WORDS: usize = 9;
const CALL: i16 = LENGTH - 8 * CALL_WORDS as i16;
const CALL_BEGAN: i16 = CALL + 8;
const CALL_ENDED: i16 = CALL + 16;
const CALL_BLOCKED: i16 = CALL + 24;
const CALL_QUEUED: i16 = CALL + 32;
const CALL_INTERRUPTED: i16 = CALL + 40;
const CALL_FAULTS: i16 = CALL + 48;
const CALL_WEIGHT: i16 = CALL + 64;
/// What the kernel counts at the end.
const FAULTS_NOW: i16 = CALL - 16;

/// What a thread has waited: where its sum lies, where that at the beginning of a call does, and where its growth goes.
const WAITED: [(i16, i16, i16); 3] = [
    (thread_entry::BLOCKED, BLOCKED, CALL_BLOCKED),
    (thread_entry::QUEUED, QUEUED, CALL_QUEUED),
    (thread_entry::INTERRUPTED, INTERRUPTED, CALL_INTERRUPTED),
];

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

/// Beginnings and ends that were not measured as calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Beginnings without room among the threads that are followed.
    pub crowded: u64,
    /// Ends of calls within a call, and those without a beginning.
    pub ends: u64,
    /// Calls that were to be kept and found no room in the queue.
    pub unkept: u64,
}

/// A call that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptCall {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// When it began, `CLOCK_MONOTONIC`, nanoseconds.
    pub began: u64,
    /// When it ended.
    pub ended: u64,
    /// The time its thread was blocked within it, nanoseconds; `None` if waits are not summed.
    pub blocked: Option<u64>,
    /// The time its thread was runnable without a CPU.
    pub queued: Option<u64>,
    /// The time that interrupts took of its thread.
    pub interrupted: Option<u64>,
    /// Its page faults without and with a read from storage; `None` if the kernel does not tell where it counts them.
    pub faults: Option<[u64; 2]>,
    /// How many calls it stands for.
    pub weight: u64,
}

/// The programs and their maps.
#[derive(Debug)]
pub struct CallLengths {
    open: OpenCalls,
    /// Where the function returns to, if its return is measured.
    sites: Option<ReturnSites>,
    lengths: OwnedFd,
    left_out: OwnedFd,
    kept: OwnedFd,
    begins: OwnedFd,
    ends: OwnedFd,
    has_waits: bool,
    has_faults: bool,
}

struct Maps<'a> {
    open: &'a OpenCalls,
    sites: Option<&'a ReturnSites>,
    lengths: &'a OwnedFd,
    left_out: &'a OwnedFd,
    kept: &'a OwnedFd,
    /// The entries of [`WaitSums`].
    waits: Option<&'a OwnedFd>,
    /// Where a task has its counts of faults, minor ones first.
    faults: Option<u32>,
}

impl CallLengths {
    /// Loads the programs. The time that threads wait comes from `waits`, which are of at least the same threads. Reads the
    /// kernel's types below `root`.
    ///
    /// # Errors
    /// As `bpf(2)`, mostly for lack of `CAP_BPF` and `CAP_PERFMON`.
    pub fn open(limits: CallEnds, waits: Option<&WaitSums>, root: &Path) -> io::Result<CallLengths> {
        let open = waits.and_then(WaitSums::open_calls).map_or_else(OpenCalls::create, OpenCalls::try_clone)?;
        let returns = limits == CallEnds::EntryAndReturn;
        let sites = if returns { Some(ReturnSites::create()?) } else { None };
        let lengths = calls::create_map(calls::ARRAY, 8, LENGTHS, 0)?;
        let left_out = calls::create_map(calls::ARRAY, 24, 1, 0)?;
        let kept = calls::create_queue(8 * CALL_WORDS as u32, MOST_KEPT)?;
        let maps = Maps {
            open: &open,
            sites: sites.as_ref(),
            lengths: &lengths,
            left_out: &left_out,
            kept: &kept,
            waits: waits.map(WaitSums::threads),
            faults: faults_of_task(root),
        };
        let begins = calls::load(calls::KPROBE, &begins(limits, &maps))?;
        let ends = calls::load(calls::KPROBE, &ends(limits, &maps))?;
        let (has_waits, has_faults) = (maps.waits.is_some(), maps.faults.is_some());
        Ok(CallLengths { open, sites, lengths, left_out, kept, begins, ends, has_waits, has_faults })
    }

    /// Where the function returns to; `None` where its return address stays as it is.
    ///
    /// # Errors
    /// As `dup(2)`.
    pub fn return_sites(&self) -> io::Result<Option<ReturnSites>> {
        self.sites.as_ref().map(ReturnSites::try_clone).transpose()
    }

    /// Keeps every call of at least `threshold` nanoseconds, and of the shorter ones one in `spacing`.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn keep(&self, threshold: u64, spacing: u64) -> io::Result<()> {
        let spacing = spacing.max(1);
        calls::set(&self.open.choice, 0, [threshold, (1 << 32) / spacing, spacing])
    }

    /// Takes the calls that were kept since the last time.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn take(&self, mut visit: impl FnMut(KeptCall)) -> io::Result<()> {
        // Calls go on meanwhile.
        for _ in 0..MOST_KEPT {
            let Some(words) = calls::pop::<CALL_WORDS>(&self.kept)? else { break };
            visit(self.kept_call(&words));
        }
        Ok(())
    }

    fn kept_call(&self, words: &[u64; CALL_WORDS]) -> KeptCall {
        let [ids, began, ended, blocked, queued, interrupted, minor, major, weight] = *words;
        KeptCall {
            pid: ids as u32,
            tid: (ids >> 32) as u32,
            began,
            ended,
            blocked: self.has_waits.then_some(blocked),
            queued: self.has_waits.then_some(queued),
            interrupted: self.has_waits.then_some(interrupted),
            faults: self.has_faults.then_some([minor, major]),
            weight,
        }
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

    /// Forgets the calls that have begun and not ended.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn forget_open(&self) -> io::Result<()> {
        let mut threads = Vec::new();
        calls::each(&self.open.threads, |tid, _: &[u64; BEGIN_WORDS as usize]| threads.push(tid))?;
        // One that has ended meanwhile is gone already.
        threads.into_iter().for_each(|tid| drop(calls::remove(&self.open.threads, tid)));
        Ok(())
    }

    /// Beginnings and ends so far that were not measured as calls.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn left_out(&self) -> io::Result<LeftOut> {
        let [crowded, ends, unkept] = calls::get(&self.left_out, 0)?;
        Ok(LeftOut { crowded, ends, unkept })
    }
}

/// The shortest length of a step, in nanoseconds.
fn shortest(step: u32) -> u64 {
    let step = u64::from(step);
    let octave = (step / STEPS).saturating_sub(1);
    (step - octave * STEPS) << octave
}

/// Where a task has its counts of faults without and with a read from storage, if they lie side by side.
fn faults_of_task(root: &Path) -> Option<u32> {
    let btf = Btf::of_kernel(root, &["task_struct"]).ok()?;
    let minor = btf.offset("task_struct", "min_flt")?;
    (btf.offset("task_struct", "maj_flt")? == minor + 8).then_some(minor)
}

/// Leaves the address of the thread's entry, or 0, in `R0`.
fn thread<'a>(code: &'a mut Code, threads: &OwnedFd) -> &'a mut Code {
    code.call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0).look_up(threads, KEY)
}

/// Reads the faults of the current task to a place in the frame; zeros where they are not known.
fn read_faults(code: &mut Code, maps: &Maps<'_>, place: i16) {
    code.clear(FRAME, place).clear(FRAME, place + 8);
    if let Some(faults) = maps.faults {
        code.call(GET_CURRENT_TASK).copy(TASK, R0).read(place, 16, faults);
    }
}

/// Adds 1 to a word of what is left out, then jumps out.
fn leave_out(code: &mut Code, maps: &Maps<'_>, word: i16) {
    code.op(0x62, FRAME, 0, LENGTH, 0).look_up(maps.left_out, LENGTH).jump_if(EQUAL, R0, 0, "out");
    code.set(R1, 1).op(0xdb, R0, R1, word, 0).jump("out");
}

fn begins(limits: CallEnds, maps: &Maps<'_>) -> Vec<Instruction> {
    let mut code = Code::default();
    code.copy(CONTEXT, R1).load(R7, CONTEXT, STACK_POINTER);
    if let Some(sites) = maps.sites {
        // Of calls within a call, too: the kernel replaces the return address of each.
        sites.add(&mut code, R7, SITE);
    }
    thread(&mut code, &maps.open.threads);
    if limits == CallEnds::EntryAndReturn {
        // Stacks grow down: a call that began further up is still open. One further down was left without a return.
        code.jump_if(EQUAL, R0, 0, "outermost").load(R1, R0, STACK).jump_if_both(AT_LEAST, R7, R1, "outermost");
        code.jump("out").label("outermost");
    }
    code.store(FRAME, ENTRY + STACK, R7);
    for (_, place, _) in WAITED {
        code.clear(FRAME, ENTRY + place);
    }
    read_faults(&mut code, maps, ENTRY + FAULTS);
    if let Some(waits) = maps.waits {
        code.look_up(waits, KEY).jump_if(EQUAL, R0, 0, "never waited");
        for (sum, place, _) in WAITED {
            code.load(R1, R0, sum).store(FRAME, ENTRY + place, R1);
        }
        code.label("never waited");
    }
    code.call(KTIME_GET_NS).store(FRAME, ENTRY + BEGAN, R0);
    code.arguments(maps.open.threads.as_raw_fd(), KEY)
        .address(R3, FRAME, ENTRY.into())
        .set(R4, 0)
        .call(MAP_UPDATE_ELEM);
    code.jump_if(EQUAL, R0, 0, "out");
    leave_out(&mut code, maps, 0);
    // The event counts the hit only after a program that returns 1.
    code.label("out").end(1);
    code.done()
}

fn ends(limits: CallEnds, maps: &Maps<'_>) -> Vec<Instruction> {
    let mut code = Code::default();
    code.copy(CONTEXT, R1);
    thread(&mut code, &maps.open.threads).jump_if(EQUAL, R0, 0, "none").copy(TASK, R0);
    if limits == CallEnds::EntryAndReturn {
        code.load(R1, CONTEXT, STACK_POINTER).load(R2, TASK, STACK).jump_if_both(AT_LEAST, R1, R2, "outermost");
        code.jump("none").label("outermost");
    }
    code.call(KTIME_GET_NS).store(FRAME, CALL_ENDED, R0).copy(R7, R0);
    code.load(R1, TASK, BEGAN).store(FRAME, CALL_BEGAN, R1).subtract(R7, R1).copy(R8, R7);
    let waited = WAITED.map(|(_, from, to)| (from, to));
    for (from, to) in waited.into_iter().chain([(FAULTS, CALL_FAULTS), (FAULTS + 8, CALL_FAULTS + 8)]) {
        code.load(R1, TASK, from).store(FRAME, to, R1);
    }
    code.arguments(maps.open.threads.as_raw_fd(), KEY).call(MAP_DELETE_ELEM);
    step(&mut code);
    code.look_up(maps.lengths, LENGTH).jump_if(EQUAL, R0, 0, "out").set(R1, 1).op(0xdb, R0, R1, 0, 0);
    keep(&mut code, maps);
    code.label("none");
    leave_out(&mut code, maps, 8);
    code.label("out").end(1);
    code.done()
}

/// Keeps the call in the frame, of the length in `R8`, if it is long or drawn; then jumps out.
fn keep(code: &mut Code, maps: &Maps<'_>) {
    code.op(0x62, FRAME, 0, LENGTH, 0).look_up(&maps.open.choice, LENGTH).jump_if(EQUAL, R0, 0, "out").copy(R7, R0);
    code.set(R1, 1).store(FRAME, CALL_WEIGHT, R1).load(R1, R7, 0).jump_if_both(AT_LEAST, R8, R1, "keep");
    code.call(GET_PRANDOM).op(0xbc, R0, R0, 0, 0).load(R1, R7, 8).jump_if_both(AT_LEAST, R0, R1, "out");
    code.load(R1, R7, 16).store(FRAME, CALL_WEIGHT, R1);
    code.label("keep").call(GET_CURRENT_PID_TGID).copy(R1, R0).op(0x77, R1, 0, 0, 32).op(0x67, R0, 0, 0, 32);
    code.add(R0, R1).store(FRAME, CALL, R0);
    if let Some(waits) = maps.waits {
        code.look_up(waits, KEY).jump_if(EQUAL, R0, 0, "never waited");
        // As seen in our pid namespace.
        code.load(R1, R0, thread_entry::IDS).store(FRAME, CALL, R1);
        for (sum, _, place) in WAITED {
            since(code, R0, sum, place);
        }
        code.label("never waited");
    }
    read_faults(code, maps, FAULTS_NOW);
    since(code, FRAME, FAULTS_NOW, CALL_FAULTS);
    since(code, FRAME, FAULTS_NOW + 8, CALL_FAULTS + 8);
    code.map(R1, maps.kept.as_raw_fd()).address(R2, FRAME, CALL.into()).set(R3, 0).call(MAP_PUSH_ELEM);
    code.jump_if(EQUAL, R0, 0, "out");
    leave_out(code, maps, 16);
}

/// Replaces a count in the frame by how much it has grown to the one at `from + now`.
fn since(code: &mut Code, from: u8, now: i16, place: i16) {
    code.load(R1, from, now).load(R2, FRAME, place).subtract(R1, R2).store(FRAME, place, R1);
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
            let program = match calls::load(calls::RAW_TRACEPOINT, &code.done()) {
                Ok(program) => program,
                Err(error) => return crate::skips::skip("bpf", format!("no BPF here: {error}")),
            };
            assert_eq!(calls::run_once(&program).unwrap(), step_of(length), "{length}");
        }
    }

    #[test]
    fn every_step_is_read() {
        let map = match calls::create_map(calls::ARRAY, 8, LENGTHS, 0) {
            Ok(map) => map,
            Err(error) => return crate::skips::skip("bpf", format!("no BPF here: {error}")),
        };
        (0..LENGTHS).for_each(|step| calls::set(&map, step, u64::from(step) + 1).unwrap());
        let mut read = Vec::new();
        calls::each(&map, |step, [value]: &[u64; 1]| read.push((step, *value))).unwrap();
        let expected: Vec<_> = (0..LENGTHS).map(|step| (step, u64::from(step) + 1)).collect();
        let missing: Vec<_> = expected.iter().filter(|row| !read.contains(row)).take(5).collect();
        assert!(read == expected, "{} of {}, without {missing:?}", read.len(), expected.len());
    }

    #[test]
    fn the_programs_are_accepted_where_the_user_may_load_any() {
        let root = Path::new("/");
        for limits in [CallEnds::EntryAndReturn, CallEnds::TwoProbes] {
            let waits = OpenCalls::create().and_then(|calls| WaitSums::open(None, Some(calls), root)).ok();
            match CallLengths::open(limits, waits.as_ref(), root) {
                Ok(lengths) => {
                    lengths.keep(1_000_000, 100).unwrap();
                    lengths.read(|_, _| panic!("nothing was called")).unwrap();
                    lengths.take(|_| panic!("nothing was called")).unwrap();
                    assert_eq!(lengths.left_out().unwrap(), LeftOut::default());
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}"),
            }
        }
    }
}
