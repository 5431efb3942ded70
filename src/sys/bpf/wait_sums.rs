//! Sums the waits of threads in the kernel, by the state they left the CPU in, and passes on a part of them with their
//! stacks. Nothing is written at an ordinary switch, so the cost of a wait is that of a few look-ups.
//!
//! Three programs share one map of threads. The first runs when a thread leaves its CPU and notes when and how, the
//! second when one is woken, the third when one is back on a CPU: only there is the length of the wait known, and the
//! thread's own stack is at hand. A wait of length `d` is passed on with probability `min(1, d / spacing)`, else added
//! to the thread's sums: every wait of at least the spacing comes with its stack, and of all shorter ones a share that
//! is proportional to their time. Stacks so stand for the time waited as samples of a clock do, however many waits
//! there are, and at most one in each spacing of waited time is taken on average. Within a call whose latency is measured
//! the spacing is a part of it, and every wait is passed on once the call is among the slow ones.

use super::calls::{self, Instruction};
use super::code::{
    ANY_BIT, AT_LEAST, CONTEXT, Code, EQUAL, FRAME, GET_CURRENT_PID_TGID, GET_PRANDOM, KTIME_GET_NS, MAP_DELETE_ELEM,
    MAP_UPDATE_ELEM, NUMBER, PERF_EVENT_OUTPUT, R0, R1, R2, R3, R4, R5, R7, R8, TASK, TaskLayout, UNEQUAL,
};
use super::interrupts;
use super::open_calls::{self, OpenCalls};
use super::process_filter::ProcessFilter;
use super::run_times::{Links, RunTimes};
use super::thread_entry::{BLOCKED, IDS, LEFT, QUEUED, STATE, STATES, SUMS, WOKEN, WORDS};
use crate::units::Nanos;
use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::PoisonError;

/// `PERF_COUNT_SW_BPF_OUTPUT`: the software event whose samples programs write.
pub const OUTPUT: u64 = 10;

/// Threads that may be followed at once. The waits of others are not seen.
const MOST_THREADS: u32 = 131_072;

/// CPUs of the largest machines that Linux runs on.
const MOST_CPUS: u32 = 8192;

/// Words of a wait that is passed on: those of the entry before the sums, when it ran again, the spacing.
const WAIT_WORDS: usize = 6;
const RAN: i16 = 32;
const SPACING: i16 = 40;

/// The spacing within a call is this much shorter, as a power of two.
const CLOSER: i32 = 4;

/// Places in the frame.
const KEY: i16 = -20;
const ELAPSED: i16 = -16;
const FIRST: i16 = -24;
const WAIT: i16 = -24 - 8 * WAIT_WORDS as i16;
const ENTRY: i16 = WAIT - 8 * WORDS as i16;

/// Words of the settings: the spacing, then what the stacks have cost.
const SETTINGS: usize = 4;
const STACKS: i16 = 8;
const STACK_NS: i16 = 16;
const UNFOLLOWED: i16 = 24;

/// Bits of `prev_state` in `sched_switch`.
const SLEEPS: i32 = 0x1;
const UNINTERRUPTIBLE: i32 = 0x2;
const DEAD: i32 = 0x80;
/// An idle kernel thread: uninterruptible, and not counted in the load.
const IDLE: i32 = 0x402;

/// The waits of a thread that left the CPU in one state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub count: u64,
    /// Time blocked.
    pub blocked: Nanos,
    /// Time runnable without a CPU.
    pub queued: Nanos,
    /// The longest of them, blocked and queued.
    pub longest: Nanos,
}

/// A thread off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// When it left, `CLOCK_MONOTONIC`, nanoseconds.
    pub at: u64,
    /// When it was woken.
    pub woken: Option<u64>,
    /// The state it left in, below [`STATES`].
    pub state: usize,
}

/// A thread's waits without those that were passed on, since it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSums {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Whether it is off the CPU.
    pub left: Option<Left>,
    /// By the state it left in.
    pub sums: [Sum; STATES],
}

/// What a program writes to the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitRecord {
    /// A wait, with the stack in the same sample.
    Wait {
        /// Process id.
        pid: u32,
        /// Thread id.
        tid: u32,
        /// When and how it left.
        left: Left,
        /// When it ran again.
        ran: u64,
        /// The spacing that it was chosen by.
        spacing: Nanos,
    },
    /// The last sums of a thread that has ended.
    Ended(ThreadSums),
}

impl WaitRecord {
    /// Reads the raw part of a sample, which the kernel pads at the end.
    #[must_use]
    pub fn parse(raw: &[u8]) -> Option<WaitRecord> {
        let mut words = [0; WORDS];
        let given = raw.len() / 8;
        for (word, bytes) in words.iter_mut().zip(raw.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        let all = ThreadSums::of(&words);
        match given {
            WORDS.. => Some(WaitRecord::Ended(all)),
            WAIT_WORDS.. => Some(WaitRecord::Wait {
                pid: all.pid,
                tid: all.tid,
                left: all.left?,
                ran: words[4],
                spacing: Nanos(words[5]),
            }),
            _ => None,
        }
    }
}

impl ThreadSums {
    fn of(words: &[u64; WORDS]) -> ThreadSums {
        let [ids, at, woken, state] = [words[0], words[1], words[2], words[3]];
        let left = Left { at, woken: (woken > at).then_some(woken), state: (state as usize).min(STATES - 1) };
        let sum = |state: usize| {
            let [count, blocked, queued, longest] = [0, 1, 2, 3].map(|word| words[4 + 4 * state + word]);
            Sum { count, blocked: Nanos(blocked), queued: Nanos(queued), longest: Nanos(longest) }
        };
        ThreadSums {
            pid: ids as u32,
            tid: (ids >> 32) as u32,
            left: (at > 0).then_some(left),
            sums: std::array::from_fn(sum),
        }
    }
}

/// The programs and their maps. Dropping it stops the sums.
#[derive(Debug)]
pub struct WaitSums {
    filter: Option<ProcessFilter>,
    threads: OwnedFd,
    settings: OwnedFd,
    out: OwnedFd,
    calls: Option<OpenCalls>,
    programs: Vec<(OwnedFd, &'static CStr)>,
    attached: Links,
}

impl WaitSums {
    /// Loads the programs, for the threads of the processes in `filter` or for all threads. More waits are passed on within
    /// `calls`. Reads the kernel's types below `root`.
    ///
    /// # Errors
    /// As `bpf(2)`, mostly for lack of `CAP_BPF` and `CAP_PERFMON`.
    pub fn open(filter: Option<ProcessFilter>, calls: Option<OpenCalls>, root: &Path) -> io::Result<WaitSums> {
        let layout = filter.as_ref().map_or_else(|| TaskLayout::of_kernel(root), |filter| Ok(filter.layout))?;
        let threads = calls::create_map(calls::HASH, 8 * WORDS as u32, MOST_THREADS, calls::AS_NEEDED)?;
        let settings = calls::create_map(calls::ARRAY, 8 * SETTINGS as u32, 1, 0)?;
        let out = calls::create_map(calls::PERF_EVENT_ARRAY, 4, MOST_CPUS, 0)?;
        let maps = Maps { threads: &threads, settings: &settings, out: &out };
        let load = |program: Vec<Instruction>| calls::load(calls::RAW_TRACEPOINT, &program);
        let mut programs = vec![
            (load(runs(&maps, calls.as_ref()))?, c"sched_exit_tp"),
            (load(woken(&maps, &layout))?, c"sched_waking"),
            (load(leaves(&maps, &layout, filter.as_ref().map(|filter| &filter.map)))?, c"sched_switch"),
        ];
        if calls.is_some() {
            programs.extend(interrupts::programs(&threads)?);
        }
        let sums = WaitSums { filter, threads, settings, out, calls, programs, attached: Links::default() };
        // A kernel without one of the tracepoints refuses here.
        sums.links().map(drop)?;
        Ok(sums)
    }

    /// The processes whose threads are followed; `None` for all.
    #[must_use]
    pub fn filter(&self) -> Option<&ProcessFilter> {
        self.filter.as_ref()
    }

    /// Sends what is passed on from a CPU to an event on it.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn send(&self, cpu: u32, event: impl AsFd) -> io::Result<()> {
        calls::set(&self.out, cpu, event.as_fd().as_raw_fd() as u32)
    }

    /// Sets the spacing of stacks, in waited time of each thread.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn space(&self, spacing: Nanos) -> io::Result<()> {
        let mut settings: [u64; SETTINGS] = calls::get(&self.settings, 0)?;
        // The program multiplies it with a number of 32 bits.
        settings[0] = spacing.0.min(u64::from(u32::MAX));
        calls::set(&self.settings, 0, settings)
    }

    /// Starts.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn start(&mut self) -> io::Result<()> {
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = self.links()?;
        Ok(())
    }

    /// Stops: the sums stay as they are.
    pub fn stop(&mut self) {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What measures the cost of the programs in the followed threads, on another thread.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn run_times(&self) -> io::Result<RunTimes> {
        RunTimes::open(&self.programs, &self.threads, Links::clone(&self.attached))
    }

    fn links(&self) -> io::Result<Vec<OwnedFd>> {
        self.programs.iter().map(|(program, name)| calls::attach(program, name)).collect()
    }

    /// Visits all followed threads.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn read(&self, mut visit: impl FnMut(&ThreadSums)) -> io::Result<()> {
        calls::each(&self.threads, |_, words: &[u64; WORDS]| visit(&ThreadSums::of(words)))
    }

    /// The calls within which more waits are passed on.
    pub(super) fn open_calls(&self) -> Option<&OpenCalls> {
        self.calls.as_ref()
    }

    /// The entries of the threads, by their number in the first pid namespace.
    pub(super) fn threads(&self) -> &OwnedFd {
        &self.threads
    }

    /// Where the kernel put the machine code of the programs, as far as it says that.
    #[must_use]
    pub fn machine_code(&self) -> Vec<Range<u64>> {
        self.programs.iter().filter_map(|(program, _)| calls::machine_code(program)).collect()
    }

    /// What passing waits on has cost the threads so far, measured where they do it.
    #[must_use]
    pub fn cost(&self) -> Nanos {
        stacks_time(&self.settings).unwrap_or_default()
    }

    /// Reads the same on another thread.
    ///
    /// # Errors
    /// As `dup(2)`.
    pub fn stacks_time(&self) -> io::Result<StacksTime> {
        self.settings.try_clone().map(StacksTime)
    }

    /// Times that a thread found no room among those followed.
    #[must_use]
    pub fn unfollowed(&self) -> u64 {
        let [_, _, _, unfollowed] = calls::get::<SETTINGS>(&self.settings, 0).unwrap_or_default();
        unfollowed
    }
}

/// Reads what passing waits on has cost the threads.
#[derive(Debug)]
pub struct StacksTime(OwnedFd);

impl StacksTime {
    /// The time so far.
    ///
    /// # Errors
    /// As `bpf(2)`.
    pub fn read(&self) -> io::Result<Nanos> {
        stacks_time(&self.0)
    }
}

fn stacks_time(settings: &OwnedFd) -> io::Result<Nanos> {
    calls::get::<SETTINGS>(settings, 0).map(|[_, _, time, _]| Nanos(time))
}

struct Maps<'a> {
    threads: &'a OwnedFd,
    settings: &'a OwnedFd,
    out: &'a OwnedFd,
}

/// Runs in a thread that leaves its CPU. Arguments: whether it is preempted, the thread, the next one, its state.
fn leaves(maps: &Maps<'_>, layout: &TaskLayout, processes: Option<&OwnedFd>) -> Vec<Instruction> {
    let mut code = Code::default();
    code.copy(CONTEXT, R1).call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0);
    // The idle thread of each CPU has number 0.
    code.op(0xbc, R1, R0, 0, 0).jump_if(EQUAL, R1, 0, "out");
    code.look_up(maps.threads, KEY).jump_if(UNEQUAL, R0, 0, "known");
    meet(&mut code, maps, layout, processes);
    code.label("known").copy(TASK, R0).load(R7, CONTEXT, 24).jump_if(ANY_BIT, R7, DEAD, "ended");
    code.load(R1, CONTEXT, 0).op(0x57, R1, 0, 0, 0xff).jump_if(UNEQUAL, R1, 0, "runnable");
    code.copy(R1, R7).op(0x57, R1, 0, 0, IDLE).jump_if(EQUAL, R1, IDLE, "sleeping");
    code.jump_if(ANY_BIT, R7, SLEEPS, "sleeping").jump_if(ANY_BIT, R7, UNINTERRUPTIBLE, "uninterruptible");
    code.op(0x57, R7, 0, 0, 0xff).jump_if(EQUAL, R7, 0, "runnable");
    code.set(R7, 3).jump("left");
    code.label("runnable").set(R7, 0).jump("left");
    code.label("sleeping").set(R7, 1).jump("left");
    code.label("uninterruptible").set(R7, 2);
    code.label("left").store(TASK, STATE, R7).clear(TASK, WOKEN).call(KTIME_GET_NS).store(TASK, LEFT, R0).end(0);
    code.label("ended").clear(TASK, LEFT);
    output(&mut code, maps).copy(R4, TASK).set(R5, 8 * WORDS as i32).call(PERF_EVENT_OUTPUT);
    code.arguments(maps.threads.as_raw_fd(), KEY).call(MAP_DELETE_ELEM);
    code.label("out").end(0);
    code.done()
}

/// Adds the thread that leaves if its process is followed, and leaves the address of its entry in `R0`.
fn meet(code: &mut Code, maps: &Maps<'_>, layout: &TaskLayout, processes: Option<&OwnedFd>) {
    code.load(TASK, CONTEXT, 8).process_number(layout).copy_number(ENTRY, NUMBER);
    if let Some(processes) = processes {
        code.look_up(processes, NUMBER).jump_if(EQUAL, R0, 0, "out");
    }
    code.load(TASK, CONTEXT, 8).thread_number(layout).copy_number(ENTRY + 4, NUMBER);
    for word in 1..WORDS as i16 {
        code.clear(FRAME, ENTRY + 8 * word);
    }
    code.arguments(maps.threads.as_raw_fd(), KEY).address(R3, FRAME, ENTRY.into()).set(R4, 0).call(MAP_UPDATE_ELEM);
    code.look_up(maps.threads, KEY).jump_if(UNEQUAL, R0, 0, "known");
    settings(code, maps).jump_if(EQUAL, R0, 0, "out").set(R1, 1).op(0xdb, R0, R1, UNFOLLOWED, 0).jump("out");
}

/// Runs in whoever wakes a thread, which is the first argument.
fn woken(maps: &Maps<'_>, layout: &TaskLayout) -> Vec<Instruction> {
    let mut code = Code::default();
    code.load(TASK, R1, 0).first_number(layout, KEY).look_up(maps.threads, KEY).jump_if(EQUAL, R0, 0, "out");
    code.copy(TASK, R0).load(R1, TASK, LEFT).jump_if(EQUAL, R1, 0, "out");
    code.load(R1, TASK, STATE).jump_if(EQUAL, R1, 0, "out");
    // Only the first wake-up counts.
    code.load(R1, TASK, WOKEN).jump_if(UNEQUAL, R1, 0, "out");
    code.call(KTIME_GET_NS).store(TASK, WOKEN, R0);
    code.label("out").end(0);
    code.done()
}

/// Runs in a thread that is back on a CPU.
fn runs(maps: &Maps<'_>, calls: Option<&OpenCalls>) -> Vec<Instruction> {
    let mut code = Code::default();
    code.copy(CONTEXT, R1).call(GET_CURRENT_PID_TGID).op(0x63, FRAME, R0, KEY, 0);
    code.look_up(maps.threads, KEY).jump_if(EQUAL, R0, 0, "out").copy(TASK, R0);
    code.load(R7, TASK, LEFT).jump_if(EQUAL, R7, 0, "out").clear(TASK, LEFT).call(KTIME_GET_NS).copy(R8, R0);
    code.load(R1, TASK, IDS).store(FRAME, WAIT + IDS, R1).store(FRAME, WAIT + LEFT, R7).store(FRAME, WAIT + RAN, R8);
    code.load(R1, TASK, WOKEN).jump_if_both(AT_LEAST, R1, R7, "split").set(R1, 0);
    code.label("split").store(FRAME, WAIT + WOKEN, R1).load(R1, TASK, STATE).store(FRAME, WAIT + STATE, R1);
    code.subtract(R8, R7);
    split(&mut code);
    code.load(R4, TASK, BLOCKED).add(R4, R2).store(TASK, BLOCKED, R4);
    code.load(R4, TASK, QUEUED).add(R4, R3).store(TASK, QUEUED, R4);
    // Passed on if a random number below the spacing is below the length, which is in R8.
    settings(&mut code, maps).jump_if(EQUAL, R0, 0, "out").copy(R7, R0).load(R1, R7, 0).store(
        FRAME,
        WAIT + SPACING,
        R1,
    );
    if let Some(calls) = calls {
        closer(&mut code, calls);
    }
    code.call(GET_PRANDOM).op(0xbc, R0, R0, 0, 0).load(R1, FRAME, WAIT + SPACING).op(0x2f, R0, R1, 0, 0);
    code.op(0x77, R0, 0, 0, 32).jump_if_both(AT_LEAST, R0, R8, "sum");
    output(&mut code, maps).address(R4, FRAME, WAIT.into()).set(R5, 8 * WAIT_WORDS as i32).call(PERF_EVENT_OUTPUT);
    // Without room in the ring, it is summed like the others.
    code.jump_if(UNEQUAL, R0, 0, "sum").set(R1, 1).op(0xdb, R7, R1, STACKS, 0);
    code.call(KTIME_GET_NS).load(R1, FRAME, WAIT + RAN).subtract(R0, R1).op(0xdb, R7, R0, STACK_NS, 0).jump("out");
    sum(&mut code);
    code.label("out").end(0);
    code.done()
}

/// Shortens the spacing in the frame within a call; in a slow one to the length of the wait, in `R8`.
fn closer(code: &mut Code, calls: &OpenCalls) {
    code.look_up(&calls.threads, KEY).jump_if(EQUAL, R0, 0, "chosen");
    code.load(R1, R0, open_calls::BEGAN).load(R2, FRAME, WAIT + RAN).subtract(R2, R1).store(FRAME, ELAPSED, R2);
    code.load(R1, FRAME, WAIT + SPACING).op(0x77, R1, 0, 0, CLOSER).store(FRAME, WAIT + SPACING, R1);
    code.op(0x62, FRAME, 0, FIRST, 0).look_up(&calls.choice, FIRST).jump_if(EQUAL, R0, 0, "chosen");
    code.load(R1, R0, 0).load(R2, FRAME, ELAPSED).jump_if_both(AT_LEAST, R1, R2, "chosen");
    code.store(FRAME, WAIT + SPACING, R8).label("chosen");
}

/// Splits the wait in the frame, of the length in `R8`: its state in `R1`, the time blocked in `R2`, queued in `R3`.
fn split(code: &mut Code) {
    code.copy(R2, R8).set(R3, 0).load(R1, FRAME, WAIT + STATE).jump_if(UNEQUAL, R1, 0, "blocked");
    code.set(R2, 0).copy(R3, R8).jump("parts");
    code.label("blocked").load(R4, FRAME, WAIT + WOKEN).jump_if(EQUAL, R4, 0, "parts");
    code.load(R3, FRAME, WAIT + RAN).subtract(R3, R4).subtract(R2, R3).label("parts");
}

/// Adds the wait in the frame, of the length in `R8`, to the entry in `TASK`.
fn sum(code: &mut Code) {
    split(code.label("sum"));
    code.op(0x57, R1, 0, 0, 3).op(0x67, R1, 0, 0, 5).add(TASK, R1);
    code.load(R4, TASK, SUMS).op(0x07, R4, 0, 0, 1).store(TASK, SUMS, R4);
    code.load(R4, TASK, SUMS + 8).add(R4, R2).store(TASK, SUMS + 8, R4);
    code.load(R4, TASK, SUMS + 16).add(R4, R3).store(TASK, SUMS + 16, R4);
    code.load(R4, TASK, SUMS + 24).jump_if_both(AT_LEAST, R4, R8, "out").store(TASK, SUMS + 24, R8);
}

/// Leaves the address of the settings in `R0`.
fn settings<'a>(code: &'a mut Code, maps: &Maps<'_>) -> &'a mut Code {
    code.op(0x62, FRAME, 0, FIRST, 0).look_up(maps.settings, FIRST)
}

/// Loads the arguments of an output but for what is written: the context, the events, the current CPU's.
fn output<'a>(code: &'a mut Code, maps: &Maps<'_>) -> &'a mut Code {
    code.copy(R1, CONTEXT).map(R2, maps.out.as_raw_fd()).op(0xb4, R3, 0, 0, -1)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_short_one_is_none() {
        let raw = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let ids = (8_u64 << 32) | 7;
        let wait = |left, ran, spacing| WaitRecord::Wait { pid: 7, tid: 8, left, ran, spacing: Nanos(spacing) };
        let mut padded = raw(&[ids, 100, 140, 1, 150, 9]);
        padded.extend([0; 4]);
        let left = Left { at: 100, woken: Some(140), state: 1 };
        assert_eq!(WaitRecord::parse(&padded), Some(wait(left, 150, 9)));
        let left = Left { at: 100, woken: None, state: 3 };
        assert_eq!(WaitRecord::parse(&raw(&[ids, 100, 0, 77, 150, 9])), Some(wait(left, 150, 9)), "no such state");
        assert_eq!(WaitRecord::parse(&raw(&[ids, 100, 0, 1, 150])), None);
        let mut all = vec![ids, 0, 0, 0];
        all.extend(1..=19);
        let Some(WaitRecord::Ended(sums)) = WaitRecord::parse(&raw(&all)) else { panic!("no sums") };
        let last = Sum { count: 13, blocked: Nanos(14), queued: Nanos(15), longest: Nanos(16) };
        assert_eq!((sums.pid, sums.tid, sums.left, sums.sums[3]), (7, 8, None, last));
    }

    /// Sums of this process; `None` with a message where the kernel or the user does not allow it.
    fn own_sums() -> Option<WaitSums> {
        let filter = ProcessFilter::open(false, Path::new("/"));
        let opened = filter.and_then(|filter| {
            filter.add(std::process::id())?;
            WaitSums::open(Some(filter), None, Path::new("/"))
        });
        opened.inspect_err(|error| crate::skips::skip("bpf", format!("no BPF here: {error}"))).ok()
    }

    #[test]
    fn a_thread_that_sleeps_has_its_time_summed_and_one_that_ends_is_forgotten() {
        let Some(mut sums) = own_sums() else { return };
        sums.space(Nanos(1)).unwrap();
        sums.start().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        // Before it is born: it may wait for a CPU then, too.
        let begun = Instant::now();
        let sleeper = std::thread::spawn(move || {
            (0..10).for_each(|_| std::thread::sleep(Duration::from_millis(5)));
            tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            ended.recv().unwrap_err();
        });
        let tid = told.recv().unwrap();
        let find = || {
            let mut found = None;
            sums.read(|thread| found = found.or((thread.tid == tid).then_some(*thread))).unwrap();
            found
        };
        let thread = find().unwrap();
        let elapsed = begun.elapsed();
        let sleeping = thread.sums[1];
        assert_eq!(thread.pid, std::process::id());
        // No event takes what would be passed on: it is summed as well.
        assert!(sleeping.count >= 10 && (sums.cost(), sums.unfollowed()) == (Nanos(0), 0), "{thread:?}");
        let off = thread.sums.iter().fold(Nanos(0), |sum, state| sum + state.blocked + state.queued);
        assert!(sleeping.blocked >= Nanos(50_000_000) && u128::from(off.0) <= elapsed.as_nanos(), "{thread:?}");
        assert!(sleeping.longest >= Nanos(5_000_000), "{thread:?}");
        // Without permission to see kernel addresses there is none.
        let code = sums.machine_code();
        assert!(code.is_empty() || code.len() == 3 && code.iter().all(|code| code.start < code.end), "{code:x?}");
        drop(end);
        sleeper.join().unwrap();
        let gone = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            find().is_none()
        });
        assert!(gone, "the entry of an ended thread stays");
    }
}
